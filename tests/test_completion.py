"""The names that completion shows of public modules: all of them, and none that a module imports for itself.

`public_names.txt` pins them, a line for each module; `--update-golden` writes it anew.
"""

from __future__ import annotations

import importlib
import types
from pathlib import Path

import pytest

import onnxsmith
from onnxsmith import FLOAT, trace
from onnxsmith.core.operator import Operator

PINNED = Path(__file__).parent / "public_names.txt"
#: Every module that documentation tells people to import from, but for opsets.
MODULES = (
    "onnxsmith",
    "onnxsmith.comparing",
    "onnxsmith.diffing",
    "onnxsmith.errors",
    "onnxsmith.evaluator",
    "onnxsmith.grad",
    "onnxsmith.grad.losses",
    "onnxsmith.grad.optimizers",
    "onnxsmith.numpy",
    "onnxsmith.numpy.fft",
    "onnxsmith.numpy.linalg",
    "onnxsmith.numpy.random",
    "onnxsmith.numpy.special",
    "onnxsmith.onnx_opset",
    "onnxsmith.onnx_types",
    "onnxsmith.passes",
    "onnxsmith.passes.rules",
    "onnxsmith.rewriter",
    "onnxsmith.rewriter.pattern",
    "onnxsmith.runtime",
    "onnxsmith.sklearn",
    "onnxsmith.torch",
    "onnxsmith.training",
    "onnxsmith.training.losses",
    "onnxsmith.training.optimizers",
    "onnxsmith.training.schedules",
    "onnxsmith.types",
    "onnxsmith.values",
    "onnxsmith.view",
)


def shown(module: types.ModuleType) -> list[str]:
    """The names that completion shows; opsets appear at the top once they are loaded."""
    return [name for name in dir(module) if not name.startswith(("_", "opset"))]


@pytest.fixture(scope="session")
def pinned(request: pytest.FixtureRequest) -> dict[str, list[str]]:
    if request.config.getoption("--update-golden"):
        lines = [f"{name}: {' '.join(shown(importlib.import_module(name)))}\n" for name in MODULES]
        PINNED.write_text("".join(lines), encoding="utf-8")
    rows = [line.partition(": ") for line in PINNED.read_text(encoding="utf-8").splitlines()]
    return {name: names.split() for name, _, names in rows}


@pytest.mark.parametrize("name", MODULES)
def test_a_module_shows_what_is_pinned(name: str, pinned: dict[str, list[str]]) -> None:
    assert shown(importlib.import_module(name)) == pinned[name]


@pytest.mark.parametrize(
    "name", [each for each in MODULES if each not in ("onnxsmith.sklearn", "onnxsmith.torch")]
)
def test_what_is_shown_is_there_and_no_module_of_ours_by_accident(name: str) -> None:
    module = importlib.import_module(name)
    meant = {
        "onnxsmith.grad": ["losses"],
        "onnxsmith.numpy": ["fft", "linalg", "random", "special"],
        "onnxsmith.rewriter": ["pattern"],
        "onnxsmith.training": ["artifacts", "losses", "optimizers", "schedules"],
    }
    for each in shown(module):
        is_module = isinstance(getattr(module, each), types.ModuleType)
        is_meant = name == "onnxsmith" or each in meant.get(name, ())
        assert not is_module or is_meant, each


@pytest.mark.parametrize("name", ["opset1", "opset21", "opset_ai_onnx_ml5"])
def test_an_opset_shows_its_operators(name: str) -> None:
    opset = getattr(onnxsmith, name)
    assert shown(opset)
    assert all(isinstance(getattr(opset, each), Operator) for each in shown(opset))


def test_a_model_shows_what_it_can_do() -> None:
    model = trace(lambda x: x + 1.0, FLOAT["N"])
    ours = {"handed_over", "is_proto_only", "place"}
    estimators = {"decision_function", "predict", "predict_proba", "transform"}
    assert not (ours | estimators) & set(dir(model))
    assert ours <= set(dir(type(model)))
