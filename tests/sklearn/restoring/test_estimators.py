"""Hostile metadata: whatever it says, it is refused in our words, and no code in C sees it."""

from __future__ import annotations

import base64
import importlib
import json
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from onnxsmith.errors import PipelineError
from onnxsmith.graphs.model import Model
from onnxsmith.sklearn import convert, from_onnx
from onnxsmith.sklearn.restoring.estimators import (
    BY_ATTRIBUTES,
    BY_FITTING,
    KEY,
    class_of,
    pipeline_metadata,
    pipeline_of_json,
)
from onnxsmith.sklearn.restoring.values import Damaged

_RANDOM = np.random.default_rng(0)
_ROWS = _RANDOM.normal(size=(60, 4))
_CLASSES = (_ROWS[:, 0] > 0).astype(int) + (_ROWS[:, 1] > 0.5)


def _said(estimator: Any) -> dict[str, Any]:
    return json.loads(pipeline_metadata(estimator)[KEY])


def _packed(array: Any) -> dict[str, Any]:
    made = np.asarray(array)
    content = base64.b64encode(zlib.compress(made.tobytes())).decode()
    return {"array": content, "dtype": made.dtype.str, "shape": list(made.shape)}


def _unpacked(entry: dict[str, Any]) -> Any:
    content = zlib.decompress(base64.b64decode(entry["array"]))
    return np.frombuffer(content, entry["dtype"]).reshape(entry["shape"]).copy()


def _tree() -> tuple[dict[str, Any], dict[str, Any]]:
    """What is said of a tree, and the part with its arrays."""
    said = _said(DecisionTreeClassifier(max_depth=4, random_state=0).fit(_ROWS, _CLASSES))
    return said, said["estimator"]["fitted"]["tree_"]["tree"]


def _set(name: str, place: int, value: Any) -> Callable[[dict[str, Any]], None]:
    def damage(tree: dict[str, Any]) -> None:
        array = _unpacked(tree[name])
        array[place] = value
        tree[name] = _packed(array)

    return damage


def _entry(name: str, value: Any) -> Callable[[dict[str, Any]], None]:
    return lambda tree: tree.__setitem__(name, value)


@pytest.mark.parametrize(
    ("damage", "why"),
    [
        (_set("left", 0, 10_000), "a child that is not there"),
        (_set("left", 0, -7), "a child that is not there"),
        (_set("left", 0, 0), "a child that is not there"),
        (_set("right", 1, 1), "comes before its parent"),
        (_set("right", 0, 1), "two parents"),
        (_set("left", 0, -1), "one child only"),
        (_set("feature", 0, 4), "a feature that is not there"),
        (_set("feature", 0, -1), "a feature that is not there"),
        (_entry("features", 10**6), "another number of features"),
        (_entry("features", "4"), "number of features is '4'"),
        (_entry("features", True), "number of features is True"),
        (_entry("outputs", 2), "one number for each output"),
        (_entry("classes", [2]), "values have the shape"),
        (_entry("classes", None), "one number for each output"),
        (_entry("threshold", _packed(np.zeros(3))), "different lengths"),
        (_entry("threshold", _packed(np.zeros((3, 3)))), "of 2 dimensions|and 2 dimensions"),
        (_entry("left", _packed(np.zeros(3))), "'left' is of float64"),
        (_entry("values", _packed(np.zeros(3))), "values have the shape"),
        (_entry("values", [1, 2]), "values are no array"),
        (lambda tree: tree.pop("right"), "no array 'right'"),
    ],
)
def test_damaged_trees_never_reach_the_code_that_trusts_them(damage: Any, why: str):
    said, tree = _tree()
    damage(tree)
    with pytest.raises(Damaged, match=why):
        pipeline_of_json(json.dumps(said))


def test_every_change_of_a_number_in_a_tree_is_refused_or_harmless():
    """Whatever is written into the arrays of children and features: a row ends in a leaf, or nothing is made."""
    for _ in range(300):
        said, tree = _tree()
        name = ("left", "right", "feature")[_RANDOM.integers(3)]
        array = _unpacked(tree[name])
        array[_RANDOM.integers(len(array))] = _RANDOM.integers(-5, len(array) + 5)
        tree[name] = _packed(array)
        try:
            estimator, _ = pipeline_of_json(json.dumps(said))
        except Damaged:
            continue
        assert estimator.predict(_ROWS).shape == (60,)


