"""Pictures of objects that tell their state, most of which belong to libraries or to the process.

Random generators, files in memory, the environment, decimal's context; tensors of PyTorch, which count their changes.
No library is imported for it: what is not loaded has not been changed.
"""

from __future__ import annotations

import io
import os
import sys
import types
from collections.abc import Collection, Iterable, Iterator, Mapping, MutableMapping
from typing import TYPE_CHECKING, Protocol, TypeAlias, cast

from onnxsmith.core.value import Array
from onnxsmith.scripting.staging.snapshots import Picture, StatePicture

if TYPE_CHECKING:
    import decimal
    import random

    import numpy as np

#: A tensor of PyTorch up to this many elements is copied, so that it can be put back.
_COPIED = 1 << 16
#: What decimal computes by. Its flags are left out: they say what happened, and decide nothing.
_DECIMAL = ("prec", "rounding", "Emin", "Emax", "capitals", "clamp")
#: Names by which code changes the context of decimal, or computes with it.
_OF_DECIMAL = frozenset(["decimal", "Decimal", "getcontext", "setcontext", "localcontext"])
#: A context of decimal, its settings, and what it raises.
_Decimal: TypeAlias = (
    "tuple[decimal.Context, dict[str, int | str], dict[type[decimal.DecimalException], bool]]"
)


class TorchTensor(Protocol):
    """The attributes of a tensor of PyTorch that are used here."""

    @property
    def _version(self) -> int: ...
    @property
    def data(self) -> TorchTensor: ...
    def numel(self) -> int: ...
    def clone(self) -> TorchTensor: ...
    def copy_(self, other: TorchTensor) -> TorchTensor: ...


class TorchGenerator(Protocol):
    """The methods of a random generator of PyTorch that are used here."""

    def get_state(self) -> _State: ...
    def set_state(self, state: _State) -> TorchGenerator: ...


class _State(Protocol):
    """A tensor of bytes."""

    def numpy(self) -> Array: ...


class TorchPicture(Picture):
    """A tensor of PyTorch: how often it was changed in place, and its content where that is small."""

    __slots__ = ("_content", "_version")

    def __init__(self, owner: TorchTensor) -> None:
        super().__init__(owner)
        self._version = self._count()
        self._content = owner.data.clone() if owner.numel() <= _COPIED else None

    def _count(self) -> int | None:
        try:
            return cast(TorchTensor, self.owner)._version  # pyright: ignore[reportPrivateUsage]  # PyTorch's only name for it
        except RuntimeError:  # one made in inference mode does not count
            return None

    def is_changed(self) -> bool:
        """True if it was changed in place."""
        return self._count() != self._version

    def put_back(self) -> None:
        """The content; the count stays, and is what is compared with from now on."""
        if self._content is not None:
            cast(TorchTensor, self.owner).data.copy_(self._content)
        self._version = self._count()


def picture_of_environment(owner: MutableMapping[str, str]) -> StatePicture[dict[str, str]]:
    """The environment variables; put back where other programs see them, too."""

    def write(before: dict[str, str]) -> None:
        for name in [each for each in os.environ if each not in before]:
            del os.environ[name]
        os.environ.update(before)

    return StatePicture(owner, lambda: dict(os.environ), write)


def picture_of_random(owner: random.Random) -> StatePicture[tuple[object, ...]]:
    """A generator of the random module."""
    return StatePicture(owner, owner.getstate, owner.setstate)


def picture_of_bits(owner: np.random.BitGenerator) -> StatePicture[Mapping[str, object]]:
    """A picture of the source of bits of numpy's generators."""

    def write(state: Mapping[str, object]) -> None:
        owner.state = state

    return StatePicture(owner, lambda: owner.state, write)


def picture_of_text(owner: io.StringIO | io.BytesIO) -> StatePicture[tuple[object, ...] | None]:
    """A file in memory: its content and position."""

    def read() -> tuple[object, ...] | None:
        return None if owner.closed else cast("tuple[object, ...]", owner.__getstate__())

    def write(state: tuple[object, ...] | None) -> None:
        if state is not None and not owner.closed:
            getattr(owner, "__setstate__")(state)  # noqa: B009  # which the stubs do not know

    return StatePicture(owner, read, write)


def shared_generators(met: Iterable[object]) -> Iterator[tuple[str, object]]:
    """The random generators of modules, by what they are called; PyTorch's only where something of it was met."""
    for module, held in (("random", "_inst"), ("numpy.random.mtrand", "_rand")):
        if module in sys.modules:
            yield "random", vars(sys.modules[module])[held]
    if "torch" in sys.modules and any(map(_is_of_torch, met)):
        yield "torch", vars(sys.modules["torch"]).get("default_generator")


def _is_of_torch(value: object) -> bool:
    kind = type(value)  # not isinstance(), which asks what a weak proxy stands for, and that may be gone
    name = kind.__module__
    if issubclass(kind, types.ModuleType):
        name = cast(types.ModuleType, value).__name__
    elif issubclass(kind, type | types.FunctionType):
        # Code that was executed by itself belongs to no module.
        name = cast("type | types.FunctionType", value).__module__ or ""
    return name.partition(".")[0] == "torch"


def picture_of_torch_generator(owner: TorchGenerator) -> StatePicture[bytes]:
    """A random generator of PyTorch."""

    def read() -> bytes:
        return owner.get_state().numpy().tobytes()

    def write(state: bytes) -> None:
        torch = sys.modules["torch"]
        owner.set_state(torch.frombuffer(bytearray(state), dtype=torch.uint8))

    return StatePicture(owner, read, write)


def picture_of_decimal(names: Collection[str]) -> StatePicture[_Decimal] | None:
    """A picture of decimal's context, where code names something that changes it or computes by it."""
    module = sys.modules.get("decimal")
    if module is None or _OF_DECIMAL.isdisjoint(names):
        return None

    def read() -> _Decimal:
        context = cast("decimal.Context", module.getcontext())
        return context, {name: getattr(context, name) for name in _DECIMAL}, dict(context.traps)

    def write(state: _Decimal) -> None:
        context, settings, traps = state
        for name, value in settings.items():
            setattr(context, name, value)
        context.traps.update(traps)
        module.setcontext(context)

    return StatePicture(module, read, write)
