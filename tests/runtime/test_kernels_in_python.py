"""Kernels in Python: in calls, scripts, jit and models, in functions and bodies, and what they may not give."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from onnxsmith import BFLOAT16, FLOAT, INT64, STRING, Opset, compare, jit, load, runtime, script, trace
from onnxsmith import opset21 as op
from onnxsmith.errors import (
    AttributeTypeError,
    AttributeValueError,
    KernelError,
    NotRunnableError,
    OperatorFailedError,
)
from onnxsmith.runtime import kernels_in_python, using

mine = Opset("tests.kernels", 1)
X = np.float32([1, -2, 3])
W = np.float32([[1, 2], [3, 4], [5, 6]])


@pytest.fixture(autouse=True)
def no_kernels(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(kernels_in_python, "_REGISTERED", kernels_in_python._Registered())
    yield
    kernels_in_python.forget_all()  # what ran with the kernels of a test


@script(mine)
def clipped(x: FLOAT["N"]) -> FLOAT["N"]:
    return op.Relu(x)


@script(mine)
def around(x: FLOAT["N"]) -> FLOAT["N"]:
    return clipped(x) + 1.0


@script
def steps(x: FLOAT["N"], n: INT64) -> FLOAT["N"]:
    for _ in range(n):
        if op.ReduceSum(x) > 0.0:
            x = clipped(x) - 1.0
        else:
            x = -x
    return x


@script
def rows(x: FLOAT["M", "N"]):
    found = []
    for row in x:
        found.append(clipped(row) * 2.0)
    return op.ConcatFromSequence(found, axis=0)


PROGRAMS: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "a node": (lambda x: clipped(x) * 2.0, (X,)),
    "the first and the last node": (lambda x: clipped(clipped(x)), (X,)),
    "between matrices": (lambda x: clipped(x) @ W, (X,)),
    "in a function": (lambda x: around(x) - clipped(-x), (X,)),
    "in a loop and a branch": (steps, (X, np.int64(4))),
    "in the other branch": (steps, (-X, np.int64(2))),
    "in a loop without turns": (steps, (X, np.int64(0))),
    "in a loop that collects": (rows, (np.stack([X, -X]),)),
}


def register() -> None:
    """A kernel that gives something else than the body, so that the two are told apart."""

    @runtime.kernel(clipped)
    def by_numpy(x: Any) -> Any:
        return np.where(x > 0, x * 2, np.float32(-0.5))


def by_python(name: str) -> Any:
    """The program, run by Python with the kernel's numbers in the place of the script."""
    program, inputs = PROGRAMS[name]
    return program(*inputs)


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_way_to_run_a_program_runs_the_kernel(name: str) -> None:
    program, inputs = PROGRAMS[name]
    types = [FLOAT["N"] if np.ndim(each) == 1 else INT64 for each in inputs]
    model = program.to_model() if hasattr(program, "to_model") else trace(program, *types)
    body = model(*inputs)
    register()
    wanted = by_python(name)
    assert name == "in a loop without turns" or not np.array_equal(body, wanted)
    np.testing.assert_array_equal(model(*inputs), wanted)
    np.testing.assert_array_equal(load(model.proto)(*inputs), wanted)
    if hasattr(program, "to_model"):
        np.testing.assert_array_equal(jit(program)(*inputs), wanted)
    with using(runtime="reference"):
        np.testing.assert_allclose(model(*inputs), wanted)
    with using(kernels=False):
        np.testing.assert_array_equal(model(*inputs), body)
        np.testing.assert_array_equal(program(*inputs), body)


def test_an_operator_without_a_body() -> None:
    model = trace(lambda x: mine.Softsign(x, scale=0.1), FLOAT["N"])
    for run in (lambda: mine.Softsign(X), lambda: model(X)):
        with pytest.raises(NotRunnableError) as caught:
            run()
        assert "kernel" in (caught.value.help or "")
    told: list[object] = []

    @runtime.kernel(mine.Softsign)
    def softsign(x: Any, *, scale: float) -> Any:
        told.append(scale)
        return x / (np.float32(scale) + np.abs(x))

    np.testing.assert_array_equal(mine.Softsign(X, scale=0.1), model(X))
    assert told == [float(np.float32(0.1))] * 2  # as a model holds it

    @runtime.kernel("tests.kernels::Softsign")
    def again(x: Any, *, scale: float) -> Any:
        return x

    assert model(X).tolist() == mine.Softsign(X, scale=0.1).tolist() == X.tolist()
    with using(kernels=False), pytest.raises(NotRunnableError):
        model(X)


