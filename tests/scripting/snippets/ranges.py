"""`for … in range(…)`: bounds that Python knows, and bounds that the model knows."""

from onnxsmith import FLOAT, INT64, static_range
from onnxsmith import opset18 as op
from onnxsmith.errors import LoopTypeError, UnassignedVariableError
from tests.scripting.corpus import integer, ints, matrix, refused, runs, scalar, vector

WEIGHTS = [1.0, 2.0, 3.0]


@runs(vector(1, 2))
def stop_only(x: FLOAT["N"]):
    for _ in range(3):
        x = x * 2
    return x


@runs(vector(1, 2))
def start_and_stop(x: FLOAT["N"]):
    for i in range(2, 5):
        x = x + i
    return x


@runs(vector(1, 2))
def with_step(x: FLOAT["N"]):
    s = x * 0
    for i in range(1, 8, 3):
        s = s * 10 + x * i
    return s


@runs(vector(1, 2))
def backwards(x: FLOAT["N"]):
    s = x * 0
    for i in range(5, 0, -2):
        s = s * 10 + i
    return s


@runs(vector(1, 2))
def empty_range(x: FLOAT["N"]):
    for i in range(0):
        x = x * 100 + i
    for i in range(5, 2):
        x = x * 100 + i
    return x


@runs(vector(1, 2), integer(3))
@runs(vector(1, 2), integer(0))
@runs(vector(1, 2), integer(-2))
def dynamic_stop(x: FLOAT["N"], n: INT64):
    for i in range(n):
        x = x + i
    return x


@runs(integer(2), integer(6))
@runs(integer(6), integer(2))
def dynamic_bounds(a: INT64, b: INT64):
    s = a * 0
    for i in range(a, b):
        s = s * 10 + i
    return s


@runs(integer(1), integer(9), integer(3))
@runs(integer(9), integer(1), integer(-3))
@runs(integer(1), integer(2), integer(5))
@runs(integer(1), integer(9), integer(-1))
def dynamic_step(a: INT64, b: INT64, c: INT64):
    s = a * 0
    for i in range(a, b, c):
        s = s * 10 + i
    return s


@runs(vector(3, 4, 5))
@runs(vector())
def over_positions(x: FLOAT["N"]):
    s = op.Constant(value_float=0.0)
    for i in range(len(x)):
        s = s * 10 + x[i]
    return s


@runs(matrix([1, 2], [3, 4], [5, 6]))
def over_rows_by_shape(x: FLOAT["N", "M"]):
    s = x[0] * 0
    for i in range(x.shape[0]):
        s = s + x[i] * i
    return s


@runs(vector(1, 2))
def index_of_python_list(x: FLOAT["N"]):
    for i in range(3):
        x = x * WEIGHTS[i]
    return x


@runs(vector(1, 2))
def index_as_attribute(x: FLOAT["N"]):
    parts = []
    for i in range(2):
        parts.append(op.Unsqueeze(x, [i]))
    return parts[0] + parts[1]


@runs(vector(1, 2))
def list_grows(x: FLOAT["N"]):
    powers = [x]
    for _ in range(3):
        powers.append(powers[-1] * x)
    return sum(powers)


@runs(vector(1, 2))
def static_range_has_ints(x: FLOAT["N"]):
    for i in static_range(3):
        if i == 1:
            continue
        x = x * 10 + i
    return x


@runs(vector(1, 2))
def static_range_with_bounds(x: FLOAT["N"]):
    for i in static_range(4, 0, -2):
        x = x + float(f"{i}.5")
    return x


@runs(vector(1, 2))
def value_of_index_afterwards(x: FLOAT["N"]):
    for i in range(4):
        x = x + 1
    return x * i


@runs(vector(1, 2))
def variable_first_assigned_inside(x: FLOAT["N"]):
    for i in range(3):
        y = x * i
    return y


@runs(vector(1, 2), integer(2))
def shape_grows(x: FLOAT["N"], n: INT64):
    y = x
    for _ in range(n):
        y = op.Concat(y, x, axis=0)
    return y


