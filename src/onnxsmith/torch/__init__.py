"""PyTorch modules as ONNX models: `export` and `translate`. torch itself is imported when one of them is used."""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING

from onnxsmith.errors import MissingDependencyError
from onnxsmith.registry import exports

if TYPE_CHECKING:
    from onnxsmith.torch.exporting import export as export
    from onnxsmith.torch.reporting import ExportedModel as ExportedModel
    from onnxsmith.torch.reporting import ExportReport as ExportReport
    from onnxsmith.torch.torch_onnx import for_torch_onnx as for_torch_onnx
    from onnxsmith.torch.translating import translate as translate

_LAZY = {
    "ExportReport": "onnxsmith.torch.reporting",
    "ExportedModel": "onnxsmith.torch.reporting",
    "export": "onnxsmith.torch.exporting",
    "for_torch_onnx": "onnxsmith.torch.torch_onnx",
    "translate": "onnxsmith.torch.translating",
}

__all__ = ["ExportReport", "ExportedModel", "export", "for_torch_onnx", "translate"]


def _check_installed(name: str) -> None:
    if importlib.util.find_spec("torch") is None:
        raise MissingDependencyError(
            f"onnxsmith.torch.{name} needs PyTorch, which is not installed",
            help="pip install onnxsmith[torch]",
        ).locate_at_caller()


__getattr__, __dir__ = exports(__name__, _LAZY, _check_installed)
