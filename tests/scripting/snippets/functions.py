"""Nested functions, closures, lambdas, helpers, methods."""

import functools
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from onnxsmith import FLOAT, INT64, script
from onnxsmith import opset18 as op
from onnxsmith.errors import (
    MissingReturnError,
    RecursiveFunctionError,
    UndefinedNameError,
    UnsupportedSyntaxError,
)
from tests.scripting.corpus import integer, matrix, refused, runs, scalar, vector


def double(v):
    return v * 2


def clip_positive(v):
    if v > 0:
        return v
    return v * 0


def total(values, start=0.0, *, factor=1):
    s = start
    for v in values:
        s = s + v * factor
    return s


def two_results(v, w=3):
    return v + w, v - w


def countdown(v, n):
    return v if n == 0 else countdown(v + n, n - 1)


@runs(vector(1, 2))
def helper(x: FLOAT["N"]):
    return double(x) + double(x + 1)


@runs(scalar(2))
@runs(scalar(-2))
def helper_with_branch(x: FLOAT):
    return clip_positive(x) + clip_positive(-x) * 10


@runs(vector(1, 2, 3))
def helper_with_loop(x: FLOAT["N"]):
    return total(x) + total(x, 100.0, factor=2)


@runs(vector(1, 2))
def helper_with_two_results(x: FLOAT["N"]):
    a, b = two_results(x)
    c, _ = two_results(x, w=10)
    return a * b + c


@runs(vector(1, 2))
def helper_on_python_values(x: FLOAT["N"]):
    return x * double(3) + len(double([1, 2]))


@runs(vector(1, 2))
def recursion_with_known_end(x: FLOAT["N"]):
    return countdown(x, 3)


@runs(vector(1, 2))
def helper_as_value(x: FLOAT["N"]):
    functions = [double, double, lambda v: v + 1]
    for function in functions:
        x = function(x)
    return x


@runs(vector(1, 2))
def partial(x: FLOAT["N"]):
    scaled = functools.partial(two_results, w=5)
    a, b = scaled(x)
    return a * b


@runs(scalar(2))
@runs(scalar(-2))
def partial_of_helper_with_branch(x: FLOAT):
    clipped = functools.partial(clip_positive)
    return clipped(x) + 1


@runs(vector(1, 2))
def reduced(x: FLOAT["N"]):
    return functools.reduce(lambda a, b: a * b, [x, x + 1, x + 2])


@runs(vector(1, 2))
def mapped(x: FLOAT["N"]):
    return sum(map(double, [x, x + 1]))


@runs(vector(1, 2))
def nested_function(x: FLOAT["N"]):
    def shift(v):
        return v + 1

    return shift(shift(x))


@runs(vector(1, 2))
def nested_with_default(x: FLOAT["N"]):
    def shift(v, by=x * 10, *, times=2):
        return v * times + by

    return shift(x) + shift(x, 1) + shift(x, times=3)


@runs(scalar(2))
@runs(scalar(-2))
def nested_with_branch(x: FLOAT):
    def sign(v):
        if v > 0:
            return 1.0
        elif v < 0:
            return -1.0
        return 0.0

    return sign(x) + sign(x * 0) * 10


@runs(vector(1, 2), scalar(3))
def closure_reads_outer(x: FLOAT["N"], s: FLOAT):
    k = 2

    def scaled(v):
        return v * s + k

    return scaled(x)


@runs(vector(1, 2))
def closure_sees_later_value(x: FLOAT["N"]):
    k = 1

    def scaled():
        return x * k

    a = scaled()
    k = 10
    return a + scaled()


@runs(vector(1, 2))
def lambda_sees_later_value(x: FLOAT["N"]):
    k = 1
    scaled = lambda: x * k  # noqa: E731
    a = scaled()
    k = 10
    return a + scaled()


@runs(vector(1, 2), integer(3))
def closure_of_loop_variable(x: FLOAT["N"], n: INT64):
    y = x

    def grown():
        return y * 2

    for _ in range(n):
        y = y + 1
    return grown()


@runs(scalar(3))
@runs(scalar(-3))
def closure_of_branch_variable(x: FLOAT):
    y = x
    get = lambda: y + 1  # noqa: E731
    if x > 0:
        y = y * 10
    return get()


@runs(vector(1, 2))
def function_that_makes_functions(x: FLOAT["N"]):
    def make(k):
        def scaled(v):
            return v * k

        return scaled

    by_two, by_three = make(2), make(3)
    return by_two(x) + by_three(x)


@runs(vector(1, 2))
def nested_recursion(x: FLOAT["N"]):
    def power(n):
        return x * 0 + 1 if n == 0 else x * power(n - 1)

    return power(3)


