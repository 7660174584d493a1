"""The first argument of functions written for onnxscript's rewriter: `op`, whose operators take options by `_names`.

In a pattern, positional arguments are inputs and keywords are attributes, whatever the operator is. In a replacement,
operators are those of the model's opset.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

import onnx_ir as ir

from onnxsmith.core.operator import Operator
from onnxsmith.core.value import Value
from onnxsmith.errors import RuleError, boundary
from onnxsmith.passes.rules.recording import loosen
from onnxsmith.passes.values import Array
from onnxsmith.schema import registry
from onnxsmith.schema.definition import AttributeType
from onnxsmith.types.annotations import AttributeAnnotation

#: An input, an attribute or an option of an operator, as onnxscript's functions have them.
Argument: TypeAlias = (
    Value | ir.Attr | ir.TensorProtocol | Array | float | str | Sequence[float] | Sequence[str] | None
)
#: The results of an operator: one, or as many as `_outputs` says.
Results: TypeAlias = Value | Sequence[Value]

_PATTERN_OPTIONS = ("_domain", "_outputs", "_allow_other_attributes", "_allow_other_inputs")
_REPLACEMENT_OPTIONS = ("_domain", "_outputs", "_version")

_KINDS: dict[AttributeType, AttributeAnnotation] = {
    AttributeType.INT: AttributeAnnotation(int),
    AttributeType.FLOAT: AttributeAnnotation(float),
    AttributeType.STRING: AttributeAnnotation(str),
    AttributeType.INTS: AttributeAnnotation(int, is_list=True),
    AttributeType.FLOATS: AttributeAnnotation(float, is_list=True),
    AttributeType.STRINGS: AttributeAnnotation(str, is_list=True),
}


@dataclass(frozen=True, slots=True)
class AttributeVariable:
    """The attribute that a parameter of a pattern stands for."""

    name: str
    type: AttributeType

    @property
    def kind(self) -> AttributeAnnotation:
        """The attribute as an annotation says it."""
        return _KINDS[self.type]

    def of(self, value: float | str | Sequence[float] | Sequence[str]) -> ir.Attr:
        """A value of it, as onnxscript's functions get it."""
        return ir.Attr(self.name, ir.AttributeType(int(self.type)), value)


class FoundAttribute(Exception):
    """A parameter of a pattern turns out to be an attribute: the pattern is recorded again, with it as one."""

    def __init__(self, parameter: str, attribute: AttributeVariable) -> None:
        super().__init__(parameter)
        self.parameter = parameter
        self.attribute = attribute


class _Operators:
    """Operators by their names, in the versions that a model imports."""

    def __init__(self, imports: Mapping[str, int]) -> None:
        self._imports = imports

    def __getattr__(self, name: str) -> Callable[..., Results]:
        if name.startswith("_"):
            raise AttributeError(name)
        return functools.partial(_called, self, name)

    def run(self, name: str, args: tuple[Argument, ...], given: dict[str, Any]) -> Results:
        """Call an operator with inputs, and with attributes and options by name. Raises RuleError."""
        raise NotImplementedError

    def _version(self, domain: str) -> int:
        return self._imports.get(domain, 1)


