"""Helps that are followed literally: what they tell to write works, on arrays as on tensors."""

from __future__ import annotations

import re
import traceback
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import onnxsmith
import onnxsmith.numpy as xp
from onnxsmith import BFLOAT16, BOOL, DOUBLE, FLOAT, STRING, Rule, explain_match, script, tensor, trace
from onnxsmith import opset21 as op
from onnxsmith.cli.parsing import check_command
from onnxsmith.errors import InvalidModelError, OnnxsmithError
from onnxsmith.grad import losses, sgd, training_step

torch = pytest.importorskip("torch")


@script
def doubled(x: FLOAT["N"]):  # type: ignore[no-untyped-def]
    return x + x


@script
def narrow(x: BFLOAT16["N"]):  # type: ignore[no-untyped-def]
    return op.Identity(x)


@script
def truths(x: BOOL["N"]):  # type: ignore[no-untyped-def]
    return op.Not(x)


#: A call with an array of another element type, whose help says how the array is converted.
CONVERTED: dict[str, tuple[Callable[[Any], object], Any]] = {
    "script": (doubled, np.arange(3)),
    "jit": (doubled.jit, np.arange(3)),
    "model": (doubled.to_model(), np.arange(3)),
    "bfloat16": (narrow, np.ones(3, np.float32)),
    "bool": (truths.to_model(), np.ones(3, np.float32)),
    "literal": (lambda x: op.Add(x, 2.5), np.arange(3)),
    "negative literal": (lambda x: op.Add(x, -1), np.arange(3, dtype=np.uint8)),
}


@pytest.mark.parametrize("case", sorted(CONVERTED))
def test_the_conversion_that_a_help_shows_works(case: str) -> None:
    call, array = CONVERTED[case]
    with pytest.raises(OnnxsmithError) as caught:
        call(array)
    shown = re.search(r"\.astype\((\S+)\)", str(caught.value.help))
    assert shown is not None
    call(array.astype(eval(shown[1], {"np": np, "ml_dtypes": ml_dtypes})))


def test_a_scalar_annotation_is_told_what_a_vector_is() -> None:
    def first(x: FLOAT):  # type: ignore[no-untyped-def]
        return x[0]

    def total(x: FLOAT):  # type: ignore[no-untyped-def]
        found = 0.0
        for each in x:
            found = found + each
        return found

    @script
    def plus(x: FLOAT):  # type: ignore[no-untyped-def]
        return x + 1.0

    calls: list[Callable[[], object]] = [
        lambda: script(first),
        lambda: script(total),
        lambda: plus(np.ones(2, np.float32)),
        lambda: xp.to_model(lambda x: x[0], DOUBLE),
    ]
    for call in calls:
        with pytest.raises(OnnxsmithError) as caught:
            call()
        assert "without brackets is a scalar" in str(caught.value.help)
    with pytest.raises(OnnxsmithError) as caught:
        _ = tensor(3.0)[0]
    assert caught.value.help is None


def test_an_input_without_rank_is_named() -> None:
    @script
    def loose(x):  # type: ignore[no-untyped-def]
        return x + 1.0

    with pytest.raises(InvalidModelError) as caught:
        loose.to_model(input_types={"x": FLOAT[...]}).check()
    assert str(caught.value.help).startswith("input 'x' has no rank")
    with pytest.raises(OnnxsmithError) as caught:
        loose.to_model()
    assert "input_types={'x': FLOAT['N']}" in str(caught.value.help)
    loose.to_model(input_types={"x": FLOAT["N"]}).check()


