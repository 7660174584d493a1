"""Describes, in a model, the estimator that a part of it was made of: class, parameters and version, as JSON."""

from __future__ import annotations

import json
import sys
from importlib.metadata import version
from typing import cast

import numpy as np

from onnxsmith.core.user_values import UserValue
from onnxsmith.diagnostics import described_type
from onnxsmith.runtime.frames import Json
from onnxsmith.sklearn.table import public_name
from onnxsmith.sklearn.values import Fitted


def described(estimator: Fitted, method: str, road: str) -> str:
    """The class, the method, how it was converted, the parameters and the version of the library, as JSON.

    A parameter that JSON cannot hold (a function, another estimator) stands there as `{"repr": …}`.
    """
    kind = type(estimator)
    return json.dumps(
        {
            "class": public_name(kind),
            "method": method,
            "road": road,
            "parameters": {name: plain(each) for name, each in estimator.get_params(deep=False).items()}
            if hasattr(estimator, "get_params")
            else {},
            "scikit-learn": version("scikit-learn"),
            **_version_of_other(kind),
        },
        sort_keys=True,
        allow_nan=True,
    )


def _version_of_other(kind: type) -> dict[str, Json]:
    """The version of the library that a class is from, where that is another that we know."""
    library = kind.__module__.partition(".")[0]
    if library not in ("catboost", "lightgbm", "xgboost"):
        return {}
    return {library: str(getattr(sys.modules.get(library), "__version__", ""))}


def plain(value: UserValue) -> Json:
    """A parameter as JSON has it."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, np.ndarray):
        return {"array": plain(value.tolist()), "dtype": str(value.dtype)}
    if isinstance(value, list):
        return [plain(each) for each in value]
    if isinstance(value, tuple):
        return {"tuple": [plain(each) for each in value]}
    if isinstance(value, dict):
        items = cast("dict[UserValue, UserValue]", value)
        if all(isinstance(key, str) for key in items):
            return {"dict": {str(key): plain(each) for key, each in items.items()}}
    if isinstance(value, type):
        return {"type": f"{value.__module__}.{value.__qualname__}"}
    return {"repr": described_type(type(value))}
