"""Universal functions recorded with open sizes give what they give at once, at every size."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import onnxsmith.numpy as xp
from onnxsmith import trace
from onnxsmith.errors import AttributeValueError
from onnxsmith.numpy.registry import UFUNCS
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import TensorType

assert xp.add  # the namespace is filled when a name is first asked for
OWN = sorted({getattr(np, name).__name__ for name in UFUNCS})
#: Element types to record in, the first that a function has: codes of all its inputs.
CODES = ("dd", "d", "di", "ll", "l", "??", "?")
SIZES = ((2, 3), (1, 4), (0, 3), (3, 0), (5, 5))


def _codes(name: str) -> list[str]:
    found = [each.split("->")[0] for each in getattr(xp, name).types]
    return [each for each in CODES if each in found][:2]


def _type(code: str, rank: int) -> TensorType:
    kind = DType.from_numpy(np.dtype(code))
    assert kind is not None
    return TensorType(kind, (None,) * rank)


def _shapes(name: str, size: tuple[int, int], count: int) -> list[tuple[int, ...]]:
    """Shapes of the inputs: the second of two is broadcast, or stands as a product wants it."""
    rows, columns = size
    match name:
        case "matmul":
            return [(rows, columns), (columns, rows)]
        case "matvec":
            return [(rows, columns), (columns,)]
        case "vecmat":
            return [(rows,), (rows, columns)]
        case _:
            return [size, (columns,)][:count]


@pytest.mark.parametrize("name", OWN)
def test_recorded_functions_give_what_they_give_at_once(name: str) -> None:
    function = getattr(xp, name)
    rng = np.random.default_rng(7)
    for codes in _codes(name):
        ranks = [len(each) for each in _shapes(name, (2, 3), len(codes))]

        def recorded(*tensors: Any) -> Any:
            made = function(*[xp.asarray(each) for each in tensors])
            return tuple(each.tensor for each in made) if isinstance(made, tuple) else made.tensor

        types = [_type(code, rank) for code, rank in zip(codes, ranks, strict=True)]
        names = [f"x{k}" for k in range(len(codes))]
        model = trace(recorded, *types, input_names=names)
        for size in SIZES:
            inputs = [
                rng.integers(0, 9, shape).astype(np.dtype(code)) / (4 if code == "d" else 1)
                for code, shape in zip(codes, _shapes(name, size, len(codes)), strict=True)
            ]
            inputs = [each.astype(np.dtype(code)) for each, code in zip(inputs, codes, strict=True)]
            with np.errstate(all="ignore"):
                found = getattr(np, name)(*inputs)
            wanted = found if isinstance(found, tuple) else (found,)
            at_once = function(*[xp.asarray(each) for each in inputs])
            there = model(*inputs)
            for one, other, want in zip(
                there if isinstance(there, tuple) else (there,),
                at_once if isinstance(at_once, tuple) else (at_once,),
                wanted,
                strict=True,
            ):
                assert np.asarray(one).dtype == want.dtype
                np.testing.assert_array_equal(np.asarray(one), np.asarray(other))
                np.testing.assert_allclose(np.asarray(one), want, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("name", OWN)
def test_older_opsets(name: str) -> None:
    function = getattr(xp, name)
    codes = _codes(name)[0]
    shapes = _shapes(name, (2, 3), len(codes))

    def recorded(*tensors: Any) -> Any:
        made = function(*[xp.asarray(each) for each in tensors])
        return tuple(each.tensor for each in made) if isinstance(made, tuple) else made.tensor

    types = [_type(code, len(shape)) for code, shape in zip(codes, shapes, strict=True)]
    names = [f"x{k}" for k in range(len(codes))]
    model = trace(recorded, *types, input_names=names, opset_version=21)
    rng = np.random.default_rng(5)
    scale = 1e17 if name in ("sin", "cos", "tan") else 1  # far out only bits of 2/pi beyond a double's matter
    inputs = [
        (rng.integers(0, 9, shape) * scale).astype(code) for code, shape in zip(codes, shapes, strict=True)
    ]
    with np.errstate(all="ignore"):
        found = getattr(np, name)(*inputs)
    results = model(*inputs)
    for got, want in zip(
        results if isinstance(results, tuple) else (results,),
        found if isinstance(found, tuple) else (found,),
        strict=True,
    ):
        np.testing.assert_allclose(np.asarray(got), want, rtol=1e-13, atol=1e-13)


def test_complex_numbers_are_recorded_as_pairs() -> None:
    def recorded(re: Any, im: Any) -> Any:
        z = xp.asarray(re) + 1j * xp.asarray(im)
        return xp.exp(z * z).tensor, xp.absolute(z).tensor

    model = trace(recorded, *[_type("d", 1)] * 2)
    for count in (0, 1, 5):
        re, im = np.linspace(-1, 1, count), np.linspace(2, 0, count)
        wanted = np.exp((re + 1j * im) ** 2)
        power, size = (np.asarray(each) for each in model(re, im))
        np.testing.assert_allclose(power, np.stack([np.real(wanted), np.imag(wanted)], -1), rtol=1e-13)
        np.testing.assert_allclose(size, np.abs(re + 1j * im), rtol=1e-14)


@pytest.mark.parametrize("name", ["add", "multiply", "maximum", "hypot", "logical_or", "subtract", "gcd"])
@pytest.mark.parametrize("method", ["reduce", "accumulate"])
def test_methods_are_recorded_with_open_sizes(name: str, method: str) -> None:
    code = "l" if name == "gcd" else "d"
    function = getattr(getattr(xp, name), method)

    def recorded(t: Any) -> Any:
        return function(xp.asarray(t), axis=1).tensor

    model = trace(recorded, *[_type(code, 2)])
    for shape in ((2, 3), (1, 1), (0, 4), (4, 5)):
        given = np.arange(int(np.prod(shape))).reshape(shape).astype(code)
        wanted = getattr(getattr(np, name), method)(given, axis=1)
        np.testing.assert_allclose(np.asarray(model(given)), wanted, rtol=1e-13)


def test_an_exponent_that_is_known_is_refused_while_recording() -> None:
    def recorded(t: Any) -> Any:
        return (xp.asarray(t) ** -1).tensor

    with pytest.raises(AttributeValueError, match="negative power"):
        trace(recorded, *[_type("l", 1)])


def test_exponents_that_only_the_model_knows_give_what_is_left_of_the_quotient() -> None:
    def recorded(t: Any, e: Any) -> Any:
        return (xp.asarray(t) ** xp.asarray(e)).tensor

    model = trace(recorded, *[_type("l", 1)] * 2)
    given = np.array([1, -1, -1, 2, 7]), np.array([-3, -3, -2, -1, 2])
    np.testing.assert_array_equal(np.asarray(model(*given)), [1, -1, 1, 0, 49])


def test_arrays_are_written_to_while_recording() -> None:
    def program(m: Any, x: Any) -> Any:
        y = x + 0
        y += 1
        y[0] *= 2
        m.add(y, 1, out=y)
        m.sqrt(y, where=y > 3, out=y)
        m.add.at(y, (0, [1, 1]), 2.0)
        return y

    def recorded(t: Any) -> Any:
        return program(xp, xp.asarray(t)).tensor

    model = trace(recorded, *[_type("d", 2)])
    for shape in ((2, 3), (1, 2), (4, 2)):
        given = np.arange(float(np.prod(shape))).reshape(shape)
        np.testing.assert_allclose(np.asarray(model(given)), program(np, given), rtol=1e-15)
