"""`onnxsmith explain`."""

from __future__ import annotations

import pytest

from onnxsmith.errors.pages import pages
from tests.cli.conftest import Run


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.code)
def test_page(run: Run, page) -> None:
    seen = run("explain", page.code)
    assert seen.status == 0
    assert page.name in seen.out
    assert page.summary in seen.out
    assert page.wrong.splitlines()[0] in seen.out


def test_class_and_json(run: Run) -> None:
    seen = run("explain", "MixedDTypesError", "--json")
    assert seen.status == 0
    assert seen.json[0]["code"] == "C401"
    assert seen.json[0]["builtins"] == ["TypeError"]


def test_list(run: Run) -> None:
    seen = run("explain")
    assert seen.status == 0
    assert all(page.code in seen.out for page in pages())
    assert len(run("explain", "--json").json) == len(pages())


@pytest.mark.parametrize(
    ("wrong", "suggestion"), [("C499", "C401"), ("ShapError", "'ShapeError'"), ("nonsense", "lists all")]
)
def test_unknown(run: Run, wrong: str, suggestion: str) -> None:
    seen = run("explain", wrong)
    assert seen.status == 2
    assert suggestion in seen.err
