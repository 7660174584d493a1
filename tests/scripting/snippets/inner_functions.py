"""`nonlocal` in inner functions."""

from onnxsmith import FLOAT, INT64
from onnxsmith.errors import (
    DynamicPythonValueError,
    UnassignedVariableError,
)
from tests.scripting.corpus import integer, refused, runs, vector


@runs(vector(-1, 2, 3))
@runs(vector(1, 2))
def counted_in_loop(x: FLOAT["N"]):
    n = 0

    def bump():
        nonlocal n
        n += 1

    for v in x:
        if v > 0:
            bump()
    return x * n


@runs(vector(-1, 2, 3))
@runs(vector(1, 2))
def decided_inside(x: FLOAT["N"]):
    total = 0.0

    def add(v):
        nonlocal total
        if v > 0:
            total = total + v
        return total

    for v in x:
        add(v)
    return x * total


@runs(vector(-1, 2, 3))
@runs(vector(1, 2))
def order_of_reading(x: FLOAT["N"]):
    n = 1

    def bump():
        nonlocal n
        n = n * 2
        return n

    a = bump() + n
    b = n + bump()
    c = [bump(), n, bump()]
    n += 10
    d = bump()
    return x * a, x * b, x * c[0] + c[1] * 100 + c[2] * 1000, x * d * n


@runs(vector(-1, 2, 3))
@runs(vector(3, 2, 1))
def returns_early(x: FLOAT["N"]):
    n = 0

    def bump(v):
        nonlocal n
        if v > 2:
            n = n + 10
            return v
        n = n + 1
        return v * 2

    a = bump(x[0])
    b = bump(x[1])
    c = bump(x[2])
    return a + b + c + n


@runs(vector(-1, 2, 3))
def in_a_test(x: FLOAT["N"]):
    n = 0

    def more():
        nonlocal n
        n = n + 1
        return x[n - 1] < 2

    while more():
        pass
    return x + n


@runs(vector(-1, 2, 3))
@runs(vector(1, 2))
def shared_by_two(x: FLOAT["N"]):
    n = 0

    def one():
        nonlocal n
        n += 1
        two()
        return n

    def two():
        nonlocal n
        if x.sum() > 0:
            n = n * 10

    one()
    one()
    return x + n


@runs(vector(-1, 2, 3))
@runs(vector(1, 2))
def two_levels(x: FLOAT["N"]):
    n = 0

    def outer():
        def inner():
            nonlocal n
            n += 1

        inner()
        inner()

    for i in range(3):
        outer()
    y = x + 1 if (outer() is None) else x
    return y * n


@runs(vector(-1, 2, 3))
@runs(vector(1, 2))
def in_a_choice(x: FLOAT["N"]):
    n = 0

    def bump():
        nonlocal n
        n += 1
        return x

    y = bump() if x.sum() > 0 else x * 2
    z = (x.sum() > 0) and (bump().sum() > 0)
    return y + n, z


@runs(vector(-1, 2, 3))
@runs(vector(1, 2))
def a_parameter(x: FLOAT["N"]):
    y = x

    def dbl():
        nonlocal x
        x = x * 2

    for i in range(3):
        if y.sum() > i:
            dbl()
    return x


@runs(vector(-1, 2, 3))
@runs(vector(1, 2))
def read_by_a_lambda(x: FLOAT["N"]):
    n = 0
    get = lambda: n * 100

    def bump():
        nonlocal n
        n += 1
        return get()

    r = bump() + get()
    del n
    n = 7
    return x + r + bump()


def counter(x):
    n = x * 0

    def bump():
        nonlocal n
        n = n + 1
        return n

    return bump


@runs(vector(-1, 2, 3))
@runs(vector(-1, -2))
def outlives_its_function(x: FLOAT["N"]):
    bump = counter(x)
    other = counter(x)
    if x.sum() > 0:
        bump()
        bump()
    for _ in x:
        bump()
    return bump(), other()


@runs(vector(1, 2), integer(3))
@runs(vector(1, 2), integer(0))
def leaves_a_loop(x: FLOAT["N"], n: INT64):
    last = x

    def took(v):
        nonlocal last
        last = last + v
        return last.sum() > 10

    for i in range(n):
        if took(i):
            break
    else:
        last = last * 2
    return last


@refused(UnassignedVariableError, "'n' may have no value here")
def assigned_only_in_a_loop(x: FLOAT["N"]):
    def keep(v):
        nonlocal n
        n = v

    for v in x:
        keep(v)
    if x is None:
        n = x
    return n  # here


@refused(DynamicPythonValueError, "'mode' is 'b' or 'a'")
def python_value(x: FLOAT["N"]):
    mode = "a"

    def flip():
        nonlocal mode
        mode = "b"

    if x.sum() > 0:
        flip()
    return x if mode == "a" else x * 2  # here
