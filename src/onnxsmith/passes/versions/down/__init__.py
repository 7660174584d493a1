"""Adapters into an older definition, by what changed; importing the modules registers them."""

from onnxsmith.passes.versions.down import attributes as attributes
from onnxsmith.passes.versions.down import axes as axes
from onnxsmith.passes.versions.down import inputs as inputs
from onnxsmith.passes.versions.down import layouts as layouts
from onnxsmith.passes.versions.down import normalisation as normalisation
from onnxsmith.passes.versions.down import padding as padding
from onnxsmith.passes.versions.down import pooling as pooling
from onnxsmith.passes.versions.down import quantisation as quantisation
from onnxsmith.passes.versions.down import reductions as reductions
from onnxsmith.passes.versions.down import regions as regions
from onnxsmith.passes.versions.down import resizing as resizing
from onnxsmith.passes.versions.down import scattering as scattering
from onnxsmith.passes.versions.down import shapes as shapes
from onnxsmith.passes.versions.down import types as types
