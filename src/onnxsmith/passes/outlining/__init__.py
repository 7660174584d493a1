"""Functions made of parts of a graph: the criteria say which nodes belong together, `cut_out` cuts them out.

Criteria of other packages hand in parts of their own.
"""

from onnxsmith.passes.outlining.cutting import Naming as Naming
from onnxsmith.passes.outlining.cutting import cut_out as cut_out
from onnxsmith.passes.outlining.part import Part as Part
from onnxsmith.passes.outlining.part import Scope as Scope
from onnxsmith.passes.outlining.repeats import group_repeated as group_repeated
