"""`onnxsmith.numpy.jit`: plain numpy code as one session, made once per element types, ranks and options.

Floats are inputs of the session, and so are whole numbers from the second value on. Where the code needs a number when
the model is made (an axis, a number of digits), there is a session for each value. `report` lists the sessions, with
the reason for each.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import operator
import sys
import weakref
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, ParamSpec, TypeVar, cast, overload

import numpy as np

from onnxsmith.core.user_values import UserValue
from onnxsmith.diagnostics import shown_as
from onnxsmith.errors import AttributeValueError, MutationError, OnnxsmithError
from onnxsmith.graphs.model import Model
from onnxsmith.numpy.registry import entry_point
from onnxsmith.scripting.dialects.numpy.annotated import has_sizes, hints_of, met_value, refuse_contradiction
from onnxsmith.scripting.dialects.numpy.arguments import Call, bound_arguments
from onnxsmith.scripting.dialects.numpy.dialect import StandsFor
from onnxsmith.scripting.dialects.numpy.inside import recorded_call
from onnxsmith.scripting.dialects.numpy.models import plain_model
from onnxsmith.scripting.dialects.numpy.recording import (
    PlainFunction,
    Recording,
    plain_function,
    written_back,
)
from onnxsmith.scripting.dialects.numpy.results import as_tensors
from onnxsmith.scripting.functions.specialised import ArraysCall, Numbers, Specialised, Watch
from onnxsmith.scripting.staging.closures import has_symbolic
from onnxsmith.scripting.staging.outside import Outside
from onnxsmith.scripting.staging.structure import taking_apart
from onnxsmith.tracing.model_maker import MakesModels

P = ParamSpec("P")
R = TypeVar("R")


class _Made(NamedTuple):
    """The model for a key, and the objects that it was made for, as they were then."""

    recording: Recording
    objects: Watch | None


@shown_as("jitted function")
class Jitted(StandsFor, MakesModels, Specialised[_Made]):
    """A function that `jit` has wrapped."""

    _form_of = operator.attrgetter("dtype", "ndim", "flags.c_contiguous")

    def __init__(self, function: Callable[..., Any], static: Literal["shapes"] | None = None) -> None:
        super().__init__()
        self._plain: PlainFunction = plain_function(function)
        self._static: Literal["shapes"] | None = static
        self._bound: weakref.WeakKeyDictionary[object, Jitted] = weakref.WeakKeyDictionary()
        functools.update_wrapper(self, function, updated=())

    def __reduce__(self) -> tuple[type[Jitted], tuple[object, ...]] | str:
        """The sessions are made anew; a decorated function is found under its own name."""
        name: str = vars(self).get("__qualname__", "")
        if name and getattr(sys.modules.get(self.__module__), name, None) is self:
            return name
        return Jitted, (self.__wrapped__, self._static)

    def __get__(self, instance: object, owner: type | None = None) -> Jitted:
        """A jitted function in a class is a method: its object is part of what a model is made for."""
        if instance is None:
            return self
        try:
            found = self._bound.get(instance)
            if found is None:
                found = self._bound[instance] = Jitted(self.__wrapped__.__get__(instance), self._static)
        except TypeError:  # an object without a hash, or that cannot be referred to weakly
            return Jitted(self.__wrapped__.__get__(instance), self._static)
        return found

    def model_for(self, types: Sequence[object], named: Mapping[str, object]) -> tuple[Model, object]:
        """The model of the function, as `to_model` makes it, and what the function gives."""
        return plain_model(self.__wrapped__, types, named)

    def watch(self) -> Watch:
        """The globals, attributes and arrays that the function reads, as they are now."""
        return Outside(self.__wrapped__)

    # -- what a session is made for ----------------------------------------------------------------------

    def _general(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> UserValue:
        if has_symbolic((*args, *kwargs.values())):
            return recorded_call(self.__wrapped__, args, kwargs)
        given = bound_arguments(self._plain.signature, args, kwargs)
        self._check_annotations(given)
        call, template = self._taken_apart(given)
        # By insertion, so that people see sessions in the order in which they were made.
        made = self._made.find(self._key(given, call))
        if made is not None and made.objects is not None and (name := made.objects.changed()) is not None:
            self._note_change(name)
            made = None
        if made is None:
            if self._outside is None:
                self._outside = self.watch()
            objects = Outside(self.__wrapped__, call.objects) if call.objects else None
            call, recording = self._recorded(given, call, template)
            made = _Made(recording, objects if call.objects else None)
            self._made.put(self._key(given, call), made)
        found = made.recording
        if found.written:
            _refuse_shared(call, found.written)
        result, new = found(call.feeds)
        if not kwargs and not found.written and self._static is None and not has_sizes(self._hints):
            self._learn(args, found.on_arrays())
        if new:
            written_back(call.given, dict(zip(found.written, new, strict=True)))
        return cast(UserValue, as_tensors(result) if call.gives_tensors else result)

    def _learn(self, args: Sequence[Any], call: ArraysCall) -> None:
        # Complex numbers are fed as pairs, and the order of elements in memory decides what is a view.
        arrays: list[np.ndarray[Any, Any]] = [each for each in args if type(each) is np.ndarray]
        if all(each.dtype.kind != "c" and each.flags.c_contiguous for each in arrays):
            super()._learn(args, call)

    @functools.cached_property
    def _hints(self) -> dict[str, object]:
        """The annotations of parameters that take one argument each."""
        several = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
        parameters = self._plain.signature.parameters
        return {
            name: hint
            for name, hint in hints_of(self._plain).items()
            if name in parameters and parameters[name].kind not in several
        }

    def _check_annotations(self, given: dict[str, Any]) -> None:
        """Refuse arguments that contradict the annotations of their parameters."""
        for name, hint in self._hints.items():
            if name in given:
                refuse_contradiction(self._plain, name, hint, met_value(given[name]), "the call")

    def _taken_apart(self, given: dict[str, Any]) -> tuple[Call, dict[str, Any]]:
        call = Call(self._numbers, has_sizes=self._static == "shapes")
        with taking_apart():
            return call, {name: call.take_apart(each, name) for name, each in given.items()}

    @staticmethod
    def _key(given: dict[str, Any], call: Call) -> tuple[Hashable, ...]:
        return ("call", tuple(given), *call.key)

    def _recorded(
        self, given: dict[str, Any], call: Call, template: dict[str, Any]
    ) -> tuple[Call, Recording]:
        """A session for a call; numbers that cannot be inputs are part of what it is made for."""
        try:
            return call, self._recording(call, template)
        except Exception as error:
            numbers = [leaf.name for leaf in call.leaves if leaf.role == "number"]
            if not numbers:
                self._explain(error, given)
                raise
            try:
                with self._numbers.known(numbers, str(error).partition("\n")[0]):
                    call, template = self._taken_apart(given)
                    return call, self._recording(call, template)
            except Exception as other:
                self._explain(other, given)
                raise other from None

    def _recording(self, call: Call, template: dict[str, Any]) -> Recording:
        made = Recording(self._plain, call.leaves, template, is_model=False)
        unused = made.unused_reads
        if unused:
            with contextlib.suppress(OnnxsmithError):  # an error that cannot be noted here is left out
                return Recording(self._plain, call.leaves, template, is_model=False, noted=unused)
        return made

    def _explain(self, error: Exception, given: dict[str, Any]) -> None:
        """Say where fixed sizes would help."""
        if not isinstance(error, OnnxsmithError) or self._static is not None:
            return
        call = Call(Numbers(), has_sizes=True)
        template = {name: call.take_apart(each, name) for name, each in given.items()}
        try:
            self._recording(call, template)
        except Exception:
            return
        advice = f'with sizes that are fixed it runs: xp.jit({self._plain.name}, static="shapes"), a session for each'
        error.help = advice if error.help is None else f"{error.help};\n{advice}"

    # -- what people see ---------------------------------------------------------------------------------

    @property
    def sessions(self) -> list[str]:
        """A text for each session that was made: element types and ranks of inputs, and values."""
        return [each.recording.form for each in self._made.values()]

    @property
    def report(self) -> str:
        """How many sessions there are, what each is for, and which numbers need one for each value."""
        count = len(self.sessions)
        each_shape = ", one for each shape" if self._static == "shapes" else ""
        lines = [f"{self._plain.name}: {count} session{'s' * (count != 1)}{each_shape}"]
        lines += [f"  ({each})" for each in self.sessions]
        lines += [
            f"  '{name}' is known when a model is made: {why}" for name, why in self._numbers.needed.items()
        ]
        lines += [
            f"  made anew {count} time{'s' * (count != 1)}: {name} was changed"
            for name, count in self._changes.items()
        ]
        return "\n".join(lines)

    def __repr__(self) -> str:
        count = len(self.sessions)
        shapes = ' of static="shapes"' if self._static == "shapes" else ""
        return f"<jit {self._plain.name}{self._plain.signature}, {count} session{'s' * (count != 1)}{shapes}>"


def _refuse_shared(call: Call, written: Sequence[int]) -> None:
    """Refuse arguments that share elements with one that is written to: the model has each for itself."""
    for position in written:
        one = call.given.get(position)
        if one is None and call.gives_tensors:
            name = call.leaves[position].name
            raise MutationError(
                f"the function writes to '{name}', which is a tensor, and a tensor keeps its elements",
                help=f"write to a copy in the function: {name} = {name}.copy()",
            )
        for other, array in call.given.items():
            if one is not None and other != position and np.may_share_memory(one, array):
                names = call.leaves[position].name, call.leaves[other].name
                raise MutationError(
                    f"the function writes to '{names[0]}', which shares its elements with '{names[1]}'",
                    help="give copies: x.copy()",
                )


@overload
def jit(function: Callable[P, R], /, *, static: Literal["shapes"] | None = None) -> Callable[P, R]: ...
@overload
def jit(*, static: Literal["shapes"] | None = None) -> Callable[[Callable[P, R]], Callable[P, R]]: ...
@entry_point
def jit(function: Callable[..., Any] | None = None, /, *, static: Literal["shapes"] | None = None) -> Any:
    """A plain function of numpy code as one session, for arrays of any size.

    The code may do what numpy code does: make arrays, write to them, decide by sizes and elements, loop, call helpers
    of any module. Results are numpy's, and so is what is written to arguments. A session is made for the element types
    and ranks of a call, and for the values of what is no number; sizes and numbers are left open. Globals, attributes
    and arrays that the code finds around it are looked at in each call: where they are changed, sessions are made anew.
    Code that needs sizes known runs with `static="shapes"`: then there is a session for each shape. `f.report` tells
    which there are.

    >>> import numpy as np
    >>> import onnxsmith.numpy as xp
    >>> @xp.jit
    ... def spread(x):
    ...     return np.sqrt(((x - x.mean(axis=0)) ** 2).mean(axis=0))
    >>> spread(np.array([[1.0, 2.0], [3.0, 6.0]]))
    array([1., 2.])
    >>> spread
    <jit spread(x), 1 session>
    """
    if static not in (None, "shapes"):
        raise AttributeValueError(
            f'static is "shapes" or left out, not {static!r}',
            help="sizes are open unless they are static; all that is no number is always known",
            culprit=("attribute", "static"),
        )
    if function is None:
        return functools.partial(jit, static=static)
    return cast(Any, Jitted(function, static))
