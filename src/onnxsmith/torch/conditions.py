"""The sizes that a program of torch.export is for: where the module decides by a size, only one way was traced.

torch notes each such decision as a guard. Those that torch's own code makes are mostly about how it lays out memory,
or are raised by the module as well. Those that are made in other files are the module's, and it goes another way
where they do not hold.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import sympy  # pyright: ignore[reportMissingTypeStubs]
import torch
from torch.utils import _pytree as pytree
from torch.utils._sympy import functions as torch_functions

from onnxsmith.graphs.size_conditions import SizeCondition, spelled
from onnxsmith.source import PACKAGE_DIRECTORY
from onnxsmith.torch.library.kinds import Example, Fake
from onnxsmith.torch.origins import is_torch_file, span_of
from onnxsmith.torch.symbols import (
    Expression,
    Place,
    Range,
    ShapeEnvironment,
    Symbol,
    different,
    environment,
    equal,
    expression_of,
    hint_of,
    in_order,
    integer,
    is_of_inputs,
    is_symbol,
    ranges_of,
    truth_of,
)

#: Sizes at which a guard is tried; and those around each number that it mentions.
_SAMPLE = (1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 15, 16, 17, 31, 32, 33, 64, 100, 127, 128, 1000, 1024, 4096)
_MOST_TRIES = 5000
_INEQUALITIES = (sympy.Lt, sympy.Le, sympy.Gt, sympy.Ge)
_SQUEEZES = frozenset(
    {
        torch.ops.aten.squeeze.default,
        torch.ops.aten.squeeze.dim,
        torch.ops.aten.squeeze.dims,
        torch.ops.aten.squeeze_.dim,
    }
)
_SITE = f"site-packages{os.sep}"


@dataclass(frozen=True, slots=True)
class Narrowing:
    """Sizes that a program is for, though more were asked for."""

    #: The symbols of torch that it is about.
    symbols: tuple[Symbol, ...]
    #: As comparisons; empty where there are no words for it.
    texts: tuple[str, ...]
    #: For people: `4 or less`, for one symbol; else the comparison.
    range: str
    #: Where the module decides; empty where it is torch that does.
    places: tuple[str, ...]

    def conditions(self) -> list[SizeCondition]:
        """The conditions for the metadata: none that torch decides alone, which may be how to compute the same.

        `cdist`, say, multiplies matrices from 26 rows on.
        """
        if not self.places:
            return []
        because = f"the module decides by this size at {', '.join(self.places)}"
        return [SizeCondition(each, because) for each in self.texts]


def narrowings(
    program: torch.export.ExportedProgram, names: Mapping[str, str], asked: Mapping[str, Range]
) -> list[Narrowing]:
    """The sizes that a program's guards and ranges leave out of those that were asked for.

    `names` are the user's for torch's symbols; `asked` has the ranges, (least, most), by symbol.
    """
    shape_env = environment(program)
    if shape_env is None:
        return []
    ranges = {symbol: each for symbol, each in ranges_of(program).items() if is_of_inputs(symbol)}
    allowed = {each: _allowed(asked.get(each.name)) for each in ranges}
    same = _same_sizes(ranges, names)
    bounding: dict[Symbol, list[str]] = {}
    found: list[Narrowing] = []
    for guard in shape_env.guards:
        expression = _replaced(guard.expr, shape_env.replacements)
        # What is true of sizes with one name, which a call has to keep equal, is not told.
        if truth_of(expression.xreplace(same)) is True or not _is_told(expression, ranges.keys()):
            continue
        place = _place_in_module(guard.sloc)
        symbols = in_order(expression.free_symbols)
        if place is None:
            places = _places_of_fixed(expression, program)
            if places and _fails_somewhere(expression, allowed):
                sizes = _sizes_of_example(expression, shape_env)
                found += [_compared(each, names, places) for each in sizes]
            continue
        if isinstance(expression, _INEQUALITIES) and len(symbols) == 1:
            bounding.setdefault(symbols[0], []).append(place)
            ranges[symbols[0]] = _tightened(expression, *ranges[symbols[0]])
            if not _fails_somewhere(expression, ranges):
                continue
        elif not _fails_somewhere(expression, allowed):
            continue
        found.append(_compared(expression, names, (place,)))
    found += [
        _compared(expression, names, places)
        for expression, places in _squeezed(program.graph_module)
        if _fails_somewhere(expression, allowed)
    ]
    ranged = [
        each
        for symbol, (low, high) in ranges.items()
        if (each := _ranged(symbol, low, high, names, asked.get(symbol.name), bounding.get(symbol, [])))
        is not None
    ]
    return [*ranged, *_once(found)]


def _same_sizes(symbols: Iterable[Symbol], names: Mapping[str, str]) -> dict[Symbol, Symbol]:
    """Symbols by the first one that has the same name of the user's."""
    first: dict[str, Symbol] = {}
    return {each: first.setdefault(names[each.name], each) for each in symbols if each.name in names}


