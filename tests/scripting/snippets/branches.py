"""`if`, `elif`, `else` on Python values and on tensors."""

from onnxsmith import BOOL, FLOAT, INT64
from onnxsmith import opset18 as op
from onnxsmith.errors import (
    BranchTypeError,
    ConditionError,
    DynamicPythonValueError,
    MissingReturnError,
    MutationError,
    UnassignedVariableError,
)
from tests.scripting.corpus import integer, matrix, refused, runs, scalar, truth, vector

DEBUG = False
MODE = "fast"


@runs(scalar(2))
@runs(scalar(-2))
def if_else(x: FLOAT):
    if x > 0:
        y = x + 1
    else:
        y = x - 1
    return y


@runs(scalar(2))
@runs(scalar(-2))
def if_only(x: FLOAT):
    y = x
    if x > 0:
        y = y * 10
    return y


@runs(scalar(2))
@runs(scalar(0))
@runs(scalar(-2))
def elif_chain(x: FLOAT):
    if x > 0:
        y = x + 1
    elif x < 0:
        y = x - 1
    else:
        y = x + 100
    return y


@runs(scalar(2), scalar(1))
@runs(scalar(2), scalar(-1))
@runs(scalar(-2), scalar(1))
@runs(scalar(-2), scalar(-1))
def nested(x: FLOAT, y: FLOAT):
    if x > 0:
        if y > 0:
            z = x + y
        else:
            z = x - y
    elif y > 0:
        z = y * 10
    else:
        z = x * y
    return z


@runs(vector(1, 2))
def static_global(x: FLOAT["N"]):
    if DEBUG:
        x = op.NoSuchOperatorIsNeverAsked(x)
    if MODE == "fast":
        x = x * 2
    else:
        x = x * 3
    return x


@runs(vector(1, 2, 3))
def static_rank(x: FLOAT["N"]):
    if x.ndim == 1:
        return x * 2
    else:
        return x @ x


@runs(matrix([1, 2], [3, 4]))
def static_dimension(x: FLOAT["N", 2]):
    if x.shape[1] == 2:
        y = x[:, 0] + x[:, 1]
    else:
        y = x[:, 0]
    return y


@runs(vector(1, 2, 3))
@runs(vector(1, 2))
def dynamic_dimension(x: FLOAT["N"]):
    if x.shape[0] % 2 == 0:
        y = x * 2
    else:
        y = x
    return y


@runs(vector(1, 2, 3))
@runs(vector())
def length_as_condition(x: FLOAT["N"]):
    if len(x):
        y = x.sum()
    else:
        y = op.Constant(value_float=-1.0)
    return y


@runs(truth(True), vector(1, 2))
@runs(truth(False), vector(1, 2))
def bool_input(flag: BOOL, x: FLOAT["N"]):
    if flag:
        x = x + 1
    if not flag:
        x = x * 100
    return x


@runs(integer(3), vector(1, 2))
@runs(integer(0), vector(1, 2))
def integer_as_condition(n: INT64, x: FLOAT["N"]):
    if n:
        return x + 1
    return x


@runs(scalar(0.5))
@runs(scalar(0))
def float_as_condition(x: FLOAT):
    y = x
    if x:
        y = y + 1
    return y


@runs(vector(1, 2, 3))
@runs(vector(-1, 2, 3))
def reduced_condition(x: FLOAT["N"]):
    if (x > 0).all():
        return x
    if (x > 0).any():
        return -x
    return x * 0


@runs(scalar(2))
@runs(scalar(-2))
def several_variables(x: FLOAT):
    a, b, c = x, x, x
    if x > 0:
        a = a + 1
        c = a * b
    else:
        b = b - 1
        a, c = b, a
    return a, b, c


@runs(scalar(2))
@runs(scalar(-2))
def one_side_only_new_name(x: FLOAT):
    y = x
    if x > 0:
        t = x * x
        y = t + 1
    return y


@runs(scalar(2))
@runs(scalar(-2))
def numbers_merge(x: FLOAT):
    if x > 0:
        n = 2
        f = 0.5
    else:
        n = 3
        f = 4
    return x * n + f


