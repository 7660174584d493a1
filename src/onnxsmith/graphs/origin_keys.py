"""The keys of metadata under which nodes say where they were written.

Apart from what reads them, since processes that only run models need the keys and load no graphs.
"""

from __future__ import annotations

#: Metadata of nodes: where it was written. What this process made is a `Written`, anything else only a text.
SOURCE_KEY = "onnxsmith.source"
#: Metadata of a node that was made of several: the places that those were written at, as JSON.
SOURCES_KEY = "onnxsmith.sources"
