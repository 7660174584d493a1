"""Integers bit by bit; truth values are single bits."""

from __future__ import annotations

from onnxsmith.algorithms import integers
from onnxsmith.numpy.ufunc import define

bitwise_and = define("bitwise_and", integers.bitwise_and)
bitwise_or = define("bitwise_or", integers.bitwise_or)
bitwise_xor = define("bitwise_xor", integers.bitwise_xor)
invert = define(("invert", "bitwise_not", "bitwise_invert"), integers.bitwise_not)
left_shift = define(("left_shift", "bitwise_left_shift"), integers.shift_left)
right_shift = define(("right_shift", "bitwise_right_shift"), integers.shift_right)
bitwise_count = define("bitwise_count", integers.bit_count)
