"""Arguments that do not fit: of scripts, of methods and of functions of the package, always in the user's terms."""

from __future__ import annotations

import os
import pickle
import traceback
from collections.abc import Callable

import numpy as np
import pytest

import onnxsmith
import onnxsmith.diffing
from onnxsmith import FLOAT, decompile, recompile, script, trace
from onnxsmith import numpy as xp
from onnxsmith import opset21 as op
from onnxsmith.errors import CallError, ModelInputError, OnnxsmithError, boundary
from tests.errors import wrong_kinds

PACKAGE = os.path.dirname(onnxsmith.__file__) + os.sep
X = np.ones(3, np.float32)
MODEL = trace(lambda x: x + 1.0, FLOAT["N"])


@script
def add(a: FLOAT["N"], b: FLOAT["N"]):
    return a + b


@script
def newton(a: FLOAT["N"], steps: int, tol: float):
    return a * tol


def shown(error: BaseException) -> str:
    return "".join(traceback.format_exception(error))


@pytest.mark.parametrize(
    ("call", "message", "help_text"),
    [
        (lambda: add(X), "add: missing a required argument: 'b'", "add(a: FLOAT['N'], b: FLOAT['N'])"),
        (lambda: add.jit(X), "add: missing a required argument: 'b'", "add(a: FLOAT['N'], b: FLOAT['N'])"),
        (lambda: newton(X, 5, tool=0.1), "newton has no parameter 'tool'", "did you mean 'tol'?"),
        (lambda: MODEL.save(), "save: missing a required argument: 'path'", "save(path: "),
        (
            lambda: MODEL.save("m.onnx", True),
            "save: too many positional arguments",
            "save(path: str | os.PathLike[str], *, external_data",
        ),
        (lambda: MODEL.for_runtime(1), "for_runtime: too many positional arguments", "for_runtime("),
        (lambda: decompile(MODEL, grup=True), "decompile has no parameter 'grup'", "did you mean 'group'?"),
        (lambda: onnxsmith.load(), "load: missing a required argument: 'model'", "load(model: "),
    ],
)
def test_it_names_the_parameter_at_the_users_line(
    call: Callable[[], object], message: str, help_text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ONNXSMITH_TRACEBACK", raising=False)
    with pytest.raises(CallError) as caught:
        call()
    error = caught.value
    assert isinstance(error, TypeError)
    assert error.message == message
    assert (error.help or "").startswith(help_text)
    assert error.span is not None
    assert error.span.file == __file__
    text = shown(error)
    assert PACKAGE not in text
    assert "During handling" not in text
    assert "inspect.py" not in text


def test_a_misspelt_option_of_run() -> None:
    with pytest.raises(ModelInputError, match="did you mean 'isolated'"):
        MODEL.run(X, isolatd=True)
    with pytest.raises(ModelInputError, match="the model has no input 'y'"):
        MODEL.run(y=X)


def test_a_type_error_inside_keeps_its_own_words() -> None:
    @boundary
    def public(x: object) -> int:
        return len(x)  # type: ignore[arg-type]

    with pytest.raises(TypeError, match="has no len"):
        public(1)


def test_an_error_of_a_jitted_run_shows_no_frame_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ONNXSMITH_TRACEBACK", raising=False)
    for other in (np.ones((2, 2), np.float32), np.ones((2, 2), np.float32)):
        with pytest.raises(OnnxsmithError) as caught:
            add.jit(X, other)
        assert PACKAGE not in shown(caught.value)


def test_text_that_is_no_python_shows_its_own_line_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ONNXSMITH_TRACEBACK", raising=False)
    with pytest.raises(SyntaxError) as caught:
        recompile("a = = 1")
    assert PACKAGE not in shown(caught.value)
    assert "a = = 1" in shown(caught.value)


def test_a_script_that_cannot_be_pickled_shows_no_frame_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ONNXSMITH_TRACEBACK", raising=False)
    monkeypatch.setattr("onnxsmith.scripting.functions.pickling._by_value", lambda function: None)

    @script
    def local(x: FLOAT["N"]):
        return x + 1.0

    with pytest.raises(pickle.PicklingError) as caught:
        pickle.dumps(local)
    assert PACKAGE not in shown(caught.value)


def test_values_of_the_wrong_kind_are_refused_by_errors_of_ours() -> None:
    assert not wrong_kinds.LAW.wrong(0, 350)


@pytest.mark.parametrize(
    ("call", "message", "help_text"),
    [
        (
            lambda: onnxsmith.diffing.timeline(MODEL, 3),
            "timeline: 'edits' is an int",
            "edits is Iterable[Edit]",
        ),
        (lambda: onnxsmith.static_range("3"), "static_range: 'bounds' is a str", "bounds is int"),
    ],
)
def test_it_names_the_argument_of_the_wrong_kind(
    call: Callable[[], object], message: str, help_text: str
) -> None:
    with pytest.raises(CallError) as caught:
        call()
    assert caught.value.message == message
    assert caught.value.help == help_text
    assert PACKAGE not in shown(caught.value)


def test_what_works_with_other_kinds_goes_on_to_work() -> None:
    @boundary
    def public(x: int) -> str:
        return str(x)

    assert public("3") == "3"  # pyright: ignore[reportArgumentType]


def test_a_type_is_no_sequence() -> None:
    with pytest.raises(TypeError, match="not iterable"):
        list(FLOAT)  # pyright: ignore[reportArgumentType, reportCallIssue]


HUGE = 10**400


def test_an_option_that_a_wrapped_function_lacks_is_named() -> None:
    """The TypeError was Python's, of a function that users do not see."""
    for option in (float, {"a": 1}):  # of a form that is kept, and of none
        with pytest.raises(CallError, match="has no parameter 'dtype'"):
            xp.all(xp.asarray([True]), dtype=option)  # pyright: ignore[reportCallIssue]
        with pytest.raises(CallError, match="has no parameter 'dtype'"):
            xp.asarray([True]).all(dtype=option)


@pytest.mark.parametrize(
    "call",
    [
        lambda: onnxsmith.tensor(X[:2]).at[range(3)].set(1),
        lambda: onnxsmith.tensor(X[:2]).at[[0, 2]].set(1),
        *[
            lambda value=value: op.LeakyRelu(X, alpha=value)
            for value in (HUGE, float, np.datetime64("2020"), "\ud800")
        ],
        lambda: op.Gather(X, [0], axis=int),
        lambda: FLOAT[np.array([2, 3])],
        lambda: FLOAT[int],
        lambda: onnxsmith.tensor(X)[int],
        lambda: onnxsmith.tensor(X)[int:],
        lambda: FLOAT[HUGE],
        lambda: FLOAT["\ud800"],
        lambda: onnxsmith.tensor(X).reshape(np.array(None)),
        lambda: onnxsmith.tensor(X).astype("\ud800"),
        lambda: op.Cast(X, to="\ud800"),
        lambda: xp.zeros(2, dtype="\ud800"),
        lambda: xp.full_like(X, [1.0, 2.0]),
        lambda: MODEL.replace_weights(lambda array: array),
        lambda: onnxsmith.load("\ud800"),
        lambda: MODEL.save("\ud800"),
        lambda: decompile("\ud800"),
        *[lambda path=path: onnxsmith.decompile_to(MODEL, path) for path in ("\ud800", "a\0b")],
        *[lambda text=text: recompile(text) for text in ("\ud800", "a\0b", "x")],
        lambda: onnxsmith.grad.grad(xp.jit(lambda x: (x * x).sum()))(HUGE),
        lambda: xp.asarray(X) + HUGE,
        lambda: HUGE in onnxsmith.tensor(X),
    ],
)
def test_values_of_the_wrong_kind_are_errors_of_ours(call: Callable[[], object]) -> None:
    with pytest.raises(OnnxsmithError):
        call()


def test_what_equals_no_element_is_not_in_a_tensor() -> None:
    tensor = onnxsmith.tensor(np.float32([2.5, 1, 1]))
    assert not any(each in tensor for each in (None, {}, b"x", len, float))
    assert range(3) in tensor
    assert range(3, 6) not in tensor
