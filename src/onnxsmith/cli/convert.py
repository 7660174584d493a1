"""`onnxsmith convert m.onnx --opset 21 -o out.onnx`: a model in another version of its opsets."""

from __future__ import annotations

import argparse
from pathlib import Path

from onnxsmith.cli.report import Report, Usage
from onnxsmith.cli.streams import STREAM, load_model, shown, write_output
from onnxsmith.cli.terminal import progress
from onnxsmith.cli.written_model import write_model
from onnxsmith.passes.versions import convert_version


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What can be said after `convert`."""
    parser.epilog = (
        "Up and down. A model that cannot be said in the version that is wanted is an error that names the nodes.\n"
        "  onnxsmith convert net.onnx --opset 21 -o newer.onnx\n"
        "  onnxsmith convert net.onnx --opset 17 --opset ai.onnx.ml=3 -o older.onnx"
    )
    parser.add_argument("model", metavar="MODEL", help="a model file; - is standard input")
    parser.add_argument(
        "--opset",
        action="append",
        required=True,
        metavar="VERSION",
        help="the version that is wanted, or DOMAIN=VERSION for another domain; may be repeated",
    )
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        help="the converted model's file; <model>.opset<version>.onnx by default; - is standard output",
    )
    parser.add_argument(
        "--force", action="store_true", help="replace a file that is there already and is not the model's"
    )
    parser.add_argument(
        "--external-data", action="store_true", help="put the weights in a file beside the model"
    )


def run(options: argparse.Namespace, report: Report) -> int:
    """Convert the model and write it."""
    if options.output == STREAM and (report.as_json or options.external_data):
        raise Usage(
            "-o - writes the model to standard output: nothing else can go there, and nothing beside it"
        )
    versions = _versions(options.opset)
    with progress(f"converting {shown(options.model)}"):
        model = convert_version(load_model(options.model), versions)
    if options.output == STREAM:
        write_output(model.proto.SerializeToString())
        return 0
    output = Path(options.output or _default_name(options.model, options.opset))
    content, text = write_model(model, output, external_data=options.external_data, force=options.force)
    changed = [str(each) for each in model.report.edits]
    said = "\n".join([text, *(f"  {each}" for each in changed)])
    report.result({"file": shown(options.model), **content, "changes": changed}, said)
    return 0


def _versions(words: list[str]) -> dict[str, int]:
    versions: dict[str, int] = {}
    for word in words:
        domain, _, number = word.rpartition("=")
        if not number.isdecimal():
            raise Usage(f"--opset takes a version, 21, or one of a domain, ai.onnx.ml=3, and not {word!r}")
        versions[domain] = int(number)
    return versions


def _default_name(word: str, opsets: list[str]) -> str:
    stem = "model" if word == STREAM else Path(word).stem
    return f"{stem}.opset{opsets[0].rpartition('=')[2]}.onnx"
