"""A model as a picture that one can click: `model.show()`, pages, SVG and PNG, and notes of other tools on them."""

from __future__ import annotations

from onnxsmith.view.bundles import model_bundle as model_bundle
from onnxsmith.view.content import StatisticsWish as StatisticsWish
from onnxsmith.view.overlays import Note as Note
from onnxsmith.view.overlays import NoteKind as NoteKind
from onnxsmith.view.overlays import Overlay as Overlay
from onnxsmith.view.overlays import Step as Step
from onnxsmith.view.showing import show as show
from onnxsmith.view.showing import show_side_by_side as show_side_by_side
from onnxsmith.view.side_by_side import Row as Row
from onnxsmith.view.side_by_side import SideBySide as SideBySide

__all__ = [
    "Note",
    "NoteKind",
    "Overlay",
    "Row",
    "SideBySide",
    "StatisticsWish",
    "Step",
    "model_bundle",
    "show",
    "show_side_by_side",
]


def __dir__() -> list[str]:
    return list(__all__)
