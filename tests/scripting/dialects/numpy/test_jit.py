"""`xp.jit`: plain numpy functions give what numpy gives, in one session for all sizes."""

from __future__ import annotations

import copy
import functools
import pickle
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy import zeros as made_of_zeros

import onnxsmith.numpy as xp
from onnxsmith.errors import (
    AttributeValueError,
    InputTypeError,
    LastingChangeError,
    MutationError,
    OnnxsmithError,
    SourceNotFoundError,
    TracedValueError,
)
from tests.scripting.dialects.numpy.agreeing import check, same, sizes

WEIGHTS = np.arange(6.0).reshape(2, 3)


def haversine(a, b):
    d = np.sin((b - a) / 2) ** 2
    return 2 * np.arcsin(np.sqrt(d[:, 0] + np.cos(a[:, 0]) * np.cos(b[:, 0]) * d[:, 1]))


def test_a_function_runs_for_all_sizes():
    sizes(haversine, ("N", 2), ("N", 2))
    sizes(haversine, ("N", 2), ("N", 2), dtype=np.float32)


class Pair(NamedTuple):
    low: Any
    high: Any


@dataclass
class Model:
    weights: Any
    bias: float = 0.5

    def predict(self, x):
        return self._linear(x) + self.bias

    def _linear(self, x):
        return x @ self.weights

    def __call__(self, x):
        return np.tanh(self.predict(x))


def test_results_come_back_as_numpy_gives_them():
    def results(x):
        return {
            "array": x * 2,
            "scalar": x.sum(),
            "pair": Pair(x.min(), x.max()),
            "list": [x.shape[0], x.ndim, x.mean() > 0],
            "known": np.ones(2),
            "text": "text",
            "nothing": None,
        }

    check(results, np.arange(4.0))
    check(results, np.arange(4, dtype=np.int32))


def test_arguments_in_containers_are_inputs():
    def total(parts, *more, scale=1.0, **named):
        first, second = parts["pair"]
        return (first + second) * scale + sum(more) + named["last"] - parts["rest"][0]

    arrays = [np.arange(3.0) + k for k in range(6)]
    given = {"pair": (arrays[0], arrays[1]), "rest": [arrays[2]]}
    jitted = check(total, given, arrays[3], arrays[4], scale=2.5, last=arrays[5])
    check(total, given, arrays[3], arrays[4], scale=0.25, last=arrays[5], jitted=jitted)
    check(total, given, arrays[3], last=arrays[5], jitted=jitted)


def test_weights_around_the_function_are_part_of_the_model():
    offset = np.array([1.0, 2.0])

    def affine(x):
        return x @ WEIGHTS.T + offset

    sizes(affine, ("N", 3))


def test_methods_partials_and_callables_are_functions():
    model = Model(np.array([[1.0], [2.0]]))
    for function in (model.predict, model, functools.partial(Model.predict, model)):
        sizes(function, ("N", 2))
    sizes(functools.partial(haversine, np.ones((1, 2))), ("N", 2))


def logged(function):
    @functools.wraps(function)
    def call(*args, **kwargs):
        return function(*args, **kwargs) + 1

    return call


def test_a_decorated_function_does_what_its_decorator_does():
    @logged
    def double(x):
        return x * 2

    sizes(double, ("N",))


def test_functions_of_numpy_are_ours_however_they_are_reached():
    def reached(x):
        made = made_of_zeros(x.shape)
        made[0] = 1.0
        return made + np.linalg.norm(x, axis=0) + np.add.reduce(x) + np.float64(x[0, 0]) + np.hanning(2)

    check(reached, np.arange(6.0).reshape(3, 2))


def test_a_function_of_numpy_that_is_written_in_python_is_staged():
    sizes(np.fliplr, ("N", 3))


def test_what_a_function_writes_to_its_arguments_is_seen_by_the_caller():
    def normalise(x):
        x -= x.mean()
        x[0] = 7.0
        return x.sum()

    sizes(normalise, (3, 2))


