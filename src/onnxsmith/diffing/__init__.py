"""What differs between two models: nodes, weights, inputs, outputs, functions, opsets and metadata."""

from onnxsmith.diffing.change import Change as Change
from onnxsmith.diffing.change import ChangedThing as ChangedThing
from onnxsmith.diffing.change import ChangeKind as ChangeKind
from onnxsmith.diffing.diff import diff as diff
from onnxsmith.diffing.difference import Difference as Difference
from onnxsmith.diffing.tensors import Magnitude as Magnitude
