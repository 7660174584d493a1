"""The gallery is whole: every program has its place and picture in the index, and is short enough to read.

The programs themselves run when the documentation is built.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tools import page_cells

GALLERY = Path(__file__).resolve().parents[2] / "docs" / "gallery"
PAGES = sorted(page for page in GALLERY.glob("*.md") if page.stem != "index")
#: What fits beside the navigation on a screen of 1280 pixels.
WIDEST = 84


def test_there_are_twenty() -> None:
    assert len(PAGES) >= 20


def test_the_index_has_all() -> None:
    index = (GALLERY / "index.md").read_text(encoding="utf-8")
    names = [page.stem for page in PAGES]
    assert sorted(re.findall(r"\(thumbnails/([\w-]+)\.png\)\]\(\1\.md\)", index)) == names
    toctree = index.partition("```{toctree}")[2]
    assert sorted(re.findall(r"^([a-z][\w-]+)$", toctree, re.MULTILINE)) == names
    assert sorted(each.stem for each in (GALLERY / "thumbnails").glob("*.png")) == names


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_page_is_short_and_draws(page: Path) -> None:
    code = [cell.code for cell in page_cells.cells(page.read_text(encoding="utf-8"))]
    lines = [line for each in code for line in each.splitlines()]
    assert len(lines) <= 95
    assert [line for line in lines if len(line) > WIDEST] == []
    assert any("plt." in each or "SVG(" in each for each in code)
