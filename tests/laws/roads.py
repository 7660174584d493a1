"""The roads that a case can take to its result, one function each.

Each takes a case and gives the values of the outputs; it raises what the road raises. Which of them agree is not
decided here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import onnx

import onnxsmith
from onnxsmith.errors import DTypeNotAllowedError, NotRunnableError, OnnxsmithError
from onnxsmith.runtime import onnxruntime_api, using
from onnxsmith.runtime.adapting import adapt
from onnxsmith.runtime.failure import says_not_supported
from onnxsmith.runtime.model_session import load_on_onnxruntime
from onnxsmith.schema import registry
from onnxsmith.schema.bind import check_node
from onnxsmith.schema.inference import infer
from onnxsmith.schema.inference.known import Known
from onnxsmith.types.annotations import type_of_example
from onnxsmith.types.value_types import AnyValueType, Shape, TensorType
from tests.backend.node_cases import (
    actual_type,
    attribute_value,
    free_names,
    on_public_operators,
    value_type,
)
from tests.laws import contexts
from tests.laws.bare_session import BareProcess
from tests.laws.case import Case, Value, with_inputs
from tests.laws.contexts import TRIPS, Inexpressible
from tests.laws.programs import Program, names_an_input

Road = Callable[[Case], tuple[Any, ...]]


class Contradiction(Exception):
    """What we say of a model is not so: the shape of a result, that a runtime can run it."""


class BareError(Exception):
    """What the runtime itself says, in a process without us; it has no code of ours."""


class BareEnd(Exception):
    """A process without us died or did not come back."""


def eager(case: Case) -> tuple[Any, ...]:
    """Operator by operator, as `opset21.Add(a, b)`."""
    graph = case.graph
    declared = {info.name: value_type(info.type) for info in (*graph.input, *graph.value_info)}
    values: dict[str, Value] = {"": None}
    values.update((info.name, value) for info, value in zip(graph.input, case.inputs, strict=True))
    values.update((each.name, onnx.numpy_helper.to_array(each)) for each in graph.initializer)
    for node in graph.node:
        op = registry.find(node.domain, node.op_type, case.version(node.domain))
        if op is None:
            raise Inexpressible("no definition")
        attributes = {each.name: attribute_value(each) for each in node.attribute}
        bodies = [each for each in attributes.values() if isinstance(each, onnx.GraphProto)]
        captured = {name: values[name] for body in bodies for name in free_names(body)}
        given = [values[name] for name in node.input]
        # What goes to the engine goes past what a call looks at; and a keyword that names an input is no attribute.
        if (bodies and op.domain) or names_an_input(case, node):
            check_node(op, given, attributes)
        kinds = [actual_type(values[name], declared.get(name)) if name else None for name in node.input]
        try:
            outputs = on_public_operators(
                op,
                given,
                kinds,
                attributes,
                len(node.output),
                captured,
                {name: actual_type(values[name], declared.get(name)) for name in captured},
                case.version(""),
            )
        except OnnxsmithError:
            if bodies and op.domain:
                known = [None if each is None else Known(type_of_example(each)) for each in given]
                infer(op, case.version(op.domain), known, {}, len(node.output))
            raise
        values.update((name, value) for name, value in zip(node.output, outputs, strict=True) if name)
    return tuple(values[info.name] for info in graph.output)


def reference(case: Case) -> tuple[Any, ...]:
    """The same on onnx's reference evaluator."""
    with using(runtime="reference"):
        return eager(case)


def in_float64(case: Case) -> tuple[Any, ...]:
    """The same with inputs of float64, as near to exact as there is."""
    given = tuple(_widened(each) for each in case.inputs)
    return reference(with_inputs(case, case.graph, given, case.name))


def _widened(value: Value) -> Value:
    if isinstance(value, list):
        return [_widened(each) for each in value]
    is_float = isinstance(value, np.ndarray) and (value.dtype.kind == "f" or "float" in value.dtype.name)
    return value.astype(np.float64) if is_float else value


def types_of(case: Case) -> list[AnyValueType | np.ndarray]:
    kinds: list[AnyValueType | np.ndarray] = []
    for info, value in zip(case.graph.input, case.inputs, strict=True):
        if isinstance(value, np.ndarray) and info.type.WhichOneof("value") == "tensor_type":
            kinds.append(value)
            continue
        kind = value_type(info.type)
        if kind is None:
            raise Inexpressible("an input without a type")
        kinds.append(kind)
    return kinds


def _as_tuple(result: Any) -> tuple[Any, ...]:
    return result if isinstance(result, tuple) else (result,)


def traced(case: Case) -> tuple[Any, ...]:
    """The model that `trace` makes of the calls, on inputs of the same shapes."""
    model = onnxsmith.trace(Program(case).plain(), *types_of(case), opset_version=case.version(""))
    values = _as_tuple(model(*case.inputs))
    for port, value in zip(model.outputs, values, strict=True):
        shape = port.type.shape if isinstance(port.type, TensorType) else None
        if shape is not None and isinstance(value, np.ndarray) and not _fits(value.shape, shape):
            raise Contradiction(f"{port.name} is declared {port.type!r}, and has shape {value.shape}")
    return values


def _fits(actual: tuple[int, ...], declared: Shape) -> bool:
    return len(actual) == len(declared) and all(
        not isinstance(b, int) or a == b for a, b in zip(actual, declared, strict=True)
    )


def _only_tensors(case: Case) -> None:
    # An array may be what an optional holds.
    kinds = (info.type.WhichOneof("value") for info in case.graph.input)
    if not all(isinstance(each, np.ndarray) for each in case.inputs) or "optional_type" in kinds:
        raise Inexpressible("a script's types are annotated for what is no tensor")


