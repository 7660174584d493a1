"""Copies of a graph's nodes in place of a node: a branch that is taken, a function's body, an iteration of a loop."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import onnx_ir as ir

from onnxsmith.graphs.copying import Copier
from onnxsmith.passes.editor import Attempt


def copier(at: Attempt, attributes: Mapping[str, ir.Attr] | None = None) -> Copier:
    """Copies nodes, with names that are free in the model. `attributes` are those of the function around them."""
    return Copier(attributes, name=lambda name, _: at.edit.fresh_name(name), nodes=at.edit.living)


def copied_in(
    at: Attempt,
    graph: ir.Graph,
    given: Mapping[ir.Value, ir.Value | None],
    attributes: Mapping[str, ir.Attr] | None = None,
) -> Sequence[ir.Value | None] | None:
    """Copies of a graph's nodes for the place of a node, and what its outputs are there.

    `given` are values for its inputs, `attributes` those of the function that the graph is the body of. None where it
    cannot be copied; nothing was made then that is not thrown away.
    """
    values = dict(given)
    for value in graph.initializers.values():
        if value.const_value is None:
            return None
        values[value] = at.tensor(value.const_value, value.name or "constant")
    copies = copier(at, attributes)
    at.made.extend(copies.place(node, values) for node in at.edit.living(graph))
    return [values.get(each, each) for each in graph.outputs]
