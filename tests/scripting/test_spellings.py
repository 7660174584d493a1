"""Programs as people write them: each is right eagerly and as a model, or refused in both."""

import dataclasses
from typing import Annotated, Any, Literal, TypeVar, Union

import numpy as np
import pytest

from onnxsmith import DOUBLE, FLOAT, INT64, errors, graph, script, tensor
from onnxsmith import opset21 as op

_X = np.float32([1, 2, 3])
T = TypeVar("T", FLOAT["N"], DOUBLE["N"])


@script
def loop_with_scan_outputs_only(n: INT64):
    @graph
    def body(i, c):
        return c, i * 2

    return op.Loop(n, None, body=body)


@script
def list_of_truth_values(x: FLOAT["N"], flags: list[bool] = [True, False]):  # noqa: B006
    return op.Identity(flags)


@script
def list_of_integers(x: FLOAT["N"]):
    return op.Identity([1, 2, 3])


@script
def other(h: FLOAT, v: FLOAT):
    return h + v


@script
def number_that_becomes_a_tensor(x: FLOAT["N"]):
    h = 1.0
    for v in x:
        h = other(h, v)
    return h


def make(factor: float) -> Any:
    @script
    def scaled(x: FLOAT["N"]):
        return x * factor

    return scaled


twice, thrice = make(2.0), make(3.0)


@script
def scripts_of_one_factory(x: FLOAT["N"]):
    return twice(x) + thrice(x) + twice(x)


@script
def dict_as_state(x: FLOAT["N"]):
    d = {"s": 0.0, "n": 0}
    for v in x:
        d = {"s": d["s"] + v, "n": d["n"] + 1}
    return d["s"] / d["n"]


@dataclasses.dataclass
class State:
    s: Any
    n: Any


@script
def dataclass_as_state(x: FLOAT["N"]):
    state = State(0.0, 0)
    for v in x:
        state = State(state.s + v, state.n + 1)
    return state.s / state.n


@script
def annotated_with_words(x: Annotated[FLOAT["N"], "what it is"]):
    return x + 1


@script
def one_of_two_words(x: FLOAT["N"], mode: Literal["up", "down"] = "up"):
    return x + 1 if mode == "up" else x - 1


@script
def shape_compared(x: FLOAT["N"]):
    return x + 1 if x.shape == (3,) else x


@script
def shape_compared_otherwise(x: FLOAT["N"]):
    return x + 1 if x.shape != (4,) else x


@script
def zip_of_a_tensor_and_numbers(x: FLOAT["N"]):
    s = 0.0
    for v, w in zip(x, [1.0, 2.0]):  # noqa: B905
        s = s + v * w
    return s


@script
def tuple_of_types(x: FLOAT["N"]) -> (FLOAT["N"], FLOAT["N"]):
    return x, x + 1


@script
def union_of_types(x: Union[FLOAT["N"], DOUBLE["N"]]):  # noqa: UP007
    return x + 1


@script
def variable_of_types(x: T) -> T:
    return x + 1


@script
def optional_that_is_asked_for(x: FLOAT["N"], low: FLOAT = None):
    if op.OptionalHasElement(low):
        x = op.Max(x, low)
    return x


@script
def tensor_of_one_element(x: FLOAT["N"], a: FLOAT[1]):
    return x + a


@script
def literal_for_one_element(x: FLOAT["N"]):
    return tensor_of_one_element(x, 2.0)


