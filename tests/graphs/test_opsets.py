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


def test_operators_that_differ_are_named_with_both_versions_and_what_to_do() -> None:
    layer = trace(lambda x: opset13.ReduceMean(x, axes=[0]), FLOAT["N"], name="mean")
    with pytest.raises(errors.OpsetConflictError) as caught:
        trace(lambda x: opset21.Relu(layer(x)), FLOAT["N"])
    assert caught.value.message == (
        "the model 'mean' is of opset 13 and is called in a graph of opset 21, where these operators differ: "
        "ReduceMean (changed in opset 18)"
    )
    assert "opset_version=13" in (caught.value.help or "")
    assert "convert_version(model.proto, 21)" in (caught.value.help or "")


def test_an_opset_named_after_the_call_is_not_moved_either() -> None:
    class Holder:
        """Hides the model and the operators from whoever reads the function's variables."""

        layer = trace(lambda x: opset13.ReduceMean(x, axes=[0]), FLOAT["N"], name="mean")
        operators = opset21

    with pytest.raises(errors.OpsetConflictError, match="graph of opset 21"):
        trace(lambda x: Holder.operators.Relu(Holder.layer(x)), FLOAT["N"])


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
