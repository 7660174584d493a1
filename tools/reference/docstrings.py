"""A docstring as Markdown: prose stays prose, examples become blocks, errors become links to their pages."""

from __future__ import annotations

import doctest
import re
import textwrap

from onnxsmith import errors
from onnxsmith.errors import OnnxsmithError

_PROMPT = re.compile(r"^\s*>>> ")
_ERROR_NAME = re.compile(r"(?<![\w.\[`])(`?)([A-Z]\w+(?:Error|Warning))\1(?![\w\]`])")


def markdown(docstring: str, *, to_errors: str) -> str:
    """The Markdown of a docstring; `to_errors` is the way to the page of errors."""
    parts: list[str] = []
    lines = docstring.strip().splitlines()
    position = 0
    while position < len(lines):
        end = position
        if _PROMPT.match(lines[position]):
            while end < len(lines) and lines[end].strip():
                end += 1
            block = textwrap.dedent("\n".join(lines[position:end])).replace("<BLANKLINE>", "")
            parts.append(f"```pycon\n{block}\n```")
        else:
            while end < len(lines) and not _PROMPT.match(lines[end]):
                end += 1
            parts.append(_linked("\n".join(lines[position:end]).strip("\n"), to_errors))
        position = end
    return "\n\n".join(part for part in parts if part.strip())


def has_example(docstring: str) -> bool:
    """Whether a docstring holds an example that doctest runs."""
    return bool(doctest.DocTestParser().get_examples(docstring))


def summary(docstring: str) -> str:
    """The first sentence, or the first line where that is shorter than a sentence."""
    paragraph = " ".join(docstring.strip().split("\n\n")[0].split())
    match = re.match(r"(.+?[.!?])(?=\s+[A-Z`]|$)", paragraph)
    return (match[1] if match else paragraph).replace("|", "\\|")


def error_link(error: type[OnnxsmithError], to_errors: str) -> str:
    """The name of an error as a link to its page."""
    return f"[`{error.__name__}`]({to_errors}#{error.code.lower()}-{error.__name__.lower()})"


def _linked(text: str, to_errors: str) -> str:
    """Names of errors as links, outside of code."""

    def link(match: re.Match[str]) -> str:
        found = getattr(errors, match[2], None)
        if isinstance(found, type) and issubclass(found, OnnxsmithError) and found.code:
            return error_link(found, to_errors)
        return match[0]

    pieces = re.split(r"(^```.*?^```)", text, flags=re.MULTILINE | re.DOTALL)
    return "".join(each if each.startswith("```") else _ERROR_NAME.sub(link, each) for each in pieces)
