"""Functions that have one name in every model: those of this package, such as algorithms, whose names say what they do.

A model that is called keeps such names in the model that calls it, where a name stands for one definition in both.
Functions of other domains get names of their own there.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from onnxsmith.core.target import RecordingTarget
from onnxsmith.graphs.identity import ISOMORPHIC
from onnxsmith.graphs.ir_maker import function_to_ir
from onnxsmith.graphs.lazy_ir import ir
from onnxsmith.graphs.records import AnyFunction

#: What the domains of those functions begin with.
_OWN = "onnxsmith."
#: Under which what a program shares has them.
_SHARED = "named functions"


def named_functions(scope: RecordingTarget) -> dict[ir.OperatorIdentifier, AnyFunction]:
    """Those of the model that is being made, by identifier, its functions' included."""
    return scope.shared.setdefault(_SHARED, {})


def kept_names(
    scope: RecordingTarget, functions: Mapping[ir.OperatorIdentifier, ir.Function]
) -> Collection[ir.OperatorIdentifier]:
    """The functions of a called model that keep their names: none of another definition has it, nor what they call."""
    held = named_functions(scope)
    kept = {
        identifier
        for identifier, function in functions.items()
        if identifier[0].startswith(_OWN) and (identifier not in held or is_same(held[identifier], function))
    }
    while True:
        lost = {each for each in kept if not _called(functions[each], functions) <= kept}
        if not lost:
            return kept
        kept -= lost


def _called(
    function: ir.Function, functions: Collection[ir.OperatorIdentifier]
) -> set[ir.OperatorIdentifier]:
    return {each.op_identifier() for each in function.all_nodes()} & set(functions)


def is_same(one: AnyFunction, other: AnyFunction) -> bool:
    """True if two functions have the same nodes, whatever their values are called."""
    return one is other or (
        ISOMORPHIC.function(function_to_ir(one)) == ISOMORPHIC.function(function_to_ir(other))
    )
