"""Functions of numpy that are refused: each is one of numpy's, and its call says why."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import onnxsmith.numpy as xp
from onnxsmith.errors import OnnxsmithError
from onnxsmith.numpy.refused import REFUSED
from onnxsmith.numpy.registry import FUNCTIONS, UFUNCS

X = np.arange(4.0)
#: What functions take besides an array; files come first.
ARGUMENTS: dict[str, tuple[Any, ...]] = {
    "busday_count": ("2020-01-01",),
    "busday_offset": (1,),
    "may_share_memory": (X,),
    "shares_memory": (X,),
    **dict.fromkeys(["save", "savetxt", "savez", "savez_compressed"], ()),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_function_that_is_refused_says_why(name: str) -> None:
    assert name not in FUNCTIONS
    assert name not in UFUNCS
    function = getattr(np, name)
    if name == "printoptions":
        return  # it takes no array
    given = (xp.asarray(X), *ARGUMENTS.get(name, ()))
    if name.startswith("save"):
        given = ("file", xp.asarray(X))
    if name == "einsum_path":
        given = ("i,i->", xp.asarray(X), xp.asarray(X))
    with pytest.raises(OnnxsmithError) as caught:
        function(*given)
    assert REFUSED[name] in str(caught.value)
    with pytest.raises(AttributeError) as missing:
        getattr(xp, name)
    assert name in str(missing.value)
