"""Where torch computes in whole numbers or truth values, models do: wrapped around, cut off and rounded alike."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("onnxruntime")
from torch import nn  # noqa: E402  # torch may be missing
from torch.nn import functional as F  # noqa: E402

from tests.torch.agreement import check  # noqa: E402


class Call(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *args):
        return self.function(*args)


BYTES = torch.tensor([[200, 3, 77, 0, 255], [5, 128, 9, 250, 1]], dtype=torch.uint8)
MORE = torch.tensor([[100, 250, 78, 1, 3], [6, 127, 200, 255, 0]], dtype=torch.uint8)
THIRD = torch.tensor([[1, 2, 255, 9, 100], [30, 200, 1, 1, 7]], dtype=torch.uint8)
YES = torch.tensor([True, False, True, False])
NO = torch.tensor([True, True, False, False])
SIGNS = torch.tensor([1, -1])

CASES = {
    "truths, scaled by false": (lambda x, y: torch.add(x, y, alpha=False), YES, NO),
    "truths, scaled by true": (lambda x, y: torch.add(x, y, alpha=True), YES, NO),
    "a truth, scaled by false": (lambda x: torch.add(x, True, alpha=False), YES),
    "distance": (lambda x, y: F.pairwise_distance(x, y), BYTES, MORE),
    "distance of ints": (lambda x, y: F.pairwise_distance(x.int(), y.int(), p=1.0), BYTES, MORE),
    "distance of both": (lambda x, y: F.pairwise_distance(x, y.float()), BYTES, MORE),
    "ranking": (lambda x, y, t: F.margin_ranking_loss(x, y, t), BYTES, MORE, THIRD),
    "ranking, margin": (lambda x, y, t: F.margin_ranking_loss(x, y, t, margin=0.5), BYTES, MORE, THIRD),
    "ranking of ints": (lambda x, y: F.margin_ranking_loss(x.int(), y.int(), SIGNS[:, None]), BYTES, MORE),
    "triplets": (lambda x, y, z: F.triplet_margin_with_distance_loss(x, y, z), BYTES, MORE, THIRD),
    "cosine": (lambda x, y: F.cosine_embedding_loss(x, y, SIGNS), BYTES, MORE),
    "cosine of truths": (lambda x, y: F.cosine_embedding_loss(x > 127, y > 127, SIGNS), BYTES, MORE),
    "cosine, truths as targets": (lambda x, y: F.cosine_embedding_loss(x, y, SIGNS > 0), BYTES, MORE),
    "hinge": (lambda x, y: F.hinge_embedding_loss(x, y, reduction="sum"), BYTES, MORE),
}


@pytest.mark.parametrize("case", CASES)
def test_operands_keep_their_type(case):
    function, *args = CASES[case]
    check(Call(function), *args)


@pytest.mark.parametrize("step", [(1, 10, 2.5), (5, 0, -1.5), (0.3, 7.9, 1.7), (-2.5, 2.5, 1), (0, 6, 1.0)])
@pytest.mark.parametrize("dtype", [torch.int64, torch.uint8, torch.float32])
def test_ranges_with_fractions(step, dtype):
    check(Call(lambda x: x + torch.arange(*step, dtype=dtype)), torch.zeros(1, dtype=dtype))


@pytest.mark.parametrize(("beta", "alpha"), [(2.0, 3.0), (0.0, 1.0), (1.0, 2.0), (0.5, 0)])
@pytest.mark.parametrize("inner", [0, 2])
def test_products_over_nothing(beta, alpha, inner):
    module = Call(lambda bias, x, y: torch.addmm(bias, x, y, beta=beta, alpha=alpha))
    check(module, torch.randn(3, 4), torch.randn(3, inner), torch.randn(inner, 4))
    if inner:
        shapes = {"args": (None, {1: "n"}, {0: "n"})}
        other = (torch.randn(3, 4), torch.randn(3, 0), torch.randn(0, 4))
        example = (torch.randn(3, 4), torch.randn(3, 5), torch.randn(5, 4))
        check(module, *example, others=[other], dynamic_shapes=shapes)


@pytest.mark.parametrize("mode", ["bilinear", "bicubic"])
@pytest.mark.parametrize(
    "options",
    [
        {"size": (40, 17)},
        {"scale_factor": (1.5, 2.7)},
        {"size": (41, 53), "antialias": True},
        {"scale_factor": 2},
    ],
)
@pytest.mark.parametrize("aligned", [False, True])
def test_images_of_bytes(mode, options, aligned):
    generator = torch.Generator().manual_seed(5)
    image = torch.randint(0, 256, (2, 3, 23, 31), dtype=torch.uint8, generator=generator)
    check(Call(lambda x: F.interpolate(x, mode=mode, align_corners=aligned, **options)), image, tolerance=0)
