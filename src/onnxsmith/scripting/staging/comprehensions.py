"""`[f(v) for v in x if v > 0]` where only the model knows how many elements there are, or which of them are taken.

Such a comprehension is staged as the loop that it stands for, which appends to a list. All others run as Python runs
them.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

from onnxsmith.core.call_cache import CallCache
from onnxsmith.core.target import current_graph
from onnxsmith.core.user_values import UserValue
from onnxsmith.core.value_containers import Journal
from onnxsmith.errors import ConditionError, TracedValueError
from onnxsmith.scripting.analysis.facts import names_in
from onnxsmith.scripting.analysis.rewrite import at
from onnxsmith.scripting.source.function_source import FunctionNode
from onnxsmith.scripting.source.trees import walk
from onnxsmith.scripting.staging.closures import StagedClosure
from onnxsmith.scripting.staging.merged_tensors import active
from onnxsmith.scripting.staging.watch import Attempt

if TYPE_CHECKING:
    from onnxsmith.scripting.staging.frame import Frame

#: First line and column, last line and column.
Position: TypeAlias = tuple[int, int, int, int]
_Collecting: TypeAlias = ast.ListComp | ast.GeneratorExp

#: The list that the loop appends to; no name that anybody writes.
_COLLECTED = "__collected__"
#: How many comprehensions are kept.
_KEPT = 1_000
# By the ids of trees, which the entries keep alive.
_places = CallCache[tuple[FunctionNode, _Collecting]](_KEPT)
_loops = CallCache[tuple[_Collecting, ast.FunctionDef]](_KEPT)


def comprehended(
    frame: Frame,
    position: Position,
    first: Callable[[], UserValue],
    make: Callable[[UserValue], UserValue],
) -> UserValue:
    """The result of the comprehension at a position.

    `first` gives what its first `for` goes through, and `make` what Python makes of that.
    """
    node = _found(frame.analysis.node, position)
    attempt = Attempt(frame, names_in([node]))
    graph = current_graph()
    roll_back, draft = graph.checkpoint(), graph.draft()
    with Journal() as journal:
        try:
            with active(draft):
                result = make(first())
        except (TracedValueError, ConditionError):  # the two that say what only the model knows
            journal.forget()
            draft.discard()
            roll_back()
            attempt.take_back()
        else:
            journal.keep()
            draft.keep()
            return result
    return StagedClosure(frame, _loop_of(node, frame.analysis.name))()


def _found(function: FunctionNode, position: Position) -> _Collecting:
    """The comprehension of a function that stands at a position."""
    key = id(function), position
    kept = _places.get(key)
    if kept is not None and kept[0] is function:
        return kept[1]
    for node in walk(function):
        if isinstance(node, ast.ListComp | ast.GeneratorExp) and _position_of(node) == position:
            _places.put(key, (function, node), 1)
            return node
    raise AssertionError("a comprehension is asked for at the place where it stands")


def _position_of(node: ast.expr) -> Position:
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
