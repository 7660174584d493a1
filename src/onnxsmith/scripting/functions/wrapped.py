"""Callables that are no plain functions, as functions that a script can be made of.

A decorator that keeps `__wrapped__` has the parameters of what it wraps, and a body of its own; a `partial` has some of
the parameters. For each a function is written that has these parameters and calls it.
"""

from __future__ import annotations

import functools
import gc
import inspect
import linecache
import types
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeGuard, cast

from onnxsmith.errors import CallError, boundary
from onnxsmith.scripting.functions.signature import with_evaluated_annotations
from onnxsmith.scripting.source.function_source import unwrapped
from onnxsmith.scripting.source.outside import is_user_code
from onnxsmith.scripting.staging.script_values import Function

if TYPE_CHECKING:
    from onnxsmith.scripting.functions.definition import ScriptDefinition

_CALLED = "_called"


def plain_function(function: Function) -> types.FunctionType | None:
    """The function to make a script of; None for what is no Python function."""
    if isinstance(function, types.FunctionType) and not hasattr(function, "__wrapped__"):
        return function
    if isinstance(function, functools.partial):
        return _with_fewer_parameters(cast("functools.partial[Any]", function))
    if _is_wrapper(function):
        return _written(function, inspect.signature(function), unwrapped(function) or function, {})
    if isinstance(function, types.FunctionType):
        return plain_function(cast(Any, function).__wrapped__)  # a library's decorator
    return unwrapped(function)


def _is_wrapper(function: Function) -> TypeGuard[types.FunctionType]:
    """True if a function of the user's stands around another one."""
    is_function = isinstance(function, types.FunctionType) and is_user_code(function)
    return is_function and hasattr(function, "__wrapped__")


def _with_fewer_parameters(partial: functools.partial[Any]) -> types.FunctionType | None:
    inner = partial.func
    behind = unwrapped(inner)
    if behind is None:
        return None
    signature = inspect.signature(partial)
    left = [each for name, each in signature.parameters.items() if name not in partial.keywords]
    given = {f"_given_{position}": each for position, each in enumerate(partial.args)}
    given |= {f"_given_{name}": each for name, each in partial.keywords.items()}
    before = [f"_given_{position}" for position in range(len(partial.args))]
    after = [f"{name}=_given_{name}" for name in partial.keywords]
    return _written(inner, signature.replace(parameters=left), behind, given, before, after)


def _written(
    called: Function,
    signature: inspect.Signature,
    behind: types.FunctionType,
    given: dict[str, Any],
    before: list[str] | None = None,
    after: list[str] | None = None,
) -> types.FunctionType:
    """A function with a signature that calls `called`, named as the function behind it."""
    parameters: list[str] = []
    arguments = list(before or ())
    defaults: dict[str, Any] = {}
    kinds = inspect.Parameter
    for each in signature.parameters.values():
        name = each.name
        if each.kind is kinds.KEYWORD_ONLY and not any(part.startswith("*") for part in parameters):
            parameters.append("*")
        prefix = {kinds.VAR_POSITIONAL: "*", kinds.VAR_KEYWORD: "**"}.get(each.kind, "")
        if each.default is not kinds.empty:
            defaults[f"_default_{name}"] = each.default
            parameters.append(f"{name}=_default_{name}")
        else:
            parameters.append(f"{prefix}{name}")
        arguments.append(f"{name}={name}" if each.kind is kinds.KEYWORD_ONLY else f"{prefix}{name}")
    arguments += after or ()
    text = f"def written({', '.join(parameters)}):\n    return {_CALLED}({', '.join(arguments)})\n"
    code = behind.__code__
    file = f"<{behind.__qualname__} of {code.co_filename}:{code.co_firstlineno}, {id(called)}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    names: dict[str, Any] = {"__name__": behind.__module__, _CALLED: called, **given, **defaults}
    exec(compile(text, file, "exec"), names)
    made: types.FunctionType = names["written"]
    hints = with_evaluated_annotations(behind).__annotations__
    made.__annotations__ = {
        name: hint for name, hint in hints.items() if name == "return" or name in signature.parameters
    }
    made.__name__, made.__qualname__, made.__doc__ = behind.__name__, behind.__qualname__, behind.__doc__
    made.__module__ = behind.__module__
    return made


# -- `to_model` of a function that a decorator made of a script: `@timed` above `@script` --

#: What a decorated function has of a script.
_METHODS = ("to_model", "to_model_proto", "to_function_proto")


def exports_of(script: ScriptDefinition) -> dict[str, Any]:
    """The attributes of a script that decorators copy."""
    return {name: _Export(weakref.ref(script), name) for name in _METHODS}


class _Export:
    """One such method, of whatever function has it."""

    __slots__ = ("_name", "_script")

    def __init__(self, script: Callable[[], ScriptDefinition | None], name: str) -> None:
        self._script = script
        self._name = name

    @boundary
    def __call__(self, **options: Any) -> Any:
        script = self._script()
        owners = [] if script is None else self._owners()
        if script is None or len(owners) != 1 or script.parameters.has_self:
            shown = "obj.method" if script is not None and script.parameters.has_self else "f"
            raise CallError(
                "this function was made of a script by a decorator, and is no script itself",
                help=f"make it one: script({shown}).{self._name}(…), or write @script above the decorator",
            )
        plain = plain_function(owners[0])
        assert plain is not None  # it wraps a script
        made = type(script)(plain, **cast("dict[str, Any]", script.options))
        return getattr(made, self._name)(**options)

    def _owners(self) -> list[Function]:
        """The functions that have this: what copies a `__dict__` does not tell into which."""
        script, found = self._script(), dict[int, Function]()
        for held in gc.get_referrers(self):
            for each in gc.get_referrers(held) if isinstance(held, dict) else [held]:
                attributes = cast("dict[str, object]", getattr(each, "__dict__", {}))
                is_owner = type(attributes) is dict and attributes.get(self._name) is self
                if is_owner and each is not script and callable(each):
                    found[id(each)] = each
        return list(found.values())
