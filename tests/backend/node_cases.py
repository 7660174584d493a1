"""ONNX's own node cases, run operator by operator on the eager engine and compared with their data.

Loads and runs; which cases are known not to run is in `known_unrunnable.toml`, and the verdict is the tests'.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import onnx
from onnx import numpy_helper, shape_inference

import onnxsmith
from onnxsmith.runtime import engine
from onnxsmith.schema import registry
from onnxsmith.schema.definition import OperatorDef
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import AnyValueType, MapType, OptionalType, SequenceType, TensorType

#: (operator, inputs with their types, attributes, output count, captured values, opset version) -> outputs
Execute = Callable[..., Sequence[Any]]


class NotEqual(AssertionError):
    """What came out is not what the case says."""


@functools.cache
def all_cases() -> Mapping[str, Any]:
    """Every node case of the installed onnx, by name; built in memory, in about five seconds."""
    from onnx.backend.test.case import node

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {case.name: case for case in node.collect_testcases(None)}


def value_type(proto: onnx.TypeProto) -> AnyValueType | None:
    """Our type of a type proto; None when it says nothing."""
    match proto.WhichOneof("value"):
        case "tensor_type":
            return (
                TensorType(DType(proto.tensor_type.elem_type), None) if proto.tensor_type.elem_type else None
            )
        case "sequence_type":
            element = value_type(proto.sequence_type.elem_type)
            return None if element is None else SequenceType(element)
        case "optional_type":
            element = value_type(proto.optional_type.elem_type)
            return None if element is None else OptionalType(element)
        case "map_type":
            value = value_type(proto.map_type.value_type)
            return MapType(DType(proto.map_type.key_type), value)
        case _:
            return None


def attribute_value(attribute: onnx.AttributeProto) -> Any:
    """An attribute as the call pipeline hands it on."""
    value = onnx.helper.get_attribute_value(attribute)
    kind = onnx.AttributeProto.AttributeType.Name(attribute.type)
    if kind == "TENSOR":
        return numpy_helper.to_array(value)
    if kind == "TENSORS":
        return tuple(map(numpy_helper.to_array, value))
    if kind == "STRING":
        return value.decode()
    if kind == "STRINGS":
        return tuple(each.decode() for each in value)
    return tuple(value) if kind in ("INTS", "FLOATS") else value


def free_names(graph: onnx.GraphProto) -> list[str]:
    """The outer values that a body uses, in order of first use."""
    bound = {each.name for each in (*graph.input, *graph.initializer)}
    free: dict[str, None] = {}
    for node in graph.node:
        for name in node.input:
            if name and name not in bound:
                free[name] = None
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.GRAPH:
                free.update((name, None) for name in free_names(attribute.g) if name not in bound)
        bound.update(node.output)
    free.update((each.name, None) for each in graph.output if each.name not in bound)
    return list(free)


def actual_type(value: Any, declared: AnyValueType | None) -> Any:
    """The type of a value: its own where it shows one, else what is declared."""
    if isinstance(value, np.ndarray) and not isinstance(declared, OptionalType):
        return DType.from_numpy(value.dtype)
    if declared is None and isinstance(value, list) and value:
        return SequenceType(TensorType(DType.from_numpy(value[0].dtype), None))
    return declared


def as_value(value: Any) -> Any:
    """A case's datum as users hold it."""
    if isinstance(value, onnx.TensorProto):
        return numpy_helper.to_array(value)
    if isinstance(value, list):
        return [as_value(each) for each in value]
    if isinstance(value, np.generic):
        return np.asarray(value)
    return value


def on_engine(
    op: OperatorDef,
    inputs: Sequence[Any],
    types: Sequence[Any],
    attributes: Mapping[str, Any],
    output_count: int,
    captured: Mapping[str, Any],
    captured_types: Mapping[str, Any],
    version: int,
) -> Sequence[Any]:
    """Run one operator straight on the engine."""
    has_body = any(isinstance(each, onnx.GraphProto) for each in attributes.values())
    runner = engine.prepare(
        op,
        tuple(types),
        attributes,
        output_count,
        captured=captured_types,
        opset_version=version if has_body else None,
    )
    return runner([*inputs, *captured.values()])


