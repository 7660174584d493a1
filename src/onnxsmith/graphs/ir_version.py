"""The lowest IR version that a model's content allows, so that older runtimes load it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import onnx_ir as ir
from onnx import helper

from onnxsmith.types.dtypes import DType

_INITIALIZERS_THAT_ARE_NO_INPUTS = 4
_FUNCTIONS = 8
_OVERLOADS = 10


def lowest_ir_version(model: ir.Model, dtypes: Iterable[DType] | None = None) -> int:
    """By opset (a runtime that knows an opset knows the IR version it came with), functions and element types.

    `dtypes` are those of the graph's own values, if whoever made it knows them.
    """
    version = max(
        _INITIALIZERS_THAT_ARE_NO_INPUTS,
        _of_opsets(model.opset_imports),
        *(dtype.ir_version for dtype in _all_dtypes(model, dtypes)),
        0,
    )
    for function in model.functions.values():
        version = max(
            version, _OVERLOADS if function.overload else _FUNCTIONS, _of_opsets(function.opset_imports)
        )
    return version


def _of_opsets(imports: dict[str, int]) -> int:
    standard = [
        (domain or "ai.onnx", version) for domain, version in imports.items() if domain in ("", "ai.onnx.ml")
    ]
    try:
        return helper.find_min_ir_version_for(
            [helper.make_opsetid(*each) for each in standard], ignore_unknown=True
        )
    except ValueError:
        return 0


def _all_dtypes(model: ir.Model, known: Iterable[DType] | None) -> set[DType]:
    graph = model.graph
    own = (
        _of_graph(graph)
        if known is None
        else [*known, *_of_values([*graph.inputs, *graph.initializers.values()])]
    )
    return {*own, *_of_functions(model)}


def _of_functions(model: ir.Model) -> Iterator[DType]:
    for function in model.functions.values():
        yield from _of_graph(function.graph)


def _of_graph(graph: ir.Graph) -> Iterator[DType]:
    yield from _of_values([*graph.inputs, *graph.outputs, *graph.initializers.values()])
    for node in graph.all_nodes():
        yield from _of_values(node.outputs)
        for attribute in node.attributes.values():
            if attribute.type == ir.AttributeType.TENSOR and not attribute.is_ref():
                yield DType(int(attribute.as_tensor().dtype))


def _of_values(values: Sequence[ir.Value]) -> Iterator[DType]:
    for value in values:
        if value.dtype is not None and int(value.dtype):
            yield DType(int(value.dtype))
