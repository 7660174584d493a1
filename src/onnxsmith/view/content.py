"""All that a page shows of a model, put together: structure, weights, code, source, notes of other tools."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast

import onnx_ir as ir

from onnxsmith.context import collection_paused
from onnxsmith.decompiling import node_statements
from onnxsmith.diagnostics import clipped, printable
from onnxsmith.errors import OnnxsmithError
from onnxsmith.graphs.graph_inference import State, Walk
from onnxsmith.graphs.ir_types import type_from_ir
from onnxsmith.graphs.node_counts import node_count
from onnxsmith.schema.inference.known import NOTHING, Known
from onnxsmith.types.value_types import AnyValueType, TensorType
from onnxsmith.view.attribute_texts import elements_text
from onnxsmith.view.boxes import Boxes
from onnxsmith.view.description import Description, Value
from onnxsmith.view.overlays import Note, Overlay
from onnxsmith.view.page_data import Json, Strings, structure_data
from onnxsmith.view.side_by_side import SideBySide
from onnxsmith.view.sources import Sources, sources_of
from onnxsmith.view.statistics import Statistics, statistics_of

#: How much of each weight is read for its statistics.
StatisticsWish = Literal["sample", "full", "none"]

_LONGEST_CODE = 2000
#: A handful of numbers are constants, and not what people call the parameters of a model.
_FEWEST_PARAMETERS = 1000
_LONGEST_METADATA = 600
#: Histograms of more weights than this would be most of the page.
_MOST_STATISTICS = 4000


@dataclass(frozen=True, slots=True)
class Viewed:
    """A model that is to be shown, and how."""

    model: ir.Model
    title: str
    place: Path | None = None
    has_source: bool = True
    statistics: StatisticsWish = "sample"
    overlay: Overlay | None = None
    #: How many weights there are, and elements in them.
    weights: tuple[int, int] = (0, 0)


@dataclass(frozen=True, slots=True)
class ViewedPair:
    """Two models that are to be shown beside each other."""

    first: Viewed
    second: Viewed
    both: SideBySide

    @property
    def title(self) -> str:
        """The title of the page."""
        return f"{self.first.title} → {self.second.title}"


def describe(model: ir.Model) -> tuple[Description, Boxes]:
    """A model as records, in boxes."""
    with collection_paused():
        description = Description(model, value_types(model))
        return description, Boxes(description)


def page_content(viewed: Viewed | ViewedPair) -> dict[str, Json]:
    """The data of the page: one model, or two and their differences. All parts share texts."""
    strings = Strings()
    with collection_paused():
        if isinstance(viewed, Viewed):
            models, both = [_model(viewed, strings)[0]], None
        else:
            one, first = _model(viewed.first, strings)
            two, second = _model(viewed.second, strings)
            models, both = [one, two], _both(viewed.both, (first, second), strings)
    return {"models": models, "both": both, "strings": strings.all}


def _model(viewed: Viewed, strings: Strings) -> tuple[dict[str, Json], Description]:
    description, boxes = describe(viewed.model)
    content = structure_data(description, boxes, strings)
    content["info"] = _info(viewed)
    content["weights"] = _weights(description, viewed, strings)
    content["code"] = _code(viewed.model, description, strings)
    content["sources"] = _sources(description, viewed, strings)
    content["overlay"] = None if viewed.overlay is None else _overlay(viewed.overlay, description, strings)
    return content, description


# ---- the model as a whole ----


def _info(viewed: Viewed) -> Mapping[str, Json]:
    model = viewed.model
    nodes = node_count(model)
    count = f"{nodes:,} nodes" if nodes != 1 else "1 node"
    weights, elements = viewed.weights
    opsets = ", ".join(f"{domain or 'ai.onnx'} {version}" for domain, version in model.opset_imports.items())
    producer = " ".join(part for part in (model.producer_name, model.producer_version) if part)
    facts = [
        ("opsets", opsets),
        ("IR version", str(model.ir_version)),
        ("made by", producer),
        ("graph", model.graph.name or ""),
        ("nodes", f"{nodes:,}"),
        ("weights", f"{weights:,} with {elements:,} elements" if weights else "none"),
    ]
    metadata = [
        ("doc string", model.doc_string or model.graph.doc_string or ""),
        *model.metadata_props.items(),
    ]
    parameters = f" · {_rounded(elements)} parameters" if elements >= _FEWEST_PARAMETERS else ""
    return {
        "title": viewed.title,
        "short": count + parameters,
        "lead": f"{count}{parameters} · {clipped(printable(opsets), 120)}",
        "facts": [[name, clipped(printable(text), 300)] for name, text in facts if text],
        "metadata": [
            [clipped(printable(key), 100), clipped(printable(text), _LONGEST_METADATA)]
            for key, text in metadata[:60]
            if text
        ],
    }


def _rounded(count: int) -> str:
    for size, unit in ((10**9, "B"), (10**6, "M"), (10**3, "k")):
        if count >= size:
            return f"{count / size:.3g} {unit}"
    return str(count)


# ---- weights ----


def _weights(description: Description, viewed: Viewed, strings: Strings) -> Json:
    held = [
        (number, each, each.tensor)
        for number, each in enumerate(description.values)
        if each.tensor is not None
    ]
    # The largest first: those are weights, and the many small ones constants.
    wanted = sorted(held, key=lambda each: -each[2].size)[:_MOST_STATISTICS]
    chosen = {number for number, _, _ in wanted} if viewed.statistics != "none" else set[int]()
    is_full = viewed.statistics == "full"
    return {
        str(number): _weight(value, tensor, strings, number in chosen, is_full)
        for number, value, tensor in held
    }


def _weight(
    value: Value, tensor: ir.TensorProtocol, strings: Strings, has_statistics: bool, is_full: bool
) -> Json:
    text = elements_text(tensor)
    result: dict[str, Json] = {"count": tensor.size, "bytes": _bytes(tensor), "text": strings(text)}
    if isinstance(tensor, ir.ExternalTensor):
        location = str(cast(Any, tensor).location)  # a path, which onnx-ir gives no full type
        result["place"] = strings(clipped(printable(location), 200))
    if has_statistics and tensor.size > 1:
        found = statistics_of(tensor, is_full=is_full)
        if found is not None:
            result["statistics"] = _statistics(found)
        elif not text:
            result["note"] = strings("Its elements are no numbers, or cannot be read.")
    return result


def _bytes(tensor: ir.TensorProtocol) -> int:
    try:
        return tensor.nbytes
    except Exception:  # of strings, onnx-ir knows no size
        return 0


def _statistics(found: Statistics) -> Json:
    result: dict[str, Json] = {
        "low": _short(found.low),
        "high": _short(found.high),
        "mean": _short(found.mean),
        "deviation": _short(found.deviation),
    }
    if found.zeros:
        result["zeros"] = _short(found.zeros)
    if found.odd:
        result["odd"] = found.odd
    if found.bins:
        result["bins"] = found.bins
    if found.sampled:
        result["sampled"] = found.sampled
    return result


def _short(number: float) -> float:
    return float(f"{number:.6g}") if math.isfinite(number) else 0.0


# ---- code and source ----


def _code(model: ir.Model, description: Description, strings: Strings) -> Json:
    """The statement of each node; none where the model cannot be decompiled, which need not keep it from being seen."""
    try:
        statements = node_statements(model)
    except (OnnxsmithError, RecursionError):
        return {}
    return {
        str(description.numbers[node]): strings(clipped(printable(text), _LONGEST_CODE))
        for node, text in statements.items()
        if node in description.numbers
    }


def _sources(description: Description, viewed: Viewed, strings: Strings) -> Json:
    called = "the model" if viewed.place is None else viewed.place.name
    found = sources_of(description, called) if viewed.has_source else Sources()
    return {
        "files": [
            {
                "name": strings(each.name),
                "first": each.first,
                "total": each.total,
                "lines": [strings(line) for line in each.lines],
            }
            for each in found.files
        ],
        "spans": {
            str(node): [part for each in spans for part in each] for node, spans in found.spans.items()
        },
        "claims": {str(node): strings(text) for node, text in found.claims.items()},
    }


# ---- notes of others ----


def _overlay(overlay: Overlay, description: Description, strings: Strings) -> Json:
    def notes(given: Mapping[str, Note]) -> dict[str, Json]:
        return {
            str(description.by_address[address]): [
                each.kind,
                None if each.share is None else _short(each.share),
                strings(clipped(printable(each.label), 60)),
                strings(clipped(printable(each.text), 2000)),
            ]
            for address, each in given.items()
            if address in description.by_address
        }

    return {
        "title": strings(clipped(printable(overlay.title), 200)),
        "legend": [[kind, strings(clipped(printable(text), 100))] for kind, text in overlay.legend.items()],
        "notes": notes(overlay.notes),
        "steps": [
            {
                "title": strings(clipped(printable(each.title), 300)),
                "notes": notes(each.notes) if each.notes else None,
            }
            for each in overlay.steps
        ],
    }


def _both(
    both: SideBySide, descriptions: tuple[Description, Description], strings: Strings
) -> Mapping[str, Json]:
    numbers = descriptions[0].by_address, descriptions[1].by_address
    pairs = [
        number
        for one, other in both.pairs.items()
        if one in numbers[0] and other in numbers[1]
        for number in (numbers[0][one], numbers[1][other])
    ]
    return {
        "title": strings(clipped(printable(both.title), 300)),
        "called": [strings(clipped(printable(each), 100)) for each in both.called],
        "pairs": pairs,
        "rows": [
            [
                each.kind,
                strings(clipped(printable(each.group), 60)),
                strings(clipped(printable(each.text), 300)),
                [strings(clipped(printable(line), 600)) for line in each.details],
                *(
                    [held[address] for address in addresses if address in held]
                    for held, addresses in zip(numbers, (each.before, each.after), strict=True)
                ),
            ]
            for each in both.rows
        ],
    }


# -- value types -----------------------------------------------------------------------------------------------
# The types of all values of a model: what it declares, and where that is not all, what our inference finds.
#
# Goes on where a node cannot work: a model that is wrong is looked at to see why.


def value_types(model: ir.Model) -> dict[ir.Value, AnyValueType]:
    """The type of each value that more is known of than the model declares; nothing when it declares all.

    A value of a function has the types of the first call that says what it is.
    """
    if not model.functions and all(map(_is_declared, _made_values(model.graph))):
        return {}
    state = State()
    state.inside = []
    walk = _Tolerant(model.functions, model.opset_imports, {}, {}, state)
    for value in model.graph.inputs:
        walk.known[value] = Known(type_from_ir(value.type, value.shape))
    walk.graph(model.graph)
    found: dict[ir.Value, AnyValueType] = {}
    for known in (walk.known, *state.inside):
        _enter(found, known)
    return found


def _enter(found: dict[ir.Value, AnyValueType], known: Mapping[ir.Value, Known]) -> None:
    for value, each in known.items():
        held = found.get(value)
        if held is None or (isinstance(held, TensorType) and held.shape is None):
            found[value] = each.type


def _made_values(graph: ir.Graph) -> Iterator[ir.Value]:
    for node in graph.all_nodes():
        yield from node.outputs


def _is_declared(value: ir.Value) -> bool:
    return value.type is not None and value.shape is not None


class _Tolerant(Walk):
    """Knows nothing of what a node gives that inference objects to, but what the model declares."""

    def node(self, node: ir.Node) -> None:
        try:
            super().node(node)
        except (OnnxsmithError, RecursionError):  # thousands of functions, each in the one before
            for value in node.outputs:
                self.known[value] = self.completed(NOTHING, value)
