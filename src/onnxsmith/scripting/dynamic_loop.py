"""A loop that the model performs: one `Loop` node, whose state is the variables that live from one iteration to the next.

The body is staged until the types of that state hold still: a number that meets a tensor becomes a tensor, a dimension
that changes is left open. An element type that changes is an error.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from onnxsmith.core.number import Number, NumberKind, kind_of
from onnxsmith.core.target import ACTIVE
from onnxsmith.core.value import Value
from onnxsmith.errors import LoopTypeError, NestingError, UnassignedVariableError
from onnxsmith.schema import registry
from onnxsmith.schema.inference.known import Known
from onnxsmith.scripting import containers
from onnxsmith.scripting.flow import assigned_names
from onnxsmith.scripting.hooks import is_symbolic, truth
from onnxsmith.scripting.location import located
from onnxsmith.scripting.merge import MISSING, Differing, Missing, Unassigned, active, common_type, make_dummy
from onnxsmith.source import Span
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import UNKNOWN_TENSOR, AnyValueType, TensorType

if TYPE_CHECKING:
    from onnxsmith.graphs.body import Body
    from onnxsmith.graphs.builder import GraphTarget
    from onnxsmith.scripting.stager import Leaf, Stager

_ATTEMPTS = 6
_DEEPEST = 28
_NUMBER_DTYPES: dict[NumberKind, DType] = {"int": DType.INT64, "float": DType.DOUBLE, "bool": DType.BOOL}


@dataclass(frozen=True, slots=True)
class Iteration:
    """What a loop runs over: how many elements (None: a test decides), and the one at a position."""

    count: Any
    element: Callable[[Any], Any] | None


@dataclass(frozen=True, slots=True)
class _Carried:
    """One value that goes from an iteration to the next."""

    name: str
    initial: Any
    type: AnyValueType
    number: NumberKind | None

    def widened(self, kind: AnyValueType, number: NumberKind | None) -> _Carried:
        return _Carried(self.name, self.initial, kind, number)


@dataclass(slots=True)
class _Attempt:
    scope: GraphTarget
    outcome: dict[str, Any]
    go_on: Any
    results: list[Any]


def stage_loop(
    stager: Stager,
    statement: ast.For | ast.While,
    source: Iteration,
    leaf: Leaf,
    test: Callable[[], Any] | None,
    first_test: Any,
    *,
    at_least_once: bool,
) -> dict[str, Any]:
    """Stage the loop; the variables have their values after it, and the result tells how it ended."""
    outer = cast("GraphTarget", ACTIVE.get())
    place = stager.frame.span(statement)
    if outer.depth >= _DEEPEST:
        raise NestingError(f"loops and conditions are nested more than {_DEEPEST} deep").locate(place)
    carried = _carried_variables(stager, statement, at_least_once=at_least_once)
    flags = _flags(stager, statement)
    before = dict(stager.frame.variables)
    attempt: _Attempt | None = None
    for _ in range(_ATTEMPTS):
        roll_back = outer.program.checkpoint()
        attempt = _stage_body(stager, statement, source, leaf, test, carried, flags)
        stager.frame.variables = dict(before)
        wider = [
            _widen(stager, each, result, place) for each, result in zip(carried, attempt.results, strict=True)
        ]
        if wider == carried:
            break
        carried = wider
        attempt.scope.discard()
        roll_back()
    assert attempt is not None
    with located(place):
        body = _finish(attempt, carried, flags)
        outputs = _emit(outer, source, first_test, carried, body)
    outer.name_results(outputs, [each.name for each in carried], [(body, "out")])
    _assign_variables(stager, statement, carried, outputs)
    ends = {"break": False, "return": False, "value": MISSING}
    rest = iter(outputs[len(carried) :])
    return ends | {flag: _rebuilt(attempt.outcome[flag], rest) for flag in flags}


def _carried_variables(stager: Stager, statement: ast.For | ast.While, *, at_least_once: bool) -> list[_Carried]:
    """Variables that the body assigns and that somebody reads: the next iteration, or what follows the loop."""
    targets = [ast.Expr(statement.target)] if isinstance(statement, ast.For) else []
    live_after = stager.flow.live_after(statement)
    live_in_body = stager.flow.live_in_loop(statement)
    carried: list[_Carried] = []
    for name in assigned_names([*targets, *statement.body]):
        if name not in live_after and name not in live_in_body:
            continue
        value = stager.frame.variables.get(name, MISSING)
        if isinstance(value, Missing | Unassigned):
            if at_least_once and name in live_after:
                carried.append(_Carried(name, MISSING, UNKNOWN_TENSOR, None))
            continue
        if isinstance(value, Differing) or not _can_be_carried(value):
            if name in live_in_body or name in live_after:
                raise LoopTypeError(
                    f"'{name}' is {_shown(value)} before the loop and is assigned in it",
                    help="only tensors and numbers can change from one iteration to the next",
                ).locate(stager.frame.span(statement))
            continue
        carried.append(_initial(name, value))
    return carried


def _can_be_carried(value: Any) -> bool:
    return isinstance(value, Value | np.ndarray | np.generic) or kind_of(value) is not None


def _initial(name: str, value: Any) -> _Carried:
    kind = kind_of(value)
    if kind is not None:
        return _Carried(name, value, TensorType(_NUMBER_DTYPES[kind], ()), kind)
    if isinstance(value, Value):
        return _Carried(name, value, value.known.type, None)
    array = np.asarray(value)
    return _Carried(name, array, TensorType(DType.from_numpy(array.dtype), array.shape), None)


def _flags(stager: Stager, statement: ast.For | ast.While) -> list[str]:
    """What must be known after the loop besides the variables: whether it was left by break, or by return."""
    jumps = stager.flow.block_jumps(statement.body)
    flags: list[str] = []
    if jumps.breaks and (statement.orelse or jumps.returns):
        flags.append("break")
    if jumps.returns:
        flags += ["return", "value"]
    return flags


def _stage_body(
    stager: Stager,
    statement: ast.For | ast.While,
    source: Iteration,
    leaf: Leaf,
    test: Callable[[], Any] | None,
    carried: Sequence[_Carried],
    flags: Sequence[str],
) -> _Attempt:
    outer = cast("GraphTarget", ACTIVE.get())
    scope = outer.subgraph()
    frame = stager.frame
    guard = containers.Guard(frame)
    place = frame.span(statement)
    with active(scope):
        position = scope.input("iteration", TensorType(DType.INT64, ()), place)
        scope.input("go_on", TensorType(DType.BOOL, ()), place)
        for each in carried:
            value = scope.input(f"{each.name}_in", each.type, place)
            frame.variables[each.name] = value if each.number is None else Number(value, each.number)
        if isinstance(statement, ast.For) and source.element is not None:
            with located(frame.span(statement.iter)):
                element = source.element(Number(position, "int"))
            stager.assign(statement.target, element)

        def end(jump: Any) -> dict[str, Any]:
            record = leaf(jump)
            goes_on = record["next"]
            if goes_on and test is not None:
                value = test()
                goes_on = Number(truth(value, "the condition of 'while'"), "bool") if is_symbolic(value) else bool(value)
            return {**record, "go_on": goes_on}

        outcome = stager.run(statement.body, end)
    guard.check(place)
    variables = outcome["variables"]
    results = [variables.get(each.name, MISSING) for each in carried]
    return _Attempt(scope, outcome, outcome["go_on"], results)


def _widen(stager: Stager, carried: _Carried, result: Any, place: Span) -> _Carried:
    """The type that holds going into an iteration and coming out of it."""
    if isinstance(result, Missing):
        return carried
    if isinstance(result, Unassigned):
        raise UnassignedVariableError(
            f"'{carried.name}' may have no value at the end of an iteration",
            help=f"give '{carried.name}' a value on every path",
        ).locate(result.span, result.reason)
    if isinstance(result, Differing) or not _can_be_carried(result):
        raise LoopTypeError(f"'{carried.name}' is {_shown(result)} at the end of an iteration").locate(place)
    kind = kind_of(result)
    if isinstance(carried.initial, Missing) and carried.type == UNKNOWN_TENSOR:
        return carried.widened(_initial(carried.name, result).type, kind)
    if carried.number is not None and kind is not None:
        wider: NumberKind = (
            carried.number if kind == carried.number else "float" if "float" in (kind, carried.number) else "int"
        )
        return carried.widened(TensorType(_NUMBER_DTYPES[wider], ()), wider)
    if kind is not None:  # a number assigned to what is a tensor: it takes the tensor's element type
        return carried.widened(common_type(carried.type, _scalar_like(carried.type)), None)
    after = _initial(carried.name, result).type
    if type(after) is not type(carried.type):
        raise LoopTypeError(
            f"'{carried.name}' is a {carried.type.described} before an iteration and a {after.described} after it"
        ).locate(place)
    if isinstance(after, TensorType) and isinstance(carried.type, TensorType):
        if carried.number is not None:  # a number that met a tensor
            return carried.widened(common_type(TensorType(after.dtype, ()), after), None)
        if after.dtype is not carried.type.dtype and None not in (after.dtype, carried.type.dtype):
            before_word, after_word = (cast(DType, each.dtype).spelling for each in (carried.type, after))
            raise LoopTypeError(
                f"'{carried.name}' is {before_word} before an iteration and {after_word} after it",
                help=f"convert it with {carried.name}.astype(…) so that its element type stays",
            ).locate(place).also(getattr(result, "span", None), f"{after_word} here")
        return carried.widened(common_type(carried.type, after), None)
    return carried


def _scalar_like(kind: AnyValueType) -> TensorType:
    return TensorType(kind.dtype if isinstance(kind, TensorType) else None, ())


def _finish(attempt: _Attempt, carried: Sequence[_Carried], flags: Sequence[str]) -> Body:
    """The body's graph: whether to go on, the carried values, then what must be known after the loop."""
    scope = attempt.scope
    with active(scope):
        outputs: list[Any] = [_tensor(scope, attempt.go_on, DType.BOOL)]
        for each, result in zip(carried, attempt.results, strict=True):
            outputs.append(_as_carried(scope, each, result))
        for flag in flags:
            outputs += [_tensor(scope, each, None) for each in _flat(attempt.outcome[flag])]
    return scope.finish_body(outputs, "loop_body")


