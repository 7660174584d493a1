"""Operators of the user's own: as scripts, as operators of a custom domain, as functions on tensors."""

from __future__ import annotations

import importlib.util
import random

import numpy as np
import pytest

torch = pytest.importorskip("torch")
ort = pytest.importorskip("onnxruntime")
from torch import nn  # noqa: E402  # torch may be missing

import onnxsmith  # noqa: E402
from onnxsmith import FLOAT, Opset, opset18, script  # noqa: E402
from onnxsmith import opset21 as op  # noqa: E402
from tests.torch.custom_translations import Case, cases, judged, judged_by_torch_onnx  # noqa: E402

OURS, THEIRS = (
    [each for each in cases() if (each.way == "torch.onnx") is is_theirs] for is_theirs in (False, True)
)


@torch.library.custom_op("onnxsmith_custom::scaled", mutates_args=())
def scaled(x: torch.Tensor, y: torch.Tensor, factor: float = 2.0) -> torch.Tensor:
    return x * factor + y


@torch.library.custom_op("onnxsmith_custom::parted", mutates_args=())
def parted(x: torch.Tensor, at: int) -> list[torch.Tensor]:
    return [x[:at].clone(), x[at:].clone()]


scaled.register_fake(lambda x, y, factor=2.0: torch.empty_like(x))
parted.register_fake(lambda x, at: [x[:at].clone(), x[at:].clone()])


@script(default_opset=op)
def scaled_script(x: FLOAT[...], y: FLOAT[...], factor: float = 2.0):
    return x * factor + y


class Model(nn.Module):
    def forward(self, x, y):
        return torch.relu(torch.ops.onnxsmith_custom.scaled(x, y, 3.0)) + torch.ops.onnxsmith_custom.scaled(
            x, y
        )


ARGS = (torch.tensor([1.0, -2.0, 3.0]), torch.tensor([0.5, 0.5, -0.5]))
ARRAYS = [each.numpy() for each in ARGS]
WANTED = Model()(*ARGS).numpy()


def test_a_script():
    translations = {torch.ops.onnxsmith_custom.scaled.default: scaled_script}
    model = onnxsmith.torch.export(Model(), ARGS, translations=translations, opset_version=21)
    np.testing.assert_allclose(model(*ARRAYS), WANTED, rtol=1e-6)
    assert [each.name for each in model.ir.functions.values()] == ["scaled_script"]
    assert model.export_report.operators_by("custom")[0].calls == 2


@pytest.mark.parametrize("key", [torch.ops.onnxsmith_custom.scaled, scaled])
def test_a_function_on_tensors(key):
    model = onnxsmith.torch.export(Model(), ARGS, translations={key: lambda x, y, factor=2.0: x * factor + y})
    np.testing.assert_allclose(model(*ARRAYS), WANTED, rtol=1e-6)


def test_an_operator_of_a_custom_domain():
    mine = Opset("my.domain", 1)
    model = onnxsmith.torch.export(Model(), ARGS, translations={scaled: mine.Scaled})
    first, second = [each for each in model.ir.graph if each.domain == "my.domain"]
    assert (first.op_type, len(first.inputs)) == ("Scaled", 2)
    assert first.attributes["factor"].value == 3.0
    assert "factor" not in second.attributes
    assert first.outputs[0].shape == (3,)
    assert model.opset_imports["my.domain"] == 1


def test_several_results():
    class Parts(nn.Module):
        def forward(self, x):
            first, second = torch.ops.onnxsmith_custom.parted(x, 2)
            return first * 2, second

    model = onnxsmith.torch.export(
        Parts(), (torch.arange(5.0),), translations={parted: lambda x, at: [x[:at], x[at:]]}
    )
    first, second = model(np.arange(5, dtype=np.float32))
    np.testing.assert_array_equal(first, [0, 2])
    np.testing.assert_array_equal(second, [2, 3, 4])


