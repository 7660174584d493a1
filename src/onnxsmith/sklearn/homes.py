"""Which family holds the converters of a class: that module alone is loaded when the class is met."""

from __future__ import annotations

import importlib

#: Family -> the classes that it converts, without "sklearn.".
HOMES: dict[str, str] = {
    "encoding": (
        "preprocessing.OneHotEncoder preprocessing.OrdinalEncoder preprocessing.TargetEncoder "
        "preprocessing.LabelEncoder preprocessing.LabelBinarizer preprocessing.MultiLabelBinarizer "
        "preprocessing.KBinsDiscretizer"
    ),
    "linear": "linear_model.LinearRegression linear_model.Ridge linear_model.LogisticRegression",
    "pipelines": "pipeline.Pipeline",
    "text": (
        "feature_extraction.text.CountVectorizer feature_extraction.text.HashingVectorizer "
        "feature_extraction.text.TfidfVectorizer"
    ),
    "scaling": "preprocessing.StandardScaler preprocessing.MinMaxScaler",
}

_HOME_OF = {f"sklearn.{name}": family for family, names in HOMES.items() for name in names.split()}


def load_home(name: str) -> None:
    """Import the family that converts a class; nothing happens for one that none converts."""
    family = _HOME_OF.get(name)
    if family is not None:
        load_family(family)


def load_family(family: str) -> None:
    """Import a family."""
    importlib.import_module(f"onnxsmith.sklearn.families.{family}")


def load_all() -> None:
    """Import every family."""
    for family in HOMES:
        load_family(family)
