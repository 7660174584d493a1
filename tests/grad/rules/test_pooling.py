"""Pooling over a grid of windows: shapes are those of the runtime, gradients those of torch or of differences."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from onnxsmith import FLOAT, opset11, opset21, opset22, trace
from onnxsmith.grad import grad
from tests.grad.differences import agree
from tests.grad.node_gradients import wrong_of_family

_OPSETS = {11: opset11, 21: opset21, 22: opset22}
#: The first opset in which an operator has the attributes of the grid.
_SINCE = {"MaxPool": 11, "AveragePool": 21, "LpPool": 21}
#: How many windows of the grid are taken for each operator and opset.
COUNT = 30


@dataclass(frozen=True)
class Pool:
    """One call of a pooling operator, on an image of one or two dimensions."""

    operator: str
    opset: int
    sizes: tuple[int, ...]
    kernel: tuple[int, ...]
    strides: tuple[int, ...]
    before: tuple[int, ...]
    behind: tuple[int, ...]
    dilations: tuple[int, ...]
    rounds_up: bool
    counts_pads: bool

    @property
    def attributes(self) -> dict[str, Any]:
        own = {"count_include_pad": int(self.counts_pads)} if self.operator == "AveragePool" else {}
        return {
            "kernel_shape": list(self.kernel),
            "strides": list(self.strides),
            "pads": [*self.before, *self.behind],
            "dilations": list(self.dilations),
            "ceil_mode": int(self.rounds_up),
            **own,
        }

    def __call__(self, x: Any) -> Any:
        return getattr(_OPSETS[self.opset], self.operator)(x, **self.attributes)

    def with_shape(self, x: Any) -> Any:
        made = self(x)
        return made, _OPSETS[self.opset].Shape(made)

    def squared(self, x: Any) -> Any:
        return (self(x) * self(x)).sum()

    def windows(self, axis: int) -> list[range]:
        """The places of each window, those in the padding among them."""
        size, before, behind = self.sizes[axis], self.before[axis], self.behind[axis]
        stride, dilation, count = self.strides[axis], self.dilations[axis], self.kernel[axis]
        extent = dilation * (count - 1) + 1
        room = size + before + behind - extent
        starts = range(0, room + (stride if self.rounds_up and room % stride else 1), stride)
        if self.rounds_up:  # a window that begins in the padding behind is left out
            starts = [each for each in starts if each < size + before]
        return [range(each - before, each - before + extent, dilation) for each in starts]

    def by_hand(self, x: np.ndarray) -> np.ndarray:
        """As the operators are described, on the last axes of an array."""
        found = self.windows(0), *([self.windows(1)] if len(self.sizes) == 2 else [])
        shape = [len(each) for each in found]
        result = np.empty((*x.shape[: -len(shape)], *shape))
        for place in np.ndindex(*shape):
            window = [each[k] for each, k in zip(found, place, strict=True)]
            inside = [
                [k for k in each if 0 <= k < size] for each, size in zip(window, self.sizes, strict=True)
            ]
            result[(..., *place)] = self._of_one(x[(..., *np.ix_(*inside))], window)
        return result

    def _of_one(self, picked: np.ndarray, window: list[range]) -> np.ndarray:
        axes = tuple(range(-len(window), 0))
        if self.operator == "MaxPool":
            return picked.max(axes)
        if self.operator == "LpPool":
            return np.sqrt((picked**2).sum(axes))
        count = np.prod(picked.shape[-len(window) :])
        if self.counts_pads:  # what a last window has beyond the pads does not count
            limits = [size + pad for size, pad in zip(self.sizes, self.behind, strict=True)]
            count = np.prod(
                [len([k for k in each if k < most]) for each, most in zip(window, limits, strict=True)]
            )
        return picked.sum(axes) / count

    def on_torch(self) -> Any:
        """The same in torch, or None where it has no such thing."""
        rank = len(self.sizes)
        is_even = self.before == self.behind
        if not is_even or any(2 * pad > size for pad, size in zip(self.before, self.kernel, strict=True)):
            return None
        shared = {"stride": self.strides, "ceil_mode": self.rounds_up}
        is_dense = set(self.dilations) == {1}
        if self.operator == "MaxPool":
            pool = F.max_pool1d if rank == 1 else F.max_pool2d
            return lambda x: pool(x, self.kernel, padding=self.before, dilation=self.dilations, **shared)
        if self.operator == "AveragePool" and is_dense:
            pool = F.avg_pool1d if rank == 1 else F.avg_pool2d
            counts = self.counts_pads
            return lambda x: pool(x, self.kernel, padding=self.before, count_include_pad=counts, **shared)
        return None


def grid(operator: str, opset: int, rank: int) -> Iterator[Pool]:
    """Some of all windows, which are drawn anew for each axis."""
    drawn = random.Random(f"{operator} {opset} {rank}")
    axes = [
        each
        for each in itertools.product((4, 5, 7), (1, 2, 3), (1, 2, 3), (0, 1, 2), (0, 1, 2), (1, 2))
        if max(each[3:5]) < each[1] and each[5] * (each[1] - 1) + 1 <= each[0] + each[3] + each[4]
    ]
    for number in range(COUNT):
        columns = zip(*(drawn.choice(axes) for _ in range(rank)), strict=True)
        sizes, kernel, strides, before, behind, dilations = columns
        counts = number % 2 == 1
        yield Pool(operator, opset, sizes, kernel, strides, before, behind, dilations, number % 3 > 0, counts)


def fitting(operator: str, opset: int, rank: int) -> Iterator[Pool]:
    """Windows that share no element and cover images exactly: there are shorter ways back for them."""
    axes = [
        ((count - 1) * stride + extent, size, stride, dilation)
        for size, dilation, gap, count in itertools.product((1, 2, 3), (1, 2), (0, 1, 2), (1, 2))
        for extent in [dilation * (size - 1) + 1]
        for stride in [extent + gap]
    ]
    drawn = random.Random(f"{operator} {opset} {rank}")
    taken = axes if rank == 1 else drawn.sample(axes, COUNT // 2)
    for others in zip(taken, *(drawn.sample(taken, len(taken)) for _ in range(rank - 1)), strict=True):
        sizes, kernel, strides, dilations = zip(*others, strict=True)
        none = (0,) * rank
        yield Pool(operator, opset, sizes, kernel, strides, none, none, dilations, False, False)


@pytest.mark.parametrize("windows", [grid, fitting])
@pytest.mark.parametrize("rank", [1, 2])
@pytest.mark.parametrize(
    ("operator", "opset"), [(name, opset) for name in _SINCE for opset in _OPSETS if opset >= _SINCE[name]]
)
def test_pooling_and_its_gradient(
    operator: str, opset: int, rank: int, windows: Callable[[str, int, int], Iterator[Pool]]
) -> None:
    for pool in windows(operator, opset, rank):
        check(pool)


@pytest.mark.parametrize("size", [2, 3])
def test_blocks_give_to_the_first_of_equal_elements_without_indices(size: int) -> None:
    """Beside torch's, where elements of a block are equal; larger blocks and cut ones keep the indices."""
    x = np.random.default_rng(0).integers(0, 3, (2, 3, 4 * size, 2 * size)).astype(np.float32)

    def loss(x: Any) -> Any:
        return (opset21.MaxPool(x, kernel_shape=[size, size], strides=[size, size]) ** 3.0).sum()

    made = trace(loss, FLOAT[x.shape], input_names=["x"]).gradient(wrt=["x"])
    pools = [each for each in made.ir.graph if each.op_type == "MaxPool"]
    assert [len(each.outputs) for each in pools] == [1]
    tensor = torch.tensor(x, requires_grad=True)
    (F.max_pool2d(tensor, size) ** 3).sum().backward()
    assert tensor.grad is not None
    np.testing.assert_array_equal(made(x)[1], tensor.grad.numpy())
    cut = trace(loss, FLOAT[2, 3, 4 * size + 1, 2 * size], input_names=["x"]).gradient(wrt=["x"])
    assert "ScatterND" in [each.op_type for each in cut.ir.graph]


