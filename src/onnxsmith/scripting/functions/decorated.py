"""`to_model` of a function that a decorator made of a script: `@timed` above `@script`.

A decorator with `functools.wraps` copies what a script has in its `__dict__`, and nothing of its class. So what makes
models stands there, as objects that find out who has them now: the model is that of the decorated function, with what
the decorator does. They serve decorated functions only; a script has its own methods.
"""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

from onnxsmith.errors import CallError, boundary
from onnxsmith.scripting.functions.wrapped import plain_function
from onnxsmith.scripting.staging.script_values import Function

if TYPE_CHECKING:
    from onnxsmith.scripting.functions.definition import ScriptDefinition

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
