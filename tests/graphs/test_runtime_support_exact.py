"""Saved models warn of the runtime exactly where a bare session gets them wrong or does not load them."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from onnxsmith import FLOAT, Model, opset21, script, trace
from onnxsmith.errors import RuntimeSupportWarning
from onnxsmith.numpy import to_model
from tests.laws.bare_session import BareProcess

RANDOM = np.random.default_rng(25)
SQUARE = RANDOM.normal(size=(4, 4))
TALL = RANDOM.normal(size=(6, 4))
PAIRS = SQUARE @ SQUARE.T + np.eye(4)
ROW, COLUMN = RANDOM.normal(size=4), RANDOM.normal(size=6)


def power_iteration(a):
    v = np.ones(a.shape[0])
    for _ in range(20):
        v = a @ v
        v = v / np.linalg.norm(v)
    return v


def gram_schmidt(x):
    found = []
    for i in range(x.shape[1]):
        v = x[:, i]
        for u in found:
            v = v - (u @ v) * u
        found.append(v / np.linalg.norm(v))
    return np.stack(found, 1)


def descent(x, y):
    w = np.zeros(x.shape[1])
    for _ in range(30):
        w = w - 0.01 * (x.T @ (x @ w - y))
    return w


def newton(a):
    x = a.T / np.trace(a @ a.T)
    for _ in range(40):
        x = x @ (2 * np.eye(a.shape[0]) - a @ x)
    return x


def ridge(x, y):
    return np.linalg.solve(x.T @ x + np.eye(x.shape[1]), x.T @ y)


CODE: dict[str, tuple[Callable[..., Any], Sequence[Any]]] = {
    "svd": (lambda a: np.linalg.svd(a, compute_uv=False), [TALL]),
    "eigvals": (lambda a: np.sort(np.abs(np.linalg.eigvals(a))), [PAIRS]),
    "eigvalsh": (lambda a: np.linalg.eigvalsh(a), [PAIRS]),
    "qr": (lambda a: np.linalg.qr(a), [TALL]),
    "solve": (lambda a, b: np.linalg.solve(a, b), [SQUARE, ROW]),
    "inv": (lambda a: np.linalg.inv(a), [SQUARE]),
    "pinv": (lambda a: np.linalg.pinv(a), [TALL]),
    "lstsq": (lambda a, b: np.linalg.lstsq(a, b, rcond=None)[0], [TALL, COLUMN]),
    "cholesky": (lambda a: np.linalg.cholesky(a), [PAIRS]),
    "matrix_rank": (lambda a: np.linalg.matrix_rank(a), [TALL]),
    "einsum": (lambda a, b: np.einsum("ij,ik->jk", a, b), [TALL, TALL]),
    "einsum of a vector": (lambda a, b: np.einsum("ij,i->j", a, b), [TALL, COLUMN]),
    "transposed times vector": (lambda a, b: a.T @ b, [TALL, COLUMN]),
    "polyfit": (lambda a, b: np.polyfit(a, b, 2), [COLUMN, COLUMN**2]),
    "fft": (lambda a: np.abs(np.fft.fft(a)), [ROW]),
    "cov": (lambda a: np.cov(a), [TALL]),
    "power iteration": (power_iteration, [PAIRS]),
    "gram schmidt": (gram_schmidt, [TALL]),
    "descent": (descent, [TALL, COLUMN]),
    "newton": (newton, [PAIRS]),
    "ridge": (ridge, [TALL, COLUMN]),
}


@script
def carried(x: FLOAT["M", "N"], v: FLOAT["M"]):
    total = opset21.Transpose(x) @ v
    for _ in range(3):
        total = opset21.Transpose(x) @ (x @ total)
    return total


@script
def projected(x: FLOAT["M", "N"], v: FLOAT["M"]):
    return opset21.Transpose(x) @ v


@script
def calls_another(x: FLOAT["M", "N"], v: FLOAT["M"]):
    return projected(x, v) * 2.0


@script
def of_matrices(x: FLOAT["M", "N"], y: FLOAT["M", "K"]):
    total = opset21.Transpose(x) @ y
    for _ in range(3):
        total = opset21.Transpose(x) @ (x @ total)
    return total


MADE: dict[str, tuple[Callable[[], Model], Sequence[Any], Callable[..., Any]]] = {
    "loop with a vector": (
        carried.to_model,
        [TALL, COLUMN],
        lambda x, v: np.linalg.matrix_power(x.T @ x, 3) @ x.T @ v,
    ),
    "function with a vector": (calls_another.to_model, [TALL, COLUMN], lambda x, v: x.T @ v * 2),
    "loop with a matrix": (
        of_matrices.to_model,
        [TALL, TALL],
        lambda x, y: np.linalg.matrix_power(x.T @ x, 3) @ x.T @ y,
    ),
    "traced product": (
        lambda: trace(lambda x, v: x.T @ v, FLOAT["M", "N"], FLOAT["M"]),
        [TALL, COLUMN],
        lambda x, v: x.T @ v,
    ),
    "traced product of matrices": (
        lambda: trace(lambda x, v: x.T @ v, FLOAT["M", "N"], FLOAT["M", "K"]),
        [TALL, TALL],
        lambda x, v: x.T @ v,
    ),
}
#: One process for all of them: to start one takes longer than to run a model.
BARE = BareProcess()


@pytest.fixture(scope="module", autouse=True)
def _closed() -> Iterator[None]:
    yield
    BARE.close()


@pytest.mark.parametrize("name", CODE)
def test_numpy_code_warns_where_a_bare_session_is_wrong(name: str, tmp_path: Path) -> None:
    function, arrays = CODE[name]
    assert_exact(to_model(function, *arrays), arrays, function(*arrays), tmp_path)


@pytest.mark.parametrize("name", MADE)
def test_scripts_warn_where_a_bare_session_is_wrong(name: str, tmp_path: Path) -> None:
    make, wide, function = MADE[name]
    arrays = [each.astype(np.float32) for each in wide]
    is_right = assert_exact(make(), arrays, function(*arrays), tmp_path)
    assert is_right == ("matri" in name)  # both kinds are among them


def assert_exact(model: Any, arrays: Sequence[Any], right: Any, folder: Path) -> bool:
    """Holds that saving warns if and only if a bare session is wrong; says whether it is right."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        model.save(folder / "model.onnx")
    is_told = any(issubclass(each.category, RuntimeSupportWarning) for each in told)
    names = [each.name for each in model.proto.graph.input]
    content = (folder / "model.onnx").read_bytes()
    outcome = BARE.ask(content, dict(zip(names, arrays, strict=True)), timeout=30.0, optimized=True, runs=1)
    wanted = right if isinstance(right, tuple) else (right,)
    is_right = bool(outcome.results) and all(
        given.shape == np.shape(one) and np.allclose(given, one, rtol=1e-4, atol=1e-6)
        for given, one in zip(outcome.results.values(), wanted, strict=True)
    )
    assert is_told == (not is_right), outcome
    return is_right
