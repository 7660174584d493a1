"""Models of images: convolutions, pooling, normalisation, resizing."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tests.torch.models.catalogue import BATCH, BATCH_AND_SIZE, image, image_of_fixed_size, model


@model(image(3), BATCH_AND_SIZE)
class SmallCnn(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(3, 8, 3, padding=1),
            nn.BatchNorm2d(8),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(8, 16, 3, stride=2, padding="valid"),
            nn.LeakyReLU(0.1),
            nn.AdaptiveAvgPool2d(1),
            nn.Flatten(),
            nn.Linear(16, 10),
        )

    def forward(self, x: Tensor) -> Tensor:
        return self.body(x).log_softmax(-1)


class _Residual(nn.Module):
    def __init__(self, inner: int, outer: int, stride: int) -> None:
        super().__init__()
        self.first = nn.Conv2d(inner, outer, 3, stride, 1, bias=False)
        self.norm = nn.BatchNorm2d(outer)
        self.second = nn.Conv2d(outer, outer, 3, 1, 1, bias=False)
        self.norm2 = nn.BatchNorm2d(outer)
        self.short = nn.Sequential(nn.Conv2d(inner, outer, 1, stride, bias=False), nn.BatchNorm2d(outer))

    def forward(self, x: Tensor) -> Tensor:
        y = F.relu(self.norm(self.first(x)), inplace=True)
        y = self.norm2(self.second(y))
        y += self.short(x)
        return F.relu(y)


@model(image(3), BATCH_AND_SIZE)
class ResidualNet(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Conv2d(3, 8, 7, 2, 3)
        self.pool = nn.MaxPool2d(3, 2, 1)
        self.layers = nn.Sequential(_Residual(8, 8, 1), _Residual(8, 16, 2), _Residual(16, 32, 2))
        self.head = nn.Linear(32, 5)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.layers(self.pool(self.stem(x))).mean((2, 3)))


@model(image(3), BATCH_AND_SIZE)
class UNet(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.down = nn.ModuleList([nn.Conv2d(a, b, 3, padding=1) for a, b in ((3, 8), (8, 16))])
        self.middle = nn.Conv2d(16, 32, 3, padding=1)
        self.grow = nn.ModuleList([nn.ConvTranspose2d(a, b, 2, 2) for a, b in ((32, 16), (16, 8))])
        self.up = nn.ModuleList([nn.Conv2d(a, b, 3, padding=1) for a, b in ((32, 16), (16, 8))])
        self.out = nn.Conv2d(8, 2, 1)

    def forward(self, x: Tensor) -> Tensor:
        skips = []
        for layer in self.down:
            x = F.silu(layer(x))
            skips.append(x)
            x = F.avg_pool2d(x, 2)
        x = F.silu(self.middle(x))
        for grow, up in zip(self.grow, self.up, strict=True):
            x = F.silu(up(torch.cat([grow(x), skips.pop()], 1)))
        return self.out(x)


@model(image(3), BATCH_AND_SIZE)
class DepthwiseNet(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(3, 12, 1),
            nn.Hardswish(),
            nn.Conv2d(12, 12, 5, padding=4, dilation=2, groups=12),
            nn.ReLU6(),
        )
        self.squeeze = nn.Sequential(
            nn.AdaptiveAvgPool2d(1), nn.Conv2d(12, 4, 1), nn.ReLU(), nn.Conv2d(4, 12, 1)
        )

    def forward(self, x: Tensor) -> Tensor:
        y = self.layers(x)
        return y * F.hardsigmoid(self.squeeze(y))


@model(image(4), BATCH_AND_SIZE)
class GroupNormNet(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(4, 8, 3, padding=1, padding_mode="reflect"),
            nn.GroupNorm(2, 8),
            nn.GELU(),
            nn.Conv2d(8, 8, 3, padding=1, padding_mode="circular"),
            nn.InstanceNorm2d(8, affine=True),
            nn.Mish(),
        )

    def forward(self, x: Tensor) -> Tensor:
        return self.layers(x)


@model(image(3), BATCH_AND_SIZE)
class SuperResolution(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 12, 3, padding=1)

    def forward(self, x: Tensor) -> Tensor:
        larger = F.pixel_shuffle(self.conv(x), 2)
        return larger + F.interpolate(x, scale_factor=2, mode="bicubic", align_corners=False)


@model(image(3), BATCH_AND_SIZE)
class Resizing(nn.Module):
    def forward(self, x: Tensor) -> tuple[Tensor, ...]:
        half = F.interpolate(x, scale_factor=0.5, mode="nearest")
        fixed = F.interpolate(x, size=(20, 24), mode="bilinear", align_corners=True)
        back = F.interpolate(half, size=x.shape[-2:], mode="bilinear")
        return half, fixed, back - x, F.pixel_unshuffle(x, 2)


@model(image_of_fixed_size(2), BATCH)
class Transposed(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.up = nn.ConvTranspose2d(2, 6, 3, 2, 1, output_padding=1, groups=2)
        self.up2 = nn.ConvTranspose2d(6, 2, 4, 3, dilation=2)

    def forward(self, x: Tensor) -> Tensor:
        return torch.tanh(self.up2(F.elu(self.up(x))))


@model(lambda batch, length: (torch.randn(batch, 2, 4 * length),), ({0: BATCH[0][0], 2: BATCH[0][0]},))
class Audio(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv1d(2, 4, 5, padding="same", dilation=2),
            nn.PReLU(),
            nn.AvgPool1d(2),
            nn.ConvTranspose1d(4, 3, 4, 2, 1),
            nn.Softplus(),
        )

    def forward(self, x: Tensor) -> Tensor:
        return self.layers(x)


@model(lambda batch, length: (torch.randn(batch, 1, 6, 8, 8),), ({0: BATCH[0][0]},))
class Volumes(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv3d(1, 4, 3, padding=1)
        self.norm = nn.BatchNorm3d(4)

    def forward(self, x: Tensor) -> Tensor:
        return F.adaptive_max_pool3d(self.norm(self.conv(x)), (2, 2, 2))


@model(image_of_fixed_size(3), BATCH)
class Pools(nn.Module):
    def forward(self, x: Tensor) -> tuple[Tensor, ...]:
        values, places = F.max_pool2d(x, 3, 2, return_indices=True)
        return (
            values,
            places,
            F.avg_pool2d(x, 3, 2, 1, ceil_mode=True, count_include_pad=False),
            F.avg_pool2d(x, 2, divisor_override=3),
            F.lp_pool2d(x.abs(), 2.0, 2),
            F.adaptive_avg_pool2d(x, (5, 7)),
        )


@model(image(3), BATCH_AND_SIZE)
class ConvNextBlock(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.depthwise = nn.Conv2d(3, 3, 7, padding=3, groups=3)
        self.norm = nn.LayerNorm(3)
        self.wide = nn.Linear(3, 12)
        self.narrow = nn.Linear(12, 3)
        self.scale = nn.Parameter(torch.full((3,), 0.1))

    def forward(self, x: Tensor) -> Tensor:
        y = self.norm(self.depthwise(x).permute(0, 2, 3, 1))
        y = self.narrow(F.gelu(self.wide(y), approximate="tanh")) * self.scale
        return x + y.permute(0, 3, 1, 2)


@model(image_of_fixed_size(3), BATCH)
class SpatialTransformer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.where = nn.Linear(3, 6)

    def forward(self, x: Tensor) -> Tensor:
        theta = self.where(x.mean((2, 3))).view(-1, 2, 3)
        grid = F.affine_grid(theta, [x.shape[0], 3, 10, 10], align_corners=False)
        return F.grid_sample(x, grid, padding_mode="border", align_corners=False)


@model(image(3), BATCH_AND_SIZE)
class Vae(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.encode = nn.Conv2d(3, 8, 4, 4)
        self.decode = nn.ConvTranspose2d(4, 3, 4, 4)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        mean, log_variance = self.encode(x).chunk(2, 1)
        spread = torch.exp(0.5 * log_variance.clamp(-10, 10))
        divergence = -0.5 * (1 + log_variance - mean.pow(2) - spread**2).sum((1, 2, 3))
        return self.decode(mean).sigmoid(), divergence


@model(image_of_fixed_size(3), BATCH)
class PatchMixer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.fold = nn.Linear(3 * 16, 3 * 16)

    def forward(self, x: Tensor) -> Tensor:
        columns = F.unfold(x, 4, stride=4).transpose(1, 2)
        return F.fold(self.fold(columns).transpose(1, 2), x.shape[-2:], 4, stride=4)
