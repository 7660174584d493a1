"""`break`, `continue` and early `return` in all nestings, and the `else` of loops."""

from onnxsmith import FLOAT, INT64
from onnxsmith.errors import MissingReturnError, UnassignedVariableError
from tests.scripting.corpus import integer, ints, matrix, refused, runs, scalar, vector


@runs(scalar(3))
@runs(scalar(-3))
def early_return(x: FLOAT):
    if x > 0:
        return x * 2
    y = x - 1
    return y


@runs(scalar(1))
@runs(scalar(2))
@runs(scalar(3))
def many_early_returns(x: FLOAT):
    if x == 1:
        return x * 10
    y = x + 1
    if x == 2:
        return y * 20
    z = y + 1
    return z


@runs(scalar(3), scalar(1))
@runs(scalar(3), scalar(-1))
@runs(scalar(-3), scalar(1))
@runs(scalar(-3), scalar(-1))
def return_in_nested_branches(x: FLOAT, y: FLOAT):
    if x > 0:
        if y > 0:
            return x + y
        x = x * 10
    else:
        if y > 0:
            return x - y
        x = x * 100
    return x + 1


@runs(scalar(3))
@runs(scalar(-3))
@runs(scalar(30))
def return_in_some_of_three(x: FLOAT):
    if x > 10:
        y = x
    elif x > 0:
        return x * 2
    else:
        y = -x
    y = y + 1
    return y


@runs(vector(1, 2))
def known_return(x: FLOAT["N"]):
    fast = True
    if fast:
        return x * 2
    return x.no_such_method()


@runs(vector(1, 2))
def code_after_return(x: FLOAT["N"]):
    return x
    x = x + 1
    return x


@runs(vector(1, 5, 2, 9))
@runs(vector(1, 1, 1))
def break_in_for(x: FLOAT["N"]):
    s = 0
    for v in x:
        if v > 3:
            break
        s = s * 10 + v
    return s


@runs(vector(1, 5, 2, 9))
def continue_in_for(x: FLOAT["N"]):
    s = 0
    for v in x:
        if v > 3:
            continue
        s = s * 10 + v
    return s


@runs(vector(1, 5, 2, 9))
@runs(vector(1, 1, 1))
def return_in_for(x: FLOAT["N"]):
    for i, v in enumerate(x):
        if v > 3:
            return i
    return -1


@runs(vector(1, 5, 2, 9), scalar(2))
@runs(vector(1, 5, 2, 9), scalar(9))
@runs(vector(1, 5, 2, 9), scalar(7))
def linear_search(x: FLOAT["N"], wanted: FLOAT):
    for i in range(len(x)):
        if x[i] == wanted:
            return x[i] * 100 + i
    return wanted


@runs(vector(4, -1, 5, 20, 3))
@runs(vector(4, -1, 5))
def break_and_continue(x: FLOAT["N"]):
    s = 0
    for v in x:
        if v < 0:
            continue
        if v > 10:
            break
        s = s + v
    return s


@runs(vector(4, -1, 5, 20, 3))
@runs(vector(4, 1, 5))
@runs(vector(4, 20, 5))
def break_continue_and_return(x: FLOAT["N"]):
    s = 0
    for v in x:
        if v == 1:
            continue
        if v > 10:
            break
        if v < 0:
            return v - s
        s = s + v
    s = s * 10
    return s


@runs(vector(1, 2, 3, 4, 5, 6))
def continue_under_two_conditions(x: FLOAT["N"]):
    s = 0
    for v in x:
        if v % 2 == 0:
            if v > 4:
                s = s + 100
                continue
            s = s + 10
        s = s + 1
    return s


@runs(vector(1, 5, 2))
@runs(vector(1, 1, 2))
def for_else(x: FLOAT["N"]):
    for v in x:
        if v > 3:
            found = v
            break
    else:
        found = x[0] * 0 - 1
    return found


@runs(vector(1, 5, 2))
@runs(vector(1, 1, 2))
def for_else_returns(x: FLOAT["N"]):
    s = x.sum()
    for v in x:
        if v > 3:
            break
    else:
        return s * 100
    return s


@runs(scalar(1), integer(3))
@runs(scalar(1), integer(9))
def while_else(x: FLOAT, n: INT64):
    i = 0
    while i < n:
        i += 1
        x = x * 2
        if x > 20:
            break
    else:
        x = x + 1000
    return x


@runs(scalar(1), integer(3))
@runs(scalar(5), integer(3))
@runs(scalar(11), integer(3))
def else_after_continue_and_return(x: FLOAT, n: INT64):
    for i in range(n):
        if x > 100:
            return x
        if x > 10:
            x = x * 20
            continue
        x = x * 2 + i
    else:
        x = x + 0.5
    return x


