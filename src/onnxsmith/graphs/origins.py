"""Where the nodes of a model were written: from the name that a runtime gives a node to a line of the user's source.

Reads metadata only. A runtime renames what it inlines and fuses, so a name is matched as far as it goes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import onnx_ir as ir

from onnxsmith.graphs.builder import SOURCE_KEY
from onnxsmith.source import Span, read_span

#: ONNX Runtime calls a node of a function that it inlined `_inlfunc_<function>_token_<number>_<node>`.
_INLINED = re.compile(r"_inlfunc_(?P<function>.+?)_token_\d+_")


def origin_of(model: ir.Model, name: str) -> Span | None:
    """Where the node was written that a runtime calls `name`, or `domain:Operator`; None when nobody knows."""
    function, own_name = _taken_apart(name)
    origins = dict(_origins(model.graph)) if function is None else {}
    for each in model.functions.values():
        if function is None or each.name == function:
            for node, origin in _origins(each.graph):
                origins.setdefault(node, origin)
    found = origins.get(own_name) or _nearest(origins, own_name)
    return None if found is None else read_span(found)


def _taken_apart(name: str) -> tuple[str | None, str]:
    """The function that a node was inlined from, and its name there."""
    function: str | None = None
    while (match := _INLINED.match(name)) is not None:
        function, name = match["function"], name[match.end() :]
    return function, name


def _nearest(origins: dict[str, str], name: str) -> str | None:
    """The origin of the longest node name that is a part of a fused node's name."""
    parts = [part for part in re.split(r"[^\w.]+", name) if part in origins]
    return origins[max(parts, key=len)] if parts else None


def _origins(graph: ir.Graph) -> Iterator[tuple[str, str]]:
    for node in graph.all_nodes():
        origin = node.metadata_props.get(SOURCE_KEY)
        if node.name and origin is not None:
            yield node.name, origin
            yield f"{node.domain}:{node.op_type}", origin
