"""Operators on windows that onnx's reference evaluator gets wrong, written out correctly.

They are what runs in DOUBLE, for which ONNX Runtime has no kernels of most of them: gradients of convolutions and
poolings among them.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportIncompatibleMethodOverride=false, reportAttributeAccessIssue=false
# onnx's reference evaluator has no types; it sets attributes of the node on these.

from __future__ import annotations

import functools
import importlib
import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

Array: TypeAlias = np.ndarray[Any, Any]
Integers: TypeAlias = Sequence[int] | None


@functools.cache
def window_operators() -> tuple[type[Any], ...]:
    """The classes to hand to the reference evaluator in place of its own."""
    # Imported on first use: it loads a module for each operator.
    from onnx.reference.op_run import OpRun

    class ConvTranspose(OpRun):
        """Its own gives each group the weights of others, and fails where the output is padded."""

        op_domain = ""

        def _run(
            self,
            x: Array,
            weight: Array,
            bias: Array | None = None,
            auto_pad: str | None = None,
            dilations: Integers = None,
            group: int | None = None,
            kernel_shape: Integers = None,
            output_padding: Integers = None,
            output_shape: Integers = None,
            pads: Integers = None,
            strides: Integers = None,
        ) -> tuple[Array]:
            kernel = weight.shape[2:]
            window = _Window.given(kernel, strides, dilations)
            rest = list(output_padding or [0] * window.rank)
            whole = _spread(x, weight, window, group or 1, rest)
            if output_shape is None and auto_pad in ("SAME_UPPER", "SAME_LOWER"):
                output_shape = [
                    size * stride for size, stride in zip(x.shape[2:], window.strides, strict=True)
                ]
            if output_shape is None:
                given = (
                    list(pads or [0] * (2 * window.rank)) if auto_pad != "VALID" else [0] * (2 * window.rank)
                )
                before, behind = given[: window.rank], given[window.rank :]
            else:
                total = [have - want for have, want in zip(whole.shape[2:], output_shape, strict=True)]
                # Where more is asked for than there is, all of it is added behind.
                small = [max(each, 0) // 2 for each in total]
                large = [max(each, 0) - half for each, half in zip(total, small, strict=True)]
                before = small if auto_pad == "SAME_UPPER" else large
                behind = [each - first for each, first in zip(total, before, strict=True)]
            y = _cut(whole, before, behind)
            if bias is not None:
                y = y + bias.reshape((-1, *(1,) * window.rank))
            return (y.astype(x.dtype),)

    class MaxPool(OpRun):
        """Its own gives values in the place of indices where windows go by single steps, and 0 for what is padded."""

        op_domain = ""

        def _run(
            self,
            x: Array,
            auto_pad: str | None = None,
            ceil_mode: int | None = None,
            dilations: Integers = None,
            kernel_shape: Integers = None,
            pads: Integers = None,
            storage_order: int | None = None,
            strides: Integers = None,
        ) -> tuple[Array, ...]:
            window = _Window.given(tuple(kernel_shape or ()), strides, dilations)
            spatial = x.shape[2:]
            before, counts = window.placed(spatial, auto_pad, pads, is_ceil=bool(ceil_mode))
            best: Array | None = None
            places: Array | None = None
            order = "F" if storage_order else "C"
            for offset in itertools.product(*map(range, window.kernel)):
                axes = [
                    np.arange(count) * stride + k * dilation - first
                    for count, stride, dilation, k, first in zip(
                        counts, window.strides, window.dilations, offset, before, strict=True
                    )
                ]
                inside = functools.reduce(
                    np.logical_and.outer,
                    [(axis >= 0) & (axis < size) for axis, size in zip(axes, spatial, strict=True)],
                )
                safe = np.ix_(*(np.clip(axis, 0, size - 1) for axis, size in zip(axes, spatial, strict=True)))
                picked = x[(slice(None), slice(None), *safe)]
                place = np.broadcast_to(np.ravel_multi_index(safe, spatial, order=order), picked.shape)
                if best is None or places is None:
                    best, places = picked.copy(), np.where(inside, place, -1)
                    continue
                is_better = inside & ((places < 0) | (picked > best) | (np.isnan(picked) & ~np.isnan(best)))
                best = np.where(is_better, picked, best)
                places = np.where(is_better, place, places)
            assert best is not None, "a window has places"
            assert places is not None, "a window has places"
            if len(self.onnx_node.output) == 1:
                return (best,)
            images = np.arange(math.prod(x.shape[:2])).reshape((*x.shape[:2], *(1,) * window.rank))
            return best, (places + images * math.prod(spatial)).astype(np.int64)

    padding: Any = importlib.import_module("onnx.reference.ops.op_pad")

    class Pad(padding.Pad_18):
        """Its own fails on negative pads, which take away."""

        op_domain = ""

        def _run(
            self,
            data: Array,
            pads: Array | Integers = None,
            constant_value: Array | None = None,
            axes: Array | None = None,
            mode: str | None = None,
            value: float | None = None,  # with `paddings` from versions in which they were attributes
            paddings: Integers = None,
        ) -> tuple[Array]:
            given = np.asarray(paddings if pads is None else pads)
            if (given < 0).any():
                chosen = range(data.ndim) if axes is None else [int(each) for each in np.ravel(axes)]
                cuts = [slice(None)] * data.ndim
                for k, axis in enumerate(chosen):
                    first, last = max(-int(given[k]), 0), max(-int(given[k + len(chosen)]), 0)
                    cuts[axis] = slice(first, max(data.shape[axis] - last, first))
                data, given = data[tuple(cuts)], np.maximum(given, 0)
            filled = value if constant_value is None else constant_value
            return super()._run(data, given, filled, axes, mode=mode)

    class LRN(OpRun):
        """Its own goes over as many channels as there are images, and leaves the others as they are."""

        op_domain = ""

        def _run(
            self,
            x: Array,
            alpha: float | None = None,
            beta: float | None = None,
            bias: float | None = None,
            size: int | None = None,
        ) -> tuple[Array]:
            assert size is not None, "the operator requires it"
            before, behind = (size - 1) // 2, size // 2
            squares = np.pad(x * x, [(0, 0), (before, behind), *[(0, 0)] * (x.ndim - 2)])
            total = sum(squares[:, k : k + x.shape[1]] for k in range(size))
            scale = (1.0 if bias is None else bias) + (1e-4 if alpha is None else alpha) / size * total
            return ((x / scale ** (0.75 if beta is None else beta)).astype(x.dtype),)

    return ConvTranspose, MaxPool, Pad, LRN


@dataclass(frozen=True, slots=True)
class _Window:
    """A window and how it goes over the last dimensions."""

    kernel: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]

    @staticmethod
    def given(kernel: tuple[int, ...], strides: Integers, dilations: Integers) -> _Window:
        ones = (1,) * len(kernel)
        return _Window(kernel, tuple(strides or ones), tuple(dilations or ones))

    @property
    def rank(self) -> int:
        return len(self.kernel)

    @property
    def extents(self) -> list[int]:
        """How far it reaches in each dimension."""
        return [(k - 1) * dilation + 1 for k, dilation in zip(self.kernel, self.dilations, strict=True)]

    def placed(
        self, sizes: Sequence[int], auto_pad: str | None, pads: Integers, *, is_ceil: bool
    ) -> tuple[list[int], list[int]]:
        """How much is padded before each dimension, and how many windows there are."""
        given = (
            list(pads or [0] * (2 * self.rank)) if auto_pad in (None, "", "NOTSET") else [0] * (2 * self.rank)
        )
        before: list[int] = []
        counts: list[int] = []
        for k, (size, stride, extent) in enumerate(zip(sizes, self.strides, self.extents, strict=True)):
            if auto_pad in ("SAME_UPPER", "SAME_LOWER"):
                count = -(-size // stride)
                total = max((count - 1) * stride + extent - size, 0)
                before.append(total // 2 if auto_pad == "SAME_UPPER" else total - total // 2)
                counts.append(count)
                continue
            room = size + given[k] + given[k + self.rank] - extent
            count = (-(-room // stride) if is_ceil else room // stride) + 1
            # The last window begins in the image or before it, never in what is padded behind.
            if is_ceil and (count - 1) * stride >= size + given[k]:
                count -= 1
            before.append(given[k])
            counts.append(count)
        return before, counts


def _spread(x: Array, weight: Array, window: _Window, group: int, rest: Sequence[int]) -> Array:
    """Each element times the weights, added up over the places of its window; nothing is cut yet."""
    batch, channels, *spatial = x.shape
    apart = x.reshape((batch, group, channels // group, *spatial))
    weights = weight.reshape((group, channels // group, *weight.shape[1:]))
    outputs = weight.shape[1]
    parts = zip(spatial, window.strides, window.extents, rest, strict=True)
    whole = [(size - 1) * stride + extent + more for size, stride, extent, more in parts]
    made = np.zeros((batch, group, outputs, *whole), np.result_type(x.dtype, np.float32))
    for offset in itertools.product(*map(range, window.kernel)):
        product = np.einsum("bgc...,gcm->bgm...", apart, weights[(..., *offset)])
        places = tuple(
            slice(k * dilation, k * dilation + (size - 1) * stride + 1, stride)
            for k, dilation, size, stride in zip(
                offset, window.dilations, spatial, window.strides, strict=True
            )
        )
        made[(..., *places)] += product
    return made.reshape((batch, group * outputs, *whole))


def _cut(whole: Array, before: Sequence[int], behind: Sequence[int]) -> Array:
    """Without what pads take away; negative ones add zeros."""
    more = [(max(-first, 0), max(-last, 0)) for first, last in zip(before, behind, strict=True)]
    padded = np.pad(whole, [(0, 0), (0, 0), *more])
    sizes = padded.shape[2:]
    return padded[
        (
            ...,
            *(
                slice(max(first, 0), size - max(last, 0))
                for first, last, size in zip(before, behind, sizes, strict=True)
            ),
        )
    ]