def jit(case: Case) -> tuple[Any, ...]:
    """The calls as a script, run as one model."""
    _only_tensors(case)
    return _as_tuple(onnxsmith.jit(Program(case).plain())(*case.inputs))


def jit_if(case: Case) -> tuple[Any, ...]:
    """The calls in an `if` of a script, which an input decides."""
    _only_tensors(case)
    return _as_tuple(onnxsmith.jit(Program(case).in_if())(np.array(True), *case.inputs))


def jit_loop(case: Case) -> tuple[Any, ...]:
    """The calls in a `for` of a script, as often as an input says."""
    _only_tensors(case)
    try:
        return _as_tuple(onnxsmith.jit(Program(case).in_loop())(np.array(TRIPS), *case.inputs))
    except DTypeNotAllowedError as error:
        if "Loop does not take" in error.message:
            raise Inexpressible("a loop of this opset carries no such tensors") from error
        raise


def jit_function(case: Case) -> tuple[Any, ...]:
    """The calls in a script that another script calls."""
    _only_tensors(case)
    return _as_tuple(onnxsmith.jit(Program(case).in_function())(*case.inputs))


def _as_model(context: str) -> Road:
    def run(case: Case) -> tuple[Any, ...]:
        proto, inputs = contexts.CONTEXTS[context](case)
        return _of_context(context, _as_tuple(onnxsmith.Model.from_proto(proto)(*inputs)))

    run.__doc__ = f"A foreign ModelProto with the nodes: {context}."
    return run


def _of_context(context: str, values: tuple[Any, ...]) -> tuple[Any, ...]:
    """The outputs of the case itself; of a loop the last trip's, if all trips' are the same."""
    if context != "loop":
        return values
    first, *others = contexts.each_trip(values)
    for other in others:
        for one, two in zip(first, other, strict=True):
            if np.asarray(one).tobytes() != np.asarray(two).tobytes():
                return other
    return first


def _for_runtime(context: str) -> Road:
    def run(case: Case) -> tuple[Any, ...]:
        proto, inputs = contexts.CONTEXTS[context](case)
        names = [each.name for each in proto.graph.input]
        given = dict(zip(names, inputs, strict=True))
        if not all(map(_is_plain, given.values())):
            raise Inexpressible("numpy alone has no such values")
        try:
            made = onnxsmith.Model.from_proto(proto).for_runtime()
        except NotRunnableError as refusal:
            _check_that_it_is_the_runtime(proto, refusal)
            raise Inexpressible("ONNX Runtime cannot run it") from refusal
        if any(words in change.reason for change in made.report.edits for words in COSTS_PRECISION):
            raise Inexpressible("precision was given up, and the report says so")
        if not all(_has_plain_elements(each.type) for each in made.outputs):
            raise Inexpressible("numpy alone has no such values")
        outcome = _BARE.ask(made.proto.SerializeToString(), given, timeout=BARE_SECONDS)
        if outcome.kind == "error" and says_not_supported(RuntimeError(outcome.text)):
            raise Inexpressible("ONNX Runtime says that it cannot, and the model runs on another engine here")
        if outcome.kind == "large":
            raise Inexpressible("more than is compared")
        if outcome.kind == "error":
            raise BareError(outcome.text)
        if outcome.kind != "results":
            raise BareEnd(f"{outcome.kind} {outcome.text}")
        return _of_context(context, tuple(outcome.results.values()))

    run.__doc__ = f"What `for_runtime` makes of such a model, in a process without us: {context}."
    return run


def _is_plain(value: Value) -> bool:
    """Whether numpy alone, and so a process without us, has values of this type."""
    if isinstance(value, list):
        return all(map(_is_plain, value))
    # The type's own dtype: one that came out of a pickle does not say so.
    return isinstance(value, np.ndarray) and np.dtype(value.dtype.type).isbuiltin == 1


def _has_plain_elements(kind: AnyValueType) -> bool:
    dtype = kind.dtype if isinstance(kind, TensorType) else None
    return dtype is None or np.dtype(dtype.numpy).isbuiltin == 1


def _check_that_it_is_the_runtime(proto: onnx.ModelProto, refusal: NotRunnableError) -> None:
    """A model that ONNX Runtime takes as it is, it must take with the facts met, too; but for what they refuse."""
    try:
        adapt(proto, onnxruntime_api.version())
        load_on_onnxruntime(proto)
    except Exception:  # a refusal of ours, or one of the runtime's, which have no common base
        return
    raise Contradiction(f"ONNX Runtime takes the model, but not what is made for it: {refusal.message}")


#: How the report of a model for the runtime says that it is less precise: `wider_types.cost` has the words.
COSTS_PRECISION = ("less precise", "exact up to")
_BARE = BareProcess()
#: Less than a worker is given, so that the worker lives to tell.
BARE_SECONDS = 10.0

#: All roads; the first is the one that the others are compared with.
ROADS: dict[str, Road] = {
    "eager": eager,
    "traced": traced,
    "jit": jit,
    "jit if": jit_if,
    "jit loop": jit_loop,
    "jit function": jit_function,
    "model": _as_model("alone"),
    "model if": _as_model("if"),
    "model loop": _as_model("loop"),
    "model function": _as_model("function"),
}

ROADS.update({f"bare {context}": _for_runtime(context) for context in contexts.CONTEXTS})

#: Roads that are only asked when others disagree.
WITNESSES: dict[str, Road] = {"reference": reference, "float64": in_float64}
