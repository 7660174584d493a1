"""scikit-learn itself, which is heavy, optional and without types: imported when something of it is asked for."""

from __future__ import annotations

import importlib
from typing import Any


def of_sklearn(module: str, name: str) -> Any:
    """The object of this name in a module of scikit-learn: `of_sklearn("utils.validation", "check_is_fitted")`."""
    return getattr(importlib.import_module(f"sklearn.{module}"), name)
