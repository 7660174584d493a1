"""The viewer: layout of large graphs, the size of pages, and pages in a real browser.

The browser's rows need Chromium and playwright; without them there are none.
"""

from __future__ import annotations

import importlib
import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.contest import Context
from benchmarks.rows import Row, at_most
from tests.view.large_models import transformer

NAME = "view"
DESCRIPTION = "the viewer on large models (--set nodes=20000): layout in CPU time, first picture, panning"

_BROWSERS = ("chromium", "chromium-browser", "google-chrome")
#: Moves the picture by a few pixels for each frame, for a second.
_PAN = """() => new Promise((done) => {
    let frames = 0; const begun = performance.now();
    const step = () => {
        viewer.camera.pan(3, -7);
        const passed = performance.now() - begun;
        if (passed > 1500) done(1000 * frames / passed); else { frames++; requestAnimationFrame(step); }
    };
    requestAnimationFrame(step);
})"""
_FIRST = "performance.getEntriesByName('drawn')[0].startTime"


def run(context: Context) -> list[Row]:
    """Rows for the layout, the size of pages, the first picture and the frames of panning."""
    count = int(context.number("nodes", 20_000))
    rows: list[Row] = []
    pages: dict[str, Path] = {}
    with tempfile.TemporaryDirectory() as folder:
        for size, has_scopes in ((300, True), (count, True), (count, False)):
            name = f"{size:,} nodes {'with scopes' if has_scopes else 'flat'}"
            rows += _written(name, size, has_scopes, Path(folder), pages)
        rows += _browsed(pages)
    return rows


def _written(name: str, size: int, has_scopes: bool, folder: Path, pages: dict[str, Path]) -> list[Row]:
    from onnxsmith import Model
    from onnxsmith.view.boxes import Boxes
    from onnxsmith.view.content import value_types
    from onnxsmith.view.description import Description

    model = Model.from_proto(transformer(size, has_scopes=has_scopes))
    description = Description(model.ir, value_types(model.ir))
    begun = time.process_time()
    Boxes(description)
    seconds = time.process_time() - begun
    place = pages[name] = folder / f"{len(pages)}.html"
    model.show(place)
    most = 400 if size <= 300 else 4000
    return [
        Row(f"layout, {name}", seconds, "s", bar=at_most(2.0)),
        Row(f"page, {name}", place.stat().st_size / 1e3, "kB", bar=at_most(most)),
    ]


def _browsed(pages: dict[str, Path]) -> list[Row]:
    """First picture and frames of panning, near and far; nothing where there is no browser."""
    program = next(filter(None, map(shutil.which, _BROWSERS)), None)
    try:
        playwright: Any = importlib.import_module("playwright.sync_api")
    except ImportError:
        return []
    if program is None:
        return []
    rows: list[Row] = []
    with playwright.sync_playwright() as engine:
        browser = engine.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-gpu"])
        for name, place in pages.items():
            page = browser.new_page(viewport={"width": 1440, "height": 900})
            page.goto(place.as_uri())
            page.wait_for_selector("html[data-ready]", timeout=60_000)
            rows.append(Row(f"first picture, {name}", page.evaluate(_FIRST) / 1e3, "s", bar=at_most(3.0)))
            near = page.evaluate(_PAN)
            page.evaluate("viewer.home(false)")
            page.wait_for_timeout(500)
            far = page.evaluate(_PAN)
            for which, frames in (("near", near), ("whole", far)):
                rows.append(Row(f"a frame of panning, {which}, {name}", 1000 / frames, "ms", bar=at_most(50)))
            page.close()
        browser.close()
    return rows
