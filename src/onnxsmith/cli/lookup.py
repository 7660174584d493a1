"""Looking words up: every word gives pages, or a message that there is none, and the other words go on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from onnxsmith.cli.exit_codes import GOOD, USAGE
from onnxsmith.cli.report import Report, usage_entry

Found = TypeVar("Found")


def look_up(
    words: Sequence[str],
    report: Report,
    *,
    find: Callable[[str], Sequence[Found]],
    entry: Callable[[Found], dict[str, Any]],
    text: Callable[[Found], str],
    missing: Callable[[str], str],
) -> int:
    """Print the pages of all words, as JSON entries or as text; `missing` says that a word has none.

    The result is the exit code: a word without a page is wrong usage.
    """
    entries: list[dict[str, Any]] = []
    texts: list[str] = []
    status = GOOD
    for word in words:
        found = find(word)
        entries += [entry(each) for each in found]
        texts += [text(each) for each in found]
        if not found:
            status = USAGE
            message = missing(word)
            entries.append({"error": usage_entry(message)})
            if not report.as_json:
                report.usage_words(message)
    if texts or report.as_json:
        report.result(entries, "\n\n\n".join(texts))
    return status
