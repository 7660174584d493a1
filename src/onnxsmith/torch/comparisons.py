"""Guards of torch.export as comparisons that a model's metadata can hold, with the user's names."""

from __future__ import annotations

from collections.abc import Mapping

import sympy  # pyright: ignore[reportMissingTypeStubs]
from torch.utils._sympy import functions as torch_functions

from onnxsmith.graphs.size_conditions import spelled
from onnxsmith.torch.guards import truth_at
from onnxsmith.torch.symbols import Expression, Symbol, in_order, is_symbol

_SIGNS = (
    (sympy.Eq, "=="), (sympy.Ne, "!="), (sympy.Le, "<="), (sympy.Lt, "<"), (sympy.Ge, ">="), (sympy.Gt, ">"),
)  # fmt: skip
_WORDS = ((sympy.And, "and"), (sympy.Or, "or"))
_FUNCTIONS: tuple[tuple[tuple[type, ...], str], ...] = (
    ((sympy.Max, torch_functions.Max), "max"),
    ((sympy.Min, torch_functions.Min), "min"),
)
_OPERATORS: tuple[tuple[tuple[type, ...], str], ...] = (
    ((sympy.Add,), "+"),
    ((sympy.Mul,), "*"),
    ((torch_functions.FloorDiv,), "//"),
    ((torch_functions.Mod, torch_functions.PythonMod, sympy.Mod), "%"),
)
#: How far sizes are looked at where a guard has no words of its own.
_FURTHEST = 1024


def comparisons(
    expression: Expression, names: Mapping[str, str], example: Mapping[Symbol, int]
) -> tuple[str, ...]:
    """A guard as comparisons of Python's, all of which hold where it does.

    What is no comparison of a size with a number is the range of sizes for which it holds, if it is one. What has no
    words, such as a rounded quotient, is that range around the example's size, or the example's sizes alone. So there
    are none only if torch does not know the example.
    """
    text = comparison(expression, names)
    symbols = in_order(expression.free_symbols)
    is_plain = text is not None and all(each.is_Integer or is_symbol(each) for each in expression.args)
    if len(symbols) == 1 and symbols[0] in example and not is_plain:
        (symbol,) = symbols
        ends = _around(expression, symbol, example[symbol])
        if ends is not None and (text is None or _is_whole(expression, symbol, ends)):
            return _between(spelled(names.get(symbol.name, symbol.name)), *ends)
    if text is not None:
        return (text,)
    if not all(each in example for each in symbols):
        return ()
    return tuple(f"{spelled(names.get(each.name, each.name))} == {example[each]}" for each in symbols)


def _between(name: str, low: int, high: int) -> tuple[str, ...]:
    if low == high:
        return (f"{name} == {low}",)
    return tuple([f"{name} >= {low}"] * (low > 0) + [f"{name} <= {high}"] * (high < _FURTHEST))


def _is_whole(expression: Expression, symbol: Symbol, ends: tuple[int, int]) -> bool:
    """True if an expression holds for no size outside a range."""
    outside = [*range(max(0, ends[0] - 64), ends[0]), *range(ends[1] + 1, min(ends[1] + 65, _FURTHEST))]
    return not any(truth_at(expression, {symbol: each}) for each in outside)


def _around(expression: Expression, symbol: Symbol, size: int) -> tuple[int, int] | None:
    """The ends of the range of sizes around one for which an expression holds."""

    def holds(n: int) -> bool:
        return truth_at(expression, {symbol: n}) is True

    if not holds(size):
        return None
    low = high = size
    while low > 0 and holds(low - 1):
        low -= 1
    while high < _FURTHEST and holds(high + 1):
        high += 1
    return low, high


def comparison(expression: Expression, names: Mapping[str, str]) -> str | None:
    """A guard as one comparison of Python's, or several with `and` or `or`; None where there are no words for it."""
    for kind, word in _WORDS:
        if isinstance(expression, kind):
            parts = [comparison(each, names) for each in expression.args]
            # Python's `and` binds tighter than `or`.
            told = [f"({each})" if each and " or " in each else each for each in parts]
            return None if None in told else f" {word} ".join(map(str, told))
    for kind, sign in _SIGNS:
        if isinstance(expression, kind):
            left, right = (_arithmetic(each, names) for each in expression.args)
            return f"{left} {sign} {right}" if left and right else None
    return None


def _arithmetic(expression: Expression, names: Mapping[str, str]) -> str | None:
    if expression.is_Integer:
        return str(expression)
    if is_symbol(expression):
        return spelled(names.get(expression.name, expression.name))
    parts = [_arithmetic(each, names) for each in expression.args]
    if not parts or any(each is None for each in parts):
        return None
    for kinds, function in _FUNCTIONS:
        if isinstance(expression, kinds):
            return f"{function}({', '.join(map(str, parts))})"
    factors = [
        str(each) if str(each).isidentifier() or str(each).isdigit() else f"({each})" for each in parts
    ]
    for kinds, sign in _OPERATORS:
        if isinstance(expression, kinds):
            return f" {sign} ".join(factors)
    if isinstance(expression, sympy.Pow | torch_functions.PowByNatural) and parts[1] in ("2", "3", "4", "5"):
        return " * ".join([factors[0]] * int(str(parts[1])))
    return None
