"""`[f(v) for v in x if v > 0]` where only the model knows how many elements there are, or which of them are taken.

Such a comprehension is staged as the loop that it stands for, which appends to a list. All others run as Python runs
them.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

from onnxsmith.core.carried import Journal
from onnxsmith.core.target import current_graph
from onnxsmith.core.user_values import UserValue
from onnxsmith.errors import ConditionError, TracedValueError
from onnxsmith.scripting.analysis.rewrite import at
from onnxsmith.scripting.source.bounded import Bounded
from onnxsmith.scripting.source.function_source import FunctionNode
from onnxsmith.scripting.staging.closures import StagedClosure

if TYPE_CHECKING:
    from onnxsmith.scripting.staging.frame import Frame

#: First line and column, last line and column.
Position: TypeAlias = tuple[int, int, int, int]
_Collecting: TypeAlias = ast.ListComp | ast.GeneratorExp

#: The list that the loop appends to; no name that anybody writes.
_COLLECTED = "__collected__"
#: How many loops are kept.
_KEPT = 1_000
# By the id of the comprehension's tree, which the entry keeps alive.
_loops = Bounded[int, tuple[_Collecting, ast.FunctionDef]](_KEPT)


def comprehended(
    frame: Frame,
    position: Position,
    first: Callable[[], UserValue],
    make: Callable[[UserValue], UserValue],
) -> UserValue:
    """What the comprehension gives that stands at a position.

    `first` gives what its first `for` goes through, and `make` what Python makes of that.
    """
    roll_back = current_graph().checkpoint()
    with Journal() as journal:
        try:
            result = make(first())
        except (TracedValueError, ConditionError):  # the two that say what only the model knows
            journal.forget()
            roll_back()
        else:
            journal.keep()
            return result
    return StagedClosure(frame, _loop_of(_found(frame.analysis.node, position), frame.analysis.name))()


def _found(function: FunctionNode, position: Position) -> _Collecting:
    """The comprehension of a function that stands at a position."""
    for node in ast.walk(function):
        if isinstance(node, ast.ListComp | ast.GeneratorExp) and place_of(node) == position:
            return node
    raise AssertionError("a comprehension is asked for at the place where it stands")


def place_of(node: ast.expr) -> Position:
    """Where an expression stands."""
    return node.lineno, node.col_offset, node.end_lineno or 0, node.end_col_offset or 0


def _loop_of(node: _Collecting, name: str) -> ast.FunctionDef:
    """A comprehension as a function without parameters, which errors call by the name of the one around it."""
    kept = _loops.get(id(node))
    if kept is not None and kept[0] is node:
        return kept[1]

    def collected(context: ast.expr_context) -> ast.Name:
        return at(node, ast.Name(_COLLECTED, context))

    append = at(node.elt, ast.Attribute(collected(ast.Load()), "append", ast.Load()))
    body: ast.stmt = at(node.elt, ast.Expr(at(node.elt, ast.Call(append, [node.elt], []))))
    for generator in reversed(node.generators):
        for test in reversed(generator.ifs):
            body = at(test, ast.If(test, [body], []))
        body = at(generator.iter, ast.For(generator.target, generator.iter, [body], [], None))
    empty = at(node, ast.Assign([collected(ast.Store())], at(node, ast.List([], ast.Load()))))
    done = at(node, ast.Return(collected(ast.Load())))
    nothing = ast.arguments([], [], None, [], [], None, [])
    made = at(node, ast.FunctionDef(name, nothing, [empty, body, done], [], None, None))
    _loops.put(id(node), (node, made), 1)
    return made