LINEAR = trace(lambda x: x @ np.ones((2, 1), np.float32), FLOAT["N", 2])
RELU = trace(lambda x: op.Relu(op.Neg(x)), FLOAT["N"])
KEEPING = Rule(lambda x: op.Relu(x), lambda x: op.Relu(x))
#: What a newcomer writes, and a part of the help.
NEWCOMERS: dict[str, tuple[Callable[[], object], str]] = {
    "a loss of torch": (
        lambda: training_step(LINEAR, torch.nn.MSELoss(), sgd(lr=0.1)),
        "onnxsmith.training.losses has the usual ones",
    ),
    "a function of torch as a loss": (
        lambda: training_step(LINEAR, torch.nn.functional.mse_loss, sgd(lr=0.1)),
        "onnxsmith.training.losses has the usual ones",
    ),
    "a class for a module": (
        lambda: onnxsmith.torch.export(torch.nn.Linear, (torch.ones(2, 4),)),  # type: ignore[arg-type]
        "make one of the class: Linear(…)",
    ),
    "a path where torch.onnx.export takes one": (
        lambda: onnxsmith.torch.export(torch.nn.Linear(4, 4), (torch.ones(2, 4),), "x.onnx"),  # type: ignore[arg-type]
        "model.save(path)",
    ),
    "a rule of onnxscript": (
        lambda: Rule(lambda op, x: op.Relu(x), lambda op, x: op.Relu(x)),
        "from onnxsmith import opset21 as op",
    ),
    "a node by its number": (lambda: explain_match(RELU, 3, KEEPING), "model.nodes[3]"),  # type: ignore[arg-type]
    "a method of text": (lambda: trace(lambda x: x.lower(), STRING["N"]), "op.StringNormalizer"),
    "text that is split": (lambda: trace(lambda x: x.split(" "), STRING["N"]), "op.StringSplit"),
    "a tensor that is split": (lambda: trace(lambda x: x.split(2), FLOAT["N"]), "call the operator op.Split"),
    "a dict for a script": (lambda: script(lambda p, x: x @ p["w"]), "take dicts apart in a plain function"),
    "a profile for an overlay": (
        lambda: RELU.show("page.html", overlay=RELU.profile([np.ones(2, np.float32)], runs=1)),  # type: ignore[arg-type]
        "overlay=profile.overlay()",
    ),
}


@pytest.mark.parametrize("case", sorted(NEWCOMERS))
def test_a_newcomer_is_told_what_to_write(case: str) -> None:
    call, words = NEWCOMERS[case]
    with pytest.raises(OnnxsmithError) as caught:
        call()
    assert words in str(caught.value.help)


def test_a_node_of_a_model_is_explained() -> None:
    assert explain_match(RELU, RELU.nodes[1], KEEPING).matches
    assert not explain_match(RELU, RELU.nodes["neg"], KEEPING).matches


def test_functions_of_torch_in_a_translation_are_refused() -> None:
    target = torch.ops.aten.relu.default
    for translation, words in ((lambda x: torch.relu(x), "op.Relu(…)"), (lambda x: x.rleu(), "None")):
        with pytest.raises(OnnxsmithError) as caught:
            onnxsmith.torch.export(torch.nn.ReLU(), (torch.ones(2),), translations={target: translation})
        assert str(caught.value.help) == words


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        ("compare a.onnx b.onnx", "the other one is --against b.onnx"),
        ("profile a.onnx b.onnx", "the other one is --against b.onnx"),
        ("optimize a.onnx --verfy", "did you mean '--verify'?"),
    ],
)
def test_words_that_a_command_does_not_take(words: str, meant: str) -> None:
    with pytest.raises(ValueError, match="unrecognized arguments") as caught:
        check_command(words.split())
    assert str(caught.value).endswith(meant)


class Told(torch.nn.Module):
    """It asks for the text of a size."""

    def forward(self, x: Any) -> Any:
        return x * {"3": 2.0}.get(str(x.shape[0]), 1.0)


#: Errors that once had frames of ours, or of torch, above the line of the caller.
FRAMED: dict[str, tuple[Callable[[], object], type[Exception]]] = {
    "a node that is not there": (lambda: RELU.nodes[99], IndexError),
    "the text of a size in a module": (
        lambda: onnxsmith.torch.export(Told(), (torch.ones(3),), dynamic_shapes=({0: "n"},)),
        OnnxsmithError,
    ),
}


@pytest.mark.parametrize("case", sorted(FRAMED))
def test_the_traceback_ends_at_the_caller(case: str) -> None:
    call, kind = FRAMED[case]
    with pytest.raises(kind) as caught:
        call()
    assert {each.filename for each in traceback.extract_tb(caught.value.__traceback__)} == {__file__}


def test_weights_that_are_there_are_listed() -> None:
    with pytest.raises(OnnxsmithError) as caught:
        training_step(LINEAR, losses.squared, sgd(lr=0.1), weights=["head.*"])
    assert str(caught.value.help).startswith("its weights are ")