def test_translations_of_atens_own_operators_can_be_replaced():
    translations = {torch.ops.aten.relu.default: lambda x: op.LeakyRelu(x, alpha=0.5), scaled: scaled_script}
    model = onnxsmith.torch.export(Model(), ARGS, translations=translations, opset_version=21)
    assert [each.op_type for each in model.ir.graph].count("LeakyRelu") == 1


def test_what_is_no_operator_or_no_function_is_refused():
    with pytest.raises(onnxsmith.errors.ExportError, match="is not an operator of torch"):
        onnxsmith.torch.export(Model(), ARGS, translations={"scaled": scaled_script})
    with pytest.raises(onnxsmith.errors.ExportError, match="is not a function but int"):
        onnxsmith.torch.export(Model(), ARGS, translations={scaled: 3})


@script(default_opset=opset18)
def scaled_18(x: FLOAT[...], y: FLOAT[...], factor: float = 2.0):
    return x * factor + y


@pytest.mark.skipif(importlib.util.find_spec("onnxscript") is None, reason="torch.onnx needs onnxscript")
@pytest.mark.filterwarnings("ignore")  # whatever the other exporter has to say
def test_the_same_script_for_torch_onnx():
    table = {torch.ops.onnxsmith_custom.scaled.default: onnxsmith.torch.for_torch_onnx(scaled_18)}
    program = torch.onnx.export(
        Model().eval(), ARGS, dynamo=True, opset_version=21, custom_translation_table=table, verbose=False
    )
    ours = onnxsmith.torch.export(Model(), ARGS, opset_version=18, translations={scaled: scaled_18})
    np.testing.assert_allclose(ours(*ARRAYS), WANTED, rtol=1e-6)
    proto = program.model_proto
    session = ort.InferenceSession(proto.SerializeToString(), providers=["CPUExecutionProvider"])
    (got,) = session.run(None, dict(zip([each.name for each in session.get_inputs()], ARRAYS, strict=True)))
    np.testing.assert_allclose(got, WANTED, rtol=1e-6)


# -- all arguments ---------------------------------------------------------------------------------------


@torch.library.custom_op("onnxsmith_custom::aff", mutates_args=())
def aff(x: torch.Tensor, scale: float, bias: float) -> torch.Tensor:
    return x * scale + bias


aff.register_fake(lambda x, scale, bias: torch.empty_like(x))


@script(default_opset=opset18)
def other_names(a: FLOAT[...], factor: float, added: float):
    return a * factor + added


@script(default_opset=opset18)
def too_few(x: FLOAT[...], scale: float):
    return x * scale


class Affine(nn.Module):
    def forward(self, x):
        return torch.ops.onnxsmith_custom.aff(x, scale=2.0, bias=10.0)


def test_a_script_takes_attributes_by_position():
    x = torch.tensor([3.0])
    model = onnxsmith.torch.export(Affine(), (x,), translations={aff: other_names}, opset_version=18)
    assert model(x.numpy()) == 16
    with pytest.raises(onnxsmith.errors.TranslationError, match="it has the parameters x, scale"):
        onnxsmith.torch.export(Affine(), (x,), translations={aff: too_few}, opset_version=18)


@pytest.mark.parametrize("place", [1, 2])
def test_an_argument_that_is_left_out_keeps_its_place(place):
    case = Case("tfif", 4, 1, 3, "other names", left_out=place)
    assert judged(case).kind == "equal"


@torch.library.custom_op("onnxsmith_custom::reduced", mutates_args=())
def reduced(x: torch.Tensor, *, scale: float = 2.0, kind: torch.dtype = torch.float64) -> torch.Tensor:
    return (x * scale).sum().to(kind)


reduced.register_fake(lambda x, *, scale=2.0, kind=torch.float64: x.new_empty((), dtype=kind))


