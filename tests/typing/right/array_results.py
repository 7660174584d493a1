"""Scripts and operators that are called on arrays give arrays, and checkers know it."""

from typing import Annotated, Any

import numpy as np
from typing import assert_type

from onnxsmith import FLOAT, INT64, jit, script
from onnxsmith import opset21 as op

Array = np.ndarray[Any, np.dtype[Any]]
Vector = Annotated[FLOAT, "N"]


@script(default_opset=op)
def half(x: Vector, n: int = 1) -> Vector:
    return x * 0.5


@script(default_opset=op)
def both(x: Vector, y: Vector, alpha: float = 1.0) -> tuple[Vector, Annotated[INT64, 1]]:
    assert_type(half(x), FLOAT)
    return half(x) * alpha + y, op.Shape(y)


@script(default_opset=op)
def biased(x: Vector, y: Vector, bias: Vector | None = None) -> Vector:
    return x + y


a = np.ones(3, dtype=np.float32)
assert_type(half(a), Array)
assert_type(half(a, n=2), Array)
assert_type(jit(half)(a), Array)
assert_type(biased(a, [1.0, 2.0, 3.0]), Array)
assert_type(biased(a, a), Array)
first, second = both(a, [1.0, 2.0, 3.0], alpha=2.0)
assert_type(first, Array)
assert_type(second, Array)
assert_type(op.Reshape(a, [3, -1]), Array)
assert_type(op.Gather(a, [0]), Array)
values, indices = op.TopK(a, [1])
assert_type(values, Array)
assert_type(indices, Array)
print(half(a).mean(), first.tolist(), second.dtype)
