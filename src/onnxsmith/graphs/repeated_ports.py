"""Ports of a graph that stand for one value: an output that is listed twice, an input that is an output, too.

A file may note another type for each; inference of onnx fills in one of them only. onnx-ir gives a value the last type
that it reads. Here all of them get what is said of any. Types that contradict each other are left to onnx-ir.
"""

from __future__ import annotations

import contextlib
from collections import defaultdict
from collections.abc import Generator, Sequence

import onnx

from onnxsmith.graphs.rewriting.copies import copied
from onnxsmith.graphs.rewriting.scopes import graphs_of_proto


@contextlib.contextmanager
def agreeing(proto: onnx.ModelProto) -> Generator[None]:
    """Within the block, ports of one value say the same; afterwards the proto is as it was."""
    before: list[tuple[onnx.ValueInfoProto, bytes]] = []
    for graph in graphs_of_proto(proto):
        if isinstance(graph, onnx.GraphProto):
            for ports in _of_one_value(graph):
                before += [(each, each.SerializeToString()) for each in ports]
                _agree(ports)
    try:
        yield
    finally:
        for port, content in before:
            port.ParseFromString(content)


def _of_one_value(graph: onnx.GraphProto) -> list[list[onnx.ValueInfoProto]]:
    ports: defaultdict[str, list[onnx.ValueInfoProto]] = defaultdict(list)
    for each in (*graph.input, *graph.output):
        ports[each.name].append(each)
    return [each for each in ports.values() if len(each) > 1]


def _agree(ports: Sequence[onnx.ValueInfoProto]) -> None:
    whole = copied(ports[0])
    for each in ports[1:]:
        whole.doc_string = each.doc_string or whole.doc_string
        whole.type.CopyFrom(_both(whole.type, each.type))
    for each in ports:
        if whole.doc_string:
            each.doc_string = whole.doc_string
        each.type.CopyFrom(whole.type)


def _both(one: onnx.TypeProto, other: onnx.TypeProto) -> onnx.TypeProto:
    """The common type of two; the second, where they contradict each other or are no tensors."""
    if other.WhichOneof("value") is None:
        return one
    if one.WhichOneof("value") != "tensor_type" or other.WhichOneof("value") != "tensor_type":
        return other
    result = copied(other)
    first, second = one.tensor_type, result.tensor_type
    if first.elem_type not in (0, second.elem_type) and second.elem_type:
        return other
    if first.elem_type:
        second.elem_type = first.elem_type
    if one.denotation and not result.denotation:
        result.denotation = one.denotation
    if not second.HasField("shape"):
        if first.HasField("shape"):
            second.shape.CopyFrom(first.shape)
    elif len(first.shape.dim) == len(second.shape.dim):
        for size, now in zip(first.shape.dim, second.shape.dim, strict=True):
            is_known = now.HasField("dim_value") or (now.dim_param and not size.HasField("dim_value"))
            # What a dimension means stands beside its size.
            denotation = now.denotation or size.denotation
            if not is_known:
                now.CopyFrom(size)
            if denotation:
                now.denotation = denotation
    return result
