"""Whole quotients and what they leave, with numpy's signs: of integers, and of fractions."""

from __future__ import annotations

from functools import partial

from onnxsmith.algorithms import division
from onnxsmith.numpy.ufunc import define
from onnxsmith.numpy.ufuncs.precision import in_single

floor_divide = define("floor_divide", in_single(partial(division.floor_divide, signs_zero=True)))
remainder = define(("remainder", "mod"), in_single(partial(division.remainder, signs_zero=True)))
fmod = define("fmod", in_single(division.truncated_remainder))
divmod = define("divmod", in_single(partial(division.floor_divide_and_remainder, signs_zero=True)))
