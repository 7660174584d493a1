"""Names and values: plain, several at once, augmented, annotated, walrus."""

from onnxsmith import FLOAT, INT64
from onnxsmith import opset18 as op
from tests.scripting.corpus import integer, ints, matrix, runs, scalar, skips, vector


@runs(vector(1, 2, 3))
def one_name(x: FLOAT["N"]):
    y = x + 1
    return y


@runs(vector(1, 2, 3))
def two_targets(x: FLOAT["N"]):
    a = b = x * 2
    return a, b + 1


@runs(vector(1, 2, 3))
def reassigned(x: FLOAT["N"]):
    y = x
    y = y + 1
    y = y * y
    return y


@runs(vector(1, 2, 3))
def parameter_reassigned(x: FLOAT["N"]):
    x = x - 1
    x = -x
    return x


@runs(vector(1, 2, 3))
def input_returned(x: FLOAT["N"]):
    return x


@runs(vector(1, 2, 3))
def alias_returned_twice(x: FLOAT["N"]):
    y = x + 1
    z = y
    return y, z, y


@runs(vector(1, 2, 3))
def annotated_variable(x: FLOAT["N"]):
    y: FLOAT["N"] = x + 1
    z: "whatever this says"
    z = y * 2
    return z


@runs(vector(1, 2, 3), vector(4, 5, 6))
def swapped(x: FLOAT["N"], y: FLOAT["N"]):
    x, y = y, x
    return x, y


@runs(scalar(1), scalar(2))
def right_side_first(a: FLOAT, b: FLOAT):
    a, b = b, a + b
    a, b = b, a + b
    return a, b


@runs(scalar(5))
def augmented(x: FLOAT):
    x += 1
    x -= 3
    x *= 4
    x /= 2
    x **= 2
    return x


@runs(integer(29))
def augmented_integers(n: INT64):
    n //= 2
    n %= 9
    n <<= 3
    n >>= 1
    n |= 1
    n &= 7
    n ^= 2
    return n


@runs(matrix([1, 2], [3, 4]))
def augmented_matmul(x: FLOAT[2, 2]):
    x = x + 0
    x @= x
    return x


@runs(vector(1, 2, 3))
@skips(plain="numpy's += changes the array that both names hold; a tensor never changes")
def augmented_leaves_alias(x: FLOAT["N"]):
    y = x
    y += 1
    return x, y


@runs(vector(1, 2, 3))
def walrus(x: FLOAT["N"]):
    z = (y := x + 1) * 2
    return y, z


@runs(scalar(3))
@runs(scalar(-3))
def walrus_in_condition(x: FLOAT):
    if (y := x + 1) > 0:
        return y
    return y * 10


@runs(scalar(3))
@runs(scalar(-3))
def walrus_in_both_choices(x: FLOAT):
    z = (y := x + 1) if x > 0 else (y := x - 1)
    return y + z


@runs(scalar(3), scalar(-1))
@runs(scalar(-3), scalar(2))
def walrus_behind_and(x: FLOAT, y: FLOAT):
    z = y
    if x > 0 and (z := x + y) > 0:
        return z
    return z * 100


@runs(vector(1, 2, 3))
def walrus_in_comprehension(x: FLOAT["N"]):
    parts = [last := x * k for k in (1, 2, 3)]
    return parts[0] + last


@runs(vector(1, 2, 3))
def literal_kept_for_later(x: FLOAT["N"]):
    n = 3
    half = 0.5
    n = n + 2
    return x * n * half


@runs(vector(1, 2, 3))
def constant_tensor(x: FLOAT["N"]):
    one = op.Constant(value_float=1.0)
    return x + one


@runs(ints(1, 2, 3))
def numbers_of_python(x: INT64["N"]):
    a = 7
    b = a // 2
    c = a**2 % 5
    return x * b + c


@runs(vector(1, 2))
def names_of_python_keywords_like(x: FLOAT["N"]):
    print_ = x + 1
    lambda_ = print_ * 2
    type = lambda_ - 1
    return type


@runs(vector(1, 2))
def shadowed_builtin(x: FLOAT["N"]):
    max = x * 3
    sum = max + 1
    return sum


@runs(vector(1, 2))
def list_element_assigned(x: FLOAT["N"]):
    items = [x, x + 1]
    items[0] = items[1] * 2
    items[1] += 5
    return items[0] + items[1]


@runs(vector(1, 2))
def dict_element_assigned(x: FLOAT["N"]):
    state = {"a": x}
    state["b"] = state["a"] + 1
    state["a"] *= 3
    return state["a"] - state["b"]


@runs(vector(1, 2))
def slice_of_list_assigned(x: FLOAT["N"]):
    items = [x, x + 1, x + 2]
    items[:2] = [x * 10]
    return items[0] + items[1], len(items)


@runs(vector(1, 2))
def deleted_and_assigned_again(x: FLOAT["N"]):
    y = x + 1
    del y
    y = x + 2
    return y
