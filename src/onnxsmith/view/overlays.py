"""Notes on nodes that another tool has made, for the viewer to show: times, differences, where two runs part.

>>> overlay = Overlay("Time", {"3": Note("heat", "1.2 ms", share=0.8)}, legend={"heat": "time of a node"})
>>> overlay.notes["3"].label
'1.2 ms'
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

#: How a note is coloured and signed: +, −, ~, ! and, for heat, by its share.
NoteKind = Literal["added", "removed", "changed", "differs", "heat"]


@dataclass(frozen=True, slots=True)
class Note:
    """A note on one node.

    >>> from onnxsmith.view import Note
    >>> Note("heat", label="90 %", share=0.9).label
    '90 %'
    """

    kind: NoteKind
    #: A word or number that stands on the node.
    label: str = ""
    #: A sentence or more, for the panel.
    text: str = ""
    #: How strong a `heat` is, from 0 to 1.
    share: float | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a timeline: a pass that ran, an edit that it made.

    >>> from onnxsmith.view import Note, Overlay, Step
    >>> Overlay("passes", steps=[Step("fold constants")]).steps[0].title
    'fold constants'
    """

    title: str
    #: By address of nodes; where there are none, those of the overlay stay.
    notes: Mapping[str, Note] = field(default_factory=dict[str, Note])


@dataclass(frozen=True, slots=True)
class Overlay:
    """Notes by the address of their nodes, and the steps of a timeline, if there is one.

    An address counts the nodes of a graph in the order of the file: `"12"` in the main graph, `"12.then_branch.3"` in
    a body, `"12.branches[1].3"` in one of several, `"domain::name/4"` in a function.

    >>> from onnxsmith.view import Note, Overlay, Step
    >>> overlay = Overlay("slow nodes", notes={"0": Note("heat", label="90 %", share=0.9)})
    >>> overlay.title
    'slow nodes'
    """

    title: str
    notes: Mapping[str, Note] = field(default_factory=dict[str, Note])
    legend: Mapping[NoteKind, str] = field(default_factory=dict[NoteKind, str])
    steps: Sequence[Step] = ()
