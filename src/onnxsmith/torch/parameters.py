"""The parameters of a module in training: what each is called in the model."""

from __future__ import annotations

from typing import Any

import torch
from torch.export.graph_signature import InputKind

from onnxsmith.torch.weights import identity


class Parameters:
    """The parameters of a program, each once: one that several modules hold has its first name, as in torch."""

    def __init__(self, program: torch.export.ExportedProgram) -> None:
        self._names: dict[tuple[Any, ...], str] = {}
        for spec in program.graph_signature.input_specs:
            if spec.kind == InputKind.PARAMETER and spec.target is not None:
                key = identity(program.state_dict[spec.target])
                if key is not None:
                    self._names.setdefault(key, spec.target)

    def name(self, tensor: torch.Tensor, target: str) -> str:
        """What a tensor is called that the program has at `target`."""
        key = identity(tensor)
        return target if key is None else self._names.get(key, target)
