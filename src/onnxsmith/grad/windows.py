"""Windows that slide over a tensor: what convolutions and pooling have in common, with sizes known or open.

A window is brought into one form: the tensor is padded, or cut, so that the windows cover it exactly. What is done to
it then needs no padding, and the way back cuts what was padded.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from onnxsmith.algorithms.values import Size, int64s, size_of
from onnxsmith.core.tensor import Tensor
from onnxsmith.core.value import TensorOrArray
from onnxsmith.grad.operators import op
from onnxsmith.grad.steps import Step, numpy_of


@dataclass(frozen=True, slots=True)
class Window:
    """A window and how it goes over the last dimensions of a tensor."""

    kernel: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    #: How many elements are put before each dimension, and behind it; some may be cut there, which is negative.
    before: tuple[Size, ...]
    behind: tuple[Size, ...]

    @property
    def rank(self) -> int:
        """How many dimensions it goes over."""
        return len(self.kernel)

    @property
    def is_static(self) -> bool:
        """True if all of it is known now."""
        return all(isinstance(each, int) for each in (*self.before, *self.behind))

    @property
    def is_exact(self) -> bool:
        """True if nothing is padded or cut."""
        return all(isinstance(each, int) and each == 0 for each in (*self.before, *self.behind))

    @property
    def extents(self) -> tuple[int, ...]:
        """How many elements it goes over in each dimension, those between its own included."""
        parts = zip(self.kernel, self.dilations, strict=True)
        return tuple(dilation * (size - 1) + 1 for size, dilation in parts)

    @property
    def is_apart(self) -> bool:
        """True if no element is in two windows."""
        return all(extent <= stride for extent, stride in zip(self.extents, self.strides, strict=True))

    def _ends(self, sign: int) -> TensorOrArray:
        zeros = [0, 0]
        return int64s(
            [*zeros, *(sign * each for each in self.before), *zeros, *(sign * each for each in self.behind)]
        )

    def padded(self, x: Tensor, value: float = 0.0) -> Tensor:
        """The tensor that the windows cover exactly."""
        if self.is_exact:
            return x
        return op.Pad(x, self._ends(1)) if value == 0.0 else op.Pad(x, self._ends(1), value)

    def cut(self, x: Tensor) -> Tensor:
        """The way back: without what was padded, and with zeros for what was cut."""
        return x if self.is_exact else op.Pad(x, self._ends(-1))

    def offsets(self) -> Iterator[tuple[int, ...]]:
        """The places in the window, the last dimension first to change."""
        return itertools.product(*map(range, self.kernel))

    def picked(self, padded: Tensor, offset: tuple[int, ...], first: int, outputs: list[Size]) -> Tensor:
        """The elements at one place of all windows: the dimensions of the window begin at `first`."""
        starts = [k * dilation for k, dilation in zip(offset, self.dilations, strict=True)]
        ends = [
            start + (count - 1) * stride + 1
            for start, count, stride in zip(starts, outputs, self.strides, strict=True)
        ]
        axes = np.arange(first, first + self.rank)
        return op.Slice(padded, np.array(starts), int64s(ends), axes, np.array(self.strides))

    def spread(self, x: Tensor) -> Tensor:
        """Each element added to all places of its window: the way back from sums over windows."""
        flat = op.Reshape(x, op.Concat(np.array([-1, 1]), op.Shape(x, start=2), axis=0))
        ones = np.ones((1, 1, *self.kernel), numpy_of(x))
        made = op.ConvTranspose(flat, ones, strides=self.strides, dilations=self.dilations)
        return op.Reshape(made, op.Concat(op.Shape(x, end=2), op.Shape(made, start=2), axis=0))


def window_of(step: Step, x: Tensor, y: Tensor, kernel: tuple[int, ...]) -> Window:
    """The window of a convolution or pooling from `x` to `y`: its attributes, with pads as they turn out to be."""
    rank = len(kernel)
    strides = step.integers("strides") or (1,) * rank
    dilations = step.integers("dilations") or (1,) * rank
    before, behind = _pads(step, x, y, kernel, strides, dilations)
    return Window(kernel, strides, dilations, tuple(before), tuple(behind))


def _pads(
    step: Step,
    x: Tensor,
    y: Tensor,
    kernel: tuple[int, ...],
    strides: tuple[int, ...],
    dilations: tuple[int, ...],
) -> tuple[list[Size], list[Size]]:
    rank = len(kernel)
    given = step.integers("pads") or (0,) * (2 * rank)
    how = step.text("auto_pad", "NOTSET")
    before: list[Size] = []
    behind: list[Size] = []
    for k in range(rank):
        size, count = size_of(x, k + 2), size_of(y, k + 2)
        covered = (count - 1) * strides[k] + dilations[k] * (kernel[k] - 1) + 1
        total = covered - size
        first: Size
        if how in ("SAME_UPPER", "SAME_LOWER"):
            first = _half(total, upwards=how == "SAME_LOWER")
        else:
            first = 0 if how == "VALID" else given[k]
        before.append(first)
        behind.append(total - first)
    return before, behind


def _half(total: Size, *, upwards: bool) -> Size:
    """Half of what is padded in all, and none where something is cut."""
    if isinstance(total, int):
        return max(total + upwards, 0) // 2
    raised = op.Max(total + int(upwards), np.int64(0))
    made = op.Div(raised, np.int64(2)).as_number()
    assert isinstance(made, Tensor)  # a size that only the model knows
    return made


def static(sizes: tuple[Size, ...]) -> list[int]:
    """Sizes that are known to be known."""
    return [each for each in sizes if isinstance(each, int)]


def kernel_of(weight: Tensor) -> tuple[int, ...] | None:
    """The window of a convolution by its weights; None where their shape is open."""
    shape = weight.type.shape
    sizes = () if shape is None else shape[2:]
    known = [each for each in sizes if isinstance(each, int)]
    return tuple(known) if shape is not None and len(known) == len(sizes) else None


def sum_of(parts: list[Tensor]) -> Tensor:
    """The sum of tensors of one shape."""
    return parts[0] if len(parts) == 1 else op.Sum(*parts)