def test_attributes_are_those_that_a_model_holds() -> None:
    told: list[dict[str, Any]] = []

    @runtime.kernel("tests.kernels::Told")
    def keep(x: Any, **given: Any) -> Any:
        told.append(given)
        return x

    given = {"f": 0.1, "i": 3, "b": True, "s": "word", "fs": (0.1, 2.0), "ns": [1, 2], "names": ["a", "b"]}
    mine.Told(X, **given)
    trace(lambda x: mine.Told(x, **given), FLOAT["N"])(X)
    small = float(np.float32(0.1))
    assert told[0] == told[1]
    assert told[0] == {**given, "f": small, "b": 1, "fs": [small, 2.0]}


@pytest.mark.parametrize("kind", ["texts", "bfloat16", "optional input", "two outputs", "a weight"])
def test_values_of_all_kinds_pass(kind: str) -> None:
    @runtime.kernel("tests.kernels::Lengths")
    def lengths(texts: Any) -> Any:
        return np.array([len(each) for each in texts], np.int64)

    @runtime.kernel("tests.kernels::Same")
    def same(x: Any) -> Any:
        return x

    @runtime.kernel("tests.kernels::Sum")
    def total(a: Any, b: Any = None, c: Any = None) -> Any:
        return a + (0 if b is None else b) + c

    @runtime.kernel("tests.kernels::Both")
    def both(x: Any) -> Any:
        return x, -x

    def two(x: Any) -> Any:
        first, second = mine.Both(x)
        return first, second

    words = np.array(["a", "bcd"], object)
    half = X.astype(ml_dtypes.bfloat16)
    programs: dict[str, tuple[Callable[..., Any], Any, Any]] = {
        "texts": (lambda s: mine.Lengths(op.StringConcat(s, s)), STRING["N"], words),
        "bfloat16": (lambda x: mine.Same(op.Identity(x)), BFLOAT16["N"], half),
        "optional input": (lambda x: mine.Sum(x, None, x), FLOAT["N"], X),
        "two outputs": (two, FLOAT["N"], X),
        "a weight": (lambda x: mine.Sum(x, None, W[:, 0]), FLOAT["N"], X),
    }
    program, annotation, value = programs[kind]
    eager, model = program(value), trace(program, annotation)(value)
    for one, other in zip(np.atleast_1d(eager), np.atleast_1d(model), strict=True):
        np.testing.assert_array_equal(one, other)


def half_as_double(x: Any) -> Any:
    return x / np.float64(2)


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda x: x.astype(np.float64), "gives float64 of shape (3,), and"),
        (lambda x: x[:2], "gives float32 of shape (2,), and"),
        (lambda x: x[None], "gives float32 of shape (1, 3), and"),
        (lambda x: (x, x), "gives 2 values, and the operator has 1 output"),
        (lambda x: None, "gives None, which is no tensor"),
        (lambda x: {1, 2}, "kernel of tests.kernels.clipped gives"),
    ],
)
def test_other_types_and_shapes_are_refused_at_the_node(function: Any, words: str) -> None:
    @script(mine)
    def declared(x: FLOAT[3]) -> FLOAT[3]:
        return clipped(x)

    model = trace(lambda x: op.Abs(clipped(x)), FLOAT[3])  # the line of the node
    runtime.kernel(clipped)(function)
    with pytest.raises((KernelError, OperatorFailedError)) as caught:
        model(X)
    if isinstance(caught.value, KernelError):
        assert words in str(caught.value)
        assert "# the line of the node" in str(caught.value)
    else:
        assert words == "gives absent"


def test_annotations_of_kernels_are_checked() -> None:
    @runtime.kernel("tests.kernels::Half")
    def half(x: Any) -> FLOAT["N"]:
        return half_as_double(x)

    @runtime.kernel("tests.kernels::Pair")
    def pair(x: Any) -> tuple[FLOAT["N"], INT64["N"]]:
        return x, x

    with pytest.raises(KernelError, match="its annotation says float32 of shape"):
        mine.Half(X)
    with pytest.raises(KernelError, match="as its output 1, and its annotation says int64"):
        _, _ = mine.Pair(X)


def test_what_a_kernel_raises_is_an_error_of_the_operator() -> None:
    model = trace(lambda x: op.Abs(clipped(x)), FLOAT["N"])

    @runtime.kernel(clipped)
    def broken(x: Any) -> Any:
        raise ValueError("this does not work")

    for run in (lambda: clipped(X), lambda: model(X), lambda: mine.clipped(X)):
        with pytest.raises(OperatorFailedError, match="raised ValueError: this does not work") as caught:
            run()
        assert 'raise ValueError("this does not work")' in str(caught.value)  # the line of the kernel


def test_a_kernel_where_no_python_runs_is_refused_by_name() -> None:
    register()
    model = trace(lambda x: op.Scan(x, body=lambda row: clipped(row), num_scan_inputs=1), FLOAT["M", "N"])
    with pytest.raises(NotRunnableError, match=r"kernel of tests\.kernels\.clipped is in the body of Scan"):
        model(X[None])
    with using(kernels=False):
        assert model(X[None]).tolist() == [[1, 0, 3]]
    plain = trace(lambda x: clipped(x) * 2.0, FLOAT["N"])
    with pytest.raises(NotRunnableError, match="which is a function of this process"):
        plain.run(X, isolated=True)


