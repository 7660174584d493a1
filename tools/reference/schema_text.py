"""The documentation of ONNX's schemas as Markdown that cannot break a page.

It was written for many renderers: HTML tags, headings, links that are relative to ONNX's own pages. What
MyST would take for structure of the page is made text; code, lists and links that lead somewhere stay.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Sequence

_FENCE = re.compile(r"^\s*(```|~~~)")
_TAG = re.compile(r"</?(?:b|br|code|dd|dl|dt|em|i|li|p|pre|strong|sub|sup|tt|ul)\s*/?>", re.IGNORECASE)
_LINK = re.compile(r"\[([^\]\n]+)\]\((?!https?:)[^)\n]*\)")
_AUTOLINK = re.compile(r"<(https?://[^>\s]+)>")
_BARE_URL = re.compile(r"(?<![(<\[\"'\w])(https?://[^\s)>\]]+[^\s)>\].,;:'\"])")
_CODE_SPAN = re.compile(r"(`+)(?:.+?)\1", re.DOTALL)
_ITEM = re.compile(r"^\s*([-*+]|\d+[.)])\s+")
_EMPHASIS = re.compile(r"(?<![\w*\\])\*{1,2}(\w[^*\n]*\w)\*{1,2}(?![\w*])")
_RULE = re.compile(r"^\s*([-=*_])\1{2,}\s*$")
_HEADING = re.compile(r"^\s*#{1,6}\s+(.*?)\s*#*\s*$")


def block(text: str) -> str:
    """Paragraphs, lists and code."""
    lines: list[str] = []
    in_code = False
    prose: list[str] = []
    for line in _fenced(_dedented(text).splitlines()):
        if _FENCE.match(line):
            lines += _prose(prose)
            prose = []
            in_code = not in_code
            lines.append("```text" if in_code else "```")
        elif in_code:
            lines.append(line)
        else:
            prose.append(line)
    lines += _prose(prose)
    if in_code:
        lines.append("```")
    return "\n".join(lines).strip()


_END = "end"


def _fenced(lines: Sequence[str]) -> Iterator[str]:
    """The lines, with code that is only indented between fences; below an item of a list, indented text is prose."""
    code: list[str] = []
    is_open, in_list, previous = False, False, ""
    for line in [*lines, _END]:
        is_open ^= bool(_FENCE.match(line))
        is_indented = line.startswith("    ") and not is_open and not in_list
        if is_indented and (code or not previous.strip()):
            code.append(line)
        elif code and not line.strip():
            code.append("")
        else:
            if code:
                yield from ("```", *textwrap.dedent("\n".join(code)).strip("\n").splitlines(), "```")
                code = []
            if line.strip() and not line.startswith("  "):
                in_list = bool(_ITEM.match(line))
            if line is not _END:
                yield line
        previous = line


def one_line(text: str) -> str:
    """The same as one paragraph."""
    plain = re.sub(r"^\s*(```|~~~).*$", "", _dedented(text), flags=re.MULTILINE)
    return " ".join(_safe(" ".join(plain.split())).split())


def cell(text: str) -> str:
    """The same for the cell of a table."""
    return one_line(text).replace("|", "\\|")


def first_sentence(text: str, longest: int = 160) -> str:
    """The first sentence, for an index."""
    paragraph = re.split(r"\n\s*\n", _dedented(text).strip(), maxsplit=1)[0]
    plain = cell(re.split(r"```|~~~", paragraph)[0])
    match = re.match(r"(.+?(?<!e\.g)(?<!i\.e)(?<!etc)[.!?])(?=\s|$)", plain)
    sentence = match[1] if match else plain.rstrip(":")
    if len(sentence) <= longest:
        return sentence
    return textwrap.shorten(sentence, longest, placeholder=" …") if "`" not in sentence else sentence


def _dedented(text: str) -> str:
    """Without the indentation of the C++ source, which the first line often lacks."""
    first, _, rest = text.strip("\n").partition("\n")
    return first.strip() + "\n" + textwrap.dedent(rest) if rest else first.strip()


def _prose(lines: list[str]) -> list[str]:
    result: list[str] = []
    for line in _safe("\n".join(lines)).splitlines():
        heading = _HEADING.match(line)
        if heading:
            result += ["", f"**{heading[1].replace('*', '')}**", ""]
        elif not _RULE.match(line):
            result.append(line)
    return result


def _safe(text: str) -> str:
    """Without what would be taken for HTML, a link to nowhere or a reference; code spans stay as they are."""
    text = re.sub(r"(?:<br\s*/?>\s*)+", "\n\n", text, flags=re.IGNORECASE)
    parts: list[str] = []
    position = 0
    for span in _CODE_SPAN.finditer(text):
        before = _safe_words(text[position : span.start()])
        # Braces before a code span would be a role of MyST.
        parts += [before + " " if before.endswith("}") else before, span[0]]
        position = span.end()
    return "".join([*parts, _safe_words(text[position:])])


def _safe_words(text: str) -> str:
    text = _AUTOLINK.sub(r"\1", _TAG.sub(" ", text))
    text = _LINK.sub(r"\1", text)
    text = _BARE_URL.sub(r"[\1](\1)", text)
    text = text.replace("<", "&lt;").replace("`", "&#96;")
    text = _EMPHASIS.sub(r"_\1_", text)
    text = re.sub(r"\*(?=\S)|(?<=\S)\*", r"\\*", text)
    return re.sub(r"^(\s*)\\\*(?=\s)", r"\1*", text, flags=re.MULTILINE)
