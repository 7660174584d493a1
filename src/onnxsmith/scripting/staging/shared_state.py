"""Pictures of what belongs to libraries and to the process, and is changed without being held by a variable.

Random generators of modules, the environment, decimal's context; tensors of PyTorch, which count their changes. No
library is imported for it: what is not loaded has not been changed.
"""

from __future__ import annotations

import os
import sys
import types
from collections.abc import Collection, Iterable, Iterator
from typing import TYPE_CHECKING, Protocol, cast

from onnxsmith.scripting.staging.pictures import Picture, StatePicture

if TYPE_CHECKING:
    import decimal

#: A tensor of PyTorch up to this many elements is copied, so that it can be put back.
_COPIED = 1 << 16
#: What decimal computes by. Its flags are left out: they say what happened, and decide nothing.
_DECIMAL = ("prec", "rounding", "Emin", "Emax", "capitals", "clamp")


class _TorchTensor(Protocol):
    """What is asked of a tensor of PyTorch."""

    @property
    def _version(self) -> int: ...
    @property
    def data(self) -> _TorchTensor: ...
    def numel(self) -> int: ...
    def clone(self) -> _TorchTensor: ...
    def copy_(self, other: _TorchTensor) -> object: ...


class TorchPicture(Picture):
    """A tensor of PyTorch: how often it was changed in place, and its content where that is small."""

    __slots__ = ("_content", "_version")

    def __init__(self, owner: object) -> None:
        super().__init__(owner)
        tensor = cast(_TorchTensor, owner)
        self._version = self._count()
        self._content = tensor.data.clone() if tensor.numel() <= _COPIED else None

    def _count(self) -> int | None:
        try:
            return cast(_TorchTensor, self.owner)._version  # pyright: ignore[reportPrivateUsage]  # PyTorch's only name for it
        except RuntimeError:  # one made in inference mode does not count
            return None

    def is_changed(self) -> bool:
        """Whether it was changed in place."""
        return self._count() != self._version

    def put_back(self) -> None:
        """The content; the count stays, and is what is compared with from now on."""
        if self._content is not None:
            cast(_TorchTensor, self.owner).data.copy_(self._content)
        self._version = self._count()


def picture_of_environment(owner: object) -> StatePicture:
    """The environment variables; put back where other programs see them, too."""

    def write(state: object) -> None:
        before = cast("dict[str, str]", state)
        for name in [each for each in os.environ if each not in before]:
            del os.environ[name]
        os.environ.update(before)

    return StatePicture(owner, lambda: dict(os.environ), write)


def shared_generators(met: Iterable[object]) -> Iterator[tuple[str, object]]:
    """The random generators of modules, by what they are called; PyTorch's only where something of it was met."""
    for module, held in (("random", "_inst"), ("numpy.random.mtrand", "_rand")):
        if module in sys.modules:
            yield "random", vars(sys.modules[module])[held]
    if "torch" in sys.modules and any(map(_is_of_torch, met)):
        yield "torch", vars(sys.modules["torch"]).get("default_generator")


def _is_of_torch(value: object) -> bool:
    name = value.__name__ if isinstance(value, types.ModuleType) else type(value).__module__
    if isinstance(value, type | types.FunctionType):
        name = value.__module__
    return name.partition(".")[0] == "torch"


def picture_of_torch_generator(owner: object) -> StatePicture:
    """A random generator of PyTorch."""

    def read() -> object:
        return bytes(getattr(owner, "get_state")().numpy())  # noqa: B009  # PyTorch may be missing, and its types with it

    def write(state: object) -> None:
        torch = sys.modules["torch"]
        content = torch.frombuffer(bytearray(cast(bytes, state)), dtype=torch.uint8)
        getattr(owner, "set_state")(content)  # noqa: B009

    return StatePicture(owner, read, write)


def picture_of_decimal(names: Collection[str]) -> StatePicture | None:
    """What decimal computes by, where code names what changes that."""
    module = sys.modules.get("decimal")
    if module is None or not {"getcontext", "setcontext"} & set(names):
        return None

    def read() -> object:
        context = cast("decimal.Context", module.getcontext())
        return context, {name: getattr(context, name) for name in _DECIMAL}, dict(context.traps)

    def write(state: object) -> None:
        context, settings, traps = cast("tuple[decimal.Context, dict[str, int], dict[type, bool]]", state)
        for name, value in settings.items():
            setattr(context, name, value)
        context.traps.update(traps)  # pyright: ignore[reportArgumentType, reportCallIssue]
        module.setcontext(context)

    return StatePicture(module, read, write)
