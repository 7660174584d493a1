"""Loops: over what Python knows they run now; over ranges, tensors and conditions they become `Loop`.

`for i in range(…)` with known bounds is a `Loop` too, unless its body needs `i` as a Python number: then it runs now.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, cast

from onnxsmith.core.target import current_graph
from onnxsmith.core.user_values import UserValue
from onnxsmith.core.value_containers import Journal
from onnxsmith.diagnostics import described_type
from onnxsmith.errors import (
    CallError,
    LoopTypeError,
    MutationError,
    OnnxsmithError,
    UnsupportedSyntaxError,
    boundary,
)
from onnxsmith.scripting.analysis.flow import is_endless
from onnxsmith.scripting.source.definition_spans import located
from onnxsmith.scripting.staging import appended_lists
from onnxsmith.scripting.staging.appended_lists import grown_names
from onnxsmith.scripting.staging.assignment import assign
from onnxsmith.scripting.staging.branches import branch, dynamic_if, keeping_lists, names_from, picked
from onnxsmith.scripting.staging.cells import CellValues
from onnxsmith.scripting.staging.dynamic_loop import Ended, stage_loop
from onnxsmith.scripting.staging.iteration import Iteration, Source, iteration_source, range_iteration
from onnxsmith.scripting.staging.jumps import NEXT, NOTHING, Jump, Leaf, Side, record
from onnxsmith.scripting.staging.merge import MISSING, Unassigned
from onnxsmith.scripting.staging.merged_tensors import active
from onnxsmith.scripting.staging.mistakes import CURED_BY_VALUES
from onnxsmith.scripting.staging.script_values import Held
from onnxsmith.scripting.staging.truth import asked, is_symbolic, truth
from onnxsmith.scripting.staging.watch import Attempt, watch_path

if TYPE_CHECKING:
    from onnxsmith.scripting.staging.jumps import Stager

#: A loop that runs now makes the model longer with every iteration.
_MOST_ITERATIONS = 20_000
#: A loop that may have to be staged again keeps copies of the arrays that it reaches, if they are no more than this.
_MOST_BYTES = 1 << 20


class static_range:
    """`for i in static_range(n)`: the loop runs when the model is made, and `i` is a Python int.

    >>> from onnxsmith import static_range
    >>> list(static_range(3))
    [0, 1, 2]
    """

    @boundary
    def __init__(self, *bounds: int) -> None:
        if not 1 <= len(bounds) <= 3:
            raise CallError("static_range takes what range takes: one to three ints", help="static_range(3)")
        self._range = range(*bounds)

    def __iter__(self) -> Iterator[int]:
        return iter(self._range)

    def __len__(self) -> int:
        return len(self._range)


def run_loop(stager: Stager, statement: ast.For | ast.While, follow: Leaf) -> Side:
    """Carry out a loop and what follows it."""
    if isinstance(statement, ast.While):
        return _while(stager, statement, follow)
    source = _after_first(stager, statement, iteration_source(stager, statement))
    if isinstance(source, range):
        return _known_range(stager, statement, source, follow)
    if isinstance(source, Iteration):
        return _after(stager, statement, _stage(stager, statement, source), follow)
    return _run_now(stager, statement, source, follow)


def _after_first(stager: Stager, statement: ast.For, source: Source) -> Source:
    """The rest of the source after an iteration that is carried out now: one that gives a variable a value.

    Where a variable is None before a loop that surely runs, it is something else from the second iteration on.
    """
    if isinstance(source, Iteration):
        surely_runs = isinstance(source.count, int) and source.count >= 1
    else:
        surely_runs = isinstance(source, range) and bool(source)  # Python counts no more than 64 bits
    live, variables = stager.flow.live_in_loop(statement), stager.frame.variables
    if not surely_runs or stager.flow.block_jumps(statement.body):
        return source
    if not any(
        variables.get(each, MISSING) is None and each in live for each in stager.flow.loop_names(statement)
    ):
        return source
    if isinstance(source, range):
        first, rest = source[0], source[1:]
    else:
        iteration = cast(Iteration, source)
        first, rest = iteration.first(), iteration.from_second()
    assign(stager, statement.target, first)
    stager.run(statement.body, NOTHING)
    return rest


def _stage(stager: Stager, statement: ast.For, source: Iteration, *, at_least_once: bool = False) -> Ended:
    leaf = _ends_of(stager, statement)
    return stage_loop(stager, statement, source, leaf, None, True, at_least_once=at_least_once)


# -- loops that run now ------------------------------------------------------------------------------------


def _known_range(stager: Stager, statement: ast.For, bounds: range, follow: Leaf) -> Side:
    """A range with known bounds: a `Loop` if its body can be one, else it runs now."""
    if not bounds:
        return _finished(stager, statement, follow)
    roll_back = current_graph().checkpoint()
    variables, cells = dict(stager.frame.variables), CellValues()
    try:
        ended = _stage(stager, statement, range_iteration(bounds), at_least_once=True)
    except (OnnxsmithError, TypeError, IndexError, KeyError, ValueError, AttributeError) as error:
        if not bounds[:_MOST_ITERATIONS] == bounds or not _needs_python_value(error):
            raise
        roll_back()
        stager.frame.variables = variables
        cells.put_back()
    else:
        return _after(stager, statement, ended, follow)
    return _run_now(stager, statement, bounds, follow)


def _needs_python_value(error: Exception) -> bool:
    """True if a loop's body failed because something in it must be known now; running it now may then work."""
    return not isinstance(error, OnnxsmithError) or error.code in CURED_BY_VALUES


