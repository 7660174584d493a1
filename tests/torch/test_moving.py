"""Operators that move, create and index elements: as torch does them, for the sizes of the example and for others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("onnxruntime")
from torch.nn import functional  # noqa: E402  # torch may be missing

from tests.torch.agreement import check  # noqa: E402

NAN = float("nan")


class Called(torch.nn.Module):
    """A function of its arguments."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *args):
        return self.function(*args)


def agrees(function: Callable[..., Any], *args: Any, others: Any = (), **options: Any) -> Any:
    """Export a function with every dimension of its arguments dynamic if it is also run on others."""
    if others:
        automatic = torch.export.Dim.AUTO
        options["dynamic_shapes"] = (
            tuple({k: automatic for k, size in enumerate(each.shape) if size != 1} for each in args),
        )
    return check(Called(function), *args, others=others, **options)


def normal(*shape: int) -> Any:
    return torch.randn(shape)


def below(limit: int, *shape: int) -> Any:
    return torch.randint(0, limit, shape)


# -- writing ---------------------------------------------------------------------------------------------


def test_scatter_add_of_scalars():
    agrees(lambda x, i, s: x.scatter_add(0, i, s), torch.tensor(1.0), torch.tensor(0), torch.tensor(2.0))


def test_scatter_takes_part_of_a_larger_source():
    agrees(
        lambda x, i, s: x.scatter_add(1, i, s),
        *(normal(4, 5), below(5, 3, 4), normal(3, 5)),
        others=[(normal(6, 7), below(7, 4, 5), normal(4, 6))],
    )


@pytest.mark.parametrize("reduce", ["sum", "prod", "mean", "amax", "amin"])
@pytest.mark.parametrize("include_self", [True, False])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.int64])
def test_scatter_reduce(reduce: str, include_self: bool, dtype: Any):
    x, source = (torch.randint(-9, 9, (size, 5)).to(dtype) for size in (4, 6))
    agrees(
        lambda x, i, s: x.scatter_reduce(0, i, s, reduce, include_self=include_self),
        *(x, below(4, 6, 5), source),
        tolerance=1e-2 if dtype is torch.float16 else 1e-5,
    )


@pytest.mark.parametrize("reduce", ["amax", "amin"])
def test_scatter_reduce_keeps_nan(reduce: str):
    x, source = torch.tensor([1, NAN, 1, 1]), torch.tensor([NAN, 1, 2, 0])
    agrees(lambda x, i, s: x.scatter_reduce(0, i, s, reduce), x, torch.tensor([0, 1, 2, 3]), source)


@pytest.mark.parametrize("dim", [0, 1, -1])
def test_index_add_copy_and_fill(dim: int):
    def function(x, i, s):
        return x.index_add(dim, i, s, alpha=2), x.index_copy(dim, i, s), x.index_fill(dim, i, 3.5)

    agrees(
        function,
        *(normal(4, 4, 4), torch.randperm(4), normal(4, 4, 4)),
        others=[(normal(5, 5, 5), torch.randperm(5), normal(5, 5, 5))],
    )


def test_index_put_on_the_last_dimension():
    def function(x, v, i):
        y = x.clone()
        y[..., i] = v
        return y

    places = torch.tensor([1, -1])
    agrees(
        function,
        normal(3, 4, 5),
        normal(3, 4, 2),
        places,
        others=[(normal(4, 5, 6), normal(4, 5, 2), places)],
    )


@pytest.mark.parametrize("order", ["apart", "together"])
def test_index_put_on_two_dimensions(order: str):
    def function(x, v, i, j):
        given = [i, None, j] if order == "apart" else [None, i, j]
        return torch.ops.aten.index_put(x, given, v, True)

    agrees(
        function,
        *(normal(4, 4, 4), normal(4, 4), below(4, 4), below(4, 4)),
        others=[(normal(5, 5, 5), normal(5, 5), below(5, 5), below(5, 5))],
    )


