"""torch's symbols for sizes that are open: expressions of them, their ranges, and who knows their values.

sympy has no types, and torch leaves those of its numbers out: what is asked of an expression stands here in types.
Which sizes a program is for is `conditions`' to find, what they are called in the model `sizes`'.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, cast

import sympy  # pyright: ignore[reportMissingTypeStubs]
import torch
from torch._subclasses.fake_tensor import FakeTensor
from torch.utils._sympy.numbers import int_oo  # pyright: ignore[reportUnknownVariableType]

from onnxsmith.torch.library.kinds import Fake, SymbolicNumber

if TYPE_CHECKING:
    from typing_extensions import TypeIs

#: The least and the most that a size may be; None for no end.
Range: TypeAlias = "tuple[int, int | None]"


class Expression(Protocol):
    """The part of an expression of sympy's that is used here."""

    @property
    def is_Integer(self) -> bool:  # sympy's own name
        """True if it is one known integer."""
        ...

    @property
    def is_Float(self) -> bool:
        """True if it is one known number with a fraction."""
        ...

    @property
    def is_Symbol(self) -> bool:
        """True if it is one symbol."""
        ...

    @property
    def is_number(self) -> bool:
        """True if it has a value now."""
        ...

    @property
    def is_real(self) -> bool | None:
        """True if it is a real number; None where sympy cannot tell."""
        ...

    @property
    def args(self) -> tuple[Expression, ...]:
        """The operands that it is made of."""
        ...

    @property
    def free_symbols(self) -> Set[Symbol]:
        """The symbols in it."""
        ...

    @property
    def reversed(self) -> Expression:
        """A comparison with its sides exchanged."""
        ...

    def xreplace(self, rule: Mapping[Symbol, Expression]) -> Expression:
        """The expression with others in the place of symbols."""
        ...

    def atoms(self, kind: type) -> Set[Expression]:
        """The parts of a class of sympy's that have no parts."""
        ...

    def expand(self) -> Expression:
        """The same as a sum, so that what cancels is gone."""
        ...

    def coeff(self, symbol: Symbol) -> Expression:
        """The factor of a symbol."""
        ...

    def __int__(self) -> int: ...
    def __float__(self) -> float: ...
    def __hash__(self) -> int: ...
    def __sub__(self, other: Expression) -> Expression: ...
    def __mul__(self, other: Expression) -> Expression: ...


class Symbol(Expression, Protocol):
    """A size that is open."""

    @property
    def name(self) -> str:
        """`"s77"`; those of sizes that the data decides begin with a `u`."""
        ...


class _Numbered(Protocol):
    """The object that torch keeps behind one of its symbolic numbers."""

    expr: Expression
    hint: int | float | None
    shape_env: ShapeEnvironment


class Place(Protocol):
    """Where torch was when it noted a guard."""

    @property
    def framework_loc(self) -> Frame | None:
        """The line of the code that asked."""
        ...

    @property
    def maybe_user_loc(self) -> str | None:
        """The line of the module that torch was running, as text."""
        ...


class Frame(Protocol):
    """A line of code."""

    filename: str
    lineno: int | None
    name: str


class Guard(Protocol):
    """A decision by sizes."""

    @property
    def expr(self) -> Expression:
        """The expression that held for the example."""
        ...

    @property
    def sloc(self) -> Place:
        """Where it was made."""
        ...


class ShapeEnvironment(Protocol):
    """The knowledge of torch about symbols."""

    guards: Sequence[Guard]
    replacements: Mapping[Symbol, Expression]
    _version_counter: int

    def constrain_symbol_range(self, s: Symbol, compiler_min: int, compiler_max: int) -> None:
        """Narrow the range of a symbol."""
        ...


def is_symbol(value: Expression) -> TypeIs[Symbol]:
    """True if an expression is one symbol."""
    return isinstance(value, sympy.Symbol)


def is_of_inputs(symbol: Expression) -> bool:
    """True if an expression is a symbol of which the inputs decide; the data decides of others."""
    return is_symbol(symbol) and symbol.name[0] != "u"


def in_order(symbols: Iterable[Symbol]) -> tuple[Symbol, ...]:
    """Symbols by their names."""
    return tuple(sorted(symbols, key=str))


def integer(value: int) -> Expression:
    """A known integer as an expression."""
    return cast("Expression", sympy.Integer(value))


