"""Tuples, nested and starred, of results, tensors and Python values."""

from onnxsmith import FLOAT, INT64
from onnxsmith import opset18 as op
from onnxsmith.errors import UnpackError
from tests.scripting.corpus import integer, matrix, refused, runs, scalar, vector


@runs(vector(3, 1, 2))
def results_of_operator(x: FLOAT["N"]):
    values, places = op.TopK(x, [2])
    return values, places


@runs(vector(1, 2, 3, 4))
def results_of_split(x: FLOAT[4]):
    a, b = op.Split(x, num_outputs=2)
    return a - b


@runs(matrix([1, 2], [3, 4]))
def rows_of_tensor(x: FLOAT[2, 2]):
    a, b = x
    return a * b


@runs(vector(1, 2, 3))
def elements_of_vector(x: FLOAT[3]):
    a, b, c = x
    return a + b * c


@runs(matrix([1, 2, 3], [4, 5, 6]))
def shape_of_tensor(x: FLOAT["N", "M"]):
    n, m = x.shape
    return x * n + m


@runs(vector(1, 2))
def nested(x: FLOAT["N"]):
    (a, (b, c)), d = (x, (x + 1, x + 2)), x + 3
    return a + b * c - d


@runs(vector(1, 2))
def starred(x: FLOAT["N"]):
    first, *rest = [x, x + 1, x + 2]
    return first + rest[0] * rest[1], len(rest)


@runs(vector(1, 2))
def starred_in_the_middle(x: FLOAT["N"]):
    first, *middle, last = (x, x + 1, x + 2, x + 3)
    return first, last, sum(middle)


@runs(vector(1, 2))
def starred_empty(x: FLOAT["N"]):
    a, *none, b = (x, x + 1)
    return a + b, len(none)


@runs(vector(1, 2, 3))
def starred_tensor(x: FLOAT[3]):
    first, *rest = x
    return first + rest[0] - rest[1]


@runs(vector(1, 2))
def list_pattern(x: FLOAT["N"]):
    [a, b] = [x, x * 2]
    return a - b


@runs(vector(1, 2))
def packed_and_unpacked(x: FLOAT["N"]):
    pair = x, x + 1
    a, b = pair
    c, _ = pair
    return a + b + c


@runs(vector(1, 2))
def tuple_concatenated(x: FLOAT["N"]):
    parts = (x,) + (x + 1, x + 2)
    a, b, c = parts
    return a * b + c


@runs(vector(1, 2))
def star_in_display(x: FLOAT["N"]):
    parts = [x, x + 1]
    more = [*parts, x + 2, *parts]
    return sum(more)


@runs(vector(1, 2))
def dict_of_tensors(x: FLOAT["N"]):
    table = {"a": x, "b": x + 1}
    a, b = table.values()
    return a * b


@runs(vector(1, 2))
def into_container(x: FLOAT["N"]):
    items = [None, None]
    items[0], items[1] = x, x + 1
    return items[0] * items[1]


@runs(scalar(1), scalar(2), integer(3))
def rotated_in_loop(a: FLOAT, b: FLOAT, n: INT64):
    for _ in range(n):
        a, b = b, a + b
    return a, b


@refused(UnpackError, "3 values are needed here, and there are 2")
def too_few(x: FLOAT["N"]):
    a, b, c = x, x + 1  # here
    return a + b + c


@refused(UnpackError, "2 values are needed here, and there are 3")
def too_many(x: FLOAT[3]):
    a, b = x  # here
    return a + b


@refused(UnpackError)
def scalar_unpacked(x: FLOAT):
    a, b = x  # here
    return a + b


@refused(UnpackError, "starred")
def open_dimension_starred(x: FLOAT["N"]):
    first, *rest = x  # here
    return first


@refused(UnpackError)
def number_unpacked(x: FLOAT["N"]):
    a, b = 5  # here
    return x + a + b