def test_python_numbers_keep_their_weak_meaning():
    def scaled(x, by):
        return x * by

    check(scaled, np.arange(3, dtype=np.float32), 0.1)
    check(scaled, np.arange(3, dtype=np.int8), 2)
    check(scaled, np.arange(3, dtype=np.float32), np.float64(0.1))


def test_a_float_makes_no_session_of_its_own():
    def scaled(x, by):
        return x * by

    jitted = xp.jit(scaled)
    for by in (0.5, 1.5, -2.0):
        check(scaled, np.arange(3.0), by, jitted=jitted)
    assert len(jitted.sessions) == 1


def test_complex_numbers_go_in_and_out():
    def turned(z):
        return z * 1j, abs(z), z.sum()

    check(turned, np.array([1 + 2j, 3.0]))
    check(turned, np.array([[1 + 2j, 3.0]], np.complex64))


def test_arrays_of_ours_are_taken_and_numpys_given():
    assert type(xp.jit(haversine)(xp.asarray([[0.5, 1.0]]), xp.asarray([[0.1, 0.2]]))) is np.ndarray


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (np.ma.masked_array([1.0, 2.0]), "MaskedArray"),
        (np.array(["a"]), "numbers"),
        (np.array([object()]), "numbers"),
    ],
)
def test_arrays_that_no_model_takes_are_refused(given: Any, said: str):
    with pytest.raises(InputTypeError, match=said):
        xp.jit(lambda x: x + 1)(given)


def test_what_is_no_python_function_is_refused():
    with pytest.raises(SourceNotFoundError, match="concatenate"):
        xp.jit(np.concatenate)
    with pytest.raises(InputTypeError, match="a function is needed"):
        xp.jit(3)


def test_other_byte_orders_are_read():
    same(xp.jit(lambda x: x + 1)(np.array([1.0, 2.0], ">f8")), np.array([2.0, 3.0]))


# -- numbers, and what sessions are made for -----------------------------------------------------------------


def rolled(x, by):
    return np.roll(x, by) * by


def test_whole_numbers_become_inputs_when_there_is_a_second_value():
    jitted = xp.jit(rolled)
    for by in (1, 2, 3, -1):
        check(rolled, np.arange(5.0), by, jitted=jitted)
    assert len(jitted.sessions) == 2


def summed(x, axis):
    return x.sum(axis=axis)


def test_whole_numbers_that_the_code_needs_have_a_session_each():
    jitted = xp.jit(summed)
    for axis in (0, 1, 0, 1, -1):
        check(summed, np.arange(6.0).reshape(2, 3), axis, jitted=jitted)
    assert len(jitted.sessions) == 3
    assert "'axis' is known when a model is made" in jitted.report


def each_element(x):
    return np.array(tuple(x)) ** 2


def test_fixed_sizes_are_asked_for_and_counted():
    with pytest.raises(TracedValueError, match=r'xp.jit\(each_element, static="shapes"\)'):
        xp.jit(each_element)(np.arange(3.0))
    jitted = xp.jit(each_element, static="shapes")
    for size in (3, 1, 3, 4):
        check(each_element, np.arange(size) + 0.5, jitted=jitted)
    assert jitted.sessions == ["x=float64[3]", "x=float64[1]", "x=float64[4]"]
    assert "3 sessions, one for each shape" in jitted.report
    assert "3 sessions" in repr(jitted)


def test_static_is_shapes_or_nothing():
    with pytest.raises(AttributeValueError, match="static"):
        xp.jit(each_element, static="sizes")


def test_arguments_that_share_what_is_written_to_are_refused():
    def shift(a, b):
        a += b
        return a

    x = np.arange(3.0)
    check(shift, x, x + 1)
    with pytest.raises(MutationError, match="'a', which shares its elements with 'b'"):
        xp.jit(shift)(x, x[:])


