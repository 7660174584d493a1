"""Runs functions of fields on arrays, complex or not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from onnxsmith.algorithms.complex_numbers.field import Field
from tests.algorithms.running import computed


def results(function: Callable[..., Any], *arrays: Any, tolerance: float = 1e-9) -> list[np.ndarray]:
    """The results for arrays; the parts of a complex one are computed apart and put together."""
    parts = [(each.real, each.imag) if np.iscomplexobj(each) else (each,) for each in arrays]
    kinds: list[bool] = []

    def of_parts(*tensors: Any) -> list[Any]:
        left = iter(tensors)
        given = [Field(*(next(left) for _ in part)) for part in parts]
        found = function(*given)
        listed = list(found) if isinstance(found, tuple | list) else [found]
        kinds[:] = [isinstance(each, Field) and each.is_complex for each in listed]
        return [part for each in listed for part in _parts(each)]

    flat = iter(computed(of_parts, *(one for part in parts for one in part), tolerance=tolerance))
    return [next(flat) + 1j * next(flat) if is_complex else next(flat) for is_complex in list(kinds)]


def _parts(value: Any) -> list[Any]:
    if not isinstance(value, Field):
        return [value]
    return [value.re] if value.im is None else [value.re, value.im]
