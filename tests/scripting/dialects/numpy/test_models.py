"""`xp.to_model`: the model of plain numpy code, compared with the code, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import onnxsmith.numpy as xp
from onnxsmith import BOOL, COMPLEX128, DOUBLE, FLOAT, INT64, STRING
from onnxsmith.errors import (
    AnnotationError,
    AttributeValueError,
    CallError,
    InputTypeError,
    MissingReturnError,
    TraceError,
    VerificationError,
)
from onnxsmith.numpy.registry import FUNCTIONS

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


# -- comparing ---------------------------------------------------------------------------------------------


def test_sizes_are_compared_and_those_that_the_code_refuses_are_told():
    def first(x):
        if len(x) == 0:
            raise ValueError("nothing is there")
        return x[0] * 2

    report = xp.to_model(first, DOUBLE["N"]).report
    assert [each.label for each in report.rows] == ["N=1", "N=2", "N=7"]
    assert report.notes == ["N=0: left out, the function raises ValueError: nothing is there"]
    assert report.largest == 0.0


def test_where_numbers_are_looked_up_arrays_are_in_order():
    report = xp.to_model(lambda a, v: np.searchsorted(a, v), DOUBLE["N"], DOUBLE["M"]).report
    assert [each.label for each in report.rows][-1] == "N=7, M=9, in order"
    report = xp.to_model(lambda x, p: np.interp(x, p, p**2), DOUBLE["N"], DOUBLE["M"]).report
    assert [each.label for each in report.rows] == ["N=1, M=1", "N=2, M=3, in order", "N=7, M=9, in order"]
    report = xp.to_model(lambda x, bins: np.digitize(x, bins), DOUBLE["N"], DOUBLE["M"]).report
    assert [each.label for each in report.rows][-1] == "N=7, M=9, in order"


def test_an_element_type_that_hangs_on_the_number_of_elements_is_a_note():
    report = xp.to_model(lambda k, w: np.bincount(k, w, 3), INT64["N"], DOUBLE["N"]).report
    assert report.notes == ["N=0: output 'slice' is float64, and the function gives int64"]
    assert report.largest == 0.0


def test_a_difference_is_an_error_that_names_it(monkeypatch: pytest.MonkeyPatch):
    def total(x):
        return {"total": np.nansum(x, axis=0)}

    monkeypatch.setitem(FUNCTIONS, "nansum", lambda x, axis: x.sum(axis=axis) + 1)
    with pytest.raises(VerificationError, match=r"N=0: total differs by 1") as caught:
        xp.to_model(total, DOUBLE["N"])
    assert "'total'" in str(caught.value)
    assert xp.to_model(total, DOUBLE["N"], verify=False).report.rows == []


def test_data_of_the_user_is_compared():
    x = np.array([1e3, 1e-3])
    report = xp.to_model(lambda x: x.sum(), DOUBLE["N"], data=(x,)).report
    assert report.rows[0].label == "data"
    with pytest.raises(CallError, match="data has 2 arguments"):
        xp.to_model(lambda x: x.sum(), DOUBLE["N"], data=(x, x))


def test_float32_inputs_decide_how_near_float64_results_are():
    x = np.linspace(-1, 1, 5, dtype=np.float32)
    model = xp.to_model(lambda x: np.sqrt(0.5) * np.exp(x), FLOAT["N"])
    assert model.outputs[0].type == DOUBLE["N"]
    np.testing.assert_allclose(model(x), np.sqrt(0.5) * np.exp(x), rtol=1e-6)


def test_float32_steps_decide_how_near_float64_results_are():
    xp.to_model(lambda x: np.exp(x.astype(np.float32)).astype(float) * np.sqrt(0.5), DOUBLE["N"])


def test_verify_is_the_difference_that_is_allowed(monkeypatch: pytest.MonkeyPatch):
    def total(x):
        return np.nansum(x, axis=0) + 1

    monkeypatch.setitem(FUNCTIONS, "nansum", lambda x, axis: x.sum(axis=axis) + 1e-5)
    for verify in (True, 1e-9):
        with pytest.raises(VerificationError, match="differs by"):
            xp.to_model(total, DOUBLE["N"], verify=verify)
    assert xp.to_model(total, DOUBLE["N"], verify=1e-3).report.largest > 1e-7
    with pytest.raises(VerificationError, match="differs by"):
        xp.to_model(in_doubles, DOUBLE["N"], precision=FLOAT, verify=1e-12)


@pytest.mark.parametrize("verify", ["yes", -1e-3, float("nan"), None])
def test_verify_is_a_truth_value_or_a_number(verify: Any):
    with pytest.raises(AttributeValueError, match="verify is True, False"):
        xp.to_model(lambda x: x, DOUBLE["N"], verify=verify)


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


@pytest.mark.parametrize(
    "x",
    [
        np.ones((2, 2)),
        np.ones(2, np.float32),
        np.ones(2, int),
        np.ones(3),
        1.0,
        None,
        "ab",
        np.array(["a", "b"]),
    ],
    ids=repr,
)
def test_data_that_does_not_fit_the_types_is_told_by_name(x: Any):
    with pytest.raises(CallError, match="data does not fit the type of 'x'"):
        xp.to_model(lambda x: x * 2.0, DOUBLE[2], data=(x,))


def test_data_with_rows_of_several_lengths_is_refused():
    with pytest.raises(CallError, match="data is no array"):
        xp.to_model(lambda x: x * 2.0, DOUBLE["N", "M"], data=([[1.0], [2.0, 3.0]],))


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


@pytest.mark.parametrize("result", [None, "text", (1, None), {"a": object()}])
def test_results_that_are_no_arrays_are_refused(result: Any):
    with pytest.raises(MissingReturnError, match="the outputs of a model are arrays"):
        xp.to_model(lambda x: result, DOUBLE["N"])


def test_truth_values_and_numbers_are_outputs():
    model = xp.to_model(lambda x, flag: (x.any() and flag, 3, 2.5, x.size), BOOL["N"], True)
    assert [each.type for each in model.outputs] == [BOOL, INT64, DOUBLE, INT64]


@pytest.mark.parametrize("kind", [np.float64, str, dict], ids=lambda each: each.__name__)
def test_a_class_is_no_type_of_an_array(kind: Any):
    with pytest.raises(AnnotationError, match=kind.__name__):
        xp.to_model(lambda x: x * 2, kind)


def test_data_is_the_arguments_of_a_call():
    with pytest.raises(CallError, match="data is"):
        xp.to_model(lambda x: x * 2, DOUBLE["N"], data=5)


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


@pytest.mark.parametrize("function", [lambda x: np.linalg.eig(x)[0], lambda x: np.linalg.eigvals(x)])
def test_eigenvalues_are_compared_whatever_their_order_and_type(function: Any) -> None:
    model = xp.to_model(function, DOUBLE["N", "N"])
    assert model.report.largest < 1e-9
    x = np.array([[0.0, 1.0], [-1.0, 0.0]])
    np.testing.assert_allclose(np.sort(model(x)[:, 1]), [-1, 1])


def test_eigenvectors_have_no_length_that_could_be_compared() -> None:
    with pytest.raises(VerificationError, match="promises no order of eigenvalues"):
        xp.to_model(lambda x: np.linalg.eig(x)[1], DOUBLE["N", "N"])
