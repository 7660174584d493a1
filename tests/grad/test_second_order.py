"""The way forwards, and products with the matrix of second derivatives, are those of `torch.func`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from onnxsmith import opset23 as op
from onnxsmith.grad import grad, jvp

_random = np.random.default_rng(4)


def normal(*shape: int) -> Any:
    return _random.standard_normal(shape)


def positive(*shape: int) -> Any:
    return _random.uniform(0.2, 0.9, shape)


_matrix = np.eye(3) * 2 + 0.3 * normal(3, 3)

#: Name: the function of ours, torch's, and the inputs; all of them go forwards. In double precision.
IN_DOUBLE: dict[str, tuple[Callable[..., Any], Callable[..., Any], list[Any]]] = {
    "Add": (op.Add, torch.add, [normal(3, 4), normal(4)]),
    "Sub": (op.Sub, torch.sub, [normal(3, 4), normal(3, 1)]),
    "Mul": (op.Mul, torch.mul, [normal(3, 4), normal(4)]),
    "Div": (op.Div, torch.div, [normal(3, 4), positive(4)]),
    "Pow": (op.Pow, torch.pow, [positive(3, 4), normal(4)]),
    "Sqrt": (op.Sqrt, torch.sqrt, [positive(5)]),
    "Exp": (op.Exp, torch.exp, [normal(5)]),
    "Log": (op.Log, torch.log, [positive(5)]),
    "Sin": (op.Sin, torch.sin, [normal(5)]),
    "Cos": (op.Cos, torch.cos, [normal(5)]),
    "Tanh": (op.Tanh, torch.tanh, [normal(5)]),
    "Sigmoid": (op.Sigmoid, torch.sigmoid, [normal(5)]),
    "Reciprocal": (op.Reciprocal, torch.reciprocal, [positive(5)]),
    "Neg": (op.Neg, torch.neg, [normal(5)]),
    "Abs": (op.Abs, torch.abs, [normal(5)]),
    "Relu": (op.Relu, torch.relu, [normal(5)]),
    "Max": (op.Max, torch.maximum, [normal(5), normal(5)]),
    "Min": (op.Min, torch.minimum, [normal(5), normal(5)]),
    "Clip": (lambda x: op.Clip(x, -0.5, 0.5), lambda x: x.clamp(-0.5, 0.5), [normal(9)]),
    "Where": (
        lambda a, b: op.Where(a > b, a * b, op.Sin(a)),
        lambda a, b: torch.where(a > b, a * b, torch.sin(a)),
        [normal(6), normal(6)],
    ),
    "MatMul": (op.MatMul, torch.matmul, [normal(2, 3, 4), normal(4, 2)]),
    "Gemm": (
        lambda a, b, c: op.Gemm(a, b, c, alpha=0.5, beta=2.0, transB=1),
        lambda a, b, c: 0.5 * a @ b.T + 2 * c,
        [normal(3, 4), normal(2, 4), normal(2)],
    ),
    "Einsum": (
        lambda a, b: op.Einsum(a, b, equation="bij,bjk->bik"),
        lambda a, b: torch.einsum("bij,bjk->bik", a, b),
        [normal(2, 3, 4), normal(2, 4, 2)],
    ),
    "Softmax": (lambda x: op.Softmax(x, axis=1), lambda x: F.softmax(x, 1), [normal(3, 4)]),
    "LogSoftmax": (lambda x: op.LogSoftmax(x, axis=1), lambda x: F.log_softmax(x, 1), [normal(3, 4)]),
    "LayerNormalization": (
        lambda x, w, b: op.LayerNormalization(x, w, b),
        lambda x, w, b: F.layer_norm(x, (4,), w, b),
        [normal(3, 4), normal(4), normal(4)],
    ),
    "ReduceSum": (lambda x: op.ReduceSum(x, [0], keepdims=0), lambda x: x.sum(0), [normal(3, 4)]),
    "ReduceMean": (lambda x: op.ReduceMean(x, [1]), lambda x: x.mean(1, keepdim=True), [normal(3, 4)]),
    "ReduceMax": (lambda x: op.ReduceMax(x, [1]), lambda x: x.amax(1, keepdim=True), [normal(3, 4)]),
    "ReduceProd": (lambda x: op.ReduceProd(x, [1], keepdims=0), lambda x: x.prod(1), [normal(3, 4)]),
    "ReduceL2": (lambda x: op.ReduceL2(x, [1], keepdims=0), lambda x: x.norm(dim=1), [normal(3, 4)]),
    "ReduceLogSumExp": (
        lambda x: op.ReduceLogSumExp(x, [1], keepdims=0),
        lambda x: x.logsumexp(1),
        [normal(3, 4)],
    ),
    "CumSum": (lambda x: op.CumSum(x, np.array(1)), lambda x: x.cumsum(1), [normal(3, 4)]),
    "Gather": (
        lambda x: op.Gather(x, np.array([1, 1, 0])),
        lambda x: x[torch.tensor([1, 1, 0])],
        [normal(3, 4)],
    ),
    "GatherElements": (
        lambda x: op.GatherElements(x, np.array([[1, 1], [0, 3]]), axis=1),
        lambda x: x.gather(1, torch.tensor([[1, 1], [0, 3]])),
        [normal(2, 4)],
    ),
    "ScatterElements": (
        lambda x, u: op.ScatterElements(x, np.array([[1, 1]]), u, axis=1, reduction="add"),
        lambda x, u: x.scatter_add(1, torch.tensor([[1, 1]]), u),
        [normal(1, 4), normal(1, 2)],
    ),
    "Concat": (lambda a, b: op.Concat(a, b, axis=0), lambda a, b: torch.cat([a, b]), [normal(3), normal(2)]),
    "Split": (
        lambda x: op.Mul(*op.Split(x, num_outputs=2)),
        lambda x: x[:2] * x[2:],
        [normal(4, 2)],
    ),
    "Slice": (lambda x: x[::2, 1:], lambda x: x[::2, 1:], [normal(5, 3)]),
    "Pad": (lambda x: op.Pad(x, [1, 2]), lambda x: F.pad(x, (1, 2)), [normal(4)]),
    "Transpose": (lambda x: op.Transpose(x) * x, lambda x: x.T * x, [normal(3, 3)]),
    "Expand": (lambda x: op.Expand(x, [3, 4]), lambda x: x.expand(3, 4), [normal(3, 1)]),
    "Tile": (lambda x: op.Tile(x, [2, 3]), lambda x: x.repeat(2, 3), [normal(2, 2)]),
    "Softplus": (op.Softplus, F.softplus, [normal(5)]),
    "Atan": (op.Atan, torch.atan, [normal(5)]),
    "Asinh": (op.Asinh, torch.asinh, [normal(5)]),
    "TopK": (lambda x: op.TopK(x, [2])[0], lambda x: x.topk(2)[0], [normal(3, 5)]),
    "Det": (op.Det, torch.det, [_matrix]),
    "Trilu": (op.Trilu, torch.triu, [normal(3, 3)]),
}
#: The same in single precision, where ONNX Runtime has no other.
IN_SINGLE: dict[str, tuple[Callable[..., Any], Callable[..., Any], list[Any]]] = {
    "Conv": (
        lambda x, w, b: op.Conv(x, w, b, pads=[1, 1, 1, 1], strides=[2, 2]),
        lambda x, w, b: F.conv2d(x, w, b, padding=1, stride=2),
        [normal(2, 4, 6, 6), normal(3, 4, 3, 3), normal(3)],
    ),
    "ConvTranspose": (
        lambda x, w: op.ConvTranspose(x, w, strides=[2, 2]),
        lambda x, w: F.conv_transpose2d(x, w, stride=2),
        [normal(2, 3, 4, 4), normal(3, 2, 2, 2)],
    ),
    "MaxPool": (
        lambda x: op.MaxPool(x, kernel_shape=[2, 2]),
        lambda x: F.max_pool2d(x, 2, 1),
        [normal(1, 2, 5, 5)],
    ),
    "AveragePool": (
        lambda x: op.AveragePool(x, kernel_shape=[2, 2], strides=[2, 2]),
        lambda x: F.avg_pool2d(x, 2),
        [normal(1, 2, 6, 6)],
    ),
    "InstanceNormalization": (
        lambda x, w, b: op.InstanceNormalization(x, w, b),
        lambda x, w, b: F.instance_norm(x, weight=w, bias=b),
        [normal(2, 3, 4, 4), normal(3), normal(3)],
    ),
    "BatchNormalization": (
        lambda x, w, b: op.BatchNormalization(x, w, b, np.zeros(3, np.float32), np.ones(3, np.float32)),
        lambda x, w, b: F.batch_norm(x, torch.zeros(3), torch.ones(3), w, b),
        [normal(4, 3, 2), normal(3), normal(3)],
    ),
    "Erf": (op.Erf, torch.erf, [normal(5)]),
    "Gelu": (op.Gelu, F.gelu, [normal(5)]),
    "Mish": (op.Mish, F.mish, [normal(5)]),
    "Elu": (op.Elu, F.elu, [normal(5)]),
    "HardSwish": (op.HardSwish, F.hardswish, [normal(5)]),
    "Attention": (
        lambda q, k, v: op.Attention(q, k, v),
        lambda q, k, v: F.softmax(q @ k.mT / 2, -1) @ v,
        [normal(1, 2, 3, 4), normal(1, 2, 5, 4), normal(1, 2, 5, 4)],
    ),
    "RMSNormalization": (
        lambda x, w: op.RMSNormalization(x, w, epsilon=1e-5),
        lambda x, w: F.rms_norm(x, (4,), w, 1e-5),
        [normal(3, 4), normal(4)],
    ),
}


def check(
    case: tuple[Callable[..., Any], Callable[..., Any], list[Any]], dtype: Any, tolerance: float
) -> None:
    ours, theirs, given = case
    arrays = [each.astype(dtype) for each in given]
    numbers = np.random.default_rng(2)
    along = tuple(numbers.standard_normal(each.shape).astype(dtype) for each in arrays)
    tensors, directions = tuple(map(torch.tensor, arrays)), tuple(map(torch.tensor, along))
    wrt = tuple(range(len(arrays)))

    def loss(*values: Any) -> Any:
        made = ours(*values)
        return (made * made * made).sum()

    def same(*values: Any) -> Any:
        made = theirs(*values)
        return (made * made * made).sum()

    value, change = jvp(ours, wrt=wrt)(*arrays, tangent=along)
    # The double-backward way: torch has no forward rules for all of its own functions.
    wanted_value, wanted = torch.autograd.functional.jvp(theirs, tensors, directions)
    close(value, wanted_value, tolerance)
    close(change, wanted, tolerance)
    found = jvp(grad(loss, wrt=wrt), wrt=wrt)(*arrays, tangent=along)[1]
    products = torch.autograd.functional.hvp(same, tensors, directions)[1]
    for mine, each in zip(found if isinstance(found, tuple) else (found,), products, strict=True):
        close(mine, each, tolerance)


def close(found: Any, wanted: Any, tolerance: float) -> None:
    truth = wanted.detach().numpy()
    assert np.shape(found) == truth.shape
    assert np.abs(found - truth).max() <= tolerance * max(1.0, np.abs(truth).max())


@pytest.mark.parametrize("name", IN_DOUBLE)
def test_second_order_in_double_precision(name: str) -> None:
    check(IN_DOUBLE[name], np.float64, 1e-9)


@pytest.mark.parametrize("name", IN_SINGLE)
def test_second_order_in_single_precision(name: str) -> None:
    check(IN_SINGLE[name], np.float32, 1e-4)