def check(pool: Pool) -> None:
    """Value, shape and gradient of one call."""
    numbers = np.random.default_rng(3)
    # Numbers that are far from each other: a difference must not change which one is the greatest.
    x = numbers.permutation(np.prod(pool.sizes)).reshape(1, 1, *pool.sizes) * 0.25 + 0.125
    x = np.asarray(x, np.float32)
    wanted = pool.by_hand(x.astype(np.float64))
    made = trace(pool.with_shape, FLOAT[x.shape])
    found, shape = made(x)
    np.testing.assert_allclose(found, wanted, rtol=1e-5, err_msg=str(pool))
    assert tuple(shape) == wanted.shape, pool
    for declared, size in zip(made.ir.graph.outputs[0].shape or (), wanted.shape, strict=True):
        assert declared == size or (not isinstance(declared, int) and pool.opset < 22), pool
    slope = grad(pool.squared)(x)
    cotangent = 2 * wanted
    np.testing.assert_allclose(
        slope, by_differences(pool, x, cotangent), rtol=1e-4, atol=1e-4, err_msg=str(pool)
    )
    same = pool.on_torch()
    if same is not None:
        tensor = torch.tensor(x, requires_grad=True)
        result = same(tensor)
        np.testing.assert_allclose(found, result.detach().numpy(), rtol=1e-5, err_msg=str(pool))
        (result * result).sum().backward()
        assert tensor.grad is not None
        np.testing.assert_allclose(slope, tensor.grad.numpy(), rtol=1e-4, atol=1e-4, err_msg=str(pool))


