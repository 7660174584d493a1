"""`model.summary()`: what a model consists of, and what it takes to run it."""

from __future__ import annotations

import html
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import onnx_ir as ir

from onnxsmith.costs import Count, Counting, bytes_of, is_control_flow, peak_bytes, unknown_size, weight_of
from onnxsmith.diagnostics import clipped, printable
from onnxsmith.graphs.model import ModelLike, model_of
from onnxsmith.graphs.model_boundary import model_boundary
from onnxsmith.graphs.size_conditions import SizeCondition
from onnxsmith.graphs.size_conditions import read as read_conditions
from onnxsmith.inspection.node import Graph, Node, NodeValue
from onnxsmith.inspection.nodes import nodes_of
from onnxsmith.inspection.weights import weights_of
from onnxsmith.passes import with_shapes

_LONGEST_COUNT = 100
_SHOWN_OPERATORS = 40


@dataclass(frozen=True, slots=True)
class OperatorSummary:
    """The costs of all nodes of one operator together."""

    operator: str
    #: How many nodes there are in the file.
    nodes: int
    #: How many operations they take; those of nodes that are not counted are left out.
    flops: Count
    #: How many nodes are not counted: there is no formula for them, or their shapes are not known.
    uncounted: int = 0


@dataclass(frozen=True, slots=True)
class Summary:
    """The parts of a model, and the costs of one run.

    A function counts at every call. Of an `If` the larger branch counts, and of a loop one turn: how many there are is
    known only when it runs.

    >>> from onnxsmith import FLOAT, opset21 as op, trace
    >>> model = trace(lambda a: op.Relu(op.Exp(a)), FLOAT["N"])
    >>> model.summary(N=10).nodes
    2
    """

    nodes: int
    functions: int
    operators: tuple[OperatorSummary, ...]
    #: How many elements the weights have.
    parameters: int
    weight_bytes: int
    #: Floating-point and integer operations of one run, as far as they are counted.
    flops: Count
    #: Operators that have nodes which are not counted, with how many.
    uncounted: Mapping[str, int] = field(default_factory=dict[str, int])
    #: Whether there are loops, which count as one turn.
    has_loops: bool = False
    #: The most bytes that values inside the model take at one time, in the order of the file, weights not included;
    #: None where a size is not known.
    activation_bytes: int | None = None
    #: The value whose size is not known, and its type, in words.
    activation_unknown: str = ""
    #: What is asked of the sizes that it is run with, and why.
    sizes: tuple[SizeCondition, ...] = ()

    def __str__(self) -> str:
        rows = [("operator", "nodes", "flops"), *_rows(self.operators[:_SHOWN_OPERATORS])]
        more = len(self.operators) - _SHOWN_OPERATORS
        functions = f", {self.functions} function{'s' * (self.functions != 1)}" if self.functions else ""
        lines = [
            f"{self.nodes} node{'s' * (self.nodes != 1)}{functions}",
            f"{self.parameters:,} parameters, {self.weight_bytes:,} bytes of weights",
            f"flops: {_shown(self.flops)}" + (" and what is not counted" if self.uncounted else ""),
        ]
        if self.activation_bytes is not None:
            lines.append(f"values on the way: {self.activation_bytes:,} bytes at the most")
        else:
            lines.append(f"values on the way: not known, since {self.activation_unknown}")
        if self.uncounted:
            names = ", ".join(f"{name} ({count})" for name, count in self.uncounted.items())
            lines.append(f"not counted: {clipped(names, 300)}")
        lines += [
            clipped(f"only for {each.text}" + (f": {each.because}" if each.because else ""), 1000)
            for each in self.sizes
        ]
        if self.has_loops:
            lines.append("a loop counts as one turn")
        lines += ["", *_columns(rows)]
        lines += [f"and {more} operators more"] if more > 0 else []
        return printable("\n".join(lines))

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        head, _, _ = str(self).partition("\n\n")
        rows = "".join(
            "<tr>" + "".join(f"<td>{html.escape(printable(cell))}</td>" for cell in row) + "</tr>"
            for row in _rows(self.operators[:_SHOWN_OPERATORS])
        )
        shown = "<br>".join(html.escape(line) for line in head.splitlines())
        return f"<p>{shown}</p><table><tr><th>operator</th><th>nodes</th><th>flops</th></tr>{rows}</table>"