class PatternOperators(_Operators):
    """`op` of a pattern. `parameters` are the stand-ins of its parameters, by identity."""

    def __init__(self, imports: Mapping[str, int]) -> None:
        super().__init__(imports)
        self.parameters: dict[int, str] = {}

    def run(self, name: str, args: tuple[Argument, ...], given: dict[str, Any]) -> Results:
        options = _options(given, _PATTERN_OPTIONS, "a pattern")
        domain = _domain(options.get("_domain"))
        outputs = options.get("_outputs", 1)
        if not isinstance(outputs, int):
            if any(cast("Sequence[object]", outputs)):
                raise RuleError(
                    "names of results in a pattern are not passed to conditions and replacements",
                    help=f"_outputs={len(outputs)}; a condition gets the pattern's parameters",
                )
            outputs = len(outputs)
        version = self._version(domain)
        for position, each in enumerate(args):
            if callable(each) and not isinstance(each, Value):
                raise RuleError(
                    f"input {position} of {name} is a function: checks of single inputs are not taken",
                    help="check it in the condition of the rule, RewriteRule(pattern, replacement, condition)",
                )
        for key, value in given.items():
            if f"_{key}" in _PATTERN_OPTIONS:
                raise RuleError(f"{key} is an option of {name} in a pattern, with an underscore: _{key}")
            if id(value) in self.parameters:
                raise FoundAttribute(self.parameters[id(value)], _variable(domain, name, version, key))
        # What the operator's definition demands is for models; a pattern may leave attributes out.
        operator = Operator(registry.unchecked(domain, name, version), version)
        result = operator(*args, **given, outputs=outputs)
        allows = options.get("_allow_other_attributes")
        loosen(
            result,
            inputs=bool(options.get("_allow_other_inputs")),
            attributes=allows is None or bool(allows),
        )
        return result


class ReplacementOperators(_Operators):
    """`op` of a replacement."""

    def initializer(self, tensor: ir.TensorProtocol, name: str | None = None) -> Array:
        """A weight: the array, which becomes one where an operator takes it."""
        return tensor.numpy()

    def run(self, name: str, args: tuple[Argument, ...], given: dict[str, Any]) -> Results:
        options = _options(given, _REPLACEMENT_OPTIONS, "a replacement")
        domain = _domain(options.get("_domain"))
        version = self._imports.get(domain, options.get("_version") or 1)
        wanted = options.get("_version") or version
        if wanted != version:
            raise RuleError(
                f"the replacement takes {name} of version {wanted}, and the model imports version {version} of "
                f"{domain or 'the standard domain'}",
                help="leave _version out, or convert the model: model.convert_version(…)",
            )
        # A domain that there are schemas for may have operators that they leave out; the standard one has none.
        found = registry.find(domain, name, version)
        if found is None and domain:
            found = registry.unchecked(domain, name, version)
        operator = Operator(found or registry.lookup(domain, name, version), version)
        outputs = options.get("_outputs", 1)
        count = outputs if isinstance(outputs, int) else len(outputs)
        attributes = {key: _plain(value) for key, value in given.items()}
        if count > 1 or not operator.definition.is_known:
            attributes["outputs"] = count
        return operator(*[_plain(each) for each in args], **attributes)


@boundary
def _called(operators: _Operators, name: str, /, *args: Argument, **given: Argument) -> Results:
    return operators.run(name, args, given)


def _options(given: dict[str, Any], known: Sequence[str], where: str) -> dict[str, Any]:
    """Take the options out of the arguments. Raises RuleError for one that is not known."""
    options = {name: given.pop(name) for name in list(given) if name.startswith("_")}
    for name in options:
        if name not in known:
            raise RuleError(
                f"{name} is no option of an operator in {where}",
                help="put a check into the condition of the rule"
                if name == "_check"
                else f"it has {', '.join(known)}",
            )
    return options


def _domain(given: Argument) -> str:
    if given is not None and not isinstance(given, str):
        raise RuleError(f"_domain is a string, not {given!r}")
    return "" if given in (None, "ai.onnx") else given


def _variable(domain: str, name: str, version: int, key: str) -> AttributeVariable:
    definition = registry.find(domain, name, version)
    attribute = None if definition is None else definition.attributes.get(key)
    if attribute is None or attribute.type not in _KINDS:
        raise RuleError(
            f"a parameter stands for attribute '{key}' of {name}, whose type is not known",
            help="leave it out of the pattern, which allows any attributes then, or give a value",
        )
    return AttributeVariable(key, attribute.type)


def _plain(value: Argument) -> Argument:
    """A value as our operators take it: onnx-ir's attributes and tensors are Python values and arrays."""
    if isinstance(value, ir.Attr):
        return value.value
    return value.numpy() if isinstance(value, ir.TensorProtocol) and not isinstance(value, Value) else value
