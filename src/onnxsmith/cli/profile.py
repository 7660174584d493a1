"""`onnxsmith profile m.onnx --dim N=4`: where the time goes, by line of Python, node and operator."""

from __future__ import annotations

import argparse
from typing import Any

from onnxsmith.cli import terminal
from onnxsmith.cli.inputs import add_input_arguments, read_inputs
from onnxsmith.cli.numbers import whole
from onnxsmith.cli.picture_output import check_picture
from onnxsmith.cli.program import read_model
from onnxsmith.cli.report import Report
from onnxsmith.cli.streams import check_words, shown
from onnxsmith.diagnostics import printable
from onnxsmith.graphs.model import Model
from onnxsmith.profiling import Profile
from onnxsmith.profiling import profile as take_profile
from onnxsmith.runtime.settings import MOST_THREADS
from onnxsmith.view import show


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What can be said after `profile`."""
    parser.epilog = (
        "Inputs that are not given are made up; say how large open dimensions are:\n"
        "  onnxsmith profile net.onnx --dim N=8 --runs 20\n"
        "  onnxsmith profile net.onnx --input x=x.npy --by node\n"
        "  onnxsmith profile net.py:forward --dim N=8 --listing\n"
        "  onnxsmith profile old.onnx --dim N=8 --against new.onnx\n"
        "  onnxsmith profile net.onnx --dim N=8 -o page.html"
    )
    parser.add_argument("model", metavar="MODEL", help="a model file, or file.py:script; - is standard input")
    add_input_arguments(parser)
    parser.add_argument("--runs", type=whole(1), default=10, help="how many runs are measured; 10 by default")
    parser.add_argument("--warm-up", type=whole(0), default=3, help="how many runs come before; 3 by default")
    parser.add_argument("--threads", type=whole(1, MOST_THREADS), help="how many threads a kernel may use")
    parser.add_argument(
        "--provider", action="append", metavar="NAME", help="an execution provider; the CPU by default"
    )
    parser.add_argument("--by", choices=["line", "node", "operator", "call"], help="what times are told by")
    parser.add_argument(
        "--limit", type=whole(0), default=20, help="how many rows are shown; 20 by default, 0 for all"
    )
    parser.add_argument("--listing", action="store_true", help="show the source with the time of each line")
    parser.add_argument(
        "--against",
        metavar="OTHER",
        help="profile another model, or file.py:script, on the same inputs, and compare",
    )
    parser.add_argument(
        "-o", "--output", metavar="FILE", help="also write a page, or picture, of the model coloured by time"
    )
    parser.add_argument(
        "--force", action="store_true", help="replace a file that is no page or picture of a model"
    )


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