def _tightened(expression: Expression, low: int, high: int | None) -> Range:
    """A range with the end that a comparison of its symbol with a number gives it, where torch has left that open."""
    left, right = expression.args
    if right.is_Symbol and left.is_Integer:
        return _tightened(expression.reversed, low, high)
    if not (left.is_Symbol and right.is_Integer):
        return low, high
    if isinstance(expression, sympy.Gt | sympy.Ge):
        return max(low, int(right) + isinstance(expression, sympy.Gt)), high
    most = int(right) - isinstance(expression, sympy.Lt)
    return low, most if high is None else min(high, most)


def _allowed(asked: Range | None) -> Range:
    low, high = asked or (1, None)
    return max(low, 1), high


def _compared(expression: Expression, names: Mapping[str, str], places: tuple[str, ...]) -> Narrowing:
    text = comparison(expression, names)
    symbols = in_order(expression.free_symbols)
    return Narrowing(symbols, (text,) if text else (), text or str(expression), places)


def _squeezed(module: torch.fx.GraphModule) -> Iterator[tuple[Expression, tuple[str, ...]]]:
    """Calls of `squeeze` on open dimensions, which torch traces without a guard as if they were not 1."""
    for graph in [each.graph for each in module.modules() if isinstance(each, torch.fx.GraphModule)]:
        for node in graph.nodes:
            if node.op != "call_function" or node.target not in _SQUEEZES:
                continue
            shape: Sequence[int | torch.SymInt] = node.args[0].meta["val"].shape
            dims: int | Sequence[int] = node.args[1] if len(node.args) > 1 else range(len(shape))
            for dim in (dims,) if isinstance(dims, int) else dims:
                size = shape[dim] if len(shape) else 1
                expression = expression_of(size) if isinstance(size, torch.SymInt) else None
                if expression is None or not all(map(is_of_inputs, expression.free_symbols)):
                    continue
                span = span_of(node)
                yield (
                    different(expression, integer(1)),
                    () if span is None else (f"{span.file.rpartition(_SITE)[2]}:{span.line}",),
                )


def pinned(program: torch.export.ExportedProgram) -> bool:
    """True if a size that torch shows as open is one number all the same."""
    shape_env = environment(program)
    expressions = [] if shape_env is None else [each.expr for each in shape_env.guards]
    ranges = ranges_of(program)
    return any(
        isinstance(each, sympy.Eq)
        and any(side.is_Integer for side in each.args)
        and any(is_symbol(side) and side in ranges for side in each.args)
        for each in expressions
    )


def excludes(program: torch.export.ExportedProgram, example: Example) -> bool:
    """True if what the module decides by sizes goes another way for an example than for what was traced."""
    sizes: dict[str, int] = {}
    signature = program.graph_signature.user_inputs
    fakes: dict[str, Fake] = {
        node.name: node.meta.get("val") for node in program.graph.nodes if node.op == "placeholder"
    }
    for name, value in zip(signature, pytree.tree_leaves(example), strict=False):
        fake = fakes.get(str(name))
        if not isinstance(fake, torch.Tensor) or not isinstance(value, torch.Tensor):
            continue
        theirs: Sequence[int | torch.SymInt] = fake.shape
        for size, actual in zip(theirs, value.shape, strict=False):
            if isinstance(size, torch.SymInt) and is_symbol(expression := expression_of(size)):
                sizes[expression.name] = actual
    found = [text for each in narrowings(program, {}, {}) for text in each.texts]
    return any(SizeCondition(each).holds(sizes) is False for each in found)


def _ranged(
    symbol: Symbol,
    low: int,
    high: int | None,
    names: Mapping[str, str],
    asked: Range | None,
    places: Sequence[str],
) -> Narrowing | None:
    """The narrowing of one symbol's range; the module refuses a lower end that torch found alone, too."""
    least, most = asked or (0, None)
    lower = low if places and low > max(least, 1) else None
    upper = high if high is not None and (most is None or high < most) else None
    if lower is None and upper is None:
        return None
    name = spelled(names.get(symbol.name) or str(symbol))
    texts = [f"{name} >= {lower}"] if lower is not None else []
    texts += [f"{name} <= {upper}"] if upper is not None else []
    if upper is None:
        words = f"{lower} or more"
    elif max(low, 1) == upper:
        words = f"{upper}"
    else:
        words = f"{max(low, 1)} to {upper}"
    return Narrowing((symbol,), tuple(texts), words, tuple(dict.fromkeys(places)))


