"""`onnxsmith info m.onnx`: what is in a model."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from onnxsmith.cli import terminal
from onnxsmith.cli.counts import LONGEST_COUNT
from onnxsmith.cli.quick_description import quick_description
from onnxsmith.cli.report import Report
from onnxsmith.cli.sizes import described_bytes
from onnxsmith.cli.streams import STREAM, check_words, read_input, read_proto, shown
from onnxsmith.diagnostics import clipped, printable
from onnxsmith.graphs import files

if TYPE_CHECKING:
    import onnx


def run(options: argparse.Namespace, report: Report) -> int:
    """Print what models take, give and hold."""
    check_words(options.models)

    def work(word: str) -> tuple[dict[str, Any], str]:
        with terminal.progress(f"reading {shown(word)}"):
            content = _described(word, options)
        return content, as_text(content, shown(word))

    return report.each(options.models, work)


def _described(word: str, options: argparse.Namespace) -> dict[str, Any]:
    """All that is shown of a model; a plain file is described by its proto alone, in a fraction of the time."""
    proto = read_proto(read_input()) if word == STREAM else files.read(word)[0]
    size = proto.ByteSize() if word == STREAM else Path(word).stat().st_size
    found = None if options.nodes or options.dim else quick_description(proto, with_weights=options.weights)
    if found is None:
        from onnxsmith.cli.description import describe  # with onnx-ir, which takes longer than all else

        found = describe(
            proto,
            word,
            sizes=options.dim,
            with_weights=options.weights,
            with_nodes=options.nodes,
        )
    content = {"bytes": size, **found}
    if options.provider:
        content["provider"] = _assigned(proto if word == STREAM else word, options.provider)
    return content


def _assigned(given: onnx.ModelProto | str, providers: list[str]) -> dict[str, Any]:
    """The nodes of the model by the provider that runs them, as ONNX Runtime decides when it opens it."""
    from onnxsmith.graphs.model import model_of  # with onnx-ir, which takes longer than all else
    from onnxsmith.runtime.assigned_nodes import assigned_nodes  # with a runtime, likewise
    from onnxsmith.runtime.settings import using  # likewise

    with using(runtime="onnxruntime", providers=providers) as settings:
        found = assigned_nodes(model_of(given, "info").handed_over(), settings)
    return {
        "names": [name for name, _ in settings.providers],
        "operators": {name: dict(each) for name, each in found.operators.items()},
        "on_cpu": dict(found.on_cpu),
        "copies": found.copies,
    }


def _provider_rows(found: dict[str, Any]) -> list[str]:
    """The lines about providers."""
    lines = ["", f"on {', '.join(found['names'])}, with ONNX Runtime's own optimisations"]
    rows = [(name, str(sum(each.values()))) for name, each in found["operators"].items()]
    left: dict[str, int] = found["on_cpu"] if "CPUExecutionProvider" not in found["names"] else {}
    lines += _columns(rows)
    if left:
        names = ", ".join(f"{name} ({count})" for name, count in left.items())
        lines += [f"  left to the CPU: {clipped(names, LONGEST_COUNT)}"]
    return [*lines, f"  copies between devices in each run: {found['copies']}"]


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
        lines += [f"  not counted: {clipped(names, LONGEST_COUNT)}"]
    if content["activation_bytes"] is not None:
        lines += [f"values on the way: {described_bytes(content['activation_bytes'])} at the most"]
    else:
        lines += [f"values on the way: not known, since {content['activation_unknown']}"]
    if "provider" in content:
        lines += _provider_rows(content["provider"])
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
    return node["address"], called, clipped(outputs, LONGEST_COUNT), node["source"] or ""


def _function(each: dict[str, Any]) -> str:
    overload = f":{each['overload']}" if each["overload"] else ""
    parameters = [*each["inputs"], *(f"{name}=" for name in each["attributes"])]
    count = sum(each["nodes"].values())
    nodes = "1 node" if count == 1 else f"{count} nodes"
    name = f"{each['domain']}.{each['name']}{overload}"
    return f"{name}({', '.join(parameters)}) -> {', '.join(each['outputs'])}, {nodes}"
