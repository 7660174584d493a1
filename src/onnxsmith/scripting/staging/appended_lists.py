"""`out.append(v)` in a loop that the model performs: the list becomes an ONNX sequence, which the loop carries.

Only a list that one variable alone holds can become one, since nobody else would see it grow. The elements are tensors
of one element type. All other lists stay as they are, and `watch` refuses that they change.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeGuard, cast

from onnxsmith.core.operands import operators_for
from onnxsmith.core.semantics.number import kind_of
from onnxsmith.core.target import current_graph
from onnxsmith.core.tensor import Tensor
from onnxsmith.core.user_values import UserValue
from onnxsmith.core.value import NumberValue, Value
from onnxsmith.core.value_containers import Carrier
from onnxsmith.errors import MutationError
from onnxsmith.scripting.analysis.facts import appended_name
from onnxsmith.scripting.source.definition_spans import located
from onnxsmith.scripting.source.trees import walk
from onnxsmith.scripting.staging.items import Rows, appended_places, held_beside, item_names
from onnxsmith.scripting.staging.merged_tensors import active
from onnxsmith.scripting.staging.script_values import Held, Marker, TensorLike
from onnxsmith.scripting.staging.structure import flatten, parts
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import SequenceType

if TYPE_CHECKING:
    from onnxsmith.scripting.staging.frame import Frame
    from onnxsmith.scripting.staging.jumps import Stager

#: A loop that reads its empty lists is staged with as many combinations of element types.
_MOST_TRIALS = 16


class _Probe(Marker):
    """Stands for a list while a loop's body is tried, to learn what is appended to it."""

    def __init__(self, items: Sequence[UserValue] = ()) -> None:
        # Rows are copied: what the trial writes to them is not to stay.
        copied = [list(cast("list[UserValue]", each)) if type(each) is list else each for each in items]
        self._items = cast("Sequence[UserValue]", copied)
        self.taken: list[UserValue] = []

    def append(self, item: UserValue) -> None:
        """Note what the list would take."""
        self.taken.append(item)

    # As before the first iteration.

    def __iter__(self) -> Iterator[UserValue]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __getitem__(self, index: int) -> UserValue:
        return self._items[index]


def grown_names(frame: Frame, statements: Iterable[ast.stmt]) -> list[str]:
    """The variables that get new values where these statements append to sequences, or set items of lists and dicts."""
    grown = [name for name in _appended(frame, statements) if _is_sequence(frame.variables.get(name))]
    return [*grown, *item_names(frame, statements)]


def _appended(frame: Frame, statements: Iterable[ast.stmt]) -> Iterator[str]:
    found: dict[str, None] = {}
    if not frame.analysis.facts.may_append:
        return iter(())
    for statement in statements:
        for node in walk(statement):
            if (
                isinstance(node, ast.Expr)
                and (name := appended_name(node.value)) in frame.analysis.local_names
            ):
                found[name] = None
    return iter(sorted(found))


def _is_sequence(value: Held) -> TypeGuard[Value]:
    # Asking a number for its type may add the node that reads it: an attribute of a function is one.
    if not isinstance(value, Value) or isinstance(value, NumberValue) or not value.is_symbolic:
        return False
    return isinstance(value.known.type, SequenceType)


def append(stager: Stager, call: ast.expr) -> bool:
    """Carry out `out.append(v)` where `out` is a sequence: the variable gets a longer one. False for all else."""
    name = appended_name(call)
    frame = stager.frame
    sequence: Held = None if name is None else frame.variables.get(name)
    if _append_new(stager, cast(ast.Call, call), sequence):
        return True
    if name is None or not _is_sequence(sequence):
        return False
    item = frame.evaluate(cast(ast.Call, call).args[0])
    with located(frame.span(call)):
        if name in frame.analysis.parameters or _is_shared(frame, name, sequence):
            raise MutationError(
                f"'{name}' grows here, and something else that holds the same list would not",
                help=f"append to '{name}' before it is assigned or passed on, or return it",
            )
        if _dtype_of(item) is None:
            raise MutationError(
                f"'{name}' is a sequence of the model here, which takes tensors, not {_described(item)}",
                help="append a tensor: op.Constant(value_float=1.0)",
            )
        longer = cast(Any, operators_for(sequence)).SequenceInsert(sequence, item)
    stager.assign_name(name, longer)
    return True