def _once(found: Iterable[Narrowing]) -> list[Narrowing]:
    """Equal conditions as one, with all their places."""
    merged: dict[str, Narrowing] = {}
    for each in found:
        before = merged.get(each.range)
        places = (*(before.places if before else ()), *each.places)
        merged[each.range] = Narrowing(each.symbols, each.texts, each.range, tuple(dict.fromkeys(places)))
    return list(merged.values())


# -- guards ----------------------------------------------------------------------------------------------


def _replaced(expression: Expression, replacements: Mapping[Symbol, Expression]) -> Expression:
    """The expression with the symbols that stayed."""
    for _ in range(10):
        found = expression.xreplace(replacements)
        if found == expression:
            break
        expression = found
    return expression


def _sizes_of_example(expression: Expression, shape_env: ShapeEnvironment) -> list[Expression]:
    """That the sizes in an expression are those of the example."""
    hints = {each: hint_of(shape_env, each) for each in in_order(expression.free_symbols)}
    return [equal(symbol, integer(hint)) for symbol, hint in hints.items() if hint is not None]


def _places_of_fixed(expression: Expression, program: torch.export.ExportedProgram) -> tuple[str, ...]:
    """The lines of calls where torch has put a number in the place of one that is computed from sizes.

    It does where an operator takes a Python float, such as the scale of an attention: the program has the number
    that the example gives, and a guard that they are equal.
    """
    if not isinstance(expression, sympy.Eq):
        return ()
    numbers = {float(each) for each in expression.args if each.is_Float}
    spans = [
        span_of(node)
        for node in program.graph.nodes
        if any(isinstance(each, float) and each in numbers for each in (*node.args, *node.kwargs.values()))
    ]
    lines = [f"{each.file.rpartition(_SITE)[2]}:{each.line}" for each in spans if each is not None]
    return tuple(dict.fromkeys(lines))


def _is_told(expression: Expression, known: Iterable[Symbol]) -> bool:
    symbols = expression.free_symbols
    return bool(symbols) and symbols <= set(known)


def _place_in_module(sloc: Place) -> str | None:
    """Where a guard was made: None if that was torch's own doing."""
    frame = sloc.framework_loc
    if frame is None or frame.filename.startswith(PACKAGE_DIRECTORY):
        return None
    file = frame.filename
    if not is_torch_file(file):
        return f"{file.rpartition(_SITE)[2]}:{frame.lineno}"
    if frame.name == "_call_impl":
        return "<string>"  # torch passes over code without a file, and shows who called it
    if os.path.join("_dynamo", "variables") in file and sloc.maybe_user_loc:
        # torch.export(strict=True) runs the module's code itself
        return sloc.maybe_user_loc.rpartition("# ")[2].partition(" in ")[0]
    return None


def _fails_somewhere(expression: Expression, ranges: Mapping[Symbol, Range]) -> bool:
    """True if a guard does not hold for some sizes in their ranges."""
    symbols = in_order(expression.free_symbols)
    numbers = {int(each) + step for each in expression.atoms(sympy.Integer) for step in (-1, 0, 1)}
    tried: list[list[int]] = []
    for symbol in symbols:
        low, high = ranges.get(symbol, (1, None))
        tried.append(
            [n for n in sorted({*_SAMPLE, *numbers}) if max(low, 1) <= n and (high is None or n <= high)]
        )
    for sizes in itertools.islice(itertools.product(*tried), _MOST_TRIES):
        value = expression.xreplace(dict(zip(symbols, map(integer, sizes), strict=True)))
        if truth_of(value) is False:
            return True
    return False


# -- text ------------------------------------------------------------------------------------------------

_SIGNS = (
    (sympy.Eq, "=="), (sympy.Ne, "!="), (sympy.Le, "<="), (sympy.Lt, "<"), (sympy.Ge, ">="), (sympy.Gt, ">"),
)  # fmt: skip
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


def comparison(expression: Expression, names: Mapping[str, str]) -> str | None:
    """A guard as a comparison of Python's; None where there are no words for it."""
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
