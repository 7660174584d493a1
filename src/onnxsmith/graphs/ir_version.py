"""The lowest IR version that a model's content allows, and no more imports than it uses: so older runtimes load it."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Sequence

from onnx import helper

from onnxsmith.graphs.lazy_ir import ir
from onnxsmith.graphs.records import AnyFunction, FunctionRecord, ModelRecord, element_dtype
from onnxsmith.graphs.rewriting.scopes import nodes_of
from onnxsmith.schema.registry import default_opset_version
from onnxsmith.types.dtypes import DType

_INITIALIZERS_THAT_ARE_NO_INPUTS = 4
_FUNCTIONS = 8
_ATTRIBUTES_WITH_DEFAULTS = 9
_OVERLOADS = 10
_DEVICES = 11


def lowest_ir_version(model: ir.Model | ModelRecord, dtypes: Iterable[DType] | None = None) -> int:
    """By opset (a runtime that knows an opset knows the IR version it came with), functions and element types.

    `dtypes` are those of the graph's own values, if whoever made it knows them: for what was recorded its program does.
    """
    if isinstance(model, ModelRecord):
        functions: Iterable[AnyFunction] = model.functions
        graph = model.graph
        outside = [each.type for each in (*graph.inputs, *graph.initializers) if each.type is not None]
        found = {*(dtypes or ()), *(each for kind in outside if (each := element_dtype(kind)) is not None)}
    else:
        functions = model.functions.values()
        found = _own_dtypes(model, dtypes)
    for each in functions:  # what recorded functions hold is among those of the program
        found.update(_of_graph(each.graph) if isinstance(each, ir.Function) else ())
    version = max(
        _INITIALIZERS_THAT_ARE_NO_INPUTS,
        _of_opsets(model.opset_imports),
        *(dtype.ir_version for dtype in found),
        0,
    )
    for function in functions:
        version = max(
            version, _OVERLOADS if function.overload else _FUNCTIONS, _of_opsets(function.opset_imports)
        )
        if not isinstance(function, FunctionRecord) and any(
            each.value is not None for each in function.attributes.values()
        ):
            version = max(version, _ATTRIBUTES_WITH_DEFAULTS)
    if not isinstance(model, ModelRecord) and getattr(
        model, "device_configurations", None
    ):  # since onnx-ir 1.0
        version = max(version, _DEVICES)
    return version


def settle_ir_version(model: ir.Model, given: ir.Model) -> None:
    """Let a model that was made of another one have the lowest IR version that it needs.

    Where it needs what the given one did, it has the given one's, which somebody chose. Before version 4 initializers
    are inputs, which callers may rely on: that stays unless an opset or a type asks for more. An import of the standard
    domain that the given one has not is left out where nothing needs it.
    """
    for each in (model, *model.functions.values()):
        before = given if isinstance(each, ir.Model) else given.functions.get(each.identifier())
        has_it = before is None or not {"", "ai.onnx"}.isdisjoint(before.opset_imports)
        if not has_it and all(node.domain for node in each.graph.all_nodes()):
            each.opset_imports.pop("", None)
    needed = lowest_ir_version(model)
    if needed == lowest_ir_version(given):
        model.ir_version = given.ir_version
    elif needed > _INITIALIZERS_THAT_ARE_NO_INPUTS or given.ir_version >= _INITIALIZERS_THAT_ARE_NO_INPUTS:
        model.ir_version = needed


def import_standard_domain(model: ir.Model) -> None:
    """Let a model of other domains alone have a version of the standard one, for nodes that may come into it.

    It is the newest that came with the model's IR version or before: what loads the model knows that one.
    """
    if "" not in model.opset_imports:
        versions = range(default_opset_version(), 1, -1)
        model.opset_imports[""] = next(
            (each for each in versions if _of_standard((("ai.onnx", each),)) <= model.ir_version), versions[0]
        )
    for function in model.functions.values():
        function.opset_imports.setdefault("", model.opset_imports[""])


def drop_unused_imports(model: ir.Model) -> None:
    """Leave out the imports of domains that no node and no function is of; the standard one stays."""
    used = {node.domain for node in nodes_of(model)}
    used |= {"", "ai.onnx", *(each.domain for each in model.functions.values())}
    for domain in [each for each in model.opset_imports if each not in used]:
        del model.opset_imports[domain]


def _of_opsets(imports: dict[str, int]) -> int:
    return _of_standard(
        tuple(
            (domain or "ai.onnx", version)
            for domain, version in imports.items()
            if domain in ("", "ai.onnx.ml")
        )
    )


@functools.lru_cache(maxsize=256)  # onnx makes protos to look it up, and programs use one or two opsets
def _of_standard(standard: tuple[tuple[str, int], ...]) -> int:
    try:
        return helper.find_min_ir_version_for(
            [helper.make_opsetid(*each) for each in standard], ignore_unknown=True
        )
    except ValueError:
        return 0


def _own_dtypes(model: ir.Model, known: Iterable[DType] | None) -> set[DType]:
    graph = model.graph
    if known is None:
        return set(_of_graph(graph))
    return {*known, *_of_values([*graph.inputs, *graph.initializers.values()])}


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