def by_differences(pool: Pool, x: np.ndarray, cotangent: np.ndarray) -> np.ndarray:
    step = 1e-4
    moved = step * np.eye(x.size).reshape(x.size, *x.shape)
    middle = x.astype(np.float64)
    change = pool.by_hand(middle + moved) - pool.by_hand(middle - moved)
    slopes = (change * cotangent).sum(axis=tuple(range(1, change.ndim))) / (2 * step)
    return slopes.reshape(x.shape)


@pytest.mark.parametrize("p", [1, 2, 3, 4])
@pytest.mark.parametrize("shape", [(2, 3, 5), (2, 3, 4, 3), (1, 2, 2, 3, 2)])
@pytest.mark.parametrize("is_zero", [False, True])
def test_norms_of_whole_images(shape: tuple[int, ...], p: int, is_zero: bool) -> None:
    """At an image of zeros the slope is 0, as that of torch's norms is."""
    x = np.random.default_rng(5).standard_normal(shape).astype(np.float32)
    if is_zero:
        x[0, 0] = 0
    tensor = torch.tensor(x, requires_grad=True)
    norms = torch.linalg.vector_norm(tensor, p, dim=tuple(range(2, len(shape))))
    norms.sin().sum().backward()
    assert tensor.grad is not None
    found = grad(lambda x: opset21.Sin(opset21.GlobalLpPool(x, p=p)).sum())(x)
    np.testing.assert_allclose(found, tensor.grad.numpy(), rtol=1e-4, atol=1e-5)


IMAGE = np.random.default_rng(3).permutation(32).reshape(1, 2, 4, 4) / 7 - 2
POOLED: dict[str, Any] = {
    "AveragePool": lambda x: opset21.AveragePool(x, kernel_shape=[2, 2]),
    "AveragePool, strides and pads": lambda x: opset21.AveragePool(
        x, kernel_shape=[3, 2], strides=[2, 2], pads=[1, 0, 1, 1]
    ),
    "AveragePool that counts its padding": lambda x: opset21.AveragePool(
        x, kernel_shape=[2, 2], pads=[1, 1, 0, 0], count_include_pad=1
    ),
    "MaxPool": lambda x: opset21.MaxPool(x, kernel_shape=[2, 2])[0],
    "MaxPool, strides and pads": lambda x: opset21.MaxPool(
        x, kernel_shape=[2, 3], strides=[2, 1], pads=[0, 1, 1, 1]
    )[0],
    "MaxPool, dilations": lambda x: opset21.MaxPool(x, kernel_shape=[2, 2], dilations=[2, 1])[0],
    "LpPool": lambda x: opset21.LpPool(x, kernel_shape=[2, 2], strides=[2, 2]),
    "LpPool by absolutes": lambda x: opset21.LpPool(x, kernel_shape=[2, 2], p=1),
    "GlobalAveragePool": lambda x: opset21.GlobalAveragePool(x),
    "GlobalMaxPool": lambda x: opset21.GlobalMaxPool(x),
    "GlobalLpPool": lambda x: opset21.GlobalLpPool(x),
    "GlobalLpPool of cubes": lambda x: opset21.GlobalLpPool(x, p=3),
}


@pytest.mark.parametrize("name", POOLED)
def test_gradients_are_those_of_differences(name: str) -> None:
    # There are kernels for single precision only.
    agree(POOLED[name], IMAGE.astype(np.float32), is_single=True)


@pytest.mark.parametrize("shard", range(4))
def test_gradients_of_node_cases_are_those_of_differences(shard: int) -> None:
    assert wrong_of_family("pooling", shard, 4) == []
