"""A model as a picture that one can click: `model.show()`, pages, SVG and PNG, and notes of other tools on them."""

from __future__ import annotations

from onnxsmith.view.bundles import model_bundle as model_bundle
from onnxsmith.view.overlays import Note as Note
from onnxsmith.view.overlays import NoteKind as NoteKind
from onnxsmith.view.overlays import Overlay as Overlay
from onnxsmith.view.overlays import Step as Step
from onnxsmith.view.showing import show as show
