"""The name of a node's operator in the code, and the parts of a call that its schema takes.

An operator that its opset does not have, or that is used in a way its schema forbids, is called through an opset that
checks nothing: a model is written as it is.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Mapping
from typing import cast

import onnx_ir as ir

from onnxsmith.decompiling.layout import string
from onnxsmith.graphs.identifiers import Identifiers
from onnxsmith.schema import registry
from onnxsmith.schema.bind import layout
from onnxsmith.schema.definition import OperatorDef

_IDENTIFIER = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_TAKEN_BY_OPSETS = frozenset({"domain", "version"})
#: The names under which the modules of known domains are imported.
_MODULES = {
    "": ("opset", "op"),
    "ai.onnx.ml": ("opset_ai_onnx_ml", "ml"),
    "ai.onnx.preview.training": ("opset_ai_onnx_preview_training", "training"),
}


class Callees:
    """The opsets that a module uses, each under one name."""

    def __init__(self, identifiers: Identifiers) -> None:
        self._identifiers = identifiers
        self._checked: dict[tuple[str, int], str] = {}
        self._unchecked: dict[tuple[str, int], str] = {}
        self._imports: dict[str, str] = {}
        self._definitions: dict[str, str] = {}
        self._used: set[str] = set()

    @property
    def imports(self) -> list[str]:
        """`opset18 as op` for what the code uses."""
        return [text for name, text in self._imports.items() if name in self._used]

    @property
    def definitions(self) -> list[str]:
        """`custom = Opset("my.domain", 1)` for what the code uses."""
        return [text for name, text in self._definitions.items() if name in self._used]

    def use(self, domain: str, version: int) -> str:
        """The name of a domain's operators at a version, which the code mentions."""
        name = self.name(domain, version)
        self._used.add(name)
        return name

    def name(self, domain: str, version: int) -> str:
        """The name that a domain's operators at a version have, should the code mention them."""
        key = (domain, version)
        if key not in self._checked:
            if domain in _MODULES and 1 <= version <= registry.latest_version(domain):
                module, wish = _MODULES[domain]
                name = self._identifiers.unique(wish if not self._has(domain) else f"{wish}{version}")
                self._imports[name] = f"{module}{version} as {name}"
            else:
                name = self._define(domain, version, "")
            self._checked[key] = name
        return self._checked[key]

    def _has(self, domain: str) -> bool:
        return any(each == domain for each, _ in self._checked)

    def _define(self, domain: str, version: int, option: str) -> str:
        words = re.sub(r"[^A-Za-z0-9]+", "_", domain.rpartition(".")[2][-30:]).strip("_").lower()
        wish = words if words[:1].isalpha() else "custom"
        if option:
            wish = "unchecked" if domain in ("", "ai.onnx") else f"unchecked_{wish}"
        name = self._identifiers.unique(wish)
        self._definitions[name] = f"{name} = Opset({string(domain)}, {version}{option})"
        return name

    def operator(self, node: ir.Node, version: int, op: OperatorDef | None) -> str:
        """The text before the parentheses."""
        domain = "" if node.domain == "ai.onnx" else node.domain
        if op is not None or not registry.is_known_domain(domain):
            opset = self.use(domain, version)
        else:
            key = (domain, version)
            if key not in self._unchecked:
                self._unchecked[key] = self._define(domain, version, ", checked=False")
            opset = self._unchecked[key]
            self._used.add(opset)
        name = node.op_type
        if _IDENTIFIER.fullmatch(name) and name not in _TAKEN_BY_OPSETS and not keyword.iskeyword(name):
            return f"{opset}.{name}"
        return f"{opset}[{string(name)}]"


def definition_of(node: ir.Node, imports: Mapping[str, int]) -> OperatorDef | None:
    """The schema that a node keeps to; None where there is none, or where the node breaks it."""
    domain = "" if node.domain == "ai.onnx" else node.domain
    version = imports.get(domain, imports.get(node.domain, 1))
    if not registry.is_known_domain(domain) or version > registry.latest_version(domain):
        return None
    op = registry.find(domain, node.op_type, version)
    return op if op is not None and _keeps_to(node, op) else None


def _keeps_to(node: ir.Node, op: OperatorDef) -> bool:
    for name, attribute in node.attributes.items():
        formal = op.attributes.get(name)
        if formal is None or int(formal.type) != int(attribute.type):
            return False
        if formal.choices is not None and not attribute.is_ref():
            value = cast(object, attribute.value)
            given = cast("tuple[object, ...]", value) if isinstance(value, tuple | list) else (value,)
            if not all(each in formal.choices for each in given):
                return False
    if any(each.is_required and each.name not in node.attributes for each in op.attributes.values()):
        return False
    count = len(node.inputs)
    while count and node.inputs[count - 1] is None:
        count -= 1
    plan = layout(op)
    if count < op.min_inputs or (count > plan.fixed and plan.variadic is None):
        return False
    for position in range(count):
        is_required = position >= plan.fixed or op.inputs[position].option == "single"
        if node.inputs[position] is None and is_required:
            return False
    return max(op.min_outputs, 1) <= len(node.outputs) <= op.max_outputs
