"""Which fusions a finished graph goes through, in which order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import onnx_ir as ir

from onnxsmith.torch.fusing import Fuser, Fusion
from onnxsmith.torch.fusing_transformers import (
    FIRST_VERSION,
    flat_attention,
    grouped_attention,
    rms_normalisation,
    rotary_embedding,
)
from onnxsmith.torch.fusing_weights import normalised_convolution, transposed_weight


def fuse(graph: ir.Graph, version: int, modules: dict[ir.Node, Any] | None) -> None:
    """Fuse what can be fused. Where modules become functions, `modules` says which nodes are whose."""
    fuser = Fuser(graph, version, modules)
    weights: dict[str, Sequence[Fusion]] = {"Transpose": [transposed_weight]}
    if modules is None:  # a convolution and the normalisation behind it are two modules
        weights["BatchNormalization"] = [normalised_convolution]
    fuser.run(weights)
    if version >= FIRST_VERSION:
        fuser.run({"Mul": [rms_normalisation], "Add": [rotary_embedding], "Attention": [grouped_attention]})
        fuser.run({"Reshape": [flat_attention]})
    fuser.drop_unread_initializers()
