"""The text of decompiled models, as it is kept in a file, and the models that it gives: the same again, to the note."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import onnxsmith
from onnxsmith import script
from tests.decompile import nested_graphs
from tests.decompile.fidelity import differences
from tests.decompile.round_trip import compile_text, first_difference
from tests.decompile.written_models import FOUND, PROGRAMS, WRITTEN
from tests.scripting import golden

TEXTS = Path(__file__).with_name("texts.txt")
#: How many models with loops and branches inside each other are drawn. Longer texts are compared as models alone.
DRAWN, LONGEST = 24, 4_000


def _noted() -> onnx.ModelProto:
    """Everything of a model that no node says."""
    weight = numpy_helper.from_array(np.arange(40, dtype=np.float32).reshape(4, 10), "weight")
    weight.doc_string = "the weight's own words"
    text = helper.make_tensor("text", TensorProto.STRING, [2], [b"a", b"\xff"])
    node = helper.make_node("MatMul", ["x", "weight"], ["y"], name="the node", doc_string="of a node")
    node.metadata_props.add(key="layer", value="1")
    after = helper.make_node("Relu", ["y"], ["z"])
    ports = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
        for name, shape in (("x", ["batch", 4]), ("z", ["batch", 10]), ("y", ["batch", 10]))
    ]
    ports[0].doc_string = "an input"
    graph = helper.make_graph([node, after], "main", ports[:1], ports[1:2], [weight, text], "of the graph")
    graph.value_info.append(ports[2])
    graph.metadata_props.add(key="graph", value="2")
    graph.quantization_annotation.add(tensor_name="x").quant_parameter_tensor_names.add(
        key="SCALE_TENSOR", value="weight"
    )
    model = helper.make_model(
        graph,
        ir_version=10,
        opset_imports=[helper.make_opsetid("", 21), helper.make_opsetid("nobody", 1)],
        producer_name="someone",
        producer_version="2.0",
        domain="org.example",
        model_version=7,
        doc_string='of the model\n"quoted"',
    )
    helper.set_model_props(model, {"author": "me"})
    return model


@cache
def _models() -> dict[str, onnx.ModelProto]:
    found = {name: onnx.parser.parse_model(text) for name, text in {**FOUND, **WRITTEN}.items()}
    found |= {program.__name__: script(program).to_model().proto for program, _ in PROGRAMS}
    found |= {f"drawn {seed}": nested_graphs.nested_model(seed) for seed in range(DRAWN)}
    return {**found, "notes of all kinds": _noted()}


@cache
def _kept() -> dict[str, str]:
    return golden.read(TEXTS.read_text() if TEXTS.exists() else "")


NAMES = [*FOUND, *WRITTEN, *(program.__name__ for program, _ in PROGRAMS), "notes of all kinds"]
NAMES += [f"drawn {seed}" for seed in range(DRAWN)]


@pytest.mark.filterwarnings("ignore::onnxsmith.errors.ModelWarning")  # some operators are nobody's
@pytest.mark.parametrize("name", NAMES)
def test_the_text_is_the_kept_one_and_gives_the_model(name: str, update_golden: bool) -> None:
    model = _models()[name]
    text = onnxsmith.decompile(model)
    kept = text.rstrip("\n") if len(text) <= LONGEST else f"{len(text.splitlines())} lines"
    if update_golden:
        _kept()[name] = kept
        TEXTS.write_text(golden.written(_kept()))
    assert kept == _kept().get(name)
    proto = compile_text(text)
    assert not differences(model, proto), text
    assert first_difference(text, onnxsmith.decompile(proto)) is None
