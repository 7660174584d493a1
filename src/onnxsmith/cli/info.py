"""`onnxsmith info m.onnx`: what is in a model."""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path
from typing import Any

from onnxsmith.cli import terminal
from onnxsmith.cli.inputs import read_sizes
from onnxsmith.cli.report import Report, Usage
from onnxsmith.cli.sizes import described_bytes
from onnxsmith.cli.streams import STREAM, check_words, load_model, shown
from onnxsmith.diagnostics import clipped, printable
from onnxsmith.graphs import size_conditions
from onnxsmith.graphs.held_model import read
from onnxsmith.graphs.model import Model
from onnxsmith.graphs.node_counts import operator_counts
from onnxsmith.inspection import Count, Node, WeightInfo, nodes_of, summary, weights_of
from onnxsmith.passes.surgery import with_shapes


def run(options: argparse.Namespace, report: Report) -> int:
    """Print what models take, give and hold."""
    check_words(options.models)

    def work(word: str) -> tuple[dict[str, Any], str]:
        with terminal.progress(f"reading {shown(word)}"):
            model = load_model(word)
            sizes = read_sizes((*model.inputs, *model.optional_inputs), options.dim)
            if "?" in sizes:
                raise Usage("--dim ?: info takes sizes of dimensions that have a name")
            content = describe(
                with_shapes(model, sizes) if sizes else model,
                word,
                with_weights=options.weights,
                with_nodes=options.nodes,
            )
        return content, as_text(content, shown(word))

    return report.each(options.models, work)


def describe(
    model: Model, word: str, *, with_weights: bool = False, with_nodes: bool = False
) -> dict[str, Any]:
    """Everything that `info` shows, for JSON."""
    held = read(model).ir
    found = summary(model)
    weights = [_weight(each) for each in weights_of(model).infos()]
    path = Path(word)
    content: dict[str, Any] = {
        "bytes": model.proto.ByteSize() if word == STREAM else path.stat().st_size,
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
        "nodes": _sorted(operator_counts(held)),
        "functions": [
            {
                "domain": each.domain,
                "name": each.name,
                "overload": each.overload,
                "inputs": [value.name for value in each.inputs],
                "attributes": list(each.attributes),
                "outputs": [value.name for value in each.outputs],
                "nodes": _sorted(operator_counts(each)),
            }
            for each in held.functions.values()
        ],
        "weights": {
            "count": len(weights),
            "elements": found.parameters,
            "bytes": found.weight_bytes,
            "by_type": _by_type(weights),
        },
        "flops": _count(found.flops),
        "flops_by_operator": {
            each.operator: _count(each.flops) for each in found.operators if each.flops.terms
        },
        "flops_not_counted": dict(found.uncounted),
        "activation_bytes": found.activation_bytes,
        "activation_unknown": found.activation_unknown,
        "external_data": _external_files(weights, path),
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


def _count(count: Count) -> int | str:
    """A number, or an expression of named sizes."""
    number = count.number
    return clipped(repr(count), _LONGEST_COUNT) if number is None else number


def _sorted(counts: Counter[str]) -> dict[str, int]:
    """The most frequent first."""
    return dict(sorted(counts.items(), key=lambda each: (-each[1], each[0])))


def _by_type(weights: list[dict[str, Any]]) -> dict[str, int]:
    sizes: Counter[str] = Counter()
    for each in weights:
        sizes[each["type"]] += each["bytes"]
    return dict(sizes.most_common())


def _external_files(weights: list[dict[str, Any]], path: Path) -> list[dict[str, Any]]:
    files = dict.fromkeys(each["file"] for each in weights if each["file"] is not None)
    return [{"file": name, "bytes": (path.parent / name).stat().st_size} for name in files]


_LONGEST_COUNT = 200
_LONGEST_INPUTS = 60
#: In a file of IR version 3 every weight is an optional input.
_SHOWN_INPUTS = 40


def as_text(content: dict[str, Any], called: str) -> str:
    """The same for people."""
    opsets = ", ".join(f"{domain} {version}" for domain, version in content["opsets"].items())
    lines = [
        f"{called}: {described_bytes(content['bytes'])}, graph {content['name']!r}",
        f"IR version {content['ir_version']}, {opsets}, by {content['producer'] or 'somebody unnamed'}",
    ]
    for title in ("inputs", "optional_inputs", "outputs"):
        rows = [(each["name"], each["type"]) for each in content[title]]
        if title == "optional_inputs" and not rows:
            continue
        lines += ["", title.replace("_", " "), *_columns(rows[:_SHOWN_INPUTS])]
        lines += [f"  and {len(rows) - _SHOWN_INPUTS} more"] if len(rows) > _SHOWN_INPUTS else []
    if content["sizes"]:
        rows = [(each["condition"], each["because"]) for each in content["sizes"]]
        lines += ["", "only for sizes", *_columns(rows)]
    total = sum(content["nodes"].values())
    lines += ["", f"nodes: {total}", *_columns([(name, str(n)) for name, n in content["nodes"].items()])]
    if "node_list" in content:
        lines += ["", *_columns([_node_row(each) for each in content["node_list"]])]
    if content["functions"]:
        lines += ["", "functions"]
        lines += [f"  {_function(each)}" for each in content["functions"]]
    weights = content["weights"]
    if weights["count"]:
        sizes = ", ".join(f"{name} {described_bytes(size)}" for name, size in weights["by_type"].items())
        lines += ["", f"weights: {weights['count']}, {weights['elements']:,} elements", f"  {sizes}"]
        rows = [
            (each["name"], f"{each['type']}{each['shape']}", described_bytes(each["bytes"]))
            for each in weights.get("list", ())
        ]
        lines += _columns(rows)
    flops = content["flops"]
    lines += ["", f"flops: {flops:,}" if isinstance(flops, int) else f"flops: {flops}"]
    if content["flops_not_counted"]:
        names = ", ".join(f"{name} ({count})" for name, count in content["flops_not_counted"].items())
        lines += [f"  not counted: {clipped(names, _LONGEST_COUNT)}"]
    if content["activation_bytes"] is not None:
        lines += [f"values on the way: {described_bytes(content['activation_bytes'])} at the most"]
    else:
        lines += [f"values on the way: not known, since {content['activation_unknown']}"]
    if content["external_data"]:
        lines += ["", "external data"]
        lines += _columns(
            [(each["file"], described_bytes(each["bytes"])) for each in content["external_data"]]
        )
    return printable("\n".join(lines))


def _columns(rows: list[tuple[str, ...]]) -> list[str]:
    if not rows:
        return []
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    padded = [[f"{cell:{width}}" for cell, width in zip(row, widths, strict=True)] for row in rows]
    return [f"  {'  '.join(cells).rstrip()}" for cells in padded]


def _node_row(node: dict[str, Any]) -> tuple[str, ...]:
    inputs = ", ".join("_" if each is None else each for each in node["inputs"])
    outputs = ", ".join(f"{each['name']}: {each['type']}" for each in node["outputs"])
    called = f"{node['operator']}({clipped(inputs, _LONGEST_INPUTS)})"
    return node["address"], called, clipped(outputs, _LONGEST_COUNT), node["source"] or ""


def _function(each: dict[str, Any]) -> str:
    overload = f":{each['overload']}" if each["overload"] else ""
    parameters = [*each["inputs"], *(f"{name}=" for name in each["attributes"])]
    count = sum(each["nodes"].values())
    nodes = "1 node" if count == 1 else f"{count} nodes"
    name = f"{each['domain']}.{each['name']}{overload}"
    return f"{name}({', '.join(parameters)}) -> {', '.join(each['outputs'])}, {nodes}"
