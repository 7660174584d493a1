"""Arguments of a call by the names of parameters, as Python binds them: of functions, scripts and models alike."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from onnxsmith.core.user_values import UserValue
from onnxsmith.errors import CallError
from onnxsmith.graphs.model import Model
from onnxsmith.scripting.functions.definition import ScriptDefinition

_BY_POSITION = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


@dataclass(frozen=True, slots=True)
class Bound:
    """The arguments of a call, one by one: those of `*args` and `**kwargs` have a name each."""

    names: list[str]
    values: list[UserValue]
    #: The parameters that they belong to; None where all go by position.
    signature: inspect.Signature | None = None
    counts: tuple[tuple[str, int], ...] = ()

    def handed(self, values: Sequence[Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Other values, one for each, as the function is called with them."""
        if self.signature is None:
            return tuple(values), {}
        left = iter(zip(self.names, values, strict=True))
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
        return Bound([f"input_{k}" for k in range(len(args))], list(args))
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
    return Bound(names, values, signature, tuple(counts))


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
