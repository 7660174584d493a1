"""`functions="modules"`: a module is a function, and equal ones share it."""

from __future__ import annotations

import importlib

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("onnxruntime")
from torch import nn  # noqa: E402  # torch may be missing

import onnxsmith  # noqa: E402
from onnxsmith.errors import ExportError  # noqa: E402
from tests.torch.agreement import check  # noqa: E402


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm, self.first, self.second = nn.LayerNorm(width), nn.Linear(width, 8), nn.Linear(8, width)

    def forward(self, x):
        return x + self.second(torch.relu(self.first(self.norm(x)))) * 0.5


class Tower(nn.Module):
    def __init__(self, depth=3, width=4):
        super().__init__()
        self.blocks = nn.ModuleList([Block(width) for _ in range(depth)])

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x.reshape(x.shape[0], -1)


def _functions(model):
    return sorted(each.name for each in model.ir.functions.values())


@pytest.mark.parametrize("is_dynamic", [False, True])
def test_equal_layers_share_a_function(is_dynamic):
    shapes = {"x": {0: "batch", 1: "length"}} if is_dynamic else None
    others = [(torch.randn(5, 7, 4),)] if is_dynamic else []
    model = check(Tower(), torch.randn(2, 3, 4), others=others, dynamic_shapes=shapes, functions="modules")
    assert "Block" in _functions(model)
    assert sum(each.op_type == "Block" for each in model.ir.graph) == 3
    assert sum(name.startswith("Block") for name in _functions(model)) == 1
    model.check()


def test_flat_by_default():
    assert not onnxsmith.torch.export(Tower(), (torch.randn(2, 3, 4),)).ir.functions


def test_weights_are_inputs():
    model = onnxsmith.torch.export(Tower(), (torch.randn(2, 3, 4),), functions="modules")
    call = next(each for each in model.ir.graph if each.op_type == "Block")
    names = [each.name for each in call.inputs]
    assert names[0] == "x"
    assert "blocks.0.norm.weight" in names
    assert len(names) == 7


def test_no_initializer_is_left_that_only_functions_had_use_for():
    module = nn.TransformerEncoderLayer(16, 2, 32, batch_first=True, activation="gelu").eval()
    model = onnxsmith.torch.export(module, (torch.randn(2, 5, 16),), functions="modules")
    read = {value.name for node in model.ir.graph.all_nodes() for value in node.inputs if value is not None}
    assert set(model.ir.graph.initializers) - read == set()


def test_calls_and_inputs_are_named_after_modules():
    names = ["norm_weight", "norm_bias", "first_weight", "first_bias", "second_weight", "second_bias"]
    turned = ["norm_weight", "norm_bias", "first_weight_t", "first_bias", "second_weight_t", "second_bias"]
    # In training each parameter is there as torch has it; in use it is turned once, at the export.
    for module, inputs in ((Tower(), names), (Tower().eval(), turned)):
        model = onnxsmith.torch.export(module, (torch.randn(2, 3, 4),), functions="modules")
        assert [each.name for each in model.ir.graph][:3] == ["blocks.0", "blocks.1", "blocks.2"]
        block = next(each for each in model.ir.functions.values() if each.name == "Block")
        assert [each.name for each in block.inputs][1:] == inputs


