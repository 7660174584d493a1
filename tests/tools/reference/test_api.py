"""Pages of public names: none is missing, and what a page says is what the stub and the docstring say."""

from __future__ import annotations

import dataclasses

import pytest

from onnxsmith import errors
from tools.reference import api_pages, docstrings, stub_reader
from tools.reference.groups import GROUPS
from tools.reference.raised import errors_of


@pytest.fixture(scope="module")
def names() -> list[api_pages.Name]:
    return [each for _, group in api_pages.all_names() for each in group]


def test_nothing_is_missing(names: list[api_pages.Name]) -> None:
    assert api_pages.problems(names) == []


def test_a_missing_entry_text_or_example_is_found(names: list[api_pages.Name]) -> None:
    first = next(each for each in names if each.name == "trace")
    without = [each for each in names if each is not first]
    assert any("onnxsmith.trace is on no page" in each for each in api_pages.problems(without))
    for text, words in (("", "has no docstring"), ("What it is.", "has no example")):
        changed = dataclasses.replace(first, docstring=text)
        assert any(f"onnxsmith.trace {words}" in each for each in api_pages.problems([*without, changed]))


def test_every_name_stands_on_one_page() -> None:
    entered = [name for group in GROUPS for name in group.names]
    assert len(entered) == len(set(entered))


def test_an_entry(names: list[api_pages.Name]) -> None:
    group = next(each for each in GROUPS if each.slug == "numpy-linalg")
    page = api_pages.page(group, [api_pages.read("onnxsmith.numpy.linalg", "cholesky")])
    assert "xp.linalg.cholesky(x: ArrayLike, /, *, upper: bool = False) -> Array" in page
    assert "```{py:function} onnxsmith.numpy.linalg.cholesky" in page
    assert "../errors.md#c411-linearalgebraerror" in page


def test_signatures_are_those_of_stubs() -> None:
    declared = stub_reader.declaration("onnxsmith", "load")
    shown = stub_reader.signature(declared.functions[0], "load", is_method=False)
    assert shown == "load(model: ModelLike) -> Model"


def test_errors_are_read_from_the_code() -> None:
    import onnxsmith.numpy as xp

    assert errors.LinearAlgebraError in errors_of(xp.linalg.cholesky)
    assert errors.LinearAlgebraError not in errors_of(xp.reshape)


def test_a_docstring_as_markdown() -> None:
    text = "It adds.\n\nRaises ShapeError.\n\n>>> 1 + 1\n2\n\nMore."
    assert docstrings.markdown(text, to_errors="errors.md") == (
        "It adds.\n\nRaises [`ShapeError`](errors.md#c402-shapeerror).\n\n```pycon\n>>> 1 + 1\n2\n```\n\nMore."
    )