def _run_now(stager: Stager, statement: ast.For, items: UserValue, follow: Leaf) -> Side:
    """Run the loop now; again with sequences, if it appends to lists where only the model knows whether."""
    if not isinstance(items, range | list | tuple | static_range) or not appended_lists.may_begin(
        stager, statement
    ):
        return _after(stager, statement, _unrolled(stager, statement, items), follow)
    frame = stager.frame
    state = Attempt(frame, frame.analysis.facts.names([statement]), _MOST_BYTES)
    if state.is_too_large:
        return _after(stager, statement, _unrolled(stager, statement, items), follow)
    try:
        ended = _attempt(stager, statement, items, state, is_trial=False)
    except MutationError:
        if not appended_lists.begin(
            stager, statement, lambda: _attempt(stager, statement, items, state, is_trial=True)
        ):
            raise
        if isinstance(items, range):
            return _known_range(stager, statement, items, follow)
        return _run_now(stager, statement, items, follow)
    return _after(stager, statement, ended, follow)


def _attempt(
    stager: Stager, statement: ast.For, items: UserValue, state: Attempt, *, is_trial: bool
) -> Ended:
    """Run the loop now; if that fails, or is only a trial, all is as it was before, objects as in `state`."""
    frame, graph = stager.frame, current_graph()
    roll_back, variables, cells = graph.checkpoint(), dict(frame.variables), CellValues()
    draft, is_kept = graph.draft(), False
    try:
        with active(draft), Journal() as journal:
            ended = _unrolled(stager, statement, items)
            if not is_trial:
                draft.keep()
                journal.keep()
                is_kept = True
        return ended
    finally:
        if not is_kept:
            draft.discard()
            roll_back()
            frame.variables = variables
            cells.put_back()
            state.take_back()


def _unrolled(stager: Stager, statement: ast.For, items: UserValue) -> Ended:
    """Run the loop now, one copy of the body per element; the variables have their values after it."""
    has_jumps = bool(stager.flow.block_jumps(statement.body))
    leaf = _ends_of(stager, statement)
    iterator = _iterator(stager, statement, items)
    for position, item in enumerate(iterator):
        if position >= _MOST_ITERATIONS:
            raise _too_many(stager, statement, "loop over a range, so that it becomes a Loop")
        assign(stager, statement.target, item)
        if not has_jumps:
            stager.run(statement.body, NOTHING)
            continue
        side = _one_turn(stager, statement, leaf)
        if not _is_known(side.flags):
            # Only the model knows whether the loop goes on: the iterations that are left are guarded by it.
            return _guarded_rest(stager, statement, side, iterator)
        _take(stager, side)
        if side.flags["return"] or side.flags["break"]:
            return Ended(side.flags["break"], side.flags["return"], side.flags["value"])
    return Ended()


