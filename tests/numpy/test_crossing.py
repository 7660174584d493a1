"""Arrays where tensors are meant, and back: what a function returns, indexes, sizes of a model."""

import numpy as np
import pytest

import onnxsmith.numpy as xp
from onnxsmith import FLOAT, INT64, jit, script, trace
from onnxsmith import opset21 as op
from onnxsmith.errors import (
    InputTypeError,
    LeakedValueError,
    ShapeError,
    TracedValueError,
    UnknownRankError,
)

X = np.array([1.0, 2.0, 3.0], np.float32)


def doubled(x):
    return xp.asarray(x) * 2


def test_what_a_traced_function_returns_is_the_tensor_that_its_array_holds() -> None:
    np.testing.assert_array_equal(trace(doubled, FLOAT["N"])(X), X * 2)


def test_arrays_tensors_and_known_elements_are_returned_side_by_side() -> None:
    model = trace(lambda x: (doubled(x), x, xp.asarray([1, 2])), FLOAT["N"])
    for got, wanted in zip(model(X), (X * 2, X, np.array([1, 2])), strict=True):
        np.testing.assert_array_equal(got, wanted)


def test_a_traced_function_returns_complex_numbers_with_a_last_dimension_of_two() -> None:
    spectrum = np.fft.rfft(X)
    got = trace(lambda x: xp.fft.rfft(xp.asarray(x)), FLOAT["N"])(X)
    np.testing.assert_allclose(got, np.stack([spectrum.real, spectrum.imag], -1), rtol=1e-5, atol=1e-5)


@script
def scripted(x: FLOAT["N"]):
    return xp.asarray(x) * 2


@script
def annotated(x: FLOAT["N"]) -> tuple[FLOAT["N"], FLOAT]:
    y = xp.asarray(x)
    return y * 2, y.sum()


@script
def calls_another(x: FLOAT["N"]) -> FLOAT["N"]:
    return op.Relu(scripted(x))


def test_all_roads_of_a_script_give_the_tensors_of_its_arrays() -> None:
    for function, wanted in ((scripted, (X * 2,)), (annotated, (X * 2, X.sum())), (calls_another, (X * 2,))):
        for road in (function, function.to_model(), jit(function)):
            got = road(X)
            for one, other in zip(got if isinstance(got, tuple) else (got,), wanted, strict=True):
                assert isinstance(one, np.ndarray | np.generic)
                np.testing.assert_array_equal(one, other)


def test_bodies_of_operators_return_arrays() -> None:
    def chosen(x):
        first = op.ReduceSum(x, keepdims=0)
        return op.If(first > 0, then_branch=lambda: doubled(x), else_branch=lambda: xp.asarray(x) * 3)

    np.testing.assert_array_equal(trace(chosen, FLOAT["N"])(X), X * 2)
    np.testing.assert_array_equal(trace(chosen, FLOAT["N"])(-X), X * -3)


# -- types that only a call knows ------------------------------------------------------------------------


def test_jit_crosses_over_with_the_types_of_the_call() -> None:
    function = jit(lambda q: (xp.asarray(q) * 2).tensor)
    np.testing.assert_array_equal(function(X), X * 2)
    np.testing.assert_array_equal(function(np.ones((2, 2))), np.full((2, 2), 2.0))


def test_an_array_of_unknown_rank_asks_for_the_annotation() -> None:
    with pytest.raises(UnknownRankError, match=r'annotate its shape, as in FLOAT\["N", "M"\]'):
        trace(doubled, FLOAT[...])


# -- an index of the other kind --------------------------------------------------------------------------


def test_an_array_indexed_with_a_tensor_says_how_to_cross_over() -> None:
    for index in (lambda i: i, lambda i: slice(i, None), lambda i: (i, 0)):
        with pytest.raises(InputTypeError, match=r"x\[xp.asarray\(i\)\]"):
            trace(lambda q, i, index=index: xp.asarray(q)[index(i)], FLOAT["N", "M"], INT64["K"])


def test_a_tensor_indexed_with_an_array_says_how_to_cross_over() -> None:
    for index in (lambda i: i, lambda i: (i, 0)):
        with pytest.raises(InputTypeError, match=r"x\[i.tensor\]"):
            trace(lambda q, i, index=index: q[index(xp.asarray(i))], FLOAT["N", "M"], INT64["K"])


# -- sizes of the model in numpy's own functions -----------------------------------------------------------

MAKERS = {
    "zeros": lambda n: np.zeros(n),
    "ones": lambda n: np.ones((n, 2)),
    "empty": lambda n: np.empty([2, n]),
    "full": lambda n: np.full(n, 1.0),
    "eye": lambda n: np.eye(n),
    "identity": lambda n: np.identity(n),
    "arange": lambda n: np.arange(n),
    "linspace": lambda n: np.linspace(0, 1, n),
}


@pytest.mark.parametrize("name", MAKERS)
def test_numpys_functions_say_that_ours_take_sizes_of_the_model(name: str) -> None:
    assert hasattr(xp, name)
    with pytest.raises(ShapeError, match=rf"numpy's {name} makes an array now[^!]*xp\.{name}\(…\)") as caught:
        trace(lambda x: xp.asarray(x) + MAKERS[name](xp.asarray(x).shape[0]), FLOAT["N"])
    assert caught.value.span is not None
    assert caught.value.span.file == __file__


def test_in_a_script_numpys_functions_say_so_too() -> None:
    with pytest.raises(TracedValueError, match=r"only the model knows its size[^!]*xp\.zeros\(…\)"):

        @script
        def padded(x: FLOAT["N"]):
            y = xp.asarray(x)
            return y + np.zeros(y.shape[0])


