"""Weights that are constants, also those inside functions, as initializers of the main graph: a step trains these.

A function has no initializers: it gets an input for a weight, which every call passes on. So a weight of a function
that is called twice is one weight, and stays one.
"""

from __future__ import annotations

from collections.abc import Collection

import onnx_ir as ir

from onnxsmith.graphs.ir_types import dimensions_of
from onnxsmith.graphs.model import Model
from onnxsmith.passes.editor import Editor
from onnxsmith.passes.surgery.holding import ModelContent, finished, read
from onnxsmith.passes.surgery.replacing_weights import holders
from onnxsmith.passes.values import redirect


def arrays_of(model: ir.Model) -> dict[str, tuple[ir.Value, ir.TensorProtocol]]:
    """The arrays that a model holds, by the names of `model.weights`, with the value that each is."""
    found = holders(ModelContent(model, {}))
    return {
        name: (each.holder if isinstance(each.holder, ir.Value) else each.holder.outputs[0], each.tensor)
        for name, each in found.items()
    }


def with_initializers(model: Model, names: Collection[str]) -> Model:
    """The model whose weights of these names are initializers of its main graph; itself where they are."""
    if all(name in model.ir.graph.initializers for name in names):
        return model
    held = read(model).copy()
    found = arrays_of(held.ir)
    lifting = _Lifting(held.ir)
    for name in names:
        if name in found and name not in held.ir.graph.initializers:
            lifting.lift(name, *found[name])
    return finished(held)


class _Lifting:
    """Moves weights out of functions and inner graphs."""

    def __init__(self, model: ir.Model) -> None:
        self._model = model
        self._editor = Editor(model)
        self._functions = {function.graph: function for function in model.functions.values()}

    def lift(self, name: str, value: ir.Value, tensor: ir.TensorProtocol) -> None:
        """Make one weight an initializer, and let all that read it read that."""
        node = value.producer()
        root = self._editor.root_of(value.graph if node is None else node.graph)
        function = None if root is None else self._functions.get(root)
        if function is None:
            lifted = self._initializer(name, value, tensor)
        else:
            lifted = self._input(function, name, tensor)
        redirect(value, lifted)
        if node is not None and node.graph is not None and not value.is_graph_output():
            node.graph.remove(node, safe=True)
        elif node is None and isinstance(value.graph, ir.Graph) and value.name is not None:
            value.graph.initializers.pop(value.name, None)

    def _initializer(self, name: str, old: ir.Value | None, tensor: ir.TensorProtocol) -> ir.Value:
        graph = self._model.graph
        if name in graph.initializers:
            return graph.initializers[name]
        if old is not None and old.name == name:
            old.name = f"{name}_constant"
        shape = ir.Shape(dimensions_of(tensor))
        made = ir.Value(name=name, type=ir.TensorType(tensor.dtype), shape=shape, const_value=tensor)
        graph.register_initializer(made)
        return made

    def _input(self, function: ir.Function, name: str, tensor: ir.TensorProtocol) -> ir.Value:
        """An input of a function for a weight, which all that call it pass on."""
        found = next((each for each in function.inputs if each.name == name), None)
        if found is not None:
            return found
        made = ir.Value(name=name)
        function.inputs.append(made)
        place = len(function.inputs) - 1
        for root in (self._model.graph, *(each.graph for each in self._model.functions.values())):
            caller = self._functions.get(root)
            for node in list(root.all_nodes()):
                if node.op_identifier() != function.identifier():
                    continue
                if caller is None:
                    passed = self._initializer(name, None, tensor)
                else:
                    passed = self._input(caller, name, tensor)
                node.resize_inputs(place + 1)
                node.replace_input_with(place, passed)
        return made
