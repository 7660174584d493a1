"""Comprehensions and generators: Python runs them when the model is made."""

from onnxsmith import FLOAT
from onnxsmith import opset18 as op
from onnxsmith.errors import TracedValueError
from tests.scripting.corpus import matrix, refused, runs, scalar, vector

FACTORS = (1, 2, 3)


@runs(vector(1, 2))
def list_comprehension(x: FLOAT["N"]):
    return sum([x * k for k in FACTORS])


@runs(vector(1, 2))
def filtered(x: FLOAT["N"]):
    parts = [x * k for k in range(6) if k % 2 == 1]
    return sum(parts), len(parts)


@runs(vector(1, 2))
def nested_loops(x: FLOAT["N"]):
    parts = [x * i + j for i in range(2) for j in range(i, 3)]
    return op.Concat(*parts, axis=0)


@runs(vector(1, 2))
def nested_comprehension(x: FLOAT["N"]):
    rows = [[x * i + j for j in range(2)] for i in range(2)]
    return rows[0][0] + rows[1][1]


@runs(vector(1, 2))
def dict_comprehension(x: FLOAT["N"]):
    table = {f"k{k}": x * k for k in FACTORS}
    return table["k1"] + table["k3"]


@runs(vector(1, 2))
def set_comprehension(x: FLOAT["N"]):
    return x * len({k % 2 for k in FACTORS})


@runs(vector(1, 2))
def generator_argument(x: FLOAT["N"]):
    return sum(x * k for k in FACTORS)


@runs(vector(1, 2))
def generator_kept(x: FLOAT["N"]):
    k = 1
    parts = (x * f * k for f in FACTORS)
    k = 10
    return sum(parts)


@runs(matrix([1, 2], [3, 4]))
def over_rows_of_tensor(x: FLOAT[2, 2]):
    return sum([row * row for row in x])


@runs(matrix([1, 2], [3, 4]))
def zip_of_known_tensors(x: FLOAT[2, 2]):
    return sum(a * b for a, b in zip(x, x.T))


@runs(scalar(2))
@runs(scalar(-2))
def choice_inside(x: FLOAT):
    return sum([x * k if x > 0 else x - k for k in FACTORS])


@runs(vector(1, 2))
def lambda_inside(x: FLOAT["N"]):
    functions = [lambda v, k=k: v * k for k in FACTORS]
    return sum(f(x) for f in functions)


@runs(vector(1, 2))
def star_of_comprehension(x: FLOAT["N"]):
    return op.Max(*[x * k for k in FACTORS])


@runs(vector(1, 2, 3))
def tuple_of_generator(x: FLOAT["N"]):
    first, second = tuple(x[k : k + 2] for k in range(2))
    return first * second


@runs(vector(1, 2, 3))
def sorted_python_values(x: FLOAT["N"]):
    for k in sorted({3, 1, 2}, reverse=True):
        x = x * 10 + k
    return x


@refused(TracedValueError)
def over_open_dimension(x: FLOAT["N"]):
    return sum([v * v for v in x])  # here


@refused(TracedValueError)
def filter_that_the_model_decides(x: FLOAT[3]):
    return sum([v for v in x if v > 0])  # here