def test_numpys_stack_of_tensors_names_operators_that_give_the_same() -> None:
    with pytest.raises(TracedValueError, match=r"ConcatFromSequence\(op.SequenceConstruct\(q, q\)") as caught:
        trace(lambda q: np.stack([q, q]), FLOAT["N"])
    written = caught.value.help.partition(";")[0]
    model = trace(lambda q: eval(written, {"op": op, "q": q}), FLOAT["N"])
    np.testing.assert_array_equal(model(X), np.stack([X, X]))


def test_an_array_that_outlives_its_trace_says_what_it_is() -> None:
    kept = []

    def leaking(q):
        kept.append(xp.asarray(q))
        return q + 1.0

    trace(leaking, FLOAT["N"])
    with pytest.raises(LeakedValueError, match="can be used only while it is; return what is needed"):
        kept[0] + 1


# -- complex numbers and back ------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_complex_numbers_come_back_from_their_tensor(dtype: type) -> None:
    z = np.array([[1 + 2j, np.nan - 0.0j], [np.inf, -3j]], dtype)
    back = xp.asarray(xp.asarray(z).tensor, dtype=dtype)
    assert back.dtype == dtype
    np.testing.assert_array_equal(np.asarray(back), z)
    model = trace(lambda t: xp.asarray(t, dtype=xp.complex64) * 1j, FLOAT["N", 2])
    np.testing.assert_array_equal(model(np.float32([[1, 2], [3, 4]])), [[-2, 1], [-4, 3]])


def test_a_tensor_that_holds_no_parts_is_no_tensor_of_complex_numbers() -> None:
    with pytest.raises(ShapeError, match=r"last dimension of 2[^!]*astype\(xp.complex64\)"):
        trace(lambda t: xp.asarray(t, dtype=xp.complex64), FLOAT["N", 3])


def test_asarray_copies_the_elements_of_a_numpy_array() -> None:
    given = np.zeros(2)
    made = xp.asarray(given)
    given[0] = 1
    np.testing.assert_array_equal(np.asarray(made), [0, 0])


# -- what is no number, and out= -----------------------------------------------------------------------------


@pytest.mark.parametrize("other", [None, "a", b"a"])
def test_nothing_is_equal_to_what_is_no_number(other: object) -> None:
    x = xp.ones((2, 3))
    for got, wanted in ((x == other, np.zeros((2, 3), bool)), (x != other, np.ones((2, 3), bool))):
        assert got.dtype == bool
        np.testing.assert_array_equal(np.asarray(got), wanted)
    model = trace(lambda t: xp.asarray(t) != other, FLOAT["N"])
    np.testing.assert_array_equal(model(X), [True] * 3)


def test_joining_writes_to_out() -> None:
    x = xp.ones(2)
    flat, pairs = xp.zeros(4), xp.zeros((2, 2))
    assert np.concatenate([x, x], out=flat) is flat
    assert np.stack([x, x], out=pairs) is pairs
    np.testing.assert_array_equal(np.asarray(flat), np.ones(4))
    np.testing.assert_array_equal(np.asarray(pairs), np.ones((2, 2)))
    with pytest.raises(ShapeError, match="out= has the shape"):
        np.stack([x, x], out=flat)


# -- control flow of a script --------------------------------------------------------------------------------


def decides(x: FLOAT["N"]):
    y = xp.asarray(x)
    if y.sum() > 0:
        y = y * 2
    return y


def repeats(x: FLOAT["N"]):
    t = x
    while xp.asarray(t).sum() < 9:
        t = t * 2.0
    return t


def carries(x: FLOAT["N"]):
    y = xp.asarray(x)
    while y.sum().tensor < 100:
        y = y * 2
    return y


def chooses(x: FLOAT["N"]):
    y = xp.asarray(x)
    if y.sum().tensor > 0:
        z = y * 2
    else:
        z = y * 3
    return z


def returns(x: FLOAT["N"]):
    y = xp.asarray(x)
    if y.sum().tensor > 0:
        return y * 2
    return y * 3


def writes(x: FLOAT["N"]):
    y = xp.asarray(x).copy()
    for k in range(3):
        y[k] = k
    return y


@pytest.mark.parametrize(
    "function", [decides, repeats, carries, chooses, returns, writes], ids=lambda each: each.__name__
)
def test_control_flow_of_a_script_decides_by_arrays_and_carries_them(function) -> None:
    made = script(function)
    model = made.to_model()
    for given in (X, -X, X * 20):
        if function in (repeats, carries) and given.sum() < 0:
            continue  # which would not end
        np.testing.assert_array_equal(model(given), np.asarray(made(given)))


@script
def unrolled(x: FLOAT["N"]):
    y = xp.asarray(x).copy()
    for k in [0, 1, 2]:
        y[k] = y[k] * k
    return y


@script
def carried_as_tensor(x: FLOAT["N"]):
    t = x
    while (xp.asarray(t).sum() < 100).tensor:
        y = xp.asarray(t)
        t = (y * 2).tensor
    return t


def test_loops_that_are_unrolled_and_loops_that_carry_tensors_take_arrays_too() -> None:
    for road in (unrolled, unrolled.to_model()):
        np.testing.assert_array_equal(road(X), X * [0, 1, 2])
    for road in (carried_as_tensor, carried_as_tensor.to_model()):
        np.testing.assert_array_equal(road(X), X * 32)
