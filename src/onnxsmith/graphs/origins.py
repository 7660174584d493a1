"""Where the nodes of a model were written: from the name that a runtime gives a node to a line of the user's source.

A node that was made in this process knows its place. One that was read from a file only has what the file says, which
names a place and opens nothing. A runtime renames what it inlines and fuses, so a name is matched as far as it goes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import cast

from onnxsmith.claims import claimed_span
from onnxsmith.graphs.lazy_ir import ir
from onnxsmith.graphs.notes import notes_of
from onnxsmith.graphs.origin_keys import SOURCE_KEY as SOURCE_KEY
from onnxsmith.graphs.origin_keys import SOURCES_KEY as SOURCES_KEY
from onnxsmith.graphs.rewriting.scopes import nodes_of
from onnxsmith.graphs.stack_traces import STACK_KEY, innermost_frame
from onnxsmith.source import Span

#: ONNX Runtime calls a node of a function that it inlined `_inlfunc_<function>_token_<number>_<node>`.
_INLINED = re.compile(r"_inlfunc_(?P<function>.+?)_token_\d+_")


class Written(str):
    """Where a node was written: a text for the file that it goes to, with the span for callers in this process.

    A text, so that it goes wherever metadata goes; no file can hold a span.
    """

    __slots__ = ("span",)
    span: Span


def written(text: str, span: Span) -> Written:
    """The text with the span that it stands for."""
    result = Written(text)
    result.span = span
    return result


def origin_metadata(span: Span | None) -> dict[str, str] | None:
    """The metadata of a node that says where it was written."""
    return None if span is None else {SOURCE_KEY: written(span.stored, span)}


def sources_in(metadata: Mapping[str, str]) -> list[str]:
    """All places that a node's metadata name; what a stranger's file has in their place says nothing."""
    listed = _listed(metadata.get(SOURCES_KEY, ""))
    place = metadata.get(SOURCE_KEY)
    return listed or ([place] if place else [])


def stored_sources(places: Sequence[str]) -> str:
    """Several places as metadata has them."""
    return json.dumps(list(places))


def hand_down_origins(model: ir.Model, given: ir.Model) -> None:
    """Let the nodes of a model know their places as those of the one that it was made of by way of a proto do.

    A proto has the text of a place only, and nothing of what the notes say.
    """
    by_text: dict[str, Written] = {}
    by_name: dict[tuple[str, str], object] = {}
    for node in nodes_of(given):
        said = node.metadata_props.get(SOURCE_KEY)
        if isinstance(said, Written):
            by_text[str(said)] = said
        elif said is None and node.name and SOURCE_KEY in notes_of(node):
            by_name[node.name, node.op_type] = notes_of(node)[SOURCE_KEY]
    for node in nodes_of(model):
        said = node.metadata_props.get(SOURCE_KEY)
        if said in by_text:
            node.metadata_props[SOURCE_KEY] = by_text[said]
        elif said is None and (node.name or "", node.op_type) in by_name:
            notes_of(node)[SOURCE_KEY] = by_name[node.name or "", node.op_type]


def origin_of(model: ir.Model, called: str, name: str) -> Span | None:
    """Where the node was written that a runtime calls `name`, or `domain:Operator`; None when nobody knows.

    `called` is what the model is called where only it says so.
    """
    function, own_name = _taken_apart(name)
    origins = dict(_origins(model.graph)) if function is None else {}
    for each in model.functions.values():
        if function is None or each.name == function:
            for node, origin in _origins(each.graph):
                origins.setdefault(node, origin)
    found = origins.get(own_name) or _nearest(origins, own_name)
    return claimed_span(found, called) if isinstance(found, str) else found


def sources_of(node: ir.Node, called: str) -> tuple[Span | str, ...]:
    """All places that a node says it was written at, its own first: a text where the model's words are no place.

    A node that passes made of several has all of theirs. Where none is named, the stack counts that PyTorch's exporter
    notes.
    """
    said = node.metadata_props.get(SOURCE_KEY) or notes_of(node).get(SOURCE_KEY)
    found: list[str | Span] = [] if said is None else [said]
    found += (each for each in _listed(node.metadata_props.get(SOURCES_KEY, "")) if each != said)
    if not found and (frame := innermost_frame(node.metadata_props.get(STACK_KEY, ""))) is not None:
        found.append(f"{frame.file}:{frame.line}:1")
    return tuple(_place(each, called) for each in found)


def _place(said: str | Span, called: str) -> Span | str:
    if isinstance(said, Written):
        return said.span
    return (claimed_span(said, called) or said) if isinstance(said, str) else said


def _listed(text: str) -> list[str]:
    """The texts of a list in JSON; none where a file has something else there."""
    try:
        found: object = json.loads(text) if text else []
    except (ValueError, RecursionError):
        return []
    held = cast("list[object]", found) if isinstance(found, list) else []
    return [each for each in held if isinstance(each, str)]


def _taken_apart(name: str) -> tuple[str | None, str]:
    """The function that a node was inlined from, and its name there."""
    function: str | None = None
    while (match := _INLINED.match(name)) is not None:
        function, name = match["function"], name[match.end() :]
    return function, name


def _nearest(origins: dict[str, Span | str], name: str) -> Span | str | None:
    """The origin of the longest node name that is a part of a fused node's name."""
    parts = [part for part in re.split(r"[^\w.]+", name) if part in origins]
    return origins[max(parts, key=len)] if parts else None


def _origins(graph: ir.Graph) -> Iterator[tuple[str, Span | str]]:
    for node in graph.all_nodes():
        # A rebuilt model has it among its notes where its file is to say nothing.
        said = node.metadata_props.get(SOURCE_KEY) or notes_of(node).get(SOURCE_KEY)
        origin = said.span if isinstance(said, Written) else said
        if node.name and origin is not None:
            yield node.name, origin
            yield f"{node.domain}:{node.op_type}", origin
