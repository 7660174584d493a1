"""A PyTorch module as an ONNX model: with a dynamic batch, verified, and with its layers as functions."""

from __future__ import annotations

import torch
from torch import nn

import onnxsmith


class Block(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.layer = nn.Linear(width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + torch.relu(self.layer(self.norm(x)))


def main() -> None:
    module = nn.Sequential(*[Block(8) for _ in range(4)]).eval()
    model = onnxsmith.torch.export(
        module,
        (torch.randn(2, 8),),
        dynamic_shapes=({0: "batch"},),
        functions="modules",
        verify=True,
    )
    print(model.text())
    print(model.export_report)


if __name__ == "__main__":
    main()