def test_capabilities_keep_kernels_or_say_that_they_do_not_run_them(tmp_path: Path) -> None:
    model = trace(lambda x: op.Neg(op.Neg(around(x))), FLOAT["N"])
    body = model(X)
    register()
    wanted = around(X)
    for made in (
        model.optimize(),
        model.optimize(verify=True),
        model.for_runtime(),
        model.convert_version(20),
    ):
        np.testing.assert_array_equal(made(X), wanted)
    assert model.optimize().report.nodes_after == 3  # the call that is kept, its body, and Add
    np.testing.assert_array_equal(model.intermediate([X], "around")["around"], wanted)
    model.save(tmp_path / "m.onnx")
    np.testing.assert_array_equal(runtime.load_session(tmp_path / "m.onnx")([X])[0], wanted)
    with pytest.raises(NotRunnableError, match="the model has kernels in Python"):
        model.profile([X], runs=1, warm_up=0)
    with using(kernels=False):
        assert model.profile([X], runs=1, warm_up=0).kernels
        np.testing.assert_array_equal(model.run(X, isolated=True), body)


def test_compare_runs_kernel_and_body_against_each_other() -> None:
    model = trace(lambda x: op.Abs(around(x)) * 2.0, FLOAT["N"])

    @runtime.kernel(clipped)
    def right(x: Any) -> Any:
        return np.maximum(x, 0)

    assert compare(model, "bodies", [X])
    register()
    found = compare(model, "bodies", [X])
    assert not found
    assert "they part at tests.kernels::clipped" in str(found)


@pytest.mark.parametrize(
    ("operator", "error", "words"),
    [
        ("tests.kernels.Half", AttributeTypeError, "is for an operator"),
        (3, AttributeTypeError, "is for an operator"),
        (op.Relu, AttributeValueError, "Relu is no operator of a custom domain"),
        ("ai.onnx.ml::Scaler", AttributeValueError, "ai.onnx.ml.Scaler is no operator"),
    ],
)
def test_mistakes(operator: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        runtime.kernel(operator)
    with pytest.raises(AttributeTypeError, match="a kernel is a function"):
        runtime.kernel("tests.kernels::Half")(3)  # type: ignore[type-var]


NO_TENSORS = {
    "nothing": lambda x: None,
    "text": lambda x: "abc",
    "a mapping": lambda x: {"y": x},
    "numbers in a list": lambda x: [1.0, 2.0],
    "a ragged list": lambda x: [[1.0], [1.0, 2.0]],
    "objects": lambda x: np.array([object()]),
    "dates": lambda x: np.array(["2020-01-01"], "M8[D]"),
}


@pytest.mark.parametrize("what", NO_TENSORS)
def test_what_is_no_tensor_is_refused_in_calls_and_in_models(what: str) -> None:
    runtime.kernel("tests.kernels::Odd")(NO_TENSORS[what])
    for call in (lambda: mine.Odd(X), lambda: trace(lambda x: op.Identity(mine.Odd(x)), FLOAT["N"])(X)):
        with pytest.raises(KernelError, match="which is no tensor"):
            call()


def test_a_kernel_does_not_write_to_what_others_read() -> None:
    @runtime.kernel("tests.kernels::Cleared")
    def cleared(x: Any) -> Any:
        x[...] = 0
        return x

    for call in (mine.Cleared, trace(lambda x: mine.Cleared(x), FLOAT["N"])):
        given = X.copy()
        with pytest.raises(OperatorFailedError, match="read-only"):
            call(given)
        assert given.tolist() == X.tolist()


@pytest.mark.parametrize("returned", [lambda x: x, lambda x: x[::-1], lambda x: x.reshape(-1, 1)])
def test_a_result_that_is_an_input_is_a_copy(returned: Callable[[Any], Any]) -> None:
    runtime.kernel("tests.kernels::Same")(returned)
    for call in (mine.Same, trace(lambda x: mine.Same(x), FLOAT["N"])):
        given = X.copy()
        found = call(given)
        given[:] = 7
        assert found.tolist() == returned(X).tolist()
        found[...] = 0  # and it may be written to


def test_jit_of_a_script_with_a_kernel_runs_it() -> None:
    jitted = jit(clipped)
    body = jitted(X)
    register()
    assert not np.array_equal(body, clipped(X))
    for _ in range(2):
        np.testing.assert_array_equal(jitted(X), clipped(X))
    with using(kernels=False):
        np.testing.assert_array_equal(jitted(X), body)


def test_bodies_are_compared_where_there_are_some() -> None:
    with pytest.raises(
        AttributeValueError, match="functions that have kernels in Python, and this one has none"
    ):
        compare(trace(lambda x: op.Relu(x), FLOAT["N"]), "bodies", [X])
