"""The example of an export in other sizes of its dynamic dimensions, on which model and module are run side by side."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import torch
from torch.export.graph_signature import ConstantArgument, InputKind
from torch.utils import _pytree as pytree

from onnxsmith.graphs.trial_inputs import Draw
from onnxsmith.torch.library.kinds import (
    Example,
    Fake,
    ModuleArgument,
    Named,
    Positional,
    TorchSize,
    sizes_in,
)
from onnxsmith.torch.sizes import Sizes
from onnxsmith.torch.symbols import Symbol, expression_of, integer, is_symbol
from onnxsmith.torch.weights import as_array, as_tensor

#: An example is enlarged up to so many elements in all inputs.
_MOST_ELEMENTS = 1 << 22


class Inputs(NamedTuple):
    """The inputs that the model and the module are run on."""

    #: `example`, or the sizes that differ from it.
    label: str
    args: Positional
    kwargs: Named


class Resizing:
    """The example of a program, of which other sizes can be had."""

    def __init__(self, program: torch.export.ExportedProgram, example: Example, sizes: Sizes) -> None:
        self.example = example
        self._sizes = sizes
        nodes = {node.name: node for node in program.graph.nodes if node.op == "placeholder"}
        #: The facts of torch about the user's inputs; None for constants.
        self.fakes: list[Fake] = [
            None if isinstance(each.arg, ConstantArgument) else nodes[each.arg.name].meta.get("val")
            for each in program.graph_signature.input_specs
            if each.kind == InputKind.USER_INPUT
        ]

    def symbols(self) -> dict[Symbol, int]:
        """The symbols of the inputs' dimensions, and what they are in the example."""
        found: dict[Symbol, int] = {}
        flat = pytree.tree_leaves(self.example)
        for fake, value in zip(self.fakes, flat, strict=True):
            if not isinstance(fake, torch.Tensor):
                continue
            for size, actual in zip(sizes_in(fake), value.shape, strict=True):
                if isinstance(size, torch.SymInt) and is_symbol(expression := expression_of(size)):
                    found.setdefault(expression, int(actual))
        return found

    def named(self, chosen: Mapping[Symbol, int]) -> dict[str, int]:
        """Sizes by the user's names."""
        return {str(self._sizes.text(each)): size for each, size in chosen.items()}

    def with_sizes(self, chosen: Mapping[Symbol, int]) -> dict[Symbol, int] | None:
        """The example's sizes but for those chosen; None where two are chosen for one name.

        torch has a symbol for each dimension. Those that the user calls alike have one size.
        """
        by_name: dict[str, int] = {}
        for symbol, size in chosen.items():
            (name,) = self.named({symbol: size})
            if by_name.setdefault(name, size) != size:
                return None
        found = self.symbols()
        names = {symbol: next(iter(self.named({symbol: size}))) for symbol, size in found.items()}
        return {
            **found,
            **chosen,
            **{symbol: by_name[name] for symbol, name in names.items() if name in by_name},
        }

    def to(self, chosen: Mapping[Symbol, int], draw: Draw | None = None) -> Inputs | None:
        """The example in sizes; None where a size does not follow from them, or there would be too many elements.

        Its elements are those of the example, cut off or repeated; others near them where there is a generator.
        """
        flat, spec = pytree.tree_flatten(self.example)
        shapes: dict[int, list[int]] = {}
        for k, fake in enumerate(self.fakes):
            if isinstance(fake, torch.Tensor):
                shape = [_size(each, chosen) for each in sizes_in(fake)]
                # One that is computed, as 2 * n - 1, has no value where it would be negative.
                shapes[k] = known = [each for each in shape if each is not None and each >= 0]
                if len(known) < len(shape):
                    return None
        if sum(map(math.prod, shapes.values())) > max(_MOST_ELEMENTS, 16 * _elements(flat)):
            return None
        new: list[Any] = [
            resized(value, shapes[k], draw) if k in shapes else value for k, value in enumerate(flat)
        ]
        label = ", ".join(f"{name}={size}" for name, size in self.named(chosen).items())
        return Inputs(label, *pytree.tree_unflatten(new, spec))


def resized(tensor: torch.Tensor, shape: Sequence[int], draw: Draw | None) -> torch.Tensor:
    """A tensor in another shape, with other elements where there is a generator."""
    fitted = _fitted(tensor, shape)
    return fitted if draw is None else perturbed(fitted, draw)


def _elements(values: Sequence[ModuleArgument]) -> int:
    return sum(each.numel() for each in values if isinstance(each, torch.Tensor))


def _size(size: TorchSize, chosen: Mapping[Symbol, int]) -> int | None:
    if isinstance(size, int):
        return size
    found = expression_of(size).xreplace({symbol: integer(each) for symbol, each in chosen.items()})
    return int(found) if found.is_number else None


def _fitted(tensor: torch.Tensor, shape: Sequence[int]) -> torch.Tensor:
    """The tensor in another size: cut off, or begun again, so that its values stay as plausible as they are."""
    for axis, size in enumerate(shape):
        if tensor.shape[axis] != size:
            if not tensor.shape[axis]:
                return tensor.new_zeros(tuple(shape))
            tensor = tensor.index_select(axis, torch.arange(size) % tensor.shape[axis])
    return tensor


def perturbed(tensor: torch.Tensor, draw: Draw) -> torch.Tensor:
    """A tensor of other elements that are as plausible."""
    if not tensor.numel() or tensor.layout is not torch.strided:
        return tensor
    return as_tensor(draw.near(as_array(tensor)))
