"""ONNX's own node cases, differentiated: the gradient that runs against central differences in double precision.

The differences are taken by onnx's reference evaluator along random directions, on the case's inputs moved a little,
so that no element stands at a kink.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
from onnx import defs, numpy_helper
from onnx.reference import ReferenceEvaluator

from onnxsmith import Model
from onnxsmith.grad.models import differentiated, in_new_opset
from tests.backend.node_cases import as_value

#: How far inputs are moved, and the step of differences.
MOVED, STEP = 0.01, 1e-5
_FLOATS = (onnx.TensorProto.FLOAT, onnx.TensorProto.DOUBLE)
_DIFFERENTIABLE = defs.OpSchema.DifferentiationCategory.Differentiable
_NOT_DIFFERENTIABLE = defs.OpSchema.DifferentiationCategory.NonDifferentiable


def differentiable_operators() -> list[str]:
    """The standard operators whose newest definition declares a differentiable input and a differentiable output."""
    found: list[str] = []
    for schema in defs.get_all_schemas():
        if schema.domain == "" and not schema.deprecated:
            inputs = any(each.differentiation_category == _DIFFERENTIABLE for each in schema.inputs)
            outputs = any(each.differentiation_category == _DIFFERENTIABLE for each in schema.outputs)
            if inputs and outputs:
                found.append(schema.name)
    return sorted(found)


@dataclass(frozen=True)
class Differentiable:
    """A case with numbers to differentiate by: which inputs, and which outputs."""

    model: onnx.ModelProto
    inputs: Mapping[str, Any]
    wrt: Sequence[str]
    of: Sequence[str]


def read(case: Any, seed: int = 0) -> Differentiable | None:
    """The case in float32, with inputs moved a little; None where nothing in it has a derivative."""
    generator = np.random.default_rng(seed)
    graph = case.model.graph
    values = [as_value(each) for each in case.data_sets[0][0]]
    inputs = {each.name: value for each, value in zip(graph.input, values, strict=True)}
    node = graph.node[0]
    schema = defs.get_schema(node.op_type, _version(case.model), node.domain)
    wrt: list[str] = []
    for position, name in enumerate(node.input):
        formal = schema.inputs[min(position, len(schema.inputs) - 1)]
        value = inputs.get(name)
        is_float = isinstance(value, np.ndarray) and value.dtype in (np.float32, np.float64)
        if is_float and formal.differentiation_category != _NOT_DIFFERENTIABLE and name not in wrt:
            wrt.append(name)
            noise = generator.standard_normal(value.shape) * MOVED
            inputs[name] = np.where(np.isfinite(value), value + noise, value).astype(value.dtype)
    of = [
        each.name
        for each in graph.output
        if each.type.tensor_type.elem_type in _FLOATS
        and _category(schema, list(node.output).index(each.name)) != _NOT_DIFFERENTIABLE
    ]
    return Differentiable(case.model, inputs, wrt, of) if wrt and of else None


def _version(model: onnx.ModelProto) -> int:
    return next(each.version for each in model.opset_import if each.domain in ("", "ai.onnx"))


def _category(schema: Any, position: int) -> Any:
    return schema.outputs[min(position, len(schema.outputs) - 1)].differentiation_category


def in_double(model: onnx.ModelProto) -> onnx.ModelProto:
    """The model with float64 in the place of float32."""
    text = onnx.ModelProto()
    text.CopyFrom(model)
    for each in (*text.graph.input, *text.graph.output, *text.graph.value_info):
        if each.type.tensor_type.elem_type == onnx.TensorProto.FLOAT:
            each.type.tensor_type.elem_type = onnx.TensorProto.DOUBLE
    for node in text.graph.node:
        for attribute in node.attribute:
            if attribute.name == "to" and attribute.i == onnx.TensorProto.FLOAT:
                attribute.i = onnx.TensorProto.DOUBLE
            if attribute.HasField("t") and attribute.t.data_type == onnx.TensorProto.FLOAT:
                attribute.t.CopyFrom(
                    numpy_helper.from_array(numpy_helper.to_array(attribute.t).astype(np.float64))
                )
    return text


def as_double(value: Any) -> Any:
    """An array of float32 in double precision."""
    is_single = isinstance(value, np.ndarray) and value.dtype == np.float32
    return value.astype(np.float64) if is_single else value


def gradients(case: Differentiable, cotangents: Mapping[str, Any]) -> dict[str, Any]:
    """What the model of the gradient gives."""
    model = in_new_opset(Model.from_proto(case.model))
    named = [f"{each}_cotangent" for each in case.of]
    made = differentiated(model, case.of, case.wrt, cotangents=named, fills=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        given = {**case.inputs, **dict(zip(named, (cotangents[each] for each in case.of), strict=True))}
        results = made.model(**{name: value for name, value in given.items() if value is not None})
    found = results if isinstance(results, tuple) else (results,)
    return dict(zip(made.names, found[-len(made.names) :], strict=True))


def compared(case: Differentiable, seed: int = 1, directions: int = 3) -> list[tuple[float, float, float]]:
    """For some directions: the derivative by the gradient, by differences, and how large both may be."""
    generator = np.random.default_rng(seed)
    evaluator = ReferenceEvaluator(in_double(case.model))
    names = [each.name for each in case.model.graph.output]
    base = {name: as_double(value) for name, value in case.inputs.items()}

    def run(inputs: Mapping[str, Any]) -> dict[str, Any]:
        with np.errstate(all="ignore"):
            return dict(zip(names, evaluator.run(None, dict(inputs)), strict=True))

    results = run(base)
    cotangents = {
        each: generator.standard_normal(np.shape(results[each])).astype(_dtype(case, each))
        for each in case.of
    }
    found = gradients(case, cotangents)
    pairs: list[tuple[float, float, float]] = []
    for _ in range(directions):
        along = {name: generator.standard_normal(base[name].shape) for name in case.wrt}
        ahead, behind = ({**base, **{k: base[k] + s * v for k, v in along.items()}} for s in (STEP, -STEP))
        plus, minus = run(ahead), run(behind)
        differences = sum(
            float(np.nansum((plus[k].astype(np.float64) - minus[k]) / (2 * STEP) * cotangents[k]))
            for k in case.of
        )
        parts = [found[name].astype(np.float64) * v for name, v in along.items()]
        size = sum(float(np.abs(each).sum()) for each in parts)
        pairs.append((sum(float(each.sum()) for each in parts), differences, size))
    return pairs


def _dtype(case: Differentiable, name: str) -> Any:
    port = next(each for each in case.model.graph.output if each.name == name)
    return np.float64 if port.type.tensor_type.elem_type == onnx.TensorProto.DOUBLE else np.float32


def failure(case: Any) -> str | None:
    """What is wrong with the gradient of a case; None if nothing is, or if it has none."""
    given = read(case)
    if given is None:
        return None
    for ours, differences, size in compared(given):
        if not abs(ours - differences) <= 2e-3 * (1.0 + size):
            return f"{ours:.6g} by the gradient, {differences:.6g} by differences, of {size:.6g}"
    return None