@model_boundary
def summary(model: ModelLike, **sizes: int) -> Summary:
    """Summarise a model: operators, parameters, bytes, and floating-point operations of a run.

    Operations are counted from the shapes. Where these have names, the counts are expressions; `sizes` gives names
    sizes. A multiplication and an addition count one each, a function such as `Exp` one for each element. Operators
    that only move data count nothing, and those without a formula are named as not counted.

    >>> import numpy as np
    >>> from onnxsmith import FLOAT, opset21 as op, trace
    >>> weight = np.ones((4, 8), np.float32)
    >>> model = trace(lambda a: op.Relu(a @ weight), FLOAT["N", 4])
    >>> model.summary().flops
    72*N
    >>> model.summary(N=10)
    2 nodes
    32 parameters, 128 bytes of weights
    flops: 720
    values on the way: 640 bytes at the most
    <BLANKLINE>
    operator  nodes  flops
    MatMul        1    640
    Relu          1     80
    """
    model = model_of(model, "summary")
    nodes = nodes_of(with_shapes(model, sizes) if sizes else model)
    held = weights_of(model)
    count = Counting()
    total = count.graph(nodes.graph)
    by_operator = Counter(each.operator for each in nodes)
    flops = count.by_operator
    operators = [
        OperatorSummary(name, number, flops.get(name, Count()), count.uncounted.get(name, 0))
        for name, number in by_operator.items()
    ]
    operators.sort(key=lambda each: (-weight_of(each.flops), -each.nodes, each.operator))
    peak = peak_activation_bytes(nodes.graph)
    return Summary(
        nodes=len(nodes),
        functions=len(nodes.functions),
        operators=tuple(operators),
        parameters=held.size,
        weight_bytes=held.nbytes,
        flops=total,
        uncounted=dict(sorted(count.uncounted.items())),
        has_loops=any(is_control_flow(each) and each.op_type != "If" for each in nodes),
        activation_bytes=peak if isinstance(peak, int) else None,
        activation_unknown=peak if isinstance(peak, str) else "",
        sizes=read_conditions(model.ir.metadata_props),
    )


def _rows(operators: Iterable[OperatorSummary]) -> list[tuple[str, str, str]]:
    return [
        (
            each.operator,
            str(each.nodes),
            "?" if each.uncounted and not each.flops.terms else _shown(each.flops),
        )
        for each in operators
    ]


def _shown(count: Count) -> str:
    number = count.number
    return clipped(repr(count), _LONGEST_COUNT) if number is None else f"{number:,}"


def _columns(rows: list[tuple[str, str, str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        f"{name:{widths[0]}}  {nodes:>{widths[1]}}  {flops:>{widths[2]}}".rstrip()
        for name, nodes, flops in rows
    ]


# -- activations -----------------------------------------------------------------------------------------------
# How much memory the values inside a graph take at the most, run node by node in the order of the file.


def peak_activation_bytes(graph: Graph) -> int | str:
    """The most bytes that inputs and results take at one time; where a size is not known, which, in words.

    A value is there from its node on, to the last node that takes it. Values inside bodies are not counted.
    """
    sizes: dict[ir.Value, int] = {}
    values = (*graph.inputs, *(each for node in graph.nodes for each in node.outputs))
    for value in values:
        if value.is_weight or not value.name:
            continue
        size = bytes_of(value.type)
        if size is None:
            return unknown_size(value.name, value.type)
        sizes[value.ir] = size
    order = {node.ir: number for number, node in enumerate(graph.nodes)}
    last_use = {each.ir: _last_use(each, order) for each in values if each.ir in sizes}
    return peak_bytes(graph.ir.inputs, [node.outputs for node in graph.ir], last_use, sizes)


def _last_use(value: NodeValue, order: dict[ir.Node, int]) -> int:
    if value.ir.is_graph_output():
        return len(order)
    made_by = value.ir.producer()
    last = -1 if made_by is None else order[made_by]
    for user in value.users:
        node: Node | None = user
        while node is not None and node.ir not in order:  # a body of one of ours takes it
            node = node.graph.owner
        last = len(order) if node is None else max(last, order[node.ir])
    return last
