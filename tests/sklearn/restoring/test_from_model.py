"""From pipelines to models and back: equal predictions, equal parameters."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingRegressor,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    IsolationForest,
    RandomForestClassifier,
    RandomTreesEmbedding,
    VotingClassifier,
)
from sklearn.feature_selection import SelectKBest
from sklearn.impute import KNNImputer, SimpleImputer
from sklearn.linear_model import ElasticNetCV, LinearRegression, LogisticRegression, Ridge
from sklearn.neighbors import (
    KNeighborsClassifier,
    KNeighborsRegressor,
    LocalOutlierFactor,
    NearestCentroid,
    RadiusNeighborsRegressor,
)
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    KBinsDiscretizer,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    PowerTransformer,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
)
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier, ExtraTreeRegressor

import onnxsmith
from onnxsmith.errors import PipelineError
from onnxsmith.sklearn import OnnxPredictor, OnnxTransformer, convert, from_onnx
from onnxsmith.sklearn.restoring.estimators import KEY

_RANDOM = np.random.default_rng(0)
_ROWS = _RANDOM.normal(size=(60, 4))
_CLASSES = np.array(["low", "middle", "high"])[(_ROWS[:, 0] > 0).astype(int) + (_ROWS[:, 1] > 0.5)]
_NUMBERS = _ROWS[:, 0] * _ROWS[:, 1]
_WHOLE = np.round(_ROWS)

_CLASSIFIERS = [
    DecisionTreeClassifier(max_depth=3),
    RandomForestClassifier(4, max_depth=3, class_weight={"low": 2.0, "middle": 1.0, "high": 1.0}),
    AdaBoostClassifier(n_estimators=3),
    LogisticRegression(C=2.0),
    KNeighborsClassifier(3, weights="distance"),
    NearestCentroid(),
    make_pipeline(StandardScaler(), PolynomialFeatures(), LogisticRegression()),
    make_pipeline(SimpleImputer(), KNeighborsClassifier()),
]
_REGRESSORS = [
    ExtraTreeRegressor(max_depth=4),
    ExtraTreesRegressor(4, max_depth=3),
    BaggingRegressor(n_estimators=3, max_features=0.5),
    LinearRegression(),
    ElasticNetCV(cv=3),
    KNeighborsRegressor(algorithm="brute"),
    RadiusNeighborsRegressor(4.0),
    make_pipeline(FeatureUnion([("a", MinMaxScaler()), ("b", RobustScaler())]), Ridge(alpha=np.float64(0.5))),
]
_OTHERS = [
    StandardScaler(with_mean=False),
    MinMaxScaler((-1, 1)),
    QuantileTransformer(n_quantiles=9),
    PowerTransformer(),
    KBinsDiscretizer(3, quantile_method="averaged_inverted_cdf"),
    OneHotEncoder(sparse_output=False, handle_unknown="ignore"),
    OrdinalEncoder(dtype=np.int64),
    SimpleImputer(strategy="median"),
    KNNImputer(),
    IsolationForest(n_estimators=4, max_features=3),
    RandomTreesEmbedding(3),
    LocalOutlierFactor(novelty=True),
    ColumnTransformer(
        [("scaled", StandardScaler(), [0, 1]), ("bounded", MinMaxScaler(), slice(2, 3))],
        remainder="passthrough",
    ),
]


def _name(estimator: Any) -> str:
    return "-".join(type(each).__name__ for _, each in getattr(estimator, "steps", [("", estimator)]))


def _dense(found: Any) -> Any:
    return found.toarray() if hasattr(found, "toarray") else found


def _plain(value: Any) -> str:
    """Parameters as text: estimators among them are others, of the same class and the same parameters."""
    return repr(value)


def _there_and_back(estimator: Any, rows: Any) -> Any:
    restored = from_onnx(convert(estimator, rows, verify=False))
    assert type(restored) is type(estimator)
    given, found = estimator.get_params(), restored.get_params()
    assert list(given) == list(found)
    assert {key: _plain(each) for key, each in given.items()} == {
        key: _plain(each) for key, each in found.items()
    }
    methods = [
        each
        for each in ("predict", "predict_proba", "decision_function", "transform", "score_samples")
        if hasattr(estimator, each)
    ]
    assert methods
    for method in methods:
        expected = _dense(getattr(estimator, method)(rows))
        np.testing.assert_array_equal(_dense(getattr(restored, method)(rows)), expected)
    return restored


@pytest.mark.parametrize("estimator", _CLASSIFIERS, ids=_name)
def test_classifiers(estimator: Any):
    _there_and_back(estimator.fit(_ROWS, _CLASSES), _ROWS)


@pytest.mark.parametrize("estimator", _REGRESSORS, ids=_name)
def test_regressors(estimator: Any):
    _there_and_back(estimator.fit(_ROWS, _NUMBERS), _ROWS)


@pytest.mark.parametrize("estimator", _OTHERS, ids=_name)
def test_the_others(estimator: Any):
    rows = _WHOLE if "Encoder" in type(estimator).__name__ else _ROWS
    _there_and_back(estimator.fit(rows), rows)


def test_what_comes_back_is_converted_and_cloned_as_any_other():
    estimator = make_pipeline(StandardScaler(), RandomForestClassifier(3)).fit(_ROWS, _CLASSES)
    restored = _there_and_back(estimator, _ROWS)
    again = convert(restored, _ROWS)
    np.testing.assert_array_equal(again(_ROWS)[1], estimator.predict_proba(_ROWS))
    clone(restored).fit(_ROWS, _CLASSES)
    np.testing.assert_allclose(
        restored[-1].feature_importances_, estimator[-1].feature_importances_, rtol=0, atol=0
    )


def test_a_file(tmp_path: Path):
    estimator = RandomForestClassifier(3).fit(_ROWS, _CLASSES)
    convert(estimator, _ROWS).save(tmp_path / "forest.onnx")
    restored = from_onnx(tmp_path / "forest.onnx")
    np.testing.assert_array_equal(restored.predict_proba(_ROWS), estimator.predict_proba(_ROWS))


@pytest.mark.parametrize("estimator", [SVC(), GradientBoostingClassifier(n_estimators=3)], ids=_name)
def test_other_predictors_run_their_model(estimator: Any):
    estimator.fit(_ROWS, _CLASSES)
    restored = from_onnx(convert(estimator, _ROWS))
    assert isinstance(restored, OnnxPredictor)
    for each in (restored, clone(restored), pickle.loads(pickle.dumps(restored))):
        np.testing.assert_array_equal(each.predict(_ROWS), estimator.predict(_ROWS))
    assert list(restored.get_params()) == ["model"]
    with pytest.raises(PipelineError, match="no log_probabilities"):
        restored.predict_log_proba(_ROWS)


def test_other_transformers_run_their_model():
    estimator = SelectKBest(k=2).fit(_ROWS, _CLASSES)
    restored = from_onnx(convert(estimator, _ROWS))
    assert isinstance(restored, OnnxTransformer)
    expected = estimator.transform(_ROWS)
    np.testing.assert_array_equal(restored.transform(_ROWS), expected)
    # As a step of another pipeline.
    whole = make_pipeline(restored, LinearRegression()).fit(_ROWS, _NUMBERS)
    np.testing.assert_allclose(
        whole.predict(_ROWS), LinearRegression().fit(expected, _NUMBERS).predict(expected)
    )


def test_without_what_it_takes_to_come_back_the_model_is_run():
    estimator = RandomForestClassifier(3).fit(_ROWS, _CLASSES)
    small = convert(estimator, _ROWS, restorable=False)
    assert small.proto.ByteSize() < convert(estimator, _ROWS).proto.ByteSize()
    restored = from_onnx(small)
    assert isinstance(restored, OnnxPredictor)
    np.testing.assert_array_equal(restored.predict_proba(_ROWS), estimator.predict_proba(_ROWS))


def _people() -> tuple[Any, Any]:
    frame = pd.DataFrame({"age": _ROWS[:, 0], "city": np.array(["Bern", "Graz", "Ulm"] * 20)})
    return frame, _CLASSES


def test_pipelines_of_data_frames():
    frame, classes = _people()
    columns = ColumnTransformer([("a", StandardScaler(), ["age"]), ("c", OneHotEncoder(), ["city"])])
    estimator = make_pipeline(columns, RandomForestClassifier(3)).fit(frame, classes)
    restored = from_onnx(convert(estimator, frame))
    assert repr(restored) == repr(estimator)
    np.testing.assert_array_equal(restored.predict_proba(frame), estimator.predict_proba(frame))


def test_other_estimators_of_data_frames_run_their_model():
    frame, classes = _people()
    columns = ColumnTransformer(
        [("a", FunctionTransformer(np.abs), ["age"]), ("c", OneHotEncoder(), ["city"])]
    )
    pipeline = make_pipeline(columns, RandomForestClassifier(3, random_state=0))
    estimator = VotingClassifier([("forest", pipeline)], voting="soft").fit(frame, classes)
    restored = from_onnx(convert(estimator, frame))
    assert isinstance(restored, OnnxPredictor)
    np.testing.assert_array_equal(restored.predict(frame), estimator.predict(frame))
    np.testing.assert_array_equal(restored.predict_proba(frame), estimator.predict_proba(frame))


def test_a_model_of_something_else_is_refused():
    model = onnxsmith.trace(lambda x: x + 1, onnxsmith.FLOAT["N"])
    with pytest.raises(PipelineError, match=r"was not made by onnxsmith.sklearn.convert"):
        from_onnx(model)


# -- steps of other classes ------------------------------------------------------------------------------

_FRAME = pd.DataFrame(np.abs(_ROWS), columns=list("abcd")).assign(
    town=np.where(_WHOLE[:, 0] > 0, "Bern", "Ulm")
)
_WITH_OTHERS: dict[str, tuple[Any, Any, dict[str, type]]] = {
    "in the middle": (
        make_pipeline(StandardScaler(), PCA(2), LogisticRegression()),
        _ROWS,
        {"standardscaler": StandardScaler, "pca": OnnxTransformer, "logisticregression": LogisticRegression},
    ),
    "at the end": (
        make_pipeline(StandardScaler(), GradientBoostingClassifier(n_estimators=3)),
        _ROWS,
        {"standardscaler": StandardScaler, "gradientboostingclassifier": OnnxPredictor},
    ),
    "beside others": (
        make_pipeline(FeatureUnion([("pca", PCA(2)), ("scaler", StandardScaler())]), Ridge()),
        _ROWS,
        {"featureunion.pca": OnnxTransformer, "featureunion.scaler": StandardScaler, "ridge": Ridge},
    ),
    "in columns": (
        make_pipeline(
            ColumnTransformer(
                [
                    ("numbers", make_pipeline(StandardScaler(), PCA(1)), ["a", "b"]),
                    ("own", FunctionTransformer(np.log1p), ["c"]),
                    ("text", OneHotEncoder(), ["town"]),
                ]
            ),
            SVC(),
        ),
        _FRAME,
        {
            "columntransformer.numbers.standardscaler": StandardScaler,
            "columntransformer.numbers.pca": OnnxTransformer,
            "columntransformer.own": OnnxTransformer,
            "columntransformer.text": OneHotEncoder,
            "svc": OnnxPredictor,
        },
    ),
}


def _inner(estimator: Any, path: str) -> Any:
    for name in path.split("."):
        parts = getattr(estimator, "named_transformers_", None) or getattr(
            estimator, "named_transformers", None
        )
        estimator = (parts or estimator.named_steps)[name]
    return estimator


@pytest.mark.parametrize(("pipeline", "rows", "kinds"), _WITH_OTHERS.values(), ids=_WITH_OTHERS)
def test_steps_of_other_classes_are_parts_of_the_model(
    pipeline: Any, rows: Any, kinds: dict[str, type], tmp_path: Path
) -> None:
    fitted = clone(pipeline).fit(rows, _NUMBERS if "ridge" in kinds else _CLASSES)
    convert(fitted, rows).save(tmp_path / "model.onnx")
    restored = from_onnx(tmp_path / "model.onnx")
    assert {path: type(_inner(restored, path)) for path in kinds} == kinds
    for given in (rows, rows[:1], rows[5:8]):
        wanted = fitted.predict(given)
        if wanted.dtype.kind == "f":
            np.testing.assert_allclose(restored.predict(given), wanted, rtol=1e-12)
        else:
            assert restored.predict(given).tolist() == wanted.tolist()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("inputs", ["not there"]),
        ("inputs", [3]),
        ("inputs", []),
        ("outputs", {"transform": "not there"}),
        ("outputs", {"__init__": "X"}),
        ("outputs", {"transform": "X"}),
        ("outputs", {}),
        ("outputs", None),
        ("columns", ["a", "a"]),
        ("columns", ["one too many", "b"]),
    ],
)
def test_a_step_that_is_no_part_of_the_model_is_refused(name: str, value: Any) -> None:
    fitted = make_pipeline(StandardScaler(), PCA(2), LogisticRegression()).fit(_ROWS, _CLASSES)
    model = convert(fitted, _ROWS)
    said = json.loads(model.metadata[KEY])
    ((_, step),) = [
        entry["tuple"] for entry in said["estimator"]["parameters"]["steps"] if "step" in entry["tuple"][1]
    ]
    step["step"][name] = value
    with pytest.raises(PipelineError, match="damaged"):
        from_onnx(model.with_metadata({KEY: json.dumps(said)}))
