"""Checks a stranger's model before anything else looks at it, and says who is to blame when something fails.

Not a checker: onnx has one, and a model that breaks its rules can still be read, shown and repaired.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Generator
from typing import Any, cast

import onnx

from onnxsmith.diagnostics import described_cause
from onnxsmith.errors import InvalidModelError, OnnxsmithError, UnreadableModelError
from onnxsmith.graphs import files, raw
from onnxsmith.graphs.lazy_ir import ir
from onnxsmith.graphs.opsets import OPSET_REMEDY, newer_opset
from onnxsmith.graphs.rewriting.inference_traps import infer, without_traps
from onnxsmith.graphs.rewriting.scopes import (
    all_graphs,
    all_nodes,
    bodies_of,
    function_key,
    functions_of,
    roots_of,
)
from onnxsmith.graphs.rewriting.unfolding import callees_first, is_past_measure
from onnxsmith.graphs.tensor_sizes import check_sparse, check_tensor


def broken_rule(error: Exception, model: onnx.ModelProto, called: str) -> InvalidModelError:
    """The error with the words of onnx's checker in one line, and the input or output that has no shape."""
    text = str(error).replace("==> Context:", ";").replace("name:  OpType:", "").replace("Name:  OpType:", "")
    words = " ".join(text.split()).replace(" ;", ";")
    untyped = _untyped_output(model) if "'type'" in words else None
    if untyped is not None:
        return InvalidModelError(
            f"{called} is not valid: the output '{untyped}' has no type, because nothing is known of its operator",
            help="a script that says what the operator gives, @script(Opset('my.domain', 1)), has a type",
        )
    return InvalidModelError(
        f"{called} is not valid: {words}", help=_missing_rank(model) if "'shape'" in words else None
    )


def _untyped_output(model: onnx.ModelProto) -> str | None:
    return next((each.name for each in model.graph.output if not each.type.WhichOneof("value")), None)


def _missing_rank(model: onnx.ModelProto) -> str | None:
    for word, values in (("input", model.graph.input), ("output", model.graph.output)):
        for value in values:
            if value.type.HasField("tensor_type") and not value.type.tensor_type.HasField("shape"):
                return (
                    f"{word} '{value.name}' has no rank, and the checker wants one: FLOAT['N'] for FLOAT[...]"
                )
    return None


def check_ir(model: ir.Model, called: str) -> ir.Model:
    """Refuse a model whose names are no text, or that does not say what its weights are; protobuf lets both pass."""
    for graph in all_graphs(model):
        for value in graph.initializers.values():
            if value.const_value is not None and value.const_value.dtype == ir.DataType.UNDEFINED:
                raise _no_type(value.name, 0, called)
        for node in graph:
            for attribute in node.attributes.values():
                is_tensor = attribute.type == ir.AttributeType.TENSOR and not attribute.is_ref()
                if is_tensor and cast(ir.TensorProtocol, attribute.value).dtype == ir.DataType.UNDEFINED:
                    raise _no_type(attribute.name, 0, called)
    for text in _ir_texts(model):
        if type(text) is bytes:
            raise _no_text(text, called)
    return model


def _ir_texts(model: ir.Model) -> list[object]:
    """The names in a model as onnx-ir holds it; where one is no text, it has the bytes."""
    found: list[object] = [model.producer_name, model.producer_version, model.domain, model.doc_string]
    found += [*model.opset_imports, *model.metadata_props, *model.metadata_props.values()]
    for function in model.functions.values():
        found += [function.domain, function.name, function.overload, *function.attributes]
        found += [*function.opset_imports, *function.metadata_props, *function.metadata_props.values()]
    for graph in all_graphs(model):
        found += [graph.name, graph.doc_string, *graph.metadata_props, *graph.metadata_props.values()]
        found += graph.initializers
        values = [*graph.inputs, *graph.outputs]
        for node in graph:
            found += (node.name, node.op_type, node.domain, node.overload, node.doc_string)
            found += node.attributes
            found += [*node.metadata_props, *node.metadata_props.values()]
            found += [each.ref_attr_name for each in node.attributes.values()]
            found += [each.name for each in node.inputs if each is not None]
            values += node.outputs
        for value in values:
            found += (value.name, value.doc_string)
            found += [each.value for each in value.shape or () if isinstance(each, ir.SymbolicDim)]
    return found


def check_proto(proto: onnx.ModelProto, called: str) -> None:
    """The same for a model that stays a proto."""
    for text in raw.texts_of(proto):
        if isinstance(text, bytes):
            raise _no_text(text, called)
    for tensor in raw.tensors_of(proto):
        # A sparse tensor that is not there is asked for its parts all the same.
        is_there = tensor.dims or tensor.name or tensor.external_data
        if is_there and tensor.data_type not in _known_types():
            raise _no_type(tensor.name, tensor.data_type, called)
        if is_there:
            check_tensor(tensor, called)
    for sparse in raw.sparse_tensors_of(proto):
        check_sparse(sparse, called)


