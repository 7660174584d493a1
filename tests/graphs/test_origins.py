"""What the metadata of nodes say of the places that they were written at."""

from __future__ import annotations

import pytest

from onnxsmith.graphs.origins import SOURCE_KEY, SOURCES_KEY, sources_in, stored_sources


def test_several_places() -> None:
    assert sources_in({SOURCE_KEY: "a.py:1", SOURCES_KEY: stored_sources(["a.py:1", "b.py:2"])}) == [
        "a.py:1",
        "b.py:2",
    ]
    assert sources_in({SOURCE_KEY: "a.py:1"}) == ["a.py:1"]
    assert sources_in({}) == []


@pytest.mark.parametrize("text", ["", "[", "3", '{"a": 1}', "[" * 100_000])
def test_what_is_no_list_says_nothing(text: str) -> None:
    assert sources_in({SOURCE_KEY: "a.py:1", SOURCES_KEY: text}) == ["a.py:1"]


def test_what_is_no_place_is_left_out() -> None:
    assert sources_in({SOURCES_KEY: '["a.py:1", 3, null]'}) == ["a.py:1"]
