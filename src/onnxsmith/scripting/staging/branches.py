"""Branches that only the model decides: both sides are staged, and what they leave is merged into one `If`.

Where one side jumps (return, break, continue), the statements that follow go into the other side. Where both may go
on, the jump becomes data, and what follows is staged once, behind it.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeGuard, cast

from onnxsmith.core.recording import RecordedBody
from onnxsmith.core.semantics.number import Number
from onnxsmith.core.sequence import TensorOptional
from onnxsmith.core.target import RecordingTarget, current_graph, recorded
from onnxsmith.core.value import TensorValue, Value
from onnxsmith.core.value_containers import Carrier, Journal
from onnxsmith.errors import NestingError
from onnxsmith.scripting.analysis.facts import Names
from onnxsmith.scripting.source.definition_spans import located
from onnxsmith.scripting.staging.appended_lists import grown_names, lists_in, refuse_lost
from onnxsmith.scripting.staging.array_aliases import track_arrays
from onnxsmith.scripting.staging.array_tracking import Owners
from onnxsmith.scripting.staging.call_stack import is_recursive, recursion_error
from onnxsmith.scripting.staging.carriers import PathEnd
from onnxsmith.scripting.staging.cells import Cell, CellValues
from onnxsmith.scripting.staging.jumps import KINDS, NOTHING, Jump, Leaf, Side, record
from onnxsmith.scripting.staging.merge import LOOP_PATHS, MISSING, Merger, Unassigned
from onnxsmith.scripting.staging.merged_arrays import MergedArrays
from onnxsmith.scripting.staging.merged_tensors import active
from onnxsmith.scripting.staging.perhaps import refined
from onnxsmith.scripting.staging.raised import PathEnded
from onnxsmith.scripting.staging.script_values import Held
from onnxsmith.scripting.staging.truth import Negation, is_symbolic, is_truth_value, truth, visible
from onnxsmith.scripting.staging.watch import keep_unchanged, watch_path
from onnxsmith.source import Span, caller_span
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import TensorType

if TYPE_CHECKING:
    from onnxsmith.scripting.staging.frame import Frame
    from onnxsmith.scripting.staging.jumps import Stager

#: A model file nests about three messages per `If`, and protobuf reads a hundred.
DEEPEST = 28


def branch(
    stager: Stager,
    condition: TensorValue,
    then: Sequence[ast.stmt],
    otherwise: Sequence[ast.stmt],
    statement: ast.stmt,
    reason: ast.AST,
    follow: Leaf,
) -> Side:
    """Stage two blocks of a statement as the branches of an `If`, and what follows."""
    track_arrays(stager, statement)
    flow = stager.flow
    if not flow.block_jumps(then) and not flow.block_jumps(otherwise):
        _merge_blocks(stager, condition, then, otherwise, statement, reason)
        return follow(Jump("next"))
    if follow.is_long and flow.can_fall_through(then) and flow.can_fall_through(otherwise):
        names = [*stager.flow.assigned(then, otherwise), *grown_names(stager.frame, [statement])]
        leaf = recording(stager, statement, names)
        side = dynamic_if(
            stager,
            condition,
            lambda: stager.run(then, leaf),
            lambda: stager.run(otherwise, leaf),
            stager.frame.analysis.facts.names([statement]),
            place=statement,
        )
        return dispatch(stager, side, follow, statement)
    return dynamic_if(
        stager,
        condition,
        lambda: stager.run(then, follow),
        lambda: stager.run(otherwise, follow),
        names_from(stager, statement),
        name="result",
        place=statement,
    )


def _merge_blocks(
    stager: Stager,
    condition: TensorValue,
    then: Sequence[ast.stmt],
    otherwise: Sequence[ast.stmt],
    statement: ast.stmt,
    reason: ast.AST,
) -> None:
    """Blocks without jumps: the variables that are used after the statement are merged."""
    live = stager.flow.live_after(statement)
    frame = stager.frame
    changed = [*stager.flow.assigned(then, otherwise), *grown_names(frame, [statement])]
    names = [name for name in changed if name in live]

    def side(block: Sequence[ast.stmt], when: str) -> Callable[[], Side]:
        def run() -> Side:
            stager.run(block, NOTHING)
            missing = Unassigned(frame.span(reason), f"it is assigned only when this is {when}")
            return Side(None, {name: frame.variables.get(name, missing) for name in names})

        return run

    sides = side(then, "false"), side(otherwise, "true")
    merged = dynamic_if(
        stager, condition, *sides, stager.frame.analysis.facts.names([statement]), place=statement
    )
    frame.variables.update(merged.variables)


def recording(stager: Stager, statement: ast.stmt, names: Sequence[str]) -> Leaf:
    """A leaf that makes the jump data; with it go the variables that are read where the path goes on."""
    frame = stager.frame
    lists = lists_in(frame.variables)

    def end(jump: Jump) -> Side:
        live = stager.flow.live_after_jump(statement, jump.kind)
        if lists:
            with located(
                frame.span(statement)
            ):  # here: a path may end in a branch, which puts variables back
                refuse_lost(frame, lists, names, live)
        return Side(
            record(jump), picked(frame.variables, names, live, Unassigned(frame.span(statement), SOME_PATH))
        )

    return Leaf(end)


def keeping_lists(
    stager: Stager, statement: ast.stmt, leaf: Leaf, live: Callable[[str], frozenset[str]]
) -> Leaf:
    """The same leaf, for a block that begins now: it refuses that a list grows inside a branch, which puts it back.

    `live` are the variables that are read after each kind of jump.
    """
    frame, lists, depth = stager.frame, lists_in(stager.frame.variables), current_graph().depth

    def end(jump: Jump) -> Side:
        side = leaf(jump)
        if lists and current_graph().depth > depth:
            with located(frame.span(statement)):
                refuse_lost(frame, lists, side.variables, live(jump.kind))
        return side

    return Leaf(end)


SOME_PATH = "it is assigned only on some paths through this"


def picked(
    variables: Mapping[str, Held], names: Sequence[str], live: frozenset[str], missing: Unassigned
) -> dict[str, Held]:
    """The values of variables; those that nobody reads any more have none."""
    return {name: variables.get(name, missing) if name in live else MISSING for name in names}


def dispatch(stager: Stager, side: Side, follow: Leaf, place: ast.stmt) -> Side:
    """Go on as merged data says: by the jump that is known, or by an `If` for each that is possible."""
    stager.frame.variables.update(
        {name: each for name, each in side.variables.items() if each is not MISSING}
    )
    flags = side.flags
    possible = [kind for kind in KINDS if flags.get(kind, False) is not False]
    possible.sort(key=lambda kind: isinstance(flags[kind], Negation))  # the last one needs no test

    def go(kind: str) -> Side:
        return follow(Jump(kind, flags["value"] if kind == "return" else None))

    def choose(kinds: Sequence[str]) -> Side:
        kind, *others = kinds
        flag = flags[kind]
        if not others or not is_symbolic(flag):
            return go(kind)
        return dynamic_if(
            stager,
            truth(flag),
            lambda: go(kind),
            lambda: choose(others),
            names_from(stager, place),
            name="result",
            place=place,
        )

    return choose(possible)


def names_from(stager: Stager, statement: ast.stmt) -> Names:
    """The names in a statement, and in all that may follow it."""
    analysis = stager.frame.analysis
    after = analysis.facts.all_names
    live = stager.flow.live_after(statement)
    return analysis.facts.names([statement]) | Names(
        frozenset(name for name in after.variables if name in live or name not in analysis.local_names),
        after.attributes,
    )


def dynamic_if(
    stager: Stager,
    condition: TensorValue,
    then: Callable[[], Side],
    otherwise: Callable[[], Side],
    names: Names,
    *,
    name: str = "",
    place: ast.AST | None = None,
) -> Side:
    """Stage both sides as the branches of an `If`, and give what they have in common.

    `names` is what the sides name: what is reached by it may not change.
    """
    frame = stager.frame
    outer = current_graph()
    span = None if place is None else frame.span(place)
    if outer.depth >= DEEPEST:
        if is_recursive(frame.analysis.node):
            raise recursion_error(frame.analysis.name).locate(span)
        raise NestingError(
            f"control flow that depends on tensors is nested more than {DEEPEST} deep",
            help="use op.Where, or split the function",
        ).locate(span)
    before = frame.variables
    cells, cells_after, changed = CellValues(), list[CellValues](), list[Cell]()
    watch = watch_path(frame, names, place)
    # With a name, what follows is on the path, too, and finds the lists as they are.
    lists = [] if name else lists_in(before)
    sides: list[Side] = []
    ends: list[PathEnd] = []
    ended: list[bool] = []
    there, before_there = list[Mapping[int, bool]](), frame.there
    scopes = (outer.subgraph(), outer.subgraph())
    try:
        for scope, run, is_true in zip(scopes, (then, otherwise), (True, False), strict=True):
            facts = frame.implications.of(condition, is_true=is_true)
            frame.variables = refined(before, facts)
            frame.there = {**before_there, **frame.implications.there(facts)}
            there.append(frame.there)
            cells.refine(facts)
            with active(scope), watch, Journal() as journal:
                side, is_ended = _to_its_end(run)
                ended.append(is_ended)
                after = CellValues()
                if lists and isinstance(place, ast.stmt):
                    with located(span):
                        refuse_lost(frame, lists, side.variables, stager.flow.live_wherever(place))
                changed_here = after.changed(cells)
                in_cells = [after.get(cell, MISSING) for cell in changed_here]
                ends.append(PathEnd(journal, (side.value, *side.variables.values(), *in_cells)))
            sides.append(side)
            cells_after.append(after)
            changed += changed_here
            cells.put_back()
    finally:
        frame.variables, frame.there = before, before_there
        cells.put_back()
    if any(ended):
        sides = _of_other_where_ended(sides, ended)
    elif not outer.is_exact:
        sides = [
            _without_optionals(*each) for each in zip(sides, reversed(sides), scopes, there, strict=True)
        ]
    assigned = list({cell.key: cell for cell in changed}.values())
    changes = bool(assigned) or any(each.written for each in ends)
    logic = None if outer.is_exact or changes else _as_logic(condition, scopes, sides)
    if logic is not None:
        frame.implications.note(logic, condition, sides[0].value, sides[1].value)
        return Side(logic, sides[0].variables)
    if outer.is_exact:
        merger = Merger(*scopes)
    elif scopes[0].is_empty and scopes[1].is_empty:
        merger = Merger(outer, outer, condition, is_choice=True)
    else:
        merger = Merger(*scopes, condition)
    merger.ends = (ends[0], ends[1])
    arrays = MergedArrays(stager, place, caller_span() if place is None else span, sides)
    if not outer.is_exact and not frame.run.dialect.stages_all:
        merger.array_traits = arrays.traits
    if isinstance(place, ast.For | ast.While):
        merger.paths = LOOP_PATHS  # what decides is no condition that somebody wrote
    with located(span):
        result = merger.merge(sides[0].value, sides[1].value, name, strict=True)
        variables: dict[str, Held] = {}
        for arrays.variable, value in sides[1].variables.items():
            first = sides[0].variables.get(arrays.variable, MISSING)
            variables[arrays.variable] = merger.merge(first, value, arrays.variable, strict=False)
        shared = _merged_cells(merger, assigned, cells_after, span)
        written = merger.merge_written(lambda carrier: name_of(frame, carrier))
        outputs = _selected(outer, condition, merger)
    if not merger.names:
        for scope in scopes:
            scope.discard()
    elif outputs is None:
        # No model that was decompiled has a jump: where one was added, outputs need not be as they were written.
        has_jump = outer.is_exact and sides[0].value is not None
        bodies = [
            scope.finish_body(_each_once(scope, each) if has_jump else each, title)
            for scope, each, title in zip(
                scopes, (merger.then_outputs, merger.else_outputs), ("then", "else"), strict=True
            )
        ]
        with located(span):
            outputs = _emit(outer, condition, bodies, merger.names)
    filled = Side(
        merger.fill(result, outputs or ()),
        {each: merger.fill(value, outputs or ()) for each, value in variables.items()},
    )
    frame.implications.note(filled.value, condition, sides[0].value, sides[1].value)
    for cell, value in shared:
        cell.home[cell.name] = merger.fill(value, outputs or ())
    for carrier, shell in written:
        carrier.rewrite(merger.filled_parts(shell, outputs or ()))
    keep_unchanged(arrays.also_sharing(merger.ambiguous(watch)))
    after = {name: value for name, value in filled.variables.items() if value is not MISSING}
    held = Owners(stager, place, {**before, **after}, filled.value)
    merger.lock_shared_carriers(held.is_alone)
    if all(ended):
        raise PathEnded
    return filled


def _without_optionals(side: Side, other: Side, scope: RecordingTarget, there: Mapping[int, bool]) -> Side:
    """A side with what its optionals are, where that is known and the other side has no optional in their place."""

    def known(value: Held, others: Held) -> Held:
        if not isinstance(value, TensorOptional) or isinstance(others, TensorOptional) or others is MISSING:
            return value
        is_there = there.get(id(recorded(value)))
        if is_there is None:
            return value
        with active(scope):
            return value.element if is_there else None

    variables = {
        name: known(value, other.variables.get(name, MISSING)) for name, value in side.variables.items()
    }
    return Side(known(side.value, other.value), variables)


def _each_once(scope: RecordingTarget, outputs: Sequence[Value]) -> list[Value]:
    """The outputs of a branch, with a node of its own for one that is given twice: ONNX Runtime mixes those up."""
    found: list[Value] = []
    with active(scope):
        for each in outputs:
            is_given = any(recorded(each) is recorded(other) for other in found)
            found.append(scope.operators.Identity(each) if is_given else each)
    return found


def _to_its_end(run: Callable[[], Side]) -> tuple[Side, bool]:
    """The side that a path leaves, and a flag for a path that ended with an error: it leaves nothing."""
    try:
        return run(), False
    except PathEnded:
        return Side(MISSING), True


def _of_other_where_ended(sides: Sequence[Side], ended: Sequence[bool]) -> list[Side]:
    """Two sides; what the one does not say that ended with an error, the other does."""
    names = [name for side in sides for name in side.variables]
    missing = Side(MISSING, dict.fromkeys(names, MISSING))
    return [missing if is_ended else side for side, is_ended in zip(sides, ended, strict=True)]


def name_of(frame: Frame, carrier: Carrier) -> str:
    """The name of a carrier in a function: that of a variable that holds it."""
    names = (name for name, value in frame.variables.items() if value is carrier)
    return next(names, "array")


def _merged_cells(
    merger: Merger, cells: Sequence[Cell], after: Sequence[CellValues], span: Span | None
) -> list[tuple[Cell, Held]]:
    """The merged values of the variables that inner functions assigned on one of two sides."""
    unbound = Unassigned(span, SOME_PATH)
    sides = [(cell, after[0].get(cell, unbound), after[1].get(cell, unbound)) for cell in cells]
    return [(cell, merger.merge(then, otherwise, cell.name, strict=False)) for cell, then, otherwise in sides]


def _as_logic(
    condition: TensorValue, scopes: Sequence[RecordingTarget], sides: Sequence[Side]
) -> TensorValue | None:
    """A truth value on one side and True or False on the other: `And` or `Or`, where what was recorded is harmless."""
    then, otherwise = _decided(condition, sides[0].value, True), _decided(condition, sides[1].value, False)
    if sides[0].variables or not all(each.is_harmless for each in scopes):
        return None
    known, open_value = (then, otherwise) if isinstance(then, bool) else (otherwise, then)
    if not isinstance(known, bool) or not _is_one_truth(open_value):
        return None
    for scope in scopes:
        scope.keep()
    op = current_graph().operators
    if known is then:
        scalar = condition if known else op.Not(condition)
    else:
        scalar = op.Not(condition) if known else condition
    joined = (op.Or if known else op.And)(scalar, truth(open_value))
    return Number(joined, "bool") if isinstance(open_value, Number) else joined


def _decided(condition: TensorValue, value: Held, is_true: bool) -> Held:
    """The value as it is known on one side: the condition itself is true on one and false on the other."""
    return is_true if is_symbolic(value) and recorded(visible(value)) is condition else value


def _is_one_truth(value: Held) -> TypeGuard[Value]:
    if not is_symbolic(value) or not is_truth_value(value):
        return False
    kind = value.known.type
    return isinstance(kind, TensorType) and kind.shape == ()


#: Element types that every runtime selects, and the opset that brought `Where`.
_SELECTED = (DType.FLOAT, DType.DOUBLE, DType.INT32, DType.INT64)
_WHERE = 9


def _selected(outer: RecordingTarget, condition: TensorValue, merger: Merger) -> Sequence[Value] | None:
    """The outputs of a choice between single values that are there already: a `Where` for each, and no branches."""
    if not merger.is_choice or outer.operators.version < _WHERE:
        return None
    pairs = list(zip(merger.then_outputs, merger.else_outputs, strict=True))
    if not all(_is_single(each) and each.known.type == pair[0].known.type for pair in pairs for each in pair):
        return None
    outputs = [outer.operators.Where(condition, *pair) for pair in pairs]
    outer.name_results(outputs, merger.names, ())
    return outputs


def _is_single(value: Value) -> bool:
    kind = value.known.type
    return isinstance(kind, TensorType) and kind.dtype in _SELECTED and kind.shape == ()


def _emit(
    outer: RecordingTarget, condition: TensorValue, bodies: Sequence[RecordedBody], names: Sequence[str]
) -> Sequence[Value]:
    outputs = outer.operators.If(condition, then_branch=bodies[0], else_branch=bodies[1])
    results = cast("Sequence[Value]", outputs) if isinstance(outputs, tuple) else (outputs,)
    outer.name_results(results, names, [(bodies[0], "then"), (bodies[1], "else")])
    return results
