"""Arguments of a call by the names of parameters, as Python binds them: of functions, scripts and models alike.

Of a list, tuple, dict or dataclass that holds arrays each part is an argument of its own, as `onnxsmith.numpy.jit`
takes them: the same mechanism takes containers apart and puts them together.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

import numpy as np

from onnxsmith.core.operands import has_numpys_meaning
from onnxsmith.core.semantics.number import Number
from onnxsmith.core.user_values import UserValue
from onnxsmith.core.value import Value
from onnxsmith.errors import CallError
from onnxsmith.graphs.model import Model
from onnxsmith.scripting.functions.definition import ScriptDefinition
from onnxsmith.scripting.staging.script_values import Held
from onnxsmith.scripting.staging.structure import Slot, parts, rebuilt, taking_apart, unflatten
from onnxsmith.tracing.model_maker import MakesModels
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import TensorType

_BY_POSITION = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


@dataclass(frozen=True, slots=True)
class Bound:
    """The arguments of a call, one by one: parts of `*args`, `**kwargs` and of containers have a name each."""

    names: list[str]
    values: list[UserValue]
    #: The parameters that they belong to; None where all go by position.
    signature: inspect.Signature | None = None
    counts: tuple[tuple[str, int], ...] = ()
    #: The arguments as they were given: the name of each, and its form with a `Slot` for each of the values.
    forms: tuple[tuple[str, Held], ...] = ()

    @property
    def has_containers(self) -> bool:
        """True if an argument has parts."""
        return any(not isinstance(form, Slot) for _, form in self.forms)

    @property
    def given(self) -> list[str]:
        """The names of the arguments as they were given."""
        return [name for name, _ in self.forms] if self.forms else self.names

    def form(self, name: str) -> Held:
        """The form of a given argument."""
        forms = dict(self.forms)
        return forms[name] if forms else Slot(self.names.index(name))

    def leaves(self, name: str) -> list[str]:
        """The names of the parts of a given argument by which there can be a gradient."""
        form = self.form(name)
        positions = list(_slots(form))
        if isinstance(form, Slot):
            return [self.names[form.position]]
        return [self.names[each] for each in positions if _is_real(self.values[each])]

    def handed(self, values: Sequence[Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Other values, one for each, as the function is called with them."""
        names: Sequence[str] = self.names
        if self.forms:
            names = [name for name, _ in self.forms]
            values = [unflatten(form, values) for _, form in self.forms]
        if self.signature is None:
            return tuple(values), {}
        left = iter(zip(names, values, strict=True))
        arguments: dict[str, Any] = {}
        for name, count in self.counts:
            part = [next(left) for _ in range(count)]
            kind = self.signature.parameters[name].kind
            if kind is inspect.Parameter.VAR_POSITIONAL:
                arguments[name] = tuple(value for _, value in part)
            elif kind is inspect.Parameter.VAR_KEYWORD:
                arguments[name] = dict(part)
            else:
                arguments[name] = part[0][1]
        found = inspect.BoundArguments(self.signature, cast(Any, arguments))
        return found.args, found.kwargs


def bind(
    function: Callable[..., Any],
    args: Sequence[UserValue],
    kwargs: Mapping[str, UserValue],
    signature: inspect.Signature | None = None,
) -> Bound:
    """The arguments of a call by name; CallError where the function does not take them.

    `signature` is that of the function, for callers that have it: reading it takes as long as all the rest.
    """
    if isinstance(function, Model | ScriptDefinition):
        return _of_inputs(function, args, kwargs)
    signature = signature or signature_of(function)
    if signature is None:
        if kwargs:
            raise CallError(
                f"there is no argument {next(iter(kwargs))!r} to give", help="give it by position"
            )
        return _taken_apart(function, Bound([f"input_{k}" for k in range(len(args))], list(args)))
    try:
        bound = signature.bind(*args, **kwargs)
    except TypeError as error:
        raise _refused(signature, args, kwargs, error) from None
    names: list[str] = []
    values: list[UserValue] = []
    counts: list[tuple[str, int]] = []
    for name, value in bound.arguments.items():
        kind = signature.parameters[name].kind
        found: list[tuple[str, UserValue]] = [(name, value)]
        if kind is inspect.Parameter.VAR_POSITIONAL:
            found = [(f"{name}_{k}", each) for k, each in enumerate(value)]
        elif kind is inspect.Parameter.VAR_KEYWORD:
            found = list(value.items())
        names += (each for each, _ in found)
        values += (each for _, each in found)
        counts.append((name, len(found)))
    with taking_apart():
        return _taken_apart(function, Bound(names, values, signature, tuple(counts)))