def _tensor(scope: GraphTarget, value: Any, dtype: DType | None) -> Any:
    if isinstance(value, Number):
        return value.as_dtype(dtype) if dtype is not None else value.tensor
    if isinstance(value, Value):
        return value
    kind = kind_of(value)
    if dtype is None and kind is not None:
        dtype = _NUMBER_DTYPES[kind]
    return scope.constant(np.asarray(value) if dtype is None else np.array(value, dtype.numpy))


def _as_carried(scope: GraphTarget, carried: _Carried, result: Any) -> Any:
    if isinstance(result, Missing):
        return make_dummy(scope, carried.type)
    dtype = carried.type.dtype if isinstance(carried.type, TensorType) else None
    return _tensor(scope, result, dtype) if kind_of(result) is not None else _tensor(scope, result, None)


def _flat(value: Any) -> list[Any]:
    if isinstance(value, tuple | list):
        return [leaf for each in cast("Sequence[Any]", value) for leaf in _flat(each)]
    return [value]


def _emit(
    outer: GraphTarget,
    source: Iteration,
    first_test: Any,
    carried: Sequence[_Carried],
    body: Body,
) -> Sequence[Any]:
    count = None if source.count is None else _tensor(outer, source.count, DType.INT64)
    condition = truth(first_test) if is_symbolic(first_test) else outer.constant(np.array(bool(first_test)))
    initial: list[Any] = []
    for each in carried:
        initial.append(make_dummy(outer, each.type) if isinstance(each.initial, Missing) else _as_carried(outer, each, each.initial))
    known = [Known(each.type) for each in carried]
    for extra in body.outputs[1 + len(carried) :]:
        initial.append(make_dummy(outer, extra.type))
        known.append(Known(_open_shape(extra.type)))
        _add_state_input(body, extra, len(known))
    definition = registry.lookup("", "Loop", outer.operators.version)
    return outer.emit(definition, None, [count, condition, *initial], {"body": body}, len(known), known)


