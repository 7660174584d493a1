"""Inputs to try: the one source of arrays that nobody gave, for everything here that runs or compares models.

Knows element types, sizes and values. Callers say which inputs there are and which sizes and values they allow; whether
a model runs on them is for callers to find out.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import Enum
from typing import Any, NamedTuple

import numpy as np

from onnxsmith.graphs.agreement import as_wide, is_text, unit_of
from onnxsmith.graphs.lazy_ir import ir
from onnxsmith.graphs.model_inputs import Port
from onnxsmith.graphs.run_values import Array, RunValue
from onnxsmith.graphs.tensor_sizes import MOST_DIMENSIONS
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import SequenceType, TensorType

#: Sizes of dynamic dimensions, for one name after the other: so no two are mixed up unless both are 0 or 1.
_SIZES = ((0,), (1,), (2, 3, 5), (7, 9, 8))
#: Sizes that most models run on, all dynamic dimensions alike, the likeliest first.
_LIKELY_SIZES = (2, 1, 7, 8, 3, 16)
#: What a single integer is, one after the other: it may be how often a loop runs, or an index.
_SINGLES = (2, 0)
#: Larger arrays are not made.
_MOST_ELEMENTS = 1 << 28
#: The part of an element's size by which one near it is off, and the size up to which that grows.
_NEAR = 0.25
_LARGEST_NEAR = 1e3
#: The operators that compare their inputs, as far as results depend on it, and how many constants are taken.
_COMPARING = frozenset(
    ("Clip", "Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual", "Max", "Min", "Relu")
)
_MOST_THRESHOLDS = 16
#: A text that no data has.
UNSEEN = "a category that nobody has seen"
#: How many numbers there are outside the range of others.
SIDES = 4


class Values(Enum):
    """The floating-point numbers that an array has; other elements are the same for all."""

    ORDINARY = "ordinary numbers"
    SMALL = "small numbers"
    HUGE = "huge numbers"
    EDGES = "zeros of both signs, and numbers that a model compares with"
    NOT_FINITE = "NaN and infinities"


class Trial(NamedTuple):
    """Inputs by name, and the choice that they were made by."""

    inputs: Mapping[str, RunValue]
    size: int = 0
    single: int = 0


class Draw:
    """A source of elements. Equal seeds give equal elements."""

    def __init__(self, seed: int = 0) -> None:
        self._generator: Any = np.random.default_rng(seed)  # numpy's own types of it depend on the version

    def elements(
        self,
        dtype: DType,
        shape: Sequence[int],
        *,
        integers: tuple[int, int] = (0, 4),
        scale: float = 1.0,
        values: Values = Values.ORDINARY,
        thresholds: Sequence[float] = (),
    ) -> Array:
        """An array of an element type and a shape: integers from a range, texts of a letter, normal numbers."""
        if dtype is DType.STRING:
            letters = self._generator.integers(ord("a"), ord("z") + 1, shape)
            return np.array([chr(each) for each in letters.reshape(-1).tolist()], object).reshape(shape)
        if dtype is DType.BOOL:
            return np.asarray(self._generator.random(shape) < 0.5)
        if dtype.is_integer:
            low, high = integers if dtype.bits >= 8 else (0, 2 ** (dtype.bits - 1))
            return np.asarray(self._generator.integers(low, high, shape)).astype(dtype.numpy)
        small, huge = _SCALES[dtype.bits > _FEW_BITS]
        scale *= {Values.SMALL: small, Values.HUGE: huge}.get(values, 1.0)
        made = np.asarray(self._generator.normal(0, scale, shape))
        if dtype in (DType.COMPLEX64, DType.COMPLEX128):
            made = made + 1j * self._generator.normal(0, scale, shape)
        elif (special := _special(values, thresholds, dtype)) is not None:
            flat = made.reshape(-1)
            taken = flat[: len(special) * _MOST_REPEATS]
            taken[:] = np.resize(special, taken.size)
        with np.errstate(over="ignore"):  # of narrow types
            return made.astype(dtype.numpy)

    def near(self, array: Array) -> Array:
        """Other elements that are as plausible: near the given ones, in their range, no two alike if possible.

        An example is often all ones or zeros, for which much is equal that is not.
        """
        if not array.size:
            return array
        if array.dtype.kind == "b":
            share = min(max(float(array.mean()), 0.1), 0.9)  # half of a mask may leave nothing
            return np.asarray(self._generator.random(array.shape) < share)
        if array.dtype.kind in "iu":
            low, high = int(array.min()), int(array.max())
            limit = int(np.iinfo(array.dtype).max)
            return self._generator.integers(
                low, min(max(high, low + 1), limit), array.shape, array.dtype, endpoint=True
            )
        drawn = array.reshape(-1)[self._generator.integers(0, array.size, array.shape)]
        if is_text(array):
            return drawn
        with np.errstate(all="ignore"):
            sizes = np.abs(as_wide(drawn))
            scale = np.minimum(np.where(sizes > 0, sizes, 1.0), _LARGEST_NEAR)
            noise = _NEAR * scale * self._generator.standard_normal(array.shape)
            return (as_wide(drawn) + noise).astype(array.dtype)

    def rounded(self, value: RunValue) -> RunValue:
        """A value whose numbers are half a unit in the last place off."""
        if not isinstance(value, np.ndarray) or not unit_of(value):
            return value
        signs = self._generator.choice([-0.5, 0.5], value.shape)
        with np.errstate(all="ignore"):  # the largest numbers may become infinite
            return (as_wide(value) * (1 + unit_of(value) * signs)).astype(value.dtype)


#: The scales of small and huge numbers, of types with few bits and others.
_SCALES = ((1e-2, 1e2), (1e-6, 1e6))
_FEW_BITS = 16
#: Each special number is taken up to so many times; ordinary ones stand beside them.
_MOST_REPEATS = 2


def _special(values: Values, thresholds: Sequence[float], dtype: DType) -> list[float] | None:
    if values is Values.NOT_FINITE:
        return [math.nan, math.inf, -math.inf]
    if values is not Values.EDGES:
        return None
    kind = np.dtype(np.float64 if dtype is DType.DOUBLE else np.float32)
    return [0.0, -0.0, *(each for threshold in thresholds for each in around(threshold, kind))]


# -- for the inputs of a model ----------------------------------------------------------------------------


def trials(ports: Sequence[Port], given: Mapping[str, RunValue] | None = None) -> Iterator[Trial]:
    """Inputs by name that a model may run on, the likeliest first; none where an input cannot be made.

    Those that are given are as they are, and so are the named sizes that they have.
    """
    known = given or {}
    named = _named_sizes(ports, known)
    missing = [port for port in ports if port.name not in known]
    sizes = _LIKELY_SIZES if any(_is_dynamic(port, named) for port in missing) else _LIKELY_SIZES[:1]
    for single in _SINGLES if any(_is_integer(port) for port in missing) else _SINGLES[:1]:
        for size in sizes:
            made = _inputs(Draw(), missing, named, size, single, Values.ORDINARY, ())
            if made is not None:
                yield Trial({**known, **made}, size, single)


def further_trials(
    ports: Sequence[Port],
    found: Trial,
    allowed: Sequence[Values],
    thresholds: Sequence[float] = (),
) -> Iterator[Mapping[str, RunValue]]:
    """Inputs in the sizes and with the values that are worth a comparison, of a model that runs on `found`."""
    is_real = any(isinstance(port.type, TensorType) and _is_real(port.type) for port in ports)
    is_dynamic = any(_is_dynamic(port, {}) for port in ports)
    sizes = [size for size, *_ in _SIZES if size != found.size] if is_dynamic else []
    # Other values come in other sizes as far as there are some, but for 0: each run costs as much as the next.
    values = [*[Values.ORDINARY] * (0 in sizes), *(allowed if is_real else ())]
    draw = Draw()
    for size, kind in itertools.zip_longest(sizes, values):
        made = _inputs(
            draw,
            ports,
            {},
            found.size if size is None else size,
            found.single,
            kind or Values.ORDINARY,
            thresholds,
        )
        if made is not None:
            yield made


def compared_constants(nodes: Iterable[ir.Node]) -> list[float]:
    """The numbers that nodes compare others with, without NaN and infinities; the first few."""
    found: dict[float, None] = {}
    for node in nodes:
        if node.op_type not in _COMPARING:
            continue
        if node.op_type == "Relu":
            found[0.0] = None
        for value in node.inputs:
            tensor = None if value is None else ir.convenience.get_const_tensor(value)
            if tensor is not None and tensor.size <= _MOST_THRESHOLDS and tensor.dtype.is_floating_point():
                array = tensor.numpy().astype(np.float64)
                found.update(dict.fromkeys(array[np.isfinite(array)].ravel().tolist()))
    return list(found)[:_MOST_THRESHOLDS]


def can_be_made(shape: Sequence[int]) -> bool:
    """True if an array of a shape is small enough: a stranger's model may ask for any size."""
    sizes_fit = len(shape) <= MOST_DIMENSIONS and min(shape, default=0) >= 0
    return sizes_fit and math.prod(shape) <= _MOST_ELEMENTS


