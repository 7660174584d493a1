"""Models of other kinds of numbers: complex, quantised, half precision, integers; and of dense algebra."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tests.torch.models.catalogue import BATCH, BATCH_AND_LENGTH, model, sequence


@model(sequence(8), BATCH_AND_LENGTH)
class FourierMixing(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return torch.fft.fft(torch.fft.fft(x, dim=-1), dim=-2).real


@model(lambda batch, length: (torch.randn(batch, 2, 16, 16),), BATCH)
class FourierLayer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(2, 3, 5, 5, dtype=torch.complex64) * 0.3)

    def forward(self, x: Tensor) -> Tensor:
        spectrum = torch.fft.rfft2(x)
        low = torch.einsum("bixy,ioxy->boxy", spectrum[:, :, :5, :5], self.weight)
        return torch.fft.irfft2(F.pad(low, (0, 4, 0, 11)), s=(16, 16))


@model(lambda batch, length: (torch.randn(batch, 6, dtype=torch.complex64),), BATCH)
class ComplexLayer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(6, 4, dtype=torch.complex64)

    def forward(self, x: Tensor) -> tuple[Tensor, ...]:
        y = self.linear(x)
        return y * y.conj(), y.abs(), y.angle(), torch.exp(y) / (1 + y)


@model(lambda batch, length: (torch.randn(batch, 64),), BATCH)
class Spectrogram(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("window", torch.hann_window(16))

    def forward(self, x: Tensor) -> Tensor:
        spectrum = torch.stft(x, 16, 4, window=self.window, return_complex=True)
        return torch.log1p(spectrum.abs().square())


@model(sequence(8), BATCH_AND_LENGTH)
class FakeQuantised(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(8, 4)
        self.register_buffer("scales", self.linear.weight.detach().abs().amax(1) / 127)
        self.register_buffer("zeros", torch.zeros(4, dtype=torch.int32))

    def forward(self, x: Tensor) -> Tensor:
        x = torch.fake_quantize_per_tensor_affine(x, 0.05, 10, 0, 255)
        weight = torch.fake_quantize_per_channel_affine(
            self.linear.weight, self.scales, self.zeros, 0, -127, 127
        )
        return F.linear(x, weight, self.linear.bias)


@model(sequence(8), BATCH_AND_LENGTH)
class WeightOnlyQuantised(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("weight", torch.randint(-127, 128, (4, 8), dtype=torch.int8))
        self.register_buffer("scales", torch.rand(4, 1) / 50)

    def forward(self, x: Tensor) -> Tensor:
        return F.linear(x, self.weight.to(x.dtype) * self.scales)


@model(sequence(8), BATCH_AND_LENGTH)
class Quantised(nn.Module):
    """What torch's quantisation of exported programs leaves: pairs of quantise and dequantise."""

    def __init__(self) -> None:
        super().__init__()
        import torch.ao.quantization.fx._decomposed  # defines the operators

        self.operators = torch.ops.quantized_decomposed
        self.linear = nn.Linear(8, 4)
        self.register_buffer("scales", self.linear.weight.detach().abs().amax(1) / 127)
        self.register_buffer("zeros", torch.zeros(4, dtype=torch.int64))
        limits = (-127, 127, torch.int8)
        weight = self.linear.weight.detach()
        self.register_buffer(
            "weight", self.operators.quantize_per_channel(weight, self.scales, self.zeros, 0, *limits)
        )

    def forward(self, x: Tensor) -> Tensor:
        limits = (0, 255, torch.uint8)
        x = self.operators.quantize_per_tensor(x, 0.05, 10, *limits)
        x = self.operators.dequantize_per_tensor(x, 0.05, 10, *limits)
        weight = self.operators.dequantize_per_channel(
            self.weight, self.scales, self.zeros, 0, -127, 127, torch.int8
        )
        return F.linear(x, weight, self.linear.bias)


@model(lambda batch, length: (torch.randn(batch, 6, dtype=torch.bfloat16),), BATCH, tolerance=3e-2)
class BrainFloat(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(6, 8), nn.GELU(), nn.Linear(8, 3)).bfloat16()

    def forward(self, x: Tensor) -> Tensor:
        return self.layers(x).softmax(-1)


@model(lambda batch, length: (torch.randn(batch, 6, dtype=torch.float16),), BATCH, tolerance=1e-2)
class HalfPrecision(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(6, 8), nn.GELU(), nn.LayerNorm(8), nn.Linear(8, 3)).half()

    def forward(self, x: Tensor) -> Tensor:
        return self.layers(x).softmax(-1)


@model(lambda batch, length: (torch.randn(batch, 6, dtype=torch.float64),), BATCH)
class DoublePrecision(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(6, 8), nn.GELU(), nn.LayerNorm(8), nn.Linear(8, 3)).double()

    def forward(self, x: Tensor) -> Tensor:
        return self.layers(x).softmax(-1)


@model(lambda batch, length: (torch.randint(-9, 9, (batch, length)),), BATCH_AND_LENGTH)
class Integers(nn.Module):
    def forward(self, x: Tensor) -> tuple[Tensor, ...]:
        mask = x > 0
        return 1.0 - mask.int(), x // 4, x % 3, x.clamp(-2, 5), x.amax(), x << 1, x.sum(1), mask.any(1), x / 2


@model(sequence(8), BATCH_AND_LENGTH)
class Einsums(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.core = nn.Parameter(torch.randn(8, 3, 4))

    def forward(self, x: Tensor) -> tuple[Tensor, ...]:
        return (
            torch.einsum("bnd,dhk->bhnk", x, self.core),
            torch.einsum("...d,...d->...", x, x[:, :1]),
            torch.einsum("bnd,bmd->bnm", x, x).diagonal(dim1=1, dim2=2),
            torch.tensordot(x, self.core, dims=([2], [0])),
        )


@model(lambda batch, length: (torch.randn(batch, 4, 4),), BATCH)
class DenseAlgebra(nn.Module):
    def forward(self, x: Tensor) -> tuple[Tensor, ...]:
        positive = x @ x.mT + 2 * torch.eye(4)
        factor = torch.linalg.cholesky(positive)
        solved = torch.linalg.solve(positive, x)
        return (
            factor,
            solved,
            torch.linalg.inv(positive),
            torch.linalg.det(positive),
            torch.linalg.norm(x, dim=1),
        )


@model(sequence(6), BATCH_AND_LENGTH)
class OrderStatistics(nn.Module):
    def forward(self, x: Tensor) -> tuple[Tensor, ...]:
        values, places = x.topk(3, -1)
        return (
            values,
            places,
            x.sort(1, descending=True).values,
            x.std(1),
            x.var((0, 1), correction=0),
            x.logsumexp(-1),
            torch.cdist(x, x[:, :3]),
            x.cummax(1).values,
            torch.quantile(x, 0.3, dim=1),
            x.median(-1).values,
        )


@model(
    lambda batch, length: (torch.randn(3 * length, 4), torch.randint(0, 5, (3 * length,))),
    ({0: BATCH[0][0]},) * 2,
)
class GraphConvolution(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(4, 3)

    def forward(self, x: Tensor, groups: Tensor) -> tuple[Tensor, Tensor]:
        y = self.linear(x)
        places = groups[:, None].expand_as(y)
        summed = y.new_zeros(5, 3).scatter_add(0, places, y)
        return summed, y.new_zeros(5, 3).scatter_reduce(0, places, y, "amax", include_self=False)
