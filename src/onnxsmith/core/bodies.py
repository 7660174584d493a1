"""Functions given as graph attributes become subgraphs: what their parameters are, operator by operator.

A loop's body is traced until the types of its loop-carried values hold still: a dimension that changes from one
iteration to the next is left open. Whoever watches the objects that a body reaches registers here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from onnxsmith.core.demands import noting
from onnxsmith.core.initial_states import OpenState
from onnxsmith.core.operands import tensors_of_arrays
from onnxsmith.core.target import ACTIVE
from onnxsmith.errors import FunctionError, MixedDTypesError, OnnxsmithError
from onnxsmith.registry import load_module
from onnxsmith.schema.definition import OperatorDef
from onnxsmith.schema.inference.broadcasting import Different, merge_types
from onnxsmith.source import caller_span
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import (
    UNKNOWN_TENSOR,
    AnyValueType,
    SequenceType,
    TensorType,
    ValueType,
)

if TYPE_CHECKING:
    from onnxsmith.core.recording import RecordedBody
    from onnxsmith.core.target import RecordingTarget

#: Given a function, what is entered while it is called: refuses that the call changes something.
BodyWatch: TypeAlias = Callable[[Callable[..., Any]], AbstractContextManager[object]]

_registered: list[BodyWatch] = []


def register_body_watch(watch: BodyWatch) -> None:
    """Say what watches the functions that become bodies."""
    _registered[:] = [watch]


def watch_body(function: Callable[..., Any]) -> AbstractContextManager[object]:
    """The context to enter while a function is called to make a body of it."""
    if not _registered:
        load_module("body watch")
    return _registered[0](function)


#: An element type that is found or chosen, and two widenings of a shape, each with a body of its own.
_ATTEMPTS = 6


def make_bodies(
    scope: RecordingTarget, op: OperatorDef, inputs: Sequence[Any], attributes: Mapping[str, Any]
) -> dict[str, Any]:
    """The attributes with every function among them made into a body."""
    made: dict[str, Any] = {}
    for name, value in attributes.items():
        if is_function(value):
            made[name] = _make(scope, op, name, value, inputs, attributes)
        elif isinstance(value, tuple) and value and is_function(cast("tuple[Any, ...]", value)[0]):
            functions = cast("tuple[Any, ...]", value)
            made[name] = tuple(_make(scope, op, name, each, inputs, attributes) for each in functions)
        else:
            made[name] = value
    return made


def is_function(value: Any) -> bool:
    """True if an attribute is a function that stands for a graph."""
    return callable(value) and not isinstance(value, ValueType)


def _make(
    scope: RecordingTarget,
    op: OperatorDef,
    attribute: str,
    function: Callable[..., Any],
    inputs: Sequence[Any],
    attributes: Mapping[str, Any],
) -> RecordedBody:
    title = f"{op.name}.{attribute}"
    if scope.is_exact and hasattr(function, "declared_inputs"):
        return _declared_body(scope, op, function, inputs, attributes, title)
    if op.name == "Loop":
        return _loop_body(scope, function, inputs, title)
    if op.name == "Scan":
        return _scan_body(scope, function, inputs, attributes["num_scan_inputs"], attributes, op, title)
    if op.name == "SequenceMap":
        kinds = [_element(each.known.type) for each in inputs]
        return trace_body(scope, function, kinds, title)
    return trace_body(scope, function, [], title)


def _declared_body(
    scope: RecordingTarget,
    op: OperatorDef,
    function: Any,
    inputs: Sequence[Any],
    attributes: Mapping[str, Any],
    title: str,
) -> RecordedBody:
    """A subgraph with the types that the function's annotations declare, and no others.

    What the operator passes in is known besides, and helps where nothing is declared.
    """
    declared: list[AnyValueType | None] = function.declared_inputs
    passed: list[AnyValueType] = []
    if op.name == "Loop" and op.domain == "":
        passed = [TensorType(DType.INT64, ()), TensorType(DType.BOOL, ())]
        passed += [_with_open_shape(each.known.type) for each in inputs[2:]]
    inner = scope.subgraph()
    arguments: list[Any] = []
    for position, (name, kind) in enumerate(zip(function.parameter_names, declared, strict=True)):
        known = kind or (passed[position] if position < len(passed) else UNKNOWN_TENSOR)
        arguments.append(inner.input(name, known, caller_span(), is_declared=kind is not None))
    result = _called(function, inner, arguments)
    values = cast("Sequence[Any]", result) if isinstance(result, tuple | list) else (result,)
    values = () if result is None else values
    types: list[AnyValueType | None] = function.declared_outputs or [None] * len(values)
    if len(types) != len(values):
        raise FunctionError(
            f"the function given as {title} returns {len(values)} values, and its annotation says {len(types)}",
            help="change the annotation, or return as many values as it has",
            culprit=("attribute", title.rpartition(".")[2]),
        )
    return inner.finish_body(values, _snake(title), types)


def _called(function: Callable[..., Any], inner: RecordingTarget, arguments: Sequence[Any]) -> Any:
    token = ACTIVE.set(inner)
    try:
        # What a body finds out stays in it: who lets bodies raise errors takes them out himself.
        with watch_body(function), noting(None):
            return tensors_of_arrays(function(*arguments))
    finally:
        ACTIVE.reset(token)


def _with_open_shape(kind: AnyValueType) -> AnyValueType:
    """The type without its shape: a loop may change the shape of a carried value from one iteration to the next."""
    return TensorType(kind.dtype, None) if isinstance(kind, TensorType) else kind


def trace_body(
    scope: RecordingTarget, function: Callable[..., Any], kinds: Sequence[AnyValueType], title: str
) -> RecordedBody:
    """Call a function on new inputs of a subgraph, and take what it returns as the subgraph's outputs."""
    inner = scope.subgraph()
    names = parameter_names(function, len(kinds))
    arguments = [inner.input(name, kind, caller_span()) for name, kind in zip(names, kinds, strict=True)]
    result = _called(function, inner, arguments)
    if result is None:
        raise FunctionError(
            f"the function given as {title} returns nothing", help="return the outputs of the body"
        )
    values = cast("Sequence[Any]", result) if isinstance(result, tuple | list) else (result,)
    return inner.finish_body(values, _snake(title))


