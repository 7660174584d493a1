"""Arithmetic of real and complex tensors in all mixtures: what numpy computes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from onnxsmith.algorithms.complex_numbers.field import Field, alike, field, joined, number, real, where
from onnxsmith.algorithms.complex_numbers.pair import Complex
from onnxsmith.types.dtypes import DType
from tests.algorithms.running import computed

#: Larger real parts, larger imaginary parts, one of them zero; none is zero, so that each can divide.
Z = np.array([[3 + 1j, -1 + 4j, 2j], [-2 - 2j, 0.5 + 0j, 1 - 3j], [1j, -5 + 0.25j, -0.5 - 7j]])
W = np.array([[1 - 2j, 2 + 0j, -3 - 1j], [0.5 + 4j, -1j, 2 + 2j], [-4 + 1j, 1 + 1j, 0.25 - 2j]])
OPERANDS = {
    "complex, complex": (Z, W),
    "complex, real": (Z, W.imag + 5),
    "real, complex": (Z.real - 7, W),
    "real, real": (Z.real - 7, W.imag + 5),
    "complex, one column": (Z, W[:, :1]),
    "one row, complex": (Z.real[:1] - 7, W),
    "one row, one column": (Z.real[:1] - 7, W[:, :1]),
}
BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "sum": lambda x, y: x + y,
    "difference": lambda x, y: x - y,
    "product": lambda x, y: x * y,
    "quotient": lambda x, y: x / y,
}


def as_field(array: np.ndarray, tensors: list[Any]) -> Field:
    """The next tensor or two as what an array is."""
    return Field(tensors.pop(0), tensors.pop(0)) if array.dtype.kind == "c" else Field(tensors.pop(0))


def agree(
    function: Callable[..., Any], *arrays: np.ndarray, wanted: Callable[..., Any] | None = None
) -> None:
    """A function of fields, or several, gives what one of numpy's arrays gives, real where that is."""
    parts = [
        part for each in arrays for part in ([each.real, each.imag] if np.iscomplexobj(each) else [each])
    ]

    def run(*tensors: Any) -> list[Any]:
        left = list(tensors)
        made = function(*(as_field(each, left) for each in arrays))
        several = made if isinstance(made, list) else [made]
        return [part for each in several for part in (each.parts() if isinstance(each, Field) else [each])]

    found = iter(computed(run, *[np.array(each) for each in parts], tolerance=1e-12))
    expected = (wanted or function)(*arrays)
    for each in expected if isinstance(expected, list) else [expected]:
        for part in [each.real, each.imag] if np.iscomplexobj(each) else [each]:
            one = next(found)
            assert one.shape == part.shape
            np.testing.assert_allclose(one, part, rtol=1e-12, atol=1e-12)
    assert next(found, None) is None


@pytest.mark.parametrize("kinds", OPERANDS)
def test_operators(kinds: str) -> None:
    agree(lambda x, y: [each(x, y) for each in BINARY.values()], *OPERANDS[kinds])


@pytest.mark.parametrize("kinds", [each for each in OPERANDS if "one" not in each])
def test_products_of_matrices(kinds: str) -> None:
    agree(lambda x, y: x @ y, *OPERANDS[kinds])


@pytest.mark.parametrize(
    "z", [np.append(Z.ravel(), 0), np.append(Z.real.ravel(), -1.5)], ids=["complex", "real"]
)
def test_parts_of_a_number(z: np.ndarray) -> None:
    agree(
        lambda z: [-z, z.conj(), z.squared_size(), z.size(), z.phase(), z.is_nonzero(), z.is_nan()],
        z,
        wanted=lambda z: [
            -z,
            z.conj(),
            (z * z.conj()).real,
            abs(z),
            np.where(z == 0, 1, z / np.where(z == 0, 1, abs(z))),
            z != 0,
            np.isnan(z),
        ],
    )


def test_what_is_no_number_is_so_in_either_part() -> None:
    z = np.array([complex(np.nan, 0), complex(0, np.nan), 1 + 1j])
    agree(lambda z: z.is_nan(), z, wanted=np.isnan)


def test_angles() -> None:
    agree(lambda z: z.angle(), Z, wanted=np.angle)


@pytest.mark.parametrize("z", [np.stack([Z, W]), np.stack([Z.real, W.real])], ids=["complex", "real"])
def test_matrices_exchange_their_last_dimensions(z: np.ndarray) -> None:
    z = z[:, :2]
    agree(
        lambda z: [z.transposed(), z.adjoint()],
        z,
        wanted=lambda z: [np.swapaxes(z, 1, 2), np.swapaxes(z, 1, 2).conj()],
    )


@pytest.mark.parametrize("kinds", [each for each in OPERANDS if "one" not in each])
def test_one_or_the_other_and_one_after_the_other(kinds: str) -> None:
    x, y = OPERANDS[kinds]
    chosen = np.array([[True, False, True], [False, False, True], [True, True, False]])
    agree(
        lambda x, y: [where(chosen, x, y), joined([x, y], 1), joined([y, x, y], 0)],
        x,
        y,
        wanted=lambda x, y: [np.where(chosen, x, y), np.concatenate([x, y], 1), np.concatenate([y, x, y], 0)],
    )


def test_a_real_tensor_beside_a_complex_one() -> None:
    agree(
        lambda x, z: [
            alike(x, z),
            alike(z, x),
            alike(x, x),
            field(x.re, z),
            field(z.as_value()),
            x + number(2.5),
        ],
        Z.real,
        W,
        wanted=lambda x, z: [x + 0j, z, x, x + 0j, z, x + 2.5],
    )


def test_what_a_field_is() -> None:
    def look(re: Any, im: Any) -> Any:
        z, x = Field(re, im), Field(re)
        assert (z.is_complex, x.is_complex, z.rank, z.dtype) == (True, False, 2, DType.DOUBLE)
        assert isinstance(z.as_value(), Complex)
        assert x.as_value() is re
        assert real(3, z).dtype == np.float64
        return z.cast(DType.FLOAT).parts()

    for part, found in zip((Z.real, Z.imag), computed(look, Z.real.copy(), Z.imag.copy()), strict=True):
        assert found.dtype == np.float32
        np.testing.assert_array_equal(found, part.astype(np.float32))
