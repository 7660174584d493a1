"""`while`: on Python values it runs when the model is made, on tensors it is a Loop."""

from onnxsmith import BOOL, FLOAT, INT64
from onnxsmith import opset18 as op
from onnxsmith.errors import ConditionError, LoopTypeError, UnassignedVariableError
from tests.scripting.corpus import integer, refused, runs, scalar, truth, vector


@runs(scalar(1))
@runs(scalar(100))
def until_large(x: FLOAT):
    while x < 10:
        x = x * 2
    return x


@runs(scalar(1))
@runs(scalar(50))
def counts_iterations(x: FLOAT):
    n = 0
    while x < 20:
        x = x + 3
        n += 1
    return x, n


@runs(vector(1, 2, 3))
def condition_reduces(x: FLOAT["N"]):
    while x.sum() < 50:
        x = x * 2
    return x


@runs(integer(10))
@runs(integer(0))
def countdown(n: INT64):
    s = 0
    while n:
        s = s + n
        n = n - 1
    return s


@runs(scalar(1), integer(3))
@runs(scalar(1), integer(50))
def two_conditions(x: FLOAT, n: INT64):
    i = 0
    while i < n and x < 100:
        x = x * 3
        i += 1
    return x, i


@runs(scalar(1))
def not_condition(x: FLOAT):
    done = x > 100
    while not done:
        x = x * 4
        done = x > 100
    return x


@runs(truth(True), scalar(3))
@runs(truth(False), scalar(3))
def bool_input(go: BOOL, x: FLOAT):
    while go:
        x = x + 1
        go = x < 10
    return x


@runs(scalar(3))
def chained_condition(x: FLOAT):
    while 0 < x < 40:
        x = x + 7
    return x


@runs(vector(1, 2))
def known_condition_runs_now(x: FLOAT["N"]):
    i = 0
    while i < 3:
        x = x * 2 + i
        i += 1
    return x


@runs(vector(1, 2))
def known_list_is_used_up(x: FLOAT["N"]):
    steps = [1, 2, 3]
    while steps:
        x = x * 2 + steps.pop()
    return x


@runs(vector(1, 2))
def never(x: FLOAT["N"]):
    while False:
        x = x + 1
    return x


@runs(scalar(0))
def endless_with_break(x: FLOAT):
    while True:
        x = x + 1
        if x > 4:
            break
    return x


@runs(scalar(0))
def endless_with_return(x: FLOAT):
    while True:
        x = x + 1
        if x > 4:
            return x * 10


@runs(vector(1, 2))
def endless_with_known_break(x: FLOAT["N"]):
    i = 0
    while True:
        if i == 3:
            break
        x = x + i
        i += 1
    return x


@runs(scalar(3))
def walrus_condition(x: FLOAT):
    while (y := x * 2) < 50:
        x = x + y
    return x, y


@runs(integer(5), integer(3))
def nested_whiles(n: INT64, m: INT64):
    s = 0
    while n > 0:
        k = m
        while k > 0:
            s = s + n * k
            k = k - 1
        n = n - 1
    return s


@runs(integer(48), integer(36))
def greatest_common_divisor(a: INT64, b: INT64):
    while b != 0:
        a, b = b, a % b
    return a


@runs(integer(27))
def collatz(n: INT64):
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


@runs(vector(1, 3, 5, 7), scalar(5))
def binary_search(x: FLOAT["N"], v: FLOAT):
    low, high = 0, len(x)
    while low < high:
        middle = (low + high) // 2
        if x[middle] < v:
            low = middle + 1
        else:
            high = middle
    return low


@runs(scalar(2))
def square_root(a: FLOAT):
    x = a
    while abs(x * x - a) > 0.001:
        x = (x + a / x) / 2
    return op.Round(x * 100)


@runs(scalar(1))
@runs(scalar(50))
def else_of_while(x: FLOAT):
    while x < 10:
        x = x * 2
    else:
        x = x + 1000
    return x


@runs(scalar(2))
@runs(scalar(20))
def flag_turns_dynamic(x: FLOAT):
    go = True
    while go:
        x = x + 1
        go = x < 10
    return x


@refused(ConditionError)
def vector_condition(x: FLOAT["N", 2]):
    while x < 10:  # here
        x = x + 1
    return x


@refused(LoopTypeError, "float64 after it")
def dtype_changes(x: FLOAT):
    while x < 10:
        x = op.Cast(x, to=11)
    return x


@refused(UnassignedVariableError)
def assigned_only_inside(x: FLOAT):
    while x < 10:
        y = x
        x = x + 1
    return y  # here
