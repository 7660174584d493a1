"""A model of numpy code gives what the code gives: what is compared, how nearly, and on which data."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import onnxsmith.numpy as xp
from onnxsmith import DOUBLE, FLOAT, INT64, Dim
from onnxsmith.errors import (
    AttributeValueError,
    CallError,
    MissingReturnError,
    VerificationError,
)
from onnxsmith.numpy.registry import FUNCTIONS
from onnxsmith.scripting.dialects.numpy.verifying import _with_eigenvalues

WEIGHTS = np.array([0.5, 1.5])


def in_doubles(x, by=0.5):
    made = np.zeros(len(x))
    made[:] = np.float64(0.1) + WEIGHTS[0]
    scaled = x.astype(float) * made * by + np.linspace(0, 1, len(x))
    return {"scaled": scaled + np.arange(len(x)) / 3, "mean": x.mean(), "whole": x.astype(int)}


def test_sizes_are_compared_and_those_that_the_code_refuses_are_told():
    def first(x):
        if len(x) == 0:
            raise ValueError("nothing is there")
        return x[0] * 2

    report = xp.to_model(first, DOUBLE["N"]).report
    assert [each.label for each in report.rows] == ["N=1", "N=2", "N=7"]
    assert report.notes == ["N=0: left out, the function raises ValueError: nothing is there"]
    assert report.largest == 0.0


def test_a_difference_is_an_error_that_names_it(monkeypatch: pytest.MonkeyPatch):
    def total(x):
        return {"total": np.nansum(x, axis=0)}

    monkeypatch.setitem(FUNCTIONS, "nansum", lambda x, axis: x.sum(axis=axis) + 1)
    with pytest.raises(VerificationError, match=r"N=0: total differs by 1") as caught:
        xp.to_model(total, DOUBLE["N"])
    assert "'total'" in str(caught.value)
    assert xp.to_model(total, DOUBLE["N"], verify=False).report.rows == []


def test_data_of_the_user_is_compared():
    x = np.array([1e3, 1e-3])
    report = xp.to_model(lambda x: x.sum(), DOUBLE["N"], data=(x,)).report
    assert report.rows[0].label == "data"
    with pytest.raises(CallError, match="data has 2 arguments"):
        xp.to_model(lambda x: x.sum(), DOUBLE["N"], data=(x, x))


def test_float32_inputs_decide_how_near_float64_results_are():
    x = np.linspace(-1, 1, 5, dtype=np.float32)
    model = xp.to_model(lambda x: np.sqrt(0.5) * np.exp(x), FLOAT["N"])
    assert model.outputs[0].type == DOUBLE["N"]
    np.testing.assert_allclose(model(x), np.sqrt(0.5) * np.exp(x), rtol=1e-6)


def test_float32_steps_decide_how_near_float64_results_are():
    xp.to_model(lambda x: np.exp(x.astype(np.float32)).astype(float) * np.sqrt(0.5), DOUBLE["N"])


def test_verify_is_the_difference_that_is_allowed(monkeypatch: pytest.MonkeyPatch):
    def total(x):
        return np.nansum(x, axis=0) + 1

    monkeypatch.setitem(FUNCTIONS, "nansum", lambda x, axis: x.sum(axis=axis) + 1e-5)
    for verify in (True, 1e-9):
        with pytest.raises(VerificationError, match="differs by"):
            xp.to_model(total, DOUBLE["N"], verify=verify)
    assert xp.to_model(total, DOUBLE["N"], verify=1e-3).report.largest > 1e-7
    with pytest.raises(VerificationError, match="differs by"):
        xp.to_model(in_doubles, DOUBLE["N"], precision=FLOAT, verify=1e-12)


@pytest.mark.parametrize("verify", ["yes", -1e-3, float("nan"), None])
def test_verify_is_a_truth_value_or_a_number(verify: Any):
    with pytest.raises(AttributeValueError, match="verify is True, False"):
        xp.to_model(lambda x: x, DOUBLE["N"], verify=verify)


@pytest.mark.parametrize(
    "x",
    [
        np.ones((2, 2)),
        np.ones(2, np.float32),
        np.ones(2, int),
        np.ones(3),
        1.0,
        None,
        "ab",
        np.array(["a", "b"]),
    ],
    ids=repr,
)
def test_data_that_does_not_fit_the_types_is_told_by_name(x: Any):
    with pytest.raises(CallError, match="data does not fit the type of 'x'"):
        xp.to_model(lambda x: x * 2.0, DOUBLE[2], data=(x,))


def test_data_with_rows_of_several_lengths_is_refused():
    with pytest.raises(CallError, match="data is no array"):
        xp.to_model(lambda x: x * 2.0, DOUBLE["N", "M"], data=([[1.0], [2.0, 3.0]],))


@pytest.mark.parametrize("result", [None, "text", (1, None), {"a": object()}])
def test_results_that_are_no_arrays_are_refused(result: Any):
    with pytest.raises(MissingReturnError, match="the outputs of a model are arrays"):
        xp.to_model(lambda x: result, DOUBLE["N"])


def test_data_is_the_arguments_of_a_call():
    with pytest.raises(CallError, match="data is"):
        xp.to_model(lambda x: x * 2, DOUBLE["N"], data=5)


@pytest.mark.parametrize("function", [lambda x: np.linalg.eig(x)[0], lambda x: np.linalg.eigvals(x)])
def test_eigenvalues_are_compared_whatever_their_order_and_type(function: Any) -> None:
    model = xp.to_model(function, DOUBLE["N", "N"])
    assert model.report.largest < 1e-9
    x = np.array([[0.0, 1.0], [-1.0, 0.0]])
    np.testing.assert_allclose(np.sort(model(x)[:, 1]), [-1, 1])


def test_eigenvectors_have_no_length_that_could_be_compared() -> None:
    with pytest.raises(VerificationError, match="promises no order of eigenvalues"):
        xp.to_model(lambda x: np.linalg.eig(x)[1], DOUBLE["N", "N"])


@pytest.mark.parametrize("shape", [(4,), (2, 4), (2, 3, 4)], ids=str)
def test_eigenvalues_of_several_matrices_have_orders_of_their_own(shape: tuple[int, ...]) -> None:
    rng = np.random.default_rng(0)
    theirs = rng.normal(size=shape) + 1j * rng.normal(size=shape).round(1)
    mine = np.stack([theirs.real, theirs.imag], -1)[..., ::-1, :]
    same, ordered = _with_eigenvalues(mine, theirs)
    assert same is mine
    np.testing.assert_array_equal(ordered, theirs[..., ::-1])
    other = theirs.copy()
    other[..., 0] += 1
    assert _with_eigenvalues(mine, other)[1] is other
    real = theirs.real.copy()
    np.testing.assert_array_equal(
        _with_eigenvalues(np.stack([real, real * 0], -1)[..., ::-1, :], real)[1], real[..., ::-1]
    )


def test_where_numbers_are_looked_up_arrays_are_in_order():
    # Which of numpy's results for unsorted arrays are the model's, too, differs between versions of numpy.
    report = xp.to_model(lambda a, v: np.searchsorted(a, v), DOUBLE["N"], DOUBLE["M"]).report
    assert [each.label.removesuffix(", in order") for each in report.rows][-1] == "N=7, M=9"
    report = xp.to_model(lambda x, p: np.interp(x, p, p**2), DOUBLE["N"], DOUBLE[Dim("M", min=1)]).report
    assert [each.label for each in report.rows][-2:] == ["N=2, M=3, in order", "N=7, M=9, in order"]
    report = xp.to_model(lambda x, bins: np.digitize(x, bins), DOUBLE["N"], DOUBLE["M"]).report
    assert [each.label for each in report.rows][-1] == "N=7, M=9, in order"


def test_an_element_type_that_hangs_on_the_number_of_elements_is_a_note():
    report = xp.to_model(lambda k, w: np.bincount(k, w, 3), INT64["N"], DOUBLE["N"]).report
    assert report.notes == ["N=0: output 'slice' is float64, and the function gives int64"]
    assert report.largest == 0.0


def test_sizes_that_the_model_is_not_for_are_not_tried():
    report = xp.to_model(lambda x: x[::-1], DOUBLE[Dim("N", min=2)]).report
    assert [each.label for each in report.rows] == ["N=2", "N=7"]
    assert report.notes == []
