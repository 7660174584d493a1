"""`torch.func.jvp` inside a module, and what stays entered of it where an export fails."""

from __future__ import annotations

import pytest
import torch
from torch._higher_order_ops.scan import scan
from torch.nn import functional as F

from onnxsmith.errors import ExportError
from onnxsmith.torch import export
from tests.torch.function_agreement import Function, agree

pytestmark = pytest.mark.filterwarnings("ignore")
#: Functions that torch makes of others, whose derivatives it loses where it keeps them whole.
COMPOSITES = {
    "softmax": lambda x: x.softmax(1),
    "pad": lambda x: F.pad(x, (0, 0, 1, 1)),
    "where": lambda x: torch.where(x > 0, x, 0.0),
    "layer_norm": lambda x: F.layer_norm(x, (4,)),
    "max_pool1d": lambda x: F.max_pool1d(x[None], 2),
    "std": lambda x: x.std(0),
    "einsum": lambda x: torch.einsum("ij,kj->ik", x, x),
    "inv": lambda x: torch.linalg.inv(x[:, :3] + 3 * x[:, :3].sin()),
    "rfft": lambda x: torch.fft.rfft(x).abs(),
    "diff": lambda x: x.diff(dim=0),
    "matmul": lambda x: x @ x.mT,
}


def _slope(function, x):
    """The derivative beside another term, which hides that there is none."""
    return torch.func.jvp(lambda v: v.sum() + (function(v) ** 2).sum(), (x,), (x.cos(),))[1]


@pytest.mark.parametrize("name", COMPOSITES)
def test_derivatives_of_functions_that_are_made_of_others(name):
    x = torch.randn(3, 4, generator=torch.Generator().manual_seed(1))
    agree(lambda x: _slope(COMPOSITES[name], x), x, others=[(x.flip(0),)])


def test_a_derivative_that_torch_cannot_rewrite_leaves_nothing_behind():
    def joined(x):
        return torch.func.jvp(lambda v: torch.cat([v, torch.ones(1, 4)]), (x,), (x,))[1]

    with pytest.raises(ExportError, match="cannot rewrite the program"):
        export(Function(joined).eval(), (torch.ones(3, 4),))
    assert torch.func.jvp(torch.sin, (torch.zeros(2),), (torch.ones(2),))[1].tolist() == [1, 1]
    agree(lambda x: torch.func.jvp(torch.sin, (x,), (x,))[1], torch.ones(2))


def test_a_program_with_checks_that_torch_puts_in_order():
    class Inverse(torch.nn.Module):
        def forward(self, x):
            return torch.linalg.inv(x) + 1

    x = torch.eye(3) * 2 + 0.5
    program = torch.export.export(Inverse(), (x,)).run_decompositions()
    count = len(program.graph_signature.input_specs)
    model = export(program)
    torch.testing.assert_close(torch.from_numpy(model(x.numpy())), Inverse()(x))
    assert len(program.graph_signature.input_specs) == count  # the user's program is as it was


def test_a_derivative_through_a_loop_is_refused_at_its_line():
    class Running(torch.nn.Module):
        def forward(self, x):
            with torch.enable_grad():
                x = x.detach().requires_grad_()
                rows = scan(lambda c, row: (c * 0.5 + row, c * row), x[0] * 0, x)[1]
                return torch.autograd.grad((rows * x).sum(), x)[0]

    with pytest.raises(ExportError, match="cannot trace a derivative through a loop") as caught:
        export(Running().eval(), (torch.ones(3, 4),))
    assert "test_forward_derivatives.py:" in str(caught.value)
