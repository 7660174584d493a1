"""Model to model: optimising, rewriting, converting versions, cutting and joining.

A pass never changes the model that it is given: it returns a new one that shares the weights, with a log of what became
what. `Editor` is the model that is being changed, `Worklist` applies rules to it to a fixed point.
"""

from onnxsmith.graphs.edits import Edit as Edit
from onnxsmith.graphs.edits import NodeNote as NodeNote
from onnxsmith.graphs.report import PassedModel as PassedModel
from onnxsmith.graphs.report import Report as Report
from onnxsmith.passes.optimizing import optimize as optimize
from onnxsmith.passes.optimizing import polish as polish
