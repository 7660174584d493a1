"""`verify=True`: the module beside the model."""

from __future__ import annotations

import re

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("onnxruntime")
from torch import nn  # noqa: E402  # torch may be missing

import onnxsmith  # noqa: E402
from onnxsmith import opset21 as op  # noqa: E402
from onnxsmith.errors import VerificationError  # noqa: E402


class Scores(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 3)

    def forward(self, x):
        hidden = torch.tanh(self.layer(x))
        scores = hidden.softmax(-1)
        return {"scores": scores, "total": hidden.sum()}


def test_outputs_are_compared():
    report = onnxsmith.torch.export(Scores(), (torch.randn(2, 4),), verify=True).export_report
    assert [(each.inputs, each.output) for each in report.verification] == [
        ("example", "scores"),
        ("example", "total"),
    ]
    assert all(each.is_close and each.difference < 1e-5 for each in report.verification)
    assert "verification" in report.stages


def test_dynamic_dimensions_are_compared_in_other_sizes():
    shapes = {"x": {0: torch.export.Dim("batch", max=3)}}
    report = onnxsmith.torch.export(
        Scores(), (torch.randn(3, 4),), dynamic_shapes=shapes, verify=True
    ).export_report
    assert [each.inputs for each in report.verification][::2] == ["example", "batch=2", "batch=1"]


WRONG = {torch.ops.aten.tanh.default: lambda x: x * 1.5}


def test_the_first_operator_that_deviates_is_named():
    with pytest.raises(VerificationError) as caught:
        onnxsmith.torch.export(Scores(), (torch.randn(2, 4),), translations=WRONG, verify=True)
    text = caught.value.message
    assert "scores: the largest difference is" in text
    assert re.search(r"the first to deviate is aten.tanh.default \(tanh\) at .*test_verify.py:\d+", text)
    assert caught.value.span is not None
    assert caught.value.span.function == "forward"


def test_a_shape_that_only_the_example_has_is_found():
    translations = {torch.ops.aten.tanh.default: lambda x: op.Tanh(x) * (x * 0 + 1).sum() / 6}

    class Tanh(nn.Module):
        def forward(self, x):
            return torch.tanh(x)

    with pytest.raises(VerificationError, match="batch=4"):
        onnxsmith.torch.export(
            Tanh(), (torch.randn(3, 2),), dynamic_shapes={"x": {0: "batch"}}, translations=translations,
            verify=True, opset_version=21,
        )  # fmt: skip


def test_the_tolerance_can_be_given():
    translations = {torch.ops.aten.tanh.default: lambda x: op.Tanh(x) * 1.01}
    options = {"translations": translations, "opset_version": 21}
    with pytest.raises(VerificationError):
        onnxsmith.torch.export(Scores(), (torch.randn(2, 4),), verify=True, **options)
    onnxsmith.torch.export(Scores(), (torch.randn(2, 4),), verify=0.1, **options)


def test_modules_that_write_stay_as_they_are():
    class Counter(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("count", torch.zeros(3))

        def forward(self, x):
            self.count += 1
            return x + self.count

    module = Counter()
    model = onnxsmith.torch.export(module, (torch.ones(3),), verify=True)
    assert torch.equal(module.count, torch.zeros(3))
    assert model.export_report.verification[0].is_close


def test_random_numbers_are_not_compared():
    class Noise(nn.Module):
        def forward(self, x):
            return x + torch.rand_like(x)

    report = onnxsmith.torch.export(Noise(), (torch.ones(3),), verify=True).export_report
    assert not report.verification
    assert report.notes == ["not verified: the module draws random numbers"]


def test_exported_programs_are_compared():
    program = torch.export.export(Scores(), (torch.randn(2, 4),))
    assert onnxsmith.torch.translate(program, verify=True).export_report.verification


def test_a_translation_that_gives_its_input_back_is_named():
    class Shifted(nn.Module):
        def forward(self, x):
            return torch.relu(x) + 1

    translations = {torch.ops.aten.relu.default: lambda x: x}
    with pytest.raises(VerificationError, match=r"the first to deviate is aten.relu.default \(relu\)"):
        onnxsmith.torch.export(Shifted(), (-torch.ones(3),), translations=translations, verify=True)
