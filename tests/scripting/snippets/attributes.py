"""Attribute parameters: as values, in conditions, as bounds, by reference, with defaults."""

import numpy as np
import onnx

from onnxsmith import FLOAT, script
from onnxsmith import opset18 as op
from onnxsmith.errors import AttributeParameterError, AttributeTypeError, CallError
from tests.scripting.corpus import matrix, refused, runs, scalar, skips, vector

ONES_ARRAY = np.array([1, 1], np.float32)
ONES = onnx.numpy_helper.from_array(ONES_ARRAY)


@runs(vector(1, 2))
@runs(vector(1, 2), k=5)
def integer_value(x: FLOAT["N"], k: int = 2):
    return x * k + k // 2


@runs(vector(1, 2), alpha=0.5)
@runs(vector(1, 2), alpha=2)
def float_value(x: FLOAT["N"], alpha: float):
    return x * alpha


@runs(vector(1, 2), flag=True)
@runs(vector(1, 2), flag=False)
def bool_in_condition(x: FLOAT["N"], flag: bool):
    if flag:
        return x + 1
    return x * 10


@runs(vector(1, 2))
@runs(vector(1, 2), mode="scale")
def text_in_condition(x: FLOAT["N"], mode: str = "shift"):
    if mode == "scale":
        return x * 10
    elif mode.startswith("s"):
        return x + 1
    return x


@runs(vector(1, 2), k=3)
@runs(vector(1, 2), k=0)
def loop_bound(x: FLOAT["N"], k: int):
    for i in range(k):
        x = x * 2 + i
    return x


@runs(vector(1, 2), sizes=[1, 2, 3])
def list_of_ints(x: FLOAT["N"], sizes: list[int]):
    for size in sizes:
        x = x * size
    return x + len(sizes)


@runs(vector(1, 2), factors=[0.5, 4.0])
def list_of_floats(x: FLOAT["N"], factors: list[float]):
    return x * factors[0] + factors[1]


@runs(vector(1, 2), names=["a", "bb"])
def list_of_texts(x: FLOAT["N"], names: list[str]):
    return x + len(names[1])


@runs(matrix([1, 2], [3, 4]))
@runs(matrix([1, 2], [3, 4]), axis=0)
def passed_to_operator(x: FLOAT["N", "M"], axis: int = -1):
    return op.ArgMax(x, axis=axis, keepdims=0)


@runs(matrix([1, 2], [3, 4]), order=[1, 0])
def list_passed_to_operator(x: FLOAT["N", "M"], order: list[int]):
    return op.Transpose(x, perm=order)


@runs(matrix([1, 2], [3, 4]))
def computed_attribute(x: FLOAT["N", "M"], axis: int = 0):
    return op.ReduceSum(x, [axis + 1], keepdims=0)


@script
def scaled(x, factor: float = 2.0, times: int = 1):
    for _ in range(times):
        x = x * factor
    return x


@script
def reduced(x: FLOAT["N", "M"], axis: int, keepdims: bool = False):
    return op.ArgMax(x, axis=axis, keepdims=keepdims)


@script
def chosen(x: FLOAT["N"], mode: str):
    return x + 1 if mode == "a" else x - 1


@runs(vector(1, 2))
def default_of_called_script(x: FLOAT["N"]):
    return scaled(x) + scaled(x, 3.0) + scaled(x, factor=4.0, times=2)


@runs(vector(1, 2), k=2)
@runs(vector(1, 2))
def passed_on_by_reference(x: FLOAT["N"], k: int = 3, alpha: float = 0.5):
    return scaled(x, alpha, times=k)


@runs(vector(1, 2), k=2)
def computed_and_passed_on(x: FLOAT["N"], k: int = 3):
    return scaled(x, times=k + 1)


@runs(matrix([1, 2], [4, 3]))
@runs(matrix([1, 2], [4, 3]), axis=0)
def attribute_of_called_script(x: FLOAT["N", "M"], axis: int = 1):
    return reduced(x, axis), reduced(x, axis, keepdims=True)


@runs(vector(1, 2))
def text_decides_in_called_script(x: FLOAT["N"]):
    return chosen(x, "a") * chosen(x, mode="b")


@runs(scalar(3), low=0.0, high=2.0)
@runs(scalar(-3), low=0.0, high=2.0)
def compared_with_tensor(x: FLOAT, low: float, high: float):
    if x < low:
        return low
    if x > high:
        return high
    return x


@runs(vector(1, 2), n=2)
@runs(vector(1, 2))
def optional_attribute(x: FLOAT["N"], n: int | None = None):
    return x if n is None else x * n


@runs(vector(1, 2), k=3)
def arithmetic_of_attributes(x: FLOAT["N"], k: int, f: float = 0.5):
    return x * (k * k - k // 2 + k % 2) + (k / 2 + f) ** 2 - abs(-k)


@runs(vector(1, 2), k=3)
def attribute_in_comparison(x: FLOAT["N"], k: int):
    return x if k > 2 and k != 5 else -x


@runs(vector(1, 2, 3), k=2)
def attribute_as_index(x: FLOAT["N"], k: int):
    return x[k], x[:k], x[-k:]


@runs(vector(1, 2), k=2)
def attribute_in_shape(x: FLOAT["N"], k: int):
    return op.Tile(x, [k]), op.Expand(x, [k, 2])


@runs(vector(1, 2), alpha=0.1)
def rounded_as_onnx_keeps_it(x: FLOAT["N"], alpha: float):
    return x * 0 + alpha


@refused(CallError, "needs a value in a model")
def without_value(x: FLOAT["N"], k: int):
    return x * k


@refused(AttributeParameterError)
def tensor_for_attribute(x: FLOAT["N"]):
    return scaled(x, x[0])  # here


@refused(AttributeTypeError)
def tensor_as_operator_attribute(x: FLOAT["N", "M"], axis):
    return op.Softmax(x, axis=axis)  # here


@runs(vector(1, 2), weights=vector(3, 4))
@runs(vector(1, 2))
@skips(plain="a TensorProto is no array to numpy")
def tensor_attribute(x: FLOAT["N"], weights: onnx.TensorProto = ONES):
    return x * weights


@script
def weighted(x, weights: onnx.TensorProto):
    return x + weights


@runs(vector(1, 2))
def tensor_attribute_of_function(x: FLOAT["N"]):
    return weighted(x, weights=ONES_ARRAY) * weighted(x, ONES_ARRAY)


@runs(vector(1, 2))
@runs(vector(1, 2), k=7)
def attribute_in_match(x: FLOAT["N"], k: int = 2):
    match k:
        case 1 | 2:
            return x * 10
        case _:
            return x


@runs(vector(1, 2), k=2)
def attribute_as_key(x: FLOAT["N"], k: int = 1):
    return x * {1: 10.0, 2: 20.0}[k] + [1, 2, 3][k]


@runs(vector(1, 2), k=3)
def list_grows_by_attribute(x: FLOAT["N"], k: int):
    parts = [x]
    for i in range(k):
        parts.append(parts[i] * 2)
    return sum(parts)