def _append_new(stager: Stager, call: ast.Call, rows: object) -> bool:
    """Carry out `rows.append([a, b])`, where what is appended is written out: no variable holds it."""
    if not isinstance(rows, Rows) or len(call.args) != 1 or not isinstance(call.args[0], ast.List):
        return False
    item = stager.frame.evaluate(call.args[0])
    with located(stager.frame.span(call)):
        rows.append_new(item)
    return True


def _described(item: UserValue) -> str:
    kind = kind_of(item)
    return f"a Python {kind}" if kind is not None else f"a {type(item).__name__}"


def _is_shared(frame: Frame, name: str, sequence: Value) -> bool:
    here: Frame | None = frame
    while here is not None:
        for other, value in (*here.variables.items(), *here.cells.items()):
            if (other != name or here is not frame) and _holds(value, sequence):
                return True
        here = here.outer
    return False


def _holds(value: Held, wanted: Value) -> bool:
    if value is wanted:
        return True
    return any(_holds(each, wanted) for _, each in parts(value) or ())


def may_begin(stager: Stager, statement: ast.For | ast.While) -> bool:
    """True if a loop that runs now may append, where a tensor decides it, to a list that could become a sequence."""
    frame, body = stager.frame, statement.body
    if not frame.analysis.facts.may_append:
        return False
    # What stands in the body itself is surely done, unless something jumps past it.
    inside = body if stager.flow.block_jumps(body) else [each for each in body if hasattr(each, "body")]
    return any(_is_own(frame, name) for name in _appended(frame, inside))


def begin(stager: Stager, statement: ast.For | ast.While, trial: Callable[[], object]) -> bool:
    """Turn lists that a loop appends to into sequences, where that can be, and say whether one was.

    `trial` stages the loop, or its body, and takes all of it back.
    """
    frame = stager.frame
    has_inner = _begin_inside(stager, statement, trial)
    lists = {
        name: cast("list[UserValue]", frame.variables[name])
        for name in _appended(frame, statement.body)
        if _is_own(frame, name)
    }
    if not lists:
        return has_inner
    dtypes = {name: _common_dtype(each) for name, each in lists.items() if each}
    taken: dict[str, list[UserValue]] = {}
    is_unknown = [name for name, each in lists.items() if not each]
    dtypes |= _tried(stager, statement, is_unknown, taken, trial)
    if frame.run.dialect.stages_all:
        # Python's numbers and numpy's differ in what they compute to: what follows is learned, too.
        probes = {name: _Probe(each) for name, each in lists.items() if each and dtypes.get(name) is None}
        if probes:
            _is_staged_with(stager, probes, trial)
            taken |= {name: each.taken for name, each in probes.items()}
    has_grown = False
    for name, items in lists.items():
        with located(frame.span(statement)):
            made = None if dtypes.get(name) is not None else _grown(stager, items, taken.get(name, []))
        if made is not None:
            stager.assign_name(name, cast(UserValue, made))
            dtypes.pop(name, None)
            has_grown = True
    for name, dtype in dtypes.items():
        if dtype is not None:
            with located(frame.span(statement)):
                stager.assign_name(name, _sequence(dtype, lists[name]))
    return has_inner or has_grown or any(dtypes.values())


def _begin_inside(stager: Stager, statement: ast.For | ast.While, trial: Callable[[], object]) -> bool:
    """The same of lists that stand in dicts and lists: `rows["a"].append(v)`."""
    places = appended_places(stager, statement.body)
    lists = [cast("list[UserValue]", each.value) for each in places]
    probes = [_Probe() for _ in places]
    before = dict(stager.frame.variables)
    for place, probe in zip(places, probes, strict=True):
        place.put(cast(UserValue, probe))
    if places:
        _is_staged_with(stager, {}, trial)
        stager.frame.variables.update(before)
    has_grown = False
    for place, items, probe in zip(places, lists, probes, strict=True):
        with located(stager.frame.span(statement)):
            made = _grown(stager, items, probe.taken)
        if made is not None:
            place.put(cast(UserValue, made))
            has_grown = True
    return has_grown


