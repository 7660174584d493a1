"""Numbers that only the model knows compute as Python's do: every operator, of every pair of kinds, known or not."""

from __future__ import annotations

import copy
import math
import numbers
import operator
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import onnxsmith.numpy as xp
from onnxsmith import BOOL, DOUBLE, FLOAT, INT64, trace
from onnxsmith import opset21 as op
from onnxsmith.core.semantics.number import Number, is_natural, is_number, kind_of, number
from onnxsmith.errors import OnnxsmithError, TracedValueError
from onnxsmith.types.dtypes import DType

TYPES: dict[type, tuple[Any, DType]] = {
    int: (INT64[()], DType.INT64),
    float: (DOUBLE[()], DType.DOUBLE),
    bool: (BOOL[()], DType.BOOL),
}
#: Two pairs of values of each pair of kinds: no divisor is 0, and no shift is negative.
VALUES: dict[type, list[tuple[Any, Any]]] = {int: [(7, 3), (-7, 2)], float: [(2.5, -1.5), (-0.0, 4.0)]}
VALUES[bool] = [(True, True), (False, True)]
PLAIN = ("add", "sub", "mul", "truediv", "floordiv", "mod", "eq", "ne", "lt", "le", "gt", "ge")
ON_BITS = ("and_", "or_", "xor", "lshift", "rshift")
ALONE: dict[str, Callable[[Any], Any]] = {
    "neg": operator.neg,
    "pos": operator.pos,
    "abs": abs,
    "round": round,
    "round to a digit": lambda x: round(x, 1),
    "round to tens": lambda x: round(x, -1),
    "trunc": math.trunc,
    "floor": math.floor,
    "ceil": math.ceil,
}


def python(value: Any) -> np.ndarray[Any, Any]:
    return np.asarray(value, {bool: np.bool_, int: np.int64, float: np.float64}[type(value)])


def same(found: Any, wanted: Any, told: str) -> None:
    expected = python(wanted)
    assert found.dtype == expected.dtype, told
    np.testing.assert_array_equal(found, expected, err_msg=told)
    if isinstance(wanted, float):
        assert bool(np.signbit(found)) == bool(np.signbit(expected)), told


def of_all(operations: dict[str, Callable[..., Any]], kinds: tuple[type, ...], *values: Any) -> None:
    """Each operation on numbers of these kinds, as one model, gives what Python gives."""

    def body(*tensors: Any) -> Any:
        given = [Number(each, kind.__name__) for each, kind in zip(tensors, kinds, strict=True)]
        results = [each(*given) for each in operations.values()]
        for name, function, found in zip(operations, operations.values(), results, strict=True):
            wanted = function(*values)
            assert isinstance(found, Number), name
            assert found.kind == type(wanted).__name__, name
            assert isinstance(found, numbers.Real if isinstance(wanted, float) else numbers.Integral)
        return tuple(each.tensor for each in results)

    model = trace(body, *(TYPES[kind][0] for kind in kinds))
    results = model(*map(python, values))
    found = results if isinstance(results, tuple) else (results,)
    for name, function, each in zip(operations, operations.values(), found, strict=True):
        same(each, function(*values), f"{name}{values}")


