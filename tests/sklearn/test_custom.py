"""Code of users' own becomes part of a model, with an open number of rows; what does not is refused with its line."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import onnxsmith
from onnxsmith.errors import UnconvertedStepError
from tests.sklearn.custom import CUSTOM, Custom

#: What cannot become a model, and the line that its error shows.
REFUSED = {
    "ratio in a frame": 'df["a"] / df["b"]',
    "assigned column": "df.assign",
    "frequencies": "self.share_.get",
}


def _data() -> dict[str, Any]:
    rng = np.random.default_rng(3)
    array = rng.uniform(0.2, 4, size=(30, 4))
    missing = np.where(rng.random(array.shape) < 0.15, np.nan, array)
    return {"array": array, "missing": missing, "frame": pd.DataFrame(array, columns=list("abcd"))}


DATA = _data()
TARGET = (DATA["array"][:, 0] > 2).astype(int)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("case", CUSTOM, ids=lambda case: case.name)
def test_custom_code_becomes_a_model(case: Custom) -> None:
    data = DATA[case.data]
    fitted = case.made().fit(data, TARGET)
    method = "predict" if hasattr(fitted, "predict") else "transform"
    if case.name in REFUSED:
        with pytest.raises(UnconvertedStepError) as caught:
            onnxsmith.sklearn.convert(fitted, data)
        assert REFUSED[case.name] in str(caught.value)
        return
    model = onnxsmith.sklearn.convert(fitted, data)
    for rows in (slice(0, 1), slice(0, 7), slice(None)):
        found, wanted = getattr(model, method)(data[rows]), np.asarray(getattr(fitted, method)(data[rows]))
        assert found.shape == wanted.shape
        np.testing.assert_allclose(found.astype(float), wanted.astype(float), rtol=1e-9, atol=1e-9)


def test_there_are_enough_of_them() -> None:
    assert len(CUSTOM) == 40
    assert len(REFUSED) <= 4
