"""Annotations of parameters: what contradicts one is refused with its place, what agrees is let through."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import numpy as np
import numpy.typing as npt
import pytest

import onnxsmith.numpy as xp
from onnxsmith import DOUBLE, FLOAT, INT64
from onnxsmith.errors import AnnotationError
from onnxsmith.scripting.dialects.numpy.annotated import contradicts, met_type, met_value

SAMPLES: dict[str, Any] = {
    "a vector of float64": np.ones(3),
    "a vector of float32": np.ones(3, np.float32),
    "a vector of int64": np.ones(3, np.int64),
    "a matrix of float64": np.ones((3, 2)),
    "an array of no dimensions": np.array(1.0),
    "a float64": np.float64(1),
    "a float32": np.float32(1),
    "an int64": np.int64(1),
    "a float": 1.5,
    "an int": 2,
    "a bool": True,
    "text": "whole",
    "None": None,
    "a list": [1.0, 2.0],
    "a dict": {"a": 1.0},
}
NUMBERS = {"a float64", "a float32", "an int64", "a float", "an int", "a bool", "an array of no dimensions"}
NUMPYS = {"a float64", "a float32", "an int64"}
ARRAYS = {each for each in SAMPLES if each.startswith(("a vector", "a matrix", "an array"))}
#: Each annotation, and the samples that may be given for it.
AGREE: list[tuple[Any, set[str]]] = [
    (DOUBLE["N"], {"a vector of float64"}),
    (DOUBLE[3], {"a vector of float64"}),
    (DOUBLE[4], set()),
    (FLOAT["N"], {"a vector of float32"}),
    (INT64["N"], {"a vector of int64"}),
    (DOUBLE["N", "M"], {"a matrix of float64"}),
    (DOUBLE[...], {"a vector of float64", "a matrix of float64"} | NUMBERS - {"a float32", "an int64"}),
    (DOUBLE, NUMBERS - {"a float32", "an int64"}),
    (INT64, {"an int64", "an int", "a bool"}),
    (np.ndarray, ARRAYS | NUMPYS),
    (npt.NDArray[np.float64], ARRAYS - {"a vector of float32", "a vector of int64"} | NUMPYS),
    (npt.NDArray[np.floating], ARRAYS - {"a vector of int64"} | NUMPYS),
    (float, NUMBERS),
    (int, {"an int64", "an int", "a bool"}),
    (np.float64, {"a float64", "an array of no dimensions", "a float", "an int", "a bool"}),
    (str, {"text"}),
    (list, {"a list"}),
    (list[float], {"a list"}),
    (dict, {"a dict"}),
    (None, {"None"}),
    (float | None, NUMBERS | {"None"}),
    (str | np.ndarray, ARRAYS | NUMPYS | {"text"}),
    (Annotated[float, "metres"], NUMBERS),
    (Any, set(SAMPLES)),
    (Literal["whole", "half"], set(SAMPLES)),
    (npt.ArrayLike, set(SAMPLES)),
    ("a text that nobody can evaluate", set(SAMPLES)),
]


@pytest.mark.parametrize(("hint", "agreeing"), AGREE, ids=[repr(hint)[:40] for hint, _ in AGREE])
def test_the_table_of_what_agrees(hint: Any, agreeing: set[str]):
    found = {name for name, each in SAMPLES.items() if not contradicts(hint, met_value(each))}
    assert found == agreeing


@pytest.mark.parametrize("hint", [each for each, _ in AGREE], ids=lambda each: repr(each)[:40])
def test_types_and_values_agree(hint: Any):
    pairs = [
        (DOUBLE["N"], np.ones(5)),
        (FLOAT["N", 2], np.ones((5, 2), np.float32)),
        (DOUBLE, np.float64(1)),
        (float, 1.5),
        (int, 2),
        (bool, True),
        ("whole", "whole"),
    ]
    for given, value in pairs:
        met = met_type(given)
        assert met is not None
        if hint not in (DOUBLE[3], DOUBLE[4]):  # an open size is known in the call alone
            assert contradicts(hint, met) == contradicts(hint, met_value(value)), given


def scaled(x: DOUBLE["N"], factor: float = 2.0, *, kind: str = "whole"):
    return x * factor if kind == "whole" else x


def first(x: npt.NDArray[np.float64], n: int) -> Any:
    return x[:n]


def test_a_call_that_contradicts_is_refused_with_both_places():
    with pytest.raises(AnnotationError) as caught:
        xp.jit(scaled)(np.ones(3, np.float32))
    text = str(caught.value)
    assert "'x' of 'scaled' is annotated DOUBLE['N'], and the call is given an array of float32" in text
    assert "def scaled(x: DOUBLE[" in text
    assert "xp.jit(scaled)(np.ones(3, np.float32))" in text
    with pytest.raises(AnnotationError, match="'n' of 'first' is annotated int"):
        xp.jit(first)(np.ones(3), 1.5)
    with pytest.raises(AnnotationError, match="'factor' of 'scaled' is annotated float"):
        xp.jit(scaled)(np.ones(3), np.ones(3))


def test_a_type_that_contradicts_is_refused():
    with pytest.raises(AnnotationError, match="'x' of 'scaled' is annotated"):
        xp.to_model(scaled, DOUBLE["N", "M"])
    with pytest.raises(
        AnnotationError, match="'factor' of 'scaled' is annotated float, and to_model is given"
    ):
        xp.to_model(scaled, DOUBLE["N"], DOUBLE["N"])
    with pytest.raises(AnnotationError, match="'kind' of 'scaled' is annotated str"):
        xp.to_model(scaled, DOUBLE["N"], kind=float)


def test_what_agrees_runs_in_every_call():
    jitted = xp.jit(scaled)
    for size in (3, 0, 5):
        np.testing.assert_array_equal(jitted(np.ones(size), 3), 3 * np.ones(size))
    np.testing.assert_array_equal(jitted(np.ones(2), np.float64(3), kind="none"), np.ones(2))
    xp.to_model(scaled, DOUBLE[3], float)


def test_a_fixed_size_holds_in_every_call():
    def pair(x: DOUBLE[2]):
        return x[0] + x[1]

    jitted = xp.jit(pair)
    assert jitted(np.ones(2)) == 2
    assert jitted(np.ones(2)) == 2
    with pytest.raises(AnnotationError, match=r"annotated DOUBLE\[2\]"):
        jitted(np.ones(3))


# -- text in the place of a type -------------------------------------------------------------------------


def doubled(x):
    return x * 2


def chosen(x, how):
    return x * 2 if how == "double" else x


def chosen_by_default(x, how="single"):
    return {"single": x, "double": x * 2}[how]


def converted(x, dtype):
    return x.astype(dtype)


@pytest.mark.parametrize(
    "text", ["double", "DOUBLE", "float64", "float32", 'DOUBLE["N"]', "int64", "FLOAT[3]"]
)
def test_text_that_names_a_type_is_refused(text: str):
    with pytest.raises(AnnotationError, match="a type is no text") as caught:
        xp.to_model(doubled, text)
    assert '["N"]' in str(caught.value)


def test_text_that_is_an_option_is_one():
    x = np.arange(3.0)
    np.testing.assert_array_equal(xp.to_model(chosen, DOUBLE["N"], "double")(x), 2 * x)
    np.testing.assert_array_equal(xp.to_model(chosen, DOUBLE["N"], "other")(x), x)
    np.testing.assert_array_equal(xp.to_model(chosen_by_default, DOUBLE["N"], "double")(x), 2 * x)
    assert xp.to_model(converted, DOUBLE["N"], "float32")(x).dtype == np.float32