def _snake(title: str) -> str:
    return title.replace(".", "_").lower()


def _loop_body(
    scope: RecordingTarget, function: Callable[..., Any], inputs: Sequence[Any], title: str
) -> RecordedBody:
    fixed: list[AnyValueType] = [TensorType(DType.INT64, ()), TensorType(DType.BOOL, ())]
    state = [each.known.type for each in inputs[2:]]
    return _until_stable(scope, function, fixed, state, [], title, hidden=1, natural=_natural(inputs[2:]))


def _scan_body(
    scope: RecordingTarget,
    function: Callable[..., Any],
    inputs: Sequence[Any],
    scan_count: int,
    attributes: Mapping[str, Any],
    op: OperatorDef,
    title: str,
) -> RecordedBody:
    given = (
        inputs[1:] if op.since_version < 9 else inputs
    )  # Scan-8 has sequence_lens first, and a batch dimension
    batch = 1 if op.since_version < 9 else 0
    split = len(given) - scan_count
    axes = attributes.get("scan_input_axes", (0,) * scan_count)
    state = [_without_axis(each.known.type, 0) if batch else each.known.type for each in given[:split]]
    scanned: list[AnyValueType] = []
    for each, axis in zip(given[split:], axes, strict=True):
        kind = _without_axis(each.known.type, axis + batch if axis >= 0 else axis)
        scanned.append(_without_axis(kind, 0) if batch else kind)
    for position, each in enumerate(given[:split]):
        if isinstance(each, OpenState):
            like = _like(scope, function, state, scanned, position, title)
            each.like = None if like is None else given[split + like]
    natural = _natural(given[:split])
    return _until_stable(scope, function, [], state, scanned, title, hidden=0, natural=natural)


def _like(
    scope: RecordingTarget,
    function: Callable[..., Any],
    state: Sequence[AnyValueType],
    scanned: Sequence[AnyValueType],
    position: int,
    title: str,
) -> int | None:
    """The scanned input of unknown element type whose type a state takes, found by assuming one; None if none is."""
    for place, kind in enumerate(scanned):
        if not isinstance(kind, TensorType) or kind.dtype is not None:
            continue
        assumed = [*state, *scanned[:place], TensorType(DType.FLOAT, kind.shape), *scanned[place + 1 :]]
        roll_back = scope.checkpoint()
        try:
            body = trace_body(scope, function, assumed, title)
            given = body.outputs[position].type if position < len(body.outputs) else None
            body.discard()
        except OnnxsmithError:
            continue
        finally:
            roll_back()
        if isinstance(given, TensorType) and given.dtype is DType.FLOAT:
            return place
    return None


def _natural(initial: Sequence[Any]) -> list[DType | None]:
    """The element types that literals have where the body does not say which."""
    return [each.natural if isinstance(each, OpenState) and each.like is None else None for each in initial]


