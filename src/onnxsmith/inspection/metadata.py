"""`model.metadata`: what a model says of itself, by key."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from onnxsmith.graphs.model import Model
from onnxsmith.graphs.model_content import read


def metadata(model: Model) -> Mapping[str, str]:
    """The metadata of the model by key, which cannot be changed; `with_metadata` makes a model with other metadata.

    >>> from onnxsmith import FLOAT, trace
    >>> model = trace(lambda a: a + 1.0, FLOAT["N"]).with_metadata(author="somebody")
    >>> model.metadata["author"]
    'somebody'
    """
    return MappingProxyType(dict(read(model).ir.metadata_props))
