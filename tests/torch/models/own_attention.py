"""Transformers of one's own: encoders, decoders, variants of attention, rotary positions, caches."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tests.torch.models.catalogue import BATCH_AND_LENGTH, DYNAMIC, model, sequence


@model(sequence(16), BATCH_AND_LENGTH)
class Encoder(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        layer = nn.TransformerEncoderLayer(16, 4, 32, batch_first=True, activation="gelu")
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)

    def forward(self, x: Tensor) -> Tensor:
        return self.encoder(x)


@model(
    lambda batch, length: (torch.randn(batch, length, 16), torch.randn(batch, length + 3, 16)),
    ({0: DYNAMIC, 1: DYNAMIC}, {0: DYNAMIC, 1: DYNAMIC}),
)
class Decoder(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        layer = nn.TransformerDecoderLayer(16, 2, 32, batch_first=True, norm_first=True)
        self.decoder = nn.TransformerDecoder(layer, 2, norm=nn.LayerNorm(16))

    def forward(self, x: Tensor, memory: Tensor) -> Tensor:
        length = x.shape[1]
        mask = torch.ones(length, length, dtype=torch.bool, device=x.device).triu(1)
        return self.decoder(x, memory, tgt_mask=mask, tgt_is_causal=True)


@model(sequence(16), BATCH_AND_LENGTH)
class MultiheadWithWeights(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.attention = nn.MultiheadAttention(16, 4, batch_first=True)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        return self.attention(x, x, x, need_weights=True)


class Attention(nn.Module):
    """Scaled dot product attention in one of its forms."""

    def __init__(self, form: str) -> None:
        super().__init__()
        self.form = form
        self.queries = nn.Linear(16, 16)
        self.keys = nn.Linear(16, 8 if form == "grouped" else 16)

    def forward(self, x: Tensor) -> Tensor:
        batch, length, _ = x.shape
        q = self.queries(x).view(batch, length, 4, 4).transpose(1, 2)
        k = self.keys(x).view(batch, length, -1, 4).transpose(1, 2)
        match self.form:
            case "causal":
                y = F.scaled_dot_product_attention(q, k, k, is_causal=True)
            case "grouped":
                y = F.scaled_dot_product_attention(q, k, k, is_causal=True, enable_gqa=True)
            case "masked":
                mask = torch.arange(length) < length - 1
                y = F.scaled_dot_product_attention(q, k, k, attn_mask=mask[None, None, None], scale=0.3)
            case "biased":
                steps = torch.arange(length, dtype=x.dtype)
                y = F.scaled_dot_product_attention(q, k, k, attn_mask=-(steps[:, None] - steps).abs())
            case "flat":
                y = F.scaled_dot_product_attention(q.flatten(0, 1), k.flatten(0, 1), k.flatten(0, 1))
                y = y.unflatten(0, (batch, 4))
            case _:
                y = torch.softmax(torch.einsum("bhqd,bhkd->bhqk", q, k) / 2, -1) @ k
        return y.transpose(1, 2).flatten(2)


for _form in ("causal", "grouped", "masked", "biased", "flat", "by_hand"):
    model(sequence(16), BATCH_AND_LENGTH, name=f"attention_{_form}", arguments=(_form,))(Attention)


@model(sequence(16), BATCH_AND_LENGTH)
class RotaryReal(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("frequencies", 10_000 ** -(torch.arange(0, 16, 2) / 16))

    def forward(self, x: Tensor) -> Tensor:
        angles = torch.outer(torch.arange(x.shape[1], device=x.device).float(), self.frequencies)
        angles = torch.cat([angles, angles], -1)
        a, b = x.chunk(2, -1)
        return x * angles.cos() + torch.cat([-b, a], -1) * angles.sin()


@model(sequence(16), BATCH_AND_LENGTH)
class RotaryComplex(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        angles = torch.outer(torch.arange(64).float(), 10_000 ** -(torch.arange(0, 16, 2) / 16))
        self.register_buffer("turns", torch.polar(torch.ones_like(angles), angles))

    def forward(self, x: Tensor) -> Tensor:
        pairs = torch.view_as_complex(x.float().reshape(*x.shape[:-1], -1, 2))
        return torch.view_as_real(pairs * self.turns[: x.shape[1]]).flatten(-2).type_as(x)


@model(
    lambda batch, length: (
        torch.randn(batch, 2, 16),
        [(torch.randn(batch, 4, length, 4), torch.randn(batch, 4, length, 4)) for _ in range(2)],
    ),
    ({0: DYNAMIC}, [({0: DYNAMIC, 2: DYNAMIC}, {0: DYNAMIC, 2: DYNAMIC})] * 2),
)
class KeyValueCache(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.projections = nn.ModuleList([nn.Linear(16, 48) for _ in range(2)])

    def forward(
        self, x: Tensor, cache: list[tuple[Tensor, Tensor]]
    ) -> tuple[Tensor, list[tuple[Tensor, Tensor]]]:
        grown = []
        for projection, (keys, values) in zip(self.projections, cache, strict=True):
            q, k, v = projection(x).unflatten(-1, (3, 4, 4)).permute(2, 0, 3, 1, 4)
            keys, values = torch.cat([keys, k], 2), torch.cat([values, v], 2)
            grown.append((keys, values))
            x = x + F.scaled_dot_product_attention(q, keys, values).transpose(1, 2).flatten(2)
        return x, grown


@model(
    lambda batch, length: (torch.randn(batch, 4, 1, 4), torch.zeros(batch, 4, 16, 4), torch.tensor([length])),
    ({0: DYNAMIC}, {0: DYNAMIC}, None),
)
class StaticCache(nn.Module):
    """A cache of fixed size, written in place."""

    def forward(self, new: Tensor, cache: Tensor, place: Tensor) -> tuple[Tensor, Tensor]:
        cache = cache.index_copy(2, place, new)
        mask = torch.arange(16) <= place
        return F.scaled_dot_product_attention(new, cache, cache, attn_mask=mask[None, None, None]), cache


@model(sequence(16), BATCH_AND_LENGTH)
class LinearAttention(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.project = nn.Linear(16, 48)

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = self.project(x).split(16, -1)
        q, k = F.elu(q) + 1, F.elu(k) + 1
        summary = torch.einsum("...nd,...ne->...de", k, v)
        return torch.einsum("...nd,...de->...ne", q, summary) / (q @ k.sum(-2).unsqueeze(-1))
