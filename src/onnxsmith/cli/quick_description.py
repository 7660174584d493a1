"""The content of `info` for JSON, from the proto of a plain file, without onnx-ir.

A plain file has a graph without bodies and functions, values that are given once and before they are read, and weights
inside. All else is left to `description`, which gives the same where both can.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import onnx

from onnxsmith.cli.counts import by_type, in_words, most_frequent_first
from onnxsmith.cli.plain_graph import NotPlain, PlainGraph, PlainNode
from onnxsmith.costs import Counting, bytes_of, peak_bytes, unknown_size, weight_of
from onnxsmith.errors import OnnxsmithError
from onnxsmith.graphs import raw, size_conditions
from onnxsmith.graphs.tensor_sizes import check_tensor
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import AnyValueType


def quick_description(proto: onnx.ModelProto, *, with_weights: bool = False) -> dict[str, Any] | None:
    """Describe a plain file; None for one that is not plain."""
    try:
        return _description(proto, with_weights)
    except (NotPlain, OnnxsmithError, ValueError, TypeError):
        return None  # what is wrong with it, the other road says


def _description(proto: onnx.ModelProto, with_weights: bool) -> dict[str, Any]:
    if proto.functions or proto.training_info or raw.is_beyond_onnx_ir(proto):
        raise NotPlain
    if any(isinstance(text, bytes) for text in raw.texts_of(proto)):
        raise NotPlain
    for tensor in raw.tensors_of(proto):
        check_tensor(tensor, "the file")
    graph = PlainGraph(proto, _infer)
    weights = [_weight(name, tensor) for name, tensor in graph.weights.items()]
    count = Counting()
    flops = count.graph(graph)
    by_operator = Counter(node.operator for node in graph.nodes)
    ordered = sorted(
        by_operator,
        key=lambda name: (
            -weight_of(count.by_operator[name]) if name in count.by_operator else 0,
            -by_operator[name],
            name,
        ),
    )
    peak = _peak(graph)
    content: dict[str, Any] = {
        "name": proto.graph.name,
        "producer": " ".join(part for part in (proto.producer_name, proto.producer_version) if part),
        "ir_version": proto.ir_version,
        "opsets": {domain or "ai.onnx": version for domain, version in graph.opset_imports.items()},
        "inputs": _ports(graph, [each for each in graph.inputs if each not in graph.initializers]),
        "optional_inputs": _ports(graph, [each for each in graph.inputs if each in graph.initializers]),
        "outputs": _ports(graph, graph.outputs),
        "sizes": [
            {"condition": each.text, "because": each.because}
            for each in size_conditions.read({each.key: each.value for each in proto.metadata_props})
        ],
        "nodes": most_frequent_first(by_operator),
        "functions": [],
        "weights": {
            "count": len(weights),
            "elements": sum(each["elements"] for each in weights),
            "bytes": sum(each["bytes"] for each in weights),
            "by_type": by_type(weights),
        },
        "flops": in_words(flops),
        "flops_by_operator": {
            name: in_words(count.by_operator[name])
            for name in ordered
            if name in count.by_operator and count.by_operator[name].terms
        },
        "flops_not_counted": dict(sorted(count.uncounted.items())),
        "activation_bytes": peak if isinstance(peak, int) else None,
        "activation_unknown": peak if isinstance(peak, str) else "",
        "external_data": [],
    }
    if with_weights:
        content["weights"]["list"] = sorted(weights, key=lambda each: -each["bytes"])
    return content


def _infer(graph: PlainGraph) -> Mapping[str, AnyValueType]:
    from onnxsmith.cli.plain_inference import inferred_types  # heavy, and most files declare their types

    return inferred_types(graph)


def _ports(graph: PlainGraph, names: list[str]) -> list[dict[str, str]]:
    return [{"name": name, "type": repr(graph.declared[name])} for name in names]


def _weight(name: str, tensor: onnx.TensorProto) -> dict[str, Any]:
    dtype, elements = DType(tensor.data_type), 1
    for each in tensor.dims:
        elements *= each
    return {
        "name": name,
        "type": dtype.name,
        "shape": list(tensor.dims),
        "elements": elements,
        "bytes": 0 if dtype is DType.STRING else -(-elements * dtype.bits // 8),
        "file": None,
    }


def _peak(graph: PlainGraph) -> int | str:
    """The most bytes that values take at one time; where a size is not known, which, in words."""
    given = [name for name in graph.inputs if name not in graph.initializers]
    sizes: dict[str, int] = {}
    last_use: dict[str, int] = {}
    results = [[each for each in node.proto.output if each] for node in graph.nodes]
    for name in (*given, *(each for names in results for each in names)):
        kind = graph.type_of(name)
        size = bytes_of(kind)
        if size is None:
            return unknown_size(name, kind)
        sizes[name] = size
        last_use[name] = -1
    for number, node in enumerate(graph.nodes):
        last_use |= dict.fromkeys((each for each in _taken_and_given(node) if each in sizes), number)
    last_use |= dict.fromkeys(graph.outputs, len(graph.nodes))
    return peak_bytes(given, results, {name: last_use[name] for name in sizes}, sizes)


def _taken_and_given(node: PlainNode) -> list[str]:
    return [*node.proto.input, *node.proto.output]
