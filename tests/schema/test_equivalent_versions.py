"""Versions in which a node means the same, held against onnx's own definitions."""

from __future__ import annotations

import onnx
import pytest

from onnxsmith.schema import equivalent_versions, registry
from onnxsmith.schema.equivalent_versions import (
    ANY_TYPE,
    Use,
    is_newer,
    is_older,
    meaning_changed,
    range_of_meaning,
)

TABLES = {
    name: getattr(equivalent_versions, name)
    for name in ("_CHANGED", "_UNCHANGED", "_MORE_VALUES", "_MORE_IN_VALUES")
}
VERSIONS = {(each.name, each.since_version) for each in onnx.defs.get_all_schemas_with_history()}
NEWEST = onnx.defs.onnx_opset_version()


@pytest.mark.parametrize("name", TABLES)
def test_tables_name_definitions_of_onnx(name: str) -> None:
    known = {key for key in TABLES[name] if key[1] <= NEWEST or key[0].startswith("Tree")}
    assert known
    assert known <= VERSIONS


def test_new_values_are_documented_by_onnx() -> None:
    for (name, version), values in TABLES["_MORE_VALUES"].items():
        before, after = onnx.defs.get_schema(name, version - 1), onnx.defs.get_schema(name, version)
        for each in values:
            attribute, _, value = each.partition("=")
            assert value in after.attributes[attribute].description or value in after.doc
            assert f"`{value}`" not in before.attributes[attribute].description


def floats(count: int, *attributes: str, texts: tuple[str, ...] = ()) -> Use:
    types = ("tensor(float)",) * count
    return Use(types, ("tensor(float)",), frozenset(attributes), frozenset(texts))


RANGES = [
    ("Relu", 14, [], (14, None)),
    ("Relu", 14, [floats(1)], (6, None)),
    ("Relu", 6, [], (6, None)),
    ("Add", 14, [floats(2)], (7, None)),
    ("PRelu", 16, [floats(2)], (7, None)),
    ("PRelu", 6, [floats(2)], (6, 7)),
    ("ScatterND", 18, [Use((ANY_TYPE, "tensor(int64)", ANY_TYPE), (ANY_TYPE,), frozenset())], (11, None)),
    (
        "ScatterND",
        18,
        [
            Use(
                (ANY_TYPE, "tensor(int64)", ANY_TYPE),
                (ANY_TYPE,),
                frozenset({"reduction"}),
                frozenset({"reduction=max"}),
            )
        ],
        (18, None),
    ),
    ("Softmax", 13, [floats(1)], (13, None)),
    ("TopK", 10, [], (10, None)),
]


@pytest.mark.parametrize(("name", "version", "uses", "wanted"), RANGES)
def test_ranges(name: str, version: int, uses: list[Use], wanted: tuple[int, int | None]) -> None:
    op = registry.find("", name, version)
    assert op is not None
    assert range_of_meaning(op, uses) == wanted


@pytest.mark.parametrize(
    ("name", "before", "after", "is_same"),
    [
        ("TopK", 10, 11, True),
        ("OneHot", 9, 11, False),
        ("Dropout", 10, 12, False),
        ("Reshape", 13, 14, True),
        ("Clip", 6, 11, False),
    ],
)
def test_the_next_version(name: str, before: int, after: int, is_same: bool) -> None:
    old, new = registry.find("", name, before), registry.find("", name, after)
    assert old is not None
    assert new is not None
    assert is_newer(old, new) == is_same


def test_an_older_version() -> None:
    old, new = registry.find("", "Erf", 9), registry.find("", "Erf", 13)
    assert old is not None
    assert new is not None
    assert is_older(old, new, floats(1))
    # Erf-13 leaves out the integers of Erf-9.
    assert not is_older(old, new, Use(("tensor(int64)",), ("tensor(int64)",), frozenset()))
    assert not is_newer(old, new)
    wide = registry.find("", "Concat", 13)
    narrow = registry.find("", "Concat", 4)
    eleven = registry.find("", "Concat", 11)
    assert wide is not None
    assert narrow is not None
    assert eleven is not None
    assert not is_older(narrow, eleven, floats(2, "axis"))
    assert is_older(eleven, wide, floats(2, "axis"))


def test_changed_meaning_is_that_of_the_standard_domain() -> None:
    one_hot, relu = registry.find("", "OneHot", 11), registry.find("", "Relu", 14)
    assert one_hot is not None
    assert relu is not None
    assert "counts from the end" in (meaning_changed(one_hot) or "")
    assert meaning_changed(relu) is None


@pytest.mark.parametrize(
    ("use", "is_right"),
    [
        (floats(3), True),
        (floats(2), True),
        (floats(1), False),
        (floats(4), False),
        (floats(2, "alpha"), True),
        (floats(2, "nosuch"), False),
        (Use(("tensor(float)", None), ("tensor(float)",), frozenset()), False),
        (Use(("tensor(float)", "tensor(double)"), ("tensor(float)",), frozenset()), False),
        (Use(("tensor(float)", "tensor(float)"), ("tensor(double)",), frozenset()), False),
        (Use(("tensor(bool)", "tensor(bool)"), ("tensor(bool)",), frozenset()), False),
        (Use((ANY_TYPE, "tensor(double)"), (ANY_TYPE,), frozenset()), True),
        (Use(("", ANY_TYPE), (ANY_TYPE,), frozenset()), False),
    ],
)
def test_uses_that_fit_a_definition(use: Use, is_right: bool) -> None:
    gemm = registry.find("", "Gemm", 13)
    assert gemm is not None
    assert use.fits(gemm) == is_right


def test_a_required_attribute() -> None:
    concat = registry.find("", "Concat", 13)
    assert concat is not None
    assert floats(3, "axis").fits(concat)
    assert not floats(3).fits(concat)
    assert not Use((), (), frozenset({"axis"})).has_inputs(concat)
