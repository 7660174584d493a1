"""Many conditions in a row: a long `elif`, or many early `return`s, `break`s or `continue`s one after the other.

Each is an `If` inside the one before, and a model file cannot nest without end. So a long row is staged in groups, one
behind the other: a flag says whether the next group is still to be looked at.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from onnxsmith.core.target import current_graph
from onnxsmith.scripting.analysis.names import assigned_names
from onnxsmith.scripting.source.definition_spans import located
from onnxsmith.scripting.staging.appended_lists import grown_names, lists_in, refuse_lost
from onnxsmith.scripting.staging.branches import (
    SOME_PATH,
    dispatch,
    dynamic_if,
    keeping_lists,
    names_from,
    picked,
)
from onnxsmith.scripting.staging.jumps import NEXT, Jump, Leaf, Side, record
from onnxsmith.scripting.staging.merge import MISSING, Unassigned
from onnxsmith.scripting.staging.merged_tensors import RESULT_NAME
from onnxsmith.scripting.staging.script_values import Held
from onnxsmith.scripting.staging.truth import asked, choosing, is_symbolic, settled, truth

if TYPE_CHECKING:
    from onnxsmith.scripting.staging.jumps import Stager

#: As many conditions are nested in one group. Rows in rows must stay within `branches.DEEPEST`.
_IN_ONE_GROUP = 8
#: The flag that says that the next group follows.
_PENDING = "pending"

Group = Callable[[], Side]


def is_long_block(stager: Stager, statements: Sequence[ast.stmt], start: int) -> bool:
    """True if so many of these statements may jump that they cannot all go into one another."""
    if len(statements) - start <= _IN_ONE_GROUP or current_graph().is_exact:
        return False
    return sum(1 for each in statements[start:] if stager.flow.jumps(each)) > _IN_ONE_GROUP


def run_block(stager: Stager, statements: Sequence[ast.stmt], start: int, leaf: Leaf) -> Side:
    """Carry out statements of which many may jump."""
    frame = stager.frame
    names = [*assigned_names(statements[start:]), *grown_names(stager.frame, statements[start:])]

    def group(members: Sequence[ast.stmt]) -> Group:
        last = members[-1]

        def end(jump: Jump) -> Side:
            live = stager.flow.live_after_jump(last, jump.kind)
            missing = Unassigned(frame.span(last), SOME_PATH)
            flags = {_PENDING: False, **record(jump)}
            if last is not statements[-1]:  # the end of this group is the beginning of the next
                flags |= {_PENDING: jump.kind == "next", "next": False}
            return Side(flags, picked(frame.variables, names, live, missing))

        def live_after(kind: str) -> frozenset[str]:
            return stager.flow.live_after_jump(last, kind)

        return lambda: stager.run(members, keeping_lists(stager, last, Leaf(end), live_after))

    groups = [group(each) for each in _grouped(stager, statements[start:])]
    return dispatch(stager, _in_turn(stager, groups, statements[start]), leaf, statements[start])


def _grouped(stager: Stager, statements: Sequence[ast.stmt]) -> Iterator[Sequence[ast.stmt]]:
    begin, count = 0, 0
    for position, each in enumerate(statements):
        count += bool(stager.flow.jumps(each))
        if count == _IN_ONE_GROUP:
            yield statements[begin : position + 1]
            begin, count = position + 1, 0
    if begin < len(statements):
        yield statements[begin:]


def is_long_elif(statement: ast.If) -> bool:
    """True if an `if` has more `elif`s than go into one another."""
    return len(_links(statement, _IN_ONE_GROUP + 1)) > _IN_ONE_GROUP and not current_graph().is_exact


def _links(statement: ast.If, most: int | None = None) -> list[ast.If]:
    links = [statement]
    while len(links[-1].orelse) == 1 and isinstance(links[-1].orelse[0], ast.If):
        if len(links) == most:
            break
        links.append(links[-1].orelse[0])
    return links


def run_elif(stager: Stager, statement: ast.If, follow: Leaf) -> Side:
    """Carry out an `if` with many `elif`s, and what follows."""
    frame, links = stager.frame, _links(statement)
    assigned = assigned_names(each for link in links for each in link.body)
    grown = grown_names(frame, [statement])
    assigned = list(dict.fromkeys((*assigned, *assigned_names(links[-1].orelse), *grown)))
    names = list(dict.fromkeys((*assigned, *assigned_names(ast.Expr(each.test) for each in links))))
    before, depth = dict(frame.variables), current_graph().depth
    lists = lists_in(before)
    missing = Unassigned(frame.span(statement), SOME_PATH)

    def done(jump: Jump) -> Side:
        live = stager.flow.live_after_jump(statement, jump.kind)
        with located(frame.span(statement)):
            refuse_lost(frame, lists, names, live if current_graph().depth > depth else ())
        return Side({_PENDING: False, **record(jump)}, picked(frame.variables, names, live, missing))

    def undecided() -> Side:
        return Side(
            {_PENDING: True, **record(NEXT)}, {name: frame.variables.get(name, MISSING) for name in names}
        )

    def look(members: Sequence[ast.If], position: int = 0) -> Side:
        if position == len(members):
            last = members[-1] is links[-1]
            return stager.run(links[-1].orelse, Leaf(done)) if last else undecided()
        link = members[position]
        test = frame.evaluate(link.test)
        with located(frame.span(link.test)):
            test = settled(asked(test))
        if not is_symbolic(test):
            with located(frame.span(link.test)):  # an array that is recorded has no truth value
                is_true = bool(test)
            return stager.run(link.body, Leaf(done)) if is_true else look(members, position + 1)
        with located(frame.span(link.test)):
            condition = truth(test, elementwise=choosing(frame.run.dialect.stages_all))
        return dynamic_if(
            stager,
            condition,
            lambda: stager.run(link.body, Leaf(done)),
            lambda: look(members, position + 1),
            stager.frame.analysis.facts.names([statement]),
            name=RESULT_NAME,
            place=link,
        )

    def group(members: Sequence[ast.If]) -> Group:
        def run() -> Side:
            # No branch was taken yet: what the branches assign is as it was before the first of them.
            for name in assigned:
                frame.variables.pop(name, None)
                if name in before:
                    frame.variables[name] = before[name]
            return look(members)

        return run

    groups = [group(links[each : each + _IN_ONE_GROUP]) for each in range(0, len(links), _IN_ONE_GROUP)]
    return dispatch(stager, _in_turn(stager, groups, statement), follow, statement)


def _in_turn(stager: Stager, groups: Sequence[Group], place: ast.stmt) -> Side:
    """Stage groups one behind the other, each under the flag that the one before left."""
    frame = stager.frame
    side = groups[0]()
    for group in groups[1:]:
        pending = side.flags[_PENDING]
        if not is_symbolic(pending) and not pending:
            break
        frame.variables.update(_values(side))
        if not is_symbolic(pending):
            side = group()
            continue

        def stay(before: Side = side) -> Side:
            return Side({**before.flags, _PENDING: False}, before.variables)

        side = dynamic_if(
            stager, truth(pending), group, stay, names_from(stager, place), name=RESULT_NAME, place=place
        )
    return Side({key: value for key, value in side.flags.items() if key != _PENDING}, side.variables)


def _values(side: Side) -> dict[str, Held]:
    return {name: each for name, each in side.variables.items() if each is not MISSING}
