"""Sizes of 0 and 1 that torch gives no number for, or refuses: the model does as torch does."""

from __future__ import annotations

import copy
import warnings

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("onnxruntime")
from torch import nn  # noqa: E402  # torch may be missing
from torch.nn import functional as F  # noqa: E402

import onnxsmith  # noqa: E402
from onnxsmith.errors import ExportError, ModelInputError  # noqa: E402
from onnxsmith.grad import initial_state, losses, sgd, training_step  # noqa: E402
from tests.torch.size_uses import Use, rows  # noqa: E402


def exported(function, example=5):
    use = Use(function)
    module = use.module().eval()
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # nothing is lost that torch takes
        return onnxsmith.torch.export(module, (rows(example),), dynamic_shapes=use.dynamic_shapes())


#: Means of no rows are no numbers.
MEANS = {
    "mean": lambda x: x.mean(),
    "mean over rows": lambda x: x.mean(0),
    "mean, kept": lambda x: x.mean((0, 1), keepdim=True),
    "var_mean": lambda x: torch.cat(torch.var_mean(x, 0)),
    "std_mean": lambda x: torch.stack(torch.std_mean(x)),
    "mse": lambda x: F.mse_loss(x, x * 2),
    "kl": lambda x: F.kl_div(x.log_softmax(1), x.softmax(1), reduction="batchmean"),
    "cross entropy": lambda x: F.cross_entropy(x, torch.zeros(x.shape[0], dtype=torch.long)),
    "adaptive pool": lambda x: F.adaptive_avg_pool1d(x.T[None], 1),
}


@pytest.mark.parametrize("case", MEANS)
def test_a_mean_of_nothing_is_no_number(case):
    model = exported(MEANS[case])
    for size in (0, 1, 2):
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=".*degrees of freedom")
            wanted = MEANS[case](rows(size))
        np.testing.assert_allclose(model(rows(size).numpy()), wanted, rtol=1e-5, atol=1e-6)


#: Calls, and the condition under which torch raises no error.
RAISING = {
    "max": (lambda x: x.max(), ["n >= 1"]),
    "amin": (lambda x: x.amin(0), ["n >= 1"]),
    "aminmax": (lambda x: torch.stack(torch.aminmax(x, dim=0)), ["n >= 1"]),
    "argmax": (lambda x: x.argmax(0), ["n >= 1"]),
    "norm": (lambda x: x.norm(float("inf"), 0), ["n >= 1"]),
    "of some": (lambda x: torch.cat([x, x[:1]])[1:].amax(1), []),
    "adaptive pool": (lambda x: F.adaptive_avg_pool1d(x.T[None], 2), ["n >= 1"]),
    "interpolate": (lambda x: F.interpolate(x.T[None], scale_factor=2), ["n >= 1"]),
    "unfold": (lambda x: x.unfold(0, 3, 2), ["n >= 3"]),
    "narrow": (lambda x: x.narrow(0, 0, 2), ["n >= 2"]),
    "narrow of one more": (
        lambda x: torch.cat([x, torch.zeros(1, 3)]).narrow(0, 0, 2),
        ["n >= 1"],
    ),
    "average pool": (lambda x: F.avg_pool1d(x.T[None], 2), ["n >= 2"]),
    "average pool of all pairs": (lambda x: F.avg_pool1d(x.T[None], 2, 1), ["n >= 2"]),
    "padded pool": (lambda x: F.avg_pool1d(x.T[None], 5, 1, padding=1), ["n >= 3"]),
    "pool with gaps": (lambda x: F.max_pool2d(x[None], (2, 1), 1, dilation=(2, 1)), ["n >= 3"]),
    "batch norm": (lambda x: F.batch_norm(x, None, None, training=True), ["n != 1"]),
    "instance norm": (lambda x: F.instance_norm(x.T[None]), ["n != 1"]),
    "group norm": (lambda x: F.group_norm(x[:, :, None], 3), ["n != 1"]),
    "pieces": (lambda x: x.chunk(2)[1] * 2, ["n != 1"]),
}


@pytest.mark.parametrize("case", RAISING)
def test_the_model_refuses_what_torch_refuses(case):
    function, conditions = RAISING[case]
    model = exported(function)
    assert [each.text for each in model._conditions] == conditions
    assert all("torch raises an error in other sizes at " in each.because for each in model._conditions)
    for size in (0, 1, 2, 3, 4, 6):
        try:
            wanted = function(rows(size))
        except Exception:  # torch's own
            with pytest.raises(ModelInputError, match=conditions[0]):
                model(rows(size).numpy())
        else:
            if size or case != "instance norm":  # there ONNX Runtime ends the process
                np.testing.assert_allclose(model(rows(size).numpy()), wanted, rtol=1e-4, atol=1e-5)


class Normalised(nn.Module):
    """A batch normalisation in training, with dropout behind it if asked."""

    def __init__(self, momentum=0.1, dropout=0.0):
        super().__init__()
        self.first = nn.Linear(3, 4)
        self.norm = nn.BatchNorm1d(4, momentum=momentum)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        return self.dropout(self.norm(self.first(x)))


