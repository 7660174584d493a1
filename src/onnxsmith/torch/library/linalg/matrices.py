"""The common parts of translations of linear algebra: arguments as matrices, and results of empty ones."""

from __future__ import annotations

from collections.abc import Sequence

from onnxsmith.algorithms.complex_numbers.field import Field, field
from onnxsmith.algorithms.complex_numbers.pair import Complex
from onnxsmith.algorithms.linalg.matrices import expanded, identity
from onnxsmith.algorithms.values import filled, has_zero
from onnxsmith.core.tensor import Tensor
from onnxsmith.torch.library.call import Call
from onnxsmith.torch.library.dtypes import onnx_dtype
from onnxsmith.torch.library.kinds import Given, Translated
from onnxsmith.types.dtypes import DType


def matrix(value: Given) -> Field:
    """An argument as it is computed with."""
    return field(value).cast(DType.DOUBLE)


def is_empty(*tensors: Given | Field) -> bool:
    """True if a tensor is known to have no elements."""
    return any(0 in (_real_part(each).type.shape or ()) for each in tensors)


def _real_part(value: Given | Field) -> Tensor:
    if isinstance(value, Field):
        return value.re
    return value.real if isinstance(value, Complex) else value


def empty_results(call: Call, fill: float = 0.0) -> Translated:
    """The results of a translation where there is nothing to compute from: each is filled with one number."""
    made = empty_tensors(call, fill)
    return made if call.has_several else made[0]


def empty_with_identities(call: Call, places: Sequence[int]) -> list[Given]:
    """The same, with an identity matrix at some places: there is nothing that would turn its rows."""
    results = empty_tensors(call)
    for k in places:
        shape, zeros = call.output_shape(k), results[k]
        if len(shape) >= 2 and not has_zero(shape):
            ones = expanded(identity(shape[-2], shape[-1]), shape).re
            results[k] = Complex(ones, zeros.imag) if isinstance(zeros, Complex) else ones
    return results


def empty_tensors(call: Call, fill: float = 0.0) -> list[Given]:
    """A tensor of one number for each result."""
    made: list[Given] = []
    for k in range(len(call.outputs)):
        kind, shape = call.output_fake(k).dtype, call.output_shape(k)
        result = filled(shape, fill, onnx_dtype(kind))
        made.append(Complex(result, filled(shape, 0.0, onnx_dtype(kind))) if kind.is_complex else result)
    return made
