"""Writes the model that a command makes, as `-o`, `--external-data` and `--force` say, and says so."""

from __future__ import annotations

import argparse
import os
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from onnxsmith.cli.reading import load_model
from onnxsmith.cli.report import Report, Usage
from onnxsmith.cli.sizes import described_bytes
from onnxsmith.cli.streams import STREAM, shown, write_output
from onnxsmith.cli.terminal import progress
from onnxsmith.errors import RuntimeSupportWarning
from onnxsmith.graphs.model import Model

#: A model, or one with a report.
T = TypeVar("T", bound=Model)


def check_output(options: argparse.Namespace, report: Report) -> None:
    """Refuse what cannot go together, before anything is done."""
    if options.output == STREAM and (report.as_json or options.external_data):
        raise Usage(
            "-o - writes the model to standard output: nothing else can go there, and nothing beside it"
        )


def made_of(options: argparse.Namespace, doing: str, make: Callable[[Model], T]) -> T:
    """The model that a command makes of the one that it is given."""
    model = load_model(options.model)
    with progress(f"{doing} {shown(options.model)}"):
        return make(model)


def beside(word: str, ending: str) -> str:
    """The file that a model goes to that was made of another one: `net.onnx` -> `net_part.onnx`."""
    return f"{'model' if word == STREAM else Path(word).stem}_{ending}.onnx"


def write_model(
    model: Model,
    options: argparse.Namespace,
    report: Report,
    default: str,
    said: dict[str, Any] | None = None,
    told: str = "",
) -> int:
    """Write a model and say so; `said` is what the JSON has besides, `told` the text. The result is the exit code."""
    if options.output == STREAM:
        write_output(model.proto.SerializeToString())
        return 0
    output = Path(options.output or default)
    data = output.parent / f"{output.name}.data"
    before = _written_at(data)
    with progress(f"writing {output}"), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", RuntimeSupportWarning)
        model.save(output, external_data=options.external_data or None, overwrite=options.force)
    warned = _said_again(caught)
    size = output.stat().st_size
    has_data = _written_at(data) != before  # else it is of another model that was here
    written = [str(output), str(data)] if has_data else [str(output)]
    content = {**(said or {}), "written": written, "bytes": size, "summary": repr(model), "warnings": warned}
    text = "\n".join([f"{output}: {described_bytes(size)}", repr(model), *warned])
    report.result(content, f"{text}\n{told}" if told else text)
    return 0


def _said_again(caught: Sequence[warnings.WarningMessage]) -> list[str]:
    """Texts of warnings about the runtime, for the command to print; other warnings stay warnings."""
    for each in caught:
        if not issubclass(each.category, RuntimeSupportWarning):
            warnings.warn_explicit(str(each.message), each.category, each.filename, each.lineno)
    return [str(each.message) for each in caught if issubclass(each.category, RuntimeSupportWarning)]


def _written_at(path: Path) -> int | None:
    return path.stat().st_mtime_ns if os.path.exists(path) else None
