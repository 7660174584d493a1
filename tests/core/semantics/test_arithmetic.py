"""The law of Python's operators: eager = traced model in ONNX Runtime = numpy, on every element type."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onnxsmith import tensor, trace
from onnxsmith.errors import OnnxsmithError
from tests.core.laws import (
    ALL,
    FLOATS,
    INTEGERS,
    NUMBERS,
    SIGNED,
    as_numpy_2,
    broadcast_pairs,
    check,
    filled,
    law,
    quiet,
    shapes,
    types_of,
)

_TYPES: dict[str, tuple[Callable[[Any, Any], Any], tuple[str, ...]]] = {
    "+": (operator.add, NUMBERS),
    "-": (operator.sub, NUMBERS),
    "*": (operator.mul, NUMBERS),
    "//": (operator.floordiv, NUMBERS),
    "%": (operator.mod, NUMBERS),
    "==": (operator.eq, ALL),
    "!=": (operator.ne, ALL),
    "<": (operator.lt, ALL),
    "<=": (operator.le, ALL),
    ">": (operator.gt, ALL),
    ">=": (operator.ge, ALL),
    "&": (operator.and_, (*INTEGERS, "bool")),
    "|": (operator.or_, (*INTEGERS, "bool")),
    "^": (operator.xor, (*INTEGERS, "bool")),
}


@pytest.mark.parametrize("symbol", _TYPES)
@law(25)
@given(st.data())
def test_two_tensors(symbol: str, data: Any) -> None:
    compute, dtypes = _TYPES[symbol]
    dtype = data.draw(st.sampled_from(dtypes))
    a, b = data.draw(broadcast_pairs(dtype))
    b = _divisor(symbol, b)
    with quiet():
        expected = compute(a, b)
    check(compute, [a, b], expected)


def _divisor(symbol: str, b: Any) -> Any:
    """Integers have no quotient over 0: see `test_integers_over_zero`."""
    divides_integers = symbol in ("//", "%") and np.asarray(b).dtype.kind in "iu"
    return np.where(b == 0, np.array(3, b.dtype), b) if divides_integers else b


@pytest.mark.parametrize("symbol", ["//", "%"])
@pytest.mark.parametrize("dtype", INTEGERS)
def test_integers_over_zero(symbol: str, dtype: str) -> None:
    """An error in every way to run it, as in Python; where the divisor is known, too."""
    compute = _TYPES[symbol][0]
    a, b = np.array([5, 0], dtype), np.array([0, 1], dtype)
    model = trace(compute, *types_of([a, b], "named"))
    known = trace(lambda a: compute(a, b), *types_of([a], "named"))
    for run in (lambda: compute(tensor(a), tensor(b)), lambda: model(a, b), lambda: known(a)):
        with pytest.raises(OnnxsmithError, match="by zero"):
            run()


@pytest.mark.parametrize("dtype", NUMBERS)
@law(15)
@given(st.data())
def test_division_edges(dtype: str, data: Any) -> None:
    """The two operators that go wrong most easily get every type."""
    a, b = data.draw(broadcast_pairs(dtype, rank=1))
    b = _divisor("//", b)
    with quiet():
        check(operator.floordiv, [a, b], a // b, kinds=("named",))
        check(operator.mod, [a, b], a % b, kinds=("named",))


@pytest.mark.parametrize("symbol", ["//", "%"])
@pytest.mark.parametrize("dtype", FLOATS)
def test_zeros_have_numpys_sign(symbol: str, dtype: str) -> None:
    """A quotient that is zero has the sign of the exact one, and a remainder that of the divisor; over all pairs."""
    compute = _TYPES[symbol][0]
    values = np.array([0.0, -0.0, 1, -1, 2, -2, 0.5, -0.5, 3, 1e-4, np.inf, -np.inf, np.nan], dtype)
    a, b = (each.reshape(-1) for each in np.meshgrid(values, values))
    model = trace(compute, *types_of([a, b], "named"))
    with quiet():
        pairs = [(model(a, b), compute(a, b)), (np.asarray(compute(tensor(a), tensor(b))), compute(a, b))]
        for known in (2.0, -2.0):
            by_a_literal = trace(lambda x, known=known: compute(x, known), *types_of([a], "named"))
            pairs.append((by_a_literal(a), compute(a, np.array(known, dtype))))
    for found, expected in pairs:
        np.testing.assert_array_equal(found, expected)
        is_zero = np.asarray(expected == 0)
        np.testing.assert_array_equal(np.signbit(found)[is_zero], np.signbit(expected)[is_zero])


def test_quotients_that_a_float_hardly_holds() -> None:
    """Where the last bit of the quotient is a half, numpy rounds down."""
    a = np.array([-4.5320068e-14, -355121.94, -18768.89, 8388609.0, 16777215.0], np.float32)
    b = np.array([-5.4667163e-21, 0.05865142, -0.0026347127, 1.0, 1.0], np.float32)
    check(operator.floordiv, [a, b], a // b)


def test_half_floats_are_divided_in_single_precision() -> None:
    """As numpy does; in half precision these quotients come out one step off."""
    a = np.array([384.5, 3190.0, -5588.0, 4896.0], np.float16)
    b = np.array([-0.4297, 0.3677, -1.707, 1.2705], np.float16)
    check(operator.floordiv, [a, b], a // b)


@pytest.mark.parametrize("symbol", _TYPES)
@law(20)
@given(st.data())
def test_a_literal_on_either_side(symbol: str, data: Any) -> None:
    compute, dtypes = _TYPES[symbol]
    dtype = data.draw(st.sampled_from(dtypes))
    array = data.draw(shapes(rank=2).flatmap(lambda shape: filled(dtype, shape)))
    literal: Any = data.draw(st.sampled_from([0, 1, 2, 3, 7, 100, -1, -3, 0.5, -2.5, 0.1, True, False]))
    if dtype == "bool":
        literal = bool(literal)
    elif dtype not in FLOATS:
        literal = abs(int(literal)) if dtype not in SIGNED else int(literal)
        literal = 3 if symbol in ("//", "%") and literal == 0 else literal
    divisor = _divisor(symbol, array)
    with quiet(), as_numpy_2():
        right, left = compute(array, literal), compute(literal, divisor)
    check(lambda x: compute(x, literal), [array], right, kinds=("named",))
    check(lambda x: compute(literal, x), [divisor], left, kinds=("named",))


@pytest.mark.parametrize("symbol", _TYPES)
@law(6)
@given(st.data())
def test_an_array_on_either_side(symbol: str, data: Any) -> None:
    """numpy hands over to the tensor, and an array that the program holds is a constant."""
    compute, dtypes = _TYPES[symbol]
    a, b = data.draw(broadcast_pairs(data.draw(st.sampled_from(dtypes))))
    b = _divisor(symbol, b)
    with quiet():
        expected = compute(a, b)
    check(lambda y: compute(a, y), [b], expected, kinds=("named",))
    check(lambda x: compute(x, b), [a], expected, kinds=("named",))


@law(60)
@given(st.data())
def test_division_with_slash(data: Any) -> None:
    """ONNX's: floats as in numpy; integers truncate, where numpy would make them floats."""
    dtype = data.draw(st.sampled_from(NUMBERS))
    a, b = data.draw(broadcast_pairs(dtype))
    if dtype in FLOATS:
        with quiet():
            check(operator.truediv, [a, b], a / b)
        return
    b = np.where(b == 0, np.array(3, dtype), b)
    truncated = [
        abs(int(p)) // abs(int(q)) * (1 if (p < 0) == (q < 0) else -1) for p, q in np.broadcast(a, b)
    ]
    expected = np.array(truncated, object).astype(dtype).reshape(np.broadcast(a, b).shape)
    check(operator.truediv, [a, b], expected)