@runs(matrix([1, 2], [3, 9]))
@runs(matrix([1, 2], [3, 4]))
def break_inner(x: FLOAT["N", "M"]):
    s = 0
    for row in x:
        for v in row:
            if v > 5:
                break
            s = s * 10 + v
        s = s + 0.5
    return s


@runs(matrix([1, 2], [9, 3], [4, 4]))
@runs(matrix([1, 2], [3, 4]))
def break_outer_by_flag(x: FLOAT["N", "M"]):
    s = 0
    stop = False
    for row in x:
        for v in row:
            if v > 5:
                stop = True
                break
            s = s * 10 + v
        if stop:
            break
    return s


@runs(matrix([1, 2], [9, 3], [4, 4]))
@runs(matrix([1, 2], [3, 4]))
def return_from_inner(x: FLOAT["N", "M"]):
    s = 0
    for row in x:
        for v in row:
            if v > 5:
                return v * 100
            s = s + v
    return s


@runs(matrix([1, 2], [9, 3], [4, 4]))
@runs(matrix([1, 2], [3, 4]))
def continue_outer_by_else(x: FLOAT["N", "M"]):
    s = 0
    for row in x:
        for v in row:
            if v > 5:
                break
        else:
            s = s + row.sum()
            continue
        s = s + 1000
    return s


@runs(integer(3), integer(4))
@runs(integer(9), integer(2))
def while_in_for_with_jumps(n: INT64, m: INT64):
    s = 0
    for i in range(n):
        k = 0
        while True:
            if k >= m:
                break
            k += 1
            if (i + k) % 3 == 0:
                continue
            s = s + i * k
            if s > 50:
                return s * 1000
    return s


@runs(vector(1, 2))
def break_from_known_loop(x: FLOAT["N"]):
    for i in (1, 2, 3):
        if i == 3:
            break
        x = x * 10 + i
    return x


@runs(vector(1, 2))
@runs(vector(9, 2))
def break_that_the_model_decides_in_known_loop(x: FLOAT["N"]):
    for factor in [2, 3, 4]:
        if x.sum() > 10:
            break
        x = x * factor
    return x


@runs(vector(1, 2))
@runs(vector(9, 2))
def return_that_the_model_decides_in_known_loop(x: FLOAT["N"]):
    for factor in [2, 3, 4]:
        if x.sum() > 10:
            return x + factor
        x = x * factor
    return x


@runs(vector(1, 2))
@runs(vector(9, 2))
def known_loop_with_else(x: FLOAT["N"]):
    for factor in [2, 3]:
        if x.sum() > 100:
            break
        x = x * factor
    else:
        x = x - 1
    return x


@runs(scalar(1), scalar(2))
@runs(scalar(5), scalar(2))
def return_tuple_early(x: FLOAT, y: FLOAT):
    if x > y:
        return y, x
    return x, y


@runs(ints(3, 1, 2))
@runs(ints(1, 1, 2))
def return_in_while_in_for(x: INT64["N"]):
    s = 0
    for v in x:
        k = v
        while k > 0:
            if k == 2:
                return s, k
            s = s + k
            k = k - 1
    return s, s * 0


@runs(scalar(3))
@runs(scalar(-3))
def join_then_more(x: FLOAT):
    if x > 0:
        if x > 2:
            return x * 7
        y = x + 1
    else:
        y = x - 1
    if y > 5:
        return y
    z = y * 2
    if z < -100:
        return z
    return z + 0.5


@runs(vector(1, 2, 3))
def assigned_before_continue_only(x: FLOAT["N"]):
    s = 0
    for v in x:
        if v == 2:
            t = v * 100
        else:
            continue
        s = s + t
    return s


@runs(vector(1, 2, 3))
def last_value_after_break(x: FLOAT["N"]):
    last = x[0]
    for v in x:
        last = v
        if v > 1:
            break
    return last


@refused(MissingReturnError)
def loop_may_not_return(x: FLOAT["N"]):
    for v in x:
        if v > 0:
            return v


@refused(UnassignedVariableError, "'t'")
def assigned_on_one_path_of_loop(x: FLOAT["N"]):
    s = 0
    for v in x:
        if v > 2:
            t = v
        s = s + t  # here
    return s


@refused(UnassignedVariableError, "'y'")
def skipped_by_continue(x: FLOAT["N"]):
    for v in x:
        if v > 2:
            continue
        y = v
    return y  # here
