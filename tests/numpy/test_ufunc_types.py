"""Functions that are newer than the oldest numpy have the element types of numpy 2, whoever is asked."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from onnxsmith.numpy.ufunc_types import rules_for

NEWER = ("vecdot", "matvec", "vecmat", "bitwise_count")


@pytest.mark.parametrize("name", NEWER)
def test_a_function_that_numpy_lacks_is_described(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    own: Any = getattr(np, name)
    monkeypatch.delattr(np, name)
    rules = rules_for(name)
    assert (rules.nin, rules.nout, rules.signature, rules.identity) == (
        own.nin,
        own.nout,
        own.signature,
        own.identity,
    )
    for code in "bBhHiIlL":
        given = (*[np.dtype(code)] * own.nin, None)
        assert rules.resolve_dtypes(given) == own.resolve_dtypes(given)
    if name == "bitwise_count":
        with pytest.raises(TypeError):
            rules.resolve_dtypes((np.dtype(bool), None))


def test_whole_numbers_are_floored_to_whole_numbers() -> None:
    for name in ("floor", "ceil", "trunc"):
        assert rules_for(name).resolve_dtypes((np.dtype(np.int8), None)) == (np.int8, np.int8)
