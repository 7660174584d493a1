"""Which opset and IR version a graph gets that calls a finished model: what the user named, or an error."""

from __future__ import annotations

import numpy as np
import onnx
import pytest

import onnxsmith
from onnxsmith import BFLOAT16, FLOAT, errors, opset13, opset18, opset21, script, trace

X = np.float32([-1, 2, 3])
WEIGHT = np.float32([10, 20, 30])
VERSIONS = (9, 11, 13, 16, 18, 21, 23)


@pytest.mark.parametrize("own", VERSIONS)
@pytest.mark.parametrize("others", VERSIONS)
def test_weights_never_set_opsets_at_odds(own: int, others: int) -> None:
    """Relu, Add and MatMul took more element types in 13 and 14, and nothing else."""
    theirs, ours = getattr(onnxsmith, f"opset{others}"), getattr(onnxsmith, f"opset{own}")
    layer = trace(lambda x: theirs.Relu(theirs.Add(x, WEIGHT)), FLOAT["N"], opset_version=others)
    model = trace(lambda x: ours.Sigmoid(layer(x)), FLOAT["N"])
    assert model.opset_imports[""] == own
    assert [each.version for each in model.proto.functions[0].opset_import if not each.domain] == [own]
    onnx.checker.check_model(model.proto, full_check=True)
    np.testing.assert_array_equal(model(X), ours.Sigmoid(layer(X)))


def test_a_model_whose_operators_differ_is_converted_with_a_note() -> None:
    layer = trace(lambda x: opset13.ReduceMean(x, axes=[0]), FLOAT["N"], name="mean")
    with pytest.warns(
        errors.ConvertedModelWarning, match="the model 'mean' is of opset 13.*opset 21"
    ) as noted:
        model = trace(lambda x: opset21.Relu(layer(x)), FLOAT["N"])
    assert noted[0].filename == __file__
    assert model.opset_imports[""] == 21
    onnx.checker.check_model(model.proto, full_check=True)
    np.testing.assert_allclose(model(X), layer(X))


def test_an_opset_named_after_the_call_is_the_graphs_all_the_same() -> None:
    class Holder:
        """Hides the model and the operators from whoever reads the function's variables."""

        layer = trace(lambda x: opset13.ReduceMean(x, axes=[0]), FLOAT["N"], name="mean")
        operators = opset21

    with pytest.warns(errors.ConvertedModelWarning):
        model = trace(lambda x: Holder.operators.Relu(Holder.layer(x)), FLOAT["N"])
    assert model.opset_imports[""] == 21
    np.testing.assert_allclose(model(X), Holder.layer(X))


def test_what_cannot_be_said_in_the_graphs_opset_is_named_with_what_to_do() -> None:
    grid = np.zeros((1, 2, 2, 2), np.float32)
    layer = trace(lambda x: opset21.GridSample(x, grid), FLOAT[1, 1, 4, 4], name="sampled")
    with pytest.raises(errors.VersionConversionError, match="GridSample") as caught:
        trace(lambda x: opset13.Relu(layer(x)), FLOAT[1, 1, 4, 4])
    assert "the model 'sampled' is called in a graph of opset 13" in caught.value.message
    assert "opset_version=21" in (caught.value.help or "")


def _network(version: int) -> onnxsmith.Model:
    """A model with what changed most between opsets: axes, parts, a softmax, a norm, a function, weights."""
    op = getattr(onnxsmith, f"opset{version}")
    axes = {"axes": [-1]} if version < 18 else {}

    def body(x: onnxsmith.Tensor) -> onnxsmith.Tensor:
        given = () if version < 18 else ([-1],)
        centred = x - op.ReduceMean(x, *given, **axes)
        parts = op.Split(centred, [2, 2], axis=1)
        joined = op.Concat(parts[1], parts[0], axis=1)
        scaled = op.Mul(op.Add(joined, WEIGHTS[:4]), WEIGHTS[4:])
        if version >= 20:
            scaled = op.Gelu(scaled)
        if version >= 17:
            scaled = op.LayerNormalization(scaled, WEIGHTS[:4], axis=-1)
        return op.Softmax(op.Reshape(scaled, [-1, 2, 2]), axis=1)

    return trace(body, FLOAT["N", 4], opset_version=version)


WEIGHTS = np.linspace(0.5, 2, 8, dtype=np.float32)
PAIRED = (13, 15, 17, 18, 21, 23, 26)


@pytest.mark.filterwarnings("ignore::onnxsmith.errors.ConvertedModelWarning")
@pytest.mark.parametrize("own", PAIRED)
@pytest.mark.parametrize("others", PAIRED)
def test_models_of_any_two_opsets_merge(own: int, others: int) -> None:
    data = np.random.default_rng(0).normal(size=(3, 4)).astype(np.float32)
    layer, op = _network(others), getattr(onnxsmith, f"opset{own}")
    model = trace(lambda x: op.Relu(layer(layer(op.Neg(x)).reshape(-1, 4))), FLOAT["N", 4], opset_version=own)
    assert model.opset_imports[""] == own
    assert {
        each.version for part in model.proto.functions for each in part.opset_import if not each.domain
    } == {own}
    onnx.checker.check_model(model.proto, full_check=True)
    expected = layer(layer(-data).reshape(-1, 4))
    np.testing.assert_allclose(model(data), expected, rtol=1e-5, atol=1e-6)


def test_a_graph_that_names_no_opset_takes_the_models() -> None:
    layer = trace(lambda x: opset18.Relu(x * WEIGHT), FLOAT["N"])
    assert trace(lambda x: layer(x) + 1.0, FLOAT["N"]).opset_imports[""] == 18

    @script
    def main(x: FLOAT["N"]):
        for _ in range(3):
            x = layer(x) + 1.0
        return x

    assert main.to_model().opset_imports[""] == 18
    holder = [layer]
    assert trace(lambda x: holder[0](x) + 1.0, FLOAT["N"]).opset_imports[""] == 18


def test_the_ir_version_is_the_lowest_that_the_content_allows() -> None:
    layer = trace(lambda x: opset18.Relu(x * WEIGHT), FLOAT["N"])
    assert trace(lambda x: layer(x), FLOAT["N"]).proto.ir_version == 8
    wide = trace(lambda x: opset21.Cast(opset21.Cast(x, to=BFLOAT16), to=FLOAT), FLOAT["N"])
    assert trace(lambda x: wide(x), FLOAT["N"]).proto.ir_version == wide.proto.ir_version
