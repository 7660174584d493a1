"""Model to model: optimising, rewriting, converting versions, cutting and joining.

A pass never changes the model that it is given: it returns a new one that shares the weights, with a log of what became
what. `Editor` is the model that is being changed, `Worklist` applies rules to it to a fixed point.
"""

from onnxsmith.passes.edits import Edit as Edit
from onnxsmith.passes.edits import NodeNote as NodeNote
from onnxsmith.passes.optimizing import optimize as optimize
from onnxsmith.passes.optimizing import polish as polish
from onnxsmith.passes.report import PassedModel as PassedModel
from onnxsmith.passes.report import Report as Report
from onnxsmith.passes.surgery import extract as extract
from onnxsmith.passes.surgery import with_outputs as with_outputs
from onnxsmith.passes.surgery import with_shapes as with_shapes
from onnxsmith.passes.verifying import made_up_inputs as made_up_inputs