def test_a_mask_chooses_what_is_written():
    def function(x, m, v):
        y = x.clone()
        y[m] = 0.5
        return y, torch.ops.aten.index_put(x, [None, m[0]], v)

    others = [(normal(5, 6), normal(5, 6) > 0, normal(5, 1))]
    model = agrees(function, normal(3, 4), normal(3, 4) > 0, normal(3, 1), others=others)
    assert {"ScatterND", "NonZero"}.isdisjoint(each.op_type for each in model.ir.graph)


def test_masked_scatter():
    agrees(
        lambda x, m, s: (x.masked_scatter(m, s), x.masked_scatter(m[0], s)),
        *(normal(3, 4), normal(3, 4) > 0, normal(12)),
        others=[(normal(5, 6), normal(5, 6) > 0, normal(30))],
    )


# -- reading ---------------------------------------------------------------------------------------------


def test_index_tensors_stand_in_their_place():
    def function(x, i, j):
        return x[:, i, j], x[i, :, j], x[None, i, ..., None], x[:, -i - 1]

    agrees(
        function,
        *(normal(4, 4, 4, 5), below(4, 2, 1), below(4, 3)),
        others=[(normal(5, 6, 7, 8), below(5, 3, 1), below(5, 2))],
    )


def test_what_masks_select():
    def function(x, m):
        return x[m], x.masked_select(m), x[:, m[0]], x.masked_select(m[:1]).reshape(-1, 1).expand(-1, 2)

    agrees(function, normal(3, 4), normal(3, 4) > 0, others=[(normal(5, 6), normal(5, 6) > 0)])


def test_nonzero_sees_the_smallest_numbers():
    agrees(lambda x: x.nonzero(), torch.tensor([1e-300, 0.0, NAN], dtype=torch.float64))
    agrees(lambda x: x.nonzero(), torch.tensor(3.0))
    agrees(lambda x: torch.nonzero_static(x, size=3), torch.tensor([0, 1, 0, 2]))


def test_repeat_interleave():
    def function(x, r):
        return (
            x.repeat_interleave(3, 1),
            x.repeat_interleave(r, 0),
            torch.repeat_interleave(x, r, dim=0, output_size=5),
        )

    agrees(
        function,
        *(normal(3, 4), torch.tensor([2, 0, 3])),
        others=[(normal(4, 6), torch.tensor([0, 1, 1, 3]))],
    )


# -- views -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("offset", [-1, 0, 2])
def test_diagonals(offset: int):
    def function(x):
        part = x.diagonal(offset, 0, 2)
        return (
            part,
            torch.diagonal_scatter(x, part * 2, offset, 0, 2),
            torch.diag_embed(x, offset, 0, -1),
            torch.diag(x[0], offset),
            torch.diag(x[0, 0], offset),
            x[0].trace(),
        )

    agrees(function, normal(4, 3, 5), others=[(normal(6, 4, 7),)])


def test_unfold_and_roll():
    def function(x):
        return x.unfold(1, 3, 2), x.roll((1, -2), (0, 1)), x.roll(9, 1), x.roll(3)

    agrees(function, normal(3, 7, 2), others=[(normal(4, 10, 3),)])


def test_strides_are_those_of_memory():
    agrees(lambda x: x.t().as_strided((2, 3), (1, 2), 1), normal(4, 5))
    agrees(lambda x, s: torch.as_strided_scatter(x, s, (2, 3), (1, 2), 1), normal(4, 5), normal(2, 3))
    agrees(
        lambda x: x.as_strided((x.shape[0], 2), (x.shape[1], 1), 1), normal(4, 5), others=[(normal(6, 7),)]
    )


