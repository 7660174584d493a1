# pyright: basic
"""Embeddings: rows of a table by index."""

from __future__ import annotations

from typing import Any

from onnxsmith.torch.library.call import Call
from onnxsmith.torch.library.operators import op
from onnxsmith.torch.library.registry import translates


@translates("aten.embedding.default")
def embedding(
    call: Call,
    weight: Any,
    indices: Any,
    padding_idx: int = -1,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Any:
    return op.Gather(weight, indices, axis=0)
