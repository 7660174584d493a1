"""Variables that are None before a tensor is assigned to them, where only the model knows whether that happens."""

from onnxsmith import FLOAT
from onnxsmith import opset18 as op
from onnxsmith.errors import DynamicPythonValueError, LoopTypeError
from tests.scripting.corpus import refused, runs, skips, vector


@runs(vector(-1, 2, 3))
@runs(vector())
@runs(vector(-3, -4))
@runs(vector(5, 2, 7))
def largest(x: FLOAT["N"]):
    best = None
    for v in x:
        if best is None or v > best:
            best = v
    return best if best is not None else -1.0


@runs(vector(-1, 2, 3))
@runs(vector())
@runs(vector(-3, -4))
@runs(vector(5, 2, 7))
@skips(plain="an operator takes no numpy scalars")
def largest_of_some(x: FLOAT["N"]):
    best = None
    for v in x:
        if v > 0:
            if best is None:
                best = v
            else:
                best = op.Max(best, v)
    if best is None:
        return x.sum()
    return best * 2


@runs(vector(-1, 2, 3))
@runs(vector())
@runs(vector(-3, -4))
@runs(vector(5, 2, 7))
def compared_with_the_one_before(x: FLOAT["N"]):
    prev = None
    n = 0
    for v in x:
        if prev is not None and v > prev:
            n = n + 1
        prev = v
    return x + n


@runs(vector(-1, 2, 3))
@runs(vector())
@runs(vector(-3, -4))
@runs(vector(5, 2, 7))
def with_its_place(x: FLOAT["N"]):
    best = None
    for i, v in enumerate(x):
        if best is None or v > best[1]:
            best = (i, v)
    if best is None:
        best = (-1, x.sum())
    return best[0], best[1]


@runs(vector(-1, 2, 3))
@runs(vector(-3, -4))
@runs(vector(5, 2, 7))
def none_again(x: FLOAT["N"]):
    last = x[0]
    for v in x:
        if last is None:
            last = v
        elif v > 1:
            last = None
    return last if last is not None else 100.0


@runs(vector(-1, 2, 3))
@runs(vector())
@runs(vector(-3, -4))
@runs(vector(5, 2, 7))
def after_a_branch(x: FLOAT["N"]):
    y = None
    if x.sum() > 0:
        y = x * 2
    if not (y is None):
        x = x + y
    return x


@runs(vector(-1, 2, 3))
@runs(vector())
@runs(vector(-3, -4))
@runs(vector(5, 2, 7))
def two_variables(x: FLOAT["N"]):
    best, at = None, None
    for i, v in enumerate(x):
        if best is None or v > best:
            best, at = v, i
    if at is None:
        at = -1
    return x * at


@runs(vector(-1, 2, 3))
@runs(vector())
@runs(vector(-3, -4))
@runs(vector(5, 2, 7))
def in_a_test(x: FLOAT["N"]):
    s = None
    i = 0
    while i < 3 and (s is None or s.sum() < 10):
        s = x if s is None else s + x
        i = i + 1
    return x if s is None else s


@runs(vector(-1, 2, 3))
@runs(vector())
@runs(vector(-3, -4))
@runs(vector(5, 2, 7))
def a_number(x: FLOAT["N"]):
    k = None
    if x.sum() > 0:
        k = 3
    elif x.sum() < -5:
        k = 4.5
    return x * (k if k is not None else 1)


@runs(vector(-1, 2, 3))
@runs(vector())
@runs(vector(-3, -4))
@runs(vector(5, 2, 7))
def assigned_by_an_inner_function(x: FLOAT["N"]):
    best = None

    def see(v):
        nonlocal best
        if best is None or v > best:
            best = v

    for v in x:
        see(v)
    return best if best is not None else -1.0


@runs(vector(-1, 2, 3))
@runs(vector())
@runs(vector(-3, -4))
@runs(vector(5, 2, 7))
def used_under_and(x: FLOAT["N"]):
    y = None
    if x.sum() > 0:
        y = x
    if y is not None and y.sum() > 1:
        x = x + y
    return x


@runs(vector(-1, 2, 3))
@runs(vector(5, 2, 7))
def surely_runs(x: FLOAT[3]):
    best = None
    for v in x:
        if best is None or v > best:
            best = v
    return best


@runs(vector(-1, 2, 3))
@runs(vector())
@runs(vector(-3, -4))
@runs(vector(5, 2, 7))
def runs_three_times(x: FLOAT["N"]):
    prev = None
    for i in range(3):
        if prev is None:
            prev = x
        else:
            prev = prev * 2 + i
    return prev


@refused(DynamicPythonValueError, "'best' may be None here")
def returned(x: FLOAT["N"]):
    best = None
    for v in x:
        if best is None or v > best:
            best = v
    return best  # here


@refused(DynamicPythonValueError, "'y' may be None here")
def given_to_an_operator(x: FLOAT["N"]):
    y = None
    if x.sum() > 0:
        y = x
    return op.Add(x, y)  # here


@refused(DynamicPythonValueError, "'y' may be None here")
def checked_by_another(x: FLOAT["N"]):
    y = z = None
    if x.sum() > 0:
        y, z = x, x
    if z is None:
        return x
    if x.sum() > 1:
        y = x * 2
    return y  # here


@refused(LoopTypeError, "'mode' is one of two Python values")
def no_tensor(x: FLOAT["N"]):
    mode = None
    for v in x:  # here
        if mode is None and v > 0:
            mode = "positive"
    return x
