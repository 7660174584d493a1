"""PyTorch modules as ONNX models: `export` and `translate`. torch itself is imported when one of them is used."""

from __future__ import annotations

import importlib
import importlib.util
from typing import TYPE_CHECKING, Any

from onnxsmith.errors import MissingDependencyError

if TYPE_CHECKING:
    from onnxsmith.torch.exporting import export as export
    from onnxsmith.torch.translating import translate as translate

_LAZY = {"export": "onnxsmith.torch.exporting", "translate": "onnxsmith.torch.translating"}

__all__ = ["export", "translate"]


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module 'onnxsmith.torch' has no attribute {name!r}")
    if importlib.util.find_spec("torch") is None:
        raise MissingDependencyError(
            f"onnxsmith.torch.{name} needs PyTorch, which is not installed",
            help="pip install onnxsmith[torch]",
        ).locate_at_caller()
    value = getattr(importlib.import_module(_LAZY[name]), name)
    globals()[name] = value
    return value
