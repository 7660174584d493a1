"""f-strings, print, assert, match, with, import, del, pass, docstrings."""

import contextlib
import dataclasses

import numpy as np

from onnxsmith import FLOAT, INT64, STRING
from onnxsmith import opset18 as op
from onnxsmith.errors import MutationError, TracedValueError, UnassignedVariableError, UnsupportedSyntaxError
from tests.scripting.corpus import integer, refused, runs, scalar, skips, vector

PRINTED = "the eager run and plain Python print"


@runs(vector(1, 2))
def docstring(x: FLOAT["N"]):
    """Doubles.

    Over several lines.
    """
    "a text that stands alone"
    return x * 2


@runs(vector(1, 2))
def one_line(x: FLOAT["N"]):
    return x * 2  # noqa: E704


@runs(vector(1, 2))
def pass_and_ellipsis(x: FLOAT["N"]):
    pass
    ...
    return x


@runs(vector(1, 2))
def print_of_tensors(x: FLOAT["N"]):
    print("x is", x, x.sum(), sep="\n")
    print(f"twice: {x * 2}, {x.shape[0]:>4}")
    return x


@runs(vector(1, 2), integer(2))
def print_in_loop(x: FLOAT["N"], n: INT64):
    for i in range(n):
        print(f"{i}: {x!r}")
        x = x + i
    return x


@runs(vector(1, 2))
def f_string_of_python_values(x: FLOAT["N"]):
    table = {"w1": 2, "w2": 3}
    for k in (1, 2):
        x = x * table[f"w{k}"]
    return x


@runs(vector(1, 2))
def f_string_of_known_range(x: FLOAT["N"]):
    table = {"w0": 2, "w1": 3}
    for k in range(2):
        x = x * table[f"w{k}"]
    return x


@runs(vector(1, 2))
def string_methods(x: FLOAT["N"]):
    name = "layer-{}".format("a").upper()
    return x + len(name.split("-"))


@runs(vector(1, 2))
def known_assertion(x: FLOAT["N"]):
    assert x.ndim == 1, f"a vector is needed, not {x.ndim} dimensions"
    assert isinstance("text", str)
    return x


@runs(scalar(1))
def assertion_on_tensor(x: FLOAT):
    assert x > 0, f"{x} must be positive"
    return x


@runs(vector(1, 2))
def deletion(x: FLOAT["N"]):
    y = x + 1
    z = y * 2
    del y, x
    return z


@runs(scalar(2))
@runs(scalar(-2))
def deletion_in_branch(x: FLOAT):
    y = x + 1
    if x > 0:
        t = y * 2
        y = t
        del t
    return y


@runs(vector(1, 2))
def import_inside(x: FLOAT["N"]):
    import math
    import os.path
    from operator import add as plus

    return plus(x, math.floor(2.5)) * len(os.path.join("a", "b"))


@runs(vector(1, 2))
def with_context(x: FLOAT["N"]):
    with contextlib.nullcontext(3) as k, contextlib.suppress(KeyError):
        x = x * k
    return x


@runs(scalar(2))
@runs(scalar(-2))
def return_in_with(x: FLOAT):
    with contextlib.nullcontext():
        if x > 0:
            return x * 2
        y = x - 1
    return y


@runs(vector(1, 5, 2))
def break_in_with(x: FLOAT["N"]):
    s = 0
    for v in x:
        with contextlib.nullcontext():
            if v > 3:
                break
            s = s + v
    return s


@runs(vector(1, 2))
def match_literals(x: FLOAT["N"]):
    match "scale":
        case "shift":
            x = x + 1
        case "scale" | "grow":
            x = x * 10
        case _:
            x = -x
    return x


@dataclasses.dataclass
class Point:
    """Something to match."""

    left: int
    right: int


@runs(vector(1, 2))
def match_patterns(x: FLOAT["N"]):
    for item in [(1, 2), [3], {"k": 4, "rest": 0}, Point(5, 6), 7, None, "text"]:
        match item:
            case (a, b):
                x = x + a * b
            case [only]:
                x = x + only
            case {"k": k, **rest}:
                x = x + k * len(rest)
            case Point(left=l, right=5 | 6 as r):
                x = x + l * r
            case int(n) if n > 5:
                x = x + n * 100
            case None:
                x = x + 1000
            case _:
                pass
    return x


