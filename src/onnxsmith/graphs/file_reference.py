"""A tensor of a model whose bytes lie in a file beside it."""

from __future__ import annotations

import onnx_ir as ir


class Reference(ir.ExternalTensor):
    """A tensor that stays a reference when the model is serialized: it has just been written beside it."""
