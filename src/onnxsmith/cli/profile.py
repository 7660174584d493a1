"""`onnxsmith profile m.onnx --dim N=4`: where the time goes, by line of Python, node and operator."""

from __future__ import annotations

import argparse
from typing import Any

from onnxsmith.cli import terminal
from onnxsmith.cli.inputs import read_inputs
from onnxsmith.cli.picture_output import check_picture
from onnxsmith.cli.program import read_model
from onnxsmith.cli.report import Report
from onnxsmith.cli.streams import check_words, shown
from onnxsmith.diagnostics import printable
from onnxsmith.graphs.model import Model
from onnxsmith.profiling import Profile
from onnxsmith.profiling import profile as take_profile
from onnxsmith.view import show


def run(options: argparse.Namespace, report: Report) -> int:
    """Profile the model, print where its time goes."""
    check_picture(options.output)
    words = [options.model, *(word.partition("=")[2].strip() for word in options.input)]
    check_words([*words, *([] if options.against is None else [options.against])])
    with terminal.progress(f"reading {shown(options.model)}"):
        model = read_model(options.model)
    against: str | None = options.against
    other = None if against is None else read_model(against)
    inputs = read_inputs(model.inputs, model.optional_inputs, options, is_made_up=True)

    def take(one: Model, word: str) -> Profile:
        with terminal.counted(f"profiling {shown(word)}") as progress:
            return take_profile(
                one,
                inputs,
                runs=options.runs,
                warm_up=options.warm_up,
                providers=options.provider,
                intra_op_threads=options.threads,
                progress=progress,
            )

    profile = take(model, options.model)
    content: dict[str, Any] = {"file": options.model, **profile.as_dict()}
    limit = options.limit or None
    if other is not None and against is not None:
        after = take(other, against)
        comparison = profile.compare(after, options.by)
        content["against"] = {"file": against, **after.as_dict()}
        content["comparison"] = comparison.as_dict()
        text = "\n\n".join([profile.summary(), after.summary(), comparison.table(limit)])
    elif options.listing:
        text = f"{profile.summary()}\n\n{profile.listing()}"
    elif options.by is None and limit is not None:
        text = profile.described(limit)
    else:
        text = f"{profile.summary()}\n\n{profile.table(options.by, limit)}"
    content["written"] = []
    if options.output is not None:
        with terminal.progress("drawing the model"):
            written = show(model, options.output, overlay=profile.overlay(), overwrite=options.force)
        content["written"] += [str(written)]
        text += f"\n\nwrote {written}"
    report.result(content, printable(text))
    return 0
