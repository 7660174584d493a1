"""The data of the page: the description, boxes and all else as one JSON text, each string in it once.

The page's `data.js` reads this; whoever changes one changes the other.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from onnxsmith.view.boxes import Box, Boxes
from onnxsmith.view.description import Description
from onnxsmith.view.operators import FAMILY_NAMES, Operator

#: What JSON holds.
Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"

_KINDS = {"node": 0, "box": 1, "input": 2, "output": 3}


class Strings:
    """Texts, each with a number; the empty one is 0."""

    def __init__(self) -> None:
        self.all: list[str] = [""]
        self._numbers: dict[str, int] = {"": 0}

    def __call__(self, text: str) -> int:
        number = self._numbers.get(text)
        if number is None:
            number = self._numbers[text] = len(self.all)
            self.all.append(text)
        return number


def structure_data(description: Description, boxes: Boxes, strings: Strings) -> dict[str, Json]:
    """Graphs, nodes, values, operators and boxes."""
    nodes, values = description.nodes, description.values
    return {
        "families": FAMILY_NAMES,
        "operators": [_operator(each, strings) for each in description.operators.entries],
        "values": {
            "name": [strings(each.name) for each in values],
            "type": [strings(each.type) for each in values],
            "short": [strings(each.short) for each in values],
            "constant": [strings(each.constant) for each in values],
        },
        "nodes": {
            "graph": [each.graph for each in nodes],
            "operator": [each.operator for each in nodes],
            "name": [strings(each.name) for each in nodes],
            "inputs": [each.inputs for each in nodes],
            "outputs": [each.outputs for each in nodes],
            "attributes": [_pairs(each.attributes, strings) for each in nodes],
            "summary": [strings(each.summary) for each in nodes],
            "bodies": {
                str(number): [[strings(body.attribute), body.graph] for body in each.bodies]
                for number, each in enumerate(nodes)
                if each.bodies
            },
            "captured": {str(number): each.captured for number, each in enumerate(nodes) if each.captured},
            "callee": {str(number): each.callee for number, each in enumerate(nodes) if each.callee >= 0},
            "metadata": [_pairs(each.metadata, strings) for each in nodes],
            "folded": [number for number, each in enumerate(nodes) if each.is_folded],
            "box": boxes.box_of,
        },
        "graphs": [
            {
                "kind": each.kind,
                "name": strings(each.name),
                "prefix": strings(each.prefix),
                "inputs": each.inputs,
                "outputs": each.outputs,
                "captured": each.captured,
                "nodes": each.nodes,
            }
            for each in description.graphs
        ],
        "boxes": [_box(each, strings) for each in boxes.boxes],
    }


def _operator(operator: Operator, strings: Strings) -> Json:
    return [
        strings(operator.name),
        strings(operator.domain),
        operator.since,
        FAMILY_NAMES.index(operator.family),
        strings(operator.doc),
        _pairs(operator.inputs, strings),
        _pairs(operator.outputs, strings),
        int(operator.is_last_input_repeated),
    ]


def _pairs(pairs: Sequence[tuple[str, str]], strings: Strings) -> list[int]:
    return [strings(text) for pair in pairs for text in pair]


def _box(box: Box, strings: Strings) -> Json:
    arrangement = box.arrangement
    assert arrangement is not None
    return {
        "label": strings(box.label),
        "detail": strings(box.detail),
        "graph": box.graph,
        "parent": box.parent,
        "count": box.node_count,
        "items": [4 * each.number + _KINDS[each.kind] for each in box.items],
        "layers": arrangement.layers,
        "segments": [part for segment in arrangement.segments for part in segment],
        "cuts": [part for cut in arrangement.cuts for part in cut],
    }


def packed(content: Mapping[str, Json]) -> str:
    """The content as text that no page can take for anything else: deflated, in base64."""
    text = json.dumps(content, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    # A name may hold half of a surrogate pair, which is no text in a file.
    return base64.b64encode(zlib.compress(text.encode("utf-8", "replace"), 9)).decode("ascii")
