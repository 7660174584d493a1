"""Integer arithmetic: what the processor traps on, and what goes through doubles, which hold 53 bits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from onnx import numpy_helper

from onnxsmith.errors.kinds import BY_ZERO
from onnxsmith.graphs.rewriting.branches import at_run_only, choose, repeat
from onnxsmith.graphs.rewriting.emitter import Emitter
from onnxsmith.graphs.rewriting.site import Site
from onnxsmith.graphs.run_values import Array as RunArray
from onnxsmith.runtime.facts.bounds import EXACT_BITS, bits
from onnxsmith.runtime.facts.fact import Requirement, check, rewrite
from onnxsmith.schema.einsum_equation import read_equation
from onnxsmith.types.dtypes import DType

#: The opset that brought CastLike, for types that nobody knows.
_CAST_LIKE = 15
_LOWEST = np.array([-(2**31)], np.int32)
_MINUS_ONE = np.array([-1], np.int32)
_INTEGERS = [each for each in DType if each.kind in ("signed", "unsigned")]


def _may_be_minus_one(site: Site) -> bool:
    divisor = site.constant(1)
    return divisor is None or bool((divisor == -1).any())


@rewrite(
    "Div",
    "the lowest integer divided by -1 ends the process; it wraps around, as in numpy",
    probe="g (int32[N] a, int32[N] b) => (int32[N] y) { y = Div(a, b) }",
    given={"a": _LOWEST, "b": _MINUS_ONE},
    right=[_LOWEST],
    dtypes=[DType.INT32, DType.INT64],
)
def quotient_of_lowest(site: Site) -> bool:
    dtype = site.dtype(0) or site.dtype(1)
    if (dtype is None and site.emit.version < _CAST_LIKE) or not _may_be_minus_one(site):
        return False
    divisor = site.input(1)
    safe, twice = _safe_divisor(site, dtype)

    def signs(emit: Emitter) -> tuple[str, ...]:
        return (emit.op("Sub", emit.constant_like(1, divisor, dtype), twice),)

    quotient = site.emit.names.after(site.output(0))
    site.same_node([site.input(0), safe], [quotient])
    (sign,) = site.once(("signs", divisor, dtype), signs)
    site.emit.op("Mul", quotient, sign, into=site.output(0))
    return True


@check(
    ("Div", "Mod"),
    "a divisor that is 0 in every run keeps the model from being loaded, also where it is never divided by",
    probe="g (bool c, int64[N] a) => (int64[N] y) { y = If (c) <"
    " then_branch = t () => (int64[] p) { z = Constant <value = int64 {0}> ()  p = Div(a, z) },"
    " else_branch = e () => (int64[] q) { q = Identity(a) }> }",
    given={"c": np.array(False), "a": np.array([1])},
    right=[np.array([1])],
    dtypes=[each for each in DType if each.is_integer],
    first="1.25",
)
def divisor_is_not_zero(site: Site) -> Iterator[Requirement]:
    divisor = site.constant(1)
    if divisor is not None and divisor.dtype.kind in "iu":
        yield Requirement(bool((divisor != 0).all()), BY_ZERO)


_LARGE = np.array([2**62 + 1, -(2**62) - 1, 5])


@rewrite(
    "Mod",
    "with fmod, integers are divided as doubles, which hold 53 bits",
    probe="g (int64[N] a, int64[N] b) => (int64[N] y) { y = Mod <fmod = 1> (a, b) }",
    given={"a": _LARGE, "b": np.array([10, 10, -1])},
    right=[np.fmod(_LARGE, 10) * np.array([1, 1, 0])],
    dtypes=[DType.INT64, DType.UINT64],
)
def remainder_in_doubles(site: Site) -> bool:
    dtype = site.dtype(0) or site.dtype(1)
    if dtype is None or site.integer("fmod", 0) != 1:
        return False
    emit, dividend, divisor = site.emit, site.input(0), site.input(1)
    if dtype is DType.INT64 and _may_be_minus_one(
        site
    ):  # 1 leaves what -1 leaves, and the lowest can be divided by it
        is_minus_one = emit.cast(emit.op("Equal", divisor, emit.constant(-1)), dtype)
        divisor = emit.op("Add", divisor, emit.op("Add", is_minus_one, is_minus_one))
    quotient = emit.op("Div", dividend, divisor)
    emit.op("Sub", dividend, emit.op("Mul", quotient, divisor), into=site.output(0))
    return True


def _safe_divisor(site: Site, dtype: DType | None) -> tuple[str, str]:
    """The divisor with 1 in the place of -1, and 2 where that is so and else 0; made once for each divisor.

    ONNX Runtime takes time with the square of the nodes that wait for a chain of others. In a chain of divisions by
    one number these would.
    """
    divisor = site.input(1)

    def make(emit: Emitter) -> tuple[str, ...]:
        # Arithmetic, because Where came with opset 9.
        is_minus_one = emit.op("Equal", divisor, emit.constant_like(-1, divisor, dtype))
        is_minus_one = emit.cast_like(is_minus_one, divisor, dtype)
        twice = emit.op("Add", is_minus_one, is_minus_one)
        return emit.op("Add", divisor, twice), twice

    safe, twice = site.once(("safe divisor", divisor, dtype), make)
    return safe, twice


@rewrite(
    "Mod",
    "the remainder of the lowest integer by -1 ends the process; it is 0",
    probe="g (int32[N] a, int32[N] b) => (int32[N] y) { y = Mod(a, b) }",
    given={"a": _LOWEST, "b": _MINUS_ONE},
    right=[np.array([0], np.int32)],
    dtypes=[DType.INT32, DType.INT64],
)
def remainder_of_lowest(site: Site) -> bool:
    dtype = site.dtype(0) or site.dtype(1)
    if (dtype is None and site.emit.version < _CAST_LIKE) or not _may_be_minus_one(site):
        return False
    # Dividing by 1 leaves what dividing by -1 leaves: nothing.
    safe, _ = _safe_divisor(site, dtype)
    site.same_node([site.input(0), safe])
    return True


def _found_by_zero(_: Mapping[str, int], inputs: Sequence[RunArray]) -> str | None:
    return None if np.all(inputs[1]) else BY_ZERO


@check(
    ("Div", "Mod"),
    "an integer divided by 0 ends the process",
    probe="g (int64[N] a, int64[N] b) => (int64[N] y) { y = Div(a, b) }",
    given={"a": np.array([5]), "b": np.array([0])},
    at_once=_found_by_zero,
    dtypes=_INTEGERS,
    last="1.24",
)
def divided_by_something(site: Site) -> Iterator[Requirement]:
    dtype, known = site.dtype(0) or site.dtype(1), site.constant(1)
    if known is not None:
        if known.dtype.kind in "iu":
            yield Requirement(bool(known.all()), BY_ZERO)
        return
    if dtype is None and site.emit.version < _CAST_LIKE:
        return
    emit, divisor = site.emit, site.input(1)
    # Few element types can be compared; of every integer the cast to int64 is 0 only for 0.
    is_zero = emit.op("Equal", emit.cast(divisor, DType.INT64), emit.constant(0))
    if dtype is None:
        # A half is 0 as an integer, and only there.
        half = emit.op("CastLike", emit.constant(0.5, DType.DOUBLE), divisor)
        is_integer = emit.op("Equal", emit.cast(half, DType.DOUBLE), emit.constant(0.0, DType.DOUBLE))
        is_zero = emit.both(is_zero, is_integer)
    holds = emit.all(emit.negated(is_zero))
    # A branch that is chosen when the model is loaded loses the names of its nodes, which hold the reason.
    yield Requirement(
        at_run_only(emit, holds, DType.BOOL) if site.scope.may_be_fixed(divisor) else holds, BY_ZERO
    )


@rewrite(
    "Range",
    "the number of elements is worked out in doubles, which hold 53 bits of either end",
    probe="g (int64 a, int64 b, int64 c) => (int64[N] y) { y = Range(a, b, c) }",
    given={"a": np.array(2**62), "b": np.array(2**62 + 3), "c": np.array(1)},
    right=[2**62 + np.arange(3)],
    since=11,
    dtypes=[DType.INT64],
    first="1.29",
)
def counted_in_doubles(site: Site) -> bool:
    if site.dtype(0) is not DType.INT64 or any(_is_short(site, place) for place in (0, 1)):
        return False  # ends that are far from each other have doubles for their distance
    emit, (start, limit, delta) = site.emit, site.node.input[:3]
    # Counted from the start, where the ends are on one side of zero: else their distance may not be an integer.
    zero = emit.constant(0)
    is_one_side = emit.op("Equal", emit.op("Less", start, zero), emit.op("Less", limit, zero))
    base = emit.where(is_one_side, start, zero)
    ends = emit.op("Sub", start, base), emit.op("Sub", limit, base)
    emit.op("Add", emit.op("Range", *ends, delta), base, into=site.output(0))
    return True


def _is_short(site: Site, position: int) -> bool:
    """True if a double certainly holds an input."""
    content = site.constant(position)
    return content is not None and bool((abs(content.astype(np.float64)) < 2.0**EXACT_BITS).all())


_BASES, _EXPONENTS = np.array([3, 3, -7, -1]), np.array([39, 41, 21, 2**53 + 1])


@rewrite(
    "Pow",
    "powers of integers are doubles on the way, which lose digits past 2**53 and do not wrap around",
    probe="g (int64[N] x, int64[N] y) => (int64[N] z) { z = Pow(x, y) }",
    given={"x": _BASES, "y": _EXPONENTS},
    right=[_BASES**_EXPONENTS],
    since=12,
    dtypes=[DType.INT32, DType.INT64],
)
def powers_in_doubles(site: Site) -> bool:
    dtype, kind, emit = site.dtype(0), site.dtype(1), site.emit
    if dtype is None or kind is None or not kind.is_integer or _is_multiplied(site):
        return False
    base, exponent, result = site.input(0), site.input(1), site.output(0)
    doubles = emit.op("Pow", emit.cast(base, DType.DOUBLE), emit.cast(exponent, DType.DOUBLE))
    most = emit.constant(2.0 ** (31 if dtype is DType.INT32 else EXACT_BITS), DType.DOUBLE)
    fits = emit.op("Less", emit.reduce("L1", doubles), most)
    length = bits(site.scope, exponent)
    if length is None or length > EXACT_BITS:  # rounded, an odd exponent may be even; -1 tells them apart
        size = emit.reduce("L1", emit.cast(exponent, DType.DOUBLE))
        fits = emit.both(fits, emit.op("Less", size, emit.constant(2.0**EXACT_BITS, DType.DOUBLE)))

    def as_it_is(inner: Emitter, names: Mapping[str, str]) -> None:
        inner.op("Pow", base, exponent, into=names[result])

    def by_squaring(inner: Emitter, names: Mapping[str, str]) -> None:
        exponents = inner.cast(exponent, DType.INT64)
        power = _power_by_squaring(inner, base, exponents, dtype)
        # Negative exponents have no integer; whatever the kernel gives.
        is_negative = inner.op("Less", exponents, inner.constant(0))
        inner.where(is_negative, inner.op("Pow", base, exponent), power, into=names[result])

    choose(emit, fits, [result], as_it_is, by_squaring)
    return True


def _is_multiplied(site: Site) -> bool:
    """True if the kernel multiplies: for the one exponents 2 and 3; 0 and 1 leave nothing to do."""
    content = site.constant(1)
    return content is not None and content.size == 1 and 0 <= int(content.reshape(-1)[0]) <= 3


def _power_by_squaring(emit: Emitter, base: str, exponent: str, dtype: DType) -> str:
    """A power by the bits of an exponent that is not negative, the highest first."""
    places = emit.constant(2 ** np.arange(62, -1, -1))
    one = emit.constant(1, dtype)

    def turn(inner: Emitter, number: str, power: str) -> str:
        shifted = inner.op("Div", exponent, inner.op("Gather", places, number))
        is_odd = inner.op("Equal", inner.op("Mod", shifted, inner.constant(2)), inner.constant(1))
        factor = inner.where(is_odd, base, one)
        return inner.op("Mul", inner.op("Mul", power, power), factor)

    return repeat(emit, emit.constant(63), one, dtype, turn)


@rewrite(
    "Einsum",
    "an index of one operand alone is summed in doubles, which lose digits past 2**53 and do not wrap around",
    probe='g (int64[1, 2] x) => (int64[N] y) { y = Einsum <equation = "ij->i"> (x) }',
    given={"x": np.array([[2**53, 1]])},
    right=[np.array([2**53 + 1])],
    since=12,
    dtypes=[DType.INT32, DType.INT64],
    first="1.27",
)
def index_summed_in_doubles(site: Site) -> bool:
    dtype, emit, equation = site.dtype(0), site.emit, read_equation(site.text("equation", ""))
    if dtype is None or dtype not in (DType.INT32, DType.INT64) or equation is None:
        return False
    terms, right = equation.inputs, equation.result
    ones: list[tuple[str, str]] = []
    for name, term in zip(site.node.input, terms, strict=False):
        others = "".join(terms).replace(term, "", 1)
        for letter in sorted(set(term) - set(right) - set(others) - {"."}):
            # A product with ones is a sum, and integers are multiplied and added as they are.
            before, _, behind = term.partition("...")
            place = before.index(letter) if letter in before else behind.index(letter) - len(behind)
            size = emit.op("Gather", emit.op("Shape", name), emit.constant([place]))
            filled = emit.op("ConstantOfShape", size, value=numpy_helper.from_array(np.ones(1, dtype.numpy)))
            ones.append((letter, filled))
    if not ones:
        return False
    changed = ",".join([*terms, *(letter for letter, _ in ones)]) + "->" + right
    site.same_node([*site.node.input, *(name for _, name in ones)], changed={"equation": changed})
    return True
