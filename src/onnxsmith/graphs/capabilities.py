"""The methods of `Model` that other packages bring: one table, and the descriptor that each entry becomes.

A capability is written as a function that takes the model first, in a package above this one. Here it is only named,
and it is imported when it is first asked for: `graphs` knows none of them, and loading a model loads none.
"""

from __future__ import annotations

import importlib
import types
from collections.abc import Callable
from typing import Any, TypeVar, overload

T = TypeVar("T")

#: Name of the method -> "package:function". The stub of `Model` is generated from this (`dev.py stubs`).
METHODS: dict[str, str] = {
    "bind_inputs": "onnxsmith.passes.surgery:bind_inputs",
    "convert_version": "onnxsmith.passes.versions:convert_version",
    "decompile": "onnxsmith.decompiling:decompile",
    "decompile_to": "onnxsmith.decompiling:decompile_to",
    "extract": "onnxsmith.passes.surgery:extract",
    "for_runtime": "onnxsmith.runtime.for_runtime:for_runtime",
    "optimize": "onnxsmith.passes:optimize",
    "outline": "onnxsmith.passes.outlining.outlining:outline",
    "rename": "onnxsmith.passes.surgery:rename",
    "replace_weights": "onnxsmith.passes.surgery:replace_weights",
    "rewrite": "onnxsmith.passes.rules:rewrite",
    "split": "onnxsmith.passes.surgery:split",
    "then": "onnxsmith.passes.surgery:then",
    "with_outputs": "onnxsmith.passes.surgery:with_outputs",
    "with_shapes": "onnxsmith.passes.surgery:with_shapes",
}


class Capability:
    """A method that lives in another package."""

    __slots__ = ("place",)

    def __init__(self, place: str) -> None:
        self.place = place

    @property
    def function(self) -> types.FunctionType:
        """The function behind it."""
        package, _, name = self.place.partition(":")
        return getattr(importlib.import_module(package), name)

    @overload
    def __get__(self, instance: None, owner: type | None = None) -> types.FunctionType: ...
    @overload
    def __get__(self, instance: object, owner: type | None = None) -> types.MethodType: ...
    def __get__(self, instance: object | None, owner: type | None = None) -> Callable[..., Any]:
        # As a function in a class does: the function itself of the class, bound to a model of that.
        return self.function if instance is None else types.MethodType(self.function, instance)


def with_capabilities(cls: type[T]) -> type[T]:
    """Decorates `Model`: gives the class every method of the table."""
    for name, place in METHODS.items():
        if name in vars(cls):
            raise TypeError(f"{cls.__name__} has a method {name!r} already, and {place!r} would hide it")
        setattr(cls, name, Capability(place))
    return cls
