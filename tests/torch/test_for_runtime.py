"""`export(runtime=…)`: the model that ONNX Runtime gets right, and the one that says what torch says."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")
import onnxruntime  # noqa: E402
from torch import nn  # noqa: E402  # torch may be missing

import onnxsmith  # noqa: E402
from onnxsmith.errors import ExportError, VerificationError  # noqa: E402
from onnxsmith.graphs.origins import SOURCE_KEY  # noqa: E402
from onnxsmith.graphs.size_conditions import SIZES_KEY  # noqa: E402
from onnxsmith.torch import ExportedModel, export  # noqa: E402


class Divided(nn.Module):
    def forward(self, x, y):
        return torch.div(x, y, rounding_mode="trunc")


class Half(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 8)
        self.norm = nn.LayerNorm(8)

    def forward(self, x):
        hidden = self.norm(self.layer(x))
        return torch.where(hidden > 0.5, hidden.softmax(-1), hidden.clamp(min=-1.0))


def half():
    torch.manual_seed(0)
    return Half().eval().to(torch.bfloat16), (torch.randn(2, 4, dtype=torch.bfloat16),)


def operators(model):
    return [node.op_type for node in model.ir.graph]


WHOLE = (torch.tensor([7, -(2**63)]), torch.tensor([2, -1]))


def test_what_ends_the_process_does_not_in_a_bare_session():
    model = export(Divided(), WHOLE)
    session = onnxruntime.InferenceSession(model.proto.SerializeToString())
    (result,) = session.run(None, {"x": WHOLE[0].numpy(), "y": WHOLE[1].numpy()})
    assert result.tolist() == [3, -(2**63)]
    assert [each.operator for each in model.export_report.runtime_changes] == ["Div"]
    assert "the lowest integer divided by -1" in str(model.export_report)
    assert model.export_report.nodes == len(model.ir.graph) > 1


def test_without_a_runtime_the_model_says_what_torch_says():
    model = export(Divided(), WHOLE, runtime=None)
    assert operators(model) == ["Div"]
    assert not model.export_report.runtime_changes
    module, args = half()
    assert "Cast" not in operators(export(module, args, runtime=None))
    assert "Cast" not in operators(onnxsmith.torch.translate(torch.export.export(module, args), runtime=None))


@pytest.mark.parametrize("functions", [None, "modules"])
def test_an_export_is_what_for_runtime_makes_of_one_without(functions):
    module, args = half()
    made = export(module, args, functions=functions)
    plain = export(module, args, functions=functions, runtime=None)
    shipped = plain.for_runtime()
    assert operators(made) == operators(shipped)
    assert sorted(each.name for each in made.ir.functions.values()) == sorted(
        each.name for each in plain.ir.functions.values()
    )
    assert not made.for_runtime().report.edits
    value = args[0].float().numpy().astype(plain.inputs[0].type.dtype.numpy)
    wanted = module(*args).detach().float().numpy()
    for model in (made, plain, shipped):
        assert np.allclose(np.asarray(model(value)).astype(np.float32), wanted, atol=0.02)
    # Where nothing helps it.
    onnxruntime.InferenceSession(made.proto.SerializeToString())


def test_a_model_that_nothing_concerns_is_not_touched():
    module = nn.Linear(2, 3).eval()
    model = export(module, (torch.randn(2, 2),))
    plain = export(module, (torch.randn(2, 2),), runtime=None)
    assert model.proto.SerializeToString() == plain.proto.SerializeToString()


def test_class_metadata_names_and_weights_stay():
    class Thinned(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(64, 64).to(torch.bfloat16)

        def forward(self, x, y):
            return self.layer(x[::2] if x.shape[0] > 100 else x), y // y.flip(0)

    module = Thinned().eval()
    args = (torch.randn(4, 64, dtype=torch.bfloat16), WHOLE[1])
    with pytest.warns(onnxsmith.errors.NarrowedDimensionWarning):
        model = export(module, args, dynamic_shapes={"x": {0: "rows"}, "y": None}, output_names=["a", "b"])
    assert type(model) is ExportedModel
    assert model.export_report.runtime_changes
    assert SIZES_KEY in model.ir.metadata_props
    assert [each.name for each in model.outputs] == ["a", "b"]
    assert str(model.inputs[0]).count("rows") == 1
    assert all(SOURCE_KEY in node.metadata_props for node in model.ir.graph)
    weight = model.ir.graph.initializers["layer.weight"].const_value.numpy()
    assert weight.ctypes.data == module.layer.weight.data_ptr()


def test_a_deviation_is_found_behind_what_was_changed():
    module, args = half()
    wrong = {torch.ops.aten.softmax.int: lambda x, dim, dtype=None: x * 0.5}
    with pytest.raises(VerificationError, match="softmax"):
        export(module, args, translations=wrong, verify=True)


def test_dimensions_cost_no_checks():
    class Upsampled(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.ConvTranspose2d(1, 1, 2)

        def forward(self, x):
            return torch.cat([self.layer(x), self.layer(x)], 1)

    shapes = {"x": {0: "n", 2: "height"}}
    model = export(Upsampled().eval(), (torch.randn(2, 1, 4, 4),), dynamic_shapes=shapes)
    assert "If" not in operators(model)
    assert "If" in operators(model.for_runtime())


def test_an_unknown_runtime_is_refused():
    with pytest.raises(ExportError, match="runtime='tensorrt' is not known"):
        export(nn.Linear(2, 3), (torch.randn(2, 2),), runtime="tensorrt")
