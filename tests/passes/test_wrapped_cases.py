"""What passes promise of backend cases wherever they stand: valid, the same results, our own errors, nothing changed.

A fixed part of the cases, each in one of the wrappings. `PART = 1` takes all of them in all.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import onnx
import pytest

from onnxsmith import Model
from onnxsmith.errors import VersionConversionError
from onnxsmith.passes.verifying import verdict_on
from tests.passes.versions.backend_cases import BackendCase, backend_cases
from tests.passes.wrapped_cases import WRAPPINGS, Wrapping

#: One case of so many is taken.
PART = 211
#: Old opsets, in which much is said otherwise, and new ones.
OPSETS = (7, 9, 10, 12, 13, 15, 17, 18, 20, 22, 24, 28)

PASSES: dict[str, Callable[[Model, int], Model]] = {
    "optimised": lambda model, opset: model.optimize(),
    "optimised in its opset": lambda model, opset: model.optimize(opset="keep", inline=False),
    "unrolled": lambda model, opset: model.optimize(unroll=3),
    "converted": lambda model, opset: model.convert_version(opset),
}


@pytest.mark.parametrize("name", WRAPPINGS)
def test_passes_keep_what_wrapped_cases_give(name: str) -> None:
    position = list(WRAPPINGS).index(name)
    found: list[str] = []
    for number, case in enumerate(list(backend_cases().values())[position::PART]):
        opset = OPSETS[(number + position) % len(OPSETS)]
        found += [f"{case.name}: {each}" for each in faults(case, WRAPPINGS[name], opset)]
    assert not found, "\n".join(found)


def faults(case: BackendCase, wrapping: Wrapping, opset: int) -> list[str]:
    """What is wrong with a case after each pass."""
    wrapped = wrapping(case.model, case.inputs)
    if wrapped is None:
        return []
    proto, given = wrapped
    before = proto.SerializeToString(deterministic=True)
    found: list[str] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = Model.from_proto(proto)
        for name, change in PASSES.items():
            try:
                changed = change(model, opset)
            except VersionConversionError:
                continue
            except Exception as error:
                found.append(f"{name}: {type(error).__name__}: {error}")
                continue
            fault = _fault(model, changed, given)
            if fault is not None:
                found.append(f"{name} ({opset}): {fault}")
    if proto.SerializeToString(deterministic=True) != before:
        found.append("the given proto is changed")
    return found


def _fault(model: Model, changed: Model, given: Sequence[Any]) -> str | None:
    if _is_valid(model.proto) and not _is_valid(changed.proto):
        return "it is not valid any more"
    verdict = verdict_on(model, changed, given)
    return verdict.text if verdict.is_equal is False else None


def _is_valid(proto: onnx.ModelProto) -> bool:
    try:
        onnx.checker.check_model(proto, full_check=True)
    except Exception:  # onnx has several classes for it
        return False
    return True
