"""One difference between two models, as a record."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from onnxsmith.diffing.tensors import Magnitude

ChangeKind: TypeAlias = Literal["added", "removed", "changed"]
#: What differs, in the order in which it is told.
ChangedThing: TypeAlias = Literal[
    "model", "opset", "input", "output", "function", "node", "weight", "metadata"
]
THINGS: tuple[ChangedThing, ...] = (
    *("model", "opset", "input", "output", "function", "node", "weight", "metadata"),
)


@dataclass(frozen=True, slots=True)
class Change:
    """One thing that is in one model only, or is another in each.

    >>> from onnxsmith import FLOAT, diff, opset21 as op, trace
    >>> before = trace(lambda a: op.Relu(a) * 2.0, FLOAT["N"])
    >>> after = trace(lambda a: op.Tanh(a) * 3.0, FLOAT["N"])
    >>> found = diff(before, after)
    >>> [each.sign for each in found.of("node")]
    ['~']
    """

    kind: ChangeKind
    thing: ChangedThing
    #: Where it is in the first model: the address of a node, the name of anything else; None where it is not there.
    before: str | None
    after: str | None
    #: It in words: a node with its operator and values, a weight with its type.
    label: str
    #: What has changed, a line each.
    details: tuple[str, ...] = ()
    #: How far the elements of a weight are apart, where type and shape are the same.
    magnitude: Magnitude | None = None
    #: Where the node was written, as far as a model says so.
    source: str | None = None

    @property
    def sign(self) -> str:
        """`+`, `-` or `~`."""
        return {"added": "+", "removed": "-", "changed": "~"}[self.kind]
