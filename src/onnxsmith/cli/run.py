"""`onnxsmith run m.onnx --input x=x.npy`: a model on arrays from files, from literals, or made up."""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any, TypedDict, cast

from onnxsmith.cli.arrays import OutputFolder, readable, shown
from onnxsmith.cli.inputs import read_inputs
from onnxsmith.cli.reading import load_model
from onnxsmith.cli.report import Report, Usage
from onnxsmith.cli.streams import check_words
from onnxsmith.cli.streams import shown as shown_file
from onnxsmith.cli.terminal import progress
from onnxsmith.diagnostics import printable
from onnxsmith.graphs.isolation import memory_amount
from onnxsmith.runtime.settings import using


def run(options: argparse.Namespace, report: Report) -> int:
    """Run the model, print its outputs."""
    limits = _limits(options)
    check_words([options.model, *(word.partition("=")[2].strip() for word in options.input)])
    with progress(f"reading {shown_file(options.model)}"):
        model = load_model(options.model)
    inputs = read_inputs(model.inputs, model.optional_inputs, options, is_made_up=options.random)
    with (
        using(runtime=options.runtime) if options.runtime else nullcontext(),
        progress(f"running {shown_file(options.model)}"),
    ):
        results = model.run(inputs, **limits)
    values: Sequence[Any] = cast("tuple[Any, ...]", results) if len(model.outputs) > 1 else [results]
    written: list[str] = []
    if options.output_dir is not None:
        folder = OutputFolder(Path(options.output_dir), overwrite=options.force)
        for port, value in zip(model.outputs, values, strict=True):
            written += [str(each) for each in folder.save(port.name, value)]
    outputs = [
        {"name": port.name, **readable(value)} for port, value in zip(model.outputs, values, strict=True)
    ]
    text = "\n".join(
        [shown(port.name, value) for port, value in zip(model.outputs, values, strict=True)]
        + [f"wrote {each}" for each in written]
    )
    report.result({"file": options.model, "outputs": outputs, "written": written}, printable(text))
    return 0


class Limits(TypedDict):
    """The options of `Model.run`."""

    isolated: bool
    timeout: float | None
    memory: int | None


def _limits(options: argparse.Namespace) -> Limits:
    """The limits of a process of its own, from the options."""
    for name in ("timeout", "memory"):
        if getattr(options, name) is not None and not options.isolated:
            raise Usage(f"--{name} limits a process of its own; say --isolated, too")
    if options.timeout is not None and not 0 < options.timeout < math.inf:
        raise Usage(f"--timeout is a positive number of seconds, and {options.timeout:g} is not")
    memory = None if options.memory is None else memory_amount(options.memory)
    if options.memory is not None and not memory:
        raise Usage(f"--memory is an amount such as 512MB or 2GB, and {options.memory!r} is none")
    return {"isolated": options.isolated, "timeout": options.timeout, "memory": memory}
