"""`model.show()`: a page in the notebook, in the browser, or in a file."""

from __future__ import annotations

import os
import sys
import tempfile
import webbrowser
from pathlib import Path
from typing import get_args

from onnxsmith.diagnostics import clipped, described_type, is_notebook, printable
from onnxsmith.errors import AttributeTypeError, AttributeValueError
from onnxsmith.graphs import beyond
from onnxsmith.graphs.model import Model, ModelLike, model_of
from onnxsmith.graphs.model_boundary import model_boundary
from onnxsmith.inspection import weights_of
from onnxsmith.view import notebook, writing
from onnxsmith.view.content import StatisticsWish, Viewed, ViewedPair
from onnxsmith.view.overlays import Overlay
from onnxsmith.view.side_by_side import SideBySide


@model_boundary
def show(
    model: ModelLike,
    path: str | os.PathLike[str] | None = None,
    *,
    source: bool = True,
    statistics: StatisticsWish = "sample",
    overlay: Overlay | None = None,
    overwrite: bool = False,
) -> Path | None:
    """Show a model as a page to click through: in a notebook where it is called, elsewhere in the browser.

    With a `path` it is written there and nothing is opened: a page for `.html`, a picture for `.svg` and `.png`. The
    page is one file that needs no network. Gives the path of the file; in a notebook there is none.

    - `source`: whether the page has the Python lines that made the nodes.
    - `statistics`: numbers and histograms of weights, from a `"sample"` of each, in `"full"`, or `"none"`.
    - `overlay`: notes on nodes that another tool has made.
    - `overwrite`: whether a file may be replaced that is no page or picture of a model.

    >>> import tempfile
    >>> from onnxsmith import FLOAT, opset21 as op, trace
    >>> model = trace(lambda a, b: op.Relu(a @ b + 1.0), FLOAT["N", 4], FLOAT[4, 8])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.show(f"{folder}/model.html").name
    'model.html'
    """
    model = model_of(model, "show")
    shown = viewed(model, source=source, statistics=statistics, overlay=overlay)
    return _show(shown, path, overwrite=overwrite)


def show_side_by_side(
    models: tuple[Model, Model],
    both: SideBySide,
    path: str | os.PathLike[str] | None = None,
    *,
    source: bool = True,
    statistics: StatisticsWish = "sample",
    overwrite: bool = False,
) -> Path | None:
    """Show two models beside each other, with what is said of both; where it goes is as for `show`."""
    first, second = (
        viewed(model, source=source, statistics=statistics, overlay=overlay)
        for model, overlay in zip(models, both.overlays, strict=True)
    )
    return _show(ViewedPair(first, second, both), path, overwrite=overwrite)


def _show(shown: Viewed | ViewedPair, path: str | os.PathLike[str] | None, *, overwrite: bool) -> Path | None:
    if path is not None:
        return writing.write(shown, path, overwrite=overwrite)
    if is_notebook():
        notebook.display_page(shown)
        return None
    return _open(shown)


def viewed(
    model: Model,
    *,
    source: bool = True,
    statistics: StatisticsWish = "sample",
    overlay: Overlay | None = None,
) -> Viewed:
    """A model with how it is to be shown."""
    if statistics not in get_args(StatisticsWish):
        raise AttributeValueError(
            f"statistics={statistics!r} is not known", help="it is one of 'sample', 'full', 'none'"
        )
    if overlay is not None and not isinstance(overlay, Overlay):  # pyright: ignore[reportUnnecessaryIsInstance]  # users may give anything
        raise AttributeTypeError(
            f"overlay is an onnxsmith.view.Overlay, not {described_type(type(overlay))}",
            help="overlay=profile.overlay()" if hasattr(overlay, "overlay") else None,
            culprit="overlay",
        )
    if model.is_proto_only:
        held, _ = beyond.from_proto(model.proto, "the model")
    else:
        held = model.ir
    name = held.graph.name or "model" if model.place is None else model.place.name
    weights = weights_of(model)
    title = clipped(printable(name), 100)
    return Viewed(held, title, model.place, source, statistics, overlay, (len(weights), weights.size))


def _open(shown: Viewed | ViewedPair) -> Path:
    """Write the page to a new file among the temporary ones, and open it where there is a browser."""
    stem = "".join(each if each.isalnum() or each in "._-" else "_" for each in shown.title)[:60]
    folder = Path(tempfile.mkdtemp(prefix="onnxsmith-"))
    place = writing.write(shown, folder / f"{stem or 'model'}.html")
    if _has_screen():
        webbrowser.open(place.as_uri())
    return place


def _has_screen() -> bool:
    """True if a browser has somewhere to appear; one for terminals would take over this one."""
    if sys.platform in ("win32", "darwin"):
        return True
    return any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"))
