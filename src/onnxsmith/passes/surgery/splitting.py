"""`model.split(at)`: a model as several that run one after the other."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import onnx_ir as ir

from onnxsmith.diagnostics import described_type
from onnxsmith.errors import CallError, CutError
from onnxsmith.graphs.model import Model, ModelLike, model_of
from onnxsmith.graphs.model_boundary import model_boundary
from onnxsmith.graphs.rewriting.scopes import required_inputs, values_read
from onnxsmith.passes.surgery.dependencies import needed_for
from onnxsmith.passes.surgery.extracting import port_types
from onnxsmith.passes.surgery.holding import finished, read, values_by_name
from onnxsmith.passes.surgery.naming import find_value, names_of
from onnxsmith.passes.surgery.part import part_of


@model_boundary
def split(model: ModelLike, at: str | Sequence[str | Sequence[str]]) -> tuple[Model, ...]:
    """The model as two or more that chain: what one gives is what the next one takes, in the same order.

    `at` has a cut for each place between two of them: the name of a value, or several names for one cut. The model in
    front of a cut computes these values, and hands on whatever else those behind it need, inputs of the whole included.
    `compose` joins them again. The weights are shared.

    >>> from onnxsmith import FLOAT, opset21 as op, trace
    >>> model = trace(lambda a, b: op.Exp(op.Relu(a)) * b, FLOAT["N"], FLOAT["N"])
    >>> [[port.name for port in each.outputs] for each in model.split(["relu", "exp"])]
    [['relu', 'b'], ['exp', 'b'], ['mul']]
    """
    model = model_of(model, "split")
    held = read(model)
    cuts = _cuts(held.graph, at)
    stages = _stages(held.graph, cuts)
    borders = _borders(held.graph, cuts, stages)
    ports = [value for border in borders for value in border]
    types = port_types(held, ports, held.graph.outputs, {}, remedy="cut at a value whose type is known")
    return tuple(
        finished(part_of(held, before, after, nodes, types))
        for before, after, nodes in zip(
            borders, [*borders[1:], list(held.graph.outputs)], stages, strict=True
        )
    )


def _cuts(graph: ir.Graph, at: str | Sequence[str | Sequence[str]]) -> list[list[ir.Value]]:
    known = values_by_name(graph)
    if not isinstance(at, str | Sequence):  # pyright: ignore[reportUnnecessaryIsInstance]  # user input
        raise CallError(f"at takes the names of values, not {described_type(type(at))}", culprit="at")
    parts = [at] if isinstance(at, str) else at
    cuts = [[find_value(graph, known, name, "at") for name in names_of(cut, "at")] for cut in parts]
    if not cuts or not all(cuts):
        raise CutError("a cut is at one value at least", culprit="at")
    for value in (each for cut in cuts for each in cut):
        maker = value.producer()
        if value.name in graph.initializers or (maker is not None and _is_constant(maker)):
            raise CutError(
                f"'{value.name}' is a weight: every model that reads it has it, and none hands it on",
                help="leave it out of at",
                culprit="at",
            )
    return cuts


def _stages(graph: ir.Graph, cuts: Sequence[Sequence[ir.Value]]) -> list[set[ir.Node]]:
    """The nodes of each model: what a cut needs is in front of it. A constant is wherever it is read."""
    stages: list[set[ir.Node]] = []
    done: set[ir.Value] = set()
    for cut in [*cuts, list(graph.outputs)]:
        nodes = {each for each in needed_for(cut, done).nodes if not _is_constant(each)}
        names = ", ".join(repr(each.name) for each in cut)
        if not nodes and len(stages) < len(cuts):
            before = (
                f"what comes before it is cut off at {_named(cuts[: len(stages)])}"
                if stages
                else "it is no node's"
            )
            raise CutError(
                f"nothing is computed in front of the cut at {names}: {before}",
                help="name values in the order in which they are computed",
                culprit="at",
            )
        if not nodes:
            raise CutError(f"nothing is computed behind the cut at {_named(cuts[-1:])}", culprit="at")
        stages.append(nodes)
        done.update(value for node in nodes for value in node.outputs)
    for nodes, results in zip(stages, [*cuts, list(graph.outputs)], strict=True):
        read = {value for node in nodes for value in values_read(node)} | set(results)
        makers = (each.producer() for each in read)
        nodes.update(node for node in makers if node is not None and _is_constant(node))
    return stages


def _named(cuts: Iterable[Sequence[ir.Value]]) -> str:
    return ", ".join(repr(each.name) for cut in cuts for each in cut)


def _is_constant(node: ir.Node) -> bool:
    return node.op_type == "Constant" and not node.domain


def _borders(
    graph: ir.Graph, cuts: Sequence[Sequence[ir.Value]], stages: Sequence[set[ir.Node]]
) -> list[list[ir.Value]]:
    """The inputs of each model: the first has those of the whole, the others the earlier values needed later."""
    held = {*graph.initializers.values()}
    order = [*required_inputs(graph), *(value for node in graph for value in node.outputs)]
    made_in: dict[ir.Value, int] = dict.fromkeys(required_inputs(graph), -1)
    last_read: dict[ir.Value, int] = dict.fromkeys(graph.outputs, len(stages) - 1)
    for number, nodes in enumerate(stages):
        for node in nodes:
            if not _is_constant(node):
                made_in.update(dict.fromkeys(node.outputs, number))
            for value in values_read(node):
                if value not in held:
                    last_read[value] = max(number, last_read.get(value, -1))
    for number, cut in enumerate(cuts):
        for value in cut:
            last_read[value] = max(number + 1, last_read.get(value, -1))
    borders = [required_inputs(graph)]
    for number, cut in enumerate(cuts):
        crossing = [
            value
            for value in order
            if value in made_in and made_in[value] <= number < last_read.get(value, -1)
        ]
        borders.append(list(dict.fromkeys((*cut, *crossing))))
    return borders