def test_a_module_that_is_left_and_entered_again_is_several_calls():
    class Inner(nn.Module):
        def forward(self, x, between):
            return torch.relu(between(torch.exp(x)))

    class Outer(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = Inner()

        def forward(self, x):
            return self.inner(x, lambda y: torch.cat([y, y * 2])) + 1

    check(Outer(), torch.randn(3, 4), functions="modules")


def test_constants_that_differ_are_inputs_of_one_function():
    class Scaled(nn.Module):
        def __init__(self, factor):
            super().__init__()
            self.factor = factor

        def forward(self, x):
            return torch.tanh(x * self.factor) + x

    model = check(
        nn.Sequential(*(Scaled(each) for each in (0.5, 0.25, 3.0))), torch.randn(3), functions="modules"
    )
    assert _functions(model) == ["Scaled"]
    assert [len(each.inputs) for each in model.ir.graph] == [2, 2, 2]


def test_a_module_called_twice():
    class Twice(nn.Module):
        def __init__(self):
            super().__init__()
            self.block = Block(4)

        def forward(self, x):
            return self.block(self.block(x))

    model = check(Twice(), torch.randn(2, 4), functions="modules")
    assert [each.op_type for each in model.ir.graph] == ["Block", "Block"]


def test_layers_that_differ_are_two_functions():
    class Two(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b = nn.Conv2d(3, 4, 3), nn.Conv2d(4, 5, 1, stride=2)

        def forward(self, x):
            return self.b(self.a(x))

    model = check(Two(), torch.randn(1, 3, 8, 8), functions="modules")
    assert len(_functions(model)) == 2


def test_several_results_and_control_flow():
    class Chosen(nn.Module):
        def forward(self, x):
            y = torch.cond(x.sum() > 0, lambda x: x * 2, lambda x: x - 1, (x,))
            return y, y.sum()

    class Outer(nn.Module):
        def __init__(self):
            super().__init__()
            self.chosen = nn.ModuleList([Chosen(), Chosen()])

        def forward(self, x):
            for each in self.chosen:
                x, total = each(x)
                x = x + total
            return x

    model = check(Outer(), torch.ones(3), others=[(-torch.ones(3),)], functions="modules")
    assert [each.op_type for each in model.ir.graph] == ["Chosen", "Add", "Chosen", "Add"]


def test_transformer_layers(tmp_path):
    layer = nn.TransformerEncoderLayer(16, 2, 32, batch_first=True, activation="gelu")
    module = nn.TransformerEncoder(layer, 4, enable_nested_tensor=False)
    shapes = ({0: "batch", 1: "length"},)
    model = check(
        module, torch.randn(2, 5, 16), others=[(torch.randn(3, 7, 16),)], dynamic_shapes=shapes,
        functions="modules", tolerance=1e-4,
    )  # fmt: skip
    assert sum(each.startswith("TransformerEncoderLayer") for each in _functions(model)) == 1
    model.save(tmp_path / "m.onnx")
    assert _functions(onnxsmith.load(tmp_path / "m.onnx")) == _functions(model)


def test_an_unknown_choice_is_refused():
    with pytest.raises(onnxsmith.errors.ExportError, match="functions='layers' is not known"):
        onnxsmith.torch.export(Tower(), (torch.randn(2, 3, 4),), functions="layers")


@pytest.mark.filterwarnings("ignore:torch.ao.quantization is deprecated")
@pytest.mark.filterwarnings("ignore:Please use quant_min and quant_max")
@pytest.mark.parametrize("is_eval", [False, True])
def test_modules_that_observe_are_refused_at_their_line(is_eval):
    quantization = importlib.import_module("torch.ao.quantization")
    module = nn.Sequential(nn.Linear(3, 4), nn.ReLU()).train()
    module.qconfig = quantization.get_default_qat_qconfig("fbgemm")
    quantization.prepare_qat(module, inplace=True)

    class Whole(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = module

        def forward(self, x):
            return self.inner(x)

    whole, x = Whole(), torch.randn(5, 3)
    whole(x)
    whole.train(not is_eval)
    with pytest.raises(ExportError, match="observes its input") as caught:
        onnxsmith.torch.export(whole, (x,))
    assert "self.inner(x)" in str(caught.value)
    assert "disable_observer" in str(caught.value)
    whole.apply(quantization.disable_observer)
    model = onnxsmith.torch.export(whole, (x,))
    with torch.no_grad():
        np.testing.assert_allclose(model(x.numpy()), whole(x), rtol=1e-4, atol=1e-5)
