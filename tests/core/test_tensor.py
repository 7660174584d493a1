"""Laws of the methods of tensors: wrong arguments are one error, with the same words eagerly and in a graph."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from onnxsmith import FLOAT, tensor, trace
from onnxsmith.core.semantics.updates import Place
from onnxsmith.core.tensor import Tensor
from onnxsmith.errors import CallError, OnnxsmithError

Method = Callable[..., Any]


def _methods(
    owner: type, take: Callable[[Any], Any]
) -> dict[str, tuple[Callable[[Any], Method], inspect.Signature]]:
    found: dict[str, tuple[Callable[[Any], Method], inspect.Signature]] = {}
    for name, each in vars(owner).items():
        if inspect.isfunction(each) and not name.startswith("_"):
            original: Any = inspect.unwrap(each)
            found[f"{owner.__name__}.{name}"] = (
                lambda x, name=name: getattr(take(x), name),
                inspect.signature(original),
            )
    return found


METHODS = {**_methods(Tensor, lambda x: x), **_methods(Place, lambda x: x.at[0])}


def _errors(call: Callable[[Any], Any]) -> list[OnnxsmithError]:
    found: list[OnnxsmithError] = []
    for run in (lambda: call(tensor(np.ones((2, 3), np.float32))), lambda: trace(call, FLOAT[2, 3])):
        with pytest.raises(CallError) as caught:
            run()
        found.append(caught.value)
    return found


def _said(error: OnnxsmithError) -> tuple[object, ...]:
    assert error.span is not None
    assert error.span.file == __file__
    return error.message, error.help, error.span.line


@pytest.mark.parametrize("name", METHODS)
def test_a_keyword_that_a_method_does_not_have_is_refused(name: str) -> None:
    take, _ = METHODS[name]
    eager, traced = _errors(lambda x: take(x)(no_such_keyword=0))
    assert "has no parameter 'no_such_keyword'" in eager.message
    assert eager.help
    assert _said(eager) == _said(traced)


def _has_end(name: str) -> bool:
    return not any(each.kind is each.VAR_POSITIONAL for each in METHODS[name][1].parameters.values())


@pytest.mark.parametrize("name", list(filter(_has_end, METHODS)))
def test_too_many_arguments_are_refused(name: str) -> None:
    take, signature = METHODS[name]
    eager, traced = _errors(lambda x: take(x)(*[0] * (len(signature.parameters) + 1)))
    assert "too many positional arguments" in eager.message
    assert name.rpartition(".")[2] in (eager.help or "")
    assert _said(eager) == _said(traced)


@pytest.mark.parametrize(
    ("call", "help_text"),
    [
        (lambda x: x.sum(dim=0), "axis=0"),
        (lambda x: x.mean(dim=(0, 1)), "axis=(0, 1)"),
        (lambda x: x.max(axis=0, keepdim=True), "keepdims=True"),
        (lambda x: x.std(correction=1), "ddof=1"),
        (lambda x: x.clip(a_min=0), "min=0"),
        (lambda x: x.swapaxes(dim0=0, dim1=1), "axis1=0"),
        (lambda x: x.sum(dtype="float64"), "x.astype(…).sum(…)"),
        (lambda x: x.argsort(descending=True), "(-x).argsort(…)"),
        (lambda x: x.cumsum(out=None), "assign the result"),
        (lambda x: x.reshape(shape=(3, 2)), "x.reshape(*shape)"),
        (lambda x: x.clip(0, 1, 2), "x.clip(min=None, max=None)"),
        (lambda x: x.astype(), "x.astype(dtype)"),
    ],
)
def test_the_help_says_what_to_write(call: Callable[[Any], Any], help_text: str) -> None:
    for error in _errors(call):
        assert help_text in (error.help or "")


def test_a_class_of_numbers_is_no_operand() -> None:
    x = tensor(np.ones((2, 2), np.float32))
    for attempt in (lambda: x @ np.float32, lambda: x + np.float32, lambda: np.int64 * x):
        with pytest.raises(TypeError, match="unsupported operand"):
            attempt()
