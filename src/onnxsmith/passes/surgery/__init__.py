"""Surgery on models: parts of them, several as one, other names, shapes, outputs and weights.

Each is a method of `Model`, or a function of models, that returns a new one. The given models are never changed, and
their weights are shared: no tensor is read or copied.
"""

from onnxsmith.passes.surgery.adding_outputs import with_outputs as with_outputs
from onnxsmith.passes.surgery.binding import bind_inputs as bind_inputs
from onnxsmith.passes.surgery.extracting import extract as extract
from onnxsmith.passes.surgery.joining import compose as compose
from onnxsmith.passes.surgery.joining import then as then
from onnxsmith.passes.surgery.noting_metadata import with_metadata as with_metadata
from onnxsmith.passes.surgery.renaming import rename as rename
from onnxsmith.passes.surgery.replacing_weights import replace_weights as replace_weights
from onnxsmith.passes.surgery.shaping import with_shapes as with_shapes
from onnxsmith.passes.surgery.splitting import split as split
