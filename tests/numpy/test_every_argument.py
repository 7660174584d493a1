"""Functions over all combinations of arguments from small domains: a slice of the law, and what it found."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import onnxsmith.numpy as xp
from onnxsmith.errors import OnnxsmithError
from onnxsmith.numpy.registry import FUNCTIONS
from tests.numpy.agreement import agrees
from tests.numpy.domains import DOMAINS, WRITING
from tests.numpy.every_argument import LAW, calls

#: Functions that have laws or tests of their own, or no counterpart in numpy.
_ELSEWHERE = (
    *("apply_along_axis", "apply_over_axes", "argpartition", "empty", "empty_like", "finfo", "from_dlpack"),
    *("iinfo", "linalg.eig", "linalg.eigh", "linalg.qr", "linalg.svd"),
)


def test_the_first_calls_of_the_enumeration_agree_with_numpy() -> None:
    assert LAW.wrong(0, len(DOMAINS)) == []


def test_every_function_has_domains() -> None:
    left = {
        name
        for name in FUNCTIONS
        if not name.startswith(("_", "random.", "special.")) and name not in (*DOMAINS, *WRITING)
    }
    assert left == set(_ELSEWHERE)


def test_an_axis_rolled_to_every_place() -> None:
    for call in calls("rollaxis"):
        agrees(call.name, np.zeros((2, 3, 4)), **dict(call.kwargs), recorded=False)


@pytest.mark.parametrize(
    ("name", "args", "kwargs"),
    [
        ("var", (np.array([[3 - 1j, 2], [1j, 4]]),), {"axis": 0, "dtype": "float32"}),
        ("linalg.cross", (np.arange(3.0), np.arange(9.0).reshape(3, 3)), {"axis": 0}),
        ("unique", (np.array([3, np.nan, 2.5, 0, np.inf]),), {"axis": 0}),
        (
            "unique",
            (np.array([[1, np.nan], [1, np.nan], [0, 1], [0, 1]]),),
            {"axis": 0, "return_counts": True},
        ),
        ("piecewise", (np.arange(4.0).reshape(2, 2), [np.array([True, False])], [1, 2]), {}),
        ("polyint", (np.arange(3.0),), {"m": 2, "k": [1]}),
        ("fft.irfft2", (np.ones((2, 3)),), {"s": (4, -1)}),
        ("linalg.matrix_power", (np.array([[True, True], [False, True]]), 3), {}),
        ("angle", (np.array([1, -1], np.int8),), {}),
        ("histogram2d", (np.arange(3.0), np.arange(3.0)), {"bins": [0, 1, 4]}),
        ("resize", (np.zeros(0), (2, 2)), {}),
        ("roll", (np.arange(6).reshape(2, 3), (1, 2)), {}),
        ("size", (np.zeros((2, 3)),), {"axis": (0, 1)}),
        ("pad", (np.zeros((2, 0)), 1), {"mode": "median"}),
        ("diag_indices_from", (np.zeros((2, 3)),), {}),
        ("tril_indices_from", (np.zeros(3),), {}),
        ("searchsorted", (np.arange(3), 1), {"sorter": np.array([0])}),
        ("linalg.multi_dot", ([np.eye(2)],), {}),
        ("linalg.cond", (np.zeros((0, 0)),), {}),
        ("sort", (np.arange(3),), {"kind": "stable", "stable": True}),
        ("reshape", (np.zeros((2, 3)), -1), {"order": "F", "copy": False}),
        ("vsplit", (np.arange(4), 2), {}),
        ("delete", (np.arange(3), True), {}),
    ],
    ids=lambda each: each if isinstance(each, str) else "",
)
def test_calls_that_the_law_found(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    agrees(name, *args, **kwargs, exact=False, recorded=False, scale=1)


def test_a_call_that_numpy_refuses_is_refused_at_the_users_line() -> None:
    with pytest.raises(OnnxsmithError) as caught:
        xp.diag_indices_from(xp.zeros((2, 3)))
    assert "xp.diag_indices_from(xp.zeros((2, 3)))" in str(caught.value)
