"""What the first call of an operator costs: finding out what it means, making a session, and one run.

The yardstick is what a person writes by hand for one operator: a model of one node by `onnx.helper`, an
`InferenceSession` with one thread, and its first run.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from benchmarks.contest import Context
from benchmarks.rows import Row, ratio_at_most
from benchmarks.timing import garbage_collection

NAME = "first_call"
DESCRIPTION = "the first call of an operator on tiny inputs, median over operators; CPU time"

OPSET = 21

Array = npt.NDArray[Any]
Attributes = Mapping[str, Any]


class Case(NamedTuple):
    """One operator and a call of it."""

    operator: str
    inputs: Sequence[Array]
    attributes: Attributes


def run(context: Context) -> list[Row]:
    """One row: the median over all operators of the first call of each, ours and by hand in turns."""
    from onnxsmith import opset21 as op
    from onnxsmith.runtime.engine import clear_cache

    rounds = int(context.number("rounds", 9))

    def ours(case: Case) -> object:
        return getattr(op, case.operator)(*case.inputs, **case.attributes)

    first: list[float] = []
    second: list[float] = []
    for case in cases():
        for function in (ours, by_hand):  # loads what every later call finds loaded
            function(case)
        times: tuple[list[float], list[float]] = ([], [])
        for _ in range(rounds):
            clear_cache()
            for function, taken in zip((ours, by_hand), times, strict=True):
                taken.append(_time(function, case))
        first.append(statistics.median(times[0]))
        second.append(statistics.median(times[1]))
    return [
        Row(
            f"first call of {len(first)} operators",
            statistics.median(first) * 1e6,
            "µs",
            "onnx.helper and InferenceSession",
            statistics.median(second) * 1e6,
            ratio_at_most(1.1),
        )
    ]


def _time(function: Callable[[Case], object], case: Case) -> float:
    with garbage_collection(is_on=False):
        start = time.process_time()
        function(case)
        return time.process_time() - start


def by_hand(case: Case) -> object:
    """The same without any library."""
    import onnxruntime  # only here, as for any contestant
    from onnx import helper

    names = [f"x{k}" for k in range(len(case.inputs))]
    inputs = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), [None] * array.ndim)
        for name, array in zip(names, case.inputs, strict=True)
    ]
    node = helper.make_node(case.operator, names, ["y"], **case.attributes)
    graph = helper.make_graph([node], "one", inputs, [helper.make_empty_tensor_value_info("y")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=10)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    return session.run(None, dict(zip(names, case.inputs, strict=True)))


def cases() -> Iterator[Case]:
    """Operators of many families, with one output each."""
    row = np.array([[0.5, 0.25, -1.0, 2.0]], np.float32)
    whole = np.array([[3, 1, 4]], np.int64)
    flag = np.array([True, False])
    image = np.ones((1, 1, 4, 4), np.float32)
    axes = np.array([0], np.int64)
    for name in ("Abs", "Neg", "Exp", "Tanh", "Relu", "Sigmoid", "Floor", "Erf", "Identity", "Size"):
        yield Case(name, [row], {})
    for name in ("Gelu", "Mish", "Elu", "Softmax", "LogSoftmax", "Flatten", "Transpose", "IsNaN"):
        yield Case(name, [row], {})
    for name in ("Add", "Sub", "Mul", "Div", "Pow", "Max", "Min", "Equal", "Less", "PRelu", "Sum", "Mean"):
        yield Case(name, [row, row], {})
    for name in ("Add", "Div", "Mod", "Equal", "BitwiseAnd"):
        yield Case(name, [whole, whole], {})
    for name in ("And", "Or", "Xor"):
        yield Case(name, [flag, flag], {})
    yield Case("Not", [flag], {})
    yield Case("MatMul", [row, row.T.copy()], {})
    yield Case("Gemm", [row, row], {"transB": 1})
    yield Case("Where", [np.array([[True]]), row, row], {})
    yield Case("Cast", [row], {"to": 7})
    yield Case("Concat", [row, row], {"axis": 0})
    yield Case("Gather", [row, axes], {"axis": 1})
    yield Case("Reshape", [row, np.array([2, 2], np.int64)], {})
    yield Case("Squeeze", [row, axes], {})
    yield Case("Unsqueeze", [row, axes], {})
    yield Case("Expand", [row, np.array([2, 4], np.int64)], {})
    yield Case("Tile", [row, np.array([2, 2], np.int64)], {})
    yield Case("ReduceSum", [row, axes], {})
    yield Case("ReduceMean", [row, axes], {"keepdims": 0})
    yield Case("ArgMax", [row], {"axis": 1})
    yield Case("Clip", [row, np.array(0, np.float32), np.array(1, np.float32)], {})
    yield Case("Slice", [row, axes, np.array([1], np.int64), axes], {})
    yield Case("Pad", [row, np.array([0, 1, 0, 1], np.int64)], {})
    yield Case("Conv", [image, np.ones((1, 1, 3, 3), np.float32)], {})
    yield Case("MaxPool", [image], {"kernel_shape": [2, 2]})
    yield Case("GlobalAveragePool", [image], {})
    yield Case("CumSum", [row, axes], {})
    yield Case("Trilu", [image], {})
    yield Case("Shape", [image], {})
    yield Case("HardSwish", [row], {})
