"""`x.shape` where the model decides some of it: a tuple in all that Python does with tuples."""

from __future__ import annotations

import numbers
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from onnxsmith import BOOL, FLOAT, INT64, Tensor, opset21, trace
from onnxsmith.core.semantics.dimensions import Dimensions
from onnxsmith.core.shown_text import showing
from onnxsmith.errors import TracedValueError

NAMED = FLOAT["N", 4, "M"]
TWO = (2,)


def shape_of(kind: Any, look: Callable[[Any], Any]) -> Any:
    """What `look` sees of the shape of a traced tensor."""
    seen: list[Any] = []
    trace(lambda x: seen.append(look(x.shape)) or x + 1.0, kind)
    return seen[0]


def shown(shape: Any) -> str:
    """The text that people see; where the program goes on with it, it is refused."""
    with showing():
        return repr(shape)


@pytest.mark.parametrize(
    ("look", "expected"),
    [
        (len, 3),
        (lambda s: s[1], 4),
        (lambda s: s[-2], 4),
        (lambda s: isinstance(s, tuple), True),
        (lambda s: isinstance(s[0], Tensor), True),
        (lambda s: isinstance(s[1:], Dimensions), True),
        (shown, "('N', 4, 'M')"),
        (lambda s: shown(s[:1]), "('N',)"),
        (lambda s: shown(s[1:] + TWO), "(4, 'M', 2)"),
        (lambda s: shown(TWO + s[1:]), "(2, 4, 'M')"),
        (lambda s: repr(s[1:2] * 2), "(4, 4)"),
        (lambda s: s == s[:], True),
        (lambda s: s == (1, 2), False),
        (lambda s: s == (1, 5, 2), False),
        (lambda s: s != (1, 5, 2), True),
        (lambda s: s == [1, 5, 2], False),
        (lambda s: s[1:2] == (4,), True),
        (lambda s: 4 in s, True),
        (lambda s: [isinstance(each, int) for each in s], [False, True, False]),
        (lambda s: [isinstance(each, int) for each in reversed(s)], [False, True, False]),
        (lambda s: tuple(s)[1], 4),
        (lambda s: (lambda a, *rest: len(rest))(*s), 2),
    ],
)
def test_a_tuple_in_all_it_does(look: Callable[[Any], Any], expected: Any) -> None:
    assert shape_of(NAMED, look) == expected


def test_unpacking() -> None:
    def program(x: Any) -> Any:
        n, four, m = x.shape
        assert four == 4
        return x.reshape(n * m, four)

    assert trace(program, NAMED)(np.zeros((2, 4, 3), np.float32)).shape == (6, 4)


def test_shapes_of_two_tensors_with_the_same_names_are_equal() -> None:
    def program(x: Any, y: Any) -> Any:
        assert x.shape == y.shape
        assert x.shape[1:] + x.shape[:1] == y.shape[1:] + y.shape[:1]
        return x + y

    trace(program, NAMED, NAMED)


def test_a_shape_as_an_operators_input() -> None:
    model = trace(lambda x: opset21.ConstantOfShape(x.shape), NAMED)
    assert model(np.zeros((2, 4, 3), np.float32)).shape == (2, 4, 3)


def test_a_dimension_is_a_number() -> None:
    """Eagerly it is an int: it divides as one, and takes the element type of the tensor it meets."""

    def program(x: Any) -> Any:
        return x * x.shape[0] + x.shape[2] / 2

    model = trace(program, NAMED)
    ones = np.ones((2, 4, 3), np.float32)
    assert model.outputs[0].type.dtype == FLOAT.dtype
    np.testing.assert_array_equal(model(ones), ones * 2 + 1.5)


def test_a_branch_reads_the_outer_graphs_dimension() -> None:
    """A dimension made inside a branch stays there; one made before is used in it."""

    def program(x: Any, c: Any) -> Any:
        inside = opset21.If(c, then_branch=lambda: x * x.shape[0], else_branch=lambda: x + x.shape[0])
        return inside + x.shape[0]

    model = trace(program, FLOAT["N"], BOOL)
    np.testing.assert_array_equal(model(np.ones(3, np.float32), np.array(True)), np.full(3, 6, np.float32))


def test_without_a_rank_it_is_a_tensor() -> None:
    model = trace(lambda x: x.shape[0] * 2, FLOAT[...])
    assert model.outputs[0].type == INT64
    assert model(np.zeros((3, 2), np.float32)) == 6


def test_a_size_is_an_integer_to_those_who_ask_for_its_class():
    def function(x):
        size = x.shape[0]
        assert isinstance(size, numbers.Integral)
        assert isinstance(size + 1, numbers.Integral)
        assert not isinstance(size / 2, numbers.Integral)
        return x

    trace(function, FLOAT["N"])


def test_a_set_does_not_decide_what_the_model_knows() -> None:
    def f(x: Tensor) -> Tensor:
        return x if x.shape in {(1, 1)} else x + 1

    with pytest.raises(TracedValueError, match="a set or dict looks for a shape"):
        trace(f, FLOAT["N", 1])
