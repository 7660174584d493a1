"""Calls of scripts: where a graph is being made, and with sizes that types declare."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import onnxsmith
from onnxsmith import DOUBLE, FLOAT, Dim, Opset, script
from onnxsmith import opset18 as op
from onnxsmith.errors import InputTypeError, OnnxsmithError, ShapeError


def total(p: FLOAT["K"], q: FLOAT["K"]):
    return p.sum() + q.sum()


CALLED = pytest.mark.parametrize(
    "called", [script(total), script(inline=True)(total)], ids=["call", "inline"]
)


@CALLED
def test_sizes_that_contradict_a_name_are_refused(called: Any) -> None:
    def outer(x: FLOAT[3], y: FLOAT[4]):
        return called(x, y)

    with pytest.raises(ShapeError, match="'K' is 3 in 'p' and 4 in 'q'") as caught:
        script(outer)
    assert "called(x, y)" in str(caught.value)


@CALLED
def test_sizes_that_are_open_or_the_same_are_not(called: Any) -> None:
    @script
    def outer(x: FLOAT[3], y: FLOAT["M"], z: FLOAT[3]):
        return called(x, y) + called(x, z)

    three = np.ones(3, np.float32)
    for run in (outer, onnxsmith.jit(outer), outer.to_model()):
        assert run(three, three, three) == 12.0


def test_none_for_an_input_that_is_needed_is_refused_at_the_call() -> None:
    called = script(total)
    given = np.ones(2, np.float32)

    def outer(x: FLOAT["N"]):
        return called(x, None)

    calls = (lambda: called(given, None), lambda: onnxsmith.jit(called)(given, None), lambda: script(outer))
    for call in calls:
        with pytest.raises(InputTypeError, match="total needs a tensor for 'q', not None") as caught:
            call()
        assert "None)" in str(caught.value)


@script
def of_few(x: FLOAT[Dim("N", min=1, max=4), 2]):
    return x * 2.0


@script
def calls_of_few(x: FLOAT["M", 2]):
    return of_few(x)


@pytest.mark.parametrize("count", [0, 1, 4, 5])
@pytest.mark.parametrize("road", ["eager", "jit", "model", "nested"])
def test_declared_sizes_hold_on_every_road(road: str, count: int) -> None:
    """A model refused other sizes, and the same script took them on arrays."""
    function = {"eager": of_few, "jit": of_few.jit, "model": of_few.to_model(), "nested": calls_of_few}[road]
    x = np.ones((count, 2), np.float32)
    if count in (1, 4):
        np.testing.assert_array_equal(function(x), x * 2)
        return
    with pytest.raises(OnnxsmithError, match=f"was given N = {count}"):
        function(x)


def _adds(name: str) -> Any:
    @script
    def scaled(x: FLOAT["N"]):
        return x + len(name)

    return scaled


def _multiplies(name: str) -> Any:
    @script
    def scaled(x: FLOAT["N"]):
        return x * len(name)

    return scaled


def test_different_scripts_of_one_name_are_functions_with_numbers() -> None:
    first, second, third = _adds("a"), _multiplies("bb"), _adds("ccc")

    @script
    def every(x: FLOAT["N"]):
        return third(second(first(x)))

    x = np.float32([1, 2])
    assert [each.name for each in every.to_model_proto().functions] == ["scaled", "scaled_2", "scaled_3"]
    for run in (every, every.jit, every.to_model(), every.to_model(inline=True)):
        np.testing.assert_array_equal(run(x), (x + 1) * 2 + 3)


def test_the_version_of_a_functions_domain_is_imported() -> None:
    @script(Opset("com.acme", 2))
    def inner(x: FLOAT["N"]):
        """Says what inner does."""
        return op.Relu(x)

    @script(Opset("com.other", 5))
    def middle(x: FLOAT["N"]):
        return inner(x)

    @script
    def outer(x: FLOAT["N"]):
        return middle(x)

    proto = outer.to_model_proto()
    assert {each.domain: each.version for each in proto.opset_import} == {
        "": 18,
        "com.acme": 2,
        "com.other": 5,
    }
    texts = {each.name: each.doc_string for each in proto.functions}
    assert texts == {"inner": "Says what inner does.", "middle": ""}
    assert inner.to_function_proto().doc_string == "Says what inner does."
    carried = outer.to_model(functions=[script(Opset("com.third", 7))(lambda x: x)])
    assert carried.opset_imports["com.third"] == 7
    again = onnxsmith.recompile(carried.decompile())
    assert again.opset_imports == carried.opset_imports


def test_a_number_of_the_graph_is_a_tensor_of_one_element_where_one_is_declared() -> None:
    @script
    def shifted(x: FLOAT["N"], by: FLOAT[1]):
        return x + by

    @script
    def caller(x: FLOAT["N"]):
        return shifted(x, op.Constant(value_float=2.0))

    for run in (caller, caller.jit, caller.to_model(), caller.to_model(inline=True)):
        np.testing.assert_array_equal(run(np.float32([1, 2])), [3, 4])


def test_a_literal_for_a_double_parameter() -> None:
    @script
    def scaled(x: DOUBLE["N"], by: DOUBLE):
        return x * by

    @script
    def caller(x: DOUBLE["N"]):
        return scaled(x, 0.1) + scaled(x, 2)

    x = np.float64([1, 2])
    for run in (caller, caller.jit, caller.to_model(), caller.to_model(inline=True)):
        np.testing.assert_array_equal(run(x), x * 0.1 + x * 2)


@script
def clipped(x: FLOAT[...], low: FLOAT = None, high: FLOAT = None) -> FLOAT[...]:  # type: ignore[assignment]
    if op.OptionalHasElement(low):
        x = op.Where(x < low, low, x)
    if op.OptionalHasElement(high):
        x = op.Where(x > high, high, x)
    return x


def test_an_input_in_the_middle_that_is_left_out() -> None:
    """Asked for by `OptionalHasElement`, it is known not to be there, and the code behind the `if` is not staged."""

    @script
    def caller(x: FLOAT["N"]):
        return clipped(x, None, 1.0), clipped(x), clipped(x, 0.0), clipped(x, 0.0, 1.0)

    x = np.float32([-2, 0.5, 2])
    wanted = np.float32([[-2, 0.5, 1], [-2, 0.5, 2], [0, 0.5, 2], [0, 0.5, 1]])
    for run in (caller, caller.jit, caller.to_model(), caller.to_model(inline=True)):
        np.testing.assert_array_equal(np.stack(run(x)), wanted)
    for arguments, each in zip(((None, 1), (), (0,), (0, 1)), wanted, strict=True):
        given = [None if value is None else np.float32(value) for value in arguments]
        np.testing.assert_array_equal(clipped.jit(x, *given), each)