def sizes_apart(names: Sequence[str]) -> list[dict[str, int]]:
    """Sizes for dynamic dimensions by name, one choice after the other; of none the choice that there is."""
    if not names:
        return [{}, {}]
    return [{name: each[k % len(each)] for k, name in enumerate(names)} for each in _SIZES]


def _inputs(
    draw: Draw,
    ports: Sequence[Port],
    named: Mapping[str, int],
    size: int,
    single: int,
    values: Values,
    thresholds: Sequence[float],
) -> dict[str, RunValue] | None:
    found: dict[str, RunValue] = {}
    for port in ports:
        kind = port.type
        if isinstance(kind, SequenceType):
            found[port.name] = []
            continue
        shape = [
            each if isinstance(each, int) else size if each is None else named.get(each, size)
            for each in (isinstance(kind, TensorType) and kind.shape) or ()
        ]
        if not isinstance(kind, TensorType) or not can_be_made(shape):
            return None
        dtype = kind.dtype or DType.FLOAT
        if dtype is DType.BOOL or (dtype is not DType.STRING and "mask" in port.name.lower()):
            found[port.name] = np.ones(shape, dtype.numpy)
        elif dtype.is_integer and math.prod(shape) == 1:
            found[port.name] = np.full(shape, single).astype(dtype.numpy)
        else:
            found[port.name] = draw.elements(dtype, shape, values=values, thresholds=thresholds)
    return found


