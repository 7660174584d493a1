"""ONNX's own node cases, differentiated: the gradient that runs against central differences in double precision.

The differences are taken by onnx's reference evaluator along random directions, on the case's inputs moved a little,
so that no element stands at a kink.
"""

from __future__ import annotations

import tomllib
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import defs, numpy_helper
from onnx.reference import ReferenceEvaluator

from onnxsmith import Model
from onnxsmith.errors import NotDifferentiableError
from onnxsmith.grad.models import differentiated, in_new_opset
from onnxsmith.grad.table import RULES
from tests.backend.node_cases import all_cases, as_value

#: How far inputs are moved, and the step of differences.
MOVED, STEP, LONG_STEP = 0.03, 1e-5, 3e-3
#: Operators without a gradient, and cases whose differences say nothing, each with its reason.
KNOWN: dict[str, dict[str, str]] = tomllib.loads(Path(__file__).with_name("known_gradients.toml").read_text())
#: Operators beyond those whose definitions say that they are differentiable.
BEYOND = (
    "Attention",
    "LayerNormalization",
    "RMSNormalization",
    "RotaryEmbedding",
    "RoiAlign",
    "DeformConv",
    "DFT",
    "STFT",
    "If",
    "Loop",
    "Scan",
    "SequenceMap",
)
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
            # Up: what is defined from zero on stays defined.
            noise = np.abs(generator.standard_normal(value.shape)) * MOVED
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


def gradients(case: Differentiable, cotangents: Mapping[str, Any], *, binds: bool = False) -> dict[str, Any]:
    """What the model of the gradient gives; `binds` makes whole numbers that are given a part of the model."""
    model = in_new_opset(Model.from_proto(case.model))
    whole = {
        k: v for k, v in case.inputs.items() if isinstance(v, np.ndarray) and v.dtype in (np.int32, np.int64)
    }
    if binds:
        model = model.bind_inputs(**whole)
        case = replace(case, inputs={name: value for name, value in case.inputs.items() if name not in whole})
    named = [f"{each}_cotangent" for each in case.of]
    made = differentiated(model, case.of, case.wrt, cotangents=named, fills=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        given = {**case.inputs, **dict(zip(named, (cotangents[each] for each in case.of), strict=True))}
        results = made.model(**{name: value for name, value in given.items() if value is not None})
    found = results if isinstance(results, tuple) else (results,)
    return dict(zip(made.names, found[-len(made.names) :], strict=True))


def _evaluator(case: Differentiable) -> tuple[Callable[[Mapping[str, Any]], dict[str, Any]], dict[str, Any]]:
    """What the reference evaluator gives by name, and the inputs for it: in double precision if it can."""
    names = [each.name for each in case.model.graph.output]
    double = {name: as_double(value) for name, value in case.inputs.items()}
    for model, inputs in ((in_double(case.model), double), (case.model, dict(case.inputs))):
        evaluator = ReferenceEvaluator(model)

        def run(given: Mapping[str, Any], evaluator: ReferenceEvaluator = evaluator) -> dict[str, Any]:
            with np.errstate(all="ignore"):
                return dict(zip(names, evaluator.run(None, dict(given)), strict=True))

        try:
            run(inputs)
        except Exception:  # constants of single precision in the definition of an operator
            continue
        return run, inputs
    raise AssertionError("the reference evaluator does not run the case")


def compared(case: Differentiable, seed: int = 1, directions: int = 3) -> list[tuple[float, float, float]]:
    """For some directions: the derivative by the gradient, by differences, and how large both may be."""
    generator = np.random.default_rng(seed)
    run, base = _evaluator(case)
    results = run(base)
    # Some of the evaluator's operators compute in single precision whatever they are given.
    length = STEP if all(results[each].dtype == np.float64 for each in case.of) else LONG_STEP
    cotangents = {
        each: np.where(
            _is_number(results[each]), generator.standard_normal(np.shape(results[each])), 0.0
        ).astype(_dtype(case, each))
        for each in case.of
    }
    try:
        found = gradients(case, cotangents)
    except NotDifferentiableError as error:
        if "only the model knows" not in error.message:
            raise
        found = gradients(case, cotangents, binds=True)
    for name in case.wrt:
        assert (found[name].shape, found[name].dtype) == (case.inputs[name].shape, case.inputs[name].dtype), (
            name
        )
    pairs: list[tuple[float, float, float]] = []
    for _ in range(directions):
        along = {
            name: np.where(_is_number(base[name]), generator.standard_normal(base[name].shape), 0.0)
            for name in case.wrt
        }
        ahead, behind = (
            {**base, **{k: (base[k] + s * v).astype(base[k].dtype) for k, v in along.items()}}
            for s in (length, -length)
        )
        plus, minus = run(ahead), run(behind)
        with np.errstate(invalid="ignore"):  # masks are infinite
            slopes = {each: (plus[each].astype(np.float64) - minus[each]) / (2 * length) for each in case.of}
        differences = sum(float(np.nansum(slopes[each] * cotangents[each])) for each in case.of)
        parts = [np.where(v == 0.0, 0.0, found[name].astype(np.float64) * v) for name, v in along.items()]
        size = sum(float(np.abs(each).sum()) for each in parts)
        pairs.append((sum(float(each.sum()) for each in parts), differences, size))
    return pairs


def _is_number(values: Any) -> Any:
    """Whether elements are numbers that differences can be taken of; masks are infinite, or as good as that."""
    return np.abs(values) < 1e30


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


def cases_of(names: set[str]) -> list[Any]:
    found: list[Any] = []
    for case in all_cases().values():
        nodes = case.model.graph.node
        if len(nodes) == 1 and not nodes[0].domain and nodes[0].op_type in names:
            found.append(case)
    return found


def differentiated_operators() -> set[str]:
    return {*differentiable_operators(), *BEYOND} - KNOWN["operators"].keys()


def wrong_gradients(cases: Sequence[Any]) -> list[str]:
    """What is wrong with the gradients of cases, but for those that are known to say nothing."""
    wrong: list[str] = []
    for case in cases:
        if case.name in KNOWN["cases"]:
            continue
        try:
            found = failure(case)
        except Exception as error:  # one case must not hide the others
            found = f"{type(error).__name__}: {error}"
        if found is not None:
            wrong.append(f"{case.name}: {found}")
    return wrong


def family_of(case: Any) -> str | None:
    """The module of `grad.rules` with the rule of a case; None where the operator's definition is differentiated."""
    return RULES.index.get(("", case.model.graph.node[0].op_type))


def wrong_of_family(family: str, shard: int = 0, shards: int = 1) -> list[str]:
    """What is wrong with the gradients of the cases whose rules a module has, or of one of their shards."""
    cases = [each for each in cases_of(differentiated_operators()) if family_of(each) == family]
    assert cases, f"no case has a rule of {family}"
    return wrong_gradients(cases[shard::shards])