def _open_shape(kind: AnyValueType) -> AnyValueType:
    """The type that a value and the dummy it starts from have in common."""
    if not isinstance(kind, TensorType) or kind.shape is None:
        return kind
    return TensorType(kind.dtype, tuple(each if isinstance(each, int) else None for each in kind.shape))


def _add_state_input(body: Body, known: Known, position: int) -> None:
    """What a body only produces still has to be an input of it: Loop's state goes in and comes out."""
    import onnx_ir as ir  # heavy: on first use

    from onnxsmith.graphs.ir_types import type_to_ir

    value = ir.Value(name=f"{body.graph.name}_unused_{position}")
    value.type, value.shape = type_to_ir(_open_shape(known.type))
    body.graph.inputs.append(value)


def _assign_variables(
    stager: Stager, statement: ast.For | ast.While, carried: Sequence[_Carried], outputs: Sequence[Any]
) -> None:
    """Give the variables their values after the loop; those that only an iteration assigns may have none."""
    variables = stager.frame.variables
    for each, value in zip(carried, outputs, strict=False):
        variables[each.name] = value if each.number is None else Number(value, each.number)
    named = {each.name for each in carried}
    targets = [ast.Expr(statement.target)] if isinstance(statement, ast.For) else []
    for name in assigned_names([*targets, *statement.body]):
        if name not in named and name not in variables:
            place = statement.iter if isinstance(statement, ast.For) else statement.test
            variables[name] = Unassigned(stager.frame.span(place), "it is assigned only in this loop, which may run zero times")


def _rebuilt(template: Any, outputs: Iterator[Any]) -> Any:
    """What a body returned by `return`, with the loop's outputs in it."""
    if isinstance(template, tuple | list):
        items = [_rebuilt(each, outputs) for each in cast("Sequence[Any]", template)]
        return items if isinstance(template, list) else tuple(items)
    kind = kind_of(template)
    value = next(outputs)
    return value if kind is None else Number(value, kind)


def _shown(value: Any) -> str:
    if isinstance(value, Differing):
        return "one of two Python values"
    return "None" if value is None else f"a {type(value).__name__}"
