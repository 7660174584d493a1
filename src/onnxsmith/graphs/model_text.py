"""A model as ONNX's own text, for people: of a large weight, the first elements."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, cast

import numpy as np
import onnx

from onnxsmith.diagnostics import clipped, printable
from onnxsmith.errors import InvalidModelError
from onnxsmith.graphs import byte_strings, files, raw
from onnxsmith.graphs.lazy_ir import ir
from onnxsmith.graphs.rewriting.scopes import graphs_of, graphs_of_proto

#: Tensors with more elements than this are abbreviated, to so many.
_MOST_ELEMENTS = 64
_SHOWN_ELEMENTS = 3
_KEY = "elements"
_LONGEST_STRING = 1000


def text_of(model: ir.Model | onnx.ModelProto) -> str:
    """The text of a model; weights that lie in files are not read, but for a few elements. A proto is used up."""
    proto = _abbreviated(model) if isinstance(model, ir.Model) else model
    for attribute in byte_strings.attributes_of(proto):
        if attribute.type == onnx.AttributeProto.STRING:
            attribute.s = _readable(attribute.s)
        elif attribute.type == onnx.AttributeProto.STRINGS:
            attribute.strings[:] = [_readable(each) for each in attribute.strings]
    for graph in graphs_of_proto(proto):
        if isinstance(graph, onnx.GraphProto):
            _list_weights_once(graph)
    for tensor in raw.tensors_of(proto):
        if tensor.string_data:
            tensor.string_data[:] = [_readable(each) for each in tensor.string_data]
        if tensor.data_location != onnx.TensorProto.EXTERNAL and math.prod(tensor.dims) > _MOST_ELEMENTS:
            # A shallow tensor: only its first elements become Python objects.
            _abbreviate(tensor, ir.TensorProtoTensor(tensor))
    try:
        return printable(onnx.printer.to_text(proto))
    except Exception as error:  # the printer reads weights, and throws where they are damaged
        raise InvalidModelError(
            f"the model cannot be shown as text: {' '.join(str(error).split())}"
        ) from None


def _list_weights_once(graph: onnx.GraphProto) -> None:
    """Without the types of weights, which stand at the weights themselves."""
    weights = {each.name for each in graph.initializer}
    if weights:
        others = [each for each in graph.value_info if each.name not in weights]
        graph.ClearField("value_info")
        graph.value_info.extend(others)


def _readable(content: bytes) -> bytes:
    """A string as the text can hold it; what is no UTF-8 with escapes."""
    if len(content) <= _LONGEST_STRING and byte_strings.is_text(content):
        return content
    return clipped(content.decode("utf-8", "backslashreplace"), _LONGEST_STRING).encode()


def _abbreviated(model: ir.Model) -> onnx.ModelProto:
    """The proto of a model without the content of its large initializers."""
    from onnxsmith.graphs.file_reference import Reference  # with onnx-ir, which is heavy

    large: dict[str, ir.TensorProtocol] = {}
    originals: list[tuple[ir.Value, ir.TensorProtocol]] = []
    try:
        for number, (value, tensor) in enumerate(_large(model)):
            originals.append((value, tensor))
            shape: Any = tensor.shape
            large[str(number)] = tensor
            value.const_value = Reference(
                str(number), None, None, tensor.dtype, shape=shape, name=value.name or ""
            )
        proto = files.to_proto(model)
    finally:
        for value, tensor in originals:
            value.const_value = tensor
    for stand_in in raw.tensors_of(proto):
        if stand_in.data_location == onnx.TensorProto.EXTERNAL:
            _abbreviate(stand_in, large[stand_in.external_data[0].value])
    return proto


def _large(model: ir.Model) -> Iterator[tuple[ir.Value, ir.TensorProtocol]]:
    for graph in graphs_of(model.graph):
        for value in graph.initializers.values():
            tensor = value.const_value
            if tensor is not None and tensor.size > _MOST_ELEMENTS:
                yield value, tensor


def _abbreviate(proto: onnx.TensorProto, tensor: ir.TensorProtocol) -> None:
    """Put a few elements in the place of all of them; ONNX's text has a form for data that lies elsewhere."""
    first = cast(Any, np.asarray(tensor.numpy()).reshape(-1)[:_SHOWN_ELEMENTS])
    elements = ", ".join(clipped(_element(each), 40) for each in first.tolist())
    for name in (
        "raw_data",
        "float_data",
        "int32_data",
        "int64_data",
        "double_data",
        "uint64_data",
        "string_data",
    ):
        proto.ClearField(cast(Any, name))
    proto.ClearField("external_data")
    proto.data_location = onnx.TensorProto.EXTERNAL
    proto.external_data.add(key=_KEY, value=f"{elements}, …")


def _element(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)
