"""`onnxsmith completion bash`: a script that lets a shell complete our words, made of the table of commands."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence

from onnxsmith.cli.exit_codes import GOOD
from onnxsmith.cli.report import Report
from onnxsmith.cli.shells import SCRIPTS


def run(options: argparse.Namespace, report: Report) -> int:
    """Print the script, or the names that it asks for."""
    if options.names is not None:
        names = list(_NAMES[options.names]())
        report.result({"names": names}, "\n".join(names))
        return GOOD
    script = SCRIPTS[options.shell]()
    report.result({"shell": options.shell, "script": script}, script.removesuffix("\n"))
    return GOOD


def _operators() -> Sequence[str]:
    from onnxsmith.schema import registry  # loads onnx; the script needs it for `ops` alone

    return sorted({name for each in _shown() for name in registry.names(each, registry.latest_version(each))})


def _domains() -> Sequence[str]:
    return [domain or "ai.onnx" for domain in _shown()]


def _shown() -> Sequence[str]:
    from onnxsmith.cli.ops import shown_domains  # loads onnx, too

    return shown_domains()


def _errors() -> Sequence[str]:
    from onnxsmith.errors.pages import pages  # reads the docstrings of all errors

    return [word for page in pages() for word in (page.code, page.name)]


_NAMES: dict[str, Callable[[], Sequence[str]]] = {
    "operators": _operators,
    "domains": _domains,
    "errors": _errors,
}
