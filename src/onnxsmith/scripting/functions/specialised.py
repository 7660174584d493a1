"""The specialising call of jitted scripts, jitted numpy code and gradients: a function becomes a model for each call.

The arguments of a call are taken apart into leaves: inputs of a model, and options that a model is made for. Their key
leads to what was made before. The cache with its bound and lock is here, and so are the calls on arrays alone, which
are found at once. So are the choice of a runtime, the record of what the function reads from around it, and the numbers
that become inputs. A subclass says how arguments are taken apart, and how a model is made.
"""

from __future__ import annotations

import contextlib
import operator
import types
from collections.abc import Callable, Generator, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, Protocol, TypeAlias, TypeVar

import numpy as np

from onnxsmith.core.call_cache import CHOICE, CallCache, are_arrays
from onnxsmith.core.user_values import UserValue
from onnxsmith.diagnostics import hide_frames_between, hide_own_frames
from onnxsmith.errors import InputTypeError, OnnxsmithError
from onnxsmith.scripting.staging.plain_outside import HoldsFunction
from onnxsmith.scripting.staging.script_values import Held

MadeT = TypeVar("MadeT")

#: A call on arrays alone, in order.
ArraysCall: TypeAlias = Callable[[tuple[Any, ...]], Any]

#: How many forms of calls of one function are known, and how many results of specialising it.
LIMIT = 256
_INT64 = range(-(1 << 63), 1 << 63)
#: Of these an object never changes.
UNCHANGING = (str, bytes, bool, int, float, complex, type, np.dtype, types.NoneType, types.EllipsisType)


class Watch(Protocol):
    """The objects around a function, as they were."""

    #: Each says if one of them has changed since.
    checks: Sequence[Callable[[], bool]]

    def changed(self) -> str | None:
        """The name of what has changed since; None where nothing has."""
        ...


@dataclass(slots=True)
class Numbers:
    """The whole numbers that a function has been given: which of them are inputs, and which it must know.

    >>> numbers = Numbers()
    >>> [numbers.is_input("n", value) for value in (3, 3, 4, 3)]
    [False, False, True, True]
    """

    seen: dict[str, int] = field(default_factory=dict[str, int])
    inputs: set[str] = field(default_factory=set[str])
    #: Numbers that the code needs when the model is made, and why.
    needed: dict[str, str] = field(default_factory=dict[str, str])

    def is_input(self, name: str, value: Held) -> bool:
        """True if an argument is a number that is an input, which the function does not need to know.

        Floats are inputs, and whole numbers are from their second value on: those decide axes, sizes and counts.
        """
        if name in self.needed:
            return False
        if type(value) is not int or value not in _INT64:
            return type(value) is float
        if self.seen.setdefault(name, value) != value:
            self.inputs.add(name)
        return name in self.inputs

    @contextlib.contextmanager
    def known(self, names: Iterable[str], why: str) -> Generator[None]:
        """Within the block some numbers are known when a model is made; and from then on, if nothing is raised."""
        before = dict(self.needed)
        self.needed.update(dict.fromkeys(names, why))
        self.inputs.difference_update(names)
        try:
            yield
        except BaseException:
            self.needed = before  # they were not why
            raise


def refused_class(name: str, value: Held) -> InputTypeError:
    """The error for a class of arrays of the user's."""
    return InputTypeError(
        f"'{name}' is a {type(value).__name__}, whose operators mean something else than those of an array",
        help=f"give its elements: np.asarray({name})",
    )


class Specialised(HoldsFunction, Generic[MadeT]):
    """The base of callables that run a function as models."""

    #: What the arrays of two calls have in common that run the same model.
    _form_of: ClassVar[operator.attrgetter[tuple[Hashable, ...]]]

    def __init__(self) -> None:
        #: By the choice of a runtime and the forms of the arrays.
        self._arrays_calls: CallCache[ArraysCall] = CallCache(LIMIT)
        self._find = self._arrays_calls.find
        #: By the key of all arguments.
        self._made: CallCache[MadeT] = CallCache(LIMIT)
        self._numbers = Numbers()
        #: The objects that the function takes from around it, as they were when the models were made.
        self._outside: Watch | None = None
        #: The objects that were seen to be other ones since, and how often.
        self._changes: dict[str, int] = {}

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        try:
            if self._outside is not None:
                for is_changed in self._outside.checks:
                    if is_changed():
                        self._look_outside()
                        break
            if not kwargs and are_arrays(map(type, args)):
                call = self._find((CHOICE.get(), *map(self._form_of, args)))
                if call is not None:
                    return call(args)
            return self._general(args, kwargs)
        except OnnxsmithError as error:
            error.locate_at_caller()
            hide_own_frames(error)
            raise
        except Exception as error:  # inline, not a `boundary`: this call is made to cost little
            hide_frames_between(error)
            raise

    def _general(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> UserValue:
        """A call in any form."""
        raise NotImplementedError

    def _look_outside(self) -> None:
        """Forget all models where something around the function is another one: it runs with that, too."""
        changed = None if self._outside is None else self._outside.changed()
        if changed is not None:
            self._note_change(changed)
            self._arrays_calls.clear()
            self._made.clear()
            self._outside = None

    def _note_change(self, name: str) -> None:
        self._changes[name] = self._changes.get(name, 0) + 1

    def _learn(self, args: Sequence[Any], call: ArraysCall) -> None:
        """Find calls on such arrays at once, if the arguments are arrays whose elements decide nothing."""
        if are_arrays(map(type, args)) and all(
            each.dtype.isnative and not each.dtype.hasobject for each in args
        ):
            self._arrays_calls.put((CHOICE.get(), *map(self._form_of, args)), call)
