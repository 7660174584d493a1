"""The columns of a frame that a pipeline uses: a `ColumnTransformer` in front leaves others alone.

Of these scikit-learn asks neither that they are there nor what they hold, and a model has no input for them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from onnxsmith.sklearn.library import of_sklearn
from onnxsmith.sklearn.values import Fitted


def used_columns(estimator: Fitted) -> set[str] | None:
    """The names of the columns that an estimator uses; None where it may use all."""
    # A class of the user's that derives from one of these may look at every column.
    kind = type(estimator)
    if kind is of_sklearn("pipeline", "Pipeline"):
        steps = [each for _, each in estimator.steps if each not in (None, "passthrough")]
        return used_columns(steps[0]) if steps else None
    if kind is of_sklearn("compose", "ColumnTransformer"):
        return _of_transformers(estimator)
    if hasattr(estimator, "best_estimator_") and kind.__module__.startswith("sklearn.model_selection."):
        return used_columns(estimator.best_estimator_)
    return None


def _of_transformers(estimator: Fitted) -> set[str] | None:
    names = cast("Sequence[str] | None", getattr(estimator, "feature_names_in_", None))
    places = cast(
        "Mapping[str, Sequence[int]] | None", getattr(estimator, "_transformer_to_input_indices", None)
    )
    if names is None or places is None:
        return None
    used: set[str] = set()
    for name, transformer, _ in estimator.transformers_:
        if not (isinstance(transformer, str) and transformer == "drop"):
            used.update(str(names[each]) for each in places[name])
    return used
