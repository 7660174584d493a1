"""What metadata says of weights to be trained: read as names, or as nothing."""

from __future__ import annotations

import pytest

from onnxsmith.graphs import trained_parameters
from onnxsmith.graphs.trained_parameters import PARAMETERS_KEY


@pytest.mark.parametrize("text", ["", "{}", "weight", "3", "[" * 100_000])
def test_what_is_no_list_says_nothing(text: str) -> None:
    assert trained_parameters.read({PARAMETERS_KEY: text}) is None


def test_names_are_read_once_and_all_else_is_passed_over() -> None:
    assert trained_parameters.read({PARAMETERS_KEY: '["a", 1, null, "b", "a"]'}) == ("a", "b")
    assert trained_parameters.read({PARAMETERS_KEY: "[]"}) == ()
    assert trained_parameters.read({}) is None


def test_joined_models_say_it_only_where_both_do() -> None:
    one: dict[str, str] = {}
    trained_parameters.note(one, ["a", "b"])
    other: dict[str, str] = {}
    trained_parameters.note(other, ["b", "c"])
    both = dict(one)
    trained_parameters.join(both, other)
    assert trained_parameters.read(both) == ("a", "b", "c")
    trained_parameters.join(both, {})
    assert trained_parameters.read(both) is None