@runs(vector(1, 2), integer(3))
def several_carried(x: FLOAT["N"], n: INT64):
    a, b, c = x, x + 1, x + 2
    for i in range(n):
        a, b, c = b, c, a * i
    return a, b, c


@runs(vector(1, 2, 3))
def number_becomes_tensor(x: FLOAT["N"]):
    total = 0
    for i in range(3):
        total = total + x[i]
    return total


@runs(integer(5))
def python_numbers_carried(n: INT64):
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
    return a


@runs(integer(4))
def float_numbers_carried(n: INT64):
    f = 1.0
    for i in range(n):
        f = f / 2 + i
    return f


@runs(integer(3))
def flag_carried(n: INT64):
    flag = True
    for _ in range(n):
        flag = not flag
    return flag


@runs(vector(1, 2), integer(2))
def tuple_carried(x: FLOAT["N"], n: INT64):
    state = (x, x * 0)
    for i in range(n):
        state = (state[0] + 1, state[1] + state[0] * i)
    return state[0] * state[1]


@runs(vector(1, 2), integer(2))
def dict_carried(x: FLOAT["N"], n: INT64):
    state = {"h": x, "count": 0}
    for _ in range(n):
        state = {"h": state["h"] * 2, "count": state["count"] + 1}
    return state["h"] + state["count"]


@runs(vector(1, 2), integer(2), integer(3))
def nested_loops(x: FLOAT["N"], n: INT64, m: INT64):
    s = x * 0
    for i in range(n):
        for j in range(m):
            s = s * 2 + x * i + j
    return s


@runs(matrix([1, 2], [3, 4]))
def nested_over_matrix(x: FLOAT["N", "M"]):
    s = op.Constant(value_float=0.0)
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            s = s * 10 + x[i, j]
    return s


@runs(vector(1, 2), integer(3))
def triangular(x: FLOAT["N"], n: INT64):
    s = x * 0
    for i in range(n):
        for j in range(i):
            s = s + x * j
        for j in range(i, n):
            s = s - j
    return s


@runs(vector(1, 2), integer(4))
def branch_inside(x: FLOAT["N"], n: INT64):
    for i in range(n):
        if i % 2 == 0:
            x = x + i
        else:
            x = x * i
    return x


@runs(vector(5, 1, 4))
def reversed_range(x: FLOAT["N"]):
    s = op.Constant(value_float=0.0)
    for i in reversed(range(len(x))):
        s = s * 10 + x[i]
    return s


@runs(vector(1, 2))
def reversed_known_range(x: FLOAT["N"]):
    s = x * 0
    for i in reversed(range(1, 4)):
        s = s * 10 + i
    return s


@runs(scalar(5))
def bounds_from_float(x: FLOAT):
    s = x * 0
    for i in range(int(x)):
        s = s + i
    return s


@runs(ints(2, 3))
def bound_is_an_element(n: INT64[2]):
    s = 0
    for i in range(n[0]):
        for j in range(n[1]):
            s += i * j + 1
    return s


@runs(vector(1, 2))
def else_of_loop(x: FLOAT["N"]):
    for _ in range(2):
        x = x + 1
    else:
        x = x * 10
    return x


@runs(vector(1, 2))
def unused_loop(x: FLOAT["N"]):
    for i in range(3):
        y = x + i
    return x


@refused(LoopTypeError, "'x' is float32 before an iteration and float64 after it")
def dtype_changes(x: FLOAT["N"], n: INT64):
    for _ in range(n):
        x = op.Cast(x, to=11)
    return x


@refused(LoopTypeError, "range needs integers")
def float_bound(x: FLOAT):
    for _ in range(x):  # here
        x = x + 1
    return x


@refused(UnassignedVariableError, "'y'")
def assigned_only_inside(x: FLOAT["N"], n: INT64):
    for i in range(n):
        y = x * i
    return y  # here


@refused(LoopTypeError, "'items'")
def list_grows_without_end(x: FLOAT["N"], n: INT64):
    items = [x]
    for _ in range(n):
        items = items + [x]
    return items[0]
