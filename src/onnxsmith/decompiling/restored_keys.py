"""The keys that the tables of `rebuild` have for values and nodes of a new graph: by the variables of the code."""

from __future__ import annotations

from collections.abc import Mapping

import onnx_ir as ir

from onnxsmith.graphs.notes import VARIABLE_KEY, notes_of

#: The note of a value that holds what the tables call it.
_KEY = "onnxsmith.key"
#: The note of a value whose variable gets another value later.
_FRESH = "onnxsmith.fresh"


def give_keys(graph: ir.Graph, attribute: str, owners: Mapping[str, str], seen: set[str]) -> None:
    """Note for each value of a graph what it is called.

    `attribute` is the one of its node that holds the graph, and `owners` are the variables that the node assigns, which
    a branch assigns before it, with their keys. A variable that an edit assigns more than once is what the tables know
    by its last value; `seen` holds the keys that were given before.
    """
    keyed: list[tuple[ir.Value, str]] = []
    for value in (*graph.inputs, *(each for node in graph for each in node.outputs)):
        variable = notes_of(value).get(VARIABLE_KEY)
        if variable is not None:
            keyed.append((value, f"{owners[variable]}:{attribute}" if variable in owners else variable))
    last = {key: value for value, key in keyed}
    for value, key in keyed:
        notes = notes_of(value)
        if key != "_" and (last[key] is not value or key in seen):
            count = 1
            while f"{key}#{count}" in seen:
                count += 1
            key = f"{key}#{count}"
            notes[_FRESH] = True
        notes[_KEY] = key
        seen.add(key)


def is_fresh(value: ir.Value) -> bool:
    """True if it is an earlier value of a variable, which no table knows."""
    return _FRESH in notes_of(value)


def key_of_value(value: ir.Value) -> str | None:
    """The key of a value; None for one that no variable holds."""
    return notes_of(value).get(_KEY)


def key_of_node(node: ir.Node) -> str:
    """The key of a node: that of its first output that a variable holds; empty where none does."""
    for value in node.outputs:
        notes = notes_of(value)
        if notes.get(VARIABLE_KEY) not in (None, "_"):
            return notes[_KEY]
    return ""


def keys_by_variable(node: ir.Node) -> dict[str, str]:
    """The variables that a node assigns, with their keys."""
    return {
        notes[VARIABLE_KEY]: notes[_KEY]
        for notes in (notes_of(value) for value in node.outputs)
        if _KEY in notes
    }
