"""Models of one node by every definition that its operator has had, from ONNX's node cases retold for it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
from onnx import helper

from onnxsmith.graphs.ir_types import proto_of_type
from onnxsmith.schema.definition import AttributeType
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import AnyValueType, TensorType
from tests.backend.node_cases import all_cases
from tests.backend.other_versions import Retold, retold


@dataclass(frozen=True)
class OlderModel:
    """A model of one node, and inputs for it."""

    name: str
    model: onnx.ModelProto
    inputs: list[Any]
    rtol: float
    atol: float


def older_models(part: int = 0, parts: int = 1) -> Iterator[OlderModel]:
    """One for each case and each definition of its operator that is not the case's own."""
    for name, case in sorted(all_cases().items())[part::parts]:
        own = {each.domain: each.version for each in case.model.opset_import}
        for call in retold(case):
            if call.op.domain == "" and call.op.since_version < own.get("", 0):
                for is_constant in (False, True):
                    model = _model(call, is_constant=is_constant)
                    if model is not None:
                        suffix = "constants" if is_constant else "inputs"
                        yield OlderModel(
                            f"{name}-{call.op.name}-{call.op.since_version}-{suffix}",
                            *model,
                            case.rtol,
                            case.atol,
                        )


def _model(call: Retold, *, is_constant: bool) -> tuple[onnx.ModelProto, list[Any]] | None:
    """The model; with constants in the place of integer vectors, as axes and shapes mostly are."""
    names = [f"input_{k}" if value is not None else "" for k, value in enumerate(call.inputs)]
    ports: list[onnx.ValueInfoProto] = []
    held: list[onnx.TensorProto] = []
    given: list[Any] = []
    for k, (name, value, kind) in enumerate(zip(names, call.inputs, call.types, strict=True)):
        if value is None:
            continue
        if (
            is_constant
            and k
            and isinstance(value, np.ndarray)
            and value.ndim <= 1
            and value.dtype.kind in "if"
        ):
            held.append(onnx.numpy_helper.from_array(value, name))
            continue
        ports.append(helper.make_value_info(name, proto_of_type(_type(kind, value))))
        given.append(value)
    if is_constant and not held:
        return None
    outputs = [f"output_{k}" if each is not None else "" for k, each in enumerate(call.expected)]
    node = helper.make_node(call.op.name, names, outputs)
    for name, value in call.attributes.items():
        if value is not None and (content := _content(value)) != ():
            kind = call.op.attributes[name].type
            if kind == AttributeType.STRING and isinstance(content, int):
                content = DType(content).name  # as Cast-1 has it
            if kind == AttributeType.FLOAT:
                content = float(content)
            node.attribute.append(helper.make_attribute(name, content, attr_type=int(kind)))
    results = [
        onnx.ValueInfoProto(name=name, type=proto_of_type(_type(_dtype_of(each), each)))
        for name, each in zip(outputs, call.expected, strict=True)
        if name
    ]
    graph = helper.make_graph([node], "older", ports, results, held)
    version = call.op.since_version
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", version)], ir_version=8)
    return model, given


def _content(value: Any) -> Any:
    return onnx.numpy_helper.from_array(value) if isinstance(value, np.ndarray) else value


def _dtype_of(value: Any) -> DType | None:
    return DType.from_numpy(value.dtype) if isinstance(value, np.ndarray) else None


def _type(kind: Any, value: Any) -> AnyValueType:
    if isinstance(kind, DType):
        return TensorType(kind, value.shape)
    return TensorType(None, None) if kind is None else kind
