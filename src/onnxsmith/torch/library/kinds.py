"""Types between torch and translations: torch's facts about a value, and the arguments and results of a call."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TypeAlias, cast

import numpy as np
import torch
from torch._ops import HigherOrderOperator, OpOverload
from torch.fx.node import Argument as FxArgument
from torch.fx.node import map_arg

from onnxsmith.algorithms.complex_numbers.pair import Complex
from onnxsmith.core.tensor import Tensor
from onnxsmith.core.user_values import Opaque
from onnxsmith.core.value import Array, Scalar, Value

#: A number of torch's that only the model knows.
SymbolicNumber: TypeAlias = torch.SymInt | torch.SymFloat | torch.SymBool
SYMBOLIC_NUMBERS = (torch.SymInt, torch.SymFloat, torch.SymBool)
#: A size as torch has it in a shape.
TorchSize: TypeAlias = int | torch.SymInt
#: What an argument of torch's is besides tensors and numbers.
Setting: TypeAlias = str | torch.dtype | torch.device | torch.layout | torch.memory_format
#: What torch knows of a value while it traces: a tensor without elements, a number that is symbolic or known.
Fake: TypeAlias = (
    "torch.Tensor | SymbolicNumber | bool | int | float | complex | Setting | Sequence[Fake] | None"
)
#: A tensor of the graph, real or complex.
Given: TypeAlias = Tensor | Complex
#: What stands beside a complex tensor: a tensor, real or complex, or a number.
Term: TypeAlias = Tensor | Complex | bool | int | float | complex
#: What an argument of a call became: a value of the graph (`Number` for a number that only the model knows), a number,
#: a setting; of a higher-order operator, a graph.
Argument: TypeAlias = (
    "Value | Complex | bool | int | float | complex | Setting | Subgraph | slice | Many | None"
)
#: Several of them, in a row or by name.
Many: TypeAlias = "Sequence[Argument] | dict[str, Argument]"
Arguments: TypeAlias = tuple[Argument, ...]
Keywords: TypeAlias = dict[str, Argument]
#: How windows lie in a signal, an image, a volume: one number for all dimensions, or one for each.
Counts: TypeAlias = int | Sequence[int]
#: What a translation gives: tensors, and what becomes one.
Translated: TypeAlias = (
    "Value | Complex | Array | np.generic[Any] | bool | int | float | complex | Sequence[Translated] | None"
)
#: What a translation of several results gives: tensors, and numbers that become some.
Results: TypeAlias = Sequence[Tensor | np.generic]
#: What the `forward` of a module takes: tensors, numbers, containers of them, and objects of all other classes.
ModuleArgument: TypeAlias = (
    "torch.Tensor | Array | np.generic[Any] | Scalar | Opaque | Sequence[ModuleArgument] | Keyed | None"
)
Keyed: TypeAlias = "Mapping[Any, ModuleArgument]"
Positional: TypeAlias = tuple[ModuleArgument, ...]
Named: TypeAlias = dict[str, ModuleArgument]
#: The example arguments of a module, by position and by name.
Example: TypeAlias = tuple[Positional, Named]
#: What a node calls: an operator, or a function of numbers.
Target: TypeAlias = "OpOverload[..., Any] | HigherOrderOperator | Callable[..., Any]"


def sizes_in(fake: torch.Tensor) -> Sequence[TorchSize]:
    """The shape of a fake tensor, which torch declares to be of ints."""
    return fake.shape


class Subgraph(Protocol):
    """A graph that is an argument: the branch of a `cond`, the body of a loop."""

    @property
    def inputs(self) -> Sequence[Fake]:
        """The facts of torch about its parameters."""
        ...

    @property
    def output(self) -> Fake:
        """The facts of torch about its results."""
        ...

    def __call__(self, *arguments: Argument) -> Argument:
        """Its results on values of the graph that is active."""
        ...


#: What a parameter is where a call leaves it out.
Default: TypeAlias = bool | int | float | complex | str | Sequence[int] | Sequence[float] | None


class Formal(Protocol):
    """A parameter of an operator, as torch declares it."""

    @property
    def name(self) -> str: ...
    @property
    def kwarg_only(self) -> bool: ...
    @property
    def default_value(
        self,
    ) -> bool | int | float | complex | str | Sequence[int] | Sequence[float] | None: ...
    @property
    def alias_info(self) -> Aliased | None: ...
    def has_default_value(self) -> bool: ...


class Aliased(Protocol):
    """The memory that a parameter shares with a result."""

    @property
    def is_write(self) -> bool: ...


class Schema(Protocol):
    """An operator's declaration by torch."""

    @property
    def name(self) -> str: ...
    @property
    def overload_name(self) -> str: ...
    @property
    def is_mutable(self) -> bool: ...
    @property
    def arguments(self) -> Sequence[Formal]: ...
    @property
    def returns(self) -> Sequence[Formal]: ...


def known_arguments(node: torch.fx.Node) -> tuple[tuple[Fake, ...], dict[str, Fake]]:
    """The facts of torch about the arguments of a node: fake tensors for tensors, symbolic or known numbers."""

    def known(each: torch.fx.Node) -> FxArgument:
        return each.meta.get("val")

    found = map_arg((node.args, node.kwargs), known)
    return cast("tuple[tuple[Fake, ...], dict[str, Fake]]", found)


def schema_of(target: Target | str) -> Schema | None:
    """How torch declares an operator; None for what is no operator of ATen or a library like it."""
    return cast("Schema | None", getattr(target, "_schema", None))
