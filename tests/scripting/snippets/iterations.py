"""Loops over tensors, sequences, zip, enumerate, lists, dicts and generators."""

import itertools
from collections.abc import Sequence

from onnxsmith import FLOAT, INT64
from onnxsmith import opset18 as op
from onnxsmith.errors import LoopTypeError, TensorIndexError, UnsupportedSyntaxError
from tests.scripting.corpus import integer, matrix, refused, runs, skips, vector

LAYERS = {"scale": 2.0, "shift": 1.0}


@runs(vector(1, 2, 3))
@runs(vector())
def over_vector(x: FLOAT["N"]):
    s = 0
    for v in x:
        s = s * 10 + v
    return s


@runs(vector(1, 2, 3))
def over_known_vector(x: FLOAT[3]):
    s = 0
    for v in x:
        s = s * 10 + v
    return s


@runs(matrix([1, 2], [3, 4]))
def over_rows(x: FLOAT["N", "M"]):
    s = x[0] * 0
    for row in x:
        s = s * 2 + row
    return s


@runs(matrix([1, 2], [3, 4]))
def over_rows_and_elements(x: FLOAT["N", "M"]):
    s = 0
    for row in x:
        for v in row:
            s = s * 10 + v
    return s


@runs(matrix([1, 2], [3, 4]))
def over_columns(x: FLOAT["N", "M"]):
    s = x[:, 0] * 0
    for column in x.T:
        s = s + column * column
    return s


@runs(vector(1, 2, 3), vector(4, 5, 6))
@runs(vector(1, 2, 3), vector(4, 5))
def zipped(x: FLOAT["N"], y: FLOAT["M"]):
    s = 0
    for a, b in zip(x, y):
        s = s * 10 + a * b
    return s


@runs(vector(1, 2, 3))
def enumerated(x: FLOAT["N"]):
    s = 0
    for i, v in enumerate(x):
        s = s * 10 + v * i
    return s


@runs(vector(1, 2, 3))
def enumerated_from_one(x: FLOAT["N"]):
    s = 0
    for i, v in enumerate(x, start=1):
        s = s * 10 + v * i
    return s


@runs(vector(1, 2, 3), vector(4, 5, 6))
def enumerate_of_zip(x: FLOAT["N"], y: FLOAT["N"]):
    s = 0
    for i, (a, b) in enumerate(zip(x, y)):
        s = s + a * b * i
    return s


@runs(vector(1, 2, 3))
def zip_with_range(x: FLOAT["N"]):
    s = 0
    for i, v in zip(range(10, 20), x):
        s = s + v * i
    return s


@runs(vector(1, 2, 3))
def reversed_tensor(x: FLOAT["N"]):
    s = 0
    for v in reversed(x):
        s = s * 10 + v
    return s


@runs(vector(1, 2, 3))
def shifted_pairs(x: FLOAT["N"]):
    s = 0
    for a, b in zip(x[:-1], x[1:]):
        s = s + a * b
    return s


@runs(vector(1, 2))
def over_list(x: FLOAT["N"]):
    for factor in [2, 3.0]:
        x = x * factor
    return x


@runs(vector(1, 2))
def over_tuple_of_tensors(x: FLOAT["N"]):
    s = x * 0
    for y in (x, x + 1, x * x):
        s = s * 2 + y
    return s


@runs(vector(1, 2))
def over_dict(x: FLOAT["N"]):
    for name in LAYERS:
        x = x * LAYERS[name] if name == "scale" else x + LAYERS[name]
    return x


@runs(vector(1, 2))
def over_dict_items(x: FLOAT["N"]):
    for name, value in LAYERS.items():
        if name == "scale":
            x = x * value
        else:
            x = x + value
    return x


@runs(vector(1, 2))
def over_text(x: FLOAT["N"]):
    for letter in "+*+":
        x = x + 1 if letter == "+" else x * 10
    return x


@runs(vector(1, 2))
def over_generator(x: FLOAT["N"]):
    for y in (x * k for k in (1, 2, 3)):
        x = x + y
    return x


@runs(vector(1, 2))
def over_zip_of_lists(x: FLOAT["N"]):
    for a, b in zip([1, 2], [x, x + 1]):
        x = x * a + b
    return x


@runs(vector(1, 2))
def over_enumerated_list(x: FLOAT["N"]):
    for i, y in enumerate([x, x + 1, x + 2], 1):
        x = x + y * i
    return x


@runs(vector(1, 2))
def over_endless_counter(x: FLOAT["N"]):
    for i in itertools.count():
        if i == 3:
            break
        x = x + i
    return x


@runs(vector(1, 2))
def over_product(x: FLOAT["N"]):
    for i, j in itertools.product(range(2), repeat=2):
        x = x * 2 + i - j
    return x


@runs(vector(1, 2, 3, 4))
def over_sequence(x: FLOAT[4]):
    s = 0
    for part in op.SplitToSequence(x, 2):
        s = s * 10 + part.sum()
    return s


@runs([vector(1, 2), vector(3, 4, 5)])
@runs([vector(7)])
@skips(reference="onnx's reference evaluator takes no sequence of arrays of different lengths in a Loop")
def sequence_input(parts: Sequence[FLOAT["N"]]):
    s = 0
    for part in parts:
        s = s * 10 + part.sum()
    return s


@runs([vector(1, 2), vector(3, 4, 5)])
def length_of_sequence(parts: Sequence[FLOAT["N"]]):
    return len(parts), parts[0], parts[-1].sum()


@runs(vector(1, 2, 3))
def unpacked_in_head(x: FLOAT["N"]):
    for (a, b), c in [((1, 2), 3), ((4, 5), 6)]:
        x = x * a + b - c
    return x


@runs(vector(1, 2, 3))
def starred_in_head(x: FLOAT["N"]):
    for first, *rest in [(1, 2, 3), (4,)]:
        x = x * first + len(rest)
    return x


@runs(vector(3, 1, 2))
def maximum_by_hand(x: FLOAT["N"]):
    best = x[0]
    place = 0
    for i, v in enumerate(x):
        if v > best:
            best = v
            place = i
    return best, place


@runs(vector(1, 2, 3, 4), integer(2))
def every_other(x: FLOAT["N"], n: INT64):
    s = 0
    for v in x[::2]:
        s = s + v
    for v in x[n:]:
        s = s * 10 + v
    return s


@refused(LoopTypeError, "scalar")
def over_scalar(x: FLOAT):
    for v in x:  # here
        x = x + v
    return x


@refused(LoopTypeError, "cannot be looped over")
def over_number(x: FLOAT["N"]):
    for i in 3:  # here
        x = x + i
    return x


@refused(UnsupportedSyntaxError, "zip cannot mix")
def zip_of_tensor_and_list(x: FLOAT["N"]):
    s = 0
    for a, b in zip(x, ["p", "q"]):  # here
        s = s + a * len(b)
    return s


@refused(TensorIndexError, "slice a sequence")
def slice_of_sequence(parts: Sequence[FLOAT["N"]]):
    for part in parts[1:]:  # here
        return part
    return parts[0]
