"""An operator of one opset version as a Python callable."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from onnxsmith.core.call import call
from onnxsmith.core.target import ACTIVE
from onnxsmith.diagnostics import hide_own_frames, shown_as
from onnxsmith.errors import OnnxsmithError
from onnxsmith.schema import registry
from onnxsmith.schema.bind import layout
from onnxsmith.schema.definition import OperatorDef

#: What `Operator.recall` returns for a call it has not seen.
MISS = object()


@shown_as("operator")
class Operator:
    """One operator; call it with tensors, arrays or literals, attributes by keyword.

    >>> from onnxsmith import opset21 as op
    >>> op.Add
    <operator Add-14 of opset 21>
    """

    __slots__ = ("__name__", "__qualname__", "definition", "recall", "version", "version_to_record")

    def __init__(self, definition: OperatorDef, version: int, *, is_implicit: bool = False) -> None:
        self.definition = definition
        self.version = version
        # An operator that Python's syntax chose does not bind the graph to an opset version.
        self.version_to_record = None if is_implicit else version
        self.__name__ = self.__qualname__ = definition.name
        #: Calls of a form that was run before, answered without binding them again; the eager target sets it.
        self.recall: Callable[[tuple[Any, ...], dict[str, Any], object], Any] | None = None

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        try:
            recall = self.recall
            if recall is not None:
                active = ACTIVE.get()
                if active is None or active.recording is None:
                    result = recall(args, kwargs, active)
                    if result is not MISS:
                        return result
            return call(self, args, kwargs)
        except OnnxsmithError as error:
            error.locate_at_caller()
            hide_own_frames(error)
            raise

    def __repr__(self) -> str:
        where = f"{self.definition.domain or 'opset'} {self.version}"
        return f"<operator {self.definition.name}-{self.definition.since_version} of {where}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return operator, (self.definition.domain, self.definition.name, self.version)

    @property
    def __doc__(self) -> str:  # pyright: ignore[reportIncompatibleVariableOverride]
        return document(self.definition)

    @property
    def __signature__(self) -> inspect.Signature:
        return signature(self.definition)


def operator(domain: str, name: str, version: int) -> Operator:
    """An operator by name, or an error that says what to write instead."""
    return Operator(registry.lookup(domain, name, version), version)


class Operators:
    """The standard operators of one version, by attribute: what Python's own syntax on tensors is made of."""

    def __init__(self, version: int) -> None:
        self.version = version

    def __getattr__(self, name: str) -> Operator:
        if name.startswith("_"):
            raise AttributeError(name)
        found = Operator(registry.lookup("", name, self.version), self.version, is_implicit=True)
        setattr(self, name, found)
        return found

    def has(self, name: str) -> bool:
        """True if this version has the operator."""
        return registry.find("", name, self.version) is not None


@functools.lru_cache(maxsize=64)
def standard_operators(version: int) -> Operators:
    """The standard operators of a version, which remember those that were asked for."""
    return Operators(version)


def signature(definition: OperatorDef) -> inspect.Signature:
    """The Python signature that a definition amounts to."""
    kinds = inspect.Parameter
    names = layout(definition)
    parameters: list[inspect.Parameter] = []
    has_default = False
    for formal, name in zip(definition.inputs, [*names.input_positions, ""], strict=False):
        if formal.option == "variadic":
            # A parameter before *args cannot be left out by name, but may be None.
            parameters.append(kinds(formal.name, kinds.VAR_POSITIONAL))
            continue
        has_default = has_default or formal.option == "optional"
        default = None if has_default else kinds.empty
        parameters.append(kinds(name, kinds.POSITIONAL_OR_KEYWORD, default=default))
    for name, attribute in names.attribute_names.items():
        default = kinds.empty if attribute.is_required else attribute.default
        parameters.append(kinds(name, kinds.KEYWORD_ONLY, default=default))
    if definition.max_outputs > 1 and "outputs" not in names.attribute_names:
        parameters.append(kinds("outputs", kinds.KEYWORD_ONLY, default=None))
    return inspect.Signature(parameters)


def document(definition: OperatorDef) -> str:
    """The text that `help(op.Relu)` shows."""
    lines = [f"{definition.qualified_name}, version {definition.since_version}.", "", definition.doc.strip()]
    for title, items in (
        ("Inputs", [(p.name, p.doc) for p in definition.inputs]),
        ("Attributes", [(a.name, a.doc) for a in definition.attributes.values()]),
        ("Outputs", [(p.name, p.doc) for p in definition.outputs]),
    ):
        if items:
            lines += ["", f"{title}:", *(f"    {name}: {' '.join(doc.split())}" for name, doc in items)]
    if not definition.domain:
        lines += ["", f"https://onnx.ai/onnx/operators/onnx__{definition.name}.html"]
    return "\n".join(lines)
