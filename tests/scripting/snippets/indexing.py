"""Indices in all their forms, and updates that give a new tensor."""

import numpy as np

from onnxsmith import BOOL, FLOAT, INT64
from onnxsmith.errors import TensorAssignmentError, TensorIndexError
from tests.scripting.corpus import integer, ints, matrix, refused, runs, skips, truth, vector

NO_AT = "numpy's arrays have no .at"
TABLE = np.arange(12, dtype=np.float32).reshape(4, 3)


@runs(vector(1, 2, 3, 4))
def elements(x: FLOAT["N"]):
    return x[0], x[-1], x[2]


@runs(vector(1, 2, 3, 4))
def slices(x: FLOAT["N"]):
    return x[1:], x[:-1], x[1:3], x[::2], x[::-1], x[:], x[-3:]


@runs(vector(1, 2, 3, 4))
def lagged(x: FLOAT["N"]):
    return x[2:] - x[:-2]


@runs(matrix([1, 2, 3], [4, 5, 6]))
def two_axes(x: FLOAT["N", "M"]):
    return x[0], x[:, 1], x[1, 2], x[:, ::-1], x[0, 1:], x[-1, -1]


@runs(matrix([1, 2, 3], [4, 5, 6]))
def ellipsis_and_new_axes(x: FLOAT["N", "M"]):
    return x[..., 0], x[None], x[:, None], x[..., None, :]


@runs(vector(1, 2, 3, 4), integer(2))
@runs(vector(1, 2, 3, 4), integer(-1))
def index_of_the_model(x: FLOAT["N"], i: INT64):
    return x[i], x[i:], x[:i]


@runs(vector(1, 2, 3, 4))
def index_from_shape(x: FLOAT["N"]):
    n = x.shape[0]
    return x[n // 2], x[n - 1], x[: n // 2]


@runs(vector(1, 2, 3, 4), ints(0, 2))
def index_tensor(x: FLOAT["N"], places: INT64["K"]):
    return x[places], x[places + 1]


@runs(vector(1, 2, 3, 4))
def list_and_array_as_index(x: FLOAT["N"]):
    return x[[0, 2, 2]], x[np.array([3, 1])]


@runs(vector(1, -2, 3))
def mask(x: FLOAT["N"]):
    return x[x > 0]


@runs(matrix([1, 2], [3, 4], [5, 6]), ints(0, 2))
def pairs_of_indices(x: FLOAT["N", "M"], rows: INT64["K"]):
    return x[rows, [1, 0]], x[rows, 0], x[rows]


@runs(integer(2))
@runs(integer(0))
def captured_table(i: INT64):
    return TABLE[i], TABLE[1], TABLE[i, 1]


@runs(ints(0, 3, 3))
def captured_table_by_vector(places: INT64["K"]):
    return TABLE[places]


@runs(vector(1, 2, 3))
def index_in_loop(x: FLOAT["N"]):
    s = 0
    for i in range(len(x)):
        s = s * 10 + x[i] + x[-i - 1] * TABLE[i, 0]
    return s


@runs(vector(1, 2, 3))
@skips(plain=NO_AT)
def set_element(x: FLOAT["N"]):
    y = x.at[0].set(10.0)
    y = y.at[-1].add(5)
    return x, y


@runs(vector(1, 2, 3, 4))
@skips(plain=NO_AT)
def set_slice(x: FLOAT["N"]):
    return x.at[1:3].set(0.0), x.at[::2].multiply(10)


@runs(matrix([1, 2], [3, 4]), vector(7, 8))
@skips(plain=NO_AT)
def set_row_and_column(x: FLOAT["N", 2], v: FLOAT[2]):
    return x.at[0].set(v), x.at[:, 1].set(v)


@runs(vector(1, -2, 3))
@skips(plain=NO_AT)
def set_where(x: FLOAT["N"]):
    return x.at[x < 0].set(0.0)


@runs(vector(5, 1, 4, 2), integer(2))
@skips(plain=NO_AT)
def swap_in_loop(x: FLOAT["N"], n: INT64):
    for i in range(n):
        a, b = x[i], x[i + 1]
        if a > b:
            x = x.at[i].set(b).at[i + 1].set(a)
    return x


@runs(matrix([1, 2, 3], [4, 5, 6]))
def chained_indices(x: FLOAT["N", "M"]):
    return x[0][1:][0], x.T[1][-1], x[1:][0, 0]


@runs(matrix([1, 2, 3], [4, 5, 6]))
def methods_after_index(x: FLOAT["N", "M"]):
    return x[:, 0].sum(), x[0].max(), x[1].reshape(3, 1), x.sum(0)[1]


@runs(truth(True), vector(1, 2, 3))
@runs(truth(False), vector(1, 2, 3))
def index_in_branch(flag: BOOL, x: FLOAT["N"]):
    if flag:
        y = x[1:]
    else:
        y = x[:-1]
    return y


@runs(vector(1, 2, 3, 4))
def slice_object(x: FLOAT["N"]):
    middle = slice(1, -1)
    return x[middle], x[slice(None, None, 2)]


@refused(TensorAssignmentError, "y = y.at[0].set(")
def element_assigned(x: FLOAT["N"]):
    y = x + 1
    y[0] = 5.0  # here
    return y


@refused(TensorAssignmentError, ".at[1:]")
def slice_augmented(x: FLOAT["N"]):
    y = x + 1
    y[1:] += 5.0  # here
    return y


@refused(TensorIndexError)
def too_many_indices(x: FLOAT["N", "M"]):
    return x[0, 0, 0]  # here


@refused(TensorIndexError)
def out_of_range(x: FLOAT[3]):
    return x[3]  # here


@refused(TensorIndexError)
def index_of_text(x: FLOAT["N"]):
    return x["first"]  # here
