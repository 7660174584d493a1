"""What the writer makes of records is what onnx-ir's serializer makes of the same model, byte for byte."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from hypothesis import HealthCheck, given, settings

from onnxsmith import FLOAT, INT64, Weights, opset21, script, trace
from onnxsmith.errors import InvalidModelError, OnnxsmithError
from onnxsmith.graphs import files, proto_writer
from onnxsmith.graphs.ir_maker import model_to_ir
from onnxsmith.graphs.model import Model
from onnxsmith.graphs.records import ModelRecord
from onnxsmith.types.value_types import OptionalType, SequenceType
from tests.laws.case import Case, backend_cases
from tests.laws.contexts import Inexpressible
from tests.laws.programs import Program as Calls
from tests.laws.roads import types_of
from tests.scripting.programs import Program, programs
from tests.scripting.test_laws import load

#: Cases are dealt out to this many tests.
SHARDS = 4


def written_both_ways(model: Model) -> tuple[bytes, bytes]:
    """The bytes of a model as the writer has it, and as onnx-ir's serializer has it."""
    record = model._held
    assert isinstance(record, ModelRecord)
    written = proto_writer.model_to_proto(record)
    assert written is not None
    other = files.to_proto(model_to_ir(record))
    return written.SerializeToString(deterministic=True), other.SerializeToString(deterministic=True)


@script
def scaled(x: FLOAT["N"], factor: float = 2.0, axis: int = 0) -> FLOAT["N"]:
    return opset21.Softmax(x, axis=axis) * factor


@script
def looping(x: FLOAT["N"], n: INT64) -> FLOAT["N"]:
    for _ in range(n):
        if x.sum() > 1.0:
            x = scaled(x, factor=0.5)
        else:
            x = x + 1.0
    return x


def _text(x: Any) -> Any:
    return opset21.StringNormalizer(opset21.Cast(x, to=8), case_change_action="LOWER", stopwords=["a", "é"])


WEIGHT = np.arange(512, dtype=np.float32).reshape(8, 64)

MODELS: dict[str, Callable[[], Model]] = {
    "an attribute of each plain kind": lambda: trace(
        lambda x: opset21.LeakyRelu(opset21.Flatten(x, axis=0), alpha=-0.0), FLOAT["N", 4]
    ),
    "texts": lambda: trace(_text, FLOAT["N"]),
    "a tensor": lambda: trace(
        lambda x: opset21.ConstantOfShape(x.shape, value=np.array([3], np.int64)), FLOAT["N"]
    ),
    "a type": lambda: trace(lambda x: opset21.OptionalHasElement(opset21.Optional(type=FLOAT[2])), FLOAT[2]),
    "several outputs": lambda: trace(lambda x: opset21.TopK(x, np.array([2])), FLOAT["N"]),
    "inputs left out": lambda: trace(lambda x: opset21.Clip(x, None, 6.0), FLOAT["N"]),
    "weights": lambda: trace(lambda x: x @ WEIGHT + WEIGHT[0], FLOAT["N", 8]),
    "a sequence and an optional": lambda: trace(
        lambda s, o: (opset21.SequenceAt(s, 0), opset21.OptionalHasElement(o)),
        SequenceType(FLOAT["N", None]),
        OptionalType(FLOAT[2]),
    ),
    "a scalar and an unknown rank": lambda: trace(lambda x, y: x.sum() + y, FLOAT[...], FLOAT),
    "control flow and a function": lambda: looping.to_model(doc_string="d", metadata={"b": "1", "a": "2"}),
    "an older IR version": lambda: looping.to_model(ir_version=9),
    "names that are given": lambda: trace(
        lambda x: x + 1.0, FLOAT["N"], name="g", input_names=["é"], output_names=["add_1"]
    ),
}


@pytest.mark.parametrize("name", MODELS)
def test_it_writes_what_onnx_ir_writes(name: str) -> None:
    ours, theirs = written_both_ways(MODELS[name]())
    assert ours == theirs


@given(programs())
@settings(
    max_examples=60,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
)
def test_it_writes_generated_programs_as_onnx_ir_does(program: Program) -> None:
    try:
        model = load(program).to_model(attributes=program.attributes)
    except OnnxsmithError:
        return
    ours, theirs = written_both_ways(model)
    assert ours == theirs


@functools.cache
def _cases() -> list[Case]:
    return list(backend_cases())


@pytest.mark.parametrize("shard", range(SHARDS))
def test_it_writes_every_operator_as_onnx_ir_does(shard: int) -> None:
    count = 0
    for case in _cases()[shard::SHARDS]:
        try:
            model = trace(Calls(case).plain(), *types_of(case), opset_version=case.version(""))
        except (Inexpressible, OnnxsmithError):
            continue
        ours, theirs = written_both_ways(model)
        assert ours == theirs, case.name
        count += 1
    assert count > 100


def test_a_weight_of_a_file_is_inside_the_proto(tmp_path: Path) -> None:
    trace(lambda x: x @ WEIGHT, FLOAT["N", 8]).save(tmp_path / "m.onnx", external_data=True)
    weights = Weights(tmp_path / "m.onnx")
    model = trace(lambda x: x @ weights["WEIGHT"], FLOAT["N", 8])
    ours, theirs = written_both_ways(model)
    assert ours == theirs
    (tensor,) = onnx.ModelProto.FromString(ours).graph.initializer
    assert tensor.raw_data == WEIGHT.tobytes()


def test_bytes_that_are_no_text_are_written_as_they_are() -> None:
    model = trace(lambda x: opset21.Cast(opset21.Constant(value_string=b"\x80"), to=8), FLOAT["N"])
    assert model.proto.graph.node[0].attribute[0].s == b"\x80"


def test_what_cannot_be_written_is_an_error_of_ours() -> None:
    with pytest.raises(InvalidModelError, match="surrogates"):
        _ = trace(lambda x: x + 1.0, FLOAT["N"], doc_string="\udc80").proto


def test_a_called_model_is_written_with_its_functions() -> None:
    inner = trace(lambda x: x @ WEIGHT, FLOAT["N", 8])
    model = trace(lambda x: inner(x) + 1.0, FLOAT["N", 8])
    assert [each.name for each in model.proto.functions] == [
        each.name for each in model.ir.functions.values()
    ]
