"""The content of `info` for JSON, from a model that was read whole.

`quick_description` gives the same of plain files, without reading them whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import onnx

from onnxsmith.cli.counts import by_type, in_words, most_frequent_first
from onnxsmith.cli.inputs import read_sizes
from onnxsmith.cli.report import Usage
from onnxsmith.cli.streams import STREAM
from onnxsmith.graphs import size_conditions, soundness
from onnxsmith.graphs.model import Model
from onnxsmith.graphs.model_content import read
from onnxsmith.graphs.node_counts import operator_counts
from onnxsmith.inspection import Node, WeightInfo, nodes_of, summary, weights_of
from onnxsmith.passes.surgery import with_shapes


def describe(
    proto: onnx.ModelProto,
    word: str,
    *,
    sizes: Sequence[str] = (),
    with_weights: bool = False,
    with_nodes: bool = False,
) -> dict[str, Any]:
    """Describe a model, for JSON; `sizes` are words such as `N=4` that give its dimensions sizes."""
    model = Model.from_proto(proto) if word == STREAM else Model.load(word)
    with soundness.blaming(proto):
        return _described(model, word, sizes, with_weights=with_weights, with_nodes=with_nodes)


def _described(
    model: Model, word: str, sizes: Sequence[str], *, with_weights: bool, with_nodes: bool
) -> dict[str, Any]:
    given = read_sizes((*model.inputs, *model.optional_inputs), sizes)
    if "?" in given:
        raise Usage("--dim ?: info takes sizes of dimensions that have a name")
    model = with_shapes(model, given) if given else model
    held = read(model).ir
    found = summary(model)
    weights = [_weight(each) for each in weights_of(model).infos()]
    content: dict[str, Any] = {
        "name": held.graph.name,
        "producer": " ".join(part for part in (held.producer_name, held.producer_version) if part),
        "ir_version": held.ir_version,
        "opsets": {domain or "ai.onnx": version for domain, version in model.opset_imports.items()},
        "inputs": [{"name": each.name, "type": repr(each.type)} for each in model.inputs],
        "optional_inputs": [{"name": each.name, "type": repr(each.type)} for each in model.optional_inputs],
        "outputs": [{"name": each.name, "type": repr(each.type)} for each in model.outputs],
        "sizes": [
            {"condition": each.text, "because": each.because}
            for each in size_conditions.read(held.metadata_props)
        ],
        # All of them, those of functions too, as everywhere: `model.nodes` has as many.
        "nodes": most_frequent_first(operator_counts(held)),
        "functions": [
            {
                "domain": each.domain,
                "name": each.name,
                "overload": each.overload,
                "inputs": [value.name for value in each.inputs],
                "attributes": list(each.attributes),
                "outputs": [value.name for value in each.outputs],
                "nodes": most_frequent_first(operator_counts(each)),
            }
            for each in held.functions.values()
        ],
        "weights": {
            "count": len(weights),
            "elements": found.parameters,
            "bytes": found.weight_bytes,
            "by_type": by_type(weights),
        },
        "flops": in_words(found.flops),
        "flops_by_operator": {
            each.operator: in_words(each.flops) for each in found.operators if each.flops.terms
        },
        "flops_not_counted": dict(found.uncounted),
        "activation_bytes": found.activation_bytes,
        "activation_unknown": found.activation_unknown,
        "external_data": _external_files(weights, Path(word)),
    }
    if with_weights:
        content["weights"]["list"] = sorted(weights, key=lambda each: -each["bytes"])
    if with_nodes:
        content["node_list"] = [_node(each) for each in nodes_of(model)]
    return content


def _node(node: Node) -> dict[str, Any]:
    return {
        "address": node.address,
        "operator": node.operator,
        "name": node.name,
        "inputs": [None if each is None else each.name for each in node.inputs],
        "outputs": [{"name": each.name, "type": repr(each.type)} for each in node.outputs],
        "source": None if node.source is None else str(node.source),
    }


def _weight(info: WeightInfo) -> dict[str, Any]:
    return {
        "name": info.name,
        "type": info.dtype.name,
        "shape": list(info.shape),
        "elements": info.size,
        "bytes": info.nbytes,
        "file": info.file,
    }


def _external_files(weights: list[dict[str, Any]], path: Path) -> list[dict[str, Any]]:
    files = dict.fromkeys(each["file"] for each in weights if each["file"] is not None)
    return [{"file": name, "bytes": (path.parent / name).stat().st_size} for name in files]
