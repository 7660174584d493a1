"""Random complex numbers in the shape of a tensor: both parts are drawn."""

from __future__ import annotations

import numpy as np

from onnxsmith.algorithms.complex_numbers.pair import Complex
from onnxsmith.torch.library import random
from onnxsmith.torch.library.call import Call
from onnxsmith.torch.library.kinds import Argument
from onnxsmith.torch.library.registry import translates_complex


@translates_complex("aten.uniform.default")
def uniform(call: Call, x: Complex, low: float = 0.0, high: float = 1.0, **_: Argument) -> Complex:
    return Complex(*[random.uniform(call, part, low, high) for part in (x.real, x.imag)])


@translates_complex("aten.normal_functional.default")
def normal(call: Call, x: Complex, mean: float = 0.0, std: float = 1.0, **_: Argument) -> Complex:
    spread = std * float(np.sqrt(0.5))  # the variance is that of both parts together
    return Complex(random.normal(call, mean, spread), random.normal(call, 0.0, spread))
