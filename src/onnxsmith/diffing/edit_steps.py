"""The changes that passes made, step by step, for the viewer: each edit marks the nodes that it came from."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import TypeAlias

from onnxsmith.diagnostics import clipped, printable
from onnxsmith.errors import boundary
from onnxsmith.graphs.edits import Edit, NodeNote
from onnxsmith.graphs.model import ModelLike, model_of
from onnxsmith.inspection import Node, nodes_of
from onnxsmith.view import Note, NoteKind, Overlay, Step

_LONGEST_TITLE = 160
#: A node as logs name it, wherever it stands.
_Key: TypeAlias = tuple[str, str, tuple[str, ...]]
_LEGEND: dict[NoteKind, str] = {"removed": "left out", "changed": "became another node"}


@boundary
def timeline(model: ModelLike, edits: Iterable[Edit]) -> Overlay:
    """The edits of a report as steps on the model that passes were given, one for each edit.

    A node that passes made on the way stands for the nodes of the model that it was made of. Edits in a row by which
    one rule only leaves nodes out, as for each constant that becomes an initializer, are one step.

    >>> from onnxsmith import FLOAT, opset21 as op, trace
    >>> from onnxsmith.diffing import timeline
    >>> model = trace(lambda a: op.Relu(op.Identity(op.Exp(a))), FLOAT["N"])
    >>> overlay = timeline(model, model.optimize().report.edits)
    >>> [list(step.notes) for step in overlay.steps]
    [['1']]
    """
    model = model_of(model, "timeline")
    known: dict[_Key, list[str]] = {}
    for node in nodes_of(model):
        known.setdefault(_key_of(node), []).append(node.address)
    steps: list[Step] = []
    count = 0
    for _, group in itertools.groupby(enumerate(edits), _run):
        run = [edit for _, edit in group]
        count += len(run)
        notes = {address: note for edit in run for address, note in _notes(edit, known).items()}
        title = _words(run[0]) if len(run) == 1 else _cut(f"{run[0].rule}: {len(run)} nodes left out")
        steps.append(Step(title, notes))
    return Overlay(f"{count} edit{'s' * (count != 1)}", legend=_LEGEND, steps=steps)


def _run(numbered: tuple[int, Edit]) -> tuple[object, ...]:
    """The key that consecutive edits of one step share; an edit that makes nodes is a step alone."""
    number, edit = numbered
    return (number,) if edit.after else (edit.pass_name, edit.rule)


def _notes(edit: Edit, known: dict[_Key, list[str]]) -> dict[str, Note]:
    """Notes on the nodes of the model that an edit goes back to; `known` learns of the nodes that it made."""
    origins = dict.fromkeys(address for each in edit.before for address in known.get(_key(each), ()))
    for each in edit.after:
        known[_key(each)] = list(origins)
    kind: NoteKind = "changed" if edit.after else "removed"
    return {address: Note(kind, edit.rule, _words(edit)) for address in origins}


def _words(edit: Edit) -> str:
    return _cut(str(edit))


def _cut(text: str) -> str:
    return printable(clipped(text, _LONGEST_TITLE))


def _key(note: NodeNote) -> _Key:
    return note.operator, note.name, note.outputs


def _key_of(node: Node) -> _Key:
    operator = f"{node.domain}:{node.op_type}" if node.domain else node.op_type
    return operator, node.name, tuple(each.name for each in node.outputs)