@script(default_opset=opset18)
def reduced_to(values: FLOAT[...], factor: float, to: int):
    return opset18.Cast(opset18.ReduceSum(values * factor, keepdims=0), to=to)


def test_defaults_of_the_operator_and_element_types_as_attributes():
    class Reduced(nn.Module):
        def forward(self, x):
            return reduced(x), reduced(x, kind=torch.int64)

    x = torch.tensor([1.0, 2.5])
    model = onnxsmith.torch.export(Reduced(), (x,), translations={reduced: reduced_to}, opset_version=18)
    double, whole = model(x.numpy())
    assert (double, double.dtype.name) == (7.0, "float64")
    assert (whole, whole.dtype.name) == (7, "int64")


def test_arguments_of_every_kind_in_every_way():
    assert [
        verdict.text for verdict in map(judged, random.Random(0).sample(OURS, 12)) if verdict.kind != "equal"
    ] == []


@pytest.mark.skipif(importlib.util.find_spec("onnxscript") is None, reason="torch.onnx needs onnxscript")
@pytest.mark.filterwarnings("ignore")
def test_arguments_of_every_kind_for_torch_onnx():
    found = judged_by_torch_onnx([Case("tff", 3, 3, 0, "torch.onnx"), *random.Random(0).sample(THEIRS, 12)])
    assert [verdict.text for verdict in found if verdict.kind != "equal"] == []


@pytest.mark.skipif(importlib.util.find_spec("onnxscript") is None, reason="torch.onnx needs onnxscript")
def test_a_name_without_a_parameter_is_refused_for_torch_onnx():
    translation = onnxsmith.torch.for_torch_onnx(other_names)
    with pytest.raises(onnxsmith.errors.ExportError, match="it has the parameters a, factor, added"):
        translation(torch.ones(1), bias=2.0)


# -- operators that write to their arguments -------------------------------------------------------------


@torch.library.custom_op("onnxsmith_custom::bump", mutates_args=("x",))
def bump(x: torch.Tensor, by: float) -> None:
    x.add_(by)


@torch.library.custom_op("onnxsmith_custom::both", mutates_args=("x", "z"))
def both(x: torch.Tensor, y: torch.Tensor, z: torch.Tensor, k: int = 2) -> torch.Tensor:
    x.add_(y)
    z.mul_(k)
    return x * 2


both.register_fake(lambda x, y, z, k=2: torch.empty_like(x))
WRITING = {bump: lambda x, by: x + by, both: lambda x, y, z, k=2: ((x + y) * 2.0, x + y, z * float(k))}


class Writing(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("count", torch.zeros(3))

    def forward(self, x):
        y, z = x * 2, x + 1
        torch.ops.onnxsmith_custom.bump(y, 3.0)
        w = torch.ops.onnxsmith_custom.both(y, x, z, k=3)
        torch.ops.onnxsmith_custom.bump(self.count, 1.0)
        return y + z + w + self.count


class WritingParts(nn.Module):
    def forward(self, x):
        y = x * 2
        torch.ops.onnxsmith_custom.bump(y[0], 3.0)
        return y


def test_operators_that_write_to_their_arguments():
    x = torch.tensor([1.0, -2.0, 3.0])
    model = onnxsmith.torch.export(Writing().eval(), (x,), translations=WRITING, keep_mutations=True)
    got, count = model(x.numpy())
    np.testing.assert_allclose(got, Writing().eval()(x))
    np.testing.assert_allclose(count, 1)
    with pytest.raises(onnxsmith.errors.TranslationError, match="writes to a part of a tensor"):
        onnxsmith.torch.export(WritingParts().eval(), (torch.ones(2, 3),), translations={bump: WRITING[bump]})
    with pytest.raises(onnxsmith.errors.TranslationError, match="and writes to 2 arguments"):
        onnxsmith.torch.export(
            Writing().eval(), (x,), translations={**WRITING, both: lambda x, y, z, k=2: x + y}
        )
