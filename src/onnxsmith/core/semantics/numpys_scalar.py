"""A scalar of numpy's whose value only the model knows: an argument of a function of arrays, such as `np.float64(2)`.

To an operator of ONNX it is a literal, as it is where the function runs. In Python's operators, and in methods, it has
an element type of its own, as numpy's scalars have: it is the tensor behind it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np

from onnxsmith.core import portable
from onnxsmith.core.operands import operators_for
from onnxsmith.core.shown_text import shown_text
from onnxsmith.core.value import NumberValue, Operand, TensorValue
from onnxsmith.schema.inference.known import Known
from onnxsmith.types.dtypes import DType

if TYPE_CHECKING:
    from onnxsmith.core.target import Target


class NumpysScalar(NumberValue):
    """A scalar tensor that stands for a literal in calls of ONNX's operators, and for a tensor elsewhere."""

    __slots__ = ("tensor",)
    is_symbolic: ClassVar[bool] = True
    is_natural = False

    def __init__(self, tensor: TensorValue) -> None:
        self.tensor = tensor

    @property
    def known(self) -> Known:
        return self.tensor.known

    @property
    def target(self) -> Target:
        return self.tensor.target

    @property
    def sample(self) -> bool | int | float:
        """A literal of the same kind; one of numpy's keeps its element type where it meets no other."""
        dtype = self.tensor.dtype
        assert dtype is not None  # that of the scalar
        return cast(float, dtype.numpy.type(1))

    def as_dtype(self, dtype: DType) -> TensorValue:
        if self.tensor.dtype is dtype:
            return self.tensor
        return operators_for(self.tensor).Cast(self.tensor, to=dtype)

    def as_like(self, other: Operand) -> TensorValue:
        return portable.cast_like(operators_for(other), self.tensor, other)

    def __getattr__(self, name: str) -> object:
        return getattr(self.tensor, name)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Operand, **kwargs: object) -> object:
        given = [each.tensor if isinstance(each, NumpysScalar) else each for each in inputs]
        return cast(Any, self.tensor).__array_ufunc__(ufunc, method, *given, **kwargs)

    def __array_function__(self, *args: object) -> object:
        return cast(Any, self.tensor).__array_function__(*args)

    def __hash__(self) -> int:
        return hash(self.tensor)

    def __repr__(self) -> str:
        return shown_text(f"<symbolic scalar of {self.tensor.type!r}>")

    def __format__(self, spec: str) -> str:
        return repr(self)


def _handed_on(name: str) -> Callable[..., object]:
    def method(self: NumpysScalar, *args: object) -> object:
        return getattr(self.tensor, name)(*args)

    return method


#: Python looks these up on the class.
_ARITHMETIC = ("add", "sub", "mul", "truediv", "floordiv", "mod", "divmod", "pow", "matmul")
_BITS = ("and", "or", "xor", "lshift", "rshift")
_OTHERS = ("eq", "ne", "lt", "le", "gt", "ge", "neg", "pos", "abs", "invert", "round", "bool", "int", "float")
for _name in (
    *(f"{prefix}{each}" for each in (*_ARITHMETIC, *_BITS) for prefix in ("", "r")),
    *_OTHERS,
    *("complex", "index", "array", "len", "iter", "getitem", "contains", "copy"),
):
    setattr(NumpysScalar, f"__{_name}__", _handed_on(f"__{_name}__"))
