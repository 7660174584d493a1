"""One graph or function of a model as a Python function: its parameters and its statements.

What goes beside the code is `noting`'s.
"""

from __future__ import annotations

import keyword
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, cast

import onnx_ir as ir

from onnxsmith.decompiling.attributes import attribute_text
from onnxsmith.decompiling.callees import definition_of
from onnxsmith.decompiling.constants import Constants
from onnxsmith.decompiling.control_flow import if_statement, is_if_statement
from onnxsmith.decompiling.element_types import ElementTypes
from onnxsmith.decompiling.layout import (
    INDENT,
    Bracketed,
    Keyed,
    Text,
    call,
    dictionary,
    string,
)
from onnxsmith.decompiling.loops import is_loop_statement, loop_statement
from onnxsmith.decompiling.noting import ScriptNotes
from onnxsmith.decompiling.operators import index_form, operator_form
from onnxsmith.decompiling.order import in_order
from onnxsmith.decompiling.statements import assignment, returning
from onnxsmith.errors import DecompileError
from onnxsmith.graphs.identifiers import Identifiers, common_prefix, readable
from onnxsmith.graphs.ir_types import type_from_ir
from onnxsmith.graphs.rewriting.scopes import bodies_of, graphs_of, named_outputs
from onnxsmith.schema.bind import layout
from onnxsmith.schema.definition import OperatorDef
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import AnyValueType, TensorType

if TYPE_CHECKING:
    from onnxsmith.decompiling.module_writer import ModuleWriter

_OUTPUTS = re.compile("outputs_*")
_CONTROL_FLOW = ("If", "Loop", "Scan", "SequenceMap")


