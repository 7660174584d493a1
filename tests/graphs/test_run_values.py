"""The door for values: what a session takes for what a caller has."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from onnxsmith import (
    BFLOAT16,
    BOOL,
    COMPLEX64,
    FLOAT,
    FLOAT8E4M3FN,
    FLOAT16,
    INT4,
    INT8,
    UINT64,
    Weights,
    script,
    tensor,
    trace,
)
from onnxsmith import numpy as xp
from onnxsmith import opset21 as op
from onnxsmith.errors import InputTypeError, LeakedValueError, OutOfBoundsError, WeightError
from onnxsmith.graphs.run_values import session_value

ELEMENTS = np.array([1, 2], np.float32)


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        (ELEMENTS, ELEMENTS),
        (ELEMENTS.astype(">f4"), ELEMENTS),
        (tensor(ELEMENTS), ELEMENTS),
        (np.float32(2), np.array(2, np.float32)),
        (True, np.array(True)),
        (3, np.array(3, np.int64)),
        (0.5, np.array(0.5, np.float64)),
    ],
    ids=["array", "other byte order", "tensor", "scalar of numpy's", "truth value", "int", "float"],
)
def test_a_tensor_is_an_array_in_the_byte_order_of_the_machine(given: Any, wanted: np.ndarray[Any, Any]):
    found = session_value(given)
    assert type(found) is np.ndarray
    assert found.dtype == wanted.dtype
    assert found.dtype.isnative
    np.testing.assert_array_equal(found, wanted)


def test_an_array_is_not_copied():
    assert session_value(ELEMENTS) is ELEMENTS


def test_a_sequence_is_met_element_by_element():
    first, second = session_value([ELEMENTS.astype(">f4"), tensor(ELEMENTS)])
    assert first.dtype.isnative
    assert type(second) is np.ndarray


@pytest.mark.parametrize("given", [None, {"a": 1.0}], ids=["nothing", "map"])
def test_all_else_stays(given: object):
    assert session_value(given) is given


def test_a_number_past_64_bits_is_refused():
    with pytest.raises(OutOfBoundsError, match="the Python integer in n is past the 64 bits"):
        session_value(1 << 63, "n")


def test_a_tensor_of_a_graph_is_refused():
    def keep(x: Any) -> Any:
        with pytest.raises(LeakedValueError, match="used where operators run at once"):
            session_value(x)
        return op.Abs(x)

    trace(keep, FLOAT["N"])


MASKED = np.ma.array(np.float32([1, 100]), mask=[False, True])
ADDING = trace(lambda x: x + 1.0, FLOAT["N"])


@script
def summed(x: FLOAT["N"]):
    return op.ReduceSum(x)


#: Every way in which an array comes to a session or into a model.
DOORS: dict[str, Callable[[Any], Any]] = {
    "operator": op.ReduceSum,
    "second input": lambda x: op.Add(np.float32([1, 2]), x),
    "a sequence": op.SequenceConstruct,
    "tensor": tensor,
    "operand": lambda x: tensor([1.0, 2.0]) + x,
    "script": summed,
    "jitted": summed.jit,
    "model": ADDING,
    "by name": lambda x: ADDING(x=x),
    "runner": lambda x: ADDING.runner()([x]),
    "captured": lambda x: trace(lambda y: y + x, FLOAT[2]),
    "attribute": lambda x: op.Constant(value=x),
    "weight": lambda x: Weights({"w": (FLOAT[2], x)})["w"],
    "xp": xp.asarray,
    "xp.sum": xp.sum,
    "xp.jit": xp.jit(lambda x: x.sum()),
    "session": session_value,
    "list of sessions": lambda x: session_value([x]),
}


@pytest.mark.parametrize("door", DOORS.values(), ids=DOORS)
def test_masked_arrays_are_refused(door: Callable[[Any], Any]) -> None:
    with pytest.raises(InputTypeError, match=r"[Mm]asked"):
        door(MASKED)
    door(np.float32([1, 100]))


@pytest.mark.parametrize(
    ("kind", "content"),
    [
        *((INT8[1], each) for each in (np.array([300]), [300], [2.7], np.array([2.7]), [np.nan])),
        (INT8[1], np.array([200], np.uint8)),
        *((FLOAT[1], each) for each in ([1e300], [1j], ["1.5"], [None])),
        *((BOOL[1], each) for each in ([2], ["a"])),
        (FLOAT16[1], [70000]),
        (FLOAT8E4M3FN[1], [1000.0]),
    ],
)
def test_a_weight_that_its_type_does_not_hold_is_refused(kind: Any, content: Any) -> None:
    with pytest.raises(WeightError, match="is not"):
        Weights({"w": (kind, content)})["w"]


@pytest.mark.parametrize(
    ("kind", "content"),
    [
        (INT8[1], np.array([7])),
        (UINT64[2], [2**64 - 1, 1]),
        (FLOAT[3], [np.nan, np.inf, 2.0**70]),
        (BFLOAT16[1], [1.5]),
        (INT4[2], [7, -8]),
        (COMPLEX64[1], [1 + 2j]),
        (BOOL[2], [True, 0]),
        (FLOAT[0], []),
    ],
)
def test_a_weight_keeps_its_value(kind: Any, content: Any) -> None:
    found = np.asarray(Weights({"w": (kind, content)})["w"])
    np.testing.assert_array_equal(found.astype(np.asarray(content).dtype), content)
