"""Adapters into a newer definition, by what changed; importing the modules registers them."""

from onnxsmith.passes.versions.up import attributes as attributes
from onnxsmith.passes.versions.up import axes as axes
from onnxsmith.passes.versions.up import broadcasting as broadcasting
from onnxsmith.passes.versions.up import inputs as inputs
from onnxsmith.passes.versions.up import meanings as meanings
from onnxsmith.passes.versions.up import normalisation as normalisation
from onnxsmith.passes.versions.up import resizing as resizing
from onnxsmith.passes.versions.up import scan as scan
