"""Python's own syntax on a tensor whose value is not known: truth, choice, calls.

On Python values every hook does what Python does. None knows an operator's name that `core` does not.
"""

from __future__ import annotations

import builtins
import functools
import operator
from collections.abc import Callable, Container, Iterable
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np

from onnxsmith.core.operands import operators_for
from onnxsmith.core.semantics.index_items import Index
from onnxsmith.core.semantics.number import Number, kind_of, number
from onnxsmith.core.shown_text import SHOWING, showing, shown_percent, shown_text
from onnxsmith.core.target import current_graph
from onnxsmith.core.tensor import Tensor
from onnxsmith.core.user_values import UserValue
from onnxsmith.core.value import Array, TensorValue, Value
from onnxsmith.core.value_containers import Carrier, Journal
from onnxsmith.diagnostics import shown_as
from onnxsmith.errors import DTypeNotAllowedError, UnknownMethodError, UnsupportedSyntaxError
from onnxsmith.scripting.analysis.facts import NO_NAMES, Names
from onnxsmith.scripting.staging.assignment import CHANGED_IN_PLACE
from onnxsmith.scripting.staging.attribute_values import AttributeText, refuse_unknown
from onnxsmith.scripting.staging.branches import dynamic_if
from onnxsmith.scripting.staging.builtin_calls import replacement
from onnxsmith.scripting.staging.closures import has_symbolic, in_place
from onnxsmith.scripting.staging.comprehensions import Position, comprehended
from onnxsmith.scripting.staging.introspection import (
    class_of,
    is_one_object,
    refuse_identity_of_numbers,
    refuse_patterns,
)
from onnxsmith.scripting.staging.jumps import Side
from onnxsmith.scripting.staging.merge import MISSING, AssignedWhere, Differing, Unassigned
from onnxsmith.scripting.staging.merged_tensors import CHOICE, active
from onnxsmith.scripting.staging.perhaps import Perhaps
from onnxsmith.scripting.staging.script_values import Function, Held, T
from onnxsmith.scripting.staging.truth import Negation, asked, choosing, is_symbolic, settled, truth
from onnxsmith.scripting.staging.watch import names_of, refuse_change, values_of, watched
from onnxsmith.source import caller_span
from onnxsmith.types.value_types import OptionalType

if TYPE_CHECKING:
    from onnxsmith.scripting.staging.frame import Frame
    from onnxsmith.scripting.staging.jumps import Stager

Slice: TypeAlias = "slice[Any, Any, Any]"
#: An operand that is evaluated only where it is needed.
Thunk: TypeAlias = Callable[[], UserValue]

_COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "Eq": operator.eq,
    "NotEq": operator.ne,
    "Lt": operator.lt,
    "LtE": operator.le,
    "Gt": operator.gt,
    "GtE": operator.ge,
}


