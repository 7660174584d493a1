"""The parameters of a module in training: what each is called in the model, and which are to be trained."""

from __future__ import annotations

from typing import Any

import onnx_ir as ir
import torch
from torch.export.graph_signature import InputKind

from onnxsmith.graphs.notes import WEIGHT_KEY, notes_of
from onnxsmith.torch.weights import identity, initializer_names


class Parameters:
    """Parameters and buffers of a program, each once: one that several modules hold has its first name, as in torch."""

    def __init__(self, program: torch.export.ExportedProgram) -> None:
        self._names: dict[tuple[Any, ...], str] = {}
        self._trained: set[str] = set()
        #: Buffers and parameters that require no gradient, by each of their names.
        self._frozen: set[str] = set()
        for spec in program.graph_signature.input_specs:
            if spec.kind not in (InputKind.PARAMETER, InputKind.BUFFER) or spec.target is None:
                continue
            tensor = program.state_dict.get(spec.target)
            if tensor is None:  # a buffer that is not kept is a constant
                continue
            key = identity(tensor)
            if key is not None:
                self._names.setdefault(key, spec.target)
            if spec.kind == InputKind.PARAMETER and tensor.requires_grad:
                self._trained.update(initializer_names(tensor, self.name(tensor, spec.target)))
            else:
                self._frozen.update(initializer_names(tensor, spec.target))

    def name(self, tensor: torch.Tensor, target: str) -> str:
        """The name of the tensor that the program has at `target`."""
        key = identity(tensor)
        return target if key is None else self._names.get(key, target)

    def trained(self, graph: ir.Graph) -> list[str]:
        """The initializers of a graph that are to be trained: no buffers, constants and frozen parameters."""
        return [
            name
            for name, value in graph.initializers.items()
            if notes_of(value).get(WEIGHT_KEY) in self._trained
        ]

    def trained_in_use(self, graph: ir.Graph) -> list[str] | None:
        """The same of a module that is not in training, whose weights may be folded; None where all are trained."""
        known = {
            name: noted
            for name, value in graph.initializers.items()
            if (noted := notes_of(value).get(WEIGHT_KEY)) is not None
            and value.const_value is not None
            and value.const_value.dtype.is_floating_point()
        }
        if self._frozen.isdisjoint(known.values()):
            return None
        return [name for name, noted in known.items() if noted not in self._frozen]