def refuse_endless_calls(model: onnx.ModelProto | ir.Model) -> None:
    """Refuse a model whose functions call each other without end: it means nothing, though it can be read."""
    if not model.functions:
        return
    calls: dict[tuple[str, str, str], list[tuple[str, str, str]]] = {}
    if isinstance(model, ir.Model):
        for key, function in model.functions.items():
            called = (node.op_identifier() for node in function.graph.all_nodes())
            calls[key] = [each for each in called if each in model.functions]
    else:
        functions = functions_of(model)
        for key, function in functions.items():
            called = (function_key(node) for node in all_nodes(function.node))
            calls[key] = [each for each in called if each in functions]
    if callees_first(calls) is None:
        names = [key[1] for key, each in calls.items() if each][:3]
        raise InvalidModelError(
            f"the model is not valid: functions call each other without end ({', '.join(names)})",
            help="a function of ONNX calls neither itself nor one that calls it: write a Loop",
        )


def _no_text(text: bytes, called: str) -> UnreadableModelError:
    return UnreadableModelError(
        f"{called} is not a valid ONNX model: the name {text[:100]!r} is no UTF-8",
        help="get the file again, whole",
    )


def _no_type(name: str | None, code: int, called: str) -> UnreadableModelError:
    return UnreadableModelError(
        f"{called} is not a valid ONNX model: the tensor {name!r} has no element type (data_type {code})",
        help="get the file again, whole",
    )


@functools.cache
def _known_types() -> frozenset[int]:
    return frozenset(int(each) for each in ir.DataType) - {0}


def newer_opset_of(model: onnx.ModelProto) -> str | None:
    """Words on an opset of the model, or of its functions, that the installed onnx does not have; None without one."""
    imports = (each for one in (model, *model.functions) for each in one.opset_import)
    return newer_opset((each.domain, each.version) for each in imports)


def check_opsets(model: onnx.ModelProto) -> None:
    """Refuse a model of an opset that the installed onnx does not have: nothing knows its rules."""
    newer = newer_opset_of(model)
    if newer is not None:
        raise InvalidModelError(f"the model cannot be checked: {newer}", help=OPSET_REMEDY)


def check_rules(model: onnx.ModelProto, file: str | None = None) -> None:
    """ONNX's own checker; raises what it raises. Types are checked unless functions call others past all measure.

    Given the `file` of the model, the checker reads that, of any size; of `model` the weights are not asked for then.
    """
    cast(Any, onnx.checker).check_model(model if file is None else file)
    if not is_past_measure(model):
        infer(without_traps(model, is_checked=True), is_strict=True)


@contextlib.contextmanager
def blaming(model: ir.Model | onnx.ModelProto) -> Generator[None]:
    """An exception that is not ours is the fault of a model that breaks ONNX's rules, and else a mistake of ours."""
    try:
        yield
    except OnnxsmithError:
        raise
    except Exception as error:
        invalid = fault_of(model, error)
        if invalid is None:
            raise
        raise invalid from None


def fault_of(model: ir.Model | onnx.ModelProto, error: Exception) -> InvalidModelError | None:
    """The error for a model that breaks ONNX's rules, after something failed on it; None for one that keeps them."""
    fault = _fault(model)
    if fault is None:
        return None
    told = described_cause(error)
    return InvalidModelError(f"the model is not valid: {fault}", help=f"it fails with: {told}")


def _fault(model: ir.Model | onnx.ModelProto) -> str | None:
    """The fault in a model; None when there is none, or when it is too large to be checked."""
    try:
        if isinstance(model, ir.Model) and _held_bytes(model) > files.EXTERNAL_PAST_BYTES:
            return None  # protobuf ends at 2 GiB, and so does the checker
        proto = files.to_proto(model) if isinstance(model, ir.Model) else model
        check_rules(proto)
    except OnnxsmithError as error:
        return error.message
    except Exception as error:  # the checker and inference raise unrelated classes
        return " ".join(str(error).split())
    return _undefined(model) if isinstance(model, ir.Model) else None


def _undefined(model: ir.Model) -> str | None:
    """A value that a node reads and nothing before it gives: the checker does not look into all functions."""
    waiting: list[tuple[ir.Graph, frozenset[ir.Value]]] = [(each, frozenset()) for each in roots_of(model)]
    while waiting:
        graph, outside = waiting.pop()
        known = {*outside, *graph.inputs, *graph.initializers.values()}
        for node in graph:
            for value in node.inputs:
                if value is not None and value not in known:
                    return f"a {node.op_type} node reads '{value.name}', and nothing before it gives that"
            waiting += [(each, frozenset(known)) for each in bodies_of(node)]
            known.update(node.outputs)
        for value in graph.outputs:
            if value not in known:
                return f"'{value.name}' is an output of '{graph.name}', and nothing gives it"
    return None


def _held_bytes(model: ir.Model) -> int:
    """How large the weights of a model are, by what they hold: what they say of themselves may be wrong."""
    total = 0
    for graph in all_graphs(model):
        for value in graph.initializers.values():
            tensor = value.const_value
            if isinstance(tensor, ir.serde.TensorProtoTensor):
                total += tensor.raw.ByteSize()
            elif tensor is not None:
                total += tensor.nbytes
    return total
