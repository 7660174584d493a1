"""Graphs that are chosen or repeated, and sizes that the data decides."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("onnxruntime")
from torch import nn  # noqa: E402  # torch may be missing
from torch._higher_order_ops.associative_scan import associative_scan  # noqa: E402
from torch._higher_order_ops.map import map as torch_map  # noqa: E402
from torch._higher_order_ops.scan import scan  # noqa: E402
from torch._higher_order_ops.while_loop import while_loop  # noqa: E402

from onnxsmith.torch import export  # noqa: E402
from tests.torch.agreement import check  # noqa: E402


class _WithLayer(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 3)


def _count(model, kind):
    return sum(each.op_type == kind for each in model.ir.graph.all_nodes())


def test_cond_in_cond_with_outer_values():
    class Nested(_WithLayer):
        def forward(self, x, y):
            def then(x):
                return torch.cond(y.sum() > 0, lambda x: self.layer(x), lambda x: x - y, (x,))

            return torch.cond(x.shape[0] > 3, then, lambda x: x * y, (x,))

    y = torch.ones(3)
    others = [(torch.randn(2, 3), y), (torch.randn(5, 3), -y), (torch.randn(1, 3), -y)]
    model = check(Nested(), torch.randn(4, 3), y, others=others, dynamic_shapes={"x": {0: "n"}, "y": None})
    assert _count(model, "If") == 2


def test_cond_with_several_results():
    class Several(nn.Module):
        def forward(self, x):
            def then(x):
                return {"a": x * 2, "b": (x.sum(), x > 0)}

            def otherwise(x):
                return {"a": x - 1, "b": (x.max(), x < 0)}

            result = torch.cond(x[0] > 0, then, otherwise, (x,))
            return result["a"], result["b"][0], result["b"][1]

    check(Several(), torch.ones(3), others=[(-torch.ones(3),)])


def test_cond_on_complex_values():
    class Turned(nn.Module):
        def forward(self, x):
            z = torch.view_as_complex(x)
            z = torch.cond(x.sum() > 0, lambda z: z * z, lambda z: z + 1, (z,))
            return torch.view_as_real(z)

    check(Turned(), torch.ones(3, 2), others=[(-torch.ones(3, 2),)])


def test_while_loop_with_weights_and_outer_values():
    class Repeated(_WithLayer):
        def forward(self, x, n):
            return while_loop(
                lambda i, x: i < n.sum(), lambda i, x: (i + 1, self.layer(x)), (torch.tensor(0), x)
            )

    times = torch.tensor([1, 2])
    others = [(torch.randn(2, 3), times * 0), (torch.randn(2, 3), times + 1)]
    check(Repeated(), torch.randn(2, 3), times, others=others)


def test_while_loop_over_a_python_number():
    class Counted(nn.Module):
        def forward(self, x):
            i, y = while_loop(lambda i, x: i < x.shape[0], lambda i, x: (i + 1, x * 2 + i), (0, x))
            return y, i + 1

    check(Counted(), torch.randn(4, 3), others=[(torch.randn(6, 3),)], dynamic_shapes={"x": {0: "n"}})


def test_while_loop_in_cond():
    class Inner(nn.Module):
        def forward(self, x):
            def loop(x):
                return while_loop(lambda x: x.sum() < 10, lambda x: (x + 1,), (x,))[0]

            return torch.cond(x.sum() > 0, loop, lambda x: x * 2, (x,))

    check(Inner(), torch.ones(3), others=[(-torch.ones(3),)])


def test_scan():
    class Scanned(_WithLayer):
        def forward(self, start, xs):
            return scan(lambda state, x: (torch.tanh(self.layer(state)) + x, state * x), start, xs, dim=0)

    others = [(torch.randn(3), torch.randn(2, 3))]
    model = check(
        Scanned(), torch.randn(3), torch.randn(5, 3), others=others,
        dynamic_shapes={"start": None, "xs": {0: "length"}},
    )  # fmt: skip
    assert _count(model, "Scan") == 1
    assert model.outputs[1].type.shape == ("length", 3)


@pytest.mark.parametrize("options", [{"dim": 1}, {"dim": 0, "reverse": True}])
def test_scan_along_another_dimension_or_backwards(options):
    class Scanned(nn.Module):
        def forward(self, start, xs):
            return scan(lambda state, x: (state + x["a"], state * x["b"]), start, xs, **options)

    xs = {"a": torch.randn(4, 4), "b": torch.randn(4, 4)}
    check(Scanned(), torch.randn(4), xs)


def test_map():
    class Mapped(_WithLayer):
        def forward(self, xs, y):
            return torch_map(lambda x, y: self.layer(x) + y, xs, y)

    check(
        Mapped(), torch.randn(5, 2, 3), torch.randn(3), others=[(torch.randn(2, 2, 3), torch.randn(3))],
        dynamic_shapes={"xs": {0: "n"}, "y": None},
    )  # fmt: skip


def test_associative_scan():
    class Cumulated(nn.Module):
        def forward(self, x):
            return associative_scan(lambda a, b: a * b + a, x, 0, combine_mode="generic")

    check(Cumulated(), torch.randn(5, 2))


def test_vmap():
    class Batched(_WithLayer):
        def forward(self, x):
            return torch.vmap(lambda row: self.layer(row) * row.sum())(x)

    check(Batched(), torch.randn(4, 3))


# -- sizes that the data decides -----------------------------------------------------------------------------


def test_a_size_out_of_a_tensor():
    class Sized(nn.Module):
        def forward(self, x, count):
            n = count.item()
            torch._check(n >= 2)
            torch._check(n < 100)
            return torch.zeros(n, 2) + 1, x.repeat(n), torch.arange(n - 1), n * 2

    check(Sized(), torch.randn(3), torch.tensor(4), others=[(torch.randn(3), torch.tensor(7))])


def test_sizes_of_chosen_elements_used_later():
    class Chosen(nn.Module):
        def forward(self, x):
            rows = torch.nonzero(x)
            n = rows.shape[0]
            kept = x[x > 0]
            return (
                rows.reshape(-1) + torch.arange(2 * n),
                torch.ones(kept.shape[0], 2) * kept[:, None],
                kept.view(1, -1),
                torch.cat([kept, kept]),
                kept.shape[0] + n,
            )

    x = torch.tensor([[1.0, -1.0, 0.0], [2.0, 3.0, 0.0]])
    check(Chosen(), x, others=[(torch.tensor([[1.0, 1.0, 1.0], [0.0, 3.0, 0.0]]),)])


def test_floats_out_of_a_tensor():
    class Scaled(nn.Module):
        def forward(self, x):
            factor = x.max().item()
            return x * factor, x + factor * 2

    check(Scaled(), torch.tensor([1.0, 2.0]), others=[(torch.tensor([3.0, -2.0]),)])


# -- regions -------------------------------------------------------------------------------------------------


def test_regions_without_gradients():
    class Region(_WithLayer):
        def __init__(self):
            super().__init__()
            self.register_buffer("count", torch.zeros(3))

        def forward(self, x):
            with torch.no_grad():
                self.count.add_(1)
                y = self.layer(x)
            return y + x + self.count

    module = Region()
    before = module.count.clone()
    model = check(module, torch.randn(2, 3), state={"count": before})
    assert _count(model, "If") == 0


@pytest.mark.parametrize("is_enabled", [False, True])
def test_autocast(is_enabled):
    class Region(_WithLayer):
        def forward(self, x):
            with torch.autocast("cpu", torch.bfloat16, enabled=is_enabled):
                y = self.layer(torch.relu(self.layer(x)))
            return y.float() + x

    check(Region(), torch.randn(2, 3), tolerance=5e-2 if is_enabled else 1e-5)


def test_a_branch_that_returns_its_argument_in_a_module_in_training() -> None:
    class Halved(nn.Module):
        def forward(self, x):
            return torch.cond(x.sum() > 1, lambda x: x / 2, lambda x: x, (x,))

    model = export(Halved().train(), (torch.ones(3),))
    np.testing.assert_array_equal(model(np.ones(3, np.float32)), [0.5, 0.5, 0.5])
    np.testing.assert_array_equal(model(np.zeros(3, np.float32)), [0, 0, 0])
