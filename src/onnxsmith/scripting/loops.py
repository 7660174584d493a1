"""Loops: over what Python knows they run now; over ranges, tensors and conditions they become `Loop`.

`for i in range(…)` with known bounds is a `Loop` too, unless its body needs `i` as a Python number: then it runs now.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from onnxsmith.core.arithmetic import operators_for
from onnxsmith.core.number import Number, number
from onnxsmith.core.target import ACTIVE
from onnxsmith.core.tensor import Tensor
from onnxsmith.errors import LoopTypeError, OnnxsmithError, UnsupportedSyntaxError
from onnxsmith.scripting.analysis import is_taken_apart, iteration_parts
from onnxsmith.scripting.dynamic_loop import Iteration, stage_loop
from onnxsmith.scripting.flow import assigned_names
from onnxsmith.scripting.hooks import is_symbolic, truth
from onnxsmith.scripting.location import located
from onnxsmith.scripting.merge import MISSING

if TYPE_CHECKING:
    from onnxsmith.graphs.builder import GraphTarget
    from onnxsmith.scripting.stager import Jump, Leaf, Stager

#: A loop that runs now makes the model longer with every iteration.
_MOST_ITERATIONS = 20_000

Rest = Callable[[], Any]


class static_range:  # noqa: N801  # reads as range does
    """`for i in static_range(n)`: the loop runs when the model is made, and `i` is a Python int.

    >>> list(static_range(3))
    [0, 1, 2]
    """

    def __init__(self, *bounds: int) -> None:
        self._range = range(*bounds)

    def __iter__(self) -> Any:
        return iter(self._range)

    def __len__(self) -> int:
        return len(self._range)


def run_loop(stager: Stager, statement: ast.For | ast.While, rest: Rest, leaf: Leaf) -> Any:
    """Carry out a loop and what follows it."""
    if isinstance(statement, ast.While):
        return _while(stager, statement, rest, leaf)
    source = _iteration_source(stager, statement)
    if isinstance(source, range):
        return _known_range(stager, statement, source, rest, leaf)
    if isinstance(source, Iteration):
        return _dynamic(stager, statement, source, rest, leaf)
    return _unrolled(stager, statement, source, rest, leaf)


def _iteration_source(stager: Stager, statement: ast.For) -> Any:
    """What a `for` runs over: a range, an Iteration that the model performs, or a Python iterable."""
    parts = [stager.frame.evaluate(each) for each in iteration_parts(statement)]
    with located(stager.frame.span(statement.iter)):
        if not is_taken_apart(statement):
            return _over(parts[0])
        function, *arguments = parts
        if not any(is_symbolic(each) for each in arguments):
            return function(*arguments)
        if function is range:
            return _dynamic_range(arguments)
        if function is enumerate:
            inner = _over(arguments[0])
            start = arguments[1] if len(arguments) > 1 else 0
            assert isinstance(inner, Iteration)
            return Iteration(inner.count, lambda i: (i + start, inner.element(i)))
        if function is zip:
            return _zipped([_over(each) for each in arguments])
        return function(*arguments)


def _over(value: Any) -> Any:
    """A tensor is run over along its first dimension, a sequence element by element."""
    if isinstance(value, Tensor) and is_symbolic(value):
        return Iteration(value.shape[0], lambda i: value[i])
    if is_symbolic(value):
        sequence: Any = value
        return Iteration(number(operators_for(value).SequenceLength(value)), lambda i: sequence[i])
    return value


def _zipped(sources: Sequence[Any]) -> Iteration:
    """zip of tensors: as long as the shortest, as Python's."""
    counts: list[Any] = []
    for source in sources:
        if not isinstance(source, Iteration):
            raise UnsupportedSyntaxError(
                "zip cannot mix tensors with Python iterables", help="loop over a range and index each of them"
            )
        counts.append(source.count)
    if all(isinstance(each, int) for each in counts):
        shortest: Any = min(counts)
    else:
        shortest = counts[0]
        for count in counts[1:]:
            shorter = operators_for(shortest, count).Min(_int64(shortest), _int64(count))
            shortest = number(shorter)
    return Iteration(shortest, lambda i: tuple(source.element(i) for source in sources))


def _int64(value: Any) -> Any:
    from onnxsmith.types.dtypes import DType

    return value.as_dtype(DType.INT64) if isinstance(value, Number) else np.array(value, np.int64)


