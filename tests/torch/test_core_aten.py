"""Core ATen, the operators that torch's decompositions end in: each has a translation, or a decomposition with one."""

from __future__ import annotations

import tomllib
from importlib import resources
from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("onnxruntime")
from onnxsmith.torch.library.registry import COMPLEX, TRANSLATIONS  # noqa: E402  # torch may be missing
from tests.torch.function_agreement import agree  # noqa: E402
from tools import generate_torch_operators  # noqa: E402

aten = torch.ops.aten


def functional_overloads() -> list[Any]:
    """What torch tags as core and that writes to nothing."""
    found: list[Any] = []
    for name in torch._C._dispatch_get_all_op_names():
        if name.startswith("aten::"):
            packet, _, overload = name.removeprefix("aten::").partition(".")
            each = getattr(getattr(aten, packet), overload or "default")
            if torch.Tag.core in each.tags and not each._schema.is_mutable:
                found.append(each)
    return found


def _normed(x: Any) -> tuple[Any, Any]:
    """The mean of groups and what they are divided by."""
    grouped = x.reshape(2, 2, -1)
    return grouped.mean(-1), (grouped.var(-1, correction=0) + 1e-5).rsqrt()


def _sample(*shape: int) -> Any:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(sum(shape)))


_IMAGES = _sample(2, 4, 5, 6)
_POOLED, _PLACES = torch.nn.functional.max_pool2d(_IMAGES, 2, return_indices=True)
_ROWS = _sample(3, 6)

#: Those without a translation of their own, and others that torch.export does not emit: a call of each.
CALLS: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "aten._adaptive_avg_pool2d_backward.default": (
        aten._adaptive_avg_pool2d_backward,
        (_sample(2, 4, 3, 4), _IMAGES),
    ),
    "aten.avg_pool2d_backward.default": (
        lambda g, x: aten.avg_pool2d_backward(g, x, [3, 2], [2, 2], [1, 0], True, False, None),
        (_sample(2, 4, 3, 3), _IMAGES),
    ),
    "aten.embedding_dense_backward.default": (
        lambda g, i: aten.embedding_dense_backward(g, i, 7, 2, True),
        (_sample(2, 3, 4), torch.tensor([[1, 2, 3], [3, 3, 6]])),
    ),
    "aten.max_pool2d_with_indices_backward.default": (
        lambda g, x, i: aten.max_pool2d_with_indices_backward(g, x, [2, 2], [2, 2], [0, 0], [1, 1], False, i),
        (_sample(*_POOLED.shape), _IMAGES, _PLACES),
    ),
    "aten.native_group_norm.default": (
        lambda x, w, b: aten.native_group_norm(x, w, b, 2, 4, 30, 2, 1e-5),
        (_IMAGES, _sample(4), _sample(4)),
    ),
    "aten.native_group_norm_backward.default": (
        lambda g, x, m, r, w: aten.native_group_norm_backward(g, x, m, r, w, 2, 4, 30, 2, [True, True, True]),
        (_sample(2, 4, 5, 6), _IMAGES, *_normed(_IMAGES), _sample(4)),
    ),
    "aten.native_layer_norm_backward.default": (
        lambda g, x, m, r, w, b: aten.native_layer_norm_backward(g, x, [6], m, r, w, b, [True, True, True]),
        (
            *(_sample(3, 6), _ROWS, _ROWS.mean(-1, True)),
            *((_ROWS.var(-1, correction=0, keepdim=True) + 1e-5).rsqrt(), _sample(6), _sample(6)),
        ),
    ),
}


def _refused() -> dict[str, str]:
    file = resources.files("onnxsmith.torch.library") / "inexpressible.toml"
    return tomllib.loads(file.read_text(encoding="utf-8"))


def test_every_overload_is_translated_or_listed() -> None:
    found = functional_overloads()
    assert len(found) > 180
    known = {*TRANSLATIONS, *COMPLEX, *CALLS, *_refused()}
    assert not sorted(str(each) for each in found if str(each) not in known)


def test_the_page_names_every_overload() -> None:
    wanted, missing = generate_torch_operators.render()
    assert not missing
    rows = [generate_torch_operators.row(each, _refused()) for each in functional_overloads()]
    assert {each.overload for each in rows if each.way == "decomposed"} <= {*CALLS}
    assert all(f"| `{each.overload}` | {each.way} |" in wanted for each in rows)


@pytest.mark.parametrize("overload", CALLS)
def test_calls(overload: str) -> None:
    function, args = CALLS[overload]
    agree(function, *args)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize("transposed", [False, True])
def test_gradients_of_convolutions(transposed: bool, groups: int, dtype: Any) -> None:
    x = _sample(2, 4, 9, 8)
    weight = _sample(4, 6 // groups, 3, 2) if transposed else _sample(6, 4 // groups, 3, 2)
    more = [1, 0] if transposed else [0, 0]
    steps = [[2, 1], [1, 2], [1, 2], transposed, more, groups]
    result = torch.ops.aten.convolution(x, weight, None, *steps)

    def function(g: Any, x: Any, weight: Any) -> Any:
        return aten.convolution_backward(g, x, weight, [6], *steps, [True, True, True])

    args = [each.to(dtype) for each in (_sample(*result.shape), x, weight)]
    agree(function, *args, tolerance=1e-4 if dtype is torch.float32 else 1e-10)


def test_gradients_of_pools_of_any_size() -> None:
    def adaptive(g: Any, x: Any) -> Any:
        return aten._adaptive_avg_pool2d_backward(g, x)

    other = (_sample(3, 4, 3, 4), _sample(3, 4, 7, 9))
    agree(adaptive, _sample(2, 4, 3, 4), _IMAGES, dims=((0,), (0, 2, 3)), others=(other,))


def test_strides_and_offsets() -> None:
    agree(lambda x: x * x.stride(0) + x.storage_offset(), _ROWS)
    agree(lambda x: x * x.stride(0), _ROWS, dims=((0, 1),), others=((_sample(4, 5),),))


PRIMS: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "cbrt": (torch.ops.prims.cbrt, (_ROWS,)),
    "fill": (lambda x: torch.ops.prims.fill(x, 2.0), (_ROWS,)),
    "full": (
        lambda x: x + torch.ops.prims.full([3, 6], 2, dtype=x.dtype, device=x.device, requires_grad=False),
        (_ROWS,),
    ),
    "rev": (lambda x: torch.ops.prims.rev(x, [0, 1]), (_ROWS,)),
    "var": (lambda x: torch.ops.prims.var(x, [1], 1), (_ROWS,)),
    "fft_r2c": (lambda x: torch.ops.prims.fft_r2c(x, dim=[1], onesided=True), (_ROWS,)),
    "fft_c2r": (lambda x: torch.ops.prims.fft_c2r(x, dim=[1], last_dim_size=6), (torch.fft.rfft(_ROWS),)),
    "fft_c2c": (lambda x: torch.ops.prims.fft_c2c(x, dim=[1], forward=False), (torch.fft.rfft(_ROWS),)),
    "svd": (lambda x: torch.ops.prims.svd(x, full_matrices=False)[1], (_ROWS,)),
}


@pytest.mark.parametrize("name", PRIMS)
def test_primitives(name: str) -> None:
    function, args = PRIMS[name]
    agree(function, *args)
