"""Modules in training: gradients, and state that goes in and comes out, are torch's."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from onnxsmith import opset21
from onnxsmith.errors import ExportError, LossError, ModelWarning
from onnxsmith.grad import adam, initial_state, losses, sgd, training_step
from onnxsmith.torch import export
from tests.torch.training_gradients import KINDS, LAW, Chain, drawn, judged
from tests.torch.training_parts import NO_MODEL

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


def test_drawn_modules_have_torchs_gradients() -> None:
    assert LAW.wrong(0, 8) == []


@pytest.mark.parametrize(
    "kinds",
    [
        ["detach", "no_grad", "reversed_gradient", "hook_that_clips", "Embedding, both"],
        [
            "BatchNorm1d, twice",
            "moving_average",
            "write_without_gradient",
            "deviation_of_equal_values",
            "bounds",
        ],
        ["write_without_gradient", "view_written_with_gradient", "spectral_norm"],
        ["fake quantisation", "fake_quantised"],
        ["hook after adding up", "hook of a parameter"],
        ["inference_mode", "detach"],
        ["cached"],
    ],
    ids=" ".join,
)
def test_features(kinds: list[str]) -> None:
    assert judged(7, kinds).kind == "equal"


@pytest.mark.parametrize(
    ("seed", "kinds"),
    [
        (530670119, ["InstanceNorm1d", "zero_distance"]),
        (155997336, ["InstanceNorm1d, plain", "zero_distance", "detached_copy"]),
    ],
)
def test_distances_of_rows_that_are_equal_but_for_rounding(seed: int, kinds: list[str]) -> None:
    """torch's own gradients move by more than ours differ, for inputs that are a rounding away."""
    assert judged(seed, kinds).kind == "equal"


@pytest.mark.parametrize(
    "kind",
    [
        *("saved_tensor_hooks", "backward hook of both gradients"),
        *NO_MODEL,
    ],
)
def test_what_a_model_cannot_say_is_refused(kind: str) -> None:
    assert judged(7, [kind]).kind == "refused"


def _double(parameter: torch.Tensor) -> None:
    assert parameter.grad is not None
    parameter.grad.mul_(2)


def _clip(parameter: torch.Tensor) -> None:
    assert parameter.grad is not None
    parameter.grad = parameter.grad.clamp(-0.1, 0.1)


@pytest.mark.parametrize("hook", [_double, _clip])
def test_hooks_that_change_what_was_added_up(hook: Callable[[torch.Tensor], None]) -> None:
    net = nn.Sequential(nn.Linear(3, 2), nn.Linear(2, 1), nn.Flatten(0))
    net[0].weight.register_hook(lambda g: g + 1)
    net[0].weight.register_post_accumulate_grad_hook(hook)
    model = export(net, (torch.randn(1, 3),))
    x = torch.randn(1, 3)
    net(x).sum().backward()
    made = model.gradient(of=model.outputs[0].name, wrt=["0.weight"])
    np.testing.assert_allclose(made(x.numpy())[-1], net[0].weight.grad, rtol=1e-5, atol=1e-6)


def _step(parameter: torch.Tensor) -> None:
    assert parameter.grad is not None
    parameter.data.sub_(parameter.grad)


def _drop(parameter: torch.Tensor) -> None:
    parameter.grad = None


def _know(parameter: torch.Tensor) -> None:
    {}[parameter]


@pytest.mark.parametrize("hook", [_step, _drop, _know])
def test_hooks_that_do_more_with_what_was_added_up_are_refused(hook: Callable[[torch.Tensor], None]) -> None:
    net = nn.Linear(3, 2)
    net.weight.register_post_accumulate_grad_hook(hook)
    with pytest.raises(ExportError, match="does more than change `grad`"):
        export(net, (torch.randn(4, 3),))


def test_every_kind_is_drawn() -> None:
    found = {kind for _, kinds in islice(drawn(3), len(KINDS)) for kind in kinds}
    assert found == set(KINDS)