def _taken_apart(function: Callable[..., Any], bound: Bound) -> Bound:
    """The same arguments with the parts of containers one by one."""
    # Code for numpy has lists of numbers; elsewhere these are an array, or an option.
    is_leaf = _is_number if isinstance(function, MakesModels) else _is_array
    if not any(_is_container(each, is_leaf) for each in bound.values):
        return bound
    names: list[str] = []
    values: list[UserValue] = []
    taken = set(bound.names)

    def apart(value: Held, name: str, *, is_part: bool) -> Held:
        inner = parts(value) if _is_container(value, is_leaf) else None
        if inner is not None:
            return rebuilt(value, [apart(each, f"{name}_{key}", is_part=True) for key, each in inner])
        while is_part and name in taken:
            name += "_"
        taken.add(name)
        names.append(name)
        values.append(cast(UserValue, value))
        return Slot(len(values) - 1)

    pairs = zip(bound.names, bound.values, strict=True)
    forms = tuple((name, apart(value, name, is_part=False)) for name, value in pairs)
    return Bound(names, values, bound.signature, bound.counts, forms)


def _is_container(value: object, is_leaf: Callable[[object], bool]) -> bool:
    """True for what is taken apart: a dict or dataclass, and a list or tuple with something in it that is a leaf."""
    if isinstance(value, type | Value | TensorType) or hasattr(value, "__array__"):
        return False
    inner = parts(cast(Held, value))
    if inner is None:
        return False
    if not isinstance(value, list | tuple):
        return True
    return any(is_leaf(each) or _is_container(each, is_leaf) for _, each in inner)


def _is_array(value: object) -> bool:
    if isinstance(value, type):
        return False
    return isinstance(value, np.ndarray | Value | TensorType) or has_numpys_meaning(value)


def _is_number(value: object) -> bool:
    """True for what there can be a gradient by."""
    return _is_array(value) or isinstance(value, float | np.generic | Number)


def _is_real(value: object) -> bool:
    """True for a part of a container by which there is a gradient: whole numbers and truth values have none."""
    if not _is_number(value):
        return False
    dtype = getattr(value, "dtype", None)
    if isinstance(dtype, DType):
        return dtype.kind in ("float", "complex")
    return not (isinstance(dtype, np.dtype) and cast("np.dtype[np.generic]", dtype).kind in "iub")


def _slots(form: Held) -> Iterator[int]:
    if isinstance(form, Slot):
        yield form.position
        return
    for _, each in parts(form) or ():
        yield from _slots(each)


