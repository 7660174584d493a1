"""Scripts as models: attributes, and the options of `to_model`."""

from __future__ import annotations

import ast
from pathlib import Path

import numpy as np
import pytest

import onnxsmith
from onnxsmith import FLOAT, errors, jit, script
from onnxsmith.scripting.functions.definition import OPTIONS

STUBS = Path(onnxsmith.__file__).parent / "opset/_stubs"


@script
def scaled(x: FLOAT["N"], alpha: float, shift: float = 1.0) -> FLOAT["N"]:
    """Scales."""
    return x * alpha + shift


X = np.float32([1, 2])


def test_attributes_are_given_by_name() -> None:
    model = scaled.to_model(attributes={"alpha": 2.0})
    np.testing.assert_array_equal(model(X), [3, 5])
    proto = scaled.to_model_proto(attributes={"alpha": 2.0, "shift": 0.0})
    np.testing.assert_array_equal(onnxsmith.Model.from_proto(proto)(X), [2, 4])
    np.testing.assert_array_equal(jit(scaled)(X, alpha=3.0), [4, 7])


@pytest.mark.parametrize(
    ("attributes", "message"),
    [
        ({}, "'alpha' of scaled needs a value in a model"),
        ({"alpha": 2.0, "beta": 1.0}, "has no attribute 'beta'"),
        ({"alhpa": 2.0}, "did you mean 'alpha'"),
        ([("alpha", 2.0)], "attributes is a dict of values by name, not a list"),
    ],
)
def test_attributes_that_do_not_fit(attributes: object, message: str) -> None:
    with pytest.raises(errors.CallError, match=f"(?s){message}"):
        scaled.to_model(attributes=attributes)  # pyright: ignore[reportArgumentType]


def test_an_attribute_is_no_option() -> None:
    with pytest.raises(errors.CallError, match=r"(?s)no option 'alpha'.*attributes={'alpha': …}"):
        scaled.to_model(alpha=2.0)  # pyright: ignore[reportCallIssue]


def test_an_attribute_may_be_called_as_an_option_is() -> None:
    @script
    def named(x: FLOAT["N"], name: float) -> FLOAT["N"]:
        return x * name

    model = named.to_model(attributes={"name": 2.0}, name="net")
    assert model.proto.graph.name == "net"
    np.testing.assert_array_equal(model(X), [2, 4])


def test_the_docstring_stays_with_the_graph() -> None:
    proto = scaled.to_model(attributes={"alpha": 2.0}, doc_string="A model.").proto
    assert (proto.doc_string, proto.graph.doc_string) == ("A model.", "Scales.")


@pytest.mark.parametrize("method", ["to_model", "to_model_proto"])
def test_checkers_see_the_options_there_are(method: str) -> None:
    tree = ast.parse((STUBS / "functions.pyi").read_text(encoding="utf-8"))
    stub = next(each for each in ast.walk(tree) if isinstance(each, ast.FunctionDef) and each.name == method)
    assert [each.arg for each in stub.args.kwonlyargs] == list(OPTIONS)


def test_a_helper_that_changed_is_staged_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """The graph that checking made is kept for the first model, unless a script that it calls means something else."""

    @script()
    def calls(x: FLOAT["N"]):
        return _helped(x)

    monkeypatch.setitem(globals(), "FACTOR", 3.0)
    np.testing.assert_array_equal(calls.to_model()(np.float32(2).reshape(1)), [6.0])


FACTOR = 2.0


@script()
def _helped(x: FLOAT["N"]):
    return x * FACTOR
