"""Arrays of numpy that a branch of the model chooses between: `v = w if n > 1 else u`, and then `v += 1`.

In Python the variable holds one of the arrays, so that a write to it changes what others see. In the model it is
another array. That is the same as long as nobody else holds one of the two; where somebody does, it is not written to.
"""

from __future__ import annotations

import ast
from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from onnxsmith.core.value import Array
from onnxsmith.core.value_containers import SHARED, Carrier
from onnxsmith.graphs.value import SymbolicTensor
from onnxsmith.scripting.staging.array_aliases import aliases_of, holder_among, looked_at
from onnxsmith.scripting.staging.array_tracking import arrays_of, sharing
from onnxsmith.scripting.staging.jumps import Side
from onnxsmith.scripting.staging.script_values import Held
from onnxsmith.scripting.staging.tracked_array import MIXED
from onnxsmith.source import Span

if TYPE_CHECKING:
    from onnxsmith.scripting.staging.jumps import Stager


class MergedArrays:
    """Decides for the arrays of one branch how their merged array is written to."""

    def __init__(
        self, stager: Stager, place: ast.AST | None, span: Span | None, sides: Sequence[Side]
    ) -> None:
        self._stager = stager
        self._sides = sides
        is_statement = isinstance(place, ast.stmt)
        self._statement = place if is_statement else _statement_at(stager, span)
        self._live = None if self._statement is None else stager.flow.live_wherever(self._statement)
        #: A conditional expression is a part of a statement, which then gives its targets other values.
        self._targets = frozenset[str]() if is_statement else _targets(self._statement)
        #: The variable that is being merged; none for a result.
        self.variable = ""

    def traits(self, then: Held, otherwise: Held) -> Hashable | None:
        """The traits of the merged array, which may be written to or not; None where it is a tensor, and no array."""
        arrays = [(k, each) for k, side in enumerate((then, otherwise)) for each in _whole(side)]
        if not arrays or (len(arrays) == 1 and not all(map(_may_be_array, (then, otherwise)))):
            return None
        is_shared = any(self._is_shared(k, each) for k, each in arrays)
        if len(arrays) == 2:
            is_contiguous = all(each.flags.c_contiguous for _, each in arrays)
            return is_contiguous, SHARED if is_shared else None
        return (False, MIXED) if is_shared or self._gets_aliases() else None

    def also_sharing(self, values: Sequence[Held]) -> list[Held]:
        """Values, and the arrays of all variables that share elements with one among them."""
        arrays = [each for value in values for each in _whole(value)]
        if not arrays:
            return list(values)
        variables = self._stager.frame.variables.values()
        return [*values, *(each for value in variables for each in sharing(value, arrays))]

    def _is_shared(self, k: int, array: Array) -> bool:
        """True if something else than the variable holds an array of a side after the branch."""
        side, frame = self._sides[k].variables, self._stager.frame
        own = [each for each in arrays_of(side.get(self.variable)) if np.may_share_memory(each, array)]
        held = [
            (name, value)
            for name, value in {**frame.variables, **side}.items()
            if name != self.variable
            and name not in self._targets
            and (self._live is None or name in self._live)
        ]
        return len(own) > 1 or holder_among(frame, held, [array]) is not None

    def _gets_aliases(self) -> bool:
        """True if something else may get the merged value later, and change it."""
        names = [self.variable] if self.variable else sorted(self._targets)
        if self._statement is None or not names:
            return True
        _, later = looked_at(self._stager, self._statement)
        return any(aliases_of(each, later) != {each} for each in names)


def _whole(value: Held) -> list[Array]:
    return list(arrays_of(value)) if isinstance(value, np.ndarray) else []


def _may_be_array(value: Held) -> bool:
    """True for an array, and for a tensor with dimensions."""
    if isinstance(value, np.ndarray):
        return True
    return isinstance(value, SymbolicTensor) and not isinstance(value, Carrier) and bool(value.type.rank)


def _statement_at(stager: Stager, span: Span | None) -> ast.stmt | None:
    """The innermost statement around a place."""
    found: ast.stmt | None = None
    if span is None:
        return None
    for each in stager.frame.analysis.facts.order.all():
        here = stager.frame.span(each)
        is_around = here.file == span.file and here.line <= span.line and span.end_line <= here.end_line
        if is_around and (found is None or each.lineno >= found.lineno):
            found = each
    return found


def _targets(statement: ast.stmt | None) -> frozenset[str]:
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    return frozenset(each.id for each in targets if isinstance(each, ast.Name))
