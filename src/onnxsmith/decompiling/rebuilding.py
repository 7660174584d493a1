"""`rebuild`: the model of a decompiled script, with all that the code itself does not say put back."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

import onnx
import onnx_ir as ir

from onnxsmith.decompiling.details import Details
from onnxsmith.decompiling.inferring import look_at
from onnxsmith.decompiling.restored_keys import is_fresh, key_of_value
from onnxsmith.decompiling.restoring import restore_graph, restore_notes
from onnxsmith.diagnostics import did_you_mean
from onnxsmith.errors import CallError, OpsetConflictError, boundary
from onnxsmith.graphs import beyond
from onnxsmith.graphs.function import as_function
from onnxsmith.graphs.ir_types import type_to_ir
from onnxsmith.graphs.model import Model
from onnxsmith.graphs.notes import VARIABLE_KEY
from onnxsmith.graphs.rewriting.scopes import graphs_of, roots_of
from onnxsmith.graphs.weights import Weights
from onnxsmith.schema import registry
from onnxsmith.scripting.functions.export import generic_function
from onnxsmith.scripting.functions.function import ScriptFunction
from onnxsmith.types.annotations import read_value_type
from onnxsmith.types.value_types import AnyValueType, MapType, OptionalType, SequenceType

#: The tables of a script; a function has its opsets among them.
_TABLES = (*(each.name for each in dataclasses.fields(Details)), "opset_imports", "uncalled")


@boundary
def rebuild(
    script: Any,
    *,
    ir_version: int | None = None,
    opset_imports: Mapping[str, int] | None = None,
    producer_name: str = "",
    producer_version: str = "",
    domain: str = "",
    model_version: int = 0,
    doc_string: str = "",
    model_metadata: Mapping[str, str] | None = None,
    value_types: bool | Mapping[str, Any] = False,
    sources: bool = False,
    all_weights: Weights | None = None,
    functions: Sequence[tuple[Any, Mapping[str, Any]]] = (),
    **details: Any,
) -> Model:
    """The model of a script, as the tables beside it say: what a decompiled module ends with.

    Names are by variable, and hold as long as the variable does: edit the code, and what is left keeps its names. A
    new variable names its value itself. The tables are those of `onnxsmith.decompiling.details.Details`. `values` and
    `nodes` hold names by variable. `literals` and `constants` hold values that are literals in the code: `y[1]` is
    input 1 of the node that makes `y`. `functions` holds the same for each function of the model. `value_types`
    asks for the types of the values inside the model, and may hold those that inference does not find.

    >>> from onnxsmith import FLOAT, opset21 as op, rebuild, script
    >>> @script()
    ... def doubled(x: FLOAT["N"]) -> FLOAT["N"]:
    ...     return x + x
    >>> rebuild(doubled, values={"x": "input"}).inputs[0].name
    'input'
    """
    if not isinstance(script, ScriptFunction):
        raise CallError(f"rebuild takes a script, not {type(script).__name__}")
    details["value_types"] = value_types
    for _, tables in ((script, details), *functions):
        _check_tables(tables)
        _describe_weights(tables.get("docs", {}), all_weights)
    made = script.to_model(producer_name=producer_name, ir_version=ir_version).ir
    called = dict(made.functions)
    made.functions.clear()
    restored: list[tuple[ir.Graph, Mapping[str, Any]]] = []
    for function, tables in functions:  # in the order of the model
        key = (function.domain, function.onnx_name, function.overload)
        held = called.pop(key, None)
        if held is None and tables.get("uncalled"):
            held = as_function(generic_function(function))
        if held is not None:  # an edit may have taken out all calls of it
            made.functions[key] = held
            _restore_function(held, tables, sources)
            restored.append((held.graph, tables))
    made.functions.update(called)
    restore_graph(made.graph, details, sources=sources, weights=all_weights)
    _rename_arguments(made, functions)
    _describe_initializers(made.graph, details)
    _restore_inputs(made.graph, details.get("inputs", ()))
    made.producer_version = producer_version or None
    made.producer_name = producer_name or None
    made.domain = domain or None
    made.model_version = model_version or None
    made.doc_string = doc_string or None
    made.metadata_props.update(model_metadata or {})
    _restore_imports(made.graph, made.opset_imports, opset_imports)
    restore_types(made, [(made.graph, details), *restored])
    special = _special_types(script, made.graph)
    return (
        Model.from_proto(beyond.to_proto(made, special)) if beyond.needs_proto(made, special) else Model(made)
    )


@boundary
def rebuild_function(script: Any, *, all_weights: Weights | None = None, **tables: Any) -> onnx.FunctionProto:
    """The function of a script, as the tables beside it say; they are those of `rebuild`.

    >>> from onnxsmith import FLOAT, opset21 as op, rebuild_function, script
    >>> @script()
    ... def doubled(x: FLOAT["N"]) -> FLOAT["N"]:
    ...     return x + x
    >>> rebuild_function(doubled).name
    'doubled'
    """
    if not isinstance(script, ScriptFunction):
        raise CallError(f"rebuild_function takes a script, not {type(script).__name__}")
    _check_tables(tables)
    _describe_weights(tables.get("docs", {}), all_weights)
    function = as_function(generic_function(script))
    _restore_function(function, tables, sources=False)
    holder = ir.Model(ir.Graph([], [], nodes=[]), ir_version=onnx.IR_VERSION, functions=[function])
    restore_types(holder, [(function.graph, tables)])
    return ir.serde.serialize_function(function)


def _check_tables(tables: Mapping[str, Any]) -> None:
    for name in tables:
        if name not in _TABLES:
            raise CallError(f"rebuild has no table {name!r}", help=did_you_mean(name, _TABLES))


def _describe_weights(docs: Mapping[str, str], weights: Weights | None) -> None:
    for key, text in docs.items():
        name = key.removeprefix("weight ")
        if weights is not None and key != name and name in weights:
            weights[name].describe(text)


def _special_types(script: ScriptFunction, graph: ir.Graph) -> dict[str, AnyValueType]:
    """The declared types that onnx-ir does not know."""
    inputs = [value for value in graph.inputs if VARIABLE_KEY in value.meta]
    declared = [each.type for each in script.parameters.inputs]
    pairs = [
        *zip(inputs, declared, strict=False),
        *zip(graph.outputs, script.parameters.returns or (), strict=False),
    ]
    return {value.name or "": kind for value, kind in pairs if _has_map(kind)}


def _has_map(kind: AnyValueType) -> bool:
    while isinstance(kind, SequenceType | OptionalType):
        kind = kind.element
    return isinstance(kind, MapType)


def _restore_function(function: ir.Function, tables: Mapping[str, Any], sources: bool) -> None:
    restore_graph(function.graph, tables, sources=sources)
    function.doc_string = tables.get("docs", {}).get("") or None
    function.metadata_props.update(tables.get("metadata", {}).get("", {}))
    _restore_imports(function.graph, function.opset_imports, tables.get("opset_imports"))
    renamed: Mapping[str, str] = tables.get("parameters", {})
    if renamed:
        _rename_attributes(function, renamed)


def _restore_imports(graph: ir.Graph, imports: dict[str, int], said: Mapping[str, int] | None) -> None:
    """Import the versions that the tables say; where the code was changed to a newer opset, the model follows it.

    Raises OpsetConflictError where an operator of the code is another one in the version that the tables say.
    """
    if said is None:
        return
    used = dict(imports)
    imports.clear()
    imports.update(said)
    moved = {
        domain: used[domain]
        for domain, version in said.items()
        if used.get(domain, version) != version and registry.is_known_domain(domain)
    }
    imports.update({domain: each for domain, each in moved.items() if each > said[domain]})
    for node in (node for each in graphs_of(graph) for node in each if node.domain in moved) if moved else ():
        version, wanted = moved[node.domain], imports[node.domain]
        if registry.find(node.domain, node.op_type, version) != registry.find(
            node.domain, node.op_type, wanted
        ):
            raise OpsetConflictError(
                f"{node.op_type} of opset {version}, which the code uses, is another operator in opset {wanted}, "
                "which opset_imports names",
                help=f"write opset_imports={{{node.domain!r}: {version}}}, or use the operators of opset {wanted}",
            )


def _rename_arguments(model: ir.Model, functions: Sequence[tuple[Any, Mapping[str, Any]]]) -> None:
    """Attributes of calls of functions, by the names that ONNX knows them by."""
    renamed = {
        (function.domain, function.onnx_name, function.overload): tables["parameters"]
        for function, tables in functions
        if "parameters" in tables
    }
    if not renamed:
        return
    for root in roots_of(model):
        for node in (node for graph in graphs_of(root) for node in graph):
            names = renamed.get(node.op_identifier())
            if names is None:
                continue
            attributes = list(node.attributes.values())
            node.attributes.clear()
            for each in attributes:
                name = names.get(each.name, each.name)
                node.attributes[name] = (
                    ir.RefAttr(name, each.ref_attr_name or "", each.type)
                    if each.is_ref()
                    else ir.Attr(name, each.type, each.value)
                )


def _describe_initializers(graph: ir.Graph, tables: Mapping[str, Any]) -> None:
    for each in graphs_of(graph):
        for value in each.initializers.values():
            restore_notes(value, f"initializer {value.name}", tables)


def _rename_attributes(function: ir.Function, renamed: Mapping[str, str]) -> None:
    attributes = list(function.attributes.values())
    function.attributes.clear()
    for each in attributes:
        name = renamed.get(each.name, each.name)
        function.attributes[name] = ir.Attr(name, each.type, each.value)
    for graph in graphs_of(function.graph):
        for node in graph:
            for each in list(node.attributes.values()):
                name = renamed.get(each.ref_attr_name or "") if each.is_ref() else None
                if name is not None:
                    node.attributes[each.name] = ir.RefAttr(each.name, name, each.type)


def _restore_inputs(graph: ir.Graph, names: Sequence[str]) -> None:
    """Initializers that are inputs, too, at their places among the inputs."""
    if not names:
        return
    own = {value.name: value for value in graph.inputs}
    ordered = [own.get(name) or graph.initializers.get(name) for name in names]
    missing = [value for value in graph.inputs if value.name not in names]
    graph.inputs[:] = [value for value in ordered if value is not None] + missing


# -- restored types --------------------------------------------------------------------------------------------
# The types of the values inside a rebuilt model: what inference finds, and what the tables say beyond that.


def restore_types(model: ir.Model, graphs: Sequence[tuple[ir.Graph, Mapping[str, Any]]]) -> None:
    """Type the values of each graph whose `value_types` ask for it; those of the others have no types.

    A type of the tables that contradicts inference, because the code was edited, is left out.
    """
    for graph, tables in graphs:
        said = tables.get("value_types")
        written = cast("Mapping[str, Any]", said if isinstance(said, Mapping) else {})
        is_function = graph is not model.graph
        if is_function:
            for value in graph.inputs:
                _declare(value, written.get(key_of_value(value) or ""))
        for value in _inner_values(graph, is_function=is_function):
            _declare(value, None if is_fresh(value) else written.get(key_of_value(value) or ""))
    if not any(tables.get("value_types") for _, tables in graphs):
        return
    findings = look_at(model)
    for graph, tables in graphs:
        if not tables.get("value_types"):
            continue
        for value in _inner_values(graph, is_function=graph is not model.graph):
            kind = findings.types.get(value)
            if kind is not None:
                value.type, value.shape = type_to_ir(kind)
                restore_notes(value, f"value {key_of_value(value)}", tables)


def _declare(value: ir.Value, annotation: Any) -> None:
    value.type, value.shape = (None, None) if annotation is None else type_to_ir(read_value_type(annotation))


def _inner_values(graph: ir.Graph, *, is_function: bool) -> Iterator[ir.Value]:
    """The values that the nodes of a graph make; outputs have types of their own, except those of functions."""
    for each in graphs_of(graph):
        said = set[ir.Value]() if is_function and each is graph else set(each.outputs)
        for node in each:
            yield from (value for value in node.outputs if value not in said)
