"""A transformer of two layers learns to reverse strings: trained by ONNX Runtime, used as the model that comes out."""

from __future__ import annotations

import numpy as np
import torch
from torch import nn

import onnxsmith
from onnxsmith.training import Trainer, adam
from onnxsmith.training.schedules import one_cycle

LETTERS, LENGTH, BATCH = 26, 10, 64


class Reversing(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.letters = nn.Embedding(LETTERS, 64)
        self.positions = nn.Parameter(0.02 * torch.randn(LENGTH, 64))
        layer = nn.TransformerEncoderLayer(64, 4, 128, 0.0, batch_first=True, norm_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.out = nn.Linear(64, LETTERS)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        made: torch.Tensor = self.out(self.encoder(self.letters(x) + self.positions))
        return made.transpose(1, 2)  # classes are dimension 1


def main() -> None:
    torch.manual_seed(0)
    words = np.random.default_rng(0).integers(0, LETTERS, (10_000, LENGTH))
    known, unseen = words[: 140 * BATCH], words[140 * BATCH :][: 16 * BATCH]
    example = (torch.tensor(known[:BATCH]),)
    model = onnxsmith.torch.export(Reversing().train(), example, keep_mutations=True)
    trainer = Trainer(model, "cross_entropy", adam(one_cycle(3e-3)))
    trainer.fit(known, known[:, ::-1].copy(), epochs=5, batch_size=BATCH)
    used = trainer.model
    found = np.concatenate([used(each).argmax(1) for each in np.split(unseen, 16)])
    right = (found == unseen[:, ::-1]).all(1).mean()
    print(f"{right:.1%} of {len(unseen)} unseen strings are right, after {trainer.steps_done} steps")


if __name__ == "__main__":
    main()