def _dynamic_range(arguments: Sequence[Any]) -> Iteration:
    values = [each if isinstance(each, Number | int) else _as_number(each) for each in arguments]
    start, stop, step = (0, values[0], 1) if len(values) == 1 else (*values, 1)[:3]
    distance = stop if _is(start, 0) else stop - start
    count = distance if _is(step, 1) else -((-distance) // step)

    def element(i: Any) -> Any:
        scaled = i if _is(step, 1) else i * step
        return scaled if _is(start, 0) else scaled + start

    return Iteration(count, element)


def _as_number(value: Any) -> Number:
    if not isinstance(value, Tensor) or value.dtype is None or not value.dtype.is_integer:
        shown = value.type.described if isinstance(value, Tensor) else type(value).__name__
        raise LoopTypeError(f"range needs integers, not {shown}", help="convert it with int(…)")
    return number(_scalar(value))


def _scalar(value: Tensor) -> Tensor:
    return value.reshape(()) if value.type.rank else value


def _is(value: Any, wanted: int) -> bool:
    return isinstance(value, int) and value == wanted


# -- loops that run now ------------------------------------------------------------------------------------


def _known_range(stager: Stager, statement: ast.For, bounds: range, rest: Rest, leaf: Leaf) -> Any:
    """A range with known bounds: a `Loop` if its body can be one, else it runs now."""
    graph = cast("GraphTarget", ACTIVE.get())
    roll_back = graph.program.checkpoint()
    variables = dict(stager.frame.variables)
    count_of_nodes = len(graph.nodes)
    try:
        return _dynamic(stager, statement, _range_iteration(bounds), rest, leaf, at_least_once=len(bounds) > 0)
    except (OnnxsmithError, TypeError, IndexError, KeyError, ValueError) as error:
        if len(bounds) > _MOST_ITERATIONS or not _needs_python_value(error):
            raise
        graph.truncate(count_of_nodes)
        roll_back()
        stager.frame.variables = variables
    return _unrolled(stager, statement, bounds, rest, leaf)


def _needs_python_value(error: Exception) -> bool:
    """Whether a loop's body failed because something in it must be known now; running it now may then work."""
    return not isinstance(error, OnnxsmithError) or error.code in _CURED_BY_UNROLLING


#: Asked for a Python value; attributes and indices that must be known; types that change between iterations;
#: lists that are appended to; values that differ between paths.
_CURED_BY_UNROLLING = frozenset(
    ["C202", "C307", "C309", "C310", "C402", "C406", "C407", "C408", "C501", "C503", "C504", "C505", "C506", "C507", "C509"]
)


def _range_iteration(bounds: range) -> Iteration:
    def element(i: Any) -> Any:
        scaled = i if bounds.step == 1 else i * bounds.step
        return scaled if bounds.start == 0 else scaled + bounds.start

    return Iteration(len(bounds), element)


def _unrolled(stager: Stager, statement: ast.For, items: Iterable[Any], rest: Rest, leaf: Leaf) -> Any:
    """Run the loop now, one copy of the body per element."""
    has_jumps = bool(stager.flow.block_jumps(statement.body))
    elements = list(itertools.islice(_iterator(stager, statement, items), _MOST_ITERATIONS + 1))
    if len(elements) > _MOST_ITERATIONS:
        raise UnsupportedSyntaxError(
            f"this loop runs when the model is made, and has more than {_MOST_ITERATIONS} iterations",
            help="loop over a range, so that it becomes a Loop",
        ).locate(stager.frame.span(statement.iter))
    for position, item in enumerate(elements):
        stager.assign(statement.target, item)
        if not has_jumps:
            for inner in statement.body:
                stager.perform(inner)
            continue
        outcome = stager.run(statement.body, _ends_of(stager, statement))
        if _is_known(outcome):
            if outcome["return"]:
                return leaf(_jump("return", outcome["value"]))
            if outcome["break"]:
                return rest()
            continue
        # Only the model knows whether the loop goes on: the iterations that are left are guarded by it.
        return _guarded_rest(stager, statement, outcome, elements[position + 1 :], rest, leaf)
    for inner in statement.orelse:
        stager.perform(inner)
    return rest()


def _iterator(stager: Stager, statement: ast.For, items: Any) -> Iterator[Any]:
    try:
        return iter(items)
    except TypeError:
        raise LoopTypeError(f"a {type(items).__name__} cannot be looped over").locate(
            stager.frame.span(statement.iter)
        ) from None


def _guarded_rest(
    stager: Stager, statement: ast.For, outcome: dict[str, Any], left: Sequence[Any], rest: Rest, leaf: Leaf
) -> Any:
    """The iterations after one that may have left the loop: each is an `If` on whether the loop still runs."""
    frame = stager.frame
    frame.variables.update(outcome["variables"])
    for item in left:
        before = outcome

        def one_more(item: Any = item) -> dict[str, Any]:
            stager.assign(statement.target, item)
            return stager.run(statement.body, _ends_of(stager, statement))

        def stay(before: dict[str, Any] = before) -> dict[str, Any]:
            variables = {name: frame.variables.get(name, MISSING) for name in before["variables"]}
            return {**before, "variables": variables}

        if not is_symbolic(outcome["next"]):
            outcome = one_more() if outcome["next"] else outcome
        else:
            outcome = stager.dynamic_if(truth(outcome["next"]), one_more, stay, place=statement)
        frame.variables.update({k: v for k, v in outcome["variables"].items() if v is not MISSING})

    return _after(stager, statement, outcome, rest, leaf)


def _ends_of(stager: Stager, statement: ast.For | ast.While) -> Leaf:
    """The leaf of one iteration: how it ended, and the variables it leaves."""
    targets = [ast.Expr(statement.target)] if isinstance(statement, ast.For) else []
    names = assigned_names([*targets, *statement.body])

    def leaf(jump: Jump) -> dict[str, Any]:
        return {
            "next": jump.kind in ("next", "continue"),
            "break": jump.kind == "break",
            "return": jump.kind == "return",
            "value": jump.value if jump.kind == "return" else MISSING,
            "variables": {name: stager.frame.variables.get(name, MISSING) for name in names},
        }

    return leaf


def _is_known(outcome: dict[str, Any]) -> bool:
    return not any(is_symbolic(outcome[each]) for each in ("next", "break", "return"))


def _jump(kind: str, value: Any = None) -> Jump:
    from onnxsmith.scripting.stager import Jump  # the stager runs loops, and loops end in its jumps

    return Jump(kind, value)


# -- loops that the model performs -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _WhileTest:
    stager: Stager
    statement: ast.While

    def __call__(self) -> Any:
        return self.stager.frame.evaluate(self.statement.test)


def _while(stager: Stager, statement: ast.While, rest: Rest, leaf: Leaf) -> Any:
    """A `while`: it runs now as long as its test is known, and becomes a `Loop` when only the model knows."""
    test = _WhileTest(stager, statement)
    graph = cast("GraphTarget", ACTIVE.get())
    for _ in range(_MOST_ITERATIONS):
        value = test()
        if is_symbolic(value):
            return _dynamic(stager, statement, Iteration(None, None), rest, leaf, test=test, first_test=value)
        if not value:
            for inner in statement.orelse:
                stager.perform(inner)
            return rest()
        roll_back, variables, count = graph.program.checkpoint(), dict(stager.frame.variables), len(graph.nodes)
        outcome = stager.run(statement.body, _ends_of(stager, statement))
        if not _is_known(outcome):
            # `while True` with a break that only the model decides: the whole loop is the model's.
            graph.truncate(count)
            roll_back()
            stager.frame.variables = variables
            return _dynamic(stager, statement, Iteration(None, None), rest, leaf, test=test, first_test=True)
        if outcome["return"]:
            return leaf(_jump("return", outcome["value"]))
        if outcome["break"]:
            return rest()
    raise UnsupportedSyntaxError(
        f"this loop runs when the model is made, and does not end within {_MOST_ITERATIONS} iterations",
        help="let its condition depend on a tensor",
    ).locate(stager.frame.span(statement.test))


def _dynamic(
    stager: Stager,
    statement: ast.For | ast.While,
    source: Iteration,
    rest: Rest,
    leaf: Leaf,
    *,
    test: Callable[[], Any] | None = None,
    first_test: Any = True,
    at_least_once: bool = False,
) -> Any:
    """Stage a `Loop`, then what follows it."""
    outcome = stage_loop(
        stager, statement, source, _ends_of(stager, statement), test, first_test, at_least_once=at_least_once
    )

    return _after(stager, statement, outcome, rest, leaf)


def _after(
    stager: Stager, statement: ast.For | ast.While, outcome: dict[str, Any], rest: Rest, leaf: Leaf
) -> Any:
    """What follows a loop whose end only the model knows: its `else`, the rest, or a return from inside it."""

    def finished() -> Any:
        for inner in statement.orelse:
            stager.perform(inner)
        return rest()

    broke = outcome["break"]
    if stager.flow.block_jumps(statement.body).returns:
        return _after_return(stager, statement, outcome, finished, rest, leaf)
    if not is_symbolic(broke) or not statement.orelse:
        return rest() if broke is True else finished()
    stager.merge_blocks(truth(broke), (), statement.orelse, statement, statement)
    return rest()


def _after_return(
    stager: Stager, statement: ast.stmt, outcome: dict[str, Any], finished: Rest, rest: Rest, leaf: Leaf
) -> Any:
    def went_on() -> Any:
        broke = outcome["break"]
        if not is_symbolic(broke):
            return rest() if broke else finished()
        return stager.dynamic_if(truth(broke), rest, finished, name="result", strict=True, place=statement)

    returned = outcome["return"]
    if not is_symbolic(returned):
        return leaf(_jump("return", outcome["value"])) if returned else went_on()
    return stager.dynamic_if(
        truth(returned),
        lambda: leaf(_jump("return", outcome["value"])),
        went_on,
        name="result",
        strict=True,
        place=statement,
    )
