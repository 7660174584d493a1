"""Modules in training whose gradients end or change in ways that a graph of torch does not show by itself."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional as F

from onnxsmith.errors import ExportError, UnknownNameError, UnreachedError
from onnxsmith.torch import export
from tests.torch.autograd_functions import Doubled
from tests.torch.training_gradients import judged
from tests.torch.training_parts import MORE_PARTS, NO_MODEL

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")
#: The loss of a module, from the module and its input.
Loss = Callable[["Net", torch.Tensor], torch.Tensor]


@pytest.mark.parametrize("kind", MORE_PARTS)
def test_parts(kind: str) -> None:
    verdict = judged(7, [kind])
    # torch.export loses no_grad around a branch, and the derivative of a loop.
    lost = ("branch_without_gradient", "gradient_through_scan")
    assert verdict.kind == ("refused" if kind in (*lost, *NO_MODEL) else "equal"), verdict


class Net(nn.Module):
    kept: torch.Tensor

    def __init__(self, loss: Loss) -> None:
        super().__init__()
        self.loss = loss
        self.w = nn.Parameter(torch.tensor([1.0, 2.0, 3.0]))
        self.v = nn.Parameter(torch.tensor([0.5, -0.5, 1.0]))
        self.lin = nn.Linear(3, 3)
        self.bn = nn.BatchNorm1d(3)
        self.register_buffer("kept", torch.tensor([1.0, 1.0, 2.0]))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.loss(self, x)


def _made(loss: Loss) -> Net:
    torch.manual_seed(0)
    return Net(loss).train()


def assert_same_gradients(loss: Loss) -> None:
    """Compare all gradients of a module with torch's; what torch gives none is not reached."""
    theirs, ours = _made(loss), _made(loss)
    x = torch.randn(4, 3, requires_grad=True)
    result = theirs(x)
    result.backward()
    model = export(ours, (x.detach().clone().requires_grad_(),))
    of = model.outputs[0].name
    leaves = {**dict(theirs.named_parameters()), model.inputs[0].name: x}
    reached = {name: each.grad for name, each in leaves.items() if each.grad is not None}
    got = model.gradient(of=of, wrt=list(reached))(x.detach().numpy())
    np.testing.assert_allclose(got[0], result.detach(), rtol=1e-4)
    for (name, wanted), gradient in zip(reached.items(), got[1:], strict=True):
        np.testing.assert_allclose(gradient, wanted, rtol=1e-3, atol=1e-4, err_msg=name)
    for name in leaves.keys() - reached.keys():
        with pytest.raises((UnknownNameError, UnreachedError)):
            model.gradient(of=of, wrt=[name])


def _decomposed(net: Net, x: torch.Tensor) -> torch.Tensor:
    with torch.no_grad():
        singular = torch.linalg.svd(x * net.w, full_matrices=False).S
        upper = torch.linalg.qr(x * net.w).R
    return (singular * net.v).sum() + (upper * net.v).sum()


def _taught(net: Net, x: torch.Tensor) -> torch.Tensor:
    with torch.no_grad():
        wanted = net.bn(net.lin(x))
    return F.mse_loss(x * net.w, wanted)


def _mean_read(net: Net, x: torch.Tensor) -> torch.Tensor:
    return (net.bn(x * net.w) ** 3).sum() + (net.bn.running_mean * net.w).sum()


def _variance_read(net: Net, x: torch.Tensor) -> torch.Tensor:
    return (net.bn(x * net.w) ** 3).sum() + (net.bn.running_var * net.w).sum()


def _in_use_after_training(net: Net, x: torch.Tensor) -> torch.Tensor:
    y = x * net.w
    net.bn(y)
    net.bn.eval()
    z = net.bn(y)
    net.bn.train()
    return (z**3).sum()


def _instances(net: Net, x: torch.Tensor) -> torch.Tensor:
    mean, variance = torch.zeros(3), torch.ones(3)
    y = F.instance_norm(
        (x * net.w)[:, :, None] * torch.tensor([1.0, 2.0, 4.0]), mean, variance, net.v, net.w, True, 0.5
    )
    return (y.sum(-1) * mean).sum() + (variance * net.v).sum()


def _kept_gradient(net: Net, x: torch.Tensor) -> torch.Tensor:
    net.kept.copy_((x * net.v).mean(0))
    with torch.no_grad():
        net.kept.mul_(3.0)
    return (net.kept * net.w * x).sum()


def _kept_gradient_of_view(net: Net, x: torch.Tensor) -> torch.Tensor:
    net.kept[:2] = (x * net.v).mean(0)[:2]
    with torch.no_grad():
        net.kept.mul_(3.0)
    return (net.kept * net.w * x).sum()


