"""Python names for what a model names in any way it likes."""

from __future__ import annotations

import keyword
import sys

import pytest

from onnxsmith.graphs.identifiers import RESERVED, Identifiers, common_prefix, readable


def test_a_name_that_python_can_spell_stays_and_is_given_once() -> None:
    names = Identifiers({"taken"})
    assert names.exact("x1") == "x1"
    assert names.exact("x1") is None
    for name in ("taken", "print", "class", "match", "_", "self", "cls", "1x", "a.b", "ü", "", "a" * 41):
        assert names.exact(name) is None
    assert names.exact("a" * 40) == "a" * 40


def test_names_that_are_taken_get_numbers() -> None:
    names = Identifiers()
    assert [names.unique("x") for _ in range(3)] == ["x", "x_2", "x_3"]
    names.reserve("x_4")
    names.reserve("y")
    assert names.unique("x") == "x_5"
    assert names.unique("x") == "x_6"
    assert names.unique("y") == "y_2"
    assert names.unique("print") == "print_2"


#: A name, the operator, and what becomes of the last words and of the whole.
READABLE = [
    ("/layers.0/self_attn/MatMul_output_0", "MatMul", "self_attn_mat_mul", "layers_0_self_attn_mat_mul"),
    ("/layers/layers.0/fc/Add", "Add", "fc_add", "layers_0_fc_add"),
    ("encoder/1/Relu:0", "Relu", "encoder_relu", "encoder_relu"),
    ("a.b/1.5/Relu", "Relu", "relu", "a_b_1_5_relu"),
    ("123", "LayerNormalization", "layer_normalization", "layer_normalization"),
    ("", "Conv", "conv", "conv"),
    ("ü", "", "value", "value"),
    ("/1/2", "1D", "value_1d", "value_1d"),
    ("x-y", "Add", "x_y", "x_y"),
    ("1st", "Add", "add_1st", "add_1st"),
]


@pytest.mark.parametrize(("name", "operator", "short", "whole"), READABLE)
def test_readable_names(name: str, operator: str, short: str, whole: str) -> None:
    assert readable(name, operator) == short
    assert readable(name, operator, is_whole=True) == whole


def test_long_names_keep_their_last_words() -> None:
    assert readable("/".join(["block"] * 9 + ["word" * 3]), "Add", is_whole=True).endswith(
        "block_" + "word" * 3
    )
    for name in ("w_" * 60 + "end", "x" * 90, "1" * 60 + "_a"):
        found = readable(name, "Add")
        assert len(found) <= 44
        assert found.isidentifier()


def test_names_of_values() -> None:
    names = Identifiers()
    assert names.for_value("x", "Add") == "x"
    assert names.for_value("x", "Add") == "x_2"
    assert names.for_value("/net/fc/Add", "Add", "/net/") == "fc_add"
    assert names.for_value("/net/fc/Add", "Add", "/net/", {"fc_add"}) == "net_fc_add"
    assert names.for_value("net_y", "Add", "net_") == "y"
    assert names.for_value("12", "MatMul") == "mat_mul"


@pytest.mark.parametrize(
    ("names", "prefix"),
    [
        (["/model/net/a", "/model/net/b", "/model/net/c", "/model/net/d"], "/model/net/"),
        (["/model/net/a", "/model/net/b", "/model/net/c"], ""),
        (["/model/net/a", "/model/net/b", "/model/nets/c", "/model/net/d"], ""),
        (["/model_1/a", "/model_1/b", "/model_2/c", "/model_2/d"], ""),
        (["/longmodel/a", "/longmodel/b", "/longmodel/c", "/longmodel/"], ""),
        (["/net/a", "/net/b", "/net/c", "/net/d"], ""),
        (["/network/same"] * 4, "/network/"),
    ],
)
def test_the_common_prefix(names: list[str], prefix: str) -> None:
    assert common_prefix(names) == prefix


def test_reserved() -> None:
    assert {*keyword.kwlist, *keyword.softkwlist, "print", "_", "self", "cls"} <= RESERVED


def test_names_that_are_taken_are_not_copied() -> None:
    """Each of 10,000 functions of a module has its own identifiers: copies of all names took 5 GB."""
    taken = frozenset(f"name{n}" for n in range(10_000))
    names = Identifiers(taken)
    assert names.unique("name7") == "name7_2"
    held = [each for each in vars(names).values() if each is not taken]
    assert sum(map(sys.getsizeof, held)) < 2_000