@pytest.mark.parametrize("row", [0, 1])
@pytest.mark.parametrize("second", TYPES, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("first", TYPES, ids=lambda kind: kind.__name__)
def test_operators_of_two_numbers(first: type, second: type, row: int) -> None:
    a, b = VALUES[first][row][0], VALUES[second][row][1]
    names = PLAIN if float in (first, second) else (*PLAIN, *ON_BITS)
    functions = {name: getattr(operator, name) for name in names}
    of_all({**functions, "divmod": lambda x, y: divmod(x, y)[0] + divmod(x, y)[1]}, (first, second), a, b)
    left = {name: lambda y, f=function: f(a, y) for name, function in functions.items()}
    of_all({**left, "divmod": lambda y: divmod(a, y)[0] - divmod(a, y)[1]}, (second,), b)
    of_all({name: lambda x, f=function: f(x, b) for name, function in functions.items()}, (first,), a)


@pytest.mark.parametrize("value", [7, -15, 2.5, -0.5, 12.34, -0.0, True, False], ids=repr)
def test_operators_of_one_number(value: Any) -> None:
    of_all(ALONE, (type(value),), value)
    if not isinstance(value, float):
        of_all({"invert": lambda x: ~(x + 0)}, (type(value),), value)


def test_powers() -> None:
    of_all({"natural": lambda x, y: x ** abs(y), "modular": lambda x, y: pow(x, 3, 5) + y}, (int, int), 3, -4)
    of_all({"known": lambda x: x**3, "below 0": lambda x: x**-2, "float": lambda x: x**0.5}, (int,), 4)
    of_all({"reflected": lambda x: 2.0**x, "itself": lambda x: x**x}, (float,), 1.5)
    with pytest.raises(TracedValueError, match="may be negative is an int or a float"):
        trace(lambda x: (2 ** Number(x, "int")).tensor, INT64[()])
    with pytest.raises(TypeError):
        trace(lambda x: pow(Number(x, "float"), 2, 5).tensor, DOUBLE[()])


#: In numpy code a model raises what Python raises.
RAISING: dict[str, tuple[Callable[[Any], Any], list[Any], list[Any], type[Exception]]] = {
    "//": (lambda x: int(x[0]) // int(x[1]), [7, 2], [1, 0], ZeroDivisionError),
    "/": (lambda x: int(x[0]) / int(x[1]), [7, 2], [1, 0], ZeroDivisionError),
    "// of floats": (lambda x: float(x[0]) // float(x[1]), [7.5, 2], [1.5, 0], ZeroDivisionError),
    "% of floats": (lambda x: float(x[0]) % float(x[1]), [7.5, 2], [1.5, 0], ZeroDivisionError),
    "<<": (lambda x: int(x[0]) << int(x[1]), [3, 2], [1, -1], ValueError),
    "**": (lambda x: float(x[0]) ** float(x[1]), [4.0, 0.5], [0.0, -1.0], ZeroDivisionError),
    "floor": (lambda x: math.floor(float(x[0])), [2.5], [math.inf], OverflowError),
    "floor of no number": (lambda x: math.floor(float(x[0])), [-2.5], [math.nan], ValueError),
    "round": (lambda x: round(float(x[0])), [-2.5], [math.nan], ValueError),
}


@pytest.mark.parametrize("name", RAISING)
def test_what_python_raises_a_model_raises(name: str) -> None:
    function, right, wrong, error = RAISING[name]
    jitted = xp.jit(function)
    assert jitted(np.array(right)) == function(np.array(right))
    with pytest.raises(error):
        jitted(np.array(wrong))


REFUSED: dict[str, Callable[[Any], Any]] = {
    "bits of floats": lambda n: (n + 0.5) & 1,
    "a list": lambda n: [1, 2] * n,
    "text": lambda n: n * "ab",
    "a tuple": lambda n: operator.add(n, (1,)),
    "a key": lambda n: {n: 1},
    "pickled": pickle.dumps,
    "an attribute of tensors": lambda n: n.shape,
    "a method of tensors": lambda n: n.sum(),
    "int8 of too much": lambda n: n + 2**70,
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name: str) -> None:
    with pytest.raises(OnnxsmithError) as caught:
        trace(lambda x: REFUSED[name](Number(x, "int")), INT64[()])
    assert "test_number.py" in str(caught.value)


def test_which_numbers_are_natural() -> None:
    def body(x: Any, f: Any, s: Any) -> Any:
        n, size = Number(x, "int"), number(op.Squeeze(op.Shape(s)))
        counter = Number(x, "int", is_natural=True)
        assert not is_natural(n)
        assert is_natural(counter)
        assert is_natural(size)
        assert is_natural(abs(n))
        assert is_natural(+counter)
        assert not is_natural(-counter)
        assert not is_natural(counter - 1)
        assert all(map(is_natural, (counter + 1, counter * size, counter // 2, counter % 3, counter**2)))
        assert not is_natural(counter * n)
        assert not is_natural(counter + 0.5)
        assert not is_natural(Number(f, "float"))
        assert (kind_of(n), kind_of(Number(f, "float")), kind_of(n < 1)) == ("int", "float", "bool")
        assert (n.sample, Number(f, "float").sample, (n < 1).sample) == (1, 1.5, True)
        assert copy.copy(n) is copy.deepcopy(n) is n
        assert repr(n) == f"{n}" == "<symbolic int x>"
        assert type(n)("7") == 7
        assert type(n + 0.5)("7.5") == 7.5
        assert (number(f).kind, number(x).kind, number(op.Less(x, x)).kind) == ("float", "int", "bool")
        assert (n.name, n.record, n.scope, n.span) == (x.name, x.record, x.scope, x.span)
        return n.as_dtype(DType.FLOAT), n.as_like(f), n.as_dtype(DType.INT64)

    trace(body, INT64[()], DOUBLE[()], FLOAT["N"])
    assert (kind_of(1), kind_of(1.0), kind_of(True), kind_of("a")) == ("int", "float", "bool", None)
    assert is_natural(0)
    assert not is_natural(-1)
    assert not is_natural(1.0)
    assert is_number(1.5)
    assert not is_number("1")


def test_beside_a_tensor_it_takes_the_tensors_element_type() -> None:
    model = trace(
        lambda x, n: (x * Number(n, "int"), 2 ** op.Cast(x, to=7) + Number(n, "int")), FLOAT["N"], INT64[()]
    )
    product, total = model(np.float32([1.5, 2]), python(3))
    np.testing.assert_array_equal(product, np.float32([4.5, 6]))
    np.testing.assert_array_equal(total, [5, 7])
    assert (product.dtype, total.dtype) == (np.float32, np.int64)
