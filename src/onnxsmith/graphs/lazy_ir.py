"""onnx-ir, loaded when something of it is first needed.

It loads sympy, and the two take longer than all else that a first result needs. What is recorded runs without them.
"""

from __future__ import annotations

import importlib
import logging
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import onnx_ir as ir
else:

    class _OnnxIr:
        """Stands for the module."""

        def __getattr__(self, name: str) -> Any:
            found = getattr(importlib.import_module("onnx_ir"), name)
            setattr(self, name, found)  # which is found at once from now on
            return found

    ir = _OnnxIr()

# What is wrong with a model we say ourselves: without a handler, Python prints the warnings of onnx-ir.
logging.getLogger("onnx_ir").addHandler(logging.NullHandler())

__all__ = ["ir"]
