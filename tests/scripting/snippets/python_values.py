"""Computations on what Python knows: numpy, math, containers, captured arrays."""

import collections
import functools
import math
import operator
from fractions import Fraction

import numpy as np

from onnxsmith import FLOAT, INT64
from onnxsmith import opset18 as op
from onnxsmith.errors import MutationError, TracedValueError, UnsupportedSyntaxError
from tests.scripting.corpus import close, integer, matrix, refused, runs, scalar, vector

W = np.arange(6, dtype=np.float32).reshape(2, 3)
BIAS = np.array([10, 20, 30], np.float32)
CONFIG = {"layers": [{"w": W, "b": BIAS}], "scale": 2.0, "name": "net"}
SEEN = []


@runs(matrix([1, 2], [3, 4]))
def captured_weights(x: FLOAT["N", 2]):
    return x @ W + BIAS


@runs(matrix([1, 2], [3, 4]))
def weights_from_config(x: FLOAT["N", 2]):
    for layer in CONFIG["layers"]:
        x = x @ layer["w"] + layer["b"]
    return x * CONFIG["scale"]


@runs(matrix([1, 2], [3, 4]))
def computed_weights(x: FLOAT["N", 2]):
    scaled = W * 2 - W.mean()
    return x @ np.ascontiguousarray(scaled.astype(np.float32)) + np.eye(3, dtype=np.float32)[0]


@runs(matrix([1, 2], [3, 4]))
def array_on_the_left(x: FLOAT[2, 2]):
    return W.T @ x, BIAS[:2] - x, 2 * x


@runs(matrix([1, 2], [3, 4]))
def weights_made_inside(x: FLOAT["N", 2]):
    w = np.zeros((2, 3), np.float32)
    for i in range(2):
        w[i, i] = i + 1
    return x @ w


@runs(vector(1, 2))
@close
def mathematics(x: FLOAT["N"]):
    return x * math.sqrt(0.5) + math.pi - math.exp(1) / math.cos(0.3)


@runs(matrix([1, 2], [3, 4]))
@close
def mathematics_of_dimensions(x: FLOAT["N", "M"]):
    n, m = x.shape
    return x / math.sqrt(m) + math.floor(n / 2) - math.log(n + m)


@runs(scalar(2))
@close
def mathematics_of_scalars(x: FLOAT):
    return math.exp(x) + math.sin(x) * x


@runs(vector(1, 2, 3))
def numbers_of_dimensions(x: FLOAT["N"]):
    n = len(x)
    return (
        n + 1,
        n - 5,
        n * 2,
        n // 2,
        n % 2,
        n / 2,
        n**2,
        -n,
        abs(n - 10),
        n > 2,
        n == 3,
        *divmod(n, 2),
        round(n / 2),
    )


@runs(vector(1, 2, 3))
def bits_of_dimensions(x: FLOAT["N"]):
    n = x.shape[0]
    return n & 1, n | 4, n ^ 1, n << 2, n >> 1, ~n


@runs(vector(1, 2, 3))
def dimension_as_float(x: FLOAT["N"]):
    return x / len(x), x * (1 / len(x)), x.sum() / x.shape[0]


@runs(matrix([1, 2], [3, 4]))
def dimensions_multiplied(x: FLOAT["N", "M"]):
    return x.reshape(x.shape[0] * x.shape[1]), x.shape[0] * x.shape[1], x.size


@runs(vector(1, 2))
def other_numbers(x: FLOAT["N"]):
    return x * float(Fraction(1, 4)) + int("12") + round(2.6) + sum([1, 2]) + max(3, 4)


@runs(vector(1, 2))
def numpy_scalars(x: FLOAT["N"]):
    return x * np.float32(2) + np.float32(np.pi) * 0 + int(np.prod([2, 3]))


@runs(vector(1, 2))
def collections_and_operators(x: FLOAT["N"]):
    counts = collections.Counter("abca")
    queue = collections.deque([x, x + 1])
    first = queue.popleft()
    return operator.add(first, counts["a"]) * queue[0]


@runs(vector(1, 2))
def nested_containers(x: FLOAT["N"]):
    state = {"stack": [x], "best": (x, 0)}
    state["stack"].append(x * 2)
    state["best"] = (state["stack"][-1], len(state["stack"]))
    value, count = state["best"]
    return value + count


@runs(vector(1, 2))
def list_operations(x: FLOAT["N"]):
    items = [x] * 2 + [x + 1]
    items.reverse()
    items.insert(0, x * 5)
    last = items.pop()
    return sum(items) - last, len(items)


@runs(vector(1, 2))
def getattr_and_isinstance(x: FLOAT["N"]):
    f = getattr(op, "Relu")  # noqa: B009
    return f(x) if isinstance(CONFIG, dict) and hasattr(CONFIG, "items") and callable(f) else x


@runs(vector(1, 2))
def functions_of_functools(x: FLOAT["N"]):
    @functools.wraps(len)
    def wrapped(v):
        return v + 1

    return wrapped(x)


@runs(vector(1, 2))
def set_and_frozenset(x: FLOAT["N"]):
    return x * len({1, 2, 2}) + len(frozenset([3]) | {4})


@runs(vector(1, 2))
def complex_expression(x: FLOAT["N"]):
    return ((x + 1) * (x - 1) / 2 - x**2) * -1 + (x % 2) // 1


@runs(integer(7), integer(-2))
def integers_divide(a: INT64, b: INT64):
    return a // b, a % b, a * b - b, abs(b), a**2


@runs(vector(1, 2))
def same_array_twice(x: FLOAT["N"]):
    return x @ W @ W.T @ W + BIAS - BIAS


@runs(vector(3, 1, 2))
def methods_of_tensors(x: FLOAT["N"]):
    return x.max(), x.argmin(), x.mean() * 3, x.prod(), x.clip(1, 2), x.astype(np.int64), (x > 1).any(), x.T


@refused(MutationError)
def global_changed_in_branch(x: FLOAT):
    if x > 0:
        SEEN.append(1)  # here
        x = x + 1
    return x


@refused(MutationError)
def config_changed_in_loop(x: FLOAT, n: INT64):
    for _ in range(n):
        CONFIG["count"] = 1  # here
        x = x + 1
    return x


@refused(TracedValueError)
def list_indexed_by_tensor(n: INT64, x: FLOAT["N"]):
    factors = [1.0, 2.0]
    return x * factors[n]  # here


@refused(TracedValueError)
def dict_asked_by_tensor(n: INT64, x: FLOAT["N"]):
    factors = {0: 1.0, 1: 2.0}
    return x * factors.get(n, 3.0)  # here


@refused(TracedValueError, "combines a list")
def list_repeated_by_dimension(x: FLOAT["N"]):
    zeros = [0.0] * len(x)  # here
    return x + zeros


@refused(UnsupportedSyntaxError, "locals()")
def local_variables(x: FLOAT["N"]):
    return locals()["x"]  # here


@refused(UnsupportedSyntaxError, "dir() without an argument")
def names_of_variables(x: FLOAT["N"]):
    return x * len(dir())  # here


@refused(UnsupportedSyntaxError, "vars() without an argument")
def values_of_variables(x: FLOAT["N"]):
    return x * len(vars())  # here


@refused(TracedValueError, "may be negative")
def power_of_two_numbers(a: INT64, b: INT64):
    return int(a) ** int(b)  # here
