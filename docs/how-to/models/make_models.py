"""Makes transformer.onnx, the model that `read-and-edit-a-model.md` reads: `python make_models.py`.

Two layers as PyTorch writes them, exported by PyTorch itself. The file is kept beside this one, so that the
documentation can be built without PyTorch.
"""

from __future__ import annotations

import math
from pathlib import Path

import torch
from torch import Tensor, nn

LENGTH, WORDS, WIDTH, HEADS, CLASSES = 6, 64, 32, 2, 3


class Attention(nn.Module):
    """Every word looks at every other."""

    def __init__(self) -> None:
        super().__init__()
        self.query, self.key, self.value = (nn.Linear(WIDTH, WIDTH) for _ in range(3))
        self.output = nn.Linear(WIDTH, WIDTH)

    def forward(self, x: Tensor) -> Tensor:
        """Attention of all heads, side by side."""
        query, key, value = (self.split(each(x)) for each in (self.query, self.key, self.value))
        scores = query @ key.transpose(2, 3) / math.sqrt(WIDTH // HEADS)
        mixed = torch.softmax(scores, -1) @ value
        return self.output(mixed.transpose(1, 2).reshape(-1, LENGTH, WIDTH))

    @staticmethod
    def split(x: Tensor) -> Tensor:
        """The heads as a dimension of their own."""
        return x.reshape(-1, LENGTH, HEADS, WIDTH // HEADS).transpose(1, 2)


class Layer(nn.Module):
    """Attention and a feed-forward block, each behind a norm."""

    def __init__(self) -> None:
        super().__init__()
        self.attention = Attention()
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.up, self.activation, self.down = (
            nn.Linear(WIDTH, 2 * WIDTH),
            nn.GELU(),
            nn.Linear(2 * WIDTH, WIDTH),
        )

    def forward(self, x: Tensor) -> Tensor:
        """One layer."""
        x = x + self.attention(self.norm1(x))
        return x + self.down(self.activation(self.up(self.norm2(x))))


class Classifier(nn.Module):
    """Words in, a score for each class out."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(WORDS, WIDTH)
        self.layers = nn.Sequential(Layer(), Layer())
        self.classifier = nn.Linear(WIDTH, CLASSES)

    def forward(self, tokens: Tensor) -> Tensor:
        """The whole network."""
        return self.classifier(self.layers(self.embedding(tokens)).mean(1))


def main() -> None:
    """Write the model."""
    torch.manual_seed(0)
    network = Classifier().eval()
    with torch.no_grad():
        for name, parameter in network.named_parameters():
            if "norm" in name:  # all ones and zeros as made; as trained, no two are the same
                parameter += 0.1 * torch.randn_like(parameter)
    torch.onnx.export(
        network,
        (torch.zeros(1, LENGTH, dtype=torch.int64),),
        str(Path(__file__).with_name("transformer.onnx")),
        input_names=["tokens"],
        output_names=["logits"],
        dynamic_axes={"tokens": {0: "batch"}, "logits": {0: "batch"}},
        opset_version=20,
        dynamo=False,  # the exporter that needs nothing but PyTorch
    )


if __name__ == "__main__":
    main()
