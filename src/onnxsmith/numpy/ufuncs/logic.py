"""Truth of elements: all but zero is true, NaN too."""

from __future__ import annotations

from onnxsmith.algorithms.complex_numbers.field import Field
from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.numpy.ufunc import ComplexLoop, RealLoop, define
from onnxsmith.numpy.ufuncs import shortcuts
from onnxsmith.numpy.ufuncs.shortcuts import truth


def _joined(name: str) -> tuple[RealLoop, ComplexLoop]:
    def of_real(x: Tensor, y: Tensor) -> Tensor:
        return getattr(op, name)(truth(x), truth(y))

    def of_complex(x: Field, y: Field) -> Tensor:
        return getattr(op, name)(x.is_nonzero(), y.is_nonzero())

    return of_real, of_complex


def _not(x: Tensor) -> Tensor:
    return ~truth(x)


def _not_complex(z: Field) -> Tensor:
    return ~z.is_nonzero()


logical_and = define("logical_and", *_joined("And"), reduce=shortcuts.is_all)
logical_or = define("logical_or", *_joined("Or"), reduce=shortcuts.is_any)
logical_xor = define("logical_xor", *_joined("Xor"))
logical_not = define("logical_not", _not, _not_complex)