class Scaler:
    def __init__(self, by):
        self.by = by

    @xp.jit
    def scaled(self, x):
        return x * self.by


def test_a_method_may_be_jitted():
    one, other = Scaler(2.0), Scaler(np.array([1.0, 3.0]))
    x = np.array([[1.0, 2.0]])
    same(one.scaled(x), x * 2)
    same(other.scaled(x), x * other.by)
    assert one.scaled is one.scaled


# -- what lives outside, and how elements lie ----------------------------------------------------------------


def test_arrays_around_the_function_are_not_written_to():
    def through_a_function(x):
        y = np.asarray(WEIGHTS)
        y[0, 0] = 1.0
        return x + y[0, 0]

    def through_a_method(x):
        y = WEIGHTS.reshape(3, 2)
        y += 1
        return x + y[0, 0]

    def itself(x):
        WEIGHTS[0, 0] = 1.0
        return x

    before = WEIGHTS.copy()
    for function in (through_a_function, through_a_method, itself):
        with pytest.raises(OnnxsmithError, match="memory from one call to the next"):
            xp.jit(function)(np.ones(2))
    np.testing.assert_array_equal(WEIGHTS, before)


def in_one_line(x):
    y = x.reshape(-1)
    y[0] = 7.0
    return x.sum()


def test_what_is_a_view_is_decided_by_how_the_elements_lie():
    jitted = xp.jit(in_one_line)
    check(in_one_line, np.arange(6.0).reshape(2, 3), jitted=jitted)
    with pytest.raises(OnnxsmithError, match="view or a copy"):
        jitted(np.asfortranarray(np.arange(6.0).reshape(2, 3)))


def test_a_helper_that_cannot_be_read_is_refused():
    names: dict[str, Any] = {}
    exec(compile("def helper(x): return x if isinstance(x, list) else [x]", "<nowhere>", "exec"), names)
    helper = names["helper"]

    def calls(x):
        return helper(x)[0]

    with pytest.raises(SourceNotFoundError, match="'helper' cannot be read"):
        xp.jit(calls)(np.ones(2))


GENERATOR = np.random.default_rng(0)


def test_random_numbers_are_refused():
    def of_numpy(x):
        return x + np.random.rand(2)  # noqa: NPY002  # what old code has

    def of_a_generator(x):
        return x + GENERATOR.normal(size=2)

    for function in (of_numpy, of_a_generator):
        with pytest.raises(LastingChangeError, match=r"random|each time"):
            xp.jit(function)(np.ones(2))


@xp.jit
def tripled(x):
    return x * 3


def in_another(x):
    return tripled(x) + tripled(x[0])


def test_a_jitted_function_is_staged_in_another():
    sizes(in_another, (2, "N"))


def test_what_was_pickled_under_the_old_name_is_loaded():
    """Pickles of before name `onnxsmith.numpy.staging.jit`, and `.vectorize`."""
    for made in (xp.jit(haversine), xp.vectorize(haversine)):
        module = type(made).__module__
        name = f"onnxsmith.numpy.staging.{module.rpartition('.')[2]}"
        written = pickle.dumps(made, protocol=0).replace(module.encode(), name.encode())
        assert name.encode() in written
        assert type(pickle.loads(written)) is type(made)


def test_jitted_functions_are_copied_and_pickled():
    assert copy.deepcopy(tripled) is tripled
    assert pickle.loads(pickle.dumps(tripled)) is tripled
    same(pickle.loads(pickle.dumps(xp.jit(haversine)))(np.ones((1, 2)), np.ones((1, 2))), np.zeros(1))


def test_as_strided_with_another_number_of_strides_is_refused():
    def pairs(x):
        return np.lib.stride_tricks.as_strided(x, (2, 2))

    with pytest.raises(ValueError, match="as_strided needs as many strides"):
        xp.jit(pairs)(np.ones(4))