class ScriptWriter:
    """Writes the body of one script, and has its notes filled."""

    def __init__(
        self,
        module: ModuleWriter,
        graph: ir.Graph,
        imports: Mapping[str, int],
        parameters: Mapping[str, str],
    ) -> None:
        self.module = module
        self.imports = imports
        #: How many `if` statements stand around the one that is written.
        self.depth = 0
        self.identifiers = Identifiers(module.reserved)
        #: Attribute of the function -> the parameter that stands for it.
        self.parameters = dict(parameters)
        for name in parameters.values():
            self.identifiers.reserve(name)
        self._definitions: dict[ir.Node, OperatorDef | None] = {}
        self.types = ElementTypes()
        graphs = list(graphs_of(graph))
        self._note_types(graph)
        held = {value for each in graphs for value in (*each.inputs, *each.outputs)}
        self.constants = Constants(self.types, self.definition, held)
        made = {value for each in graphs for node in each for value in node.outputs} - held
        self._prefix = common_prefix([value.name for value in made if value.name])
        shortened = Counter(
            readable(value.name, node.op_type)
            for each in graphs
            for node in each
            for value in node.outputs
            if value.name and "/" in value.name
        )
        #: Short names that more than one value would have.
        self._ambiguous = {name for name, count in shortened.items() if count > 1}
        self.notes = ScriptNotes(module, graph, self.constants)
        self.details = self.notes.details
        #: The variables that hold values.
        self.names = self.notes.names

    def _note_types(self, graph: ir.Graph, given: Sequence[ir.Value | None] = ()) -> None:
        for value in (*graph.inputs, *graph.initializers.values()):
            self.types.declare(value)
        for value, initial in zip(graph.inputs, given, strict=False):
            self.types.pass_on(initial, value)
        for node in in_order(graph):
            for inner in bodies_of(node):
                self._note_types(inner, (None, None, *node.inputs[2:]) if node.op_type == "Loop" else ())
            self.types.visit(node, self.definition(node))

    def definition(self, node: ir.Node) -> OperatorDef | None:
        """The schema that a node keeps to."""
        if node not in self._definitions:
            is_function = node.op_identifier() in self.module.functions
            self._definitions[node] = None if is_function else definition_of(node, self.imports)
        return self._definitions[node]

    # -- graphs ----------------------------------------------------------------------------------------

    def name_inputs(self, graph: ir.Graph) -> list[tuple[str, AnyValueType | None]]:
        """The inputs of a graph as parameters: those that are no initializers."""
        found: list[tuple[str, AnyValueType | None]] = []
        for value in graph.inputs:
            if (value.name or "") in graph.initializers:
                continue
            found.append((self.name_value(value, "input"), self.declared(value)))
            self.notes.note_value(value)
        return found

    def declared(self, value: ir.Value) -> AnyValueType | None:
        """The type that a model declares for an input or output, None where it declares none."""
        kind = self.module.special_type(value) or type_from_ir(value.type, value.shape)
        if isinstance(kind, TensorType) and kind.dtype is None:
            return None
        return kind

    def block(self, graph: ir.Graph, level: int) -> list[str]:
        """The statements of a graph, with the return at their end."""
        if level > self.module.deepest:
            raise DecompileError(
                f"the graph {graph.name!r} is nested more than {self.module.deepest} deep, and Python cannot read that"
            )
        result: list[str] = []
        for value in graph.initializers.values():
            if value.producer() is not None:
                raise DecompileError(f"the initializer {value.name!r} is also made by a node")
        nodes = in_order(graph)
        for node in nodes:
            result += self.statement(node, level)
        self.notes.note_order(nodes)
        texts = [self.operand(value) for value in graph.outputs]
        self.notes.note_outputs(graph)
        if texts:
            result += returning(texts, level)
        elif not result:
            result.append(INDENT * level + "pass")
        return result

    # -- values ----------------------------------------------------------------------------------------

    def name_value(self, value: ir.Value, operator: str) -> str:
        """A new variable for a value."""
        variable = self.identifiers.for_value(value.name or "", operator, self._prefix, self._ambiguous)
        self.notes.note_name(value, variable)
        return variable

    def argument(self, value: ir.Value | None) -> Text:
        """A value in a call: a literal, too."""
        inline = None if value is None or value in self.names else self.constants.inline(value)
        return self.operand(value) if inline is None else inline.text

    def operand(self, value: ir.Value | None) -> Text:
        """A value where it is used: a variable or a weight."""
        if value is None:
            return "None"
        variable = self.names.get(value)
        if variable is not None:
            return variable
        if value.const_value is not None and value.producer() is None:
            return self.module.weight(value, self.details)
        if value.is_graph_output():
            raise DecompileError(
                f"a graph gives back {value.name!r}, which none of its nodes makes",
                help="a body gives back a value of the graph around it through a node Identity",
            )
        raise DecompileError(f"the value {value.name!r} is used, and nothing makes it")

    # -- nodes -----------------------------------------------------------------------------------------

    def statement(self, node: ir.Node, level: int) -> list[str]:
        """The lines of a node; none for a constant that stands where it is used."""
        lines = self._statement(node, level)
        if self.module.statements is not None:
            self.module.statements[node] = [*self._shared(node, level), *lines] if lines else []
        return lines

    def _shared(self, node: ir.Node, level: int) -> list[str]:
        """Comments for readers of one statement alone: variables that stand for several values, as loops carry them."""
        values = dict.fromkeys(each for each in (*node.inputs, *node.outputs) if each is not None)
        return [
            f"{INDENT * level}# {self.names[each]} is {each.name!r} here"
            for each in values
            if each in self.names and self.notes.keys[each] != self.names[each] != each.name
        ]

    def _statement(self, node: ir.Node, level: int) -> list[str]:
        if any(self.constants.inline(value) is not None for value in node.outputs):
            return []
        if self.module.has_statements and is_if_statement(self, node):
            return if_statement(self, node, level)
        if self.module.has_statements and is_loop_statement(self, node):
            return loop_statement(self, node, level)
        before, expression = self.expression(node, level)
        targets = self.targets(node)
        self.notes.note_node(node)
        return [*before, *assignment(targets, expression, level)]

    def expression(self, node: ir.Node, level: int) -> tuple[list[str], Text]:
        """The functions that must be defined before a node, and its expression."""
        op = self.definition(node)
        inputs = list(node.inputs)
        while inputs and inputs[-1] is None:
            inputs.pop()
        operands = [self.argument(value) for value in inputs]
        is_symbolic = [value in self.names for value in inputs]
        if op is not None:
            dtypes = [None if value is None else self.types.of(value) for value in inputs]
            text = operator_form(node, operands, is_symbolic, dtypes)
            if text is None:
                text = self._indexed(node, op)
            if text is not None:
                return [], text
        before: list[str] = []
        items: list[Text] = list(operands)
        spelled = {} if op is None else {a.name: name for name, a in layout(op).attribute_names.items()}
        function = self.module.functions.get(node.op_identifier())
        if function is not None:
            spelled = function.parameters
            # A script has no inputs that may be left out; None says that one is.
            items += ["None"] * (function.input_count - len(items))
        others: list[tuple[str, Text]] = []
        is_open = op is None and function is None
        # In the order of the text, which is the order of the model that comes of it.
        for attribute in sorted(
            node.attributes.values(), key=lambda each: is_open and not _is_keyword_argument(each.name)
        ):
            if attribute.type in (ir.AttributeType.GRAPH, ir.AttributeType.GRAPHS) and not attribute.is_ref():
                defined, text = self._bodies(node, attribute, level)
                before += defined
            else:
                said = attribute_text(self, node, attribute, op)
                if said is None:
                    continue
                text = said
            name = spelled.get(attribute.name, attribute.name)
            if is_open and _OUTPUTS.fullmatch(name):
                name += "_"  # so that it is not taken for the number of outputs
            if is_open and not _is_keyword_argument(name):
                others.append((name, text))
            else:
                items.append(Keyed(f"{name}=", text))
        if others:
            items.append(Keyed("**", dictionary([(string(name), text) for name, text in others])))
        count = self._output_count(node, op, function is not None)
        if count is not None:
            items.append(f"outputs={count}")
        if function is not None:
            return before, call(function.name, items)
        version = self.imports.get(node.domain, self.imports.get("", 1) if node.domain == "ai.onnx" else 1)
        return before, call(self.module.callees.operator(node, version, op), items)

    def _indexed(self, node: ir.Node, op: OperatorDef) -> Text | None:
        """Indexing instead of a call, on a tensor whose element type is known: strings are indexed another way."""
        if len(node.inputs) < 2:
            return None
        subject, *others = node.inputs
        dtype = None if subject is None else self.types.of(subject)
        if subject is None or subject not in self.names or dtype in (None, DType.STRING):
            return None
        inlined = [None if value is None else self.constants.inline(value) for value in others]
        literals = [each.value for each in inlined if each is not None]
        return index_form(node, op, self.names[subject], literals) if len(literals) == len(others) else None

    def _output_count(self, node: ir.Node, op: OperatorDef | None, is_function: bool) -> int | None:
        """`outputs=` where nothing else says how many there are."""
        count = len(named_outputs(node))
        if is_function:
            return None
        if op is None:
            return None if count == 1 else count
        if op.name in _CONTROL_FLOW and any(
            each.type == ir.AttributeType.GRAPH for each in node.attributes.values()
        ):
            return None
        default = layout(op).default_outputs
        if default == count:
            return None
        if count > 1 and not _splits_evenly(node, op):
            return None  # as many as there are variables
        return count

    def _bodies(self, node: ir.Node, attribute: ir.Attr, level: int) -> tuple[list[str], Text]:
        """The graphs of an attribute as functions before the call, and what names them in it."""
        is_one = attribute.type == ir.AttributeType.GRAPH
        graphs = cast("Sequence[ir.Graph]", [attribute.value] if is_one else attribute.value)
        result: list[str] = []
        names: list[Text] = []
        for position, graph in enumerate(graphs):
            name = self.identifiers.unique(_function_name(attribute.name))
            names.append(name)
            parameters = self.name_inputs(graph)
            body = self.block(graph, level + 1)
            result += ["", f"{INDENT * level}@graph"]
            returns = [self.declared(value) for value in graph.outputs]
            result += self.module.signature(name, parameters, returns, level)
            result += [*body, ""]
            self.notes.body(node, attribute.name if is_one else f"{attribute.name}[{position}]", graph)
        self.module.used.add("graph")
        return result, names[0] if is_one else Bracketed("[", tuple(names), "]")

    def targets(self, node: ir.Node) -> list[str]:
        """The variables that take a node's outputs; `_` for those that are missing."""
        if any(value in self.names for value in node.outputs):
            return [self.names[value] for value in node.outputs]  # a branch has said what it assigns
        outputs = named_outputs(node)
        has_named = any(value.name for value in outputs)
        result: list[str] = []
        for position, value in enumerate(outputs):
            if not value.name and (has_named or position):
                result.append("_")
            else:
                result.append(self.name_value(value, node.op_type))
        # A call of control flow gives all that its body gives.
        return [*result, *["_"] * (_results_of_body(node) - len(result))]


def _results_of_body(node: ir.Node) -> int:
    """The number of outputs of a node of control flow, by its body; 0 for other nodes."""
    if node.op_type not in _CONTROL_FLOW or node.domain not in ("", "ai.onnx"):
        return 0
    bodies = [
        each.as_graph()
        for each in node.attributes.values()
        if each.type == ir.AttributeType.GRAPH and not each.is_ref()
    ]
    return max((len(each.outputs) for each in bodies), default=0) - (node.op_type == "Loop")


def _splits_evenly(node: ir.Node, op: OperatorDef) -> bool:
    """True if it is a Split that says nothing of its parts: unpacking one would say how many there are."""
    if op.name != "Split" or "num_outputs" not in op.attributes:
        return False
    return len(node.inputs) < 2 and "num_outputs" not in node.attributes


def _function_name(attribute: str) -> str:
    return attribute if attribute.isidentifier() and attribute.isascii() else readable(attribute, "body")


def _is_keyword_argument(name: str) -> bool:
    return name.isidentifier() and name.isascii() and not keyword.iskeyword(name)
