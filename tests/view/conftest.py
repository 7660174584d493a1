"""Pages of models that are open in a real browser."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest


@dataclass
class Seen:
    """A page that is open, and everything it should not have done."""

    page: Any
    errors: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.page, name)

    def click_node(self, node: int) -> None:
        """Bring a node into sight and click it, as a person would."""
        place = self.page.evaluate(
            """async (node) => {
                viewer.select(node); viewer.choose(null); viewer.camera.stop();
                const place = viewer.scene.reveal(node);
                viewer.active.bring(place, true);
                await new Promise((done) => setTimeout(done, 400));
                const { frame, item } = place, { x, y, scale } = viewer.camera;
                const box = viewer.canvas.getBoundingClientRect();
                return [box.left + x + (frame.itemLeft(item) + frame.widths[item] / 2) * scale,
                        box.top + y + (frame.itemTop(item) + 12) * scale];
            }""",
            node,
        )
        self.page.mouse.click(*place)

    @property
    def heading(self) -> str:
        """What the panel is about."""
        return self.page.inner_text("#panel h2")


@pytest.fixture
def browse(chromium: Any) -> Iterator[Callable[..., Seen]]:
    """Open a page from its file; when the test ends, nothing may have gone wrong in it."""
    opened: list[Seen] = []
    contexts: list[Any] = []

    def browse(place: Path, width: int = 1280, height: int = 800, scheme: str = "light") -> Seen:
        context = chromium.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)
        contexts.append(context)
        seen = Seen(context.new_page())
        opened.append(seen)
        seen.page.on("console", lambda message: seen.errors.append(message.text))
        seen.page.on("pageerror", lambda error: seen.errors.append(str(error)))
        seen.page.on("dialog", lambda dialog: seen.errors.append(f"dialog {dialog.message}"))
        seen.page.on("request", lambda request: seen.requests.append(request.url))
        seen.page.goto(place.as_uri())
        seen.page.wait_for_selector("html[data-ready]", timeout=60_000)
        assert seen.requests == [place.as_uri()]
        return seen

    yield browse
    for seen in opened:
        assert seen.errors == []
        assert len(seen.requests) == 1
    for context in contexts:
        context.close()
