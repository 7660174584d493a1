"""Arrays in the control flow of a model: their truth, and numbers that stand in the place of one.

Called by the arrays themselves, which stand below the functions that compute with them.
"""

# pyright: reportPrivateUsage=false
# How an array holds its elements is the business of this package, and no attribute that users see.

from __future__ import annotations

import cmath
from typing import Any, cast

import numpy as np

from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.core.semantics.number import Number
from onnxsmith.core.value_containers import Carrier
from onnxsmith.numpy import dtypes
from onnxsmith.numpy.array import Array
from onnxsmith.numpy.conversions import as_type, tensor_of
from onnxsmith.numpy.dtypes import NumpyDType
from onnxsmith.numpy.holding import recording
from onnxsmith.numpy.perhaps_python import UNKNOWN, Weak, differs_from_python
from onnxsmith.numpy.registry import public
from onnxsmith.numpy.requirements import require
from onnxsmith.numpy.sharing import show_until_written
from onnxsmith.numpy.sizes import Size, is_known, sized

_AMBIGUOUS = "The truth value of an array with more than one element is ambiguous. Use a.any() or a.all()"
#: Python's numbers and the kinds of element types, the wider behind.
_KINDS = "biufc"
_KIND_OF = {"bool": "b", "int": "i", "float": "f"}


@public("_truth")
def truth(x: Array) -> Tensor:
    """A tensor that is true where the one element is; numpy gives none or several no truth value."""
    if not is_known(x.shape):
        require(lambda: op.Equal(sized(cast(Size, x.size)), np.int64(1)), ValueError(_AMBIGUOUS))
    return tensor_of(as_type(x, dtypes.read(np.bool_)))


@public("_shown_until_written")
def shown_until_written(x: Array, owner: Carrier) -> bool:
    """Let an array that may be a part of another one refuse to be read once that one is written to."""
    if not isinstance(owner, Array):
        return False
    if x._view is None and owner._recording is recording():
        show_until_written(x, owner)
    return True


@public("_adopted")
def adopted(x: Array, value: object) -> Array | None:
    """A number or an array of numpy's as an array of the element type of `x`; None where that would change its value.

    A Python number has no element type of its own: it takes that of the array which stands in its place otherwise.
    """
    if isinstance(value, np.ndarray | np.generic):
        array = np.asarray(cast("np.ndarray[Any, np.dtype[Any]]", value))
        made = Array(array) if array.dtype == x.dtype else None
        return made if made is None or isinstance(value, np.ndarray) else made.as_number()
    if isinstance(value, Number):
        return _adopted_number(x, value)
    if not isinstance(value, bool | int | float | complex) or not _fits(value, x.dtype):
        return None
    made = Array(np.array(value, x.dtype)).as_number()
    if differs_from_python(x.dtype):
        made._weak = Weak(frozenset([cast(int, value)]))
    return made


def _adopted_number(x: Array, value: Number) -> Array | None:
    """A number of the model, of 64 bits: as such, or as the floating-point number of 64 bits that it would become."""
    kind = _KIND_OF[value.kind]
    wanted = {"b": (np.bool_, np.int64, np.float64), "i": (np.int64, np.float64), "f": (np.float64,)}[kind]
    if x.dtype not in [np.dtype(each) for each in wanted]:
        return None
    made = Array(cast(Tensor, value.as_dtype(dtypes.onnx_type(x.dtype)))).as_number()
    if differs_from_python(x.dtype):
        made._weak = UNKNOWN
    return made


def _fits(value: complex, dtype: NumpyDType) -> bool:
    """True if a Python number fits an element type."""
    whole = "b" if isinstance(value, bool) else "i" if isinstance(value, int) else None
    kind = whole or ("f" if isinstance(value, float) else "c")
    if _KINDS.index(kind) > _KINDS.index(dtype.kind):
        return False
    if dtype.kind in "iu":
        info = np.iinfo(dtype.name)
        return info.min <= cast(int, value) <= info.max
    if dtype.kind == "b" or value != value:
        return True
    with np.errstate(over="ignore"):
        made = np.array(value, dtype)
    # A literal is rounded as every other beside an array is; one that has no such number at all would be infinity.
    return bool(np.isfinite(made)) == cmath.isfinite(value)
