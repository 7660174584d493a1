"""The sizes that a program of torch.export is for: where the module decides by a size, only one way was traced.

torch notes each such decision as a guard. The module decides by those that are made in other files than torch's, and
goes another way where they do not hold. Those that torch's own code makes are about how it lays out memory or computes
the same, are raised by the module as well, or fix what the graph has: `trying` finds out which.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import sympy  # pyright: ignore[reportMissingTypeStubs]
import torch
from torch.utils import _pytree as pytree

from onnxsmith.graphs.size_conditions import SizeCondition, spelled
from onnxsmith.torch.comparisons import comparisons
from onnxsmith.torch.guards import (
    failing_sizes,
    fails_somewhere,
    line_called,
    lines_of,
    place_in_module,
    raises_elsewhere,
    replaced,
    truth_at,
)
from onnxsmith.torch.library.kinds import Example, Fake, sizes_in
from onnxsmith.torch.refused_sizes import refused_sizes
from onnxsmith.torch.symbols import (
    Expression,
    Guard,
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
    within,
)

_INEQUALITIES = (sympy.Lt, sympy.Le, sympy.Gt, sympy.Ge)
#: Sizes of 0 and 1 are special to much of torch's code.
_LEAST_OF_TORCH = 2
#: A guard of the module's is tried where it leaves out no more sizes than these.
MOST_TRIED = 3
_SQUEEZES = frozenset(
    {
        torch.ops.aten.squeeze.default,
        torch.ops.aten.squeeze.dim,
        torch.ops.aten.squeeze.dims,
        torch.ops.aten.squeeze_.dim,
    }
)


@dataclass(frozen=True, slots=True)
class Narrowing:
    """Sizes that a program is for, though more were asked for."""

    #: The symbols of torch that it is about.
    symbols: tuple[Symbol, ...]
    #: As comparisons, all of which have to hold.
    texts: tuple[str, ...]
    #: For people: `4 or less`, for one symbol; else the comparison.
    range: str
    #: The lines of the module that it comes from, as far as torch knows them.
    places: tuple[str, ...]
    #: The same as one expression.
    expression: Expression
    #: True if torch's own code decides, which may be how to compute the same: `cdist`, say, multiplies matrices from
    #: 26 rows on.
    is_torch: bool = False
    #: True if it is about a dimension that `squeeze` may leave out: the rank may be read, which leaves no trace.
    is_squeezed: bool = False
    #: True if torch raises an error in other sizes. The model refuses them as well, and nothing is lost.
    is_raised: bool = False

    @property
    def is_exact(self) -> bool:
        """True if it says that something has one value, which the graph then holds; not how large it is."""
        return isinstance(self.expression, sympy.Eq)

    def failing(self, allowed: Mapping[Symbol, Range]) -> Iterator[dict[Symbol, int]]:
        """Sizes that were asked for and are left out."""
        return failing_sizes(self.expression, allowed)

    def is_tried(self, allowed: Mapping[Symbol, Range]) -> bool:
        """True if so few sizes are left out that all of them are tried, and taken where the model is right."""
        return len(list(itertools.islice(self.failing(allowed), MOST_TRIED + 1))) <= MOST_TRIED

    def conditions(self) -> list[SizeCondition]:
        """The conditions for the metadata."""
        at = f" at {', '.join(self.places)}" if self.places else ""
        if self.is_raised:
            because = f"torch raises an error in other sizes{at}"
        else:
            owner = "torch" if self.is_torch or not at else "the module"
            because = f"{owner} decides by this size{at}"
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
    allowed = allowed_sizes(program, asked)
    same = _same_sizes(ranges, names)
    bounding: dict[Symbol, list[str]] = {}
    asking: dict[Symbol, list[str]] = {}
    own: dict[Symbol, Range] = {}
    found: list[Narrowing] = []

    def told(
        expression: Expression, places: tuple[str, ...], is_torch: bool = False, is_raised: bool = False
    ) -> Narrowing:
        symbols = in_order(expression.free_symbols)
        hints = {each: hint for each in symbols if (hint := hint_of(shape_env, each)) is not None}
        texts = comparisons(expression, names, hints)
        text = " and ".join(texts) or str(expression)
        return Narrowing(symbols, texts, text, places, expression, is_torch, is_raised=is_raised)

    for guard, expression in _guards(shape_env):
        # What is true of sizes with one name, which a call has to keep equal, is not told.
        if truth_of(expression.xreplace(same)) is True or not _is_told(expression, ranges.keys()):
            continue
        place = place_in_module(guard.sloc)
        symbols = in_order(expression.free_symbols)
        if place is None:
            places = _places_of_fixed(expression, program)
            line = line_called(guard.sloc)
            if places and fails_somewhere(expression, allowed):
                found += [told(each, places) for each in _sizes_of_example(expression, shape_env)]
            elif isinstance(expression, _INEQUALITIES) and _is_bound(expression):
                asking.setdefault(symbols[0], []).extend([] if line is None else [line])
                ranges[symbols[0]] = _tightened(expression, *ranges[symbols[0]])
            elif fails_somewhere(expression, allowed):
                is_raised = raises_elsewhere(guard.sloc)
                found.append(
                    told(expression, () if line is None else (line,), is_torch=True, is_raised=is_raised)
                )
            continue
        if isinstance(expression, _INEQUALITIES) and len(symbols) == 1:
            bounding.setdefault(symbols[0], []).append(place)
            own[symbols[0]] = _tightened(expression, *own.get(symbols[0], (0, None)))
            ranges[symbols[0]] = _tightened(expression, *ranges[symbols[0]])
            if not fails_somewhere(expression, ranges):
                continue
        elif not fails_somewhere(expression, allowed):
            continue
        found.append(told(expression, (place,)))
    found += [
        replace(told(expression, places, is_torch=is_harmless), is_squeezed=True)
        for expression, places, is_harmless in _squeezed(program.graph_module)
        if fails_somewhere(expression, allowed)
    ]
    from_nothing = dict.fromkeys(allowed, (0, None))
    found += [
        told(expression, places, is_torch=True, is_raised=True)
        for expression, places in refused_sizes(program.graph)
        if fails_somewhere(expression, from_nothing)
    ]
    ranged: list[Narrowing | None] = []
    for symbol, (low, high) in ranges.items():
        # torch takes a size for 2 or more unasked; an end that the module gives is another matter.
        is_apart = symbol in own and low == _LEAST_OF_TORCH and own[symbol][0] < low
        if is_apart:
            ranged.append(_ranged(symbol, low, None, names, asked.get(symbol.name), {}, asking))
            low = own[symbol][0]
        ranged.append(_ranged(symbol, low, high, names, asked.get(symbol.name), bounding, asking))
    return [*(each for each in ranged if each is not None), *_once(found)]


def allowed_sizes(program: torch.export.ExportedProgram, asked: Mapping[str, Range]) -> dict[Symbol, Range]:
    """The sizes that were asked for, by symbol, from 1 on."""
    symbols = [each for each in ranges_of(program) if is_of_inputs(each)]
    wanted = {each: asked.get(each.name, (0, None)) for each in symbols}
    return {each: (max(low, 1), high) for each, (low, high) in wanted.items()}


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


def _squeezed(module: torch.fx.GraphModule) -> Iterator[tuple[Expression, tuple[str, ...], bool]]:
    """Calls of `squeeze` on open dimensions, which torch traces without a guard as if they were not 1.

    With each comes whether the rank of the result makes no difference to what is computed from it.
    """
    for graph in [each.graph for each in module.modules() if isinstance(each, torch.fx.GraphModule)]:
        for node in graph.nodes:
            if node.op != "call_function" or node.target not in _SQUEEZES:
                continue
            shape: Sequence[int | torch.SymInt] = node.args[0].meta["val"].shape
            dims: int | Sequence[int] = node.args[1] if len(node.args) > 1 else range(len(shape))
            # Only without dimensions the model's operator looks at the size, too.
            is_harmless = len(node.args) == 1 and _goes_through_elements(node)
            for dim in (dims,) if isinstance(dims, int) else dims:
                size = shape[dim] if len(shape) else 1
                expression = expression_of(size) if isinstance(size, torch.SymInt) else None
                if expression is None or not all(map(is_of_inputs, expression.free_symbols)):
                    continue
                yield different(expression, integer(1)), lines_of(node), is_harmless


def _goes_through_elements(node: torch.fx.Node) -> bool:
    """True if what is computed from a result is computed element by element, whatever its rank."""
    users, seen = list(node.users), {node}
    while users:
        user = users.pop()
        if user in seen or user.op == "output":
            continue
        if torch.Tag.pointwise not in getattr(user.target, "tags", ()):
            return False
        seen.add(user)
        users += user.users
    return True


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


def decided_dimensions(program: torch.export.ExportedProgram) -> set[tuple[int, int]]:
    """The dimensions by whose size the module decides, by position among the flat inputs and axis."""
    found = [each for each in narrowings(program, {}, {}) if not each.is_torch]
    symbols = {symbol for each in found for symbol in each.expression.free_symbols}
    return {
        (position, axis)
        for position, fake in enumerate(_fakes(program))
        for axis, size in enumerate(sizes_in(fake) if isinstance(fake, torch.Tensor) else ())
        if isinstance(size, torch.SymInt) and symbols & expression_of(size).free_symbols
    }


def _fakes(program: torch.export.ExportedProgram) -> list[Fake]:
    """The fake tensors of the flat inputs of a program."""
    found = {node.name: node.meta.get("val") for node in program.graph.nodes if node.op == "placeholder"}
    return [found.get(str(name)) for name in program.graph_signature.user_inputs]


def excludes(
    program: torch.export.ExportedProgram,
    example: Example,
    *,
    but_for_tried: bool = False,
    with_torch: bool = False,
) -> bool:
    """True if a program is not for an example: a size is another one, or the module goes another way for it.

    `but_for_tried` passes over what leaves out a few sizes, in which the model is tried. `with_torch` looks at what
    torch's own code decides.
    """
    sizes: dict[Symbol, int] = {}
    for fake, value in zip(_fakes(program), pytree.tree_leaves(example), strict=False):
        if not isinstance(fake, torch.Tensor) or not isinstance(value, torch.Tensor):
            continue
        for size, actual in zip(sizes_in(fake), value.shape, strict=False):
            expression = integer(size) if isinstance(size, int) else expression_of(size)
            known = sizes.setdefault(expression, actual) if is_symbol(expression) else expression
            if known != actual and (is_symbol(expression) or expression.is_Integer):
                return True
    # What torch's own code decides may make no difference; but a number that is in the graph by now does.
    found = [each for each in narrowings(program, {}, {}) if with_torch or each.is_exact or not each.is_torch]
    ranges = ranges_of(program)
    if not but_for_tried and any(size < ranges.get(each, (0, None))[0] for each, size in sizes.items()):
        return True  # torch takes for granted that it is no less, and asks nothing
    if but_for_tried:
        # The program squeezes a size of 1 where it is run, and the model does not.
        squeezed = {
            expression for expression, _, is_harmless in _squeezed(program.graph_module) if not is_harmless
        }
        allowed = allowed_sizes(program, {})
        found = [
            each
            for each in found
            if each.is_exact or each.expression in squeezed or not each.is_tried(allowed)
        ]
    return any(truth_at(each.expression, sizes) is False for each in found)


def _ranged(
    symbol: Symbol,
    low: int,
    high: int | None,
    names: Mapping[str, str],
    asked: Range | None,
    bounding: Mapping[Symbol, Sequence[str]],
    asking: Mapping[Symbol, Sequence[str]],
) -> Narrowing | None:
    """The narrowing of one symbol's range: by the module at the lines `bounding`, by torch at `asking`."""
    least, most = asked or (0, None)
    lower = low if low > max(least, 1) else None
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
    places = tuple(dict.fromkeys(bounding.get(symbol) or asking.get(symbol) or ()))
    expression = within(symbol, lower, upper)
    return Narrowing((symbol,), tuple(texts), words, places, expression, symbol not in bounding)


