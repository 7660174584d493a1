"""Differences between two models: nodes, weights, inputs, outputs, functions, opsets and metadata."""

from onnxsmith.diffing.change import Change as Change
from onnxsmith.diffing.change import ChangedThing as ChangedThing
from onnxsmith.diffing.change import ChangeKind as ChangeKind
from onnxsmith.diffing.difference import Difference as Difference
from onnxsmith.diffing.edit_steps import timeline as timeline
from onnxsmith.diffing.tensors import Magnitude as Magnitude
from onnxsmith.diffing.whole_models import diff as diff

__all__ = [
    "Change",
    "ChangeKind",
    "ChangedThing",
    "Difference",
    "Magnitude",
    "diff",
    "timeline",
]


def __dir__() -> list[str]:
    return list(__all__)
