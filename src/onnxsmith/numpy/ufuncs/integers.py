"""Divisors and multiples of integers."""

from __future__ import annotations

from onnxsmith.algorithms import integers
from onnxsmith.numpy.ufunc import define

gcd = define("gcd", integers.gcd)
lcm = define("lcm", integers.lcm)