def _until_stable(
    scope: RecordingTarget,
    function: Callable[..., Any],
    before: Sequence[AnyValueType],
    state: Sequence[AnyValueType],
    after: Sequence[AnyValueType],
    title: str,
    hidden: int,
    natural: Sequence[DType | None],
) -> RecordedBody:
    kinds = list(state)
    for attempt in range(_ATTEMPTS):
        roll_back = scope.checkpoint()
        chosen = [_with_dtype(kind, dtype) for kind, dtype in zip(kinds, natural, strict=True)]
        try:
            body = trace_body(scope, function, [*before, *kinds, *after], title)
        except OnnxsmithError:
            roll_back()
            if chosen != kinds:
                kinds = chosen  # the body cannot be written without an element type
                continue
            wider = _widened(scope, function, (before, kinds, after), title, hidden)
            if wider is None or attempt == _ATTEMPTS - 1:
                raise
            kinds = wider
            continue
        if len(body.outputs) < hidden + len(kinds):
            needed = f"{hidden + len(kinds)}" + (", the condition first" if hidden else "")
            count = f"{len(body.outputs)} value{'s' * (len(body.outputs) != 1)}"
            raise FunctionError(
                f"the function given as {title} returns {count}; it needs {needed}",
                culprit=("attribute", title.rpartition(".")[2]),
            )
        merged = [
            _merge(kind, known.type, title, position)
            for position, (kind, known) in enumerate(zip(kinds, body.outputs[hidden:], strict=False))
        ]
        if merged == kinds and merged != chosen:
            if body.reads_open_type:  # which may be what decides the state's
                raise _needs_types(title)
            merged = chosen
        if merged == kinds or attempt == _ATTEMPTS - 1:
            return body
        kinds = merged
        body.discard()
        roll_back()
    raise AssertionError("the last attempt returns")


def _widened(
    scope: RecordingTarget,
    function: Callable[..., Any],
    inputs: tuple[Sequence[AnyValueType], Sequence[AnyValueType], Sequence[AnyValueType]],
    title: str,
    hidden: int,
) -> list[AnyValueType] | None:
    """The types of states whose sizes change, for a body that fails on the sizes of the first iteration alone.

    A branch that later iterations take may not fit those. None where the sizes stay, and the error is one.
    """
    before, kinds, behind = inputs
    opened = [_with_named_sizes(each, place) for place, each in enumerate(kinds)]
    roll_back = scope.checkpoint()
    try:
        body = trace_body(scope, function, [*before, *opened, *behind], title)
        found = [each.type for each in body.outputs[hidden:]]
        body.discard()
        merged = [
            kind if after == named else _merge(kind, after, title, place)
            for place, (kind, named, after) in enumerate(zip(kinds, opened, found, strict=False))
        ]
    except OnnxsmithError:
        return None
    finally:
        roll_back()
    return merged if len(merged) == len(kinds) and merged != kinds else None


def _with_named_sizes(kind: AnyValueType, place: int) -> AnyValueType:
    """The type with sizes that are any numbers: a state that comes out with the same ones keeps its sizes."""
    if not isinstance(kind, TensorType) or kind.shape is None:
        return kind
    return TensorType(kind.dtype, tuple([f"size_{place}_{axis}" for axis in range(len(kind.shape))]))


def _needs_types(title: str) -> OnnxsmithError:
    """The error for a state that begins with a number, and whose body computes with tensors of unknown element type."""
    return MixedDTypesError(
        f"a number is the state that {title} begins with, and its element type depends on tensors whose type is not "
        "known here",
        help="annotate the parameters, so that the element type is known",
        needs_values=True,
    )


def _with_dtype(kind: AnyValueType, dtype: DType | None) -> AnyValueType:
    is_open = isinstance(kind, TensorType) and kind.dtype is None
    return TensorType(dtype, cast(TensorType, kind).shape) if is_open else kind


def _merge(before: AnyValueType, after: AnyValueType, title: str, position: int) -> AnyValueType:
    """The type that holds at every iteration: equal dimensions stay, others are left open."""
    try:
        return merge_types(before, after)
    except Different:
        raise MixedDTypesError(
            f"loop-carried value {position} of {title} is {_spelled(before)} going in "
            f"and {_spelled(after)} coming out",
            help="convert it with x.astype(…) before the body returns it",
        ) from None


def _spelled(kind: AnyValueType) -> str:
    return kind.dtype.spelling if isinstance(kind, TensorType) and kind.dtype is not None else repr(kind)


def _without_axis(kind: AnyValueType, axis: int) -> AnyValueType:
    if not isinstance(kind, TensorType) or kind.shape is None or not kind.shape:
        return kind
    rank = len(kind.shape)
    dropped = axis + rank if axis < 0 else axis
    return TensorType(kind.dtype, tuple(each for k, each in enumerate(kind.shape) if k != dropped))


def _element(kind: AnyValueType) -> AnyValueType:
    return kind.element if isinstance(kind, SequenceType) else kind


def parameter_names(function: Callable[..., Any], count: int) -> list[str]:
    """Names for a function's parameters: its own, then numbered ones."""
    given = getattr(function, "parameter_names", None)
    code = getattr(function, "__code__", None)
    if given is not None:
        own: list[str] = list(given)
    else:
        own = list(code.co_varnames[: code.co_argcount]) if code is not None else []
    if own and hasattr(function, "__self__"):
        own = own[1:]
    own = own[:count]
    return own + [f"input_{k}" for k in range(len(own), count)]
