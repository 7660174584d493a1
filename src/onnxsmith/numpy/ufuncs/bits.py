"""Bits, common divisors, and logic."""

from __future__ import annotations

from onnxsmith.algorithms import integers
from onnxsmith.algorithms.complex_numbers.field import Field
from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.numpy.ufunc import ComplexLoop, RealLoop, define
from onnxsmith.numpy.ufuncs import shortcuts
from onnxsmith.numpy.ufuncs.shortcuts import truth

bitwise_and = define("bitwise_and", integers.bitwise_and)
bitwise_or = define("bitwise_or", integers.bitwise_or)
bitwise_xor = define("bitwise_xor", integers.bitwise_xor)
invert = define(("invert", "bitwise_not", "bitwise_invert"), integers.bitwise_not)
left_shift = define(("left_shift", "bitwise_left_shift"), integers.shift_left)
right_shift = define(("right_shift", "bitwise_right_shift"), integers.shift_right)
bitwise_count = define("bitwise_count", integers.bit_count)


# -- divisors ------------------------------------------------------------------------------------------


gcd = define("gcd", integers.gcd)
lcm = define("lcm", integers.lcm)


# -- logic ---------------------------------------------------------------------------------------------


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
