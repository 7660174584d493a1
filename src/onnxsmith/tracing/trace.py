"""`trace`: call a function on symbolic tensors and take the graph that its operators leave behind.

No syntax tree is read: Python itself runs the function, once. Control flow that depends on a tensor's value is an
error here; scripts are for that.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeGuard, cast

import numpy as np

from onnxsmith.core.operands import tensors_of_arrays
from onnxsmith.core.operator import Operator
from onnxsmith.core.semantics.number import kind_of
from onnxsmith.core.semantics.python_errors import refusal_for
from onnxsmith.core.target import ACTIVE
from onnxsmith.core.user_values import UserValue
from onnxsmith.core.value import SHOWS_EAGER_CLASS, Operand, Value
from onnxsmith.diagnostics import described_type
from onnxsmith.errors import TraceError, boundary, refusals_raised
from onnxsmith.graphs.builder import GraphTarget
from onnxsmith.graphs.captured import AROUND
from onnxsmith.graphs.interface import GivenNames, describe, read_names, refuse_unknown, rename
from onnxsmith.graphs.ir_version import lowest_ir_version
from onnxsmith.graphs.model import Model, recorded_model
from onnxsmith.graphs.opsets import OpsetVersions, check_opset_version
from onnxsmith.graphs.program import Program
from onnxsmith.graphs.records import ModelRecord
from onnxsmith.graphs.size_conditions import carry, conditions_of, declared_in, put_into, ranges_of
from onnxsmith.opset.module import standard_version
from onnxsmith.schema.inference import symbolic
from onnxsmith.schema.registry import default_opset_version
from onnxsmith.source import Span, code_span
from onnxsmith.tracing.host_state import refusing
from onnxsmith.types.annotations import Annotation, read_value_type
from onnxsmith.types.value_types import ValueType

PRODUCER = "onnxsmith"
_OPTIONS = ("opset_version", "name", "input_names", "output_names", "doc_string", "metadata")


@boundary
def trace(
    function: Callable[..., Any],
    *types: Annotation,
    opset_version: int | None = None,
    name: str | None = None,
    input_names: GivenNames | None = None,
    output_names: GivenNames | None = None,
    doc_string: str | None = None,
    metadata: Mapping[str, str] | None = None,
    **unknown: UserValue,
) -> Model:
    """The model of a function: called once with symbolic tensors of these types (or types of example arrays).

    `opset_version` is that of the standard domain, by default the one that the function's operators are from. `name` is
    the graph's. `input_names` and `output_names` are in order, or new names by the ones that there would be.
    `doc_string` and `metadata` are the model's.

    >>> from onnxsmith import FLOAT, opset21 as op, trace
    >>> trace(lambda a, b: op.Relu(a @ b + 1.0), FLOAT["N", 4], FLOAT[4, 8])
    Model(a: FLOAT['N', 4], b: FLOAT[4, 8]) -> relu: FLOAT['N', 8], 3 nodes, opset 21
    """
    refuse_unknown("trace", unknown, _OPTIONS, TraceError)
    return traced(
        function,
        types,
        opset_version=opset_version,
        name=name,
        input_names=input_names,
        output_names=output_names,
        doc_string=doc_string,
        metadata=metadata,
    )


def traced(
    function: Callable[..., Any],
    types: Sequence[Annotation],
    *,
    opset_version: int | None = None,
    name: str | None = None,
    input_names: GivenNames | None = None,
    output_names: GivenNames | None = None,
    doc_string: str | None = None,
    metadata: Mapping[str, str] | None = None,
    mixes_dtypes: bool = False,
) -> Model:
    """The model of a function, as `trace` makes it; `mixes_dtypes` is for a function of numpy's arrays."""
    given = cast(object, function)
    if not callable(given) or isinstance(given, ValueType):
        what = repr(given) if isinstance(given, ValueType) else described_type(type(given))
        raise TraceError(f"trace needs a function first, not {what}", help="trace(function, FLOAT['N'], …)")
    check_opset_version(opset_version)
    kinds = [read_value_type(each, f"type {position} of trace") for position, each in enumerate(types)]
    names = _input_names(function, len(kinds), input_names)
    version = opset_version if opset_version is not None else named_version(function)
    program = Program(
        "model",
        OpsetVersions(
            version or default_opset_version(),
            is_fixed=opset_version is not None,
            is_named=version is not None,
        ),
        mixes_dtypes=mixes_dtypes,
    )
    program.captures = AROUND.get()
    if program.captures is not None:
        program.captures.start()
    scope = GraphTarget(program)
    definition = definition_span(function)
    arguments = [scope.input(each, kind, definition) for each, kind in zip(names, kinds, strict=True)]
    sizes = declared_in(kinds)
    ranges = ranges_of(sizes)
    token, declared = ACTIVE.set(scope), symbolic.DECLARED.set(ranges)
    around = AROUND.set(None)  # what else is traced meanwhile is a function of its own
    shows = SHOWS_EAGER_CLASS.set(False)  # `isinstance(n, int)` asks whether a size is known
    try:
        result = _called(function, arguments)
        outputs = _outputs(scope, tensors_of_arrays(result), definition)
    finally:
        SHOWS_EAGER_CLASS.reset(shows)
        AROUND.reset(around)
        symbolic.DECLARED.reset(declared)
        ACTIVE.reset(token)
    carry(program.shared, conditions_of(sizes, ranges), {each.name: each.name for each in sizes})
    graph = scope.finish(outputs, name or _graph_name(function))
    if output_names is not None:
        current = [each.name for each in graph.outputs]
        wanted = read_names(output_names, current, "output_names", TraceError)
        rename(graph, program.names, graph.outputs, wanted, TraceError)
    model = ModelRecord(graph, list(program.functions.values()), PRODUCER)
    model.ir_version = lowest_ir_version(model, program.dtypes)
    put_into(model, program.shared)
    describe(model, doc_string, metadata, TraceError)
    return recorded_model(model)


