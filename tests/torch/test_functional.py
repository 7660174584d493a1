"""Operators of torch.nn.functional as models: what ONNX Runtime gives is what torch computes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import onnxsmith

torch = pytest.importorskip("torch")
pytest.importorskip("onnxruntime")
from torch import nn  # noqa: E402  # torch may be missing
from torch.nn import functional as F  # noqa: E402


class Function(nn.Module):
    def __init__(self, function: Any) -> None:
        super().__init__()
        self.function = function

    def forward(self, *args):
        return self.function(*args)


def check(
    function: Any, *args: Any, other: tuple[Any, ...] = (), tolerance: float = 1e-5, **options: Any
) -> Any:
    """Export, run on the example and on another, and compare with torch. A module is taken as it is."""
    module = function if isinstance(function, nn.Module) else Function(function)
    if other and "dynamic_shapes" not in options:
        auto = torch.export.Dim.AUTO
        shapes = tuple(dict.fromkeys(range(each.dim()), auto) for each in args)
        options["dynamic_shapes"] = shapes if isinstance(function, nn.Module) else (shapes,)
    model = onnxsmith.torch.export(module, args, **options)
    for given in (args, *((other,) if other else ())):
        with torch.no_grad():
            wanted = torch.utils._pytree.tree_leaves(module(*(each.clone() for each in given)))
        got = model(*(each.numpy() for each in given))
        got = got if isinstance(got, tuple) else (got,)
        for mine, theirs in zip(got, wanted, strict=True):
            assert np.asarray(mine).shape == tuple(theirs.shape)
            np.testing.assert_allclose(np.asarray(mine), theirs.numpy(), rtol=tolerance, atol=tolerance)
    return model


@pytest.fixture(autouse=True)
def _seed():
    torch.manual_seed(0)


@pytest.mark.parametrize("ceil_mode", [False, True])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.int64])
def test_divisor_of_avg_pool(ceil_mode, dtype):
    x, other = ((torch.randn(2, 3, n, 7) * 20).to(dtype) for n in (9, 12))
    check(lambda x: F.avg_pool2d(x, 3, 2, 1, ceil_mode, divisor_override=5), x, other=(other,))
    check(lambda x: F.avg_pool2d(x, 3, 2, 1, ceil_mode, count_include_pad=False), x)


def test_places_of_max_pool_and_back():
    def there_and_back(x):
        values, places = F.max_pool2d(x, 2, return_indices=True)
        return places, F.max_unpool2d(values, places, 2)

    check(there_and_back, torch.randn(2, 3, 6, 8))


@pytest.mark.parametrize("pool", [F.adaptive_avg_pool2d, lambda x, n: F.adaptive_max_pool2d(x, n, True)])
def test_uneven_adaptive_pools(pool):
    check(lambda x: pool(x, (3, 4)), torch.randn(2, 3, 7, 9))
    check(lambda x: pool(x, (3, 4)), torch.randn(2, 3, 7, 9), other=(torch.randn(3, 3, 11, 5),))


@pytest.mark.filterwarnings("ignore::onnxsmith.errors.TrainingModeWarning")
def test_batch_norm_in_training():
    class Trained(nn.Module):
        def forward(self, x, mean, variance, weight):
            return F.batch_norm(x, mean, variance, weight, None, True, 0.3, 1e-4)

    args = (torch.randn(4, 3, 5), torch.rand(3), torch.rand(3), torch.rand(3))
    check(Trained(), *args)
    check(Trained(), *args, other=(torch.randn(7, 3, 6), *args[1:]))


def test_unfold_and_fold():
    check(
        lambda x: F.unfold(x, (2, 3), 2, 1, (1, 2)), torch.randn(2, 3, 6, 9), other=(torch.randn(3, 3, 8, 7),)
    )
    check(lambda x: F.fold(x, (5, 6), (2, 3), padding=1), torch.randn(2, 12, 36))


@pytest.mark.parametrize("opset", [18, None])
@pytest.mark.parametrize("mode", ["bilinear", "bicubic"])
def test_antialiased_resizing(mode, opset):
    def resized(x):
        return F.interpolate(x, (4, 13), mode=mode, antialias=True)

    check(resized, torch.randn(1, 2, 9, 8), opset_version=opset)
    check(resized, torch.randn(2, 2, 9, 8), other=(torch.randn(3, 2, 10, 6),), opset_version=opset)


@pytest.mark.parametrize("mode", ["nearest", "nearest-exact", "bilinear", "bicubic"])
@pytest.mark.parametrize("scale", [2.0, 0.6, 1.7])
def test_scale_factors(mode, scale):
    options = {} if "nearest" in mode else {"align_corners": False}
    x = torch.randn(2, 3, 10, 9)
    check(lambda x: F.interpolate(x, scale_factor=scale, mode=mode, **options), x, tolerance=1e-4)
    check(lambda x: F.interpolate(x, scale_factor=scale, mode=mode, **options), x.double(), tolerance=1e-4)


@pytest.mark.parametrize("mask", [None, "bool", "float", "causal"])
@pytest.mark.parametrize("rank", [3, 4])
def test_attention(rank, mask):
    query, key, value = (torch.randn(*((2, 4) if rank == 4 else (2,)), n, 8) for n in (5, 6, 6))
    keep = torch.rand(5, 6) > 0.4
    keep[2] = False  # a row that is masked altogether gives zeros
    given = {"bool": keep, "float": torch.zeros(5, 6).masked_fill(~keep, -torch.inf)}.get(mask or "")

    def attend(query, key, value):
        return F.scaled_dot_product_attention(query, key, value, given, is_causal=mask == "causal")

    check(attend, query, key, value)


@pytest.mark.filterwarnings(
    "ignore:The tensor attributes self._flat_weights"
)  # of torch, about its own layers
@pytest.mark.parametrize("layer", [nn.LSTM, nn.GRU, nn.RNN])
@pytest.mark.parametrize("is_bidirectional", [False, True])
def test_recurrent_layers_over_any_time(layer, is_bidirectional):
    module = layer(5, 6, 2, bidirectional=is_bidirectional, batch_first=True).eval()
    shapes = ({0: torch.export.Dim.AUTO, 1: torch.export.Dim.AUTO},)
    x, other = torch.randn(3, 4, 5), torch.randn(2, 7, 5)
    model = check(module, x, other=(other,), tolerance=1e-4, dynamic_shapes=shapes)
    assert sum(each.op_type == layer.__name__ for each in model.ir.graph) == 2


@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
def test_embedding_bag(mode):
    indices, offsets = torch.tensor([1, 2, 4, 5, 4, 3, 2, 9]), torch.tensor([0, 4, 4, 6])
    check(
        lambda weight, i, o: F.embedding_bag(i, weight, o, mode=mode, padding_idx=4),
        torch.randn(10, 3),
        indices,
        offsets,
    )


@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
def test_cross_entropy(reduction):
    x, weight = torch.randn(4, 5, 3), torch.rand(5)
    target = torch.randint(0, 5, (4, 3))
    target[1, 1] = -100

    def loss(x, target, weight):
        return F.cross_entropy(x, target, weight, reduction=reduction, label_smoothing=0.2)

    check(loss, x, target, weight)
    check(loss, x, torch.softmax(torch.randn(4, 5, 3), 1), weight)


def test_output_padding_beyond_the_stride():
    x, weight, bias = torch.randn(2, 2, 4, 4), torch.randn(2, 2, 4, 5), torch.randn(4)

    def convolved(x, weight, bias):
        return F.conv_transpose2d(x, weight, bias, (3, 2), (1, 2), (2, 3), 2, 4)

    check(convolved, x, weight, bias, tolerance=1e-4)
    check(convolved, x.double(), weight.double(), bias.double(), tolerance=1e-10)


@pytest.mark.filterwarnings("ignore::onnxsmith.errors.TrainingModeWarning")
@pytest.mark.parametrize("opset", [21, None])
def test_random_numbers_are_of_their_distribution(opset):
    def draw(x):
        return torch.rand_like(x), torch.randn_like(x), F.dropout(torch.ones_like(x), 0.25)

    model = onnxsmith.torch.export(Function(draw), (torch.zeros(100, 200),), opset_version=opset)
    uniform, normal, kept = (np.asarray(each) for each in model(np.zeros((100, 200), np.float32)))
    assert 0 <= uniform.min() < uniform.max() < 1
    assert abs(uniform.mean() - 0.5) < 0.02
    assert abs(normal.mean()) < 0.05
    assert abs(normal.std() - 1) < 0.05
    assert abs((kept == 0).mean() - 0.25) < 0.03


@pytest.mark.parametrize(("low", "high"), [(0, 255), (-128, 127), (-8, 7)])
def test_fake_quantisation(low, high):
    check(lambda x: torch.fake_quantize_per_tensor_affine(x, 0.13, 0, low, high), torch.randn(4, 5) * 3)


@pytest.mark.parametrize("is_causal", [False, True])
@pytest.mark.parametrize("opset", [None, 18])
def test_attention_for_cpu_and_the_logarithms_of_its_weights(is_causal, opset):
    class Attending(nn.Module):
        def forward(self, q, k):
            return torch.ops.aten._scaled_dot_product_flash_attention_for_cpu(q, k, k, 0.0, is_causal)[:2]

    check(Attending(), torch.randn(2, 3, 4, 8), torch.randn(2, 3, 4, 8), opset_version=opset)