class Hooks:
    """The hooks of one frame."""

    def __init__(self, frame: Frame, stager: Stager) -> None:
        self._frame = frame
        self._stager = stager

    # -- truth -----------------------------------------------------------------------------------------

    def all_true(self, bound: tuple[str, ...], first: UserValue, *others: Thunk) -> UserValue:
        """`a and b` where only its truth matters."""
        return self._truth_of(bound, first, others, stops_at=False)

    def any_true(self, bound: tuple[str, ...], first: UserValue, *others: Thunk) -> UserValue:
        """`a or b` where only its truth matters."""
        return self._truth_of(bound, first, others, stops_at=True)

    def _truth_of(
        self, bound: tuple[str, ...], first: UserValue, others: tuple[Thunk, ...], *, stops_at: bool
    ) -> UserValue:
        """The result of `and` or `or`: known operands decide as in Python; later ones run only where needed."""
        value = settled(asked(first))
        for position, operand in enumerate(others):
            if is_symbolic(value):
                return self._open_truth(bound, value, others[position:], stops_at)
            if bool(value) is stops_at:
                return value
            value = settled(asked(operand()))
        return value if not is_symbolic(value) else self._one_truth(value, stops_at)

    def _open_truth(
        self, bound: tuple[str, ...], first: Value, others: tuple[Thunk, ...], stops_at: bool
    ) -> UserValue:
        collected, has_tensor = self._one_truth(first, stops_at), not isinstance(first, Number)
        for operand in others:

            def look(operand: Thunk = operand) -> bool | Number:
                nonlocal has_tensor
                value = settled(asked(operand()))
                if not is_symbolic(value):
                    return bool(value)
                has_tensor = has_tensor or not isinstance(value, Number)
                return number(self._one_truth(value, stops_at))

            def stop() -> bool:
                return stops_at

            sides = (stop, look) if stops_at else (look, stop)
            chosen = self.choose(bound, collected, *sides)
            if not is_symbolic(chosen):
                return chosen
            collected = chosen.tensor if isinstance(chosen, Number) else cast(TensorValue, chosen)
        return collected if has_tensor else number(collected)

    def _one_truth(self, value: Value, stops_at: bool) -> TensorValue:
        word, symbol = ("or", "|") if stops_at else ("and", "&")
        return truth(value, f"an operand of '{word}'", f"; for each element: (…) {symbol} (…)")

    def both(self, bound: tuple[str, ...], first: UserValue, *others: Thunk) -> UserValue:
        """`a and b` as a value: one of its operands."""
        return self._operand_of(bound, first, others, stops_at=False)

    def either(self, bound: tuple[str, ...], first: UserValue, *others: Thunk) -> UserValue:
        """`a or b` as a value: one of its operands."""
        return self._operand_of(bound, first, others, stops_at=True)

    def _operand_of(
        self, bound: tuple[str, ...], first: UserValue, others: tuple[Thunk, ...], *, stops_at: bool
    ) -> UserValue:
        if not others:
            return first
        decides = settled(asked(first))
        if not is_symbolic(decides):
            if bool(decides) is stops_at:
                return first
            return self._operand_of(bound, others[0](), others[1:], stops_at=stops_at)

        def rest() -> UserValue:
            return self._operand_of(bound, others[0](), others[1:], stops_at=stops_at)

        def keep() -> UserValue:
            return first

        test = self._one_truth(decides, stops_at)
        return self.choose(bound, test, keep, rest) if stops_at else self.choose(bound, test, rest, keep)

    def negated(self, value: UserValue) -> bool | Number:
        """`not a`"""
        value = settled(asked(value))
        if not is_symbolic(value):
            return not value
        if isinstance(value, Negation):
            return Number(value.opposite, "bool")
        scalar = truth(value, "the operand of 'not'", "; for each element: ~(…)")
        result = number(operators_for(scalar).Not(scalar))
        self._frame.implications.note_opposite(result, scalar)
        return result

    def condition(self, value: T) -> T | TensorValue | bool:
        """The condition of a conditional expression, as one truth value."""
        decides = settled(asked(value))
        if not is_symbolic(decides):
            return decides
        return truth(decides, elementwise=choosing(self._frame.run.dialect.stages_all))

    def choose(self, bound: tuple[str, ...], test: UserValue, then: Thunk, otherwise: Thunk) -> UserValue:
        """`then if test else otherwise`; `bound` are the variables that a walrus in them may assign."""
        test = settled(asked(test))
        if not is_symbolic(test):
            return then() if test else otherwise()
        frame = self._frame
        missing = Unassigned(caller_span(), "it is assigned only in one of the two")
        bound = tuple(name for name in bound if name not in frame.analysis.flow.shared)

        before, condition = frame.variables, truth(test)
        # Of the variables that had no value before, those that each side has given one.
        assigned: dict[bool, set[str]] = {True: set(), False: set()}

        def side(thunk: Thunk, is_true: bool) -> Callable[[], Side]:
            def run() -> Side:
                at_first = {name: frame.variables.get(name, missing) for name in bound}
                value = thunk()
                variables: dict[str, Held] = {}
                for name in bound:
                    found = frame.variables.get(name, missing)
                    had_value = not isinstance(before.get(name, missing), Unassigned)
                    if found is at_first[name]:
                        variables[name] = before[name] if had_value else MISSING
                        continue
                    variables[name] = found
                    if not had_value:
                        assigned[is_true].add(name)
                return Side(value, variables)

            return run

        names = names_of(then, otherwise)
        sides = side(then, True), side(otherwise, False)
        chosen = dynamic_if(self._stager, condition, *sides, names, name=CHOICE)
        for name, value in chosen.variables.items():
            there = [is_true for is_true, names in assigned.items() if name in names]
            if len(there) == 1 and not isinstance(value, Unassigned | Differing):
                flag = Number(condition, "bool") if there[0] else Negation(condition)
                frame.variables[name] = AssignedWhere(missing.span, missing.reason, Perhaps(flag, value))
            elif value is not MISSING:
                frame.variables[name] = value
        return cast(UserValue, chosen.value)

    # -- comparisons -----------------------------------------------------------------------------------

    def chained(self, names: tuple[str, ...], left: UserValue, *operands: Thunk) -> UserValue:
        """`a < b < c`"""
        after = operands[0]()
        value = self._compare(names[0], left, after)
        if len(operands) == 1:
            return value
        rest = functools.partial(self.chained, names[1:], after, *operands[1:])
        if isinstance(value, Carrier):
            return self._operand_of((), value, (rest,), stops_at=False)
        if self._frame.run.dialect.stages_all:
            # What follows may be an array, which the whole is then.
            test = settled(value)
            return self.choose((), test, rest, lambda: False) if is_symbolic(test) else test and rest()
        return self._truth_of((), value, (rest,), stops_at=False)

    def _compare(self, name: str, a: UserValue, b: UserValue) -> UserValue:
        special = {"In": self.contains, "NotIn": self.lacks, "Is": self.same, "IsNot": self.different}
        return (special.get(name) or _COMPARISONS[name])(a, b)

    def same(self, a: UserValue, b: UserValue) -> bool | Number:
        """`a is b`; an optional input that only the model knows may be None."""
        for value, other in ((a, b), (b, a)):
            if other is None and is_symbolic(value) and isinstance(value.known.type, OptionalType):
                op = operators_for(value)
                is_there = op.OptionalHasElement(value)
                is_none = op.Not(is_there)
                self._frame.implications.note_optional(is_there, is_none, value)
                return number(is_none)
            if isinstance(value, Number) and a is not b and isinstance(other, int | float | Number):
                if value.kind == "bool" and isinstance(other, bool):
                    return value if other else self.negated(value)
                refuse_identity_of_numbers()
        return is_one_object(a, b)

    def different(self, a: UserValue, b: UserValue) -> bool | Number:
        """`a is not b`"""
        return self.negated(self.same(a, b))

    def is_none(self, name: str) -> bool | Number:
        """`name is None`, for a variable"""
        perhaps = self._frame.perhaps(name)
        return self.same(self._frame.read(name), None) if perhaps is None else perhaps.is_none

    def is_not_none(self, name: str) -> Held:
        """`name is not None`, for a variable"""
        perhaps = self._frame.perhaps(name)
        return self.different(self._frame.read(name), None) if perhaps is None else perhaps.is_there

    def contains(self, item: UserValue, container: UserValue) -> UserValue:
        """`item in container`"""
        _speaks_for_callee = True  # what Python says of a value that holds none is said to the code
        if isinstance(item, AttributeText) and isinstance(container, str):
            refuse_unknown(item)
        if is_symbolic(container) and isinstance(container, Tensor):
            return number(cast(Tensor, container == item).any())
        if isinstance(container, Carrier) and (container.is_symbolic or has_symbolic([item], 0)):
            matches: Any = container.compared(item)
            return number(truth(cast(Value, asked(matches.any()))))
        if isinstance(container, tuple | list | range | set | frozenset | dict):
            options = list(cast("Iterable[UserValue]", container))
            if has_symbolic((item, *options), 0):
                if isinstance(container, set | frozenset):
                    with showing():  # the order of a set is not the same in every run
                        options.sort(key=repr)
                equal = [functools.partial(_is_or_equals, item, each) for each in options]
                found = self._truth_of((), False, tuple(equal), stops_at=True)
                return number(truth(found)) if is_symbolic(found) else found
        return item in cast("Container[UserValue]", container)

    def lacks(self, item: UserValue, container: UserValue) -> bool | Number:
        """`item not in container`"""
        return self.negated(self.contains(item, container))

    # -- variables -------------------------------------------------------------------------------------

    def named(self, name: str, value: T) -> T:
        """The value that is assigned to a variable of a block: a new value of the graph takes its name."""
        if isinstance(value, Value) and value.is_symbolic:
            current_graph().suggest_name(value, name)
        return value

    def augmented(self, value: UserValue) -> None:
        """`x += y` in a block, before it happens: what Python changes in place may have to stay as it is."""
        if isinstance(value, CHANGED_IN_PLACE):
            refuse_change(value)

    def bind(self, name: str, value: UserValue) -> UserValue:
        """`name := value`"""
        self._stager.assign_name(name, value)
        return value

    def load(self, name: str) -> UserValue:
        """A variable, when it is needed: in a lambda, or in an operand that may be skipped."""
        return self._frame.read(name)

    # -- generators ------------------------------------------------------------------------------------

    def known_test(self, value: T) -> T:
        """The condition in a generator, which Python runs."""
        if is_symbolic(asked(value)):
            raise UnsupportedSyntaxError(
                "only the model knows whether this is true, and a generator yields when the model is made",
                help="choose what it yields: yield op.Where(condition, a, b); or write the loop without a generator",
            ).locate_at_caller()
        return value

    def assumed(self, value: T) -> T | bool:
        """The condition that a generator asserts; a model does not check it."""
        return True if is_symbolic(value) else value

    def comprehended(
        self, position: Position, first: Thunk, make: Callable[[UserValue], UserValue]
    ) -> UserValue:
        """`[… for … in first]`, or a generator: `make` of what `first` gives, or a loop that the model performs."""
        return comprehended(self._frame, position, first, make)

    # -- text ------------------------------------------------------------------------------------------

    def formatted(self, value: T) -> T:
        """A value in an f-string, which is refused where it stands: Python itself knows the whole f-string alone."""
        if isinstance(value, Value | Carrier) and value.is_symbolic:
            shown_text("")
        return value

    def percent(self, text: str, values: UserValue) -> str:
        """`text % values`; for people, `%d` shows a number that only the model knows as `%s` does."""
        given = cast("tuple[UserValue, ...]", values if isinstance(values, tuple) else (values,))
        if any(isinstance(each, Value | Carrier) and each.is_symbolic for each in given):
            shown_text("")
        return shown_percent(text, values)

    def printed(self, bound: tuple[str, ...], function: Function, call: Thunk) -> UserValue:
        """A call of `print`: the eager run prints. What is computed for it only is not part of the model."""
        if function is not builtins.print or SHOWING.get():
            return call()
        graph = current_graph()
        scope, is_kept = graph if bound else graph.draft(), bool(bound)
        try:
            with active(scope), Journal() as journal, showing():
                call()
                is_kept = scope is graph or journal.has_written
                if is_kept:
                    journal.keep()
            if is_kept and scope is not graph:
                scope.keep()
        finally:
            if not is_kept:
                scope.discard()
        return None

    # -- calls and indices -----------------------------------------------------------------------------

    def callee(self, function: Function) -> Function:
        """The function that is called when the user's code calls `function`."""
        run, usual = self._frame.run, replacement(function, self)
        found = run.dialect.callee(function, usual, run) or usual
        return watched(function, in_place(function, run) if found is None else found)

    def container(self, value: T) -> T | _Indexed:
        """The object that is indexed in the place of `value`: an array takes symbolic indices as a tensor does."""
        found = self._frame.run.dialect.container(value)
        if found is not None:
            return found
        return _Indexed(cast(Array, value)) if value.__class__ is np.ndarray else value

    def class_of(self, value: UserValue) -> type:
        """`value.__class__`"""
        return class_of(value)

    def global_names(self) -> dict[str, Any]:
        """`globals()`: those of the user's code, whichever function of ours calls it."""
        return self._frame.globals

    def matched(self, asks_for_class: bool, value: T) -> T:
        """The subject of a `match`: Python decides it now."""
        refuse_patterns(cast(Held, value), asks_for_class=asks_for_class)
        return value

    def typed(self, value: T) -> T:
        """A value whose `dtype` the user's code reads: a function that is made for any types does not know it."""
        kind = kind_of(value)
        if kind is not None:
            raise UnknownMethodError(f"a Python {kind} has no attribute 'dtype'").locate_at_caller()
        if is_symbolic(value) and isinstance(value, Tensor) and value.dtype is None:
            raise DTypeNotAllowedError(
                "the element type is not known here", help="annotate the parameter", needs_values=True
            ).locate_at_caller()
        return value

    def reached(self) -> tuple[Names, dict[str, Any]]:
        """The variables that a lambda of the user's can read through these hooks: any of them."""
        return NO_NAMES, values_of(self._frame, (*self._frame.variables, *self._frame.cells))


def _is_or_equals(item: UserValue, other: UserValue) -> UserValue:
    """The test of `in` on each element."""
    return True if item is other else item == other


@shown_as("ndarray")
class _Indexed:
    """An array from outside the model, between the brackets of an index."""

    __slots__ = ("_array",)

    def __init__(self, array: Array) -> None:
        self._array = array

    def __getitem__(self, index: Index) -> Tensor | Array | np.generic[Any]:
        items = index if isinstance(index, tuple) else (index,)
        if any(
            is_symbolic(each) or (isinstance(each, slice) and _is_open(cast("Slice", each))) for each in items
        ):
            return current_graph().constant(self._array)[index]
        return self._array[cast(Any, index)]  # numpy's own type for this does not nest


def _is_open(each: Slice) -> bool:
    return any(is_symbolic(bound) for bound in (each.start, each.stop, each.step))
