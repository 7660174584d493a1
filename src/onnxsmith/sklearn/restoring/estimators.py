"""Fitted estimators as JSON, and back: their class, their parameters, what fitting found."""

from __future__ import annotations

import json
from importlib.metadata import version
from typing import Any, cast

import numpy as np

from onnxsmith.runtime.frames import Json
from onnxsmith.sklearn.restoring.allowed import BY_FITTING, class_of
from onnxsmith.sklearn.restoring.trees import DamagedTree, arrays_of, tree_of
from onnxsmith.sklearn.restoring.values import Damaged, Numbers, Readers, Unwritable, read, written
from onnxsmith.sklearn.table import public_name
from onnxsmith.sklearn.values import Fitted, Inner

#: Under which the metadata of a model has the pipeline that it was made of.
KEY = "onnxsmith.sklearn.fitted"

#: What the number of features is called; code in C trusts it.
_WIDTH = "n_features_in_"


def pipeline_metadata(estimator: Fitted) -> dict[str, str]:
    """The metadata of a model that was made of an estimator; none where something in it has no such form."""
    try:
        found = _written(estimator)
        entry = {"scikit-learn": version("scikit-learn"), **cast("dict[str, Json]", found)}
        return {KEY: json.dumps(entry, allow_nan=False)}
    except Unwritable:
        return {}


def _written(value: Inner) -> Json:
    """An object that is no plain value: an estimator of the list, or a tree."""
    kind = type(value)
    name = public_name(kind)
    if name == "sklearn.tree.Tree" or (kind.__name__ == "Tree" and kind.__module__ == "sklearn.tree._tree"):
        return {"tree": {key: written(each, _written) for key, each in arrays_of(value).items()}}
    if class_of(name) is not kind:
        raise Unwritable(name)
    estimator = cast(Fitted, value)
    parameters = estimator.get_params(deep=False)
    entry: dict[str, Json] = {
        "class": name,
        "parameters": {key: written(each, _written) for key, each in parameters.items()},
    }
    held = {key: each for key, each in vars(estimator).items() if key not in parameters}
    if name in BY_FITTING:
        entry["rows"] = written(_rows(held), _written)
        entry["targets"] = written(_targets(estimator), _written)
        held = {key: each for key, each in held.items() if key == "feature_names_in_"}
    elif any(hasattr(kind, key) for key in held):
        raise Unwritable(f"{name} with attributes that its class has, too")
    entry["fitted"] = {key: written(each, _written) for key, each in held.items()}
    return {"estimator": entry}


def _rows(held: dict[str, Any]) -> Numbers:
    rows = held.get("_fit_X")
    if not isinstance(rows, np.ndarray):
        raise Unwritable("neighbours of a sparse matrix")
    return cast(Numbers, rows)


def _targets(estimator: Fitted) -> Numbers | None:
    """What it was fitted for: numbers as they are, classes by their names."""
    fitted = getattr(estimator, "_y", None)
    if fitted is None or not hasattr(estimator, "classes_"):
        return fitted
    places = np.asarray(fitted)
    if not estimator.outputs_2d_:
        return np.asarray(estimator.classes_)[places.ravel()]
    return np.stack([np.asarray(names)[places[:, k]] for k, names in enumerate(estimator.classes_)], axis=1)


# -- and back ----------------------------------------------------------------------------------------


def pipeline_of_json(text: str) -> tuple[Fitted, str]:
    """The estimator that is written, and the version of scikit-learn that it is of; raises `Damaged`."""
    try:
        found = json.loads(text)
        if not isinstance(found, dict):
            raise Damaged("it is no entry of an estimator")
        entry = cast("dict[str, Json]", found)
        return read({"estimator": entry.get("estimator")}, _READERS), str(entry.get("scikit-learn"))
    except (json.JSONDecodeError, RecursionError) as error:
        raise Damaged(f"it cannot be read: {error}") from None


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


_READERS: Readers = {"estimator": _read_estimator, "tree": _read_tree}
