"""Details of a model that Python code does not have: names that are no identifiers, notes, the places of constants.

`rebuild` takes these tables and gives the model all of it back. Keys are the variables of the code; `y[1]` is the
constant that stands as input 1 of the node that makes `y`, and `y:body` the graph that is its attribute `body`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import onnx_ir as ir

from onnxsmith.graphs.notes import QUANTIZATION_KEY, notes_of


@dataclass(slots=True)
class Details:
    """The tables of one function or graph. An empty one needs no mention."""

    #: Variable -> the value's name in the model, where it is another.
    values: dict[str, str] = field(default_factory=dict[str, str])
    #: Rule for the names of nodes; see `node_names`.
    node_rule: str = ""
    #: Variable -> the name of the node that makes it, where the rule says another.
    nodes: dict[str, str] = field(default_factory=dict[str, str])
    #: `y[1]` -> the name of the initializer that the literal there stands for.
    literals: dict[str, str] = field(default_factory=dict[str, str])
    #: `y[1]` -> the Constant node that the literal there stands for: its output's name, its own, and the variable of
    #: the node that it comes before, where that is not the first one that uses it.
    constants: dict[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    #: Key in `weights` -> the initializer's name, where it is another.
    weights: dict[str, str] = field(default_factory=dict[str, str])
    #: `y:body` -> the name of the graph.
    graphs: dict[str, str] = field(default_factory=dict[str, str])
    #: `y:body` -> the types of the graph's outputs, where the code has no place for them.
    types: dict[str, list[Any]] = field(default_factory=dict[str, list[Any]])
    #: Variable -> what a loop's statement does not say; see `loops`.
    loops: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])
    #: `y:body` -> the initializers that live in the graph.
    local: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    #: `y:body`, or nothing for the main graph -> the weights that are initializers of the graph and that nothing in
    #: the code mentions.
    unused: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    #: `y.value` -> the name of the tensor that is an attribute; `constant c` -> of one that is a literal in the code.
    tensors: dict[str, str] = field(default_factory=dict[str, str])
    #: Variable -> the type that the model says its value has, where inference knows less.
    value_types: dict[str, Any] = field(default_factory=dict[str, Any])
    #: `value y` -> dimensions that no type can say: negative ones.
    shapes: dict[str, list[Any]] = field(default_factory=dict[str, list[Any]])
    #: `value y` -> what its type stands for, then what each dimension stands for.
    denotations: dict[str, list[Any]] = field(default_factory=dict[str, list[Any]])
    #: `value y` -> the tensors that say how it is quantised.
    quantization: dict[str, dict[str, str]] = field(default_factory=dict[str, dict[str, str]])
    #: Variable -> doc string of the node; `y.alpha` -> of its attribute; `graph y:body` -> of a graph; `value y` -> of
    #: an input or output; `weight w` -> of a weight.
    docs: dict[str, str] = field(default_factory=dict[str, str])
    #: The same keys -> metadata.
    metadata: dict[str, dict[str, str]] = field(default_factory=dict[str, dict[str, str]])
    #: Variable -> attributes that a call cannot say: name -> (kind, value).
    attributes: dict[str, dict[str, tuple[str, Any]]] = field(
        default_factory=dict[str, dict[str, tuple[str, Any]]]
    )
    #: Attribute parameter -> the attribute's name, where it is another.
    parameters: dict[str, str] = field(default_factory=dict[str, str])
    #: Names of all inputs, where initializers are among them.
    inputs: list[str] = field(default_factory=list[str])

    def entries(self) -> dict[str, Any]:
        """The tables that are not empty, by name."""
        return {name: value for name in self.__slots__ if (value := getattr(self, name))}

    def note_weight(self, key: str, tensor: ir.TensorProtocol) -> None:
        """Keep what is said of a tensor."""
        if tensor.doc_string:
            self.docs[f"weight {key}"] = tensor.doc_string

    def note_initializer(self, value: ir.Value) -> None:
        """Keep what is said of the value that a tensor fills."""
        key = f"initializer {value.name}"
        if value.doc_string:
            self.docs.setdefault(key, value.doc_string)
        if value.metadata_props:
            self.metadata.setdefault(key, dict(sorted(value.metadata_props.items())))
        quantization = notes_of(value).get(QUANTIZATION_KEY)
        if quantization:
            self.quantization[key] = dict(quantization)