@runs(vector(1, 2))
def lambda_with_two_parameters(x: FLOAT["N"]):
    combine = lambda a, b=2: a * b + x  # noqa: E731
    return combine(x) + combine(x, 5) + combine(b=1, a=x)


@runs(scalar(2))
@runs(scalar(-2))
def lambda_with_choice(x: FLOAT):
    clipped = lambda v: v if v > 0 else v * 0  # noqa: E731
    return clipped(x) + clipped(x + 1)


@runs(vector(1, 2))
def star_arguments(x: FLOAT["N"]):
    def sum_of(*parts, **options):
        s = options.get("start", 0)
        for part in parts:
            s = s + part
        return s

    pieces = [x, x + 1]
    return sum_of(*pieces, x, **{"start": 5})


@runs(vector(1, 2))
def immediately_called_lambda(x: FLOAT["N"]):
    return (lambda v: v * 3)(x)


class Linear:
    """A class that holds weights, as users write them."""

    def __init__(self, weight, bias):
        self.weight = np.array(weight, np.float32)
        self.bias = np.array(bias, np.float32)

    def __call__(self, x):
        return x @ self.weight + self.bias

    @property
    def gain(self):
        return 2

    @staticmethod
    def relu(x):
        return op.Relu(x)

    @classmethod
    def name(cls):
        return cls.__name__


class Scaled(Linear):
    """A subclass that calls the method it overrides."""

    def __call__(self, x):
        return super().__call__(x) * self.gain

    @script
    def forward(self, x: FLOAT["N", 2]):
        if x.sum() > 0:
            y = self(x)
        else:
            y = self.relu(x @ self.weight)
        return y


LINEAR = Linear([[1, 2], [3, 4]], [10, 20])
SCALED = Scaled([[1, 0], [0, 1]], [1, 1])

method_that_is_a_script = runs(matrix([1, 2]))(runs(matrix([-1, -2]))(SCALED.forward))


@runs(matrix([1, 2], [3, 4]))
def object_with_weights(x: FLOAT["N", 2]):
    return LINEAR(x) * LINEAR.gain


@runs(matrix([1, -2]))
def static_and_class_methods(x: FLOAT["N", 2]):
    return LINEAR.relu(x) if Linear.name() == "Linear" else x


@runs(matrix([1, 2]))
def object_made_inside(x: FLOAT["N", 2]):
    layer = Linear([[1, 0], [0, 1]], [0, 1])
    return layer(x)


@runs(matrix([1, 2]))
def subclass_with_super(x: FLOAT["N", 2]):
    return SCALED(x)


@runs(matrix([1, 2]))
def script_method_called_in_script(x: FLOAT["N", 2]):
    return SCALED.forward(x) + 1


class Pair(NamedTuple):
    """A named tuple of tensors."""

    left: object
    right: object

    def swapped(self):
        return Pair(self.right, self.left)


@dataclass(frozen=True)
class State:
    """A dataclass of tensors."""

    hidden: object
    count: object = 0


@runs(scalar(2))
@runs(scalar(-2))
def named_tuple(x: FLOAT):
    pair = Pair(x, x + 1)
    if x > 0:
        pair = pair.swapped()
    return pair.left * 10 + pair.right


@runs(scalar(2), integer(3))
def dataclass_carried(x: FLOAT, n: INT64):
    state = State(x)
    for i in range(n):
        state = replace(state, hidden=state.hidden * 2 + i, count=state.count + 1)
    return state.hidden, state.count


def make_scaled(factor):
    def scaled(x: FLOAT["N"]):
        return x * factor

    return scaled


made_by_a_factory = runs(vector(1, 2))(make_scaled(3.0))
made_by_a_factory_again = runs(vector(1, 2))(make_scaled(5.0))
lambda_itself = runs(vector(1, 2))(lambda x: x * 2 + 1)


@refused(RecursiveFunctionError)
def recursion_without_known_end(x: FLOAT):
    def down(v):
        return v if v < 0 else down(v - 1)

    return down(x)


@refused(UndefinedNameError, "did you mean 'double'")
def misspelt_helper(x: FLOAT["N"]):
    return duoble(x)  # here  # noqa: F821


@refused(UnsupportedSyntaxError, "a class definition")
def class_inside(x: FLOAT["N"]):
    class Inner:  # here
        factor = 2

    return x * Inner.factor


@refused(MissingReturnError, "returns None, value 3 of 3, which is no tensor")
def none_among_others_is_returned(x: FLOAT["N"]):
    return x, "text", None  # here


@refused(MissingReturnError, "returns an object, value 2 of 2, which is no tensor")
def an_object_is_returned(x: FLOAT["N"]):
    return x, object()  # here