def on_public_operators(
    op: OperatorDef,
    inputs: Sequence[Any],
    types: Sequence[Any],
    attributes: Mapping[str, Any],
    output_count: int,
    captured: Mapping[str, Any],
    captured_types: Mapping[str, Any],
    version: int,
) -> Sequence[Any]:
    """Run one operator as users do, `opset21.Add(a, b)`.

    What only a model can say goes to the engine: bodies that use outer values, the opset of a body below an operator
    of another domain, and the types of optionals and sequences that their values do not show.
    """
    is_shown = all(kind is None or _shows_its_type(value) for kind, value in zip(types, inputs, strict=True))
    has_body = any(isinstance(each, onnx.GraphProto) for each in attributes.values())
    if (
        captured
        or not is_shown
        or (has_body and op.domain)
        or any(isinstance(kind, OptionalType) for kind in types)
    ):
        return on_engine(op, inputs, types, attributes, output_count, captured, captured_types, version)
    domain = "opset" if not op.domain else "opset_" + op.domain.replace(".", "_")
    number = version if has_body else op.since_version
    operator = getattr(getattr(onnxsmith, f"{domain}{number}"), op.name)
    result = operator(*inputs, **attributes, outputs=output_count)
    return result if isinstance(result, tuple) else (result,)


def _shows_its_type(value: Any) -> bool:
    if isinstance(value, list):
        return bool(value) and all(isinstance(each, np.ndarray) for each in value)
    return isinstance(value, np.ndarray)


def run_case(case: Any, execute: Execute = on_public_operators) -> list[tuple[Any, Any]]:
    """Run each node of a case in order; returns pairs of (what came out, what should have)."""
    model = case.model
    opsets = {each.domain: each.version for each in model.opset_import}
    graph = shape_inference.infer_shapes(model).graph if len(model.graph.node) > 1 else model.graph
    declared = {info.name: value_type(info.type) for info in (*graph.input, *graph.value_info, *graph.output)}
    inputs, expected = case.data_sets[0]
    values: dict[str, Any] = {"": None}
    for info, datum in zip(graph.input, inputs, strict=True):
        values[info.name] = as_value(datum)
    for node in model.graph.node:
        version = opsets.get(node.domain, opsets.get("ai.onnx" if not node.domain else node.domain))
        op = registry.find(node.domain, node.op_type, version)
        assert op is not None, f"no definition of {node.domain} {node.op_type} {version}"
        attributes = {each.name: attribute_value(each) for each in node.attribute}
        names = [
            name
            for each in attributes.values()
            if isinstance(each, onnx.GraphProto)
            for name in free_names(each)
        ]
        captured = {name: values[name] for name in dict.fromkeys(names)}
        outputs = execute(
            op,
            [values[name] for name in node.input],
            [actual_type(values[name], declared.get(name)) if name else None for name in node.input],
            attributes,
            len(node.output),
            captured,
            {name: actual_type(values[name], declared.get(name)) for name in captured},
            opsets.get("", opsets.get("ai.onnx")),
        )
        values.update((name, value) for name, value in zip(node.output, outputs, strict=True) if name)
    return [(values[info.name], as_value(datum)) for info, datum in zip(graph.output, expected, strict=True)]


def check_equal(actual: Any, expected: Any, rtol: float, atol: float) -> None:
    """Raise `NotEqual` unless element types and shapes are the same and values are near enough."""
    if isinstance(expected, list | tuple):
        if not isinstance(actual, list | tuple) or len(actual) != len(expected):
            raise NotEqual(f"expected a sequence of {len(expected)}, got {actual!r}")
        for one, other in zip(actual, expected, strict=True):
            check_equal(one, other, rtol, atol)
        return
    if expected is None or actual is None or isinstance(expected, dict):
        if not (actual is None and expected is None) and actual != expected:
            raise NotEqual(f"expected {expected!r}, got {actual!r}")
        return
    actual = np.asarray(actual)
    if DType.from_numpy(actual.dtype) is not DType.from_numpy(expected.dtype):
        raise NotEqual(f"expected {expected.dtype}, got {actual.dtype}")
    if actual.shape != expected.shape:
        raise NotEqual(f"expected shape {expected.shape}, got {actual.shape}")
    if expected.dtype.kind in "OUST":
        texts = [each.decode() if isinstance(each, bytes) else str(each) for each in expected.flat]
        if list(actual.flat) != texts:
            raise NotEqual(f"expected {texts}, got {list(actual.flat)}")
        return
    if expected.dtype.kind in "iub":  # a tolerance would be one of doubles, which hold 53 bits
        if not np.array_equal(actual, expected):
            raise NotEqual(f"expected {expected.reshape(-1)[:6]}, got {actual.reshape(-1)[:6]}")
        return
    if not DType.from_numpy(expected.dtype).is_native:
        actual, expected = actual.astype(np.float32), expected.astype(np.float32)
    if not np.allclose(actual, expected, rtol=rtol, atol=atol, equal_nan=True):
        difference = np.abs(actual.astype(np.complex128) - expected.astype(np.complex128))
        raise NotEqual(f"values differ by up to {np.nanmax(difference) if difference.size else difference}")
