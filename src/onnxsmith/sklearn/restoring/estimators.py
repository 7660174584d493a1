"""Fitted estimators as JSON, and back: their class, their parameters, what fitting found."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextvars import ContextVar
from importlib.metadata import version
from typing import Any, cast

import numpy as np

from onnxsmith.graphs.model import Model
from onnxsmith.runtime.frames import Json
from onnxsmith.sklearn.library import of_sklearn
from onnxsmith.sklearn.restoring.trees import DamagedTree, arrays_of, tree_of
from onnxsmith.sklearn.restoring.values import Damaged, Numbers, Readers, Unwritable, read, written
from onnxsmith.sklearn.restoring.wrapped_steps import step_of, written_step
from onnxsmith.sklearn.steps import StepValues
from onnxsmith.sklearn.table import public_name
from onnxsmith.sklearn.values import Fitted, Inner

#: Under which the metadata of a model has the pipeline that it was made of.
KEY = "onnxsmith.sklearn.fitted"

#: The model whose parts are steps, while its metadata is read.
_model: ContextVar[Model | None] = ContextVar("the model that is read", default=None)

#: What the number of features is called; code in C trusts it.
_WIDTH = "n_features_in_"


def pipeline_metadata(
    estimator: Fitted,
    steps: Mapping[int, StepValues] | None = None,
    output_names: Mapping[int, str] | None = None,
) -> dict[str, str]:
    """The metadata of a model that was made of an estimator; none where something in it has no such form.

    `steps` are the steps that stand in the model as parts of it: those that have no form of their own are written as
    parts. `output_names` are what outputs of the model are called, by the id of what is recorded.
    """
    writer = _Writer(steps or {}, output_names or {})
    try:
        found = writer.written(estimator)
        entry = {"scikit-learn": version("scikit-learn"), **cast("dict[str, Json]", found)}
        return {KEY: json.dumps(entry, allow_nan=False)}
    except Unwritable:
        return {}


class _Writer:
    """Writes objects that are no plain values: estimators of the list, trees, and steps as parts of the model."""

    def __init__(self, steps: Mapping[int, StepValues], output_names: Mapping[int, str]) -> None:
        self._steps = dict(steps)
        self._output_names = output_names

    def written(self, value: Inner) -> Json:
        """The entry of an object; raises `Unwritable`."""
        try:
            return self._of_class(value)
        except Unwritable:
            step = self._steps.get(id(value))
            if step is None:
                raise
            return {"step": written_step(step, self._output_names)}

    def _of_class(self, value: Inner) -> Json:
        kind = type(value)
        name = public_name(kind)
        if name == "sklearn.tree.Tree" or (
            kind.__name__ == "Tree" and kind.__module__ == "sklearn.tree._tree"
        ):
            return {"tree": {key: written(each, self.written) for key, each in arrays_of(value).items()}}
        if class_of(name) is not kind:
            raise Unwritable(name)
        estimator = cast(Fitted, value)
        self._know_originals(estimator)
        parameters = estimator.get_params(deep=False)
        entry: dict[str, Json] = {
            "class": name,
            "parameters": {key: written(each, self.written) for key, each in parameters.items()},
        }
        held = {key: each for key, each in vars(estimator).items() if key not in parameters}
        if name in BY_FITTING:
            entry["rows"] = written(_rows(held), self.written)
            entry["targets"] = written(_targets(estimator), self.written)
            held = {key: each for key, each in held.items() if key == "feature_names_in_"}
        elif any(hasattr(kind, key) for key in held):
            raise Unwritable(f"{name} with attributes that its class has, too")
        entry["fitted"] = {key: written(each, self.written) for key, each in held.items()}
        return {"estimator": entry}

    def _know_originals(self, estimator: Fitted) -> None:
        """A `ColumnTransformer` fits copies: what a copy is written as stands for its original, too."""
        if not hasattr(estimator, "transformers_"):
            return
        fitted = {name: each for name, each, _ in estimator.transformers_}
        for name, original, _ in estimator.transformers:
            self._know_original(original, fitted.get(name))

    def _know_original(self, original: Fitted | str, fitted: Fitted | str | None) -> None:
        if id(fitted) in self._steps:
            self._steps[id(original)] = self._steps[id(fitted)]
        inner: list[tuple[str, Fitted]] = getattr(original, "steps", None) or []
        for (_, one), (_, other) in zip(inner, getattr(fitted, "steps", None) or [], strict=False):
            self._know_original(one, other)


def _rows(held: dict[str, Any]) -> Numbers:
    rows = held.get("_fit_X")
    if not isinstance(rows, np.ndarray):
        raise Unwritable("neighbours of a sparse matrix")
    return cast(Numbers, rows)


def _targets(estimator: Fitted) -> Numbers | None:
    """The targets that it was fitted on: numbers as they are, classes by their names."""
    fitted = getattr(estimator, "_y", None)
    if fitted is None or not hasattr(estimator, "classes_"):
        return fitted
    places = np.asarray(fitted)
    if not estimator.outputs_2d_:
        return np.asarray(estimator.classes_)[places.ravel()]
    return np.stack([np.asarray(names)[places[:, k]] for k, names in enumerate(estimator.classes_)], axis=1)


# -- and back ----------------------------------------------------------------------------------------


def pipeline_of_json(text: str, model: Model | None = None) -> tuple[Fitted, str]:
    """The estimator that is written, and the version of scikit-learn that it is of; raises `Damaged`.

    Steps that are written as parts of a model are parts of `model`.
    """
    token = _model.set(model)
    try:
        found = _json_of(text)
        if not isinstance(found, dict):
            raise Damaged("it is no entry of an estimator")
        entry = cast("dict[str, Json]", found)
        return read({"estimator": entry.get("estimator")}, _READERS), str(entry.get("scikit-learn"))
    except RecursionError as error:
        raise Damaged(f"it cannot be read: {error}") from None
    finally:
        _model.reset(token)


def _json_of(text: str) -> Json:
    try:
        return cast(Json, json.loads(text))
    except ValueError as error:  # no JSON, or a number of more digits than Python reads
        raise Damaged(f"it cannot be read: {error}") from None


def _read_step(given: Json) -> Inner:
    model = _model.get()
    if model is None:
        raise Damaged("a step that is a part of a model, and there is none")
    return cast(Inner, step_of(given, model))


def _entries(given: Json, what: str) -> dict[str, Json]:
    if not isinstance(given, dict):
        raise Damaged(f"{what} have no names")
    return given


def _read_estimator(given: Json) -> Fitted:
    entry = _entries(given, "the parts of an estimator")
    name = entry.get("class")
    kind = class_of(name) if isinstance(name, str) else None
    if kind is None or not isinstance(name, str):
        raise Damaged(f"the class {name!r} is not one of those that are made again")
    parameters = {
        key: read(each, _READERS) for key, each in _entries(entry.get("parameters"), "parameters").items()
    }
    unknown = set(parameters) - set(cast(Any, kind)._get_param_names())
    if unknown:
        raise Damaged(f"{name} has no parameter {', '.join(sorted(unknown))}")
    made = kind(**parameters)
    fitted = {key: read(each, _READERS) for key, each in _entries(entry.get("fitted"), "attributes").items()}
    if name in BY_FITTING:
        made = _fitted_again(made, name, entry)
        fitted = {key: each for key, each in fitted.items() if key == "feature_names_in_"}
    for key, each in fitted.items():
        if not key.isidentifier() or key.startswith("__") or hasattr(kind, key):
            raise Damaged(f"{name} cannot be given the attribute {key!r}")
        setattr(made, key, each)
    _check_width(made, name)
    return made


def _fitted_again(estimator: Fitted, name: str, entry: dict[str, Json]) -> Fitted:
    rows, targets = read(entry.get("rows"), _READERS), read(entry.get("targets"), _READERS)
    try:
        return estimator.fit(rows) if targets is None else estimator.fit(rows, targets)
    except (TypeError, ValueError) as error:
        raise Damaged(f"{name} cannot be fitted on its rows: {error}") from None


def _check_width(estimator: Fitted, name: str) -> None:
    """A tree is given rows of the number of features that its estimator checks, and reads no further."""
    held: dict[str, Any] = estimator.__dict__
    tree = held.get("tree_")
    if tree is None:
        return  # one that was not fitted, as those are that others are copies of
    width = held.get(_WIDTH)
    if type(tree).__name__ != "Tree" or type(width) is not int or width != tree.n_features:
        raise Damaged(f"{name} has a tree for another number of features than it takes")


def _read_tree(given: Json) -> Inner:
    parts = {key: read(each, _READERS) for key, each in _entries(given, "the parts of a tree").items()}
    try:
        return tree_of(parts)
    except DamagedTree as error:
        raise Damaged(f"a tree is damaged: {error}") from None


_READERS: Readers = {"estimator": _read_estimator, "step": _read_step, "tree": _read_tree}


# -- classes that may be restored ----------------------------------------------------------------------


#: Module of scikit-learn -> classes whose fitted attributes are numbers, text, trees and estimators of this list.
_BY_ATTRIBUTES: dict[str, str] = {
    "compose": "ColumnTransformer TransformedTargetRegressor",
    "dummy": "DummyClassifier DummyRegressor",
    "ensemble": (
        "AdaBoostClassifier AdaBoostRegressor BaggingClassifier BaggingRegressor ExtraTreesClassifier"
        " ExtraTreesRegressor IsolationForest RandomForestClassifier RandomForestRegressor RandomTreesEmbedding"
    ),
    "feature_selection": "VarianceThreshold",
    "impute": "KNNImputer MissingIndicator SimpleImputer",
    "linear_model": (
        "ARDRegression BayesianRidge ElasticNet ElasticNetCV HuberRegressor Lars LarsCV Lasso LassoCV LassoLars"
        " LassoLarsCV LinearRegression LogisticRegression LogisticRegressionCV MultiTaskElasticNet MultiTaskLasso"
        " OrthogonalMatchingPursuit Ridge RidgeCV RidgeClassifier RidgeClassifierCV TheilSenRegressor"
    ),
    "naive_bayes": "BernoulliNB ComplementNB GaussianNB MultinomialNB",
    "neighbors": "NearestCentroid",
    "pipeline": "FeatureUnion Pipeline",
    "preprocessing": (
        "Binarizer FunctionTransformer KBinsDiscretizer LabelBinarizer LabelEncoder MaxAbsScaler MinMaxScaler"
        " Normalizer OneHotEncoder OrdinalEncoder PolynomialFeatures PowerTransformer QuantileTransformer RobustScaler"
        " StandardScaler TargetEncoder"
    ),
    "svm": "LinearSVC LinearSVR",
    "tree": "DecisionTreeClassifier DecisionTreeRegressor ExtraTreeClassifier ExtraTreeRegressor",
}
#: Classes that are fitted again, on the rows that they keep: fitting is what builds their trees of neighbours.
_BY_FITTING: dict[str, str] = {
    "neighbors": (
        "KNeighborsClassifier KNeighborsRegressor KNeighborsTransformer LocalOutlierFactor NearestNeighbors"
        " RadiusNeighborsClassifier RadiusNeighborsRegressor RadiusNeighborsTransformer"
    ),
}


def _names(table: dict[str, str]) -> dict[str, tuple[str, str]]:
    return {
        f"sklearn.{module}.{name}": (module, name)
        for module, names in table.items()
        for name in names.split()
    }


BY_ATTRIBUTES = _names(_BY_ATTRIBUTES)
BY_FITTING = _names(_BY_FITTING)


def class_of(name: str) -> type | None:
    """The class of a public name; None for one that is not in the list."""
    found = BY_ATTRIBUTES.get(name) or BY_FITTING.get(name)
    return None if found is None else of_sklearn(*found)