def _too_many(stager: Stager, statement: ast.For, instead: str) -> UnsupportedSyntaxError:
    return UnsupportedSyntaxError(
        f"this loop runs when the model is made, and has more than {_MOST_ITERATIONS} iterations",
        help=instead,
    ).locate(stager.frame.span(statement.iter))


def _finished(stager: Stager, statement: ast.For | ast.While, follow: Leaf) -> Side:
    """A loop that came to its end: its `else`, then what follows."""
    return stager.run(statement.orelse, follow)


def _iterator(stager: Stager, statement: ast.For, items: UserValue) -> Iterator[UserValue]:
    try:
        return iter(cast("Iterable[UserValue]", items))
    except TypeError:
        instead = f"range({items})" if isinstance(items, int) else None
        raise LoopTypeError(f"{described_type(type(items))} cannot be looped over", help=instead).locate(
            stager.frame.span(statement.iter)
        ) from None


def _guarded_rest(stager: Stager, statement: ast.For, side: Side, left: Iterator[UserValue]) -> Ended:
    """The iterations after one that may have left the loop: each is an `If` on whether the loop still runs."""
    frame = stager.frame
    leaf = _ends_of(stager, statement)
    _take(stager, side)
    for item in _drawn(stager, statement, left):

        def one_more(item: UserValue = item) -> Side:
            assign(stager, statement.target, item)
            return _one_turn(stager, statement, leaf)

        def stay(before: Side = side) -> Side:
            return Side(before.value, {name: frame.variables.get(name, MISSING) for name in before.variables})

        goes_on = side.flags["next"]
        if is_symbolic(goes_on):
            names = stager.frame.analysis.facts.names([statement])
            side = dynamic_if(stager, truth(goes_on), one_more, stay, names, place=statement)
        elif goes_on:
            side = one_more()
        else:
            break
        _take(stager, side)
    return Ended(side.flags["break"], side.flags["return"], side.flags["value"])


def _drawn(stager: Stager, statement: ast.For, left: Iterator[Any]) -> Iterator[Any]:
    """The items of iterations that may not be reached: taking one out may change nothing."""
    if type(left) in _PLAIN_ITERATORS:
        yield from left
        return
    frame, names = stager.frame, stager.frame.analysis.facts.names([statement])
    for _ in range(_MOST_ITERATIONS):
        cells = CellValues()
        with watch_path(frame, names, statement):
            item = next(left, MISSING)
        changed = CellValues().changed(cells)
        if changed:
            raise MutationError(
                f"'{changed[0].name}' is changed by what gives the next item, "
                "and only the model knows whether the loop gets there",
                help="take the items out before the loop: items = list(…)",
            ).locate(frame.span(statement.iter))
        if item is MISSING:
            return
        yield item
    raise _too_many(stager, statement, "let it end by itself, or write a 'while'")


#: Taking an item out of these changes nothing else.
_PLAIN_ITERATORS = frozenset(
    type(iter(each))
    for each in ((), list[object](), dict[str, object](), dict[str, object]().items(), range(0), "")
)


def _take(stager: Stager, side: Side) -> None:
    """Give the variables the values that an iteration leaves them."""
    stager.frame.variables.update(
        {name: each for name, each in side.variables.items() if each is not MISSING}
    )


def _one_turn(stager: Stager, statement: ast.For | ast.While, leaf: Leaf) -> Side:
    """Run the body of a loop now."""

    def live(kind: str) -> frozenset[str]:
        after, again = stager.flow.live_after(statement), stager.flow.live_in_loop(statement)
        return frozenset[str]() if kind == "return" else frozenset((*after, *again))

    return stager.run(statement.body, keeping_lists(stager, statement, leaf, live))


