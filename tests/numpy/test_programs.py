"""Programs with views, aliases and in-place operators give what numpy gives, or are refused; at once and recorded."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest

import onnxsmith.numpy as xp
from onnxsmith import trace
from onnxsmith.algorithms.complex_numbers.pair import Complex
from onnxsmith.errors import OnnxsmithError
from onnxsmith.numpy import dtypes
from onnxsmith.numpy.array import Array
from onnxsmith.types.value_types import TensorType
from tests.numpy import programs
from tests.numpy.programs import Program

#: How many programs are asked; more by hand.
_COUNT = int(os.environ.get("ONNXSMITH_PROGRAMS", "150"))
_FIRST = int(os.environ.get("ONNXSMITH_FIRST_PROGRAM", "0"))


def _run(program: Program, start: Any) -> list[Array]:
    names: dict[str, Any] = {"m": xp, "np": np, "v0": start}
    for line in program.lines:
        programs.execute(line, names)
    return [xp.asarray(names[each]) for each in program.names]


def eager(program: Program) -> list[np.ndarray[Any, Any]]:
    """What a program gives, run at once."""
    return [np.array(each) for each in _run(program, xp.asarray(program.start.copy()))]


def recorded(program: Program) -> list[np.ndarray[Any, Any]]:
    """What a model of a program gives, recorded with every size open."""
    is_complex = program.start.dtype.kind == "c"
    sizes = tuple(f"N{axis}" for axis in range(program.start.ndim))
    kind = TensorType(dtypes.onnx_type(program.start.dtype), sizes)
    counts: list[int] = []

    def body(*tensors: Any) -> tuple[Any, ...]:
        given = xp.Array(Complex(*tensors)) if is_complex else xp.asarray(tensors[0])
        outputs: list[Any] = []
        for each in _run(program, given.copy()):
            is_pair = each.dtype.kind == "c"
            parts = [xp.real(each).tensor, xp.imag(each).tensor] if is_pair else [each.tensor]
            counts.append(len(parts))
            outputs += parts
        return tuple(outputs)

    model = trace(body, *[kind] * (1 + is_complex))
    start = program.start
    results = model(*([np.real(start).copy(), np.imag(start).copy()] if is_complex else [start]))
    made = [np.asarray(each) for each in (results if isinstance(results, tuple) else [results])]
    joined: list[np.ndarray[Any, Any]] = []
    for count in counts:
        first = made.pop(0)
        if count == 2:
            first = first.astype(dtypes.complex_of(first.dtype))
            first.imag = made.pop(0)
        joined.append(first)
    return joined


def compare(program: Program, ours: list[np.ndarray[Any, Any]]) -> None:
    """Every array at the end is numpy's."""
    assert program.results is not None, f"numpy refuses the last line of\n{program.text}"
    for name, a, b in zip(program.names, ours, program.results, strict=True):
        assert (a.dtype, a.shape) == (b.dtype, b.shape), f"{name} at the end of\n{program.text}"
        np.testing.assert_array_equal(a, b, err_msg=f"{name} at the end of\n{program.text}")


@pytest.mark.parametrize("road", [eager, recorded])
def test_programs_with_views_give_what_numpy_gives_or_are_refused(road: Any) -> None:
    refused = 0
    for seed in range(_FIRST, _FIRST + _COUNT):
        program = programs.make(seed)
        try:
            ours = road(program)
        except OnnxsmithError:
            refused += program.results is not None
            continue
        if program.results is None and any(not each.size for each in ours):
            continue  # a model lets pass what does not fit where there are no elements
        compare(program, ours)
    assert refused < _COUNT / 3, f"{refused} of {_COUNT} programs are refused"
