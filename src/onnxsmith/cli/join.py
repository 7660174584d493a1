"""`onnxsmith join a.onnx b.onnx -o ab.onnx`: several models as one, the results of each going into the next."""

from __future__ import annotations

import argparse

from onnxsmith.cli.model_output import check_output, write_model
from onnxsmith.cli.reading import load_model
from onnxsmith.cli.report import Report, Usage
from onnxsmith.cli.streams import check_words
from onnxsmith.cli.terminal import progress
from onnxsmith.cli.type_text import split_assignment
from onnxsmith.passes.surgery import compose, then


def run(options: argparse.Namespace, report: Report) -> int:
    """Join the models and write what they are together."""
    check_output(options, report)
    check_words(options.models)
    given: dict[str, list[str]] = {}
    for word in options.map:
        source, target = split_assignment(word, "--map", "output=input")
        given.setdefault(source, []).append(target)
    if given and len(options.models) != 2:
        raise Usage("--map is for two models: join others step by step")
    models = [load_model(word) for word in options.models]
    with progress("joining the models"):
        joined = then(*models, map=given) if given else compose(*models)
    return write_model(joined, options, report, "joined.onnx", {"file": options.models})
