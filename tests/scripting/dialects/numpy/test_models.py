"""`xp.to_model`: the model of plain numpy code, compared with the code, and what is refused."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest

import onnxsmith.numpy as xp
from onnxsmith import BOOL, COMPLEX128, DOUBLE, FLOAT, INT64, STRING
from onnxsmith.errors import (
    AnnotationError,
    AttributeValueError,
    InputTypeError,
    TraceError,
)

WEIGHTS = np.array([0.5, 1.5])


def haversine(a, b):
    d = np.sin((b - a) / 2) ** 2
    return 2 * np.arcsin(np.sqrt(d[:, 0] + np.cos(a[:, 0]) * np.cos(b[:, 0]) * d[:, 1]))


def ports(values: Any) -> list[tuple[str, Any]]:
    return [(each.name, each.type) for each in values]


def test_a_model_has_the_names_and_types_of_the_code():
    def statistics(x, scale=1.0, *, axis=0):
        return {"mean": x.mean(axis=axis) * scale, "size": x.shape[0], "known": np.ones(2)}

    model = xp.to_model(statistics, DOUBLE["N", 3], float, axis=1)
    assert ports(model.inputs) == [("x", DOUBLE["N", 3]), ("scale", DOUBLE)]
    assert ports(model.outputs) == [("mean", DOUBLE["N"]), ("size", INT64), ("known", DOUBLE[2])]
    x = np.arange(6.0).reshape(2, 3)
    mean, size, known = model(x, np.array(2.0))
    np.testing.assert_allclose(mean, x.mean(axis=1) * 2)
    assert (int(size), known.tolist()) == (2, [1.0, 1.0])


def test_arrays_in_containers_and_complex_numbers_have_inputs_of_their_own():
    def both(parts, z):
        return parts["a"] + parts["b"][0], z * 2

    model = xp.to_model(both, {"a": DOUBLE["N"], "b": [DOUBLE["N"]]}, COMPLEX128["N"])
    assert ports(model.inputs) == [
        ("parts_a", DOUBLE["N"]),
        ("parts_b_0", DOUBLE["N"]),
        ("z", DOUBLE["N", 2]),
    ]


def test_names_version_and_text_are_given():
    model = xp.to_model(
        haversine,
        DOUBLE["N", 2],
        DOUBLE["N", 2],
        name="distance",
        input_names=["start", "end"],
        output_names=["km"],
        opset_version=20,
        doc_string="On the unit sphere.",
    )
    assert [each.name for each in (*model.inputs, *model.outputs)] == ["start", "end", "km"]
    assert model.opset_imports[""] == 20


OPTIONS = inspect.getfullargspec(inspect.unwrap(xp.to_model)).kwonlyargs


@pytest.mark.parametrize("name", OPTIONS)
def test_a_misspelt_option_is_named(name: str):
    with pytest.raises(TraceError, match=f"has no option '{name}{name[-1]}'") as caught:
        xp.to_model(haversine, DOUBLE["N", 2], DOUBLE["N", 2], **{name + name[-1]: None})
    assert f"did you mean '{name}'" in str(caught.value)


def test_all_options_are_named_once():
    def named(x, name=1.0):
        return x * name

    with pytest.raises(TraceError) as caught:
        xp.to_model(named, DOUBLE["N"], zzzzzz=1)
    assert f"its options are: {', '.join(OPTIONS)}, x" in str(caught.value)


# -- float32 -----------------------------------------------------------------------------------------------


def in_doubles(x, by=0.5):
    made = np.zeros(len(x))
    made[:] = np.float64(0.1) + WEIGHTS[0]
    scaled = x.astype(float) * made * by + np.linspace(0, 1, len(x))
    return {"scaled": scaled + np.arange(len(x)) / 3, "mean": x.mean(), "whole": x.astype(int)}


def test_a_model_may_compute_in_float32_throughout():
    x = np.random.default_rng(0).normal(size=9)
    model = xp.to_model(in_doubles, DOUBLE["N"], 0.25, precision=FLOAT, data=(x, 0.25))
    types = [each.type for each in (*model.inputs, *model.outputs)]
    assert types == [FLOAT["N"], FLOAT["N"], FLOAT, INT64["N"]]
    assert 0 < model.report.rows[0].relative < 1e-6
    assert model.report.rows[0].label == "data"


@pytest.mark.parametrize("precision", [FLOAT, np.float32, np.dtype(np.float32)])
def test_precision_is_a_type_of_tensors_or_of_numpys(precision: Any):
    model = xp.to_model(lambda x: x * 2, DOUBLE["N"], precision=precision)
    assert model.outputs[0].type == FLOAT["N"]


@pytest.mark.parametrize("precision", [INT64, np.int32, np.dtype(np.int32), "float32", 3])
def test_precision_is_a_float(precision: Any):
    with pytest.raises(AttributeValueError, match="precision"):
        xp.to_model(in_doubles, DOUBLE["N"], precision=precision)


# -- wrong input -------------------------------------------------------------------------------------------


def annotated(x: DOUBLE["N"], y: DOUBLE["N"]):  # a dimension
    return x + y


def test_annotations_are_types():
    assert ports(xp.to_model(annotated).inputs) == [("x", DOUBLE["N"]), ("y", DOUBLE["N"])]
    with pytest.raises(AnnotationError, match=r"'y' of 'annotated' is annotated DOUBLE\['N'\]"):
        xp.to_model(annotated, y=FLOAT["N"])


def test_types_left_out_are_shown():
    with pytest.raises(TraceError, match="no type is given for 'b'") as caught:
        xp.to_model(haversine, DOUBLE["N", 2])
    assert 'xp.to_model(haversine, DOUBLE["N", "M"], DOUBLE["N", "M"])' in str(caught.value)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ((DOUBLE["N"], DOUBLE["N"], DOUBLE["N"]), "too many positional arguments"),
        ((DOUBLE[...], DOUBLE["N"]), "a rank that are known"),
        ((STRING["N"], STRING["N"]), "no such element type"),
    ],
)
def test_types_that_do_not_fit_are_refused(given: tuple[Any, ...], said: str):
    with pytest.raises((TraceError, AnnotationError), match=said):
        xp.to_model(haversine, *given)


def test_options_that_there_are_not_are_refused():
    with pytest.raises(TraceError, match="has no option 'opset'"):
        xp.to_model(haversine, DOUBLE["N", 2], DOUBLE["N", 2], opset=20)


def test_truth_values_and_numbers_are_outputs():
    model = xp.to_model(lambda x, flag: (x.any() and flag, 3, 2.5, x.size), BOOL["N"], True)
    assert [each.type for each in model.outputs] == [BOOL, INT64, DOUBLE, INT64]


@pytest.mark.parametrize("kind", [np.float64, str, dict], ids=lambda each: each.__name__)
def test_a_class_is_no_type_of_an_array(kind: Any):
    with pytest.raises(AnnotationError, match=kind.__name__):
        xp.to_model(lambda x: x * 2, kind)


def test_a_model_holds_nothing_that_it_does_not_use():
    model = xp.to_model(lambda x: np.concatenate([x.reshape(-1)[1:], x[:1]]), DOUBLE["N"])
    named = [output for node in model.proto.graph.node for output in node.output]
    read = [name for node in model.proto.graph.node for name in node.input]
    assert [each for each in named if each not in (*read, model.outputs[0].name)] == []


def test_loops_whose_turns_are_independent_become_nodes_for_all_of_them():
    def halves(x):
        out = np.empty(len(x))
        for i in range(len(x)):
            out[i] = x[i] / 2 if x[i] > 0 else 0.0
        return out

    model = xp.to_model(halves, DOUBLE["N"])
    assert "Loop" not in [node.op_type for node in model.proto.graph.node]
    np.testing.assert_array_equal(model(np.array([-1.0, 3])), [0.0, 1.5])


def test_an_element_type_is_given_as_it_is() -> None:
    def turned(x, dtype):
        return x.astype(dtype)

    model = xp.to_model(turned, DOUBLE["N"], np.float32)
    assert model(np.ones(2)).dtype == np.float32


def test_results_that_contradict_the_annotation_are_refused():
    def rows(x: DOUBLE["N", 3]) -> DOUBLE["N"]:
        return x

    def narrowed(x: DOUBLE["N"]) -> tuple[DOUBLE["N"], FLOAT["N"]]:
        return x, x + 1

    def fine(x: DOUBLE["N", 3]) -> tuple[DOUBLE["N"], DOUBLE["M", 3]]:
        return x.sum(axis=1), x

    with pytest.raises(AnnotationError, match=r"'rows' is annotated to return DOUBLE\['N'\]") as caught:
        xp.to_model(rows)
    assert "def rows" in str(caught.value)
    with pytest.raises(AnnotationError, match=r"FLOAT\['N'\], and the model gives DOUBLE\['N'\]"):
        xp.to_model(narrowed)
    assert len(xp.to_model(fine).outputs) == 2


def test_a_class_is_no_function():
    class Model:
        def predict(self, x):
            return x

    with pytest.raises(InputTypeError, match="is a class, and a model is made of a function"):
        xp.jit(Model)
