"""The list of estimators: all of them become models that give what they give, but for those that are named here."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import onnxsmith
from onnxsmith.errors import OnnxsmithError
from onnxsmith.sklearn.verifying import as_array, as_shaped
from tests.sklearn.estimators import BATCHES, CASES, METHODS, Case

#: Estimators that cannot become models, and a part of what is said of them.
REFUSED = {
    "DictVectorizer": "X holds dict",
    "FeatureHasher": "X holds dict",
    "Isomap": "cannot become part of a model",
    "LocallyLinearEmbedding": "cannot become part of a model",
    "MultiLabelBinarizer": "X holds set",
    "PatchExtractor": "cannot become part of a model",
}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("case", CASES, ids=lambda each: each.name)
def test_an_estimator_and_its_model_agree(case: Case, dtype: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        estimator, x = case.fitted(np.dtype(dtype))
        methods = [each for each in METHODS if hasattr(estimator, each)]
        if case.name in REFUSED:
            with pytest.raises(OnnxsmithError, match=REFUSED[case.name]):
                onnxsmith.sklearn.convert(estimator, x, outputs=methods)
            return
        model = onnxsmith.sklearn.convert(estimator, x, outputs=methods, verify=False)
        for count in BATCHES:
            rows = case.rows(count, np.dtype(dtype), seed=count)
            results: Any = model(rows)
            for method, found in zip(methods, results if len(methods) > 1 else [results], strict=True):
                wanted = as_shaped(found, as_array(getattr(estimator, method)(rows)))
                assert wanted is not None
                if wanted.dtype.kind == "f":
                    limit = 1e-4 if dtype == "float32" else 1e-9
                    np.testing.assert_array_less(
                        np.abs(found - wanted), limit * np.maximum(1.0, np.abs(wanted))
                    )
                else:
                    assert found.astype(str).tolist() == wanted.astype(str).tolist()
