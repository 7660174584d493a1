"""What the user says of the outside of a model, by `trace` and by `to_model` alike."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

import onnxsmith
from onnxsmith import FLOAT, INT64, Model, errors, script, trace
from onnxsmith import opset21 as op

WEIGHT = np.float32([1, 2, 3])


def program(a: FLOAT["N"], b: FLOAT["N"]) -> tuple[FLOAT["N"], FLOAT["N"]]:
    total = a + b
    scaled = op.Relu(total) * WEIGHT
    return scaled, total - a


def looped(x: FLOAT["N"], n: INT64) -> FLOAT["N"]:
    y = x
    for i in range(n):
        y = y + i
    return y


def traced(**options: Any) -> Model:
    return trace(program, FLOAT["N"], FLOAT["N"], **options)


def scripted(**options: Any) -> Model:
    return script(program).to_model(**options)


both = pytest.mark.parametrize("make", [traced, scripted])
Make = Callable[..., Model]
A, B = np.float32([1, -2, 3]), np.float32([4, 5, -6])


def names(model: Model) -> tuple[list[str], list[str]]:
    return [each.name for each in model.inputs], [each.name for each in model.outputs]


def check(model: Model) -> None:
    """It is valid, and computes what the function does."""
    onnx.checker.check_model(model.proto, full_check=True)
    for found, wanted in zip(model(A, B), program(A, B), strict=True):  # pyright: ignore[reportArgumentType]
        np.testing.assert_array_equal(found, wanted)


@both
def test_names_in_order(make: Make) -> None:
    model = make(input_names=["left", "right"], output_names=["y", "z"], name="net")
    assert names(model) == (["left", "right"], ["y", "z"])
    assert model.proto.graph.name == "net"
    check(model)


@both
def test_names_by_name(make: Make) -> None:
    plain = names(make())
    model = make(input_names={"b": "bias"}, output_names={plain[1][1]: "rest"})
    assert names(model) == (["a", "bias"], [plain[1][0], "rest"])
    check(model)


@both
def test_names_are_swapped(make: Make) -> None:
    first, second = names(make())[1]
    model = make(input_names=["b", "a"], output_names=[second, first])
    assert names(model) == (["b", "a"], [second, first])
    check(model)


@both
def test_a_value_in_between_makes_way(make: Make) -> None:
    inner = [value for node in make().proto.graph.node for value in node.output]
    taken = next(each for each in inner if each not in names(make())[1])
    for options in ({"input_names": [taken, "b"]}, {"output_names": ["y", taken]}):
        model = make(**options)
        assert taken in [*names(model)[0], *names(model)[1]]
        check(model)


def test_a_value_of_a_loop_makes_way() -> None:
    made = script(looped)
    body = next(
        each.g for node in made.to_model().proto.graph.node for each in node.attribute if each.HasField("g")
    )
    inside = [each.name for each in body.input] + [each for node in body.node for each in node.output]
    for name in inside:
        model = made.to_model(input_names=["x", name])
        onnx.checker.check_model(model.proto, full_check=True)
        np.testing.assert_array_equal(model(A, 3), A + 3)


@both
def test_doc_string_and_metadata(make: Make) -> None:
    proto = make(doc_string="What it does.", metadata={"author": "me", "version": "3"}).proto
    assert proto.doc_string == "What it does."
    assert {each.key: each.value for each in proto.metadata_props} == {"author": "me", "version": "3"}
    assert make().proto.doc_string == ""


@both
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"opset": 21}, "has no option 'opset'.*did you mean 'opset_version'"),
        ({"inputs": ["a"]}, "has no option 'inputs'"),
        ({"input_name": ["a"]}, "did you mean 'input_names'"),
        ({"input_names": "ab"}, "a list of names, not the string 'ab'"),
        ({"input_names": ["x"]}, "has 1 name for 2 inputs"),
        ({"output_names": ["x", "y", "z"]}, "has 3 names for 2 outputs"),
        ({"input_names": ["x", "x"]}, "gives two inputs the name 'x'"),
        ({"input_names": ["x", ""]}, "an empty name"),
        ({"input_names": ["x", 3]}, "is a string, not an int"),
        ({"input_names": {"c": "x"}}, "renames 'c', and there is none.*the inputs are: a, b"),
        ({"output_names": ["a", "z"]}, "'a' is the name of another input or output"),
        ({"doc_string": 3}, "doc_string is a string, not an int"),
        ({"metadata": ["a"]}, "metadata is a dict of strings, not a list"),
        ({"metadata": {"a": 1}}, r"metadata\['a'\] is a string, not an int"),
        ({"metadata": {1: "a"}}, "a key of metadata is a string, not an int"),
    ],
)
def test_what_does_not_fit_is_refused(make: Make, options: dict[str, Any], message: str) -> None:
    with pytest.raises(errors.OnnxsmithError, match=f"(?s){message}") as raised:
        make(**options)
    assert isinstance(raised.value, TypeError)


@both
def test_a_weight_keeps_its_name(make: Make) -> None:
    weight = make().proto.graph.initializer[0].name
    with pytest.raises(errors.OnnxsmithError, match=f"'{weight}' is the name of a weight"):
        make(output_names=["y", weight])


def test_options_that_trace_names_are_those_it_has() -> None:
    from onnxsmith.tracing import trace as module

    parameters = inspect.signature(trace).parameters.values()
    keywords = [each.name for each in parameters if each.kind is each.KEYWORD_ONLY]
    assert list(vars(module)["_OPTIONS"]) == keywords


def test_checkers_see_them_in_every_overload_of_trace() -> None:
    tree = ast.parse(Path(onnxsmith.__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
    overloads = [each for each in tree.body if isinstance(each, ast.FunctionDef) and each.name == "trace"]
    keywords = [
        each.name for each in inspect.signature(trace).parameters.values() if each.kind is each.KEYWORD_ONLY
    ]
    assert len(overloads) > 1
    for each in overloads:
        assert [argument.arg for argument in each.args.kwonlyargs] == keywords