def _grown(stager: Stager, items: list[UserValue], taken: list[UserValue]) -> UserValue | None:
    """A list of arrays, numbers or tuples that only the model knows the length of, if it is no sequence of tensors."""
    sample = next((each for each in (*items, *taken) if isinstance(each, Carrier)), None)
    return stager.frame.run.dialect.grown(items, taken) if sample is None else sample.grown(items)


def lists_in(variables: Mapping[str, Held]) -> list[str]:
    """The variables that hold a list."""
    return [name for name, value in variables.items() if type(value) is list]


def refuse_lost(frame: Frame, lists: Iterable[str], merged: Collection[str], live: Container[str]) -> None:
    """Refuse that a list grows on a path which only the model knows to be taken, if it is read after the path.

    Given are the variables that held lists before the path, and the names of those that are merged after it. A list
    that is there before cannot become something else on one path alone.
    """
    for name in lists:
        now = frame.variables.get(name)
        is_grown = _is_sequence(now) or (isinstance(now, Carrier) and hasattr(now, "append"))
        if is_grown and name not in merged and name in live:
            raise MutationError(
                f"'{name}' is changed inside this, and only the model knows whether and how often it runs",
                help=f"append to '{name}' in one loop that is always reached, with the condition inside it",
            )


def _sequence(dtype: DType, items: list[UserValue]) -> Value:
    operators = cast(Any, current_graph().operators)
    return operators.SequenceConstruct(*items) if items else operators.SequenceEmpty(dtype=dtype)


def _common_dtype(items: Iterable[UserValue]) -> DType | None:
    dtypes = {_dtype_of(each) for each in items}
    return dtypes.pop() if len(dtypes) == 1 else None


def _tried(
    stager: Stager,
    statement: ast.stmt,
    names: list[str],
    taken: dict[str, list[UserValue]],
    trial: Callable[[], object],
) -> dict[str, DType | None]:
    """The element types of what a loop appends to empty lists, where they are tensors; `taken` gets what they are."""
    if not names:
        return {}
    probes = {name: _Probe() for name in names}
    is_staged = _is_staged_with(stager, probes, trial)
    found = {name: _common_dtype(each.taken) for name, each in probes.items()}
    taken |= {name: each.taken for name, each in probes.items()}
    if is_staged or any(isinstance(item, Carrier) for each in probes.values() for item in each.taken):
        return found
    # The body reads a list, of which nothing was known: the element types that are there are tried in turn.
    types = _dtypes_in(stager.frame, [found[name] for name in names])
    for chosen in itertools.islice(itertools.product(types, repeat=len(names)), _MOST_TRIALS):
        roll_back, draft = current_graph().checkpoint(), current_graph().draft()
        with active(draft), located(stager.frame.span(statement)):
            sequences = {name: _sequence(each, []) for name, each in zip(names, chosen, strict=True)}
            is_staged = _is_staged_with(stager, sequences, trial)
        draft.discard()
        roll_back()
        if is_staged:
            return dict(zip(names, chosen, strict=True))
    return found


def _is_staged_with(stager: Stager, values: Mapping[str, Held], trial: Callable[[], object]) -> bool:
    """True if a trial comes to its end where variables hold these values."""
    frame = stager.frame
    before = {name: frame.variables[name] for name in values}
    frame.variables.update(values)
    try:
        trial()
    except Exception:  # whatever it is, staging the loop will tell
        return False
    finally:
        frame.variables.update(before)
    return True


def _dtypes_in(frame: Frame, first: Iterable[DType | None]) -> list[DType]:
    """Element types that a loop may append: those that are given first, and those of the tensors that there are."""
    found = dict.fromkeys(each for each in first if each is not None)
    for value in frame.variables.values():
        leaves: list[tuple[str, TensorLike]] = []
        flatten(value, "", leaves)
        for _, each in leaves:
            dtype = _dtype_of(each)
            if dtype is not None:
                found[dtype] = None
    return list(found)


def _dtype_of(item: UserValue) -> DType | None:
    """The element type of a tensor; None for numbers, for what is no tensor, and where it is not known."""
    if kind_of(item) is not None or not isinstance(item, Tensor):
        return None
    return item.dtype


def _is_own(frame: Frame, name: str) -> bool:
    """True if a variable holds a list that nobody else holds."""
    value = frame.variables.get(name)
    if type(value) is not list or name in frame.analysis.parameters:
        return False
    return value not in held_beside(frame, name)
