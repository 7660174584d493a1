"""Rules against torch.autograd: values in general, ties and kinks, sizes that are open, second derivatives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from onnxsmith import FLOAT, trace
from onnxsmith import opset23 as op
from onnxsmith.grad import grad, jvp, vjp

_random = np.random.default_rng(0)


def normal(*shape: int) -> Any:
    return _random.standard_normal(shape).astype(np.float32)


#: Name: the function of ours, torch's, and the inputs, by all of which it is differentiated.
CASES: dict[str, tuple[Callable[..., Any], Callable[..., Any], list[Any]]] = {
    "add, broadcast": (lambda a, b: op.Add(a, b), torch.add, [normal(3, 1, 4), normal(2, 1)]),
    "div, broadcast": (lambda a, b: op.Div(a, b), torch.div, [normal(3, 4), normal(4)]),
    "pow": (lambda a, b: op.Pow(op.Abs(a), b), lambda a, b: torch.pow(a.abs(), b), [normal(3, 4), normal(4)]),
    "pow by a number": (lambda a: a**3.0, lambda a: a**3.0, [normal(3, 4)]),
    "matmul of vectors": (lambda a, b: op.MatMul(a, b), torch.matmul, [normal(4), normal(4)]),
    "matmul of a vector": (lambda a, b: op.MatMul(a, b), torch.matmul, [normal(4), normal(2, 4, 3)]),
    "matmul by a vector": (lambda a, b: op.MatMul(a, b), torch.matmul, [normal(2, 3, 4), normal(4)]),
    "matmul of batches": (lambda a, b: op.MatMul(a, b), torch.matmul, [normal(5, 1, 3, 4), normal(2, 4, 3)]),
    "matmul by a matrix": (lambda a, b: op.MatMul(a, b), torch.matmul, [normal(5, 2, 3, 4), normal(4, 3)]),
    "einsum": (
        lambda a, b: op.Einsum(a, b, equation="bij,bkj->bik"),
        lambda a, b: torch.einsum("bij,bkj->bik", a, b),
        [normal(2, 3, 4), normal(2, 5, 4)],
    ),
    "einsum that sums": (
        lambda a, b: op.Einsum(a, b, equation="ij,k->k"),
        lambda a, b: torch.einsum("ij,k->k", a, b),
        [normal(3, 4), normal(5)],
    ),
    "einsum of a diagonal": (
        lambda a: op.Einsum(a, equation="ii->i"),
        lambda a: torch.einsum("ii->i", a),
        [normal(4, 4)],
    ),
    "softmax": (lambda a: op.Softmax(a, axis=1), lambda a: F.softmax(a, 1), [normal(3, 4, 2)]),
    "gelu": (lambda a: op.Gelu(a), F.gelu, [normal(3, 4)]),
    "layer normalisation": (
        lambda a, w, b: op.LayerNormalization(a, w, b, axis=-1),
        lambda a, w, b: F.layer_norm(a, (4,), w, b),
        [normal(3, 4), normal(4), normal(4)],
    ),
    "convolution": (
        lambda x, w, b: op.Conv(x, w, b, strides=[2, 1], pads=[1, 0, 1, 0], dilations=[1, 2]),
        lambda x, w, b: F.conv2d(x, w, b, stride=(2, 1), padding=(1, 0), dilation=(1, 2)),
        [normal(2, 6, 8, 9), normal(4, 6, 3, 3), normal(4)],
    ),
    "convolution of few channels": (
        lambda x, w: op.Conv(x, w, strides=[2, 2]),
        lambda x, w: F.conv2d(x, w, stride=2),
        [normal(2, 3, 8, 9), normal(4, 3, 3, 3)],
    ),
    "convolution of small images": (
        lambda x, w: op.Conv(x, w, pads=[1, 1, 1, 1]),
        lambda x, w: F.conv2d(x, w, padding=1),
        [normal(3, 12, 4, 5), normal(4, 12, 3, 3)],
    ),
    "convolution of a line": (
        lambda x, w: op.Conv(x, w, strides=[3], pads=[2, 1]),
        lambda x, w: F.conv1d(F.pad(x, (2, 1)), w, stride=3),
        [normal(2, 5, 13), normal(4, 5, 4)],
    ),
    "convolution with a large window": (
        lambda x, w: op.Conv(x, w),
        F.conv2d,
        [normal(2, 5, 12, 12), normal(3, 5, 9, 9)],
    ),
    "convolution in groups": (
        lambda x, w: op.Conv(x, w, group=3, pads=[1, 1, 1, 1]),
        lambda x, w: F.conv2d(x, w, groups=3, padding=1),
        [normal(2, 6, 5, 5), normal(9, 2, 3, 3)],
    ),
    "convolution of single channels": (
        lambda x, w: op.Conv(x, w, group=4, pads=[1, 1, 1, 1], strides=[2, 2]),
        lambda x, w: F.conv2d(x, w, groups=4, padding=1, stride=2),
        [normal(2, 4, 6, 6), normal(4, 1, 3, 3)],
    ),
    "convolution of single elements": (
        lambda x, w: op.Conv(x, w, strides=[2, 2]),
        lambda x, w: F.conv2d(x, w, stride=2),
        [normal(2, 6, 5, 5), normal(4, 6, 1, 1)],
    ),
    "transposed convolution": (
        lambda x, w: op.ConvTranspose(x, w, strides=[2, 2], pads=[1, 1, 1, 1], output_padding=[1, 1]),
        lambda x, w: F.conv_transpose2d(x, w, stride=2, padding=1, output_padding=1),
        [normal(2, 6, 5, 5), normal(6, 4, 3, 3)],
    ),
    "max pooling": (
        lambda x: op.MaxPool(x, kernel_shape=[2, 2], strides=[2, 2]),
        lambda x: F.max_pool2d(x, 2),
        [normal(2, 3, 6, 6)],
    ),
    "max pooling that overlaps": (
        lambda x: op.MaxPool(x, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1]),
        lambda x: F.max_pool2d(x, 3, 2, 1),
        [normal(2, 3, 7, 7)],
    ),
    "mean pooling": (
        lambda x: op.AveragePool(x, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1], ceil_mode=1),
        lambda x: F.avg_pool2d(x, 3, 2, 1, ceil_mode=True, count_include_pad=False),
        [normal(2, 3, 6, 6)],
    ),
    "embedding": (
        lambda w: op.Gather(w, np.array([[1, 2], [1, -1]])),
        lambda w: w[torch.tensor([[1, 2], [1, -1]])],
        [normal(4, 3)],
    ),
    "gather along an axis": (
        lambda w: op.Gather(w, np.array([[1, 2], [1, -1]]), axis=1),
        lambda w: w[:, torch.tensor([[1, 2], [1, -1]])],
        [normal(2, 4, 3)],
    ),
    "slice with steps": (lambda x: x[::-2, 1:], lambda x: x.flip(0)[::2, 1:], [normal(5, 3)]),
    "reflected padding": (
        lambda x: op.Pad(x, [0, 2, 0, 1], mode="reflect"),
        lambda x: F.pad(x, (2, 1), mode="reflect"),
        [normal(2, 4)],
    ),
    "product with zeros": (
        lambda x: op.ReduceProd(x, [1], keepdims=0),
        lambda x: x.prod(1),
        [np.float32([[1, 2, 3], [1, 0, 3], [0, 0, 3]])],
    ),
    "norm": (
        lambda x: op.ReduceL2(x, [1], keepdims=0),
        lambda x: x.norm(dim=1),
        [np.float32([[3, 4], [0, 0]])],
    ),
    "cumulative sum": (
        lambda x: op.CumSum(x, np.array(1), reverse=1),
        lambda x: x.flip(1).cumsum(1).flip(1),
        [normal(2, 4)],
    ),
    "greatest": (lambda x: op.TopK(x, [2], axis=1)[0], lambda x: x.topk(2, 1)[0], [normal(3, 5)]),
    # Ties and kinks.
    "abs at 0": (lambda x: op.Abs(x), torch.abs, [np.float32([-1, 0, 1])]),
    "relu at 0": (lambda x: op.Relu(x), torch.relu, [np.float32([-1, 0, 1])]),
    "leaky relu at 0": (lambda x: op.LeakyRelu(x), F.leaky_relu, [np.float32([-1, 0, 1])]),
    "elu at 0": (lambda x: op.Elu(x), F.elu, [np.float32([-1, 0, 1])]),
    "hard swish at its ends": (lambda x: op.HardSwish(x), F.hardswish, [np.float32([-3, 0, 3])]),
    "hard sigmoid at its ends": (
        lambda x: op.HardSigmoid(x, alpha=1 / 6, beta=0.5),
        F.hardsigmoid,
        [np.float32([-4, 0, 4])],
    ),
    "clip at its bounds": (
        lambda x: op.Clip(x, -1.0, 1.0),
        lambda x: x.clamp(-1, 1),
        [np.float32([-2, -1, 0, 1, 2])],
    ),
    "sqrt at 0": (lambda x: op.Sqrt(x), torch.sqrt, [np.float32([0, 4])]),
    "maximum of equals": (lambda a, b: op.Max(a, b), torch.maximum, [np.float32([1, 2]), np.float32([1, 3])]),
    "greatest along an axis of equals": (
        lambda x: op.ReduceMax(x, [1], keepdims=0),
        lambda x: x.amax(1),
        [np.float32([[1, 2, 2], [3, 3, 3]])],
    ),
    "sign": (lambda x: op.Sign(x), torch.sign, [np.float32([-1, 0, 1])]),
    "round": (lambda x: op.Round(x), torch.round, [np.float32([-1.5, 0.5])]),
    "power of zero": (lambda a, b: op.Pow(a, b), torch.pow, [np.float32([0, 0, 2]), np.float32([2, 0, 1])]),
    "real Fourier transform": (
        lambda x: op.DFT(op.Unsqueeze(x, [-1]), None, np.array(1), onesided=1),
        lambda x: torch.view_as_real(torch.fft.rfft(x, dim=1)),
        [normal(2, 7)],
    ),
    "inverse Fourier transform, cut": (
        lambda x: op.DFT(x, np.array(5), np.array(1), inverse=1),
        lambda x: torch.view_as_real(torch.fft.ifft(torch.view_as_complex(x), n=5, dim=1)),
        [normal(2, 7, 2)],
    ),
    "short-time Fourier transform": (
        lambda x, w: op.STFT(op.Unsqueeze(x, [-1]), np.array(3), w, np.array(8)),
        lambda x, w: torch.view_as_real(
            torch.stack([torch.fft.rfft(x[:, k : k + 8] * w) for k in range(0, x.shape[1] - 7, 3)], 1)
        ),
        [normal(2, 20), normal(8)],
    ),
}


def expected(function: Callable[..., Any], arrays: list[Any], cotangent: Any) -> list[Any]:
    tensors = [torch.tensor(each, requires_grad=True) for each in arrays]
    result = function(*tensors)
    return [each.numpy() for each in torch.autograd.grad(result, tensors, torch.tensor(cotangent))]


@pytest.mark.parametrize("name", CASES)
def test_gradients(name: str) -> None:
    ours, theirs, arrays = CASES[name]
    result = theirs(*map(torch.tensor, arrays)).numpy()
    cotangent = np.random.default_rng(1).standard_normal(result.shape).astype(np.float32)
    value, found = vjp(ours, wrt=tuple(range(len(arrays))))(*arrays, cotangent=cotangent)
    np.testing.assert_allclose(value, result, rtol=1e-4, atol=1e-4)
    for mine, wanted in zip(found, expected(theirs, arrays, cotangent), strict=True):
        assert mine.shape == wanted.shape
        np.testing.assert_allclose(mine, wanted, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("name", CASES)
def test_gradients_with_open_sizes(name: str) -> None:
    ours, theirs, arrays = CASES[name]
    kinds = [
        FLOAT[tuple(f"{letter}{axis}" for axis in range(each.ndim))]
        for letter, each in zip("abc", arrays, strict=False)
    ]
    # A window is known; what it goes over need not be.
    fixed = [
        each if k and ("onv" in name) else kind
        for k, (kind, each) in enumerate(zip(kinds, arrays, strict=True))
    ]
    model = trace(lambda *given: (ours(*given) ** 2.0).sum(), *fixed)
    found = model.gradient(wrt=[each.name for each in model.inputs])(*arrays)[1:]
    wanted = expected(lambda *given: (theirs(*given) ** 2).sum(), arrays, np.float32(1))
    for mine, each in zip(found, wanted, strict=True):
        np.testing.assert_allclose(mine, each, rtol=1e-3, atol=1e-3)


#: Those that have second derivatives in torch, too.
SMOOTH = [
    name
    for name in CASES
    if not any(word in name for word in ("at ", "equals", "round", "sign", "zero", "norm", "Fourier"))
]


@pytest.mark.parametrize("name", SMOOTH)
def test_products_with_hessians_and_jacobians(name: str) -> None:
    ours, theirs, arrays = CASES[name]
    along = np.random.default_rng(2).standard_normal(arrays[0].shape).astype(np.float32)
    rest = arrays[1:]

    def loss(*given: Any) -> Any:
        return (ours(*given) ** 2.0).sum()

    def same(x: Any) -> Any:
        return (theirs(x, *map(torch.tensor, rest)) ** 2).sum()

    _, change = jvp(ours)(*arrays, tangent=along)
    _, wanted = torch.autograd.functional.jvp(
        lambda x: theirs(x, *map(torch.tensor, rest)), torch.tensor(arrays[0]), torch.tensor(along)
    )
    np.testing.assert_allclose(change, wanted.numpy(), rtol=1e-3, atol=1e-3)
    _, product = jvp(grad(loss))(*arrays, tangent=along)
    _, wanted = torch.autograd.functional.hvp(same, torch.tensor(arrays[0]), torch.tensor(along))
    np.testing.assert_allclose(product, wanted.numpy(), rtol=2e-3, atol=2e-2)


def test_what_a_mask_leaves_out_stays_zero() -> None:
    """Zero times infinity is no number; behind a mask nothing depends on such an element."""
    x = np.float32([-1, 0, 2])
    for function in (op.Log, op.Sqrt, op.Reciprocal, lambda v: op.Pow(v, 0.5), lambda v: 1.0 / v, op.Acosh):
        gradient = grad(lambda v, function=function: op.Where(v > 1.0, function(v), 0.0).sum())(x)
        assert np.isfinite(gradient).all()
        np.testing.assert_array_equal(gradient[:2], [0, 0])
        assert gradient[2] != 0
