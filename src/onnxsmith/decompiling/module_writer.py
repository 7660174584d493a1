"""A whole model as a Python module: imports, weights, functions, the main script, and the model rebuilt from it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import onnx
import onnx_ir as ir

from onnxsmith.decompiling.attributes import default_text
from onnxsmith.decompiling.callees import Callees
from onnxsmith.decompiling.details import Details
from onnxsmith.decompiling.inferring import has_value_types, look_at
from onnxsmith.decompiling.layout import (
    INDENT,
    WIDTH,
    Bracketed,
    Keyed,
    Text,
    call,
    lines,
    string,
)
from onnxsmith.decompiling.literals import type_text
from onnxsmith.decompiling.order import in_call_order
from onnxsmith.decompiling.reading import Given
from onnxsmith.decompiling.rebuild_calls import WrittenFunction, rebuild_call, rebuild_function_call
from onnxsmith.decompiling.script_writer import ScriptWriter
from onnxsmith.errors import DecompileError
from onnxsmith.graphs.identifiers import Identifiers, readable
from onnxsmith.graphs.notes import QUANTIZATION_KEY, notes_of
from onnxsmith.graphs.rewriting.scopes import called_functions, graphs_of, roots_of
from onnxsmith.graphs.sparse_tensor import SparseTensor
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import AnyValueType

#: Names that the module itself gives a meaning.
_MODULE_NAMES = ("np", "TensorProto", "model", "weights", "script", "graph", "rebuild", "Weights", "Opset")
#: Python's parser gives up a little past this.
_DEEPEST = 90
_ATTRIBUTE_WORDS = {
    ir.AttributeType.INT: "int",
    ir.AttributeType.FLOAT: "float",
    ir.AttributeType.STRING: "str",
    ir.AttributeType.INTS: "list[int]",
    ir.AttributeType.FLOATS: "list[float]",
    ir.AttributeType.STRINGS: "list[str]",
    ir.AttributeType.TENSOR: "TensorProto",
}


@dataclass(slots=True)
class FunctionName:
    """A local function: what the module calls it, and the parameters of its attributes."""

    name: str
    input_count: int
    parameters: dict[str, str] = field(default_factory=dict[str, str])


class ModuleWriter:
    """Writes one module. What scripts share is here: imports, opsets, weights, functions."""

    deepest = _DEEPEST

    def __init__(self, given: Given, *, has_statements: bool = True) -> None:
        self.given = given
        #: Whether If and Loop nodes may be statements of Python; else they are calls with functions for their bodies.
        self.has_statements = has_statements
        self.model = given.model
        #: What inference knows of its values.
        self.findings = look_at(given.model)
        self.used: set[str] = {"script", "rebuild"}
        self.needs_numpy = False
        self.needs_tensor_proto = False
        self._calls: list[ir.Node] | None = None
        self._reachable: set[ir.OperatorIdentifier] | None = None
        taken = {*_MODULE_NAMES, *(dtype.name for dtype in DType)}
        self.module_names = Identifiers(taken)
        self.callees = Callees(self.module_names)
        self.functions: dict[ir.OperatorIdentifier, FunctionName] = {}
        #: Key -> tensor, in the order of first mention.
        self.weights: dict[str, ir.TensorProtocol] = {}
        self._weight_keys: dict[ir.Value, str] = {}
        #: Initializers that the code mentions.
        self.mentioned: set[ir.Value] = set()
        #: What is said of weights that are attributes.
        self.weight_details = Details()
        self._functions: list[WrittenFunction] = []
        #: The lines of each node, for who wants them one by one.
        self.statements: dict[ir.Node, list[str]] | None = None
        for identifier, function in self.model.functions.items():
            name = self._function_name(identifier[1])
            self.functions[identifier] = FunctionName(name, len(function.inputs))
        self.main_name = self._function_name(self.model.graph.name or "main_graph")
        self.reserved = self._reserved()

    def _function_name(self, name: str) -> str:
        return self.module_names.exact(name) or self.module_names.unique(readable(name, "function"))

    def _reserved(self) -> frozenset[str]:
        """Names that no variable may take: they mean something to the whole module."""
        names = {*_MODULE_NAMES, *(dtype.name for dtype in DType), self.main_name}
        names |= {each.name for each in self.functions.values()}
        models = [self.model.opset_imports, *(each.opset_imports for each in self.model.functions.values())]
        for imports in models:
            for domain, version in imports.items():
                names.add(self.callees.name("" if domain == "ai.onnx" else domain, max(version, 1)))
        names |= {f"unchecked{suffix}" for suffix in ("", *(f"_{name}" for name in list(names)))}
        return frozenset(names)

    # -- what scripts ask for --------------------------------------------------------------------------

    def special_type(self, value: ir.Value) -> AnyValueType | None:
        """The type of a value where onnx-ir has no place for it."""
        return self.given.types.get(value.name or "")

    def weight(self, value: ir.Value, details: Details) -> Text:
        """An initializer as `weights["name"]`."""
        self.mentioned.add(value)
        return Bracketed("weights[", (string(self.weight_key(value, details)),), "]")

    def weight_key(self, value: ir.Value, details: Details) -> str:
        """The key of an initializer among the weights."""
        key = self._weight_keys.get(value)
        name = value.name or ""
        if key is None:
            assert value.const_value is not None
            key = self._new_key(name)
            self._weight_keys[value] = key
            self.weights[key] = value.const_value
            if key != name:
                details.weights[key] = name
            details.note_weight(key, value.const_value)
            if value.doc_string or value.metadata_props or notes_of(value).get(QUANTIZATION_KEY):
                details.note_initializer(value)
        return key

    def stored(self, key: str, tensor: ir.TensorProtocol) -> Text:
        """A tensor that is an attribute, kept with the weights."""
        key = self._new_key(key)
        self.weights[key] = tensor
        self.weight_details.note_weight(key, tensor)
        return Bracketed("weights[", (string(key),), "]")

    def _new_key(self, wish: str) -> str:
        key, count = wish, 2
        while key in self.weights:
            key, count = f"{wish} ({count})", count + 1
        return key

    def sparse(self, node: ir.Node, name: str, value: Any) -> Text:
        """A sparse tensor as an attribute."""
        if isinstance(value, onnx.SparseTensorProto):
            first = next((each.name for each in node.outputs if each.name), "")
            return self.stored(f"{first}.{name}", SparseTensor(value))
        raise DecompileError(
            f"the attribute {name!r} of {node.op_type} is of a kind that cannot be written as Python"
        )

    def signature(
        self,
        name: str,
        parameters: Sequence[tuple[str, AnyValueType | None]],
        returns: Sequence[AnyValueType | None],
        level: int,
        attributes: Sequence[Text] = (),
    ) -> list[str]:
        """`def name(x: FLOAT["N"]) -> FLOAT["N"]:`"""
        items: list[Text] = [
            each if kind is None else f"{each}: {type_text(kind, self.used)}" for each, kind in parameters
        ]
        items += attributes
        result = self._returns(returns)
        arrow = "" if result == "" else " -> "
        whole = call(f"def {name}", items)
        line = f"{INDENT * level}{whole}{arrow}{result}:"
        if len(line) <= WIDTH:
            return [line]
        if not items:
            return lines(f"{whole}{arrow}", result, ":", level)
        opened = lines("", Bracketed(whole.head, whole.items, ")", is_open=True), "", level)
        last = lines(f"){arrow}", result, ":", level)
        return [*opened[:-1], *last]

    def _returns(self, types: Sequence[AnyValueType | None]) -> Text:
        if not types or all(kind is None for kind in types):
            return ""
        texts = ["Any" if kind is None else type_text(kind, self.used) for kind in types]
        if any(kind is None for kind in types):
            self.used.add("Any")
        return texts[0] if len(texts) == 1 else Bracketed("tuple[", tuple(texts), "]")

    # -- the module ------------------------------------------------------------------------------------

    def write(self) -> list[str]:
        """The lines of the module, weights and imports left out."""
        result: list[str] = []
        for identifier, function in in_call_order(self.model.functions):
            result += ["", "", *self._function(identifier, function)]
        main = ScriptWriter(self, self.model.graph, self.model.opset_imports, {})
        parameters = main.name_inputs(self.model.graph)
        body = main.block(self.model.graph, 1)
        main.notes.note_unused("", self.model.graph)
        result += ["", "", *self._decorator(main, self.main_name, self.model.graph.name or "", None)]
        returns = [main.declared(value) for value in self.model.graph.outputs]
        result += self.signature(self.main_name, parameters, returns, 0)
        doc = _docstring(self.model.graph.doc_string)
        result += [*([doc] if doc else []), *body]
        self._note_main(main)
        order = {each.name: position for position, each in enumerate(self.functions.values())}
        functions = sorted(self._functions, key=lambda each: order[each.name])
        main.details.docs.update(self.weight_details.docs)
        result += ["", "", *rebuild_call(self.model, self.main_name, main.details, functions, self.used)]
        return _tidy(result)

    def _note_main(self, main: ScriptWriter) -> None:
        """Keep what is said of the main graph."""
        graph, details = self.model.graph, main.details
        if graph.doc_string and _docstring(graph.doc_string) is None:
            details.docs[""] = graph.doc_string
        if graph.metadata_props:
            details.metadata[""] = dict(sorted(graph.metadata_props.items()))
        if any((value.name or "") in graph.initializers for value in graph.inputs):
            details.inputs = [value.name or "" for value in graph.inputs]

    def write_function(self, function: ir.Function) -> list[str]:
        """The lines for one function alone, and the function rebuilt from it."""
        self.used = (self.used - {"rebuild"}) | {"rebuild_function"}
        result = ["", "", *self._function(function.identifier(), function)]
        (written,) = self._functions
        written.details.docs.update(self.weight_details.docs)
        return _tidy([*result, "", "", *rebuild_function_call(written, self.used)])

    def _decorator(
        self, writer: ScriptWriter, name: str, onnx_name: str, function: ir.Function | None
    ) -> list[str]:
        options: list[Text] = ["exact=True" if self.findings.is_sound else 'exact="unchecked"']
        opset = self.callees.use("", max(writer.imports.get("", 1), 1)) if "" in writer.imports else None
        if opset is not None:
            options.insert(0, f"default_opset={opset}")
        if function is not None:
            options.append(f"domain={string(function.domain)}")
            if function.overload:
                options.append(f"overload={string(function.overload)}")
        if onnx_name != name:
            options.append(f"name={string(onnx_name)}")
        return lines("@", call("script", options), "", 0)

    def _function(self, identifier: ir.OperatorIdentifier, function: ir.Function) -> list[str]:
        called = self.functions[identifier]
        kinds = {**self._called_with(identifier), **_attribute_kinds(function)}
        names = Identifiers(self.reserved)
        for attribute in (*function.attributes, *kinds):
            if attribute not in called.parameters:
                called.parameters[attribute] = names.exact(attribute) or names.unique(
                    readable(attribute, "attribute")
                )
        writer = ScriptWriter(self, function.graph, function.opset_imports, called.parameters)
        for attribute, name in called.parameters.items():
            if attribute != name:
                writer.details.parameters[name] = attribute
        parameters = writer.name_inputs(function.graph)
        for value in function.inputs:
            writer.notes.note_parameter(value)
        body = writer.block(function.graph, 1)
        attributes = [self._parameter(function, each, kinds) for each in called.parameters]
        attributes.sort(key=lambda each: "=" in str(each))
        result = self._decorator(writer, called.name, function.name, function)
        untyped = [(name, None) for name, _ in parameters]
        result += self.signature(called.name, untyped, [], 0, attributes)
        if function.doc_string:
            writer.details.docs[""] = function.doc_string
        doc = _docstring(function.doc_string)
        if function.metadata_props:
            writer.details.metadata[""] = dict(sorted(function.metadata_props.items()))
        if self._reachable is None:
            self._reachable = called_functions(self.model.graph.all_nodes(), self.model.functions)
        is_called = identifier in self._reachable
        imports = dict(function.opset_imports)
        has_types = has_value_types(function.graph)
        self._functions.append(WrittenFunction(called.name, writer.details, imports, is_called, has_types))
        return [*result, *([doc] if doc else []), *body]

    def _called_with(self, identifier: ir.OperatorIdentifier) -> dict[str, ir.AttributeType]:
        """The kinds of attributes that a function is called with."""
        return {
            attribute.name: attribute.type
            for node in self._function_calls()
            if node.op_identifier() == identifier
            for attribute in node.attributes.values()
        }

    def _function_calls(self) -> Iterator[ir.Node]:
        """The nodes of the model that call functions."""
        if self._calls is None:
            roots = roots_of(self.model)
            nodes = (node for root in roots for graph in graphs_of(root) for node in graph)
            self._calls = [node for node in nodes if node.op_identifier() in self.functions]
        return iter(self._calls)

    def _refuse_left_out(self, function: ir.Function, attribute: str) -> None:
        """Refuse a call without an attribute that has no default: a parameter of a script has one or is given."""
        for node in self._function_calls():
            if node.op_identifier() == function.identifier() and attribute not in node.attributes:
                called = node.name or next((each.name for each in node.outputs if each.name), "")
                raise DecompileError(
                    f"the node {called!r} calls the function {function.name!r} without the attribute {attribute!r},"
                    " which has no default",
                    help="give the node the attribute, or the function a default for it",
                )

    def _parameter(
        self, function: ir.Function, attribute: str, kinds: Mapping[str, ir.AttributeType]
    ) -> Text:
        name = self.functions[function.identifier()].parameters[attribute]
        formal = function.attributes.get(attribute)
        has_default = formal is not None and formal.value is not None
        kind = (
            formal.type if has_default and formal is not None else kinds.get(attribute, ir.AttributeType.INT)
        )
        word = _ATTRIBUTE_WORDS.get(kind)
        if word is None:
            raise DecompileError(
                f"the attribute {attribute!r} of the function {function.name!r} is of kind {kind.name}, "
                "which a script cannot take"
            )
        if kind == ir.AttributeType.TENSOR:
            self.needs_tensor_proto = True
        if not has_default or formal is None:
            self._refuse_left_out(function, attribute)
            return f"{name}: {word}"
        text = default_text(kind, formal.value)
        if text is None:
            text = self.stored(f"{function.name}.{attribute}", cast(Any, formal.value))
        return Keyed(f"{name}: {word} = ", text)

    def header(self, weights: Sequence[str]) -> list[str]:
        """The imports, the opsets of other domains, and the weights."""
        names = self.used - {"Any"}
        if self.callees.definitions:
            names.add("Opset")
        if weights:
            names.add("Weights")
        result: list[str] = []
        if "Any" in self.used:
            result += ["from typing import Any", ""]
        if self.needs_numpy:
            result.append("import numpy as np")
        if self.needs_tensor_proto:
            result.append("from onnx import TensorProto")
        # Constants, classes, functions: as import sorters have them.
        ordered = sorted(names, key=lambda each: (not each.isupper(), each.islower(), each))
        result += _import_lines(ordered) if names else []
        result += [f"from onnxsmith import {each}" for each in sorted(self.callees.imports)]
        if self.callees.definitions:
            result += ["", *self.callees.definitions]
        if weights:
            result += ["", *weights]
        return result


def _attribute_kinds(function: ir.Function) -> dict[str, ir.AttributeType]:
    """The kinds of a function's attributes, by how its nodes use them."""
    kinds: dict[str, ir.AttributeType] = {}
    for graph in graphs_of(function.graph):
        for node in graph:
            for attribute in node.attributes.values():
                if attribute.is_ref() and attribute.ref_attr_name:
                    kinds.setdefault(attribute.ref_attr_name, attribute.type)
    return kinds


def _docstring(text: str | None) -> str | None:
    """A doc string as a docstring, where both say exactly the same; otherwise it stands among the details."""
    if not text or text != text.strip() or len(text) > 80 or not text.isascii() or not text.isprintable():
        return None
    if "\\" in text or '"' in text:
        return None
    return f'{INDENT}"""{text}"""'


def _import_lines(names: Sequence[str]) -> list[str]:
    plain = f"from onnxsmith import {', '.join(names)}"
    if len(plain) <= WIDTH:
        return [plain]
    return ["from onnxsmith import (", *(f"{INDENT}{name}," for name in names), ")"]


def _tidy(result: Sequence[str]) -> list[str]:
    """Blank lines as formatters want them: none after a line that opens a block, one inside a function."""
    tidy: list[str] = []
    for line in result:
        if line == "":
            if not tidy or not tidy[-1].endswith(":"):
                tidy.append(line)
            continue
        if line.startswith(" "):
            while len(tidy) > 1 and tidy[-1] == "" and tidy[-2] == "":
                tidy.pop()
        tidy.append(line)
    return tidy