def _ends_of(stager: Stager, statement: ast.For | ast.While) -> Leaf:
    """The leaf of one iteration: how it ended, and the variables it leaves."""
    after, again = stager.flow.live_after(statement), stager.flow.live_in_loop(statement)
    live = {"next": again, "continue": again, "break": after, "return": frozenset[str]()}
    missing = Unassigned(stager.frame.span(statement), "it is assigned only on some paths through this loop")

    def end(jump: Jump) -> Side:
        flags = record(jump)
        flags["next"] = flags["next"] or flags.pop("continue")
        flags.pop("continue", None)
        names = [*stager.flow.loop_names(statement), *grown_names(stager.frame, statement.body)]
        return Side(flags, picked(stager.frame.variables, names, live[jump.kind], missing))

    return Leaf(end)


def _is_known(flags: Mapping[str, Held]) -> bool:
    return not any(is_symbolic(flags[each]) for each in ("next", "break", "return"))


def _while(stager: Stager, statement: ast.While, follow: Leaf) -> Side:
    """A `while`: it runs now as long as its test is known, and becomes a `Loop` when only the model knows."""
    frame, graph = stager.frame, current_graph()
    leaf = _ends_of(stager, statement)
    has_jumps = bool(stager.flow.block_jumps(statement.body))

    def test() -> UserValue:
        value = frame.evaluate(statement.test)
        with located(frame.span(statement.test)):
            return asked(value)

    for _ in range(_MOST_ITERATIONS):
        roll_back, before, cells = graph.checkpoint(), dict(frame.variables), CellValues()
        draft = graph.draft()
        attempt = Attempt(frame, stager.frame.analysis.facts.names([statement])) if has_jumps else None
        with active(draft), Journal() as journal:
            value = test()
            with located(frame.span(statement.test)):  # an array that is recorded has no truth value
                goes_on = not is_symbolic(value) and bool(value)
            if not goes_on:
                side = None
            else:
                side = _one_turn(stager, statement, leaf)
            is_done = side is None or _is_known(side.flags)
            if is_done:
                journal.keep()
        if side is not None and is_done:
            draft.keep()
            _take(stager, side)
            if side.flags["return"]:
                return follow(Jump("return", side.flags["value"]))
            if side.flags["break"]:
                return follow(NEXT)
            continue
        if side is None:
            draft.keep()
            if not is_symbolic(value):
                return _finished(stager, statement, follow)
        else:
            # `while True` with a break that only the model decides: the whole loop is the model's.
            draft.discard()
            roll_back()
            frame.variables = before
            cells.put_back()
            if attempt is not None:
                attempt.take_back()
            value = True
        is_entered = not is_symbolic(value) and bool(value)
        ended = stage_loop(
            stager, statement, Iteration(None, None), leaf, test, value, at_least_once=is_entered
        )
        return _after(stager, statement, ended, follow)
    raise UnsupportedSyntaxError(
        f"this loop runs when the model is made, and does not end within {_MOST_ITERATIONS} iterations",
        help="let its condition depend on a tensor",
    ).locate(stager.frame.span(statement.test))


# -- after a loop that the model performs ------------------------------------------------------------------


def _after(stager: Stager, statement: ast.For | ast.While, ended: Ended, follow: Leaf) -> Side:
    """The code after a loop whose end only the model knows: its `else`, the rest, or a return from inside it."""

    def went_on() -> Side:
        if not statement.orelse:
            return follow(NEXT)
        if not is_symbolic(ended.breaks):
            return follow(NEXT) if ended.breaks else _finished(stager, statement, follow)
        return branch(stager, truth(ended.breaks), (), statement.orelse, statement, statement, follow)

    def returned() -> Side:
        return follow(Jump("return", ended.value))

    if not is_symbolic(ended.returns):
        return returned() if ended.returns else went_on()
    if is_endless(statement) and not stager.flow.block_jumps(statement.body).breaks:
        return returned()
    names = names_from(stager, statement)
    return dynamic_if(stager, truth(ended.returns), returned, went_on, names, name="result", place=statement)
