"""`out.append(v)` in a loop that the model performs: the list becomes an ONNX sequence, which the loop carries.

Only a list that one variable alone holds can become one, since nobody else would see it grow. The elements are tensors
of one element type. All other lists stay as they are, and `watch` refuses that they change.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, TypeGuard, cast

from onnxsmith.core.operands import operators_for
from onnxsmith.core.semantics.number import kind_of
from onnxsmith.core.sequence import TensorSequence
from onnxsmith.core.target import current_graph
from onnxsmith.core.tensor import Tensor
from onnxsmith.core.user_values import UserValue
from onnxsmith.core.value import Array, Size, Value
from onnxsmith.errors import MutationError, TracedValueError
from onnxsmith.scripting.analysis.effects import appended_name
from onnxsmith.scripting.source.location import located
from onnxsmith.scripting.source.trees import walk
from onnxsmith.scripting.staging.reach import Reach
from onnxsmith.scripting.staging.script_values import Held, Marker
from onnxsmith.scripting.staging.structure import parts
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import SequenceType

if TYPE_CHECKING:
    from onnxsmith.scripting.staging.frame import Frame
    from onnxsmith.scripting.staging.stager import Stager


class _Probe(Marker):
    """Stands for an empty list while a loop's body is tried, to learn what is appended to it."""

    def __init__(self) -> None:
        self.taken: list[UserValue] = []

    def append(self, item: UserValue) -> None:
        """Note what the list would take."""
        self.taken.append(item)


class _Taker(_Probe):
    """Stands for a sequence while `out.append(v)` is evaluated; `v` may read the sequence."""

    def __init__(self, sequence: TensorSequence) -> None:
        super().__init__()
        self._sequence = sequence

    def __getitem__(self, index: Size | Array | slice[Any, Any, Any]) -> Value:
        return self._sequence[index]

    def __len__(self) -> int:
        raise TracedValueError(
            "the length of the list is known only when the model runs",
            help="assign it to a variable before this line: n = len(…)",
        )


def grown_names(frame: Frame, statements: Iterable[ast.stmt]) -> list[str]:
    """The variables of a function that hold sequences which these statements append to: they get new values."""
    return [name for name in _appended(frame, statements) if _is_sequence(frame.variables.get(name))]


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


def _is_sequence(value: Held) -> TypeGuard[TensorSequence]:
    return isinstance(value, Value) and value.is_symbolic and isinstance(value.known.type, SequenceType)


def append(stager: Stager, call: ast.expr) -> bool:
    """Carry out `out.append(v)` where `out` is a sequence: the variable gets a longer one. False for all else."""
    name = appended_name(call)
    frame = stager.frame
    sequence: Held = None if name is None else frame.variables.get(name)
    if name is None or not _is_sequence(sequence):
        return False
    taker = _Taker(sequence)
    frame.variables[name] = taker
    try:
        frame.evaluate(call)
    finally:
        frame.variables[name] = sequence
    with located(frame.span(call)):
        if name in frame.analysis.parameters or _is_shared(frame, name, sequence):
            raise MutationError(
                f"'{name}' grows here, and something else that holds the same list would not",
                help=f"append to '{name}' before it is assigned or passed on, or return it",
            )
        item = taker.taken[0]
        if _dtype_of(item) is None:
            raise MutationError(
                f"'{name}' is a sequence of the model here, which takes tensors, not {_described(item)}",
                help="append a tensor: op.Constant(value_float=1.0)",
            )
        longer = cast(Any, operators_for(sequence)).SequenceInsert(sequence, item)
    stager.assign_name(name, longer)
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


def begin(stager: Stager, statement: ast.For | ast.While, trial: Callable[[], object]) -> None:
    """Turn lists that a loop appends to into sequences, where that can be; `trial` stages the body once."""
    frame = stager.frame
    lists = {
        name: cast("list[UserValue]", frame.variables[name])
        for name in _appended(frame, statement.body)
        if _is_own(frame, name)
    }
    if not lists:
        return
    tried = _tried(stager, [name for name, each in lists.items() if not each], trial)
    for name, items in {**lists, **tried}.items():
        dtypes = {_dtype_of(each) for each in items}
        if len(dtypes) != 1 or None in dtypes:
            continue
        with located(frame.span(statement)):
            operators = cast(Any, current_graph().operators)
            made = (
                operators.SequenceConstruct(*lists[name])
                if lists[name]
                else operators.SequenceEmpty(dtype=dtypes.pop())
            )
        stager.assign_name(name, made)


def _tried(stager: Stager, names: list[str], trial: Callable[[], object]) -> dict[str, list[UserValue]]:
    """What a loop appends to empty lists in one iteration."""
    if not names:
        return {}
    variables = stager.frame.variables
    before, probes = {name: variables[name] for name in names}, {name: _Probe() for name in names}
    variables.update(probes)
    try:
        trial()
    except Exception:  # the body may read a list, of which nothing is known yet; staging it will tell
        pass
    finally:
        variables.update(before)
    return {name: each.taken for name, each in probes.items()}


def _dtype_of(item: UserValue) -> DType | None:
    """The element type of a tensor; None for numbers, for what is no tensor, and where it is not known."""
    if kind_of(item) is not None or not isinstance(item, Tensor):
        return None
    return item.dtype


def _is_own(frame: Frame, name: str) -> bool:
    """Whether a variable holds a list that nobody else holds."""
    value = frame.variables.get(name)
    if type(value) is not list or name in frame.analysis.parameters:
        return False
    others: list[tuple[str, object]] = []
    here: Frame | None = frame
    while here is not None:
        others += [(key, each) for key, each in here.variables.items() if key != name or here is not frame]
        others += (*here.cells.items(), *here.closure.items())
        here = here.outer
    return value not in Reach(others, ("__dict__",))
