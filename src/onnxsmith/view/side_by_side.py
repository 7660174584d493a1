"""Two models that are shown beside each other: which node of one is which of the other, and the list of what differs.

Who compares the models says all of this; here it is only held for the page and the picture.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from onnxsmith.view.overlays import Overlay

RowKind: TypeAlias = Literal["added", "removed", "changed"]


@dataclass(frozen=True, slots=True)
class Row:
    """One entry of the list: something that one model has alone, or that is another in each.

    >>> from onnxsmith import FLOAT, diff, opset21 as op, trace
    >>> before = trace(lambda a: op.Relu(a) * 2.0, FLOAT["N"])
    >>> after = trace(lambda a: op.Tanh(a) * 3.0, FLOAT["N"])
    >>> found = diff(before, after)
    >>> len(found.side_by_side().rows)
    2
    """

    kind: RowKind
    #: What stands above the entries of its kind: "nodes", "weights".
    group: str
    text: str
    details: Sequence[str] = ()
    #: Addresses of the nodes in the first model that it is about, and in the second.
    before: Sequence[str] = ()
    after: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class SideBySide:
    """Notes on two models that are shown side by side.

    >>> from onnxsmith import FLOAT, diff, opset21 as op, trace
    >>> before = trace(lambda a: op.Relu(a) * 2.0, FLOAT["N"])
    >>> after = trace(lambda a: op.Tanh(a) * 3.0, FLOAT["N"])
    >>> found = diff(before, after)
    >>> found.side_by_side().called
    ('the first model', 'the second model')
    """

    title: str
    #: What the two are called.
    called: tuple[str, str]
    #: Nodes that stand for each other, by address.
    pairs: Mapping[str, str]
    rows: Sequence[Row]
    #: Notes on the nodes of each.
    overlays: tuple[Overlay, Overlay]
