"""What passes did to a model, step by step, for the viewer: each edit marks the nodes that it came from."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from onnxsmith.diagnostics import clipped, printable
from onnxsmith.errors import boundary
from onnxsmith.graphs.edits import Edit, NodeNote
from onnxsmith.graphs.model import Model
from onnxsmith.inspection import Node, nodes_of
from onnxsmith.view import Note, NoteKind, Overlay, Step

_LONGEST_TITLE = 160
#: A node as logs name it, wherever it stands.
_Key: TypeAlias = tuple[str, str, tuple[str, ...]]
_LEGEND: dict[NoteKind, str] = {"removed": "left out", "changed": "became another node"}


@boundary
def timeline(model: Model, edits: Iterable[Edit]) -> Overlay:
    """The edits of a report as steps on the model that passes were given, one for each edit.

    A node that passes made on the way stands for the nodes of the model that it was made of.

    >>> from onnxsmith import FLOAT, opset21 as op, trace
    >>> from onnxsmith.diffing import timeline
    >>> model = trace(lambda a: op.Relu(op.Identity(op.Exp(a))), FLOAT["N"])
    >>> overlay = timeline(model, model.optimize().report.edits)
    >>> [list(step.notes) for step in overlay.steps]
    [['1']]
    """
    known: dict[_Key, list[str]] = {}
    for node in nodes_of(model):
        known.setdefault(_key_of(node), []).append(node.address)
    steps: list[Step] = []
    for edit in edits:
        origins = dict.fromkeys(address for each in edit.before for address in known.get(_key(each), ()))
        for each in edit.after:
            known[_key(each)] = list(origins)
        kind: NoteKind = "changed" if edit.after else "removed"
        words = printable(clipped(str(edit), _LONGEST_TITLE))
        notes = {address: Note(kind, edit.rule, words) for address in origins}
        steps.append(Step(words, notes))
    title = f"{len(steps)} edit{'s' * (len(steps) != 1)}"
    return Overlay(title, legend=_LEGEND, steps=steps)


def _key(note: NodeNote) -> _Key:
    return note.operator, note.name, note.outputs


def _key_of(node: Node) -> _Key:
    operator = f"{node.domain}:{node.op_type}" if node.domain else node.op_type
    return operator, node.name, tuple(each.name for each in node.outputs)
