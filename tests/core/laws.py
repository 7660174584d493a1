"""What the law tests share: one program on numpy, eagerly, and as a traced model, and strategies for its inputs."""

from __future__ import annotations

import contextlib
import functools
import os
from collections.abc import Callable, Generator, Sequence
from typing import Any

import numpy as np
import onnxruntime
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays_of

from onnxsmith import DType, Model, tensor, trace
from onnxsmith.runtime.for_runtime import RuntimeModel
from onnxsmith.types.value_types import TensorType

FLOATS = ("float32", "float64", "float16")
SIGNED = ("int8", "int16", "int32", "int64")
UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
INTEGERS = SIGNED + UNSIGNED
NUMBERS = FLOATS + INTEGERS
ALL = (*NUMBERS, "bool")


#: A longer search with other examples each time: LAW_FACTOR=20 pytest tests/core
_FACTOR = int(os.environ.get("LAW_FACTOR", "1"))


def law(examples: int) -> settings:
    """The same examples on every run, and no clock."""
    return settings(
        max_examples=examples * _FACTOR,
        derandomize=_FACTOR == 1,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )


# -- running -------------------------------------------------------------------------------------------


def types_of(arrays: Sequence[np.ndarray[Any, Any]], kind: str) -> list[TensorType]:
    """The types of a traced function's inputs: with sizes, with names, or without a rank.

    One name stands for one size, as in a user's annotation, and inference takes it that the size is not 0.
    """
    types: list[TensorType] = []
    for array in arrays:
        dtype = DType.from_numpy(array.dtype)
        if kind == "static":
            types.append(TensorType(dtype, array.shape))
        elif kind == "named":
            types.append(TensorType(dtype, tuple(f"D{size}" if size else None for size in array.shape)))
        elif kind == "open":
            types.append(TensorType(dtype, (None,) * array.ndim))
        else:
            types.append(TensorType(dtype, None))
    return types


def run(model: Model, arrays: Sequence[np.ndarray[Any, Any]]) -> Any:
    """The model in ONNX Runtime itself; where that lacks a kernel, as the model runs for a user.

    A quotient of integers may end the process there, so a model with one is given as it is shipped.
    """
    divides = any(each in ("Div", "Mod") for each in nodes(model))
    given = model.for_runtime() if divides else model
    if isinstance(given, RuntimeModel) and "exact up to" in str(given.report):
        # ONNX Runtime 1.20 divides no UINT64: what is shipped to it gives up a bit, and says so.
        return model(*arrays)
    proto = given.proto.SerializeToString()
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    try:
        session = onnxruntime.InferenceSession(proto, options, providers=["CPUExecutionProvider"])
    except onnxruntime.capi.onnxruntime_pybind11_state.NotImplemented:
        return model(*arrays)
    feeds = {port.name: array for port, array in zip(session.get_inputs(), arrays, strict=True)}
    outputs = session.run(None, feeds)
    return outputs[0] if len(outputs) == 1 else tuple(outputs)


def check(
    program: Callable[..., Any],
    arrays: Sequence[np.ndarray[Any, Any]],
    expected: Any,
    kinds: Sequence[str] = ("static", "named"),
    tolerance: float = 0.0,
) -> None:
    """The law: eagerly, and traced with more or less known of the inputs, a program gives what numpy gives."""
    expected = np.asarray(expected)
    arrays = [np.asarray(each) for each in arrays]  # numpy makes scalars of arrays without dimensions
    agree("eager", program(*map(tensor, arrays)), expected, tolerance)
    for kind in kinds:
        model = trace(program, *types_of(arrays, kind))
        agree(f"traced, {kind}", run(model, arrays), expected, tolerance)


def agree(how: str, result: Any, expected: np.ndarray[Any, Any], tolerance: float = 0.0) -> None:
    """Same element type, shape and elements."""
    array = np.asarray(result)
    assert array.dtype == expected.dtype, f"{how}: {array.dtype} instead of {expected.dtype}"
    assert array.shape == expected.shape, f"{how}: {array.shape} instead of {expected.shape}"
    if tolerance and array.dtype.kind == "f":
        np.testing.assert_allclose(array, expected, rtol=tolerance, atol=tolerance, err_msg=how)
    else:
        np.testing.assert_array_equal(array, expected, err_msg=how)


def nodes(model: Model) -> list[str]:
    """The operators of a model, in order."""
    return [node.op_type for node in model.ir.graph]


quiet = functools.partial(np.errstate, all="ignore")


@contextlib.contextmanager
def as_numpy_2() -> Generator[None]:
    """Within the block a Python number takes the dtype of the array it meets, which numpy does by itself since 2.0."""
    if int(np.__version__.split(".")[0]) >= 2:
        yield
        return
    numpy: Any = np
    before = numpy._get_promotion_state()
    numpy._set_promotion_state("weak")
    try:
        yield
    finally:
        numpy._set_promotion_state(before)


# -- strategies ----------------------------------------------------------------------------------------


def shapes(rank: int = 4, side: int = 4, smallest: int = 0) -> st.SearchStrategy[tuple[int, ...]]:
    """Shapes of rank 0 to `rank`, with dimensions of size 0 now and then."""
    return arrays_of.array_shapes(min_dims=0, max_dims=rank, min_side=smallest, max_side=side)


def counted(dtype: str, shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    """Elements that tell every place apart, as far as the type goes."""
    size = int(np.prod(shape))
    if dtype == "bool":
        return (np.arange(size) * 7 % 5 % 2).astype(bool).reshape(shape)
    if dtype == "str":
        return np.array([f"s{k}" for k in range(size)], object).reshape(shape)
    return (np.arange(size) % 127).astype(dtype).reshape(shape)


_EDGES: dict[str, list[Any]] = {
    "f": [0.0, -0.0, 0.5, -0.5, 1.0, -1.0, 1.5, 2.5, -2.5, 3.0, -7.0, 0.1, 100.0, np.inf, -np.inf, np.nan],
    "b": [True, False],
}


def elements(dtype: str) -> st.SearchStrategy[Any]:
    """Numbers where things go wrong: zeros, halves, limits, infinities."""
    kind = np.dtype(dtype)
    if kind.kind in _EDGES:
        return st.sampled_from(_EDGES[kind.kind])
    info = np.iinfo(kind)
    near = [0, 1, 2, 3, 5, 7, 10, 64, info.max, info.max - 1, info.min, info.min + 1]
    if info.min < 0:
        near += [-1, -2, -3, -7, -10]
    return st.sampled_from(near) | st.integers(int(info.min), int(info.max))


def filled(dtype: str, shape: tuple[int, ...]) -> st.SearchStrategy[np.ndarray[Any, Any]]:
    """Arrays of such numbers."""
    size = int(np.prod(shape))
    return st.lists(elements(dtype), min_size=size, max_size=size).map(
        lambda values: np.array(values, dtype).reshape(shape)
    )


@st.composite
def broadcast_pairs(
    draw: Any, dtype: str, rank: int = 2
) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Two arrays of one element type whose shapes broadcast."""
    found = draw(arrays_of.mutually_broadcastable_shapes(num_shapes=2, max_dims=rank, max_side=3))
    first, second = found.input_shapes
    return draw(filled(dtype, first)), draw(filled(dtype, second))
