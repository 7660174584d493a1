"""The law of numpy's methods: eager = traced model in ONNX Runtime = numpy."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnxruntime
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onnxsmith import FLOAT, INT64, opset21, tensor, trace
from onnxsmith.errors import ShapeError
from onnxsmith.types.value_types import TensorType
from tests.core.laws import ALL, FLOATS, INTEGERS, NUMBERS, as_numpy_2, check, counted, filled, law, shapes


@st.composite
def axes_of(draw: Any, rank: int, several: bool = True) -> Any:
    if rank == 0:
        return None
    one = st.integers(-rank, rank - 1)
    choices = [st.none(), one]
    if several:
        subsets = st.lists(st.integers(0, rank - 1), unique=True, max_size=rank)
        signs = st.lists(st.booleans(), min_size=rank, max_size=rank)
        choices.append(
            st.builds(lambda axes, flips: tuple(a - rank if flips[a] else a for a in axes), subsets, signs)
        )
    return draw(st.one_of(choices))


@st.composite
def reduced(draw: Any, dtypes: tuple[str, ...], several: bool = True, smallest: int = 0) -> Any:
    """An array, an axis or several, and keepdims."""
    dtype = draw(st.sampled_from(dtypes))
    shape = draw(shapes(rank=3, side=3, smallest=smallest))
    size = int(np.prod(shape))
    # Sums of these are exact in every type, so that the order of summation does not show.
    limit = 2 if dtype in ("float16", "int8", "uint8") else 30
    low = 0 if dtype[0] in "ub" else -limit
    values = draw(st.lists(st.integers(low, limit), min_size=size, max_size=size))
    return (
        np.array(values).astype(dtype).reshape(shape),
        draw(axes_of(len(shape), several)),
        draw(st.booleans()),
    )


@pytest.mark.parametrize("name", ["sum", "prod", "mean"])
@law(80)
@given(reduced(ALL))
@pytest.mark.filterwarnings("ignore:Mean of empty slice", "ignore:invalid value")
def test_accumulations(name: str, case: Any) -> None:
    array, axis, keepdims = case
    # ONNX leaves open what the mean of nothing is, where the model decides how much there is.
    kinds = ("static",) if name == "mean" and array.size == 0 else ("static", "named")
    tolerance = {"float16": 1e-3, "float32": 1e-6}.get(array.dtype.name, 1e-12) if name == "mean" else 0.0
    if name == "prod" and array.dtype == np.float16:
        array = np.clip(array, -1, 1)
    expected = getattr(array, name)(axis=axis, keepdims=keepdims)
    check(lambda x: getattr(x, name)(axis=axis, keepdims=keepdims), [array], expected, kinds, tolerance)


@law(60)
@given(st.data())
def test_small_integers_do_not_wrap(data: Any) -> None:
    """Up to 2**53: ONNX Runtime (1.31) adds and multiplies 64-bit integers in double precision."""
    array = data.draw(
        filled(data.draw(st.sampled_from([each for each in INTEGERS if "64" not in each])), (2, 3))
    )
    check(lambda x: x.sum(axis=0), [array], array.sum(axis=0), kinds=("named",))
    if array.dtype.itemsize < 4:
        check(lambda x: x.prod(axis=1), [array], array.prod(axis=1), kinds=("named",))


@pytest.mark.parametrize("name", ["max", "min"])
@law(60)
@given(st.data())
def test_extrema(name: str, data: Any) -> None:
    array, axis, keepdims = data.draw(reduced(ALL, smallest=1))
    expected = getattr(array, name)(axis=axis, keepdims=keepdims)
    check(lambda x: getattr(x, name)(axis=axis, keepdims=keepdims), [array], expected)


def test_extrema_beside_an_empty_dimension() -> None:
    array = np.zeros((0, 3), np.float32)
    check(lambda x: x.max(axis=1), [array], array.max(axis=1))
    check(lambda x: x.argmax(axis=1), [array], array.argmax(axis=1))


@pytest.mark.parametrize("name", ["argmax", "argmin"])
@law(60)
@given(reduced(ALL, several=False, smallest=1))
def test_positions(name: str, case: Any) -> None:
    array, axis, keepdims = case
    expected = getattr(array, name)(axis=axis, keepdims=keepdims)
    check(lambda x: getattr(x, name)(axis=axis, keepdims=keepdims), [array], expected)


@pytest.mark.parametrize("name", ["var", "std"])
@law(40)
@given(reduced(ALL, smallest=1), st.sampled_from([0, 1, 0.5]))
@pytest.mark.filterwarnings("ignore:Degrees of freedom", "ignore:invalid value", "ignore:divide by zero")
def test_spread(name: str, case: Any, ddof: float) -> None:
    array, axis, keepdims = case
    tolerance = {"float16": 2e-2, "float32": 1e-5}.get(array.dtype.name, 1e-12)
    expected = getattr(array, name)(axis=axis, ddof=ddof, keepdims=keepdims)
    check(
        lambda x: getattr(x, name)(axis=axis, ddof=ddof, keepdims=keepdims),
        [array],
        expected,
        tolerance=tolerance,
    )


@law(40)
@given(reduced(ALL, several=False))
def test_running_sums(case: Any) -> None:
    array, axis, _ = case
    check(lambda x: x.cumsum(axis=axis), [array], array.cumsum(axis=axis))


@law(40)
@given(reduced(ALL, several=False))
def test_order(case: Any) -> None:
    array, axis, _ = case
    check(lambda x: x.argsort(axis=axis), [array], array.argsort(axis=axis, kind="stable"))


def test_other_shapes() -> None:
    array = np.arange(6, dtype=np.float32).reshape(1, 2, 3)
    check(lambda x: x.swapaxes(0, -1), [array], array.swapaxes(0, -1))
    check(lambda x: x.ravel(), [array], array.ravel())


@pytest.mark.parametrize("name", ["any", "all"])
@law(60)
@given(st.data())
def test_truth(name: str, data: Any) -> None:
    dtype = data.draw(st.sampled_from(ALL))
    shape = data.draw(shapes(rank=3, side=2))
    array = data.draw(filled(dtype, shape))
    if data.draw(st.booleans()):
        array = array * np.zeros((), array.dtype) if dtype not in (*FLOATS, "bool") else np.zeros_like(array)
    axis, keepdims = data.draw(axes_of(len(shape))), data.draw(st.booleans())
    expected = getattr(array, name)(axis=axis, keepdims=keepdims)
    check(lambda x: getattr(x, name)(axis=axis, keepdims=keepdims), [array], expected)


@law(80)
@given(st.data())
def test_clip(data: Any) -> None:
    dtype = data.draw(st.sampled_from(NUMBERS))
    array = data.draw(shapes(rank=2, side=3).flatmap(lambda shape: filled(dtype, shape)))
    bounds = [data.draw(st.none() | st.integers(0, 10)) for _ in range(2)]
    if onnxruntime.__version__.startswith("1.20.") and dtype in FLOATS:
        array = np.where(np.isinf(array), array.dtype.type(1), array)  # 1.20 clips these without a bound
    with as_numpy_2():  # where numpy 1 refuses to clip without bounds
        expected = array if bounds == [None, None] else np.clip(array, *bounds)
    check(lambda x: x.clip(*bounds), [array], expected)
    low, high = (np.array(data.draw(st.integers(0, 10)), dtype) for _ in range(2))
    check(lambda x, a, b: x.clip(a, b), [array, low, high], np.clip(array, low, high))
    row = np.broadcast_to(low, array.shape[-1:]).copy()
    check(lambda x, a: x.clip(a), [array, row], np.clip(array, row, None))


@law(80)
@given(st.data())
def test_transpose(data: Any) -> None:
    array = counted(data.draw(st.sampled_from(ALL)), data.draw(shapes(rank=4, side=3)))
    order = data.draw(st.permutations(range(array.ndim)))
    order = [axis - array.ndim if data.draw(st.booleans()) else axis for axis in order]
    check(lambda x: x.T, [array], array.T)
    check(lambda x: x.transpose(), [array], array.transpose())
    check(lambda x: x.transpose(*order), [array], array.transpose(*order))
    check(lambda x: x.transpose(tuple(order)), [array], array.transpose(tuple(order)), kinds=("static",))


@law(80)
@given(st.data())
def test_squeeze(data: Any) -> None:
    shape = tuple(data.draw(st.lists(st.sampled_from([1, 1, 2, 0]), max_size=4)))
    array = counted("float32", shape)
    ones = [axis for axis, size in enumerate(shape) if size == 1]
    check(lambda x: x.squeeze(), [array], array.squeeze(), kinds=("static", "named", "unranked"))
    axes = tuple(data.draw(st.lists(st.sampled_from(ones), unique=True))) if ones else ()
    check(lambda x: x.squeeze(axes), [array], array.squeeze(axes))


@law(80)
@given(st.data())
def test_astype(data: Any) -> None:
    dtype, other = (data.draw(st.sampled_from(ALL)) for _ in range(2))
    array = data.draw(
        st.lists(st.integers(0, 100), min_size=4, max_size=4).map(lambda n: np.array(n).astype(dtype))
    )
    check(lambda x: x.astype(other), [array], array.astype(other))
    check(lambda x: x.astype(np.dtype(other)), [array], array.astype(other), kinds=("static",))


# -- shapes --------------------------------------------------------------------------------------------


@st.composite
def reshapes(draw: Any) -> Any:
    """A shape and another of as many elements, perhaps with a -1."""
    factors = draw(st.lists(st.sampled_from([1, 2, 3, 0]), max_size=4))
    shape = tuple(factors)
    if 0 in shape:
        target = [*draw(st.permutations([size for size in shape if size != 0])), 0, draw(st.integers(0, 3))]
        target = draw(st.permutations(target))
    else:
        target = []
        for size in draw(st.permutations(factors)):
            if target and draw(st.booleans()):
                target[-1] *= size
            else:
                target.append(size)
        if target and draw(st.booleans()):
            target[draw(st.integers(0, len(target) - 1))] = -1
        if not target and draw(st.booleans()):
            target = [-1]
    return shape, tuple(target)


@law(120)
@given(reshapes(), st.data())
def test_reshape(case: Any, data: Any) -> None:
    shape, target = case
    array = counted(data.draw(st.sampled_from(ALL)), shape)
    expected = array.reshape(target)
    check(lambda x: x.reshape(target), [array], expected)
    check(lambda x: x.reshape(list(target)), [array], expected, kinds=("named",))
    if target:
        check(lambda x: x.reshape(*target), [array], expected, kinds=("named", "unranked"))
    sizes = np.array(target, np.int64)
    check(lambda x, n: x.reshape(n), [array, sizes], expected, kinds=("static", "named", "unranked"))
    scalars = [np.array(size) for size in target]
    check(lambda x, *n: x.reshape(n), [array, *scalars], expected, kinds=("static", "named", "unranked"))
    if len(target) > 1:
        check(
            lambda x, n: x.reshape(n, *target[1:]), [array, scalars[0]], expected, kinds=("static", "named")
        )
    check(lambda x: x.flatten(), [array], array.flatten())


@law(60)
@given(st.data())
def test_shapes_as_values(data: Any) -> None:
    array = counted("float32", data.draw(shapes(rank=4, side=3)))
    kinds = ("static", "named", "open", "unranked")
    check(lambda x: opset21.Identity(x.size), [array], np.array(array.size), kinds=kinds[1:])
    if array.ndim:
        check(lambda x: x.reshape(x.shape), [array], array, kinds=kinds)
        check(lambda x: x.reshape((*x.shape, 1)), [array], array[..., None], kinds=kinds[:3])
        check(lambda x: x.reshape((1, *x.shape)), [array], array[None], kinds=kinds[:3])
        check(lambda x: x.reshape(x.shape[:1] + x.shape[1:]), [array], array, kinds=kinds[:3])
        check(lambda x: x[: x.shape[0] // 2], [array], array[: array.shape[0] // 2], kinds=("named", "open"))
        check(lambda x: x * x.shape[0], [array], array * np.float32(array.shape[0]), kinds=("named", "open"))
        if array.size:
            expected = array.reshape(array.shape[0], -1)
            check(lambda x: x.reshape(x.shape[0], -1), [array], expected, kinds=("named", "open"))


def test_a_size_that_does_not_fit_stays_an_error() -> None:
    """It is not taken for the one that would."""
    model = trace(lambda x, y: x.reshape(y.shape[0], 4), FLOAT["N", 4], FLOAT["M"])
    arrays = [np.zeros((2, 4), np.float32), np.zeros(3, np.float32)]
    with pytest.raises(ShapeError):
        model(*arrays)


def test_a_shape_that_is_known_is_a_tuple_of_ints() -> None:
    found: list[Any] = []
    trace(lambda x: found.append(x.shape) or x + 1.0, TensorType(tensor([1.0]).dtype, (2, 3)))
    assert found == [(2, 3)]
    assert type(found[0]) is tuple
    assert tensor(np.zeros((2, 3))).shape == (2, 3)
    assert INT64[2].shape == (2,)
