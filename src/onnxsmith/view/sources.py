"""The Python lines that made nodes, and what a model claims of them.

Source is read for code of this process only. What a file says of places is text: no file is opened for it.
"""

from __future__ import annotations

import json
import linecache
import os
from dataclasses import dataclass, field, replace
from typing import cast

import onnx_ir as ir

from onnxsmith.claims import claimed_span
from onnxsmith.diagnostics import clipped, display_path, printable
from onnxsmith.graphs.notes import notes_of
from onnxsmith.graphs.origins import SOURCE_KEY, Written
from onnxsmith.graphs.stack_traces import STACK_KEY, innermost_frame
from onnxsmith.source import Span
from onnxsmith.view.description import Description

#: Lines of a file before and after those that made nodes.
_AROUND = 30
_LONGEST_LINE = 300
_MOST_LINES = 4000
_LONGEST_CLAIM = 300
_MOST_PLACES = 16

#: Where passes write all places of a node that they made of several: a list, as JSON.
SOURCES_KEY = "onnxsmith.sources"
_SITE = f"site-packages{os.sep}"


@dataclass(slots=True)
class SourceFile:
    """A part of a file: its name as the reader knows it, and lines from one number on."""

    name: str
    first: int
    lines: list[str]
    #: How many lines the whole file has.
    total: int


@dataclass(slots=True)
class Sources:
    """The source that a page shows."""

    files: list[SourceFile] = field(default_factory=list[SourceFile])
    #: Node -> places: file, line, column, last line, last column.
    spans: dict[int, list[tuple[int, int, int, int, int]]] = field(
        default_factory=dict[int, list[tuple[int, int, int, int, int]]]
    )
    #: Node -> what the model says of its place.
    claims: dict[int, str] = field(default_factory=dict[int, str])


def sources_of(description: Description, called: str) -> Sources:
    """Places of all nodes; `called` is what the model is called where only it says so."""
    result = Sources()
    live: dict[int, list[Span]] = {}
    for number, node in enumerate(description.nodes):
        if node.origin is None:
            continue
        spans, claim = _places(node.origin, called)
        if spans:
            live[number] = spans
        elif claim:
            result.claims[number] = clipped(printable(claim), _LONGEST_CLAIM)
    _read_files(live, result)
    return result


def _places(node: ir.Node, called: str) -> tuple[list[Span], str]:
    """The places of a node in code of this process, or else what its file says."""
    said = node.metadata_props.get(SOURCE_KEY) or notes_of(node).get(SOURCE_KEY)
    if isinstance(said, Written):
        span = said.span
        if span.claimed_by or not linecache.getline(span.file, span.line):
            return [], str(said)
        return [span, *_joined_places(node, span)], ""
    if isinstance(said, str) and said:
        span = claimed_span(said, called)
        # Below the user's `source_root` a claim is believed, and the file is the user's own.
        return ([span], "") if span is not None and not span.claimed_by else ([], said)
    frame = innermost_frame(node.metadata_props.get(STACK_KEY, ""))
    return [], "" if frame is None else frame.text


def _joined_places(node: ir.Node, first: Span) -> list[Span]:
    """The other places of a node that passes made of several, as far as they lie in the same file as the first."""
    try:
        texts = json.loads(node.metadata_props.get(SOURCES_KEY, "[]"))
    except ValueError:
        return []
    file = first.stored.rsplit(":", 3)[0]
    result: list[Span] = []
    for text in cast("list[object]", texts)[:_MOST_PLACES] if isinstance(texts, list) else ():
        span = claimed_span(text, "the model") if isinstance(text, str) else None
        if span is not None and span.file == file and span.line != first.line:
            result.append(replace(span, file=first.file, claimed_by=""))
    return result


def _read_files(live: dict[int, list[Span]], result: Sources) -> None:
    """Enter the files of spans, as far as the lines that made nodes reach."""
    reach: dict[str, tuple[int, int]] = {}
    for span in (each for spans in live.values() for each in spans):
        first, last = reach.get(span.file, (span.line, span.end_line))
        reach[span.file] = min(first, span.line), max(last, span.end_line)
    numbers: dict[str, int] = {}
    for file, (first, last) in reach.items():
        text = linecache.getlines(file)
        start = 1 if len(text) <= 4 * _AROUND else max(1, first - _AROUND)
        end = min(last + _AROUND // 3, start + _MOST_LINES, len(text))
        lines = [clipped(printable(each.rstrip("\n")), _LONGEST_LINE) for each in text[start - 1 : end]]
        if not lines:
            continue
        numbers[file] = len(result.files)
        result.files.append(SourceFile(_shown(file), start, lines, len(text)))
    for number, spans in live.items():
        places = [
            (numbers[each.file], each.line, each.column, each.end_line, each.end_column)
            for each in spans
            if each.file in numbers
        ]
        if places:
            result.spans[number] = places


def _shown(file: str) -> str:
    """A file as readers elsewhere may know it: without where things lie on this machine."""
    path = file.partition(_SITE)[2] or display_path(file)
    return printable(os.path.basename(path) if os.path.isabs(path) else path)
