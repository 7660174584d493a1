"""Names outputs that nodes leave out, where their number counts, or a kernel writes them all the same.

An empty name leaves out a variadic output, or the statistics of a training `BatchNormalization`. Nodes that onnx-ir
writes end with an output that has a name: a `Split` in three parts would become one in two. ONNX Runtime's `Split`,
`Loop` and `BatchNormalization` write to memory that is not there, which ends the process. It refuses `If`, `Scan` and
`SequenceMap`, and control flow or a call with fewer outputs than its bodies or its function have. A name that nothing
reads costs nothing: the kernels compute all outputs anyway. The kernels of all other standard operators look whether an
output is wanted, which spares them work. These keep their empty names.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager

import onnx

from onnxsmith.graphs.lazy_ir import ir
from onnxsmith.graphs.rewriting.copies import copied
from onnxsmith.graphs.rewriting.emitter import FreshNames
from onnxsmith.graphs.rewriting.scopes import (
    FunctionKey,
    function_key,
    functions_of,
    graphs_of_proto,
    inner_graphs,
    plain_domain,
    value_names,
)

Functions = Mapping[FunctionKey, onnx.FunctionProto]

_VARIADIC = frozenset({"If", "Loop", "Scan", "SequenceMap", "Split"})
#: Operators whose results are those of a body, all of which the runtime asks for.
_FLOW = frozenset({"If", "Loop", "Scan"})
_TRAINED = "BatchNormalization"
#: The prefix of names for outputs without one, which no value of a model has.
_OMITTED = "onnxsmith: omitted "
#: The operators that are concerned, by domain and name.
OPERATORS = frozenset(("", name) for name in (*_VARIADIC, _TRAINED))


def name_omitted(model: onnx.ModelProto) -> onnx.ModelProto:
    """The model with a name for each output that must have one; the same object where all have."""
    functions = functions_of(model)
    if not any(_lacks_a_name(node, functions) for graph in graphs_of_proto(model) for node in graph.node):
        return model
    result = copied(model)
    names = FreshNames(value_names(model))
    for graph in graphs_of_proto(result):
        for node in graph.node:
            if _lacks_a_name(node, functions):
                stem = next(filter(None, node.output), node.op_type)
                outputs = [*node.output, *[""] * (_results(node, functions) - len(node.output))]
                node.output[:] = [each or names.after(stem) for each in outputs]
    return result


@contextmanager
def all_named(model: ir.Model) -> Generator[None]:
    """Outputs of variadic operators have names until the block ends: onnx-ir writes none behind the last name."""
    graphs = (model.graph, *(each.graph for each in model.functions.values()))
    nodes = (node for graph in graphs for node in ir.traversal.RecursiveGraphIterator(graph))
    concerned = (
        node
        for node in nodes
        if (node.op_type in _VARIADIC and not plain_domain(node.domain))
        or node.op_identifier() in model.functions
    )
    unnamed = [each for node in concerned for each in node.outputs if not each.name]
    for position, each in enumerate(unnamed):
        each.name = f"{_OMITTED}{position}"
    try:
        yield
    finally:
        for each in unnamed:
            each.name = ""


def _lacks_a_name(node: onnx.NodeProto, functions: Functions) -> bool:
    kind = node.op_type
    if functions and function_key(node) in functions:
        return len(node.output) < _results(node, functions) or not all(node.output[-1:])
    if (kind not in _VARIADIC and kind != _TRAINED) or plain_domain(node.domain):
        return False
    if "" not in node.output:
        return kind in _FLOW and len(node.output) < _results(node, functions)
    # Before opset 14, that outputs are named says that the operator trains.
    return kind != _TRAINED or any(each.name == "training_mode" for each in node.attribute)


def _results(node: onnx.NodeProto, functions: Functions) -> int:
    """How many results the bodies or the function of a node have; those at the end may be left out without a name."""
    function = functions.get(function_key(node))
    if function is not None:
        return len(function.output)
    if node.op_type not in _FLOW:
        return 0
    # The first result of a loop's body says whether it goes on.
    return max((len(each.output) for each in inner_graphs(node)), default=0) - (node.op_type == "Loop")
