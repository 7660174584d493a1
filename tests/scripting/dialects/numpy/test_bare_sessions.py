"""Models of numpy code load in a session of ONNX Runtime that nobody adapts them for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import onnxruntime
import pytest

import onnxsmith.numpy as xp
from onnxsmith import DOUBLE
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import TensorType
from tests.numpy.everyday.cases import CASES, Case
from tests.numpy.everyday.test_everyday import REFUSED


def session(model: Any) -> onnxruntime.InferenceSession:
    return onnxruntime.InferenceSession(model.proto.SerializeToString(), providers=["CPUExecutionProvider"])


def _type(position: int, value: object) -> object:
    """A type with open sizes for an array, and what stands for itself."""
    if isinstance(value, np.ndarray):
        sizes = tuple(f"N{position}_{axis}" for axis in range(value.ndim))
        return TensorType(DType.from_numpy(value.dtype), sizes)
    return value if isinstance(value, bool | str) or value is None else type(value)


@pytest.mark.parametrize(
    "case", [each for each in CASES if each.name not in REFUSED], ids=lambda each: each.name
)
def test_everyday_functions(case: Case) -> None:
    types = [_type(*each) for each in enumerate(case.at(7, np.float64))]
    session(xp.to_model(case.function, *types, verify=False, **case.options[0]))


def counted(x: Any) -> Any:
    n = 0
    for v in x:
        if 1 < v < 3:
            n += 1
    return n


def smoothed(x: Any) -> Any:
    out, level, was = np.zeros(len(x)), 0.0, False
    for i in range(len(x)):
        if x[i] > 1:
            level = x[i]
            was = x[i] > 2
        else:
            level = 0.1 * x[i] + 0.9 * level
        out[i] = level
    return out, was


TRUTHS: dict[str, Callable[..., Any]] = {
    "where": lambda x: np.where(x > 0, x > 1, x < -1),
    "where of a constant": lambda x: np.where(x > 0, x > 1, True),
    "any of some": lambda x: np.any(x > 2, where=x < 1),
    "all of some": lambda x: np.all(x > 2, where=x > 1),
    "compared twice in a loop": counted,
    "carried by a loop": smoothed,
    "select": lambda x: np.select([x > 1, x < -1], [x > 2, x < -2], False),
}


@pytest.mark.parametrize("name", TRUTHS)
def test_choices_of_truth_values(name: str) -> None:
    function = TRUTHS[name]
    run = session(xp.to_model(function, DOUBLE["N"]))
    for size in (0, 1, 2, 70):
        x = np.random.default_rng(size).normal(size=size) * 2
        found = run.run(None, {run.get_inputs()[0].name: x})
        wanted = function(x)
        for one, other in zip(wanted if isinstance(wanted, tuple) else (wanted,), found, strict=True):
            np.testing.assert_allclose(other, one, rtol=1e-12)


def with_pivots(a):
    a, n = a.copy(), len(a)
    order = np.arange(n)
    for k in range(n - 1):
        p = k + np.argmax(np.abs(a[k:, k]))
        if p != k:
            a[[k, p]] = a[[p, k]]
            order[[k, p]] = order[[p, k]]
        a[k + 1 :, k] /= a[k, k]
        a[k + 1 :, k + 1 :] -= np.outer(a[k + 1 :, k], a[k, k + 1 :])
    return a, order


def test_a_loop_of_one_turn_less_than_rows_runs_on_no_rows() -> None:
    model = xp.to_model(with_pivots, DOUBLE["N", "N"], verify=False)
    for made in (model, model.for_runtime(), model.optimize()):
        session = onnxruntime.InferenceSession(made.proto.SerializeToString())
        for size in (0, 1, 4):
            a = np.random.default_rng(size).normal(size=(size, size))
            for found, wanted in zip(session.run(None, {"a": a}), with_pivots(a), strict=True):
                np.testing.assert_allclose(found, wanted, rtol=1e-12)


def test_least_squares_of_no_rows() -> None:
    def fitted(x, y):
        a = np.column_stack([x, np.ones(len(x))])
        return np.linalg.lstsq(a, y, rcond=None)[0]

    model = xp.to_model(fitted, DOUBLE["N"], DOUBLE["N"], verify=False)
    for made in (model, model.for_runtime()):
        session = onnxruntime.InferenceSession(made.proto.SerializeToString())
        (found,) = session.run(None, {"x": np.zeros(0), "y": np.zeros(0)})
        np.testing.assert_array_equal(found, [0, 0])


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0, 0)])
@pytest.mark.parametrize(
    "function",
    [
        np.linalg.pinv,
        lambda a: np.linalg.lstsq(a, a, rcond=None),
        lambda a: np.packbits(a > 0, axis=1),
        lambda a: np.packbits(a > 0, axis=0),
    ],
)
def test_matrices_without_elements_in_a_plain_session(function: Any, shape: tuple[int, int]) -> None:
    def of(a):
        return function(a)

    model = xp.to_model(of, DOUBLE["M", "N"], verify=False)
    session = onnxruntime.InferenceSession(model.proto.SerializeToString())
    a = np.zeros(shape)
    wanted = function(a)
    wanted = wanted if isinstance(wanted, tuple) else (wanted,)
    for found, right in zip(session.run(None, {"a": a}), wanted, strict=True):
        np.testing.assert_array_equal(found, right)
        assert np.shape(found) == np.shape(right)
