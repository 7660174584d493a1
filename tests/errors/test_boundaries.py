"""The law of boundaries: a public function of models shows its caller's line, and no frame of ours, when it fails."""

from __future__ import annotations

import importlib
import inspect
import traceback
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import onnxsmith
from onnxsmith import FLOAT, trace
from onnxsmith import opset21 as op
from onnxsmith.errors import OnnxsmithError
from onnxsmith.graphs.capabilities import METHODS, OF_ESTIMATORS
from onnxsmith.observing import observe
from tools.reference.groups import MAIN

#: They raise nothing of their own, or are a part of Python's syntax that does.
_WITHOUT = {"graph", "clear_cache", "model_bundle"}


def _public() -> dict[str, Callable[..., Any]]:
    """The methods of a model that other packages bring, and the functions that the reference lists."""
    found = {
        place: getattr(importlib.import_module(place.partition(":")[0]), place.partition(":")[2])
        for place in METHODS.values()
    }
    for group in MAIN:
        if group.slug in {"torch", "evaluator"}:
            continue  # the one loads torch, the other has onnxscript's functions
        for module, name in group.names:
            found[f"{module}:{name}"] = getattr(importlib.import_module(module), name)
    return {place: each for place, each in found.items() if inspect.isfunction(each)}


PUBLIC = _public()


@pytest.mark.parametrize("place", sorted(PUBLIC))
def test_public_functions_have_a_boundary(place: str) -> None:
    name = place.partition(":")[2]
    assert name in _WITHOUT or hasattr(PUBLIC[place], "__wrapped__"), f"{place} is not marked as a boundary"


MODEL = trace(lambda x: op.Relu(x), FLOAT["N"])
WRONG: dict[str, Callable[[], object]] = {
    **{name: lambda name=name: getattr(MODEL, name)(np.ones((2, 3))) for name in OF_ESTIMATORS},
    "signature": lambda: onnxsmith.sklearn.signature(MODEL),
    "discrepancies": lambda: onnxsmith.sklearn.discrepancies(None, None, np.ones((2, 3))),  # type: ignore[arg-type]
    "proto2python": lambda: onnxsmith.proto2python(3),
    "observe": lambda: observe(MODEL, [{"x": np.ones(2)}], print),
    "observe of a path": lambda: observe("model.onnx", [{}], print),  # type: ignore[arg-type]
    "observe without batches": lambda: observe(MODEL, {"x": np.ones(2, np.float32)}, print),
    "observe in no memory": lambda: observe(MODEL, [], print, memory="much"),
    "observe of nothing": lambda: observe(MODEL, [], print, ["rleu"]),
}


@pytest.mark.parametrize("case", sorted(WRONG))
def test_no_frame_of_ours_is_shown(case: str) -> None:
    with pytest.raises(OnnxsmithError) as caught:
        WRONG[case]()
    frames = traceback.extract_tb(caught.value.__traceback__)
    assert {each.filename for each in frames} <= {__file__, WRONG[case].__code__.co_filename}
    assert caught.value.span is not None
    assert caught.value.span.file == __file__
