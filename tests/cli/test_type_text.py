"""Types as they are typed in a shell."""

from __future__ import annotations

from typing import Any

import pytest

from onnxsmith import BOOL, DOUBLE, FLOAT, FLOAT16, INT64
from onnxsmith.cli.report import Usage
from onnxsmith.cli.type_text import read_type, read_value, split_assignment
from onnxsmith.types.value_types import OptionalType, SequenceType

TYPES = [
    ("FLOAT", FLOAT),
    ("float", FLOAT),
    (" int64[N] ", INT64["N"]),
    ("FLOAT[N, 4]", FLOAT["N", 4]),
    ('FLOAT["N", 4]', FLOAT["N", 4]),
    ("FLOAT[N + 1]", FLOAT["N + 1"]),
    ("float16[...]", FLOAT16[...]),
    ("DOUBLE[None, 3]", DOUBLE[None, 3]),
    ("Sequence[FLOAT[N]]", SequenceType(FLOAT["N"])),
    ("Optional[BOOL[2]]", OptionalType(BOOL[2])),
    ("Optional[Sequence[INT64[N]]]", OptionalType(SequenceType(INT64["N"]))),
]


@pytest.mark.parametrize(("text", "wanted"), TYPES)
def test_types(text: str, wanted: Any) -> None:
    assert read_type(text) == wanted


@pytest.mark.parametrize(
    "text",
    [
        "",
        "FLOT",
        "number[N]",
        "FLOAT[N",
        "FLOAT(N)",
        "Optional[Optional[FLOAT]]",
        "List[FLOAT]",
    ],
)
def test_what_is_no_type(text: str) -> None:
    with pytest.raises(Usage, match="is no type"):
        read_type(text)


VALUES = [
    ("3", 3),
    ("0.5", 0.5),
    ("[1, 2]", [1, 2]),
    ("'text'", "text"),
    ("text", "text"),
    ("True", True),
    ("a b", "a b"),
]


@pytest.mark.parametrize(("text", "wanted"), VALUES)
def test_values(text: str, wanted: Any) -> None:
    found = read_value(text)
    assert (type(found), found) == (type(wanted), wanted)


def test_assignments() -> None:
    assert split_assignment("a=b=c", "a value", "NAME=VALUE") == ("a", "b=c")
    for text in ("a", "=b"):
        with pytest.raises(Usage):
            split_assignment(text, "a value", "NAME=VALUE")
