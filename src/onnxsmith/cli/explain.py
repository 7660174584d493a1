"""`onnxsmith explain C401`: the page of an error."""

from __future__ import annotations

import argparse
import textwrap
from dataclasses import asdict

from onnxsmith.cli import terminal
from onnxsmith.cli.exit_codes import GOOD
from onnxsmith.cli.lookup import look_up
from onnxsmith.cli.report import Report
from onnxsmith.cli.standard_output import results
from onnxsmith.diagnostics import did_you_mean
from onnxsmith.errors.pages import AREAS, PRELUDE, Page, find_page, pages


def run(options: argparse.Namespace, report: Report) -> int:
    """Print pages, or the list of all."""
    if not options.codes:
        report.result([asdict(page) for page in pages()], _index())
        return GOOD
    return look_up(
        options.codes,
        report,
        find=lambda code: [page for page in [find_page(code)] if page is not None],
        entry=asdict,
        text=_page,
        missing=lambda code: f"there is no error {code!r}; {_suggestion(code)}",
    )


def _suggestion(wrong: str) -> str:
    near = [page.code for page in pages() if page.code.startswith(wrong[:2].upper())]
    if near and any(letter.isdigit() for letter in wrong):
        return f"there are {', '.join(near)}"
    return did_you_mean(wrong, [page.name for page in pages()]) or "'onnxsmith explain' lists all"


def _index() -> str:
    lines: list[str] = []
    for area, title in AREAS.items():
        lines += ["", terminal.styled(title, "bold", results())]
        lines += [f"  {page.code}  {page.name}" for page in pages() if page.code.startswith(area)]
    return "\n".join(lines[1:])


def _page(page: Page) -> str:
    title = terminal.styled(f"{page.code} {page.name}", "bold", results())
    parts = [f"{title}, a kind of {' and '.join(page.builtins)}", page.summary]
    if page.explanation:
        parts.append(page.explanation)
    for word, code in (("Wrong:", page.wrong), ("Right:", page.right)):
        parts.append(
            f"{terminal.styled(word, 'bold', results())}\n\n{textwrap.indent(code.rstrip(), '    ')}"
        )
    if not page.is_shell:
        prelude = textwrap.indent(PRELUDE.rstrip(), "    ")
        parts.append(f"{terminal.styled('The examples begin with:', 'dim', results())}\n\n{prelude}")
    return "\n\n".join(parts)
