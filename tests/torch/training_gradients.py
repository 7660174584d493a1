"""Gradients of modules in training that say something about their own gradient: they are torch's, or refused.

Each module is a chain of parts, drawn from all that `torch.nn` and `torch.autograd` have for it, on a batch of rows.
Its gradients with respect to all parameters and the input are compared, and what it writes to its buffers.
"""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint

from onnxsmith.errors import OnnxsmithError
from onnxsmith.torch import export
from tests.laws.named import Law, Verdict, verdict_on
from tests.torch.autograd_functions import Exponential, Nested, Reversed, Rounded, Several, Signed
from tests.torch.training_parts import MORE_PARTS

WIDTH = 4
#: So many times torch computes a gradient again, of inputs that are a rounding away.
_ROUNDINGS = 8
#: A part: from the weight that it has, and the rows, to rows.
Part = Callable[["Chain", torch.Tensor, torch.Tensor], torch.Tensor]
PARTS: dict[str, Part] = {**MORE_PARTS}


def _part(function: Part) -> Part:
    PARTS[function.__name__] = function
    return function


# -- torch.autograd.Function ---------------------------------------------------------------------------------


@_part
def reversed_gradient(net: Chain, w: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    return Reversed.apply(x * w, 0.5)


@_part
def saved_tensors(net: Chain, w: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    return Exponential.apply(x + w)


@_part
def several_results(net: Chain, w: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    a, b = Several.apply(x, w.expand_as(x))
    return a + b.detach() + 0.5 * b


@_part
def one_of_several_results(net: Chain, w: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    return Several.apply(x, w.expand_as(x))[1]


@_part
def result_without_gradient(net: Chain, w: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    a, sign = Signed.apply(x, w, True)
    return a + sign * w


@_part
def gradient_left_out(net: Chain, w: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    return Signed.apply(x, w, False)[0]


@_part
def rounded_straight_through(net: Chain, w: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    return Rounded.apply(x) * w


@_part
def nested_functions(net: Chain, w: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    return Nested.apply(x * w)


@_part
def function_of_constants(net: Chain, w: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    with torch.no_grad():
        y = Reversed.apply(x, 3.0)
    return y * w + x


# -- where gradients end -------------------------------------------------------------------------------------


@_part
def detach(net: Chain, w: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    return w.detach() * w * x


@_part
def detach_in_place(net: Chain, w: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    y = x * w
    return (y * 2).detach_() + y


@_part
def detached_copy(net: Chain, w: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    scale = w.detach().clone()
    scale[0] = 2.0
    return x * scale + w


@_part
def data(net: Chain, w: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    return x * w.data + w


@_part
def straight_through(net: Chain, w: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    y = x * w
    return y + (y.round() - y).detach()


@_part
def one_hot_straight_through(net: Chain, w: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    soft = (x * w).softmax(1)
    return F.one_hot(soft.argmax(1), WIDTH) - soft.detach() + soft


@_part
def no_grad(net: Chain, w: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    with torch.no_grad():
        scale = w.abs().sum() + x.mean()
    return x * w / (1 + scale.abs())


@torch.no_grad()
def _frozen(x: torch.Tensor) -> torch.Tensor:
    return x.softmax(1) * 2


@_part
def no_grad_function(net: Chain, w: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    return _frozen(x * w) + x * w


@_part
def set_grad_enabled(net: Chain, w: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    with torch.set_grad_enabled(False):
        y = x * w
    with torch.set_grad_enabled(True):
        z = y * w
    return y + z


@_part
def enable_grad_inside(net: Chain, w: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    with torch.no_grad():
        y = x * w
        with torch.enable_grad():
            z = y * w + x
        u = z * 3
    return z + u


@_part
def inference_mode(net: Chain, w: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    with torch.inference_mode():
        y = (x * w).tanh()
    return y.clone() * w + x


@_part
def write_without_gradient(net: Chain, w: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    y = x * w
    with torch.no_grad():
        y.clamp_(-1.0, 1.0)
    return y


@_part
def write_with_gradient(net: Chain, w: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    y = x * w
    y.mul_(2.0).add_(w.detach())
    return y


@_part
def view_written_with_gradient(net: Chain, w: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    y = x * w
    with torch.no_grad():
        scale = y.abs().mean()
    y[:, 0] = w[0] * 2
    return y * scale + y


@_part
def chosen_constants(net: Chain, w: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    y = x * w
    return torch.where(y > 0.2, y, y.detach())


@_part
def moving_average(net: Chain, w: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    with torch.no_grad():
        net.average.mul_(0.9).add_(x.mean(0) * 0.1)
    return x * w - net.average


@_part
def buffer_rebound(net: Chain, w: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    net.count += 1
    return x * w + net.count


@_part
def frozen_branch(net: Chain, w: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    return x * net.frozen + w


@_part
def non_differentiable(net: Chain, w: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    y = x * w
    return y + y.sign() + y.floor() + (y > 0).float()


# -- hooks ---------------------------------------------------------------------------------------------------


@_part
def hook(net: Chain, w: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    y = x * w
    y.register_hook(lambda g: g * 3)
    return y


@_part
def hook_that_clips(net: Chain, w: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    y = x * w
    z = y * 2
    y.register_hook(lambda g: g.clamp(-0.3, 0.3))
    return y + z


@_part
def two_hooks(net: Chain, w: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    y = x * w
    y.register_hook(lambda g: g * g)
    y.register_hook(lambda g: g + 1)
    return y.sin() + y


@_part
def watching_hook(net: Chain, w: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    y = x * w
    seen: list[torch.Tensor] = []
    y.register_hook(seen.append)
    return y


@_part
def hook_of_weight(net: Chain, w: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    w.register_hook(lambda g: g * 0.5)
    return x * w + w


@_part
def hook_that_reads(net: Chain, w: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    y = x * w
    scale = y.detach().abs() + 1
    y.register_hook(lambda g: g / scale)
    return y


@_part
def removed_hook(net: Chain, w: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    y = x * w
    y.register_hook(lambda g: g * 2).remove()
    return y


@_part
def saved_tensor_hooks(net: Chain, w: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t * 2, lambda t: t):
        return x * w


@_part
def frozen_in_forward(net: Chain, w: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    w.requires_grad_(False)
    y = x * w
    w.requires_grad_(True)
    return y + w


# -- gradients inside ----------------------------------------------------------------------------------------


@_part
def gradient_inside(net: Chain, w: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    (g,) = torch.autograd.grad((w.sin() * x).sum(), w, create_graph=True)
    return x * g


@_part
def checkpointed(net: Chain, w: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    return checkpoint(lambda a, b: (a * b).tanh(), x, w, use_reentrant=False)


@_part
def checkpointed_reentrant(net: Chain, w: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    return checkpoint(lambda a, b: (a * b).tanh() + b.detach(), x, w, use_reentrant=True)


# -- special points ------------------------------------------------------------------------------------------


@_part
def deviation_of_equal_values(net: Chain, w: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    return x * w + (w - w.detach() + 1).std() + torch.std_mean(x * 0, 1)[0][:, None]


@_part
def deviation(net: Chain, w: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    return x * w / (1 + x.std(0) + x.var(0, correction=0))


@_part
def zero_distance(net: Chain, w: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    y = x * w
    return y + torch.cdist(y, y.detach())[:, :1] + (y - y.detach()).norm(dim=1, keepdim=True)


@_part
def bounds(net: Chain, w: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    y = x * w
    edge = y - y.detach()
    return y + F.hardtanh(edge + 1) + F.relu6(edge) + edge.clamp(0, 1) + F.relu(edge)


@_part
def shared_extremes(net: Chain, w: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    y = x * w - (x * w).detach()
    return x + y.max() + y.amax(1, keepdim=True) + y.median()


@_part
def fake_quantised(net: Chain, w: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    y = torch.fake_quantize_per_tensor_affine(x * w, 0.05, 0, -8, 7)
    z = torch.fake_quantize_per_channel_affine(
        x, torch.full((WIDTH,), 0.1), torch.zeros(WIDTH, dtype=torch.int32), 1, -128, 127
    )
    return y + z


# -- modules of torch.nn -------------------------------------------------------------------------------------


class Ids(nn.Module):
    """Rows of a table, by ids that the input decides."""

    def __init__(self, table: nn.Module) -> None:
        super().__init__()
        self.table = table

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        ids = (x.detach() * 3).long().abs() % 5
        found = self.table(ids)
        return x + (found.mean(1) if found.dim() == 3 else found)


class Channels(nn.Module):
    """Rows as a batch of one signal for each channel."""

    def __init__(self, inner: nn.Module) -> None:
        super().__init__()
        self.inner = inner

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.inner(torch.stack([x, x * 2, x.sin()], 2)).mean(2)


def _hooked(kind: str) -> nn.Module:
    layer = nn.Linear(WIDTH, WIDTH)
    if kind == "full":
        layer.register_full_backward_hook(lambda m, before, after: (before[0] * 2,))
    elif kind == "pre":
        layer.register_full_backward_pre_hook(lambda m, after: (after[0].clamp(-0.5, 0.5),))
    elif kind == "watching":
        layer.register_full_backward_hook(lambda m, before, after: None)
    elif kind == "after":
        layer.register_full_backward_hook(lambda m, before, after: (before[0] * after[0].mean(),))
    elif kind == "parameter":
        layer.weight.register_hook(lambda g: g * 0.1)
    else:
        layer.bias.register_post_accumulate_grad_hook(lambda p: None)
    return layer


class Quantised(nn.Module):
    """Fake quantisation with fixed parameters, as a net has it after its observers are switched off."""

    def __init__(self) -> None:
        super().__init__()
        self.fake = torch.ao.quantization.FakeQuantize(
            observer=torch.ao.quantization.MovingAverageMinMaxObserver, quant_min=0, quant_max=255
        )
        self.fake(torch.linspace(-1, 2, 20))
        self.fake.disable_observer()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.fake(x)


def _shared_layers() -> nn.Module:
    layer = nn.Linear(WIDTH, WIDTH)
    return nn.Sequential(layer, nn.Tanh(), layer)


MODULES: dict[str, Callable[[], nn.Module]] = {
    "BatchNorm1d": lambda: nn.BatchNorm1d(WIDTH),
    "BatchNorm1d, momentum": lambda: nn.BatchNorm1d(WIDTH, momentum=0.4, affine=False),
    "BatchNorm1d, no statistics": lambda: nn.BatchNorm1d(WIDTH, track_running_stats=False),
    "BatchNorm1d, in use": lambda: nn.BatchNorm1d(WIDTH).eval(),
    "BatchNorm1d, channels": lambda: Channels(nn.BatchNorm1d(WIDTH)),
    "BatchNorm1d, twice": lambda: nn.Sequential(layer := nn.BatchNorm1d(WIDTH), nn.Tanh(), layer),
    "BatchNorm1d, cumulative": lambda: nn.BatchNorm1d(WIDTH, momentum=None),
    "InstanceNorm1d": lambda: Channels(nn.InstanceNorm1d(WIDTH, affine=True, track_running_stats=True)),
    "InstanceNorm1d, plain": lambda: Channels(nn.InstanceNorm1d(WIDTH)),
    "LayerNorm": lambda: nn.LayerNorm(WIDTH),
    "GroupNorm": lambda: nn.GroupNorm(2, WIDTH),
    "Embedding": lambda: Ids(nn.Embedding(5, WIDTH)),
    "Embedding, padding": lambda: Ids(nn.Embedding(5, WIDTH, padding_idx=0)),
    "Embedding, padding from the end": lambda: Ids(nn.Embedding(5, WIDTH, padding_idx=-4)),
    "Embedding, frequency": lambda: Ids(nn.Embedding(5, WIDTH, scale_grad_by_freq=True)),
    "Embedding, both": lambda: Ids(nn.Embedding(5, WIDTH, padding_idx=1, scale_grad_by_freq=True)),
    "Embedding, frozen": lambda: Ids(nn.Embedding.from_pretrained(torch.randn(5, WIDTH))),
    "Embedding, longest": lambda: Ids(nn.Embedding(5, WIDTH, max_norm=0.5)),
    "EmbeddingBag, sum": lambda: Ids(nn.EmbeddingBag(5, WIDTH, mode="sum", padding_idx=0)),
    "EmbeddingBag, mean": lambda: Ids(nn.EmbeddingBag(5, WIDTH, mode="mean", padding_idx=2)),
    "EmbeddingBag, max": lambda: Ids(nn.EmbeddingBag(5, WIDTH, mode="max")),
    "EmbeddingBag, frequency": lambda: Ids(nn.EmbeddingBag(5, WIDTH, mode="sum", scale_grad_by_freq=True)),
    "full backward hook": lambda: _hooked("full"),
    "full backward pre-hook": lambda: _hooked("pre"),
    "watching backward hook": lambda: _hooked("watching"),
    "backward hook of both gradients": lambda: _hooked("after"),
    "hook of a parameter": lambda: _hooked("parameter"),
    "hook after adding up": lambda: _hooked("post"),
    "weight_norm": lambda: torch.nn.utils.parametrizations.weight_norm(nn.Linear(WIDTH, WIDTH)),
    "spectral_norm": lambda: torch.nn.utils.parametrizations.spectral_norm(nn.Linear(WIDTH, WIDTH)),
    "orthogonal": lambda: torch.nn.utils.parametrizations.orthogonal(
        nn.Linear(WIDTH, WIDTH), orthogonal_map="cayley"
    ),
    "dropout of nothing": lambda: nn.Dropout(0.0),
    "fake quantisation": Quantised,
    "frozen layer": lambda: nn.Linear(WIDTH, WIDTH).requires_grad_(False),
    "shared layer": _shared_layers,
    "PReLU": lambda: nn.PReLU(WIDTH),
    "Hardswish": lambda: nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.Hardswish()),
}
KINDS = [*PARTS, *MODULES]


class Chain(nn.Module):
    """Parts, one behind the other, and a loss of what the last gives."""

    average: torch.Tensor
    count: torch.Tensor

    def __init__(self, kinds: Sequence[str]) -> None:
        super().__init__()
        self.kinds = list(kinds)
        self.weights = nn.ParameterList(nn.Parameter(torch.randn(WIDTH)) for _ in kinds)
        self.inner = nn.ModuleList(MODULES[each]() if each in MODULES else nn.Identity() for each in kinds)
        self.frozen = nn.Parameter(torch.randn(WIDTH), requires_grad=False)
        self.register_buffer("average", torch.randn(WIDTH))
        self.register_buffer("count", torch.zeros(()))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for kind, weight, module in zip(self.kinds, self.weights, self.inner, strict=True):
            x = PARTS[kind](self, weight, x) if kind in PARTS else module(x) + weight
        return (x * x * 0.5 + x.sin()).mean()


def drawn(seed: int) -> Iterator[tuple[int, list[str]]]:
    """Chains of one to three parts: first each part alone, then all kinds of chains."""
    order = random.Random(seed)
    alone = list(KINDS)
    order.shuffle(alone)
    for number in range(1 << 30):
        yield (
            order.randrange(1 << 30),
            [alone[number]] if number < len(alone) else order.choices(KINDS, k=order.choice((2, 2, 3))),
        )


def _made(number: int, kinds: Sequence[str]) -> Chain:
    torch.manual_seed(number)
    return Chain(kinds)


def _gradients(net: Chain, x: torch.Tensor) -> dict[str, torch.Tensor]:
    net(x).backward()
    leaves = (*net.named_parameters(), ("x", x))
    return {name: each.grad for name, each in leaves if each.grad is not None}


def judged(number: int, kinds: Sequence[str]) -> Verdict:
    """The gradients and the new state of a chain, compared with torch's."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch itself warns where it traces functions in branches
        return _judged(number, kinds)


def _judged(number: int, kinds: Sequence[str]) -> Verdict:
    text = f"Chain({list(kinds)!r}), seed {number}"
    net, twin = (_made(number, kinds) for _ in range(2))
    x = torch.randn(3, WIDTH, requires_grad=True)
    state = {name: each.clone() for name, each in twin.named_buffers()}
    gradients = _gradients(twin, x)
    exact = _gradients(_made(number, kinds).double(), x.detach().double().requires_grad_())
    try:
        model = export(net, (x,), keep_mutations=True)
        made = model.gradient(of=model.outputs[0].name, wrt=list(gradients))
    except OnnxsmithError as error:
        return Verdict("refused", f"{text}: {str(error).splitlines()[0]}")
    got = dict(zip([each.name for each in made.outputs], made(x.detach().numpy()), strict=True))
    again, wanted_again = model(x.detach().numpy()), _called_again(number, kinds, x)
    value = np.asarray(again[0] if isinstance(again, tuple) else again)
    if not np.allclose(value, wanted_again, rtol=1e-3, atol=1e-4):
        return Verdict("wrong", f"{text}: {value} where torch's next call gives {wanted_again}")
    wanted = {f"{name}_grad": each for name, each in gradients.items()}
    wanted |= {
        f"{name.replace('.', '_')}_after": each
        for name, each in twin.named_buffers()
        if not torch.equal(each, state[name])
    }
    for name, tensor in wanted.items():
        if name not in got:
            return Verdict("wrong", f"{text}: no {name}")
        theirs = tensor.numpy()
        # Twice as far as torch itself is from its result in double: a deviation of rows that are equal but for
        # rounding has any gradient.
        leaf = name.removesuffix("_grad") if name.endswith("_grad") else None
        error = 0.0 if leaf is None else np.abs(theirs - exact[leaf].numpy())
        apart, allowed = np.abs(got[name] - theirs), 2e-4 * np.abs(theirs) + 2e-5 + 2 * error
        if np.all(apart <= allowed):
            continue
        if leaf is None or not np.all(apart <= allowed + _moved(number, kinds, x, leaf, theirs)):
            return Verdict("wrong", f"{text}: {name} is {got[name].tolist()}, torch's {theirs.tolist()}")
    return Verdict("equal")


def _called_again(number: int, kinds: Sequence[str], x: torch.Tensor) -> float:
    """What a module that was called before gives from the buffers that it had: models remember nothing else."""
    net = _made(number, kinds)
    before = {name: each.clone() for name, each in net.named_buffers()}
    net(x.detach().requires_grad_())
    with torch.no_grad():
        for name, each in net.named_buffers():
            each.copy_(before[name])
    return net(x.detach().requires_grad_()).item()


def _moved(number: int, kinds: Sequence[str], x: torch.Tensor, leaf: str, theirs: Any) -> Any:
    """How far torch's own gradient moves, in float32, for inputs and weights that are a rounding away.

    Rows that are equal but for rounding (behind a normalisation) have a distance in any direction. There torch is near
    its result in double by luck alone, and other roundings say what a gradient is worth.
    """
    moved: list[Any] = []
    for draw in range(_ROUNDINGS):
        net, near = _made(number, kinds), x.detach().clone()
        noise = torch.Generator().manual_seed(draw)
        with torch.no_grad():
            for each in (near, *net.weights):
                each *= 1 + (torch.rand(each.shape, generator=noise) * 2 - 1) * torch.finfo(each.dtype).eps
        found = _gradients(net, near.requires_grad_())
        moved.append(np.nan_to_num(np.abs(found[leaf].numpy() - theirs), nan=0.0))
    return np.max(moved, axis=0)


def verdicts(seed: int) -> Iterator[Verdict]:
    for number, kinds in drawn(seed):
        yield verdict_on(f"Chain({kinds!r}), seed {number}", partial(judged, number, kinds))


LAW = Law("gradients and state of drawn modules in training are torch's, or refused", 600, verdicts)