@pytest.mark.parametrize(
    ("damage", "why"),
    [
        (
            lambda said: said["estimator"].update({"class": "subprocess.Popen"}),
            "'subprocess.Popen' is not one",
        ),
        (lambda said: said["estimator"].update({"class": "sklearn.svm.SVC"}), "'sklearn.svm.SVC' is not one"),
        (lambda said: said["estimator"].update({"class": ["x"]}), "is not one of those"),
        (lambda said: said["estimator"]["parameters"].update({"evil": 1}), "no parameter evil"),
        (
            lambda said: said["estimator"]["fitted"].update({"predict": 1}),
            "cannot be given the attribute 'predict'",
        ),
        (lambda said: said["estimator"]["fitted"].update({"__class__": 1}), "cannot be given the attribute"),
        (lambda said: said["estimator"]["fitted"].update({"a b": 1}), "cannot be given the attribute 'a b'"),
        (lambda said: said["estimator"].update({"fitted": 3}), "have no names"),
        (lambda said: said["estimator"].pop("parameters"), "have no names"),
        (lambda said: said.update({"estimator": None}), "have no names"),
        (
            lambda said: said["estimator"]["fitted"].update({"coef_": {"pickle": "gASVBQ=="}}),
            "which is no value",
        ),
        (lambda said: said["estimator"]["fitted"]["coef_"].update({"dtype": "O"}), "an array of object"),
        (lambda said: said["estimator"]["fitted"]["coef_"].update({"dtype": "f8,f8"}), "an element type"),
        (lambda said: said["estimator"]["fitted"]["coef_"].update({"shape": [3, -4]}), "a shape"),
        (lambda said: said["estimator"]["fitted"]["coef_"].update({"shape": [2**40]}), "an array of float64"),
        (lambda said: said["estimator"]["fitted"]["coef_"].update({"shape": [1]}), "does not fit its shape"),
        (lambda said: said["estimator"]["fitted"]["coef_"].update({"shape": [99]}), "does not fit its shape"),
        (lambda said: said["estimator"]["fitted"]["coef_"].update({"array": "!!"}), "cannot be unpacked"),
        (lambda said: said["estimator"]["fitted"]["coef_"].update({"array": "AAAA"}), "cannot be unpacked"),
    ],
)
def test_damaged_estimators_are_refused(damage: Any, why: str):
    said = _said(LogisticRegression().fit(_ROWS, _CLASSES))
    damage(said)
    with pytest.raises(Damaged, match=why):
        pipeline_of_json(json.dumps(said))


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "null", "3", "[" * 100_000, '{"estimator": ' * 50_000, "9" * 5001]
)
def test_what_is_no_entry_is_refused(text: str):
    with pytest.raises(Damaged):
        pipeline_of_json(text)


def test_a_little_text_that_unpacks_to_very_much_is_refused_before_it_does():
    said = _said(LogisticRegression().fit(_ROWS, _CLASSES))
    bomb = base64.b64encode(zlib.compress(bytes(50_000_000))).decode()
    said["estimator"]["fitted"]["coef_"]["array"] = bomb
    with pytest.raises(Damaged, match="does not fit its shape"):
        pipeline_of_json(json.dumps(said))


def test_neighbours_are_fitted_again_so_that_their_places_are_their_own():
    said = _said(KNeighborsClassifier(algorithm="brute").fit(_ROWS, _CLASSES))
    said["estimator"]["fitted"]["_y"] = _packed(np.full(60, 10**9))
    estimator, _ = pipeline_of_json(json.dumps(said))
    assert set(estimator.predict(_ROWS)) <= {0, 1, 2}
    said["estimator"]["targets"] = _packed(np.zeros(3))
    with pytest.raises(Damaged, match="cannot be fitted on its rows"):
        pipeline_of_json(json.dumps(said))


def test_a_forest_with_a_tree_for_other_rows_is_refused():
    wide = RandomForestClassifier(2, random_state=0).fit(np.tile(_ROWS, 3), _CLASSES)
    said = _said(wide)
    for member in said["estimator"]["fitted"]["estimators_"]:
        member["estimator"]["fitted"]["n_features_in_"] = 4
    with pytest.raises(Damaged, match="another number of features"):
        pipeline_of_json(json.dumps(said))


def test_a_damaged_model_is_refused_in_our_words():
    model = convert(DecisionTreeClassifier(max_depth=2).fit(_ROWS, _CLASSES), _ROWS)
    proto = model.proto
    for each in proto.metadata_props:
        if each.key == KEY:
            each.value = each.value.replace("DecisionTreeClassifier", "Popen")
    with pytest.raises(PipelineError, match=r"is damaged: the class 'sklearn.tree.Popen' is not one"):
        from_onnx(Model.from_proto(proto))


def test_other_versions_of_the_library_are_said():
    model = convert(LogisticRegression().fit(_ROWS, _CLASSES), _ROWS)
    proto = model.proto
    for each in proto.metadata_props:
        if each.key == KEY:
            each.value = json.dumps({**json.loads(each.value), "scikit-learn": "0.99"})
    with pytest.warns(UserWarning, match=r"fitted with scikit-learn 0\.99"):
        from_onnx(Model.from_proto(proto))


@pytest.mark.parametrize("name", [*BY_ATTRIBUTES, *BY_FITTING])
def test_metadata_names_classes_of_scikit_learn(name: str) -> None:
    module, _, own = name.rpartition(".")
    assert class_of(name) is getattr(importlib.import_module(module), own)


def test_metadata_names_no_other_class() -> None:
    assert not BY_ATTRIBUTES.keys() & BY_FITTING.keys()
    for name in (
        "",
        "os.system",
        "sklearn.svm.SVC",
        "sklearn.svm",
        "LinearSVC",
        "sklearn.base.BaseEstimator",
    ):
        assert class_of(name) is None
