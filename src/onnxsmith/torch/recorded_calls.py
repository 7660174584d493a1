"""Finds where results that are equal on a few draws of elements prove nothing, as only other elements would differ.

`torch.where(x > 100, x * k, x)` reads k for elements above 100 alone. If k is 2 in one size and 3 in another, a model
that was traced in the first is equal in the second until such an element comes. So the operators that a module calls
in two sizes are recorded, and compared.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import torch
from torch.export.graph_signature import InputKind
from torch.fx.node import Argument as FxArgument
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import TorchDispatchMode

from onnxsmith.torch.library.kinds import Example, ModuleArgument, Named, Positional, Target, schema_of
from onnxsmith.torch.resizing import Inputs
from onnxsmith.torch.verifying import flat_arguments

#: Operators whose result is the same for many values of an element. ReLU is none: it hides half of them, and a
#: difference shows in the other half.
_CHOOSING = frozenset(
    (
        *("gt", "ge", "lt", "le", "eq", "ne", "isclose", "clamp", "clamp_min", "clamp_max", "hardtanh"),
        *("threshold", "hardswish", "hardsigmoid", "relu6", "floor", "ceil", "round", "trunc", "fix"),
        *("sign", "sgn", "heaviside", "argmax", "argmin", "topk", "sort", "searchsorted", "bucketize"),
        *("isnan", "isinf", "isfinite", "logical_and", "logical_or", "logical_not", "logical_xor"),
        *("nan_to_num", "fmod", "remainder", "floor_divide", "maximum", "minimum", "fmax", "fmin"),
        *("nonzero", "hardshrink", "softshrink"),
    )
)
#: Operators that read of a tensor what is known without its elements.
_OF_SHAPES = ("_like", "new_")
#: Operators with a size among their arguments that another size of the result shows.
_RESHAPING = frozenset(
    (
        *("view", "_unsafe_view", "reshape", "_reshape_alias", "expand", "empty", "empty_strided"),
        *("zeros", "ones", "full", "new_empty", "new_zeros", "new_ones", "new_full", "as_strided"),
        *("resize", "unflatten"),
    )
)
_SIZES = frozenset(("size", "shape", "sizes", "stride"))

#: Numbers of values: one that is computed in the same way of the same values has the same number.
_Numbers = dict[Hashable, int]


def may_hide(
    reference: Callable[..., Any],
    example: Inputs,
    other: Inputs,
    program: torch.export.ExportedProgram | None = None,
) -> bool:
    """True if the calls of a module on two inputs differ, and equal results of a model do not show that it is right.

    Where sizes are dynamic in the program that the model was made of, the calls may differ by numbers that it computes
    of them. So its graph is run on the other input as well. Raises what the module raises.
    """
    numbers: _Numbers = {}
    first, second = (_recorded(_called(reference), each, numbers) for each in (example, other))
    if not _is_hidden(first, second):
        return False
    return program is None or _is_hidden(second, _recorded(_graph_of(program), other, numbers))


def _is_hidden(first: _Calls, second: _Calls) -> bool:
    """True if the results depend on calls that differ, and that choose by elements."""
    different = first.of_results() ^ second.of_results()
    return not different.isdisjoint(first.choosing | second.choosing)


def _called(reference: Callable[..., Any]) -> Callable[[Positional, Named], Any]:
    return lambda args, kwargs: reference(*args, **kwargs)


def _graph_of(program: torch.export.ExportedProgram) -> Callable[[Positional, Named], Any]:
    flat = flat_arguments(program, cast("Example", program.example_inputs))
    specs = program.graph_signature.input_specs
    places = [k for k, each in enumerate(specs) if each.kind == InputKind.USER_INPUT]
    interpreter = torch.fx.Interpreter(program.graph_module)

    def run(args: Positional, kwargs: Named) -> Any:
        for place, value in zip(places, pytree.tree_leaves((args, kwargs)), strict=True):
            flat[place] = value
        return interpreter.run(*flat)

    return run


def _recorded(run: Callable[[Positional, Named], Any], inputs: Inputs, numbers: _Numbers) -> _Calls:
    args, kwargs = pytree.tree_map(_copied, (inputs.args, inputs.kwargs or {}))
    calls = _Calls(numbers)
    for k, each in enumerate(pytree.tree_leaves((args, kwargs))):
        if isinstance(each, torch.Tensor):
            calls.enter(each, ("input", k), _Kind(is_data=True))
    with torch.no_grad(), calls:
        result = run(args, kwargs)
    calls.end(result)
    return calls


def _copied(value: ModuleArgument) -> ModuleArgument:
    return value.detach().clone() if isinstance(value, torch.Tensor) else value


@dataclass(frozen=True)
class _Kind:
    """The dependence of a value's elements on those of the inputs."""

    #: They are computed of elements of the inputs.
    is_data: bool = False
    #: They are choices by elements of the inputs, such as a mask, or computed of such choices alone.
    is_choice: bool = False


@dataclass
class _Value:
    tensor: torch.Tensor  # held, so that no other one takes its id
    number: int
    kind: _Kind


@dataclass
class _Read:
    """The tensors that a call reads."""

    kinds: list[_Kind] = field(default_factory=list[_Kind])
    numbers: list[int] = field(default_factory=list[int])


