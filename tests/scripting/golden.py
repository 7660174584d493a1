"""The models and the refusals of snippets as text, which is kept in a file and compared.

Values have their names, as a user reads them in a viewer. Places in the source are the text that is underlined there:
so a snippet may move in its file.
"""

from __future__ import annotations

import linecache
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import onnx
from onnx import numpy_helper

from onnxsmith.errors import OnnxsmithError
from onnxsmith.source import Span

#: Constants with more elements are shown by their shape.
_MOST_ELEMENTS = 8
#: Of longer models the beginning is kept, and how much follows.
_MOST_LINES = 80


def model_text(proto: onnx.ModelProto) -> str:
    """All graphs and functions of a model, a node a line. A small constant stands where it is used."""
    lines = list(_graph(proto.graph, "", {}))
    for each in proto.functions:
        lines.append(f"{each.name}({', '.join([*each.input, *each.attribute])}) => {', '.join(each.output)}")
        lines += _nodes(each.node, " ", {})
    cut = [] if len(lines) <= _MOST_LINES else [f"and {len(lines) - _MOST_LINES} lines more"]
    return "\n".join(lines[:_MOST_LINES] + cut)


def _graph(graph: onnx.GraphProto, margin: str, constants: Mapping[str, str]) -> Iterator[str]:
    ports = [", ".join(each.name for each in side) for side in (graph.input, graph.output)]
    yield f"{margin}({ports[0]}) => {ports[1]}"
    own = {each.name: _tensor(each) for each in graph.initializer}
    yield from _nodes(graph.node, f"{margin} ", {**constants, **own})


def _nodes(nodes: Iterable[onnx.NodeProto], margin: str, constants: Mapping[str, str]) -> Iterator[str]:
    for node in nodes:
        name = f"{node.domain}.{node.op_type}" if node.domain else node.op_type
        given = [constants.get(each, each) for each in node.input]
        inner = {each.name: each.g for each in node.attribute if each.type == onnx.AttributeProto.GRAPH}
        plain = [f"{each.name}={_value(each)}" for each in node.attribute if each.name not in inner]
        yield f"{margin}{', '.join(node.output)} = {name}({', '.join([*given, *plain])})"
        for key, graph in inner.items():
            yield f"{margin} {key}"
            yield from _graph(graph, f"{margin}  ", constants)


def _value(attribute: onnx.AttributeProto) -> str:
    if attribute.ref_attr_name:
        return f"@{attribute.ref_attr_name}"
    value: Any = onnx.helper.get_attribute_value(attribute)
    if isinstance(value, onnx.TensorProto):
        return _tensor(value)
    if isinstance(value, bytes):
        return repr(value.decode())
    return repr(list(value) if attribute.type in _LISTS else value).replace("\n", " ")


_LISTS = (onnx.AttributeProto.INTS, onnx.AttributeProto.FLOATS, onnx.AttributeProto.STRINGS)


def _tensor(tensor: onnx.TensorProto) -> str:
    array = numpy_helper.to_array(tensor)
    kind = onnx.TensorProto.DataType.Name(tensor.data_type).lower()
    values = array.tolist() if array.size <= _MOST_ELEMENTS else f"of shape {array.shape}"
    # As Python's numbers are written, where they are of the type that those become.
    return f"{values}" if kind in ("float", "int64", "bool") else f"{kind} {values}"


def error_text(error: OnnxsmithError) -> str:
    """The error's class and message, the places it marks with what it says of each, and its help."""
    lines = [f"{type(error).__name__}: {error.message}"]
    lines += [f"at {_marked(each.span)}{f' ({each.text})' if each.text else ''}" for each in error.labels]
    lines += [f"help: {error.help}"] if error.help else []
    return "\n".join(lines)


def _marked(span: Span) -> str:
    text = linecache.getline(span.file, span.line).rstrip()
    return text[span.column : span.end_column] if span.end_line == span.line else text[span.column :]


def written(texts: dict[str, str]) -> str:
    """The file with a text for each name."""
    margins = {name: text.replace("\n", "\n ") for name, text in texts.items()}
    return "".join(f"{name}\n {margins[name]}\n" for name in sorted(texts))


def read(text: str) -> dict[str, str]:
    """The texts by their names."""
    found: dict[str, list[str]] = {}
    for line in text.splitlines():
        if line.startswith(" "):
            found[next(reversed(found))].append(line[1:])
        else:
            found[line] = []
    return {name: "\n".join(lines) for name, lines in found.items()}