@pytest.mark.parametrize(
    "loss",
    [
        _decomposed,
        _taught,
        _mean_read,
        _variance_read,
        _in_use_after_training,
        _instances,
        _kept_gradient,
        _kept_gradient_of_view,
    ],
)
def test_gradients_are_torchs(loss: Loss) -> None:
    assert_same_gradients(loss)


def test_a_detached_buffer_that_is_written_and_read_is_refused() -> None:
    def loss(net: Net, x: torch.Tensor) -> torch.Tensor:
        alias = net.kept.detach()
        alias.copy_((x * net.v).mean(0))
        return (alias * net.kept * x).sum()

    with pytest.raises(ExportError, match="shares memory that is written to"):
        export(_made(loss), (torch.randn(4, 3),))


def _of_node(net: Net, x: torch.Tensor) -> torch.Tensor:
    y = x * net.w
    assert y.grad_fn is not None
    y.grad_fn.register_hook(lambda before, after: tuple(None if g is None else g * 3 for g in before))
    return y.sum()


def _before_node(net: Net, x: torch.Tensor) -> torch.Tensor:
    y = x * net.w
    assert y.grad_fn is not None
    y.grad_fn.register_prehook(lambda after: (after[0] * 3,))
    return y.sum()


def _of_several(net: Net, x: torch.Tensor) -> torch.Tensor:
    y = x * net.w
    z = y * net.v
    torch.autograd.graph.register_multi_grad_hook((y, z), lambda gradients: None)
    return z.sum()


def _backward_inside(net: Net, x: torch.Tensor) -> torch.Tensor:
    y = x * net.w
    y.retain_grad()
    y.pow(2).sum().backward(retain_graph=True)
    assert y.grad is not None
    return (y.grad * net.v).sum()


@pytest.mark.parametrize(
    ("loss", "what"),
    [
        (_of_node, "a hook of a node of autograd"),
        (_before_node, "a hook of a node of autograd"),
        (_of_several, "a hook of several tensors"),
        (_backward_inside, "a call of backward in forward"),
    ],
)
def test_what_a_model_has_no_place_for_is_refused_at_its_line(loss: Loss, what: str) -> None:
    with pytest.raises(ExportError, match=what) as caught:
        export(_made(loss), (torch.randn(4, 3),))
    assert f"in {loss.__name__}" in str(caught.value)


def test_a_node_of_autograd_can_be_read() -> None:
    def loss(net: Net, x: torch.Tensor) -> torch.Tensor:
        y = x * net.w
        return y.sum() * (2.0 if y.grad_fn is not None and y.grad_fn.name() == "MulBackward0" else 1.0)

    assert_same_gradients(loss)


def _function_in_branch(net: Net, x: torch.Tensor) -> torch.Tensor:
    return torch.cond(x.sum() > 0, lambda y: Doubled.apply(y), torch.sin, (x * net.w,)).sum()


def _branch_without_gradient(net: Net, x: torch.Tensor) -> torch.Tensor:
    with torch.no_grad():
        y = torch.cond(x.sum() > 0, torch.cos, torch.sin, (x * net.w,))
    return (y * net.w).sum()


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("loss", [_function_in_branch, _branch_without_gradient])
def test_strict_exports_lose_no_gradient(loss: Loss) -> None:
    with pytest.raises(ExportError, match="the gradient of a model cannot have"):
        export(_made(loss), (torch.randn(4, 3),), strict=True)


def test_a_hook_in_the_gradient_of_a_gradient() -> None:
    def loss(net: Net, x: torch.Tensor) -> torch.Tensor:
        y = x * net.w
        y.register_hook(lambda g: g * 3)
        (g,) = torch.autograd.grad((y**3).sum(), net.w, create_graph=True)
        return (g * net.v * net.w).sum()

    assert_same_gradients(loss)


def test_hooks_read_what_later_lines_compute() -> None:
    def loss(net: Net, x: torch.Tensor) -> torch.Tensor:
        y = x * net.w
        state = {"factor": torch.ones(3)}
        y.register_hook(lambda g: g * state["factor"])
        z = (y * net.v).sin()
        z.register_hook(lambda g: g + state["factor"])
        u = (z * net.v).cos()
        state["factor"] = (u.detach() * net.w).mean(0)
        return (u * y).sum()

    assert_same_gradients(loss)


def test_a_hook_that_reads_what_is_written_to_is_refused() -> None:
    def loss(net: Net, x: torch.Tensor) -> torch.Tensor:
        y = x * net.w
        scale = x.detach() * 2
        y.register_hook(lambda g: g * scale)
        scale.add_(1)
        return (y * net.v).sum()

    with pytest.raises(ExportError, match="reads what is written to in place"):
        export(_made(loss), (torch.randn(4, 3),))
