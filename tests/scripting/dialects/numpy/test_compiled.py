"""Functions that numpy's own code ends in: each is one of the installed numpy's, and ours gives what it gives."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest

import onnxsmith.numpy as xp
from onnxsmith.errors import OnnxsmithError
from onnxsmith.scripting.dialects.numpy import compiled
from onnxsmith.scripting.dialects.numpy.compiled import Converter, internal_functions

OURS = internal_functions()
A = np.array([[4.0, 1, 0], [1, 3, 0.5], [0, 0.5, 2]])
B = np.array([[1.0, 2], [3, 4], [5, 7]])
X = np.sin(np.arange(7.0))


def ours(value: Any) -> Any:
    return xp.asarray(value) if isinstance(value, np.ndarray) else value


def of_numpy(module: str, name: str) -> Any:
    try:
        return getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError):
        pytest.skip(f"the installed numpy has no {name}")


def agree(function: Any, *args: Any, **kwargs: Any) -> None:
    wanted = function(*args, **kwargs)
    found = OURS[function](*map(ours, args), **kwargs)
    for mine, theirs in zip(
        found if isinstance(found, tuple) else (found,),
        wanted if isinstance(wanted, tuple) else (wanted,),
        strict=True,
    ):
        given, expected = np.asarray(mine), np.asarray(theirs)
        assert given.shape == expected.shape
        np.testing.assert_allclose(given, expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("module", compiled._TABLES)
def test_the_installed_numpy_has_the_functions(module: str) -> None:
    """Those that a newer numpy added may be missing, and no other."""
    home = importlib.import_module(module)
    missing = {name for name in compiled._TABLES[module] if not hasattr(home, name)}
    assert missing <= {"_unique_hash", "_array_converter"}


#: The operands of a function of matrices, and its signature.
MATRICES: dict[str, tuple[tuple[Any, ...], str]] = {
    "solve": ((A, B), "dd->d"),
    "solve1": ((A, B[:, 0]), "dd->d"),
    "inv": ((A,), "d->d"),
    "det": ((A,), "d->d"),
    "slogdet": ((A,), "d->dd"),
    "cholesky_lo": ((A,), "d->d"),
    "cholesky_up": ((A + np.tril(np.ones((3, 3)), -1),), "d->d"),
    "eigvalsh_lo": ((A + np.triu(np.ones((3, 3)), 1),), "d->d"),
    "eigvalsh_up": ((A + np.tril(np.ones((3, 3)), -1),), "d->d"),
    "svd": ((B,), "d->d"),
}


@pytest.mark.parametrize("name", MATRICES)
def test_functions_of_matrices(name: str) -> None:
    operands, signature = MATRICES[name]
    agree(of_numpy("numpy.linalg._umath_linalg", name), *operands, signature=signature)


@pytest.mark.parametrize("name", ["eigh_lo", "eigh_up", "eig", "svd_f", "svd_s"])
def test_functions_of_matrices_with_vectors_of_any_sign(name: str) -> None:
    theirs = of_numpy("numpy.linalg._umath_linalg", name)
    lopsided = A + (np.triu if name == "eigh_lo" else np.tril)(
        np.ones((3, 3)), {"eigh_lo": 1, "eigh_up": -1}.get(name, -9)
    )
    given = B if name.startswith("svd") else lopsided
    signature = {"eig": "d->DD", "svd_f": "d->ddd", "svd_s": "d->ddd"}.get(name, "d->dd")
    wanted = theirs(given, signature=signature)
    found = OURS[theirs](xp.asarray(given), signature=signature)
    assert [np.asarray(each).shape for each in found] == [each.shape for each in wanted]
    values = 1 if name.startswith("svd") else 0
    np.testing.assert_allclose(
        np.sort(np.asarray(found[values]).real), np.sort(wanted[values].real), rtol=1e-8, atol=1e-9
    )


def test_complex_operands_are_taken_as_such() -> None:
    inv = of_numpy("numpy.linalg._umath_linalg", "inv")
    agree(inv, A, signature="D->D")
    assert np.asarray(OURS[inv](xp.asarray(A), signature="D->D")).dtype == np.complex128
    single = A.astype(np.float32)
    assert np.asarray(OURS[inv](xp.asarray(single))).dtype == np.float32
    assert np.asarray(OURS[inv](xp.asarray(single), signature="d->d")).dtype == np.float64


def test_least_squares() -> None:
    found = np.linalg.lstsq(B, X[:3], rcond=None)
    lstsq = of_numpy("numpy.linalg._umath_linalg", "lstsq")
    mine = OURS[lstsq](xp.asarray(B), xp.asarray(X[:3]), 1e-12, signature="ddd->ddid")
    np.testing.assert_allclose(np.asarray(mine[0]), found[0], rtol=1e-9)


@pytest.mark.parametrize("norm", [None, "ortho", "forward"])
@pytest.mark.parametrize(
    ("is_real", "is_forward"), [(True, True), (True, False), (False, True), (False, False)]
)
def test_transforms(is_real: bool, is_forward: bool, norm: str | None) -> None:
    given = X if is_forward else X.astype(complex)
    name = f"{'' if is_forward else 'i'}{'r' if is_real else ''}fft"
    wanted = getattr(np.fft, name)(given, 6, 0, norm)
    found = compiled._transform(xp.asarray(given), 6, 0, is_real, is_forward, norm)
    np.testing.assert_allclose(np.asarray(found), wanted, rtol=1e-9, atol=1e-12)
    out = xp.zeros_like(found)
    assert compiled._transform(xp.asarray(given), 6, 0, is_real, is_forward, norm, out) is out
    np.testing.assert_allclose(np.asarray(out), wanted, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("mode", [0, 1, 2, "valid", "same", "full"])
def test_sliding_products(mode: int | str) -> None:
    number = {"valid": 0, "same": 1, "full": 2}.get(mode, mode)  # type: ignore[arg-type]
    kernel = np.array([1.0, -2, 0.5])
    multiarray = importlib.import_module("numpy._core.multiarray")
    for name in ("correlate", "correlate2"):
        wanted = getattr(multiarray, name)(X, kernel, number)
        found = compiled._TABLES["numpy._core.multiarray"][name](xp.asarray(X), xp.asarray(kernel), mode)
        np.testing.assert_allclose(np.asarray(found), wanted, rtol=1e-9, atol=1e-12)
    whole = np.array([1 + 2j, 3 - 1j])
    wanted = multiarray.correlate2(X.astype(complex), whole, 2)
    found = compiled._correlate_conjugate(xp.asarray(X.astype(complex)), xp.asarray(whole), 2)
    np.testing.assert_allclose(np.asarray(found), wanted, rtol=1e-9, atol=1e-12)


def test_counts_interpolations_and_places() -> None:
    multiarray = importlib.import_module("numpy._core.multiarray")
    assert int(OURS[multiarray.count_nonzero](xp.asarray([0, 1, 2]))) == 2
    for kwargs in ({}, {"left": -1.0, "right": 9.0}):
        points = np.array([-1.0, 0.5, 9])
        wanted = np.interp(points, np.arange(3.0), X[:3], **kwargs)
        found = OURS[multiarray.interp](*map(xp.asarray, (points, np.arange(3.0), X[:3])), **kwargs)
        np.testing.assert_allclose(np.asarray(found), wanted)
    array = xp.zeros(3)
    for values in (5.0, [6.0]):
        compiled._placed(array, xp.asarray([True, False, True]), values)
        assert np.asarray(array).tolist() == [np.ravel(values)[0], 0, np.ravel(values)[0]]
    for wrong in ((np.zeros(3), [True] * 3, 1.0), (array, [True] * 3, [1.0, 2.0])):
        with pytest.raises(OnnxsmithError):
            compiled._placed(*wrong)


def test_broadcasts() -> None:
    made = compiled._Broadcast(xp.zeros((3, 1)), xp.zeros(4))
    assert (made.shape, made.ndim, made.nd, made.size) == ((3, 4), 2, 2, 12)
    with pytest.raises(OnnxsmithError, match="no elements to go through"):
        iter(made)
    assert compiled._broadcast_to(xp.zeros(2), (3, 2), True, True).shape == (3, 2)
    assert compiled._not_by_hash(xp.zeros(2)) is NotImplemented


def test_the_converter_of_arguments() -> None:
    array = xp.asarray(np.float32([1, 2]))
    one = Converter(array, 3)
    assert (len(one), one.scalar_input, one[1].shape) == (2, (False, True), ())
    assert [each.shape for each in one] == [(2,), ()]
    assert one.as_arrays()[1] == 3
    assert not isinstance(one.as_arrays(pyscalars="convert")[1], int)
    assert one.as_arrays(pyscalars="preserve")[1] == 3
    numbers = Converter(1, 2.5)
    assert not isinstance(numbers.as_arrays()[0], int)
    assert one.result_type() == np.float32
    assert one.result_type(np.float64) == np.float64
    assert Converter(xp.asarray([1])).result_type(ensure_inexact=True) == np.float64
    assert Converter(xp.asarray([1])).result_type() == np.int64
    flat = xp.zeros(())
    assert numbers.wrap(xp.zeros(())).is_number
    assert not one.wrap(flat).is_number
    assert not numbers.wrap(xp.zeros(()), to_scalar=False).is_number
    assert one.wrap(xp.zeros(()), to_scalar=True).is_number
    assert one.wrap(array) is array
    assert one.wrap(5) == 5


@pytest.mark.parametrize(
    ("shape", "strides"),
    [(None, None), ((2, 3), (8, 8)), ((3,), (16,)), ((2, 2, 2), (24, 8, 8)), ((), ()), ((4,), None)],
)
def test_strides(shape: Any, strides: Any) -> None:
    wanted = np.lib.stride_tricks.as_strided(X, shape, strides)
    found = compiled._strided(xp.asarray(X), shape, strides)
    np.testing.assert_array_equal(np.asarray(found), wanted)
    if shape:
        with pytest.raises((OnnxsmithError, ValueError)):
            found[...] = 0


@pytest.mark.parametrize(("shape", "strides"), [((2, 3), (8,)), ((3,), (-8,))])
def test_strides_that_are_refused(shape: Any, strides: Any) -> None:
    with pytest.raises(OnnxsmithError):
        compiled._strided(xp.asarray(X), shape, strides)
