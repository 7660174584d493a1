"""Strings of a model that are no UTF-8: compiled engines and tokenizers that operators keep in string attributes.

onnx-ir reads and writes text only. In its models such a string is text with surrogate escapes, as Python has them for
file names; on the way to and from a proto a stand-in takes its place.
"""

from __future__ import annotations

import contextlib
from collections.abc import Generator, Iterable, Iterator
from typing import Any, cast

import onnx

from onnxsmith.graphs.lazy_ir import ir
from onnxsmith.graphs.rewriting.scopes import graphs_of_proto

#: No text of a model begins so, and if one does, its number tells it apart.
_MARK = "\0onnxsmith.bytes:"
_STRINGS = (onnx.AttributeProto.STRING, onnx.AttributeProto.STRINGS)


def as_bytes(value: str | bytes) -> bytes:
    """The content of a string attribute."""
    return value if isinstance(value, bytes) else value.encode("utf-8", "surrogateescape")


def is_text(content: bytes) -> bool:
    """True if bytes are UTF-8."""
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def attributes_of(proto: onnx.ModelProto) -> Iterator[onnx.AttributeProto]:
    """The attributes of all nodes, and the defaults of functions."""
    for graph in graphs_of_proto(proto):
        for node in graph.node:
            yield from node.attribute
        if isinstance(graph, onnx.FunctionProto):
            yield from graph.attribute_proto


def read(proto: onnx.ModelProto) -> ir.Model:
    """The onnx-ir model of a proto that may have such strings; the proto is as it was, in the end."""
    held: list[bytes] = []
    changed: list[tuple[onnx.AttributeProto, bytes, list[bytes]]] = []
    for each in attributes_of(proto):
        if each.type not in (onnx.AttributeProto.STRING, onnx.AttributeProto.STRINGS):
            continue
        contents = [each.s] if each.type == onnx.AttributeProto.STRING else list(each.strings)
        if not all(map(is_text, contents)):
            changed.append((each, each.s, list(each.strings)))
            marks = [f"{_MARK}{len(held) + number}".encode() for number in range(len(contents))]
            held += contents
            if each.type == onnx.AttributeProto.STRING:
                each.s = marks[0]
            else:
                each.strings[:] = marks
    try:
        model = ir.from_proto(proto)
    finally:
        for each, single, several in changed:
            if each.type == onnx.AttributeProto.STRING:
                each.s = single
            else:
                each.strings[:] = several
    if held:
        marked = {f"{_MARK}{number}": content for number, content in enumerate(held)}

        def shown(text: str) -> str:
            content = marked.get(text)
            return text if content is None else content.decode("utf-8", "surrogateescape")

        for holder in _holders(model):
            for attribute in list(holder.values()):
                _replace(holder, attribute, shown)
    return model


def _holders(model: ir.Model) -> Iterator[Any]:
    """Whatever has attributes: nodes, and functions with their defaults."""
    roots: list[ir.Graph | ir.Function] = [model.graph, *model.functions.values()]
    for root in roots:
        if isinstance(root, ir.Function):
            yield root.attributes
        for node in ir.traversal.RecursiveGraphIterator(root):  # of a view of a graph, too
            yield node.attributes


def _replace(holder: Any, attribute: ir.Attr, change: Any) -> bool:
    """Put another text into an attribute of strings; whether that was necessary."""
    if attribute.type not in _STRINGS or attribute.is_ref() or attribute.value is None:
        return False
    if attribute.type == ir.AttributeType.STRING:
        value: Any = change(attribute.value)
        is_same = value == attribute.value
    else:
        given = cast("Iterable[Any]", attribute.value)
        value = tuple(change(each) for each in given)
        is_same = value == tuple(given)
    if not is_same:
        holder[attribute.name] = ir.Attr(
            attribute.name, attribute.type, value, doc_string=attribute.doc_string
        )
    return not is_same


@contextlib.contextmanager
def hidden(model: ir.Model) -> Generator[list[bytes]]:
    """Within the block, stand-ins are in the places of such strings; `show` puts them into the proto."""
    held: list[bytes] = []

    def hide(value: Any) -> Any:
        content = as_bytes(value)
        if isinstance(value, str) and is_text(content):
            return value
        held.append(content)
        return f"{_MARK}{len(held) - 1}"

    originals: list[tuple[Any, ir.Attr]] = []
    for holder in _holders(model):
        changed = [each for each in list(holder.values()) if _replace(holder, each, hide)]
        originals += [(holder, each) for each in changed]
    try:
        yield held
    finally:
        for holder, attribute in originals:
            holder[attribute.name] = attribute


def show(proto: onnx.ModelProto, held: list[bytes]) -> None:
    """Put the strings that were hidden into a proto."""
    marked = {f"{_MARK}{number}".encode(): content for number, content in enumerate(held)}
    for each in attributes_of(proto) if held else ():
        if each.type == onnx.AttributeProto.STRING:
            each.s = marked.get(each.s, each.s)
        elif each.type == onnx.AttributeProto.STRINGS:
            each.strings[:] = [marked.get(text, text) for text in each.strings]