class Left(NamedTuple):
    """The arguments of a call that are left."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]


def attributes_of(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[dict[str, Any], Left]:
    """The arguments of a call that are attributes of a script, by name, and the others."""
    own = (
        {each.name for each in function.parameters.attributes}
        if isinstance(function, ScriptDefinition)
        else ()
    )
    if not own or not isinstance(function, ScriptDefinition):
        return {}, Left(args, kwargs)
    names = [each.name for each in function.parameters.parameters]
    by_position = [*zip(names, args, strict=False)]
    twice = next((name for name, _ in by_position if name in own and name in kwargs), None)
    if twice is not None:
        raise _twice(twice)
    options = {name: value for name, value in (*by_position, *kwargs.items()) if name in own}
    left = (*(value for name, value in by_position if name not in own), *args[len(names) :])
    return options, Left(left, {name: value for name, value in kwargs.items() if name not in own})


def with_attributes(script: Callable[..., Any], options: Mapping[str, Any]) -> Callable[..., Any]:
    """A function of the inputs of a script, with values for some of its attributes."""

    def given(*args: Any, **kwargs: Any) -> Any:
        return script(*args, **kwargs, **options)

    given.__name__ = script.__name__
    given.__signature__ = signature_of(script)  # type: ignore[attr-defined]  # that of the inputs
    return given


def signature_of(function: Callable[..., Any]) -> inspect.Signature | None:
    """The parameters of a function, script or model; None for a builtin that does not say."""
    if isinstance(function, Model | ScriptDefinition):
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        names = _inputs(function)[0]
        if not all(name.isidentifier() for name in names):
            return None
        return inspect.Signature([inspect.Parameter(name, kind) for name in names])
    try:
        return inspect.signature(function)
    except (TypeError, ValueError):  # builtins without a signature
        return None


def _inputs(function: Model | ScriptDefinition) -> tuple[list[str], int]:
    """The inputs by name, and how many must be given."""
    if isinstance(function, Model):
        names = [each.name for each in function.inputs]
        return names, len(names)
    inputs = function.parameters.inputs
    return [each.name for each in inputs], sum(not (each.has_default or each.is_optional) for each in inputs)


def _of_inputs(
    function: Model | ScriptDefinition, args: Sequence[UserValue], kwargs: Mapping[str, UserValue]
) -> Bound:
    names, needed = _inputs(function)
    for name in names[: len(args)]:
        if name in kwargs:
            raise _twice(name)
    count = len(args) + len(kwargs)
    if len(names) < count:
        raise _too_many(count, names)
    if count < needed:
        given = {*names[: len(args)], *kwargs}
        missing = next((name for name in names if name not in given), names[-1])
        raise CallError(f"argument {missing!r} is missing", help=f"its arguments are {', '.join(names)}")
    names = names[:count]
    given = dict(zip(names, args, strict=False))
    unknown = [name for name in kwargs if name not in names]
    if unknown:
        raise _unknown(unknown[0], names)
    given.update(kwargs)
    return Bound(names, [given[name] for name in names])


def _refused(
    signature: inspect.Signature,
    args: Sequence[UserValue],
    kwargs: Mapping[str, UserValue],
    error: TypeError,
) -> CallError:
    """The error for a call that Python would refuse."""
    parameters = signature.parameters
    names = list(parameters)
    by_position = [name for name, each in parameters.items() if each.kind in _BY_POSITION]
    takes_any = any(each.kind is each.VAR_KEYWORD for each in parameters.values())
    for name in by_position[: len(args)]:
        if name in kwargs and parameters[name].kind is not inspect.Parameter.POSITIONAL_ONLY:
            return _twice(name)
    unknown = [name for name in kwargs if name not in parameters or name in by_position[: len(args)]]
    if unknown and not takes_any:
        return _unknown(unknown[0], names)
    if len(args) > len(by_position) and not any(
        each.kind is each.VAR_POSITIONAL for each in parameters.values()
    ):
        return _too_many(len(args), by_position)
    return CallError(f"{error}", help=f"its arguments are {', '.join(names)}")


def _unknown(name: str, names: Sequence[str]) -> CallError:
    return CallError(f"there is no argument {name!r} to give", help=f"its arguments are {', '.join(names)}")


def _twice(name: str) -> CallError:
    return CallError(
        f"argument {name!r} is given twice, by position and by name", help="leave one of them out"
    )


def _too_many(count: int, names: Sequence[str]) -> CallError:
    return CallError(f"{count} arguments were given, and there are {len(names)}: {', '.join(names)}")


def gradient_signature(own: inspect.Signature | None, word: str | None) -> inspect.Signature | None:
    """The parameters of a gradient: those of the function, and `word`, its cotangent or tangent."""
    if own is None or word is None or word in own.parameters:
        return own
    parameters = list(own.parameters.values())
    has_rest = bool(parameters) and parameters[-1].kind is inspect.Parameter.VAR_KEYWORD
    rest = [parameters.pop()] if has_rest else []
    added = inspect.Parameter(word, inspect.Parameter.KEYWORD_ONLY)
    return own.replace(parameters=[*parameters, added, *rest])