@pytest.mark.parametrize("mode", ["constant", "reflect", "replicate", "circular"])
@pytest.mark.parametrize("pad", [(1, 2), (2, 1, 1, 0), (-1, 2), (-2, 2, 1, -1), (-3, 3)])
@pytest.mark.parametrize("opset_version", [18, None])
def test_padding(mode: str, pad: tuple[int, ...], opset_version: int | None):
    if (mode, pad) == ("circular", (-3, 3)):
        pad = (-2, 3)  # torch comes round at most once
    rank = 2 + len(pad) // 2
    agrees(
        lambda x: functional.pad(x, pad, mode=mode),
        normal(2, 3, 5, 6)[4 - rank :].clone() if rank == 4 else normal(3, 5, 6),
        others=[(normal(3, 4, 7, 8) if rank == 4 else normal(2, 6, 9),)],
        opset_version=opset_version,
    )


# -- numbers in a row ------------------------------------------------------------------------------------


def test_ends_of_a_row_that_the_model_computes():
    def function(x):
        n = x.shape[0]
        return torch.linspace(-1, n, 5), torch.arange(n, 0, -1), torch.arange(0.5, n, 0.25), torch.eye(n, 3)

    agrees(function, normal(4), others=[(normal(7),)])


def test_indices_of_triangles():
    agrees(lambda x: (torch.tril_indices(3, 5, 1) + x, torch.triu_indices(4, 3, -1) + x), torch.tensor(0))


# -- products --------------------------------------------------------------------------------------------

EQUATIONS = {
    "...ij,...jk->...ik": ([(2, 1, 3, 4), (5, 4, 6)], [(3, 1, 4, 5), (6, 5, 7)]),
    "...ij,jk->i...k": ([(2, 3, 4), (4, 5)], [(3, 4, 5), (5, 6)]),
    "bhqd,bhkd->bhqk": ([(2, 3, 4, 5), (2, 3, 6, 5)], [(3, 4, 5, 6), (3, 4, 7, 6)]),
    "bcd,bed": ([(2, 3, 4), (2, 5, 4)], [(3, 4, 5), (3, 6, 5)]),
    "be,bb": ([(3, 2), (3, 3)], [(4, 3), (4, 4)]),
    "ij,jk,kl->li": ([(2, 3), (3, 4), (4, 5)], [(3, 4), (4, 5), (5, 6)]),
    "abc,bad->cd": ([(2, 3, 4), (3, 2, 5)], [(3, 4, 5), (4, 3, 6)]),
    "i...->...": ([(2, 3, 4)], [(3, 4, 5)]),
}


@pytest.mark.parametrize("equation", EQUATIONS)
def test_einsum(equation: str):
    shapes, other_shapes = EQUATIONS[equation]
    agrees(
        lambda *tensors: torch.einsum(equation, *tensors),
        *(normal(*each) for each in shapes),
        others=[tuple(normal(*each) for each in other_shapes)],
        tolerance=1e-4,
    )


def test_einsum_broadcasts_sizes_of_one():
    agrees(lambda x, y: torch.einsum("ab,bc->ac", x, y), normal(2, 1), normal(3, 4))


def test_a_transposed_matrix_times_a_vector():
    """ONNX Runtime would take the transposition into the product, and err."""
    agrees(lambda x, v: (x.t() @ v, torch.mv(x.t(), v), v @ x), normal(3, 2), normal(3), tolerance=1e-4)


def test_a_bias_that_counts_for_nothing():
    def function(b, x, y):
        return torch.addmm(b, x, y, beta=0, alpha=2), torch.addmv(b, x, y[:, 0], beta=0)

    model = agrees(function, torch.full((3,), NAN), normal(3, 3), normal(3, 3))
    assert not np.isnan(np.asarray(model(*(np.ones(s, np.float32) for s in ((3,), (3, 3), (3, 3))))[0])).any()


def test_complex_tensors_made_from_nothing():
    def function(x):
        z = torch.complex(x, x)
        return torch.view_as_real(torch.full_like(z, 1 + 2j) + torch.zeros(3, dtype=torch.complex64))

    agrees(function, normal(3))