def _once(found: Iterable[Narrowing]) -> list[Narrowing]:
    """Equal conditions as one, with all their places; the module's before torch's."""
    merged: dict[str, Narrowing] = {}
    for each in sorted(found, key=lambda narrowing: narrowing.is_torch):
        before = merged.get(each.range)
        if before is None:
            merged[each.range] = each
        elif before.is_torch == each.is_torch:
            places = tuple(dict.fromkeys((*before.places, *each.places)))
            is_raised = before.is_raised or each.is_raised
            merged[each.range] = replace(before, places=places, is_raised=is_raised)
    return list(merged.values())


# -- guards ----------------------------------------------------------------------------------------------


def _guards(shape_env: ShapeEnvironment) -> Iterator[tuple[Guard, Expression]]:
    """The guards with what they ask of the symbols that stayed; one that asks for several things, for each of them."""
    for guard in shape_env.guards:
        for part in guard.expr.args if isinstance(guard.expr, sympy.And) else (guard.expr,):
            yield guard, replaced(part, shape_env.replacements)


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
    lines = [
        line
        for node in program.graph.nodes
        if any(isinstance(each, float) and each in numbers for each in (*node.args, *node.kwargs.values()))
        for line in lines_of(node)
    ]
    return tuple(dict.fromkeys(lines))


def _is_told(expression: Expression, known: Iterable[Symbol]) -> bool:
    symbols = expression.free_symbols
    return bool(symbols) and symbols <= set(known)


def _is_bound(expression: Expression) -> bool:
    """True if an expression compares one symbol with a number."""
    left, right = expression.args
    return (is_symbol(left) and right.is_Integer) or (is_symbol(right) and left.is_Integer)
