"""Finds the prose of the project: sentences of pages, of docstrings, and texts of errors, each with its place.

Leaves out what is no prose: code, tables, headings, links, doctests. Judges nothing.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

Kind = Literal["page", "docstring", "message"]

_FENCE = re.compile(r"^\s*(```+|~~~+|:::+)")
_LIST_ITEM = re.compile(r"^\s*(?:[-*+]|\d+\.)\s+")
_NOT_PROSE = re.compile(r"^\s*(\||#|<|\[.+\]:|---|===|\(.+\)=$|%)")
#: What counts as one word: code, and the text of a link.
_CODE = re.compile(r"`+[^`]+`+\w*")
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)|\{\w+\}`[^`]*`")
_SENTENCE_END = re.compile(r"(?<=[.!?])[\"')*_]*\s+(?=[A-Z`\"'(*_—0-9])|(?<=:)\s*$")
_ABBREVIATIONS = re.compile(r"\b(?:e\.g|i\.e|etc|vs|cf|No|Fig|St)\.$")
_DOCTEST = re.compile(r"^\s*(>>>|\.\.\.|\$ )")
#: Calls that make an error: a class, or a function that is named so.
_ERROR = re.compile(r"(Error|Warning|Usage|\brefuse)$")
#: Headings of sections in docstrings, after which code stands.
_CODE_HEADING = re.compile(r"^\s*(Wrong|Right|Example|Examples)\b.*:$|.*::$")


@dataclass(frozen=True)
class Prose:
    """A piece of prose: a paragraph, the text of a list item, a docstring, or the text of an error."""

    kind: Kind
    text: str
    line: int
    #: Whether it is the beginning of a docstring.
    is_first: bool = False
    #: The class or function whose docstring it is, with what is around it; empty for modules and pages.
    owner: str = ""


def sentences(text: str) -> Iterator[str]:
    """The sentences of a piece of prose; code and links count as one word each."""
    plain = _LINK.sub(lambda found: found[1] or "Link", text)
    plain = _CODE.sub("Code", plain)  # it may begin a sentence
    begun = ""
    for part in _SENTENCE_END.split(" ".join(plain.split())):
        begun = f"{begun} {part}".strip()
        if not _ABBREVIATIONS.search(begun):
            yield begun
            begun = ""
    if begun:
        yield begun


def words(sentence: str) -> int:
    """How many words a sentence has; signs alone are none."""
    return sum(1 for each in sentence.split() if any(letter.isalnum() for letter in each))


def page_prose(text: str) -> Iterator[Prose]:
    """The paragraphs and list items of a Markdown page."""
    lines: list[str] = []
    begun, fence = 0, ""
    for number, line in enumerate([*text.splitlines(), ""], 1):
        found = _FENCE.match(line)
        if fence:
            fence = "" if found and line.strip() == fence else fence
            continue
        # A directive in colons holds prose; only its own line is none.
        is_open = found is not None and not found[1].startswith(":")
        is_end = not line.strip() or found is not None or _NOT_PROSE.match(line) or line.startswith("    ")
        if (is_end or _LIST_ITEM.match(line)) and lines:
            yield Prose("page", " ".join(lines), begun)
            lines = []
        if is_open and found is not None:
            fence = found[1]
        elif not is_end:
            begun = begun if lines else number
            lines.append(_LIST_ITEM.sub("", line).strip())


def docstring_prose(text: str, line: int) -> Iterator[Prose]:
    """The paragraphs and list items of a docstring, without its examples."""
    paragraph: list[str] = []
    begun, is_first, is_code, is_doctest = line, True, False, False
    for number, each in enumerate([*text.splitlines(), ""], line):
        stripped = each.strip()
        is_doctest = bool(_DOCTEST.match(each)) or (is_doctest and bool(stripped))
        # Below "Wrong:" and "Right:" code is indented; it ends where a line is not.
        is_code = is_code and (not stripped or each.startswith("    "))
        is_prose = bool(stripped) and not (is_doctest or is_code or _NOT_PROSE.match(each))
        if paragraph and (not is_prose or _LIST_ITEM.match(each)):
            yield Prose("docstring", " ".join(paragraph), begun, is_first)
            paragraph, is_first = [], False
        if _CODE_HEADING.match(each):
            is_code = True
        elif is_prose:
            begun = begun if paragraph else number
            paragraph.append(_LIST_ITEM.sub("", stripped))


def source_prose(source: str) -> Iterator[Prose]:
    """The docstrings and the texts of errors of a module."""
    yield from _node_prose(ast.parse(source), "")


def _node_prose(node: ast.AST, owner: str) -> Iterator[Prose]:
    if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        if not isinstance(node, ast.Module):
            owner = f"{owner}.{node.name}" if owner else node.name
        text = ast.get_docstring(node)
        if text:
            yield from (replace(each, owner=owner) for each in docstring_prose(text, node.body[0].lineno))
    if isinstance(node, ast.Call) and _ERROR.search(ast.unparse(node.func)):
        yield from (Prose("message", each, node.lineno, owner=owner) for each in _texts(node))
    for child in ast.iter_child_nodes(node):
        yield from _node_prose(child, owner)


def exported_names(source: str) -> Iterator[tuple[str, str]]:
    """Module and name of what an `__init__` exports: by `from m import x as x`, or by a table `_LAZY`."""
    for node in ast.parse(source).body:
        if isinstance(node, ast.ImportFrom) and node.module:
            yield from ((node.module, each.name) for each in node.names if each.asname == each.name)
        targets = [each.id for each in getattr(node, "targets", ()) if isinstance(each, ast.Name)]
        value = getattr(node, "value", None)
        if "_LAZY" in targets and isinstance(value, ast.Dict):
            for name, module in zip(value.keys, value.values, strict=True):
                if isinstance(name, ast.Constant) and isinstance(module, ast.Constant):
                    yield str(module.value), str(name.value)


def _texts(call: ast.Call) -> Iterator[str]:
    """The literal texts among the arguments of a call; a value that is put into one counts as a word."""
    for value in (*call.args, *(each.value for each in call.keywords)):
        if isinstance(value, ast.Constant) and isinstance(value.value, str):
            yield value.value
        elif isinstance(value, ast.JoinedStr):
            yield "".join(
                str(part.value) if isinstance(part, ast.Constant) else "value" for part in value.values
            )


def read_file(path: Path) -> Iterator[Prose]:
    """The prose of a page or of a Python file."""
    text = path.read_text(encoding="utf-8")
    yield from page_prose(text) if path.suffix == ".md" else source_prose(text)