def different(left: Expression, right: Expression) -> Expression:
    """That two expressions are not equal, as an expression."""
    return cast("Expression", sympy.Ne(left, right))


def equal(left: Expression, right: Expression) -> Expression:
    """That two expressions are equal, as an expression."""
    return cast("Expression", sympy.Eq(left, right))


def within(symbol: Symbol, low: int | None, high: int | None) -> Expression:
    """That a symbol is neither below nor above its ends, as an expression."""
    ends: list[Any] = [sympy.Ge(symbol, low)] if low is not None else []
    ends += [sympy.Le(symbol, high)] if high is not None else []
    return cast("Expression", sympy.And(*ends))


def not_empty(size: Expression) -> Expression:
    """That a size is not 0, as an expression, which torch's symbols are supposed not to be."""
    return cast("Expression", sympy.Ge(size, 1, evaluate=False))


def truth_of(condition: Expression) -> bool | None:
    """True if a condition holds; None where that depends on symbols."""
    found = cast("object", condition)  # sympy's truth values are of classes of their own
    return True if found == sympy.true else False if found == sympy.false else None


def expression_of(size: SymbolicNumber) -> Expression:
    """The expression that one of torch's symbolic numbers stands for."""
    return _numbered(size).expr


def example_of(size: SymbolicNumber) -> int | None:
    """The value of one of torch's symbolic numbers in the example that was traced."""
    hint = _numbered(size).hint
    return hint if isinstance(hint, int) else None


def environment_of(size: SymbolicNumber) -> ShapeEnvironment:
    """The environment that knows the symbols of one of torch's symbolic numbers."""
    return _numbered(size).shape_env


def _numbered(size: SymbolicNumber) -> _Numbered:
    return cast("_Numbered", size.node)  # pyright: ignore[reportUnknownMemberType]  # torch does not annotate it


# -- of a program ----------------------------------------------------------------------------------------


def input_fakes(program: torch.export.ExportedProgram) -> list[Fake]:
    """The facts of torch about each input, weights included."""
    return [node.meta.get("val") for node in program.graph.nodes if node.op == "placeholder"]


def environment(program: torch.export.ExportedProgram) -> ShapeEnvironment | None:
    """The environment of the symbols in a program's inputs; None where there were none."""
    for fake in input_fakes(program):
        for size in fake.shape if isinstance(fake, torch.Tensor) else (fake,):
            if isinstance(size, torch.SymInt):
                return _numbered(size).shape_env
    # Where all are fixed by now, it has the guards that did it.
    modes = [each.fake_mode.shape_env for each in input_fakes(program) if isinstance(each, FakeTensor)]
    return cast("ShapeEnvironment | None", modes[0]) if modes else None


def hint_of(shape_env: ShapeEnvironment, symbol: Symbol) -> int | None:
    """The value of a symbol in the example that was traced; versions of torch differ in where they keep it."""
    name = "backed_var_to_val" if hasattr(shape_env, "backed_var_to_val") else "var_to_val"
    values: Mapping[Symbol, Expression] = getattr(shape_env, name)
    found = values.get(symbol)
    return None if found is None else int(found)


def keep_from(shape_env: ShapeEnvironment, symbol: Symbol, least: int) -> None:
    """Have torch take for granted that a symbol is not below a number."""
    shape_env.constrain_symbol_range(symbol, least, cast("int", int_oo))
    # What torch has answered so far it keeps by this number.
    shape_env._version_counter += 1  # pyright: ignore[reportPrivateUsage]


class _Ends(Protocol):
    """torch's class of ranges."""

    @property
    def lower(self) -> Expression | int: ...
    @property
    def upper(self) -> Expression | int: ...


def ranges_of(program: torch.export.ExportedProgram) -> dict[Symbol, Range]:
    """The ranges that torch gives for the symbols of a program."""
    constraints = cast("Mapping[Symbol, _Ends]", program.range_constraints)  # pyright: ignore[reportUnknownMemberType]
    return {symbol: (_known(each.lower) or 0, _end(each.upper)) for symbol, each in constraints.items()}


def _end(upper: Expression | int) -> int | None:
    found = _known(upper)
    return (
        None if found is None or found >= 2**62 else found
    )  # torch's infinity is an integer in some versions


def _known(end: Expression | int) -> int | None:
    return int(end) if isinstance(end, int) or end.is_Integer else None