def _called(function: Callable[..., Any], arguments: Sequence[Value]) -> UserValue:
    try:
        with refusals_raised():
            return refusing(function, lambda: function(*arguments))
    except Exception as error:
        refused = refusal_for(error)
        if refused is None:
            raise
        raise refused from None


def _input_names(function: Callable[..., Any], count: int, given: GivenNames | None) -> list[str]:
    if given is None or isinstance(given, Mapping):
        current = _parameter_names(function, count)
    else:
        current = [""] * count  # a function without a signature has no other names
    return current if given is None else read_names(given, current, "input_names", TraceError)


def _parameter_names(function: Callable[..., Any], count: int) -> list[str]:
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # builtins without a signature
        return [f"input_{k}" for k in range(count)]
    try:
        bound = signature.bind(*range(count))
    except TypeError as error:
        given = f"{count} type{'s' * (count != 1)}"
        raise (
            TraceError(
                f"trace was given {given}, and the function cannot be called with as many arguments: {error}",
                help="give trace one type per parameter",
            )
            .locate_at_caller()
            .also(definition_span(function), "the function")
        ) from None
    names: list[str] = []
    for name, value in bound.arguments.items():
        is_star = isinstance(value, tuple)
        names += [f"{name}_{k}" for k in range(len(cast("tuple[Any, ...]", value)))] if is_star else [name]
    return names


def _can_be_output(value: UserValue) -> bool:
    """True if a result can be a tensor. Of any other object numpy makes an array, whose text the model would have."""
    if isinstance(value, list | tuple | range) or kind_of(value) is not None:
        return True
    return not isinstance(value, type) and (isinstance(value, Value) or hasattr(value, "__array__"))


def _outputs(scope: GraphTarget, result: UserValue, definition: Span | None) -> list[Value]:
    """The results of the function as outputs of the model; one that is an input or comes twice gets an Identity."""
    values = list(result) if isinstance(result, tuple | list) else [result]
    outputs: list[Value] = []
    for position, value in enumerate(values):
        if not _can_be_output(value):
            shown = "None" if value is None else described_type(type(value))
            which = "the function returns" if len(values) == 1 else f"result {position} of the function is"
            raise TraceError(
                f"{which} {shown}, not a tensor", help="return the tensors that are the outputs"
            ).locate(definition)
        if isinstance(value, tuple) or (
            isinstance(value, list) and len(values) > 1 and isinstance(result, tuple)
        ):
            raise TraceError(
                f"result {position} of the function is a {type(value).__name__} inside a tuple",
                help="a model's outputs are a flat tuple of tensors: return (a, *rest)",
            ).locate(definition)
        if hasattr(value, "__array_namespace__") and not isinstance(value, Value | np.ndarray | np.generic):
            which = "the function returns" if len(values) == 1 else f"result {position} of the function is"
            raise TraceError(
                f"{which} an array of another namespace, not a tensor", help="return its tensor: x.tensor"
            ).locate(definition)
        if isinstance(value, float):
            value = np.float32(value)  # Python floats are FLOAT, as everywhere in ONNX
        if isinstance(value, Value) and value.is_symbolic:
            outputs.append(value)
        else:
            outputs.append(scope.lift(cast(Operand, getattr(value, "array", value))))
    return scope.outputs_of(outputs)


def definition_span(function: Callable[..., Any]) -> Span | None:
    """Where a function is defined."""
    code: types.CodeType | None = getattr(inspect.unwrap(function), "__code__", None)
    if code is None:
        return None
    return code_span(code)


def _graph_name(function: Callable[..., Any]) -> str:
    name = getattr(function, "__name__", "") or type(function).__name__
    return "traced" if name == "<lambda>" else name


def named_version(function: Callable[..., Any]) -> int | None:
    """The opset version that the function's code refers to, so that `a @ b` before `op.Relu` means the same opset.

    Where it names none, that of the models it refers to.
    """
    used = list(_used_in(inspect.unwrap(function)))
    versions = {version for each in used if (version := _version_of(each))}
    versions = versions or {each.opset_imports[""] for each in used if _is_model(each)}
    return max(versions) if versions else None


def _is_model(value: UserValue) -> TypeGuard[Model]:
    return isinstance(value, Model) and "" in value.opset_imports


def _used_in(function: Callable[..., Any]) -> Iterator[UserValue]:
    """The names outside a function that its code refers to."""
    code: types.CodeType | None = getattr(function, "__code__", None)
    if code is None:
        function = getattr(type(function), "__call__", function)  # noqa: B004  # the function itself is wanted
    try:
        outer = inspect.getclosurevars(function) if isinstance(function, types.FunctionType) else None
    except ValueError:  # a cell that is still empty
        outer = None
    scopes: list[Mapping[str, UserValue]] = [outer.nonlocals, outer.globals] if outer is not None else []
    for scope in scopes:
        yield from scope.values()


def _version_of(value: UserValue) -> int | None:
    if isinstance(value, Operator) and value.definition.domain == "":
        return value.version
    if isinstance(value, types.ModuleType):
        return standard_version(value)
    version = getattr(value, "version", None) if getattr(value, "domain", None) == "" else None
    return version if isinstance(version, int) else None