@law(60)
@given(st.data())
def test_powers(data: Any) -> None:
    dtype = data.draw(st.sampled_from(NUMBERS))
    if dtype in FLOATS:
        exponents = st.sampled_from([0, 1, 2, 3, 0.5, -1, 2.5])
        tolerance = {"float16": 2e-3, "float32": 1e-5, "float64": 1e-12}[dtype]
        array = np.array([0.0, 0.5, 1.0, 2.0, 3.5, np.inf, np.nan], dtype)
    else:
        exponents = st.integers(0, 70)
        tolerance = 0.0
        array = data.draw(filled(dtype, (5,)))
    exponent = data.draw(exponents)
    with quiet():
        expected = array**exponent
    check(lambda x: x**exponent, [array], expected, tolerance=tolerance)


@law(40)
@given(st.data())
def test_power_of_two_tensors(data: Any) -> None:
    dtype = data.draw(st.sampled_from(NUMBERS))
    small = st.integers(0, 3 if np.dtype(dtype).itemsize == 1 else 5)
    values = st.lists(small, min_size=4, max_size=4).map(lambda each: np.array(each, dtype))
    a, b = data.draw(values), data.draw(values)
    check(operator.pow, [a, b], a**b, tolerance=1e-3)


@law(60)
@given(st.data())
def test_matrix_products(data: Any) -> None:
    dtype = data.draw(st.sampled_from(ALL))
    # From 1 on: ONNX Runtime (1.31) leaves the result unset, or refuses, where a matrix is empty.
    rows, inner, columns = (data.draw(st.integers(1, 3)) for _ in range(3))
    left, right = data.draw(
        st.sampled_from(
            [
                ((rows, inner), (inner, columns)),
                ((inner,), (inner, columns)),
                ((rows, inner), (inner,)),
                ((inner,), (inner,)),
                ((2, rows, inner), (inner, columns)),
                ((2, 1, rows, inner), (3, inner, columns)),
            ]
        )
    )

    def small(shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
        values = data.draw(
            st.lists(st.integers(0, 11), min_size=int(np.prod(shape)), max_size=int(np.prod(shape)))
        )
        return np.array(values).reshape(shape).astype(dtype)

    a, b = small(left), small(right)
    check(operator.matmul, [a, b], a @ b)


@pytest.mark.parametrize("compute", [operator.lshift, operator.rshift], ids=["<<", ">>"])
@law(80)
@given(st.data())
def test_shifts(compute: Callable[[Any, Any], Any], data: Any) -> None:
    dtype = data.draw(st.sampled_from(INTEGERS))
    bits = np.iinfo(dtype).bits
    amounts = [0, 1, 3, bits - 2, bits - 1, bits, bits + 1] + ([-1] if dtype in SIGNED else [])
    array = data.draw(filled(dtype, (4,)))
    amount = data.draw(
        st.lists(st.sampled_from(amounts), min_size=4, max_size=4).map(lambda n: np.array(n, dtype))
    )
    check(compute, [array, amount], compute(array, amount))
    literal = data.draw(st.sampled_from(amounts))
    check(lambda x: compute(x, literal), [array], compute(array, np.array(literal, dtype)))


@law(60)
@given(st.data())
def test_one_operand(data: Any) -> None:
    dtype = data.draw(st.sampled_from(NUMBERS))
    array = data.draw(shapes(rank=2).flatmap(lambda shape: filled(dtype, shape)))
    with quiet():
        check(operator.neg, [array], -array)
        check(abs, [array], abs(array))
        check(operator.pos, [array], array, kinds=("static",))
    if dtype in INTEGERS:
        check(operator.invert, [array], ~array)


def test_one_operand_on_truth_values() -> None:
    array = np.array([True, False])
    check(operator.invert, [array], ~array)
    check(abs, [array], array)


@law(80)
@given(st.data())
def test_round(data: Any) -> None:
    dtype = data.draw(st.sampled_from(NUMBERS))
    digits = data.draw(st.sampled_from([None, 0, 1, 2, -1, -2]))
    if dtype in FLOATS:
        choices = [0.5, 1.5, 2.5, -0.5, 0.25, 0.35, 14.0, 15.0, 25.0, 123.456, -123.456, np.inf, np.nan]
    else:
        choices = [0, 4, 5, 6, 14, 15, 25, 94, 115, 125]
    array = np.array(data.draw(st.lists(st.sampled_from(choices), min_size=4, max_size=4)), dtype)
    with quiet():
        check(lambda x: round(x, digits), [array], np.round(array, digits or 0))


@law(30)
@given(st.data())
def test_divmod(data: Any) -> None:
    dtype = data.draw(st.sampled_from(NUMBERS))
    a, b = data.draw(broadcast_pairs(dtype, rank=1))
    b = _divisor("//", b)
    with quiet():
        check(lambda x, y: divmod(x, y)[0], [a, b], a // b, kinds=("named",))
        check(lambda x, y: divmod(x, y)[1], [a, b], a % b, kinds=("named",))


def test_strings() -> None:
    a, b = np.array(["a", "b", "é"], object), np.array(["a", "x", ""], object)
    check(operator.add, [a, b], a + b)
    check(operator.eq, [a, b], a == b)
    check(operator.ne, [a, b], a != b)
    check(lambda x: x + "!", [a], a + "!")
    check(lambda x: "<" + x, [a], "<" + a)


#: `Equal` takes no float32 before opset 11.
COMPARISONS = [
    (dtype, symbol, version)
    for dtype in ("bool", "int64", "float32")
    for symbol in ("<", "<=", ">", ">=", "==", "!=")
    for version in (9, 12, 21)
    if (dtype, version) != ("float32", 9) or symbol in "<>"
]


@pytest.mark.parametrize(("dtype", "symbol", "version"), COMPARISONS)
def test_comparisons_in_every_opset(dtype: str, symbol: str, version: int) -> None:
    compare = _TYPES[symbol][0]
    x, y = np.array([0, 0, 1, 1]).astype(dtype), np.array([0, 1, 0, 1]).astype(dtype)
    kind = tensor(x).type
    model = trace(lambda a, b: compare(a, b), kind, kind, opset_version=version)
    np.testing.assert_array_equal(model(x, y), compare(x, y))