class Net(nn.Module):
    def __init__(self, function: Callable[[torch.Tensor, torch.Tensor], torch.Tensor]) -> None:
        super().__init__()
        self.function = function
        self.w = nn.Parameter(torch.tensor([1.0, 2.0, 3.0]))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.function(self.w, x).sum()


def test_the_refusal_names_the_line() -> None:
    def scaled(w: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        with torch.autograd.graph.saved_tensors_hooks(lambda t: t * 2, lambda t: t):
            return w * x

    with pytest.raises(ExportError, match="saved for the backward pass") as caught:
        export(Net(scaled).train(), (torch.ones(3),))
    assert "in scaled" in str(caught.value)


@pytest.mark.parametrize("functions", [None, "modules", "algorithms"])
def test_dynamic_sizes_and_functions(functions: str | None) -> None:
    class Doubled(torch.autograd.Function):
        @staticmethod
        def forward(ctx: object, x: torch.Tensor) -> torch.Tensor:
            return x.sum(0)

        @staticmethod
        def backward(ctx: object, g: torch.Tensor) -> torch.Tensor:
            return (g * 2).expand(5, 3) if g.dim() == 2 else g.unsqueeze(0) * 2

    class Rows(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.w = nn.Parameter(torch.randn(3))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            y = x * self.w
            y.register_hook(lambda g: g * y.shape[0])
            return (Doubled.apply(y[:1]) + y.detach().mean(0) * y.sum(0)).sum()

    net = Rows().train()
    model = export(net, (torch.randn(4, 3),), dynamic_shapes={"x": {0: "n"}}, functions=functions)  # type: ignore[arg-type]
    for count in (4, 7):
        x = torch.randn(count, 3)
        net.zero_grad()
        net(x).backward()
        assert net.w.grad is not None
        np.testing.assert_allclose(model.gradient(wrt=["w"])(x.numpy())[1], net.w.grad, rtol=1e-4)


def test_marks_are_not_in_models_for_use() -> None:
    model = export(Net(lambda w, x: w.detach() * w * x).eval(), (torch.ones(3),))
    assert not model.ir.functions


# -- state ---------------------------------------------------------------------------------------------------


def _normalised() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(3, 4, 3, bias=False), nn.BatchNorm2d(4), nn.ReLU(), nn.BatchNorm2d(4, momentum=None)
    )


def _instances() -> nn.Module:
    return nn.Sequential(nn.InstanceNorm2d(3, affine=True, track_running_stats=True), nn.Conv2d(3, 2, 1))


def _clamped() -> nn.Module:
    class Clamped(nn.Linear):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            with torch.no_grad():
                self.weight.clamp_(-0.2, 0.2)
            return super().forward(x)

    return Clamped(5, 2)


@pytest.mark.parametrize(
    ("make", "kind"),
    [(_normalised, "sgd"), (_normalised, "adam"), (_instances, "sgd"), (_clamped, "sgd")],
)
def test_steps_hand_state_on(make: Callable[[], nn.Module], kind: str) -> None:
    ours = adam(lr=0.01) if kind == "adam" else sgd(lr=0.1)
    torch.manual_seed(0)
    net = make().train()
    before = copy.deepcopy(net.state_dict())
    x = torch.randn(4, 3, 5, 5)
    model = export(net, (x,), keep_mutations=True)
    step = training_step(model, losses.squared, ours)
    state = initial_state(model, step)
    optimiser = (
        torch.optim.Adam(net.parameters(), lr=0.01)
        if kind == "adam"
        else torch.optim.SGD(net.parameters(), lr=0.1)
    )
    shape = net(x).shape
    net.load_state_dict(before)
    for k in range(2):
        given = x * (k + 1) + k
        target = torch.linspace(-2, 3, int(np.prod(shape))).reshape(shape).roll(k)
        _, *new = step(given.numpy(), target.numpy(), **state)
        state = dict(zip(state, new, strict=True))
        optimiser.zero_grad()
        ((net(given) - target) ** 2).mean().backward()
        optimiser.step()
    for name, tensor in net.state_dict().items():
        if name in state:
            np.testing.assert_allclose(state[name], tensor, rtol=2e-3, atol=2e-4)
        else:
            assert name == "0.num_batches_tracked"  # which InstanceNorm does not count
    net.load_state_dict(
        {name: torch.tensor(state[name]) for name in net.state_dict() if name in state}, strict=False
    )
    assert net.eval()(x).isfinite().all()


def test_state_that_is_not_kept_is_told() -> None:
    model = export(nn.Sequential(nn.BatchNorm1d(3), nn.Linear(3, 1)).train(), (torch.randn(4, 3),))
    assert [each.name for each in model.outputs] == ["output"]
    with pytest.warns(ModelWarning, match="keep_mutations=True"):
        training_step(model, losses.squared, sgd(lr=0.1))


def test_statistics_are_kept_by_a_given_program_too() -> None:
    from onnxsmith.torch import translate

    net = nn.BatchNorm1d(3).train()
    program = torch.export.export(net, (torch.randn(4, 3),))
    model = translate(program, keep_mutations=True)
    names = {each.name for each in model.outputs}
    assert {"running_mean_after", "running_var_after", "num_batches_tracked_after"} <= names


# -- losses --------------------------------------------------------------------------------------------------


class Both(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.a, self.b = nn.Linear(3, 2), nn.Linear(3, 1)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return self.a(x), self.b(x)


class WithLoss(Both):
    def forward(self, x: torch.Tensor, labels: torch.Tensor) -> dict[str, torch.Tensor]:  # type: ignore[override]
        y = self.a(x)
        return {"loss": nn.functional.cross_entropy(y, labels), "logits": y}


def test_a_loss_of_two_outputs() -> None:
    model = export(Both().train(), (torch.randn(4, 3),))
    step = training_step(model, lambda a, b, target: ((a - target) ** 2).mean() + (b**2).mean(), sgd(lr=0.1))
    assert [each.name for each in step.inputs[:2]] == ["x", "target"]
    with pytest.raises(LossError, match="has 2 outputs, and squared does not take these and a target"):
        training_step(model, losses.squared, sgd(lr=0.1))


def test_a_loss_that_the_model_computes() -> None:
    net = WithLoss().train()
    x, labels = torch.randn(4, 3), torch.tensor([0, 1, 1, 0])
    model = export(net, (x, labels))
    step = training_step(model, "loss", sgd(lr=0.1), weights=["a.*"])
    assert [each.name for each in step.inputs[:2]] == ["x", "labels"]
    assert "target" not in [each.name for each in step.inputs]
    state = initial_state(model, step)
    loss, *_ = step(x.numpy(), labels.numpy(), **state)
    np.testing.assert_allclose(loss, net(x, labels)["loss"].detach(), rtol=1e-5)
    with pytest.raises(LossError, match="no output 'los'"):
        training_step(model, "los", sgd(lr=0.1))


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", category=UserWarning)
        yield


@pytest.mark.parametrize(
    "kind", ["reversed_gradient", "hook", "hook of a parameter", "hook after adding up", "inference_mode"]
)
def test_strict_export_refuses_what_dynamo_drops(kind: str) -> None:
    with pytest.raises(ExportError, match="strict=True"):
        export(Chain([kind]).train(), (torch.randn(3, 4),), strict=True)


# -- custom operators ----------------------------------------------------------------------------------------


@torch.library.custom_op("onnxsmith_formulas::scaled", mutates_args=())
def _scaled(x: torch.Tensor, factor: float = 2.0, y: torch.Tensor | None = None) -> torch.Tensor:
    return x * factor if y is None else x * factor + y


@torch.library.custom_op("onnxsmith_formulas::parts", mutates_args=())
def _parts(x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    return x * y, x.sign()


@torch.library.custom_op("onnxsmith_formulas::each", mutates_args=())
def _each(xs: list[torch.Tensor], y: torch.Tensor) -> list[torch.Tensor]:
    return [x * y for x in xs]


@torch.library.custom_op("onnxsmith_formulas::bare", mutates_args=())
def _bare(x: torch.Tensor) -> torch.Tensor:
    return x * 2.0


_scaled.register_fake(lambda x, factor=2.0, y=None: torch.empty_like(x))
_parts.register_fake(lambda x, y: (torch.empty_like(x), torch.empty_like(x)))
_each.register_fake(lambda xs, y: [torch.empty_like(x) for x in xs])
_bare.register_fake(torch.empty_like)

#: Formulas that are none of the derivatives, so that it shows which of both is taken.


def _keep_scaled(ctx: Any, inputs: tuple[Any, ...], output: torch.Tensor) -> None:
    x, ctx.factor, ctx.y = inputs
    ctx.save_for_backward(x.cos(), output)


def _scaled_backward(ctx: Any, g: torch.Tensor) -> Any:
    cosine, output = ctx.saved_tensors
    return g * cosine * ctx.factor + output, None, None if ctx.y is None else g * 7.0


def _keep_parts(ctx: Any, inputs: tuple[Any, ...], output: tuple[torch.Tensor, ...]) -> None:
    ctx.mark_non_differentiable(output[1])
    ctx.save_for_backward(*inputs)


def _parts_backward(ctx: Any, g: torch.Tensor, _: Any) -> Any:
    x, y = ctx.saved_tensors
    return g * y * 3.0, (g * x).sum(0, keepdim=True)


def _keep_each(ctx: Any, inputs: tuple[Any, ...], output: list[torch.Tensor]) -> None:
    ctx.count = len(inputs[0])


def _each_backward(ctx: Any, g: list[torch.Tensor]) -> Any:
    needs = ctx.needs_input_grad[0]
    return [each * (k + 2.0) if needs[k] else None for k, each in enumerate(g)], g[0] + ctx.count * g[1]


_scaled.register_autograd(_scaled_backward, setup_context=_keep_scaled)
_parts.register_autograd(_parts_backward, setup_context=_keep_parts)
_each.register_autograd(_each_backward, setup_context=_keep_each)

#: Operators that are defined by a schema.
LIBRARY = torch.library.Library("onnxsmith_formulas", "FRAGMENT")
LIBRARY.define("named(Tensor x, *, float k=1.0) -> Tensor")
LIBRARY.impl("named", lambda x, k=1.0: x * k, "CompositeExplicitAutograd")
LIBRARY.define("kernel(Tensor x) -> Tensor")
LIBRARY.impl("kernel", lambda x: x * 2.0, "CompositeExplicitAutograd")
LIBRARY.define("composite(Tensor x) -> Tensor")


def _keep_named(ctx: Any, inputs: Any, keyword_only_inputs: dict[str, Any], output: torch.Tensor) -> None:
    ctx.k = keyword_only_inputs["k"]


torch.library.register_autograd(
    "onnxsmith_formulas::named", lambda ctx, g: g * 10.0 * ctx.k, setup_context=_keep_named, lib=LIBRARY
)


class _Ninefold(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        with torch._C._AutoDispatchBelowAutograd():
            return OPERATORS.kernel(x)

    @staticmethod
    def backward(ctx: Any, g: torch.Tensor) -> torch.Tensor:
        return g * 9.0


LIBRARY.impl("kernel", _Ninefold.apply, "Autograd")
LIBRARY.impl("composite", lambda x: _Ninefold.apply(x) + 1.0, "CompositeImplicitAutograd")
OPERATORS: Any = torch.ops.onnxsmith_formulas
TRANSLATIONS: dict[Any, Any] = {
    OPERATORS.scaled: lambda x, factor=2.0, y=None: x * factor if y is None else x * factor + y,
    OPERATORS.parts: lambda x, y: (x * y, opset21.Sign(x)),
    OPERATORS.each: lambda xs, y: [x * y for x in xs],
    OPERATORS.bare: lambda x: x * 2.0,
    OPERATORS.named: lambda x, k=1.0: x * k,
    OPERATORS.kernel: lambda x: x * 2.0,
    OPERATORS.composite: lambda x: x * 2.0 + 1.0,
}
FORMULAS: dict[str, Callable[[torch.Tensor, torch.Tensor], torch.Tensor]] = {
    "as it is": lambda w, x: _scaled(w * x),
    "by name": lambda w, x: OPERATORS.scaled.default(x=w * x, factor=3.0),
    "of two": lambda w, x: OPERATORS.scaled(w * x, y=w),
    "of one of two": lambda w, x: OPERATORS.scaled(x, 3.0, w),
    "two results": lambda w, x: sum(OPERATORS.parts(w * x, w[None])),  # type: ignore[arg-type, return-value]
    "lists": lambda w, x: sum(OPERATORS.each([x, x + w, w * x], w)),  # type: ignore[arg-type, return-value]
    "keyword-only": lambda w, x: OPERATORS.named(w * x, k=4.0) + OPERATORS.named(w),
    "one after the other": lambda w, x: OPERATORS.named(_scaled(w * x) * x),
    "without a gradient": lambda w, x: _scaled(w.detach()) * w,
}


@pytest.mark.parametrize("name", FORMULAS)
def test_the_registered_formula_of_a_custom_operator(name: str) -> None:
    net = Net(FORMULAS[name]).train()
    x = torch.tensor([[0.5, -2.0, 1.5], [1.0, 0.25, -1.0]])
    net(x).backward()
    assert net.w.grad is not None
    model = export(net, (x,), translations=TRANSLATIONS, dynamic_shapes={"x": {0: "n"}})
    np.testing.assert_allclose(model.gradient(wrt=["w"])(x.numpy())[1], net.w.grad, rtol=1e-5)
    with torch.no_grad():
        np.testing.assert_allclose(model(x.numpy()), net(x), rtol=1e-5)


def test_an_operator_without_a_formula_has_the_gradient_of_its_translation() -> None:
    net = Net(lambda w, x: _bare(w * x)).train()
    model = export(net, (torch.ones(3),), translations=TRANSLATIONS)
    np.testing.assert_allclose(model.gradient(wrt=["w"])(np.ones(3, np.float32))[1], [2, 2, 2])


@pytest.mark.parametrize("name", ["kernel", "composite"])
def test_a_formula_inside_an_operator_is_refused(name: str) -> None:
    def called(w: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        return getattr(OPERATORS, name)(w * x)

    with pytest.raises(ExportError, match="autograd goes through _Ninefold") as caught:
        export(Net(called).train(), (torch.ones(3),), translations=TRANSLATIONS)
    assert "in called" in str(caught.value)
    export(Net(called).eval(), (torch.ones(3),), translations=TRANSLATIONS)


def test_a_registered_formula_is_refused_where_torch_reads_the_code() -> None:
    with pytest.raises(ExportError, match=r"registered formula of onnxsmith_formulas\.scaled"):
        export(Net(FORMULAS["as it is"]).train(), (torch.ones(3),), translations=TRANSLATIONS, strict=True)
    bare = Net(lambda w, x: _bare(w * x)).train()
    export(bare, (torch.ones(3),), translations=TRANSLATIONS, strict=True)


def test_detaching_in_place_beside_a_write():
    class Detaching(nn.Module):
        def __init__(self):
            super().__init__()
            self.w = nn.Parameter(torch.tensor([0.5, 1.5, -2.0]))

        def forward(self, x):
            scale = self.w.detach().clone()
            scale[0] = 2.0  # which torch has to rewrite
            y = x * scale * self.w
            return ((y * 2).detach_() + y).sum()

    module, x = Detaching().train(), torch.tensor([1.0, -2.0, 3.0])
    model = export(module, (x,))
    module(x).backward()
    _, slope = model.gradient(wrt=["w"])(x.numpy())
    np.testing.assert_allclose(slope, module.w.grad, rtol=1e-5)
