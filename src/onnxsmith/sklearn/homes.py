"""Which family holds the converters of a class: that module alone is loaded when the class is met."""

from __future__ import annotations

import importlib

#: Family -> the classes that it converts, without "sklearn.".
HOMES: dict[str, str] = {
    "bagging": "ensemble.BaggingClassifier ensemble.BaggingRegressor",
    "boosting": (
        "ensemble.AdaBoostClassifier ensemble.AdaBoostRegressor ensemble.GradientBoostingClassifier"
        " ensemble.GradientBoostingRegressor"
    ),
    "centroids": "neighbors.NearestCentroid",
    "histogram_boosting": "ensemble.HistGradientBoostingClassifier ensemble.HistGradientBoostingRegressor",
    "linear": "linear_model.LinearRegression linear_model.Ridge linear_model.LogisticRegression",
    "neighbour_imputing": "impute.KNNImputer",
    "neighbours": (
        "neighbors.KNeighborsClassifier neighbors.KNeighborsRegressor neighbors.KNeighborsTransformer"
        " neighbors.RadiusNeighborsClassifier neighbors.RadiusNeighborsRegressor neighbors.RadiusNeighborsTransformer"
        " neighbors.LocalOutlierFactor"
    ),
    "pipelines": "pipeline.Pipeline",
    "scaling": "preprocessing.StandardScaler preprocessing.MinMaxScaler",
    "trees": (
        "tree.DecisionTreeClassifier tree.DecisionTreeRegressor tree.ExtraTreeClassifier tree.ExtraTreeRegressor"
        " ensemble.RandomForestClassifier ensemble.RandomForestRegressor ensemble.ExtraTreesClassifier"
        " ensemble.ExtraTreesRegressor ensemble.RandomTreesEmbedding ensemble.IsolationForest"
    ),
}

_HOME_OF = {f"sklearn.{name}": family for family, names in HOMES.items() for name in names.split()}


def load_home(name: str) -> None:
    """Import the family that converts a class; nothing happens for one that none converts."""
    family = _HOME_OF.get(name)
    if family is not None:
        importlib.import_module(f"onnxsmith.sklearn.families.{family}")


def load_all() -> None:
    """Import every family."""
    for family in HOMES:
        importlib.import_module(f"onnxsmith.sklearn.families.{family}")
