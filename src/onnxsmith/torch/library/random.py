"""Random numbers, by ONNX's random operators and dropout: of torch's distributions, but other numbers than torch's.

A seed set in torch means nothing to a model; ONNX Runtime has one of its own.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from onnxsmith.algorithms.complex_numbers.pair import Complex
from onnxsmith.algorithms.loops import several
from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.algorithms.values import Numeric, Size, constant, dtype_of, filled, int64s, is_static, rank_of
from onnxsmith.torch.library.call import Call
from onnxsmith.torch.library.kinds import Argument, Translated
from onnxsmith.torch.library.marks import in_training
from onnxsmith.torch.library.registry import translates, translates_complex
from onnxsmith.torch.library.values import cast
from onnxsmith.types.dtypes import DType

#: Keeps logarithms finite.
_TINY = float(np.finfo(np.float32).tiny)
#: The opset version from which on ONNX Runtime has no kernels for the random operators.
_WITHOUT_KERNELS = 22


def drawn_uniform(sizes: Sequence[Size], dtype: DType) -> Tensor:
    """Numbers from 0 up to 1, without 1, in a shape."""
    computed = DType.DOUBLE if dtype is DType.DOUBLE else DType.FLOAT
    # ONNX Runtime draws numbers below opset 22 only; what it still draws there is which elements a dropout keeps.
    draw = _drawn if op.version < _WITHOUT_KERNELS else _uniform_of_bits
    result = draw("RandomUniform", sizes, computed)
    if dtype is computed:
        return result
    # In a narrower type a number just below 1 would round to 1.
    limit = cast(1 - 2.0**-11 if dtype is DType.FLOAT16 else 1 - 2.0**-8, computed)
    return cast(op.Min(result, limit), dtype)


def drawn_normal(sizes: Sequence[Size], dtype: DType) -> Tensor:
    """Numbers of mean 0 and variance 1, in a shape."""
    computed = DType.DOUBLE if dtype is DType.DOUBLE else DType.FLOAT
    if op.version < _WITHOUT_KERNELS:
        return cast(_drawn("RandomNormal", sizes, computed), dtype)
    # Two uniform numbers as a point in the plane: Box and Muller's way.
    length = op.Max(_uniform_of_bits("", sizes, computed), cast(_TINY, computed))
    length = op.Sqrt(op.Log(length) * -2)
    angle = _uniform_of_bits("", sizes, computed) * cast(2 * np.pi, computed)
    return cast(length * op.Cos(angle), dtype)


def _drawn(name: str, sizes: Sequence[Size], dtype: DType) -> Tensor:
    if is_static(sizes):
        result = getattr(op, name)(shape=sizes or [1], dtype=dtype)
        return result if sizes else op.Squeeze(result, [0])
    return getattr(op, name + "Like")(filled(sizes, 0, dtype), dtype=dtype)


def _uniform_of_bits(name: str, sizes: Sequence[Size], dtype: DType) -> Tensor:
    """Numbers whose binary digits are each kept, or not, by a dropout."""
    digits = 53 if dtype is DType.DOUBLE else 24
    ones = filled([digits, *sizes], 1, DType.FLOAT)
    half, is_training = constant(np.float32(0.5)), constant(np.bool_(True))
    _, kept = several(op.Dropout, ones, half, is_training, outputs=2)
    places = np.power(2.0, -np.arange(1, digits + 1)).astype(dtype.numpy)
    places = places.reshape(-1, *([1] * len(sizes)))
    return op.ReduceSum(op.Mul(cast(kept, dtype), places), np.array([0]), keepdims=0)


def _sizes(call: Call) -> list[Size]:
    return call.output_shape()


def _positive_uniform(call: Call) -> Tensor:
    """Numbers from 0 up to 1 without either."""
    return op.Max(drawn_uniform(_sizes(call), _computed(call)), cast(_TINY, _computed(call)))


def _computed(call: Call) -> DType:
    """The element type to compute in: numbers are drawn as float or double."""
    return DType.DOUBLE if call.dtype is DType.DOUBLE else DType.FLOAT


@translates_complex("aten.rand_like.default", "aten.rand_like.generator")
@translates("aten.rand.default", "aten.rand.generator", "aten.rand_like.default", "aten.rand_like.generator")
def rand(call: Call, *_: Argument, **__: Argument) -> Translated:
    if call.is_complex:
        return Complex(*[drawn_uniform(_sizes(call), call.dtype) for _ in range(2)])
    return drawn_uniform(_sizes(call), call.dtype)


@translates_complex("aten.randn_like.default", "aten.randn_like.generator")
@translates(
    *("aten.randn.default", "aten.randn.generator", "aten.randn_like.default", "aten.randn_like.generator")
)
def randn(call: Call, *_: Argument, **__: Argument) -> Translated:
    if call.is_complex:  # the variance of one is that of both parts together
        half = cast(np.sqrt(0.5), call.dtype)
        return Complex(*[drawn_normal(_sizes(call), call.dtype) * half for _ in range(2)])
    return drawn_normal(_sizes(call), call.dtype)


def _whole(call: Call, low: Numeric, high: Numeric) -> Tensor:
    """Whole numbers from `low` up to `high`, without it."""
    computed = DType.DOUBLE
    first, end = cast(low, computed), cast(high, computed)
    numbers = op.Floor(drawn_uniform(_sizes(call), computed) * op.Sub(end, first))
    return cast(numbers + first, call.dtype)


RANDINTS = (
    *("randint.default", "randint.generator", "randint.low", "randint.low_generator", "randint_like.default"),
    *("randint_like.generator", "randint_like.Tensor", "randint_like.low_dtype"),
    "randint_like.low_generator_dtype",
)


@translates(*(f"aten.{each}" for each in RANDINTS), by_name=True)
def randint(call: Call, high: Numeric, low: Numeric = 0, **_: Argument) -> Translated:
    return _whole(call, low, high)


@translates("aten.random.from")
def random_from(call: Call, x: Tensor, low: int, high: int | None, **_: Argument) -> Translated:
    return _whole(call, low, _limit(dtype_of(x)) if high is None else high)


@translates("aten.random.to")
def random_to(call: Call, x: Tensor, high: int, **_: Argument) -> Translated:
    return _whole(call, 0, high)


@translates("aten.random.default")
def random_all(call: Call, x: Tensor, **_: Argument) -> Translated:
    return _whole(call, 0, _limit(dtype_of(x)))


def _limit(dtype: DType) -> int:
    """One more than the greatest whole number that torch draws for a type."""
    if dtype is DType.BOOL:
        return 2
    digits = {DType.FLOAT: 24, DType.DOUBLE: 53, DType.FLOAT16: 11, DType.BFLOAT16: 8, DType.INT64: 53}
    return (1 << digits[dtype]) + 1 if dtype in digits else int(np.iinfo(dtype.numpy).max) + 1


@translates(
    *("aten.normal.Tensor_float", "aten.normal.float_Tensor", "aten.normal.Tensor_Tensor"),
    *("aten.normal.float_float", "aten.normal_functional.default"),
    by_name=True,
)
def normal(call: Call, mean: Numeric = 0.0, std: Numeric = 1.0, **_: Argument) -> Tensor:
    numbers = drawn_normal(_sizes(call), call.dtype)
    return numbers * cast(std, call.dtype) + cast(mean, call.dtype)


@translates("aten.log_normal.default")
def log_normal(call: Call, x: Tensor, mean: Numeric = 1.0, std: Numeric = 2.0, **_: Argument) -> Tensor:
    return op.Exp(normal(call, mean, std))


@translates("aten.uniform.default")
def uniform(call: Call, x: Tensor | None, low: float = 0.0, high: float = 1.0, **_: Argument) -> Tensor:
    numbers = drawn_uniform(_sizes(call), call.dtype) * cast(high - low, call.dtype)
    return numbers + cast(low, call.dtype)


@translates("aten.exponential.default")
def exponential(call: Call, x: Tensor, lambd: float = 1.0, **_: Argument) -> Translated:
    return -op.Log(_positive_uniform(call)) / cast(lambd, _computed(call))


@translates("aten.cauchy.default")
def cauchy(call: Call, x: Tensor, median: float = 0.0, sigma: float = 1.0, **_: Argument) -> Translated:
    computed = _computed(call)
    angle = (_positive_uniform(call) - 0.5) * np.pi
    return op.Tan(angle) * cast(sigma, computed) + cast(median, computed)


@translates("aten.geometric.default")
def geometric(call: Call, x: Tensor, p: float, **_: Argument) -> Translated:
    if p == 1:
        return filled(_sizes(call), 1, call.dtype)
    computed = _computed(call)
    numbers = op.Ceil(op.Log(_positive_uniform(call)) / cast(np.log1p(-p), computed))
    return op.Max(numbers, cast(1, computed))


@translates("aten.bernoulli.default", "aten.bernoulli.p", "aten.bernoulli.Tensor")
def bernoulli(call: Call, x: Tensor, p: Numeric | None = None, **_: Argument) -> Translated:
    computed = _computed(call)
    return drawn_uniform(_sizes(call), computed) < cast(x if p is None else p, computed)


@translates("aten.randperm.default", "aten.randperm.generator")
def randperm(call: Call, n: Size, **_: Argument) -> Translated:
    """The order of random numbers."""
    sizes = _sizes(call)
    return several(op.TopK, drawn_uniform(sizes, DType.DOUBLE), int64s([n]), outputs=2)[1]


@translates("aten.multinomial.default")
def multinomial(
    call: Call, x: Tensor, num_samples: Size, replacement: bool = False, **_: Argument
) -> Translated:
    dtype = DType.DOUBLE if x.dtype is DType.DOUBLE else DType.FLOAT
    chances = cast(x, dtype)
    if replacement:
        # A draw falls into the class where the running sum of chances passes it.
        sums = op.CumSum(chances, np.int64(rank_of(x) - 1))
        total = op.ReduceSum(chances, np.array([-1]), keepdims=1)
        draws = drawn_uniform(call.output_shape(), dtype) * total
        passed = op.Unsqueeze(draws, [-1]) >= op.Unsqueeze(sums, [-2])
        return op.ReduceSum(cast(passed, DType.INT64), np.array([-1]), keepdims=0)
    # Each class waits for a time that is the shorter the likelier it is; those with the shortest are drawn.
    waits = op.Max(drawn_uniform(call.shape_of(x), dtype), cast(_TINY, dtype))
    speed = op.Div(chances, -op.Log(waits))
    return several(op.TopK, speed, int64s([num_samples]), outputs=2)[1]


@translates("aten.rrelu.default")
def rrelu(
    call: Call,
    x: Tensor,
    lower: float = 0.125,
    upper: float = 1 / 3,
    training: bool = False,
    *_: Argument,
) -> Translated:
    """A leaky relu; in training, the slope of each negative element is random."""
    if not training:
        return op.LeakyRelu(x, alpha=(float(lower) + float(upper)) / 2)
    dtype = call.dtype

    def trained(x: Tensor) -> Tensor:
        slopes = drawn_uniform(_sizes(call), dtype) * cast(upper - lower, dtype)
        slopes = slopes + cast(lower, dtype)
        return op.Where(x <= 0, x * slopes, x)

    def used(x: Tensor) -> Tensor:
        return op.LeakyRelu(x, alpha=(float(lower) + float(upper)) / 2)

    return in_training(trained, used, x)