@runs(scalar(2))
@runs(scalar(-2))
def same_python_value_on_both_sides(x: FLOAT):
    if x > 0:
        mode = "a"
        y = x + 1
    else:
        mode = "a"
        y = x - 1
    return y if mode == "a" else y * 100


@runs(scalar(2))
@runs(scalar(-2))
def number_meets_tensor(x: FLOAT):
    if x > 0:
        y = x * 3
    else:
        y = 0.0
    return y


@runs(scalar(2), vector(1, 2, 3))
@runs(scalar(-2), vector(1, 2, 3))
def different_lengths(s: FLOAT, x: FLOAT["N"]):
    if s > 0:
        y = x[1:]
    else:
        y = x
    return y * 2


@runs(scalar(2), vector(1, 2, 3))
@runs(scalar(-2), vector(1, 2, 3))
def different_ranks(s: FLOAT, x: FLOAT[3]):
    if s > 0:
        y = x.reshape(3, 1)
    else:
        y = x
    return y + 1


@runs(scalar(2))
@runs(scalar(-2))
def tuple_of_tensors(x: FLOAT):
    if x > 0:
        pair = (x, x + 1)
    else:
        pair = (x * 2, x)
    a, b = pair
    return a - b


@runs(scalar(2))
@runs(scalar(-2))
def list_and_dict_of_tensors(x: FLOAT):
    if x > 0:
        items, table = [x, x + 1], {"a": x}
    else:
        items, table = [x * 2, x], {"a": -x}
    return items[0] * items[1] + table["a"]


@runs(scalar(2))
@runs(scalar(-2))
def empty_branches(x: FLOAT):
    if x > 0:
        pass
    else:
        pass
    if x < 0:
        pass
    else:
        x = x + 1
    return x


@runs(scalar(2))
@runs(scalar(-2))
def captured_in_branch(x: FLOAT):
    a = x * 10
    if x > 0:
        b = a + 1
        if a > 15:
            b = b + a
    else:
        b = a
    return b


@runs(scalar(2))
@runs(scalar(-2))
def condition_changed_inside(x: FLOAT):
    flag = x > 0
    if flag:
        flag = x > 100
        x = x + 1
    if flag:
        x = x * 1000
    return x


@runs(scalar(1))
@runs(scalar(7))
@runs(scalar(-1))
def long_chain(x: FLOAT):
    if x == 1:
        y = x * 10
    elif x == 2:
        y = x * 20
    elif x == 3:
        y = x * 30
    elif x == 4:
        y = x * 40
    elif x == 5:
        y = x * 50
    elif x == 6:
        y = x * 60
    elif x == 7:
        y = x * 70
    else:
        y = x
    return y


@refused(ConditionError, "it must be one truth value")
def vector_condition(x: FLOAT["N", 3]):
    if x > 0:  # here
        x = x + 1
    return x


@refused(UnassignedVariableError, "'y' may have no value")
def assigned_in_one_branch(x: FLOAT):
    if x > 0:
        y = x + 1
    return y  # here


@refused(BranchTypeError, "float32")
def dtype_differs(x: FLOAT, n: INT64):
    if x > 0:
        y = x
    else:
        y = n
    return y


@refused(BranchTypeError)
def float_for_integers(x: FLOAT, n: INT64):
    if x > 0:
        y = n
    else:
        y = 0.5
    return y


@refused(DynamicPythonValueError, "'name'")
def text_differs(x: FLOAT):
    if x > 0:
        name = "a"
    else:
        name = "b"
    return x if name == "a" else -x  # here


@refused(MissingReturnError)
def returns_on_one_path(x: FLOAT):
    if x > 0:
        return x


@refused(BranchTypeError)
def returns_two_or_one(x: FLOAT):
    if x > 0:
        return x, x
    return x


@refused(MutationError, "'items'")
def list_changed_in_branch(x: FLOAT):
    items = [x]
    if x > 0:
        items.append(x + 1)
    return sum(items)
