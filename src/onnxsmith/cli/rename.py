"""`onnxsmith rename m.onnx --inputs old=new -o renamed.onnx`: other names for values, inputs, outputs and nodes."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from onnxsmith.cli.declared.changing import RENAMED
from onnxsmith.cli.model_output import beside, check_output, made_of, write_model
from onnxsmith.cli.report import Report, Usage
from onnxsmith.cli.type_text import split_assignment
from onnxsmith.passes.surgery import rename


def run(options: argparse.Namespace, report: Report) -> int:
    """Rename and write."""
    check_output(options, report)
    values, inputs, outputs, nodes = (_pairs(getattr(options, kind), f"--{kind}") for kind in RENAMED)
    names = {"inputs": inputs, "outputs": outputs, "nodes": nodes}
    renamed = made_of(
        options, "renaming", lambda model: rename(model, values, **names, prefix=options.prefix)
    )
    return write_model(renamed, options, report, beside(options.model, "renamed"), {"file": options.model})


def _pairs(words: Sequence[str], option: str) -> dict[str, str] | None:
    """Old names and new ones; None where nothing was said."""
    pairs = [split_assignment(word, option, "old=new") for word in words]
    if len({name for name, _ in pairs}) < len(pairs):
        raise Usage(f"{option} names the same thing twice")
    return dict(pairs) or None
