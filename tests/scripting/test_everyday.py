"""Everyday programs: loops, jumps, helpers, attributes, indexing; each gives the same eagerly and compiled.

Where plain Python on numpy means the same, it is the third opinion.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
import pytest

from onnxsmith import BOOL, DOUBLE, FLOAT, INT64, STRING, script, static_range
from onnxsmith import opset21 as op
from tests.scripting.four_ways import assert_same, flat

X = np.arange(6, dtype=np.float32)
M = np.arange(12, dtype=np.float32).reshape(3, 4)
YES, NO = np.array(True), np.array(False)

CASES: list[Any] = []


def case(*inputs: Any, plain: bool = True, close: bool = False) -> Any:
    """Enter a script with inputs; `plain` says that Python on numpy gives the same."""

    def enter(function: Any) -> Any:
        made = function if hasattr(function, "to_model") else script(function)
        CASES.append(pytest.param(made, inputs, plain, close, id=f"{made.name}-{len(CASES)}"))
        return made

    return enter


@case(np.int64(10))
def fibonacci(n: INT64):
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
    return a


@case(X, np.float32(3.5))
@case(X, np.float32(-1))
def bisection(x: FLOAT["N"], v: FLOAT):
    lo, hi = 0, len(x)
    while lo < hi:
        mid = (lo + hi) // 2
        if x[mid] < v:
            lo = mid + 1
        else:
            hi = mid
    return lo


@case(np.float64(2))
def newton(a: DOUBLE):
    guess = a
    for _ in range(50):
        following = 0.5 * (guess + a / guess)
        if abs(following - guess) < 1e-12:
            break
        guess = following
    return guess


@case(np.int64(27))
def collatz(n: INT64):
    steps = 0
    while n != 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps


@case(X[::-1].copy(), plain=False)
def bubble_sort(x: FLOAT["N"]):
    n = x.shape[0]
    for i in range(n):
        for j in range(n - 1 - i):
            if x[j] > x[j + 1]:
                a, b = x[j], x[j + 1]
                x = x.at[j].set(b)
                x = x.at[j + 1].set(a)
    return x


@case(X)
@case(X + 2)
@case(X * 100)
def guard_clauses(x: FLOAT["N"]):
    if x.sum() > 100:
        return x
    if x[0] > 1:
        return x * 2
    y = x + 1
    if y[0] > 5:
        y = y * 3
    else:
        y = y * 4
    return y


@case(X)
@case(X * 0)
def returns_from_nested_loops(x: FLOAT["N"]):
    for i in range(3):
        for j in range(3):
            if x[i] + x[j] > 4:
                return x * i + j
            if x[j] > 100:
                break
        else:
            x = x + 1
    return -x


@case(X)
@case(X - 100)
def while_with_else(x: FLOAT["N"]):
    i = 0
    while i < 10:
        if x[0] > 5:
            break
        x = x + 1
        i += 1
    else:
        x = x * 0
    return x, i


@case(X, np.int64(4))
def continues(x: FLOAT["N"], n: INT64):
    i = 0
    while i < n:
        x = x * 2
        i += 1
        if i == 2:
            continue
        x = x + 1
    return x, i


@case(X)
def endless_with_break(x: FLOAT["N"]):
    total = x[0] * 0
    while True:
        total = total + 1
        if total > 5:
            break
    return total


@case(X)
@case(X - 20)
def breaks_out_of_a_list(x: FLOAT["N"]):
    _, *rest = [x, x + 1, x + 2]
    w = sum(rest)
    for k in (1, 2, 3):
        if w[0] > 4:
            break
        w = w + k
    else:
        w = w * 100
    return w


@case(X)
def list_that_grows(x: FLOAT["N"]):
    parts = []
    for i in range(3):
        parts.append(x * i)
    return parts[0] + parts[1] - parts[2]


@case(X)
def number_that_becomes_a_tensor(x: FLOAT["N"]):
    total = 0.0
    for i in range(3):
        total = total + x[i] * i
    return total


@case(X)
@case(X[:2])
def lengths_and_conditions(x: FLOAT["N"]):
    n = len(x)
    y = x / n
    z = y if n > 3 else y * 2
    return z, (n > 2 and x[0] == 0), 1 < n < 10


def _doubled_if_large(v: Any, k: int) -> Any:
    if v.sum() > 3:
        return v * k
    return v


@case(X)
def calls_a_helper(x: FLOAT["N"]):
    return _doubled_if_large(x, 2) + _doubled_if_large(x * 0, 3)


class Layer:
    """Weights in an object."""

    def __init__(self) -> None:
        self.weight = np.ones((6, 2), np.float32)

    @script
    def forward(self, x: FLOAT[6]):
        return x @ self.weight


case(X, plain=False)(Layer().forward)


@case(X)
def nested_functions(x: FLOAT["N"]):
    def power(v: Any, p: int = 2) -> Any:
        return v**p

    def twice(f: Any, v: Any) -> Any:
        return f(f(v))

    return twice(power, x), (lambda q: q + 1)(x)


@case(X)
def comprehensions(x: FLOAT["N"]):
    parts = [x * k + b for k, b in zip([1.0, 2.0], (3.0, 4.0), strict=True) if k > 0]
    named = {f"k{i}": part for i, part in enumerate(parts)}
    return sum(named.values()), max(1, 2) * x, {**named}["k1"], x * math.sqrt(4)


@script
def scaled(x: FLOAT["N"], bias: FLOAT["N"] | None = None, scale: float = 2.0, mode: str = "a"):
    if bias is not None:
        x = x + bias
    if mode == "a":
        x = x * scale
    return x


case(X)(scaled)


@case(X, plain=False)
def calls_with_attributes(x: FLOAT["N"]):
    return scaled(x), scaled(x, x), scaled(x, scale=0.5), scaled(x, mode="b")


@script
def normalised(x: FLOAT["A", "B"], axis: int, keep: bool = True, perm: Sequence[int] = (1, 0)):
    mean = op.ReduceMean(x, [axis], keepdims=keep)
    return op.Transpose(x - op.ReduceMean(x, [axis], keepdims=1), perm=perm), mean


@case(M, plain=False)
def attributes_of_all_kinds(x: FLOAT["A", "B"]):
    return normalised(x, axis=1, keep=False)


@case(np.array(["a", "b"], object), plain=False)
def strings(s: STRING["N"]):
    return op.StringConcat(s, "!"), s == "a"


@case(X, np.int64(2))
def dynamic_slices(x: FLOAT["N"], n: INT64):
    return x[:n], x[n:], x[-n:], x[n], x[::-1][:n]


@case(M)
def masks_and_index_lists(x: FLOAT["N", "M"]):
    return x[x > 3], x[[0, 2], 1:], x[..., None, 0], x[:, x[0] > 1]


@case(M, close=True)
def shape_arithmetic(x: FLOAT["N", "M"]):
    n, m = x.shape
    return x.reshape(m, n) / n, n * m // 2, np.float32(1) * x[0, 0] + n / m


@case(X, YES)
@case(X, NO)
def conditional_expressions(x: FLOAT["N"], c: BOOL):
    k = 1 if c else 2
    v = x if c else x[:2]
    return x * k, v, (c and x[0] > 1) or not c


@case([X, X + 1], plain=False)
def sequences(xs: Sequence[FLOAT["N"]]):
    total = xs[0] * 0
    for v in xs:
        total = total + v
    return total, len(xs)


@case(
    np.linspace(0, 1, 30, dtype=np.float32).reshape(5, 2, 3),
    np.zeros((2, 4), np.float32),
    np.ones((3, 4), np.float32),
    np.eye(4, dtype=np.float32),
    plain=False,
    close=True,
)
def recurrent_network(xs: FLOAT["T", "B", "I"], h: FLOAT["B", "H"], w: FLOAT["I", "H"], u: FLOAT["H", "H"]):
    outputs = op.SequenceEmpty()
    for x in xs:
        h = op.Tanh(x @ w + h @ u)
        outputs = op.SequenceInsert(outputs, h)
    return op.ConcatFromSequence(outputs, axis=0, new_axis=1), h


@case(M)
def static_unrolling(x: FLOAT["N", "M"]):
    rows = []
    for i in static_range(2):
        rows.append(x[i])
    total = rows[0] * 1
    for row in rows[1:]:
        total += row
    return total


@case(X)
def small_statements(x: FLOAT["N"]):
    match 3:
        case 3 if True:
            y = x
        case _:
            y = x + 1
    assert x.ndim == 1
    import math as m

    half = m.sqrt(0.25)
    del m
    return (z := y + 1) * z * half


@case(np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4), plain=False)
def unpacked_outputs(x: FLOAT[1, 1, 4, 4]):
    y, indices = op.MaxPool(x, kernel_shape=[2, 2])
    left, right = op.Split(op.MaxPool(y, kernel_shape=[1, 1]), axis=3)
    return left, right, indices


@pytest.mark.parametrize(("made", "inputs", "plain", "close"), CASES)
def test_all_ways_agree(made: Any, inputs: tuple[Any, ...], plain: bool, close: bool) -> None:
    eager = flat(made(*inputs))
    model = made.to_model()
    if all(
        "[...]" not in repr(port.type) for port in (*model.inputs, *model.outputs)
    ):  # the checker wants a rank
        onnx.checker.check_model(model.proto, full_check=True)
    assert_same(eager, flat(model(*inputs)), "the model", is_close=close)
    if plain:
        arrays = [np.array(each)[()] if isinstance(each, np.ndarray) else each for each in inputs]
        expected = flat(made.__wrapped__(*arrays))
        for wanted, got in zip(expected, eager, strict=True):
            np.testing.assert_allclose(np.asarray(got), np.asarray(wanted), rtol=1e-6 if close else 0)
    jitted = made.jit(*inputs)
    assert_same(eager, flat(jitted), "jit", is_close=close)