@runs(scalar(2))
@runs(scalar(-2))
def match_with_returns(x: FLOAT):
    mode = "sign"
    match mode:
        case "sign":
            if x > 0:
                return x * 0 + 1
            y = -x
        case _:
            y = x
    return y + 1


@runs(scalar(2))
def match_on_tuple_of_tensors(x: FLOAT):
    match (x, "add"):
        case (v, "add"):
            return v + 1
        case (v, _):
            return v


@runs(vector(1, 2))
def known_error_is_not_reached(x: FLOAT["N"]):
    if x.ndim != 1:
        raise ValueError("a vector is needed")
    return x


@runs(vector(1, 2))
@skips(plain="breakpoint() stops", eager="breakpoint() stops")
def breakpoint_left_in(x: FLOAT["N"]):
    breakpoint()  # noqa: T100
    return x + 1


@runs(vector(1, 2))
def global_read(x: FLOAT["N"]):
    return x + len(PRINTED)


@runs(vector(1, 2))
def semicolons_and_long_lines(x: FLOAT["N"]):
    a = x + 1
    b = a * 2  # noqa: E702
    y = (
        a
        + b
        - op.Relu(
            a,
        )
    )
    return y


@refused(UnsupportedSyntaxError, "'try'")
def try_except(x: FLOAT["N"]):
    try:  # here
        y = x + 1
    except ValueError:
        y = x
    return y


@refused(UnsupportedSyntaxError, "'yield'")
def generator_function(x: FLOAT["N"]):
    yield x  # here


@refused(UnsupportedSyntaxError, "'global'")
def global_assigned(x: FLOAT["N"]):
    global PRINTED  # here
    PRINTED = x
    return x


@refused(UnsupportedSyntaxError, "only the model knows whether this line is reached")
def error_raised_by_tensor(x: FLOAT):
    if x < 0:
        raise ValueError("negative")  # here
    return x


@refused(TracedValueError, "text")
def f_string_of_tensor(x: FLOAT):
    name = f"{x}"  # here
    return x + len(name)


@runs(scalar(1))
@runs(scalar(-2.5))
@runs(scalar(4))
def match_on_tensor(x: FLOAT):
    match x:
        case 1:
            return x * 10
        case -2.5 | 3:
            return x * 20
        case 4 if x > 5:
            return x * 30
        case _:
            return -x


@runs(scalar(2), integer(3))
def match_on_counter(x: FLOAT, n: INT64):
    for i in range(n):
        match i:
            case 0:
                x = x + 1
            case 1:
                continue
        x = x * 2
    return x


@refused(UnsupportedSyntaxError, "'match'")
def match_on_computed_tensor(x: FLOAT):
    match x + 1:  # here
        case 1:
            return x
        case _:
            return -x


@runs(np.array(["a", "b"], object), integer(2))
@runs(np.array(["a", "b"], object), integer(0))
def text_that_meets_a_string_tensor(s: STRING["N"], n: INT64):
    last = "none"
    for i in range(n):
        last = s[i]
    if n > 5:
        last = "five"
    return last


@refused(UnassignedVariableError, "'y'")
def used_after_deletion(x: FLOAT["N"]):
    y = x + 1
    del y
    return x + y  # here


@refused(UnsupportedSyntaxError, "attribute of an object")
def attribute_assigned(x: FLOAT["N"]):
    op.memory = x  # here
    return x


@runs(vector(1, 2))
def elements_deleted(x: FLOAT["N"]):
    parts = [x, x + 1.0, x * 2.0]
    names = {"a": x, "b": x * 3.0}
    del parts[0], names["a"]
    del parts[1:]
    y = parts[0]
    for each in names:
        y = y + names[each]
    return y * len(parts)


@refused(MutationError, "'parts' is changed inside this")
def element_deleted_on_one_path(x: FLOAT["N"]):
    parts = [x, x + 1.0]
    if op.ReduceSum(x, keepdims=0) > 0.0:
        del parts[0]
    return parts[0]


@refused(UnsupportedSyntaxError, "elements of lists and dicts alone can be deleted")
def element_of_a_tensor_deleted(x: FLOAT["N"]):
    del x[0]
    return x
