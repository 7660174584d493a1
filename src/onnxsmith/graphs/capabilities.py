"""The methods and properties of `Model` that other packages bring: two tables, and what each entry becomes.

A capability is written as a function that takes the model first, in a package above this one. Here it is only named,
and it is imported when it is first asked for: `graphs` knows none of them, and loading a model loads none.
"""

from __future__ import annotations

import importlib
import types
from collections.abc import Callable
from typing import Any, NoReturn, TypeVar, overload

T = TypeVar("T")

#: Name of the method -> "package:function". The stub of `Model` is generated from this (`dev.py stubs`).
METHODS: dict[str, str] = {
    "_repr_mimebundle_": "onnxsmith.view:model_bundle",
    "bind_inputs": "onnxsmith.passes.surgery:bind_inputs",
    "convert_version": "onnxsmith.passes.versions:convert_version",
    "decision_function": "onnxsmith.sklearn.frames.predicting:decision_function",
    "decompile": "onnxsmith.decompiling:decompile",
    "decompile_to": "onnxsmith.decompiling:decompile_to",
    "equals": "onnxsmith.inspection:equals",
    "diff": "onnxsmith.diffing:diff",
    "extract": "onnxsmith.passes.surgery:extract",
    "for_runtime": "onnxsmith.runtime.for_runtime:for_runtime",
    "gradient": "onnxsmith.grad:gradient",
    "intermediate": "onnxsmith.observing:intermediate",
    "optimize": "onnxsmith.passes:optimize",
    "outline": "onnxsmith.passes.outlining.outlining:outline",
    "predict": "onnxsmith.sklearn.frames.predicting:predict",
    "predict_proba": "onnxsmith.sklearn.frames.predicting:predict_proba",
    "profile": "onnxsmith.profiling:profile",
    "rename": "onnxsmith.passes.surgery:rename",
    "replace_weights": "onnxsmith.passes.surgery:replace_weights",
    "rewrite": "onnxsmith.passes.rules:rewrite",
    "session": "onnxsmith.runtime.sessions:session",
    "show": "onnxsmith.view:show",
    "split": "onnxsmith.passes.surgery:split",
    "summary": "onnxsmith.inspection:summary",
    "then": "onnxsmith.passes.surgery:then",
    "to_device": "onnxsmith.runtime.sessions:to_device",
    "transform": "onnxsmith.sklearn.frames.predicting:transform",
    "with_metadata": "onnxsmith.passes.surgery:with_metadata",
    "with_outputs": "onnxsmith.passes.surgery:with_outputs",
    "with_shapes": "onnxsmith.passes.surgery:with_shapes",
}

#: The methods that only a model has that came from an estimator with such an output.
OF_ESTIMATORS = ("decision_function", "predict", "predict_proba", "transform")

#: Name of the property -> "package:function", a function of the model alone. Its result is kept with the model.
PROPERTIES: dict[str, str] = {
    "metadata": "onnxsmith.inspection:metadata",
    "nodes": "onnxsmith.inspection:nodes",
    "weights": "onnxsmith.inspection:weights",
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


class CapabilityProperty:
    """A property that lives in another package; what it gives for a model is made once."""

    __slots__ = ("_name", "place")

    def __init__(self, place: str, name: str) -> None:
        self.place = place
        self._name = name

    @property
    def __doc__(self) -> str | None:  # pyright: ignore[reportIncompatibleVariableOverride]  # `help` asks the object
        return self.fget.__doc__

    @property
    def fget(self) -> types.FunctionType:
        """The function behind it, where `property` has its own."""
        return Capability(self.place).function

    def __get__(self, instance: object | None, owner: type | None = None) -> object:
        if instance is None:
            return self
        held = vars(instance)
        if self._name not in held:
            held.setdefault(self._name, self.fget(instance))  # all threads get the first
        return held[self._name]

    def __set__(self, instance: object, value: object) -> NoReturn:
        raise AttributeError(f"'{self._name}' of a model cannot be set: it shows what the model holds")


def with_capabilities(cls: type[T]) -> type[T]:
    """Decorates `Model`: gives the class every method and property of the tables."""
    methods = {name: Capability(place) for name, place in METHODS.items()}
    properties = {name: CapabilityProperty(place, name) for name, place in PROPERTIES.items()}
    for name, entry in {**methods, **properties}.items():
        if name in vars(cls):
            raise TypeError(
                f"{cls.__name__} has a method {name!r} already, and {entry.place!r} would hide it"
            )
        setattr(cls, name, entry)
    return cls
