"""The summary of a trainer: what it trains, leaves and keeps, before anything runs."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from onnxsmith.core.value import Array
from onnxsmith.graphs.model import Model
from onnxsmith.training.step import Objective
from onnxsmith.training.updates import Updates


@dataclass(frozen=True, slots=True)
class Summary:
    """The weights that are trained and those that are not, with shapes; its text is a table."""

    trained: dict[str, tuple[int, ...]]
    frozen: dict[str, tuple[int, ...]]
    #: Running statistics and the like, which a run of the model writes.
    state: dict[str, tuple[int, ...]]
    #: What optimisers keep.
    optimizer: dict[str, tuple[int, ...]]
    #: The pattern of the optimizer of each trained weight.
    groups: dict[str, str]
    inputs: dict[str, str]

    def __str__(self) -> str:
        rows = [(name, shape, f"trained, {self.groups[name]}") for name, shape in self.trained.items()]
        rows += [(name, shape, "frozen") for name, shape in self.frozen.items()]
        rows += [(name, shape, "state of the model") for name, shape in self.state.items()]
        width = max((len(name) for name, _, _ in rows), default=0)
        lines = [
            f"{name:<{width}}  {_shown(shape):<16}  {math.prod(shape):>10,}  {what}"
            for name, shape, what in rows
        ]
        counts = {
            "trained": sum(map(math.prod, self.trained.values())),
            "frozen": sum(map(math.prod, self.frozen.values())),
            "kept by the optimizer": sum(map(math.prod, self.optimizer.values())),
        }
        lines.append(", ".join(f"{count:,} numbers {what}" for what, count in counts.items()))
        lines.append("a batch has " + ", ".join(f"{name}: {kind}" for name, kind in self.inputs.items()))
        return "\n".join(lines)

    __repr__ = __str__


def _shown(shape: tuple[int, ...]) -> str:
    return " × ".join(map(str, shape)) or "one number"


def summary_of(objective: Objective, updates: Updates, step: Model, state: Mapping[str, Array]) -> Summary:
    """The summary of a step."""
    held = objective.model.ir.graph.initializers
    shapes = {name: tuple(each.shape) for name, each in state.items()}
    trained = {name: shapes[name] for name in objective.names}
    buffers = {name: shapes[name] for name in objective.state if name not in trained}
    frozen: dict[str, tuple[int, ...]] = {}
    for name, value in held.items():
        tensor = value.const_value
        if name in trained or name in buffers or tensor is None or not tensor.dtype.is_floating_point():
            continue
        if shape := tuple(int(each) for each in tensor.shape.numpy()):
            frozen[name] = shape
    kept = {name: each for name, each in shapes.items() if name not in trained and name not in buffers}
    kinds = {each.name: repr(each.type) for each in step.inputs if each.name in objective.data}
    groups = {name: updates.pattern_of(name) for name in trained}
    return Summary(trained, frozen, buffers, kept, groups, kinds)