class _Calls(TorchDispatchMode):
    """Records the operators that are called, as numbers of the values that they compute."""

    def __init__(self, numbers: _Numbers) -> None:
        super().__init__()  # pyright: ignore[reportUnknownMemberType]
        #: The numbers of the values that a call reads, or of the call that a value is a result of.
        self._sources: dict[int, list[int]] = {}
        self._results: list[int] = []
        #: Those that hide differences of what they read, or of how they are computed.
        self.choosing: set[int] = set()
        self._numbers = numbers
        self._values: dict[int, _Value] = {}
        self._written: dict[int, tuple[int, _Kind]] = {}

    def enter(self, tensor: torch.Tensor, key: Hashable, kind: _Kind) -> _Value:
        """Give a tensor the number of what it is."""
        found = _Value(tensor, self._numbers.setdefault(key, len(self._numbers)), kind)
        self._values[id(tensor)] = found
        return found

    def __torch_dispatch__(
        self,
        func: Target,
        types: Sequence[type],
        args: tuple[FxArgument, ...] = (),
        kwargs: Mapping[str, FxArgument] | None = None,
    ) -> Any:
        kwargs = kwargs or {}
        read = _Read()
        name, key = self._key(func, args, kwargs, read)
        result: Any = cast(Any, func)(*args, **kwargs)
        number = self._numbers.setdefault(key, len(self._numbers))
        self._sources[number] = read.numbers
        kind = _kind_of(name, read.kinds)
        is_masking = any(each.is_choice for each in read.kinds)
        if any(each.is_data for each in read.kinds) and (name in _CHOOSING or is_masking):
            self.choosing.add(number)
        for tensor in _written(func, args):
            self._written[_memory(tensor)] = (number, kind)
        for k, each in enumerate(pytree.tree_leaves(result)):
            if isinstance(each, torch.Tensor) and id(each) not in self._values:
                self._sources[self.enter(each, (number, k), kind).number] = [number]
        return result

    def end(self, result: Any) -> None:
        """Note the results of the module."""
        read = _Read()
        for each in pytree.tree_leaves(result):
            self._of(each, read)
        self._results = read.numbers

    def of_results(self) -> set[int]:
        """The numbers of all that the results are computed of, themselves included."""
        found: set[int] = set()
        waiting = list(self._results)
        while waiting:
            each = waiting.pop()
            if each not in found:
                found.add(each)
                waiting += self._sources.get(each, ())
        return found

    def _key(
        self, func: Target, args: Sequence[FxArgument], kwargs: Mapping[str, FxArgument], read: _Read
    ) -> tuple[str, Hashable]:
        schema = schema_of(func)
        full = str(func) if schema is None else schema.name
        name = full.rpartition("::")[2].rstrip("_")
        declared = [] if schema is None else [each.name for each in schema.arguments]
        given: list[tuple[str, FxArgument]] = [
            *zip([*declared, *map(str, range(len(declared), len(args)))], args, strict=False),
            *sorted(kwargs.items()),
        ]
        parts = [
            (parameter, self._of(value, read))
            for parameter, value in given
            if not (parameter in _SIZES and name in _RESHAPING)
        ]
        return name, (full.rstrip("_"), tuple(parts))

    def _of(self, value: FxArgument, read: _Read) -> Hashable:
        if isinstance(value, torch.Tensor):
            return self._of_tensor(value, read)
        if isinstance(value, list | tuple):
            return tuple([self._of(each, read) for each in cast("Sequence[FxArgument]", value)])
        # True is 1 and 1.0 to a dict, and NaN is itself only by chance.
        return (type(value).__name__, repr(value))

    def _of_tensor(self, tensor: torch.Tensor, read: _Read) -> Hashable:
        found = self._values.get(id(tensor))
        if found is None:  # a weight, or a constant that Python made
            found = self.enter(tensor, ("constant", *_content(tensor)), _Kind())
        written, kind = self._written.get(_memory(tensor), (None, found.kind))
        read.kinds.append(kind)
        read.numbers += [found.number] if written is None else [found.number, written]
        return found.number, written


def _kind_of(name: str, read: Sequence[_Kind]) -> _Kind:
    """The dependence of a result's elements, given those of all that the call reads."""
    if any(part in name for part in _OF_SHAPES) or not any(each.is_data for each in read):
        return _Kind()
    of_data = [each for each in read if each.is_data]
    return _Kind(True, name in _CHOOSING or all(each.is_choice for each in of_data))


def _written(func: Target, args: Sequence[FxArgument]) -> list[torch.Tensor]:
    """The tensors that a call writes to."""
    schema = schema_of(func)
    if schema is None:
        return []
    written = zip(schema.arguments, args, strict=False)
    return [
        given
        for each, given in written
        if each.alias_info is not None and each.alias_info.is_write and isinstance(given, torch.Tensor)
    ]


def _memory(tensor: torch.Tensor) -> int:
    """The number of a tensor's memory; its own where it has none."""
    return tensor.untyped_storage().data_ptr() if tensor.layout is torch.strided else id(tensor)


def _content(tensor: torch.Tensor) -> tuple[Hashable, ...]:
    """The identity of a tensor that no call has made: its content."""
    if tensor.layout is not torch.strided:
        return (id(tensor),)
    raw = tensor.detach().contiguous().reshape(-1).view(torch.uint8)
    return str(tensor.dtype), tuple(tensor.shape), zlib.crc32(raw.numpy().tobytes())