@pytest.mark.parametrize("options", [{}, {"momentum": None}, {"dropout": 0.5}], ids=str)
def test_a_training_step_refuses_one_row(options):
    module = Normalised(**options).train()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", onnxsmith.errors.TrainingModeWarning)
        model = onnxsmith.torch.export(
            module, (torch.randn(4, 3),), dynamic_shapes={"x": {0: "n"}}, keep_mutations=True
        )
    step = training_step(model, losses.squared, sgd(lr=0.1))
    state = initial_state(model, step)
    found = step(x=np.ones((2, 3), np.float32), target=np.ones((2, 4), np.float32), **state)
    assert all(np.isfinite(each).all() for each in found)
    for made in (model, step):
        assert [each.text for each in made._conditions] == ["n != 1"]
    with pytest.raises(ModelInputError, match="n != 1, and was given n = 1"):
        step(x=np.ones((1, 3), np.float32), target=np.ones((1, 4), np.float32), **state)


def test_one_row_as_the_example_is_refused_at_its_line():
    with pytest.raises(ExportError, match="more than 1 value per channel") as caught:
        onnxsmith.torch.export(Normalised().train(), (torch.randn(1, 3),))
    assert "test_refused_sizes.py" in str(caught.value)
    assert "self.norm(" in str(caught.value)


@pytest.mark.parametrize("shape", [(0, 3, 4), (2, 3, 0), (2, 3, 1), (1, 3, 2)], ids=str)
@pytest.mark.parametrize("momentum", [0.1, None], ids=str)
def test_a_batch_of_nothing_leaves_running_statistics(shape, momentum):
    module = nn.BatchNorm1d(3, momentum=momentum).train()
    module.running_mean.fill_(2.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", onnxsmith.errors.TrainingModeWarning)
        model = onnxsmith.torch.export(
            module,
            (torch.randn(4, 3, 5),),
            dynamic_shapes={"input": {0: "n", 2: "l"}},
            keep_mutations=True,
        )
    assert [each.text for each in model._conditions] == ["l * n != 1"]
    _compare_statistics(model, module, shape)


def test_instances_of_no_batch_have_no_statistics():
    module = nn.InstanceNorm1d(3, track_running_stats=True).train()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", onnxsmith.errors.TrainingModeWarning)
        model = onnxsmith.torch.export(
            module, (torch.randn(4, 3, 5),), dynamic_shapes={"input": {0: "n"}}, keep_mutations=True
        )
    _compare_statistics(model, module, (0, 3, 5))


def _compare_statistics(model, module, shape):
    after, x = copy.deepcopy(module), torch.randn(shape)
    wanted = after(x)
    got = dict(zip([each.name for each in model.outputs], model(x.numpy()), strict=True))
    np.testing.assert_allclose(got[model.outputs[0].name], wanted.detach(), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(got["running_mean_after"], after.running_mean, rtol=1e-5)
    np.testing.assert_allclose(got["running_var_after"], after.running_var, rtol=1e-4)


def test_instances_without_elements_do_not_end_the_process():
    model = exported(lambda x: F.group_norm(x.T[None].neg(), 3))
    with pytest.raises(onnxsmith.errors.OnnxsmithError, match="nothing to normalize"):
        model(rows(0).numpy())


class FlashAttention(nn.Module):
    def forward(self, x):
        return torch.ops.aten._scaled_dot_product_flash_attention_for_cpu(x, x, x)


def test_kernels_of_attention_do_not_end_the_process():
    """torch's divides by the number of tokens, so that no trial may ask for none."""
    module = FlashAttention()
    model = onnxsmith.torch.export(module, (torch.randn(2, 3, 5, 4),), dynamic_shapes=({0: "n", 2: "t"},))
    x = torch.randn(1, 3, 1, 4)
    for got, wanted in zip(model(x.numpy()), module(x), strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-4, atol=1e-5)


def _asks_for_nothing(x):
    return torch.full((3,), 7.0) if x.shape[0] == 0 else x.sum(0)


def _takes_nothing_for_something(x):
    return x.sum(0) + (1.0 if x.shape[0] > 0 else 5.0)


def _but_the_last(x):
    return torch.zeros(3) + x[:-1].shape[0] % 2


def _pieces_of_half(x):
    return x.sum() + len(x.split(x.shape[0] // 2))


@pytest.mark.parametrize(
    "function", [_asks_for_nothing, _takes_nothing_for_something, _but_the_last, _pieces_of_half]
)
def test_a_size_of_0_that_torch_takes_for_positive_is_refused_where_the_model_is_wrong(function) -> None:
    class Module(torch.nn.Module):
        def forward(self, x):
            return function(x)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = onnxsmith.torch.export(Module(), (torch.ones(4, 3),), dynamic_shapes=({0: "rows"},))
    x = np.float32([[1, 2, 3]] * 4)
    np.testing.assert_allclose(model(x), function(torch.tensor(x)).numpy())
    with pytest.raises(ModelInputError, match="rows"):
        model(x[:0])


def test_a_size_of_0_in_which_the_model_is_right_is_taken() -> None:
    class Module(torch.nn.Module):
        def forward(self, x):
            return x.sum(0) if x.shape[0] == 0 else x.sum(0) * 1.0

    model = onnxsmith.torch.export(Module(), (torch.ones(4, 3),), dynamic_shapes=({0: "rows"},))
    np.testing.assert_array_equal(model(np.ones((0, 3), np.float32)), np.zeros(3))