@pytest.mark.parametrize(
    ("written", "argument", "expected"),
    [
        (loop_with_scan_outputs_only, np.int64(3), [0, 2, 4]),
        (list_of_truth_values, _X, [True, False]),
        (list_of_integers, _X, [1, 2, 3]),
        (number_that_becomes_a_tensor, _X, 7.0),
        (scripts_of_one_factory, _X, _X * 7),
        (dict_as_state, _X, 2.0),
        (dataclass_as_state, _X, 2.0),
        (annotated_with_words, _X, _X + 1),
        (one_of_two_words, _X, _X + 1),
        (shape_compared, _X, _X + 1),
        (shape_compared, _X[:2], _X[:2]),
        (shape_compared_otherwise, _X, _X + 1),
        (zip_of_a_tensor_and_numbers, _X, 5.0),
        (tuple_of_types, _X, [_X, _X + 1]),
        (union_of_types, _X, _X + 1),
        (variable_of_types, _X, _X + 1),
        (optional_that_is_asked_for, _X, _X),
        (literal_for_one_element, _X, _X + 2),
    ],
)
def test_eager_and_model(written: Any, argument: Any, expected: Any) -> None:
    is_open = written in (union_of_types, variable_of_types)
    model = written.to_model(**({"input_types": {"x": FLOAT["N"]}} if is_open else {}))
    for result in (written(argument), model(argument)):
        np.testing.assert_array_equal(np.asarray(result), np.asarray(expected))
        assert np.asarray(result).dtype.kind == np.asarray(expected).dtype.kind


def test_a_literal_for_a_tensor_of_one_element() -> None:
    np.testing.assert_array_equal(tensor_of_one_element(_X, 2.0), _X + 2)


def sum_of_truth_values(x: FLOAT["N"]):
    return sum(x > 1)


def range_of_a_vector(x: FLOAT["N"], n: INT64[1]):
    s = 0.0
    for _ in range(n):
        s = s + x.sum()
    return s


@pytest.mark.parametrize(
    ("function", "arguments"), [(sum_of_truth_values, [_X]), (range_of_a_vector, [_X, np.int64([2])])]
)
def test_refused_in_both(function: Any, arguments: list[Any]) -> None:
    """What numpy does not take either, or only by adding truth values."""
    with pytest.raises(errors.OnnxsmithError):
        script(function)
    with pytest.raises((errors.OnnxsmithError, TypeError)):
        function(*map(tensor, arguments))


def test_a_repeated_dimension_is_one_size() -> None:
    @script
    def f(x: FLOAT["N"], y: FLOAT["N"]):
        return x.sum() + y.sum()

    for run in (f, f.to_model()):
        with pytest.raises(errors.OnnxsmithError, match="the same name is the same size"):
            run(_X, _X[:2])


@pytest.mark.parametrize(
    "kind",
    [
        Union[FLOAT, DOUBLE],  # noqa: UP007
        FLOAT | DOUBLE,
        TypeVar("AnyFloat", bound=Union[FLOAT, DOUBLE]),  # noqa: UP007
        TypeVar("AnyFloat", FLOAT, DOUBLE),
        TypeVar("AnyFloat", bound=Union[FLOAT[...], DOUBLE[...]]),  # noqa: UP007
    ],
    ids=["Union", "|", "bound", "constraints", "shapes"],
)
def test_types_that_name_several_element_types_leave_the_shape_open(kind: Any) -> None:
    @script
    def added(self: kind, other: kind, alpha: float = 1.0):
        return self + other * alpha

    @script
    def caller(x: DOUBLE["N", "M"]):
        return added(x, x, alpha=2.0)

    for x in (np.float32([1, 2]), np.float64([[1], [2]]), np.array(2.0)):
        np.testing.assert_array_equal(added(x, x), x + x)
        np.testing.assert_array_equal(added.jit(x, x), x + x)
        shape = ["N", "M"][: x.ndim]
        types = [(FLOAT if x.dtype == np.float32 else DOUBLE)[*shape]] * 2
        for model in (added.to_model(input_types=types), added.to_model(input_types=types, inline=True)):
            np.testing.assert_array_equal(model(x, x), x + x)
    matrix = np.ones((2, 3))
    for run in (caller, caller.jit, caller.to_model(), caller.to_model(inline=True)):
        np.testing.assert_array_equal(run(matrix), matrix * 3)
    added.to_function_proto()
    for run in (added, added.jit, added.to_model(input_types=[DOUBLE["N"]] * 2)):
        with pytest.raises(errors.OnnxsmithError, match="int64"):
            run(np.array([1, 2]), np.array([1, 2]))
