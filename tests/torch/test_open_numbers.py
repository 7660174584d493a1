"""Sizes as arguments that are plain numbers: a factor, a limit, an exponent that only the model knows."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("onnxruntime")
from torch import nn  # noqa: E402  # torch may be missing
from torch.nn import functional  # noqa: E402

import onnxsmith  # noqa: E402
from onnxsmith.errors import UntranslatedOperatorError  # noqa: E402


class Scaled(nn.Module):
    """A function of a tensor and of its first size."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, x):
        return self.function(x, x.shape[0])


#: Functions of `x`, of shape (n, 3), and n.
CASES = {
    "addmm, beta": lambda x, n: torch.addmm(x @ x.T, x, x.T, beta=n),
    "addmm, alpha": lambda x, n: torch.addmm(x @ x.T, x, x.T, alpha=n),
    "addmm, complex": lambda x, n: torch.addmm(x @ x.T + 0j, x + 1j, x.T + 0j, beta=n, alpha=n),
    "addmm, no inner": lambda x, n: torch.addmm(x @ x.T, x[:, :0], x.T[:0], beta=n),
    "baddbmm": lambda x, n: torch.baddbmm((x @ x.T)[None], x[None], x.T[None], beta=n, alpha=n),
    "addr": lambda x, n: torch.addr(x, x[:, 0], x[0], beta=n, alpha=n),
    "addcdiv": lambda x, n: torch.addcdiv(x, x, x.abs() + 1, value=n),
    "addcmul, complex": lambda x, n: torch.addcmul(x + 1j, x + 1j, x + 1j, value=n),
    "add, alpha": lambda x, n: torch.add(x, x, alpha=n),
    "rsub": lambda x, n: torch.rsub(x, n, alpha=n),
    "softplus": functional.softplus,
    "softplus, threshold": lambda x, n: functional.softplus(x, 1, n),
    "leaky_relu": functional.leaky_relu,
    "elu": functional.elu,
    "celu": functional.celu,
    "hardtanh": lambda x, n: functional.hardtanh(x, -n, n),
    "softshrink": functional.softshrink,
    "threshold": lambda x, n: functional.threshold(x, n, n),
    "clamp": lambda x, n: torch.clamp(x, -n, n),
    "pow": lambda x, n: x**n,
    "remainder": lambda x, n: torch.remainder(n, x.abs() + 1),
    "floor_divide": lambda x, n: x // n,
    "lerp": lambda x, n: torch.lerp(x, 2 * x, n),
    "index_add": lambda x, n: x.index_add(0, torch.tensor([0, 1]), x[:2], alpha=n),
    "masked_fill": lambda x, n: x.masked_fill(x > 0, n),
    "scatter": lambda x, n: x.scatter(0, torch.zeros(1, 3, dtype=torch.int64), n),
    "scatter of a scalar": lambda x, n: x[0, 0].scatter(0, torch.zeros((), dtype=torch.int64), n),
    "full_like": torch.full_like,
    "arange": lambda x, n: torch.arange(0, 4 * n, n) + x[0, 0],
    "linspace": lambda x, n: torch.linspace(0, n, 5) + x[0, 0],
    "shift": lambda x, n: x.to(torch.int64) << n,
    "roll": lambda x, n: torch.roll(x, n, 0),
    "multi_margin_loss": lambda x, n: functional.multi_margin_loss(
        x, torch.zeros(x.shape[0], dtype=torch.int64), margin=n
    ),
    "var, correction": lambda x, n: torch.var(x, correction=n),
}


@pytest.mark.parametrize("case", CASES)
def test_a_law_a_size_is_a_number(case):
    torch.manual_seed(0)
    x = torch.randn(4, 3)
    model = onnxsmith.torch.export(Scaled(CASES[case]), (x,), dynamic_shapes={"x": {0: "n"}}, verify=True)
    # Other sizes than the example's were compared as well.
    assert len({each.inputs for each in model.export_report.verification}) > 1


@pytest.mark.parametrize("case", ["vector_norm", "dist", "histc"])
def test_where_onnx_needs_the_number_now_that_is_the_reason(case):
    functions = {
        "vector_norm": torch.linalg.vector_norm,
        "dist": lambda x, n: torch.dist(x, 2 * x, n),
        "histc": lambda x, n: torch.histc(x, 5, min=0, max=n),
    }
    with pytest.raises(UntranslatedOperatorError) as raised:
        onnxsmith.torch.export(Scaled(functions[case]), (torch.randn(4, 3),), dynamic_shapes={"x": {0: "n"}})
    assert "a number that only the model knows, where ONNX needs it now" in str(raised.value)
    assert "test_open_numbers.py" in str(raised.value)