def _named_sizes(ports: Sequence[Port], given: Mapping[str, RunValue]) -> dict[str, int]:
    """The sizes that names of dimensions have in given arrays."""
    found: dict[str, int] = {}
    for port in ports:
        value = given.get(port.name)
        shape = port.type.shape if isinstance(port.type, TensorType) else None
        if isinstance(value, np.ndarray) and shape is not None and len(shape) == value.ndim:
            found.update(
                (name, size) for name, size in zip(shape, value.shape, strict=True) if isinstance(name, str)
            )
    return found


def _is_dynamic(port: Port, named: Mapping[str, int]) -> bool:
    shape = port.type.shape if isinstance(port.type, TensorType) else ()
    return shape is None or not all(isinstance(each, int) or each in named for each in shape)


def _is_integer(port: Port) -> bool:
    return isinstance(port.type, TensorType) and port.type.dtype is not None and port.type.dtype.is_integer


def _is_real(kind: TensorType) -> bool:
    return kind.dtype is None or not (kind.dtype.is_integer or kind.dtype in (DType.BOOL, DType.STRING))


# -- like what a user gave --------------------------------------------------------------------------------


#: From a size in an example, the least and the most that it can be, to another.
ChooseSize = Callable[[int, int, "int | None"], int]


def _stepped(step: int) -> ChooseSize:
    def choose(size: int, low: int, high: int | None) -> int:
        return size + step if high is None or size + step <= high else max(low, size - step)

    return choose


#: Sizes to try besides those of an example: a little larger, the least, the most; of each the first that is allowed.
OTHER_SIZES: tuple[tuple[ChooseSize, ...], ...] = (
    tuple(_stepped(each) for each in (1, 2, 8)),
    (lambda size, low, high: low, lambda size, low, high: low if low > 1 else 2),
    (
        lambda size, low, high: 4 * size + 3 if high is None else high,
        lambda size, low, high: 4 * size if high is None else high,
    ),
)


def around(threshold: float, dtype: np.dtype[Any]) -> list[float]:
    """A number and those next to it, in an element type and in single precision, which some models compare in."""
    with np.errstate(over="ignore"):
        values = [
            float(np.nextafter(kind(threshold), kind(side)))
            for kind in dict.fromkeys([dtype.type, np.float32])
            for side in (-np.inf, threshold, np.inf)
        ]
    return [each for each in dict.fromkeys(values) if np.isfinite(each)]


def outside(column: Array) -> list[float]:
    """Numbers a little and far below the least of some, and above the greatest; zeros where there are none."""
    finite = column[np.isfinite(column)].astype(np.float64)
    if not finite.size:
        return [0.0] * SIDES
    low, high = float(finite.min()), float(finite.max())
    width = (high - low) or max(abs(low), 1.0)
    return [low - width / 8, low - 2 * width, high + width / 8, high + 2 * width]


def beyond_float32(array: Array) -> Array:
    """Whole numbers that float32 does not tell apart, for an array of whole numbers."""
    return array + np.asarray(2**24 + 1, array.dtype)
