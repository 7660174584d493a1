"""Whether a model computes what the module computes: on the example and on other arguments."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch.utils import _pytree as pytree

import onnxsmith


def arrays(value: Any) -> list[np.ndarray]:
    """The leaves of a value as arrays; None has none."""
    return [
        each.detach().numpy() if isinstance(each, torch.Tensor) else np.asarray(each)
        for each in pytree.tree_leaves(value)
        if each is not None
    ]


def check(
    module: torch.nn.Module,
    *args: Any,
    others: Any = (),
    tolerance: float = 1e-5,
    state: Any = None,
    **options: Any,
) -> onnxsmith.Model:
    """Export, run on the example and on others, and compare with torch.

    `state` are buffers to set before the module runs, for modules that write to them.
    """
    module.eval()
    model = onnxsmith.torch.export(module, args, **options)
    for given in (args, *others):
        copied = pytree.tree_map(lambda x: x.clone() if isinstance(x, torch.Tensor) else x, given)
        for name, value in (state or {}).items():
            module.get_buffer(name).copy_(value)
        with torch.no_grad():
            wanted = arrays(module(*copied))
        got = model(*arrays(given))
        got = got if isinstance(got, tuple) else (got,)
        assert len(got) == len(wanted)
        for mine, theirs in zip(got, wanted, strict=True):
            assert np.asarray(mine).shape == theirs.shape
            np.testing.assert_allclose(np.asarray(mine), theirs, rtol=tolerance, atol=tolerance)
    return model
