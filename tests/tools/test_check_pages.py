"""What does not fit the screen is found in a real browser, and what scrolls in a frame of its own is not."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tools import check_pages

PAGE = "<!doctype html><meta name=viewport content='width=device-width'><body style='margin:0'><article>{}</article>"
WIDE = "x" * 200


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    if not any(shutil.which(each) for each in ("chromium", "chromium-browser", "google-chrome")):
        pytest.skip("Chromium is not installed: apt-get install chromium")
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with playwright.sync_playwright() as engine:
        found = check_pages.launch(engine)
        yield found
        found.close()


def problems(browser: Any, folder: Path, body: str) -> set[str]:
    page = folder / "page.html"
    page.write_text(PAGE.format(body))
    return {each.words.split(":")[0] for each in check_pages.check(browser, folder, [page])}


@pytest.mark.parametrize(
    "body",
    [
        "<p>words</p>",
        f"<pre style='overflow-x:auto'>{WIDE}</pre>",
        f"<p style='overflow-wrap:anywhere'>{WIDE}</p>",
        "<table><tr><td>one<td>two</table>",
    ],
)
def test_fits(body: str, browser: Any, tmp_path: Path) -> None:
    assert problems(browser, tmp_path, body) == set()


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (f"<p>{WIDE * 2}</p>", "the page is"),
        (f"<table><tr><td>{WIDE * 2}</table>", "beyond the screen"),
        (f"<p style='overflow:hidden;width:90px'>{WIDE}</p>", "text is cut off"),
        ("<img src='https://example.invalid/x.png'>", "asks the network for https"),
    ],
)
def test_does_not_fit(body: str, words: str, browser: Any, tmp_path: Path) -> None:
    assert any(each.startswith(words) for each in problems(browser, tmp_path, body))
