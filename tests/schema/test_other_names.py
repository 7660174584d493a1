"""Names of operators in numpy and PyTorch: each is one there, and leads to an operator of ONNX."""

from __future__ import annotations

import importlib.util

import numpy as np
import onnx
import pytest

from onnxsmith.schema.other_names import ONNX_NAMES

OPERATORS = {each.name for each in onnx.defs.get_all_schemas() if not each.domain and not each.deprecated}


@pytest.mark.parametrize("name", ONNX_NAMES)
def test_a_name_leads_to_an_operator(name: str) -> None:
    assert ONNX_NAMES[name].partition(" ")[0] in OPERATORS
    assert name == name.lower()
    assert name not in {each.lower() for each in OPERATORS}


@pytest.mark.parametrize("name", ONNX_NAMES)
def test_a_name_is_one_of_numpy_or_torch(name: str) -> None:
    if hasattr(np, name) or hasattr(np.ndarray, name):
        return
    if importlib.util.find_spec("torch") is None:
        pytest.skip("torch is not installed")
    import torch

    holders = (torch, torch.Tensor, torch.nn.functional)
    assert any(hasattr(each, name) for each in holders)
