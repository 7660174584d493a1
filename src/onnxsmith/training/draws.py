"""Random numbers of training that follow from a seed and the number of the step.

ONNX Runtime's Dropout draws from a generator inside a session, which no checkpoint can keep. Here the mask is a hash of
a counter, which is state of the step like running statistics: another in each step, and the same bits whenever
training goes on from a state.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx_ir as ir

from onnxsmith.graphs import trained_parameters
from onnxsmith.graphs.ir_types import dimensions_of
from onnxsmith.graphs.model import Model

#: The counter: an input of the step, and its next value.
DRAWS = "draws"
#: Constants of the splitmix64 generator (Steele, Lea and Flood, 2014): an odd step, and two factors that mix.
_GAMMA, _FIRST, _SECOND = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB
#: What tells the draws of two nodes in one step apart: more than any of them has elements.
_BETWEEN = 1 << 44
_BITS = 24  # of a float32


def with_draws(model: Model, seed: int) -> Model:
    """The model whose Dropout nodes, those of the outermost graph without a seed of their own, draw by a counter."""
    if not any(map(_draws, model.ir.graph)) or DRAWS in {*model.ir.graph.initializers}:
        return model
    changed = model.ir.clone()
    graph = changed.graph
    writer = _Writer(graph)
    nodes = [each for each in graph if _draws(each)]
    writer.before = next(iter(graph))
    counter = writer.constant(np.array(seed << 32, np.int64), DRAWS)
    base = writer.mixed(writer.add("Mul", writer.cast(counter, ir.DataType.UINT64), writer.word(_GAMMA)))
    after = writer.add("Add", counter, writer.constant(np.array(1, np.int64)))
    after.name, after.type, after.shape = f"{DRAWS}_next", ir.TensorType(ir.DataType.INT64), ir.Shape([])
    graph.outputs.append(after)
    for number, node in enumerate(nodes):
        writer.before = node
        writer.drop(node, writer.add("Add", base, writer.word(number * _BETWEEN)))
    state = trained_parameters.read_state(changed.metadata_props)
    trained_parameters.note_state(changed.metadata_props, {**state, DRAWS: f"{DRAWS}_next"})
    return Model(changed)


def _draws(node: ir.Node) -> bool:
    """True for a Dropout in training that has no seed."""
    if node.op_type != "Dropout" or node.domain or "seed" in node.attributes or len(node.inputs) < 3:
        return False
    is_training = node.inputs[2]
    if is_training is None:
        return False
    known = ir.convenience.get_const_tensor(is_training)
    return known is None or bool(known.numpy().any())


class _Writer:
    """Writes nodes in front of another one."""

    def __init__(self, graph: ir.Graph) -> None:
        self._graph = graph
        self._count = 0
        self.before: ir.Node | None = None

    def add(self, operator: str, *inputs: ir.Value | None, **attributes: Any) -> ir.Value:
        self._count += 1
        made = ir.node(operator, inputs, attributes, name=f"{DRAWS}_{operator.lower()}_{self._count}")
        made.outputs[0].name = f"{DRAWS}_value_{self._count}"
        assert self.before is not None  # the first node of the graph, or the one that is replaced
        self._graph.insert_before(self.before, made)
        return made.outputs[0]

    def constant(self, array: Any, name: str | None = None) -> ir.Value:
        self._count += 1
        tensor = ir.tensor(array, name=name or f"{DRAWS}_constant_{self._count}")
        value = ir.Value(
            name=tensor.name, type=ir.TensorType(tensor.dtype), shape=ir.Shape(dimensions_of(tensor))
        )
        value.const_value = tensor
        self._graph.register_initializer(value)
        return value

    def word(self, number: int) -> ir.Value:
        return self.constant(np.array(number % (1 << 64), np.uint64))

    def cast(self, value: ir.Value, to: ir.DataType) -> ir.Value:
        return self.add("Cast", value, to=int(to))

    def mixed(self, words: ir.Value) -> ir.Value:
        """Words of 64 bits, each a hash of one."""
        for shift, factor in ((30, _FIRST), (27, _SECOND)):
            moved = self.add("BitShift", words, self.word(shift), direction="RIGHT")
            words = self.add("Mul", self.add("BitwiseXor", words, moved), self.word(factor))
        moved = self.add("BitShift", words, self.word(31), direction="RIGHT")
        return self.add("BitwiseXor", words, moved)

    def drop(self, node: ir.Node, key: ir.Value) -> None:
        """Write what a Dropout computes, with a mask by a key."""
        x, given, is_training = node.inputs[0], node.inputs[1], node.inputs[2]
        assert x is not None
        zero, one = (self.constant(np.array(each, np.float32)) for each in (0.0, 1.0))
        ratio = self.constant(np.array(0.5, np.float32))
        if given is not None:
            ratio = self.cast(given, ir.DataType.FLOAT)
        ratio = self.add("Where", is_training, ratio, zero)
        sizes = self.add("Shape", x)
        count = self.add("ReduceProd", sizes, keepdims=0)
        numbers = self.add(
            "Range", self.constant(np.array(0, np.int64)), count, self.constant(np.array(1, np.int64))
        )
        counter = self.add("Add", self.cast(numbers, ir.DataType.UINT64), key)
        words = self.mixed(self.add("Mul", counter, self.word(_GAMMA)))
        high = self.add("BitShift", words, self.word(64 - _BITS), direction="RIGHT")
        share = self.add(
            "Mul", self.cast(high, ir.DataType.FLOAT), self.constant(np.array(0.5**_BITS, np.float32))
        )
        stays = self.add("GreaterOrEqual", self.add("Reshape", share, sizes, allowzero=1), ratio)
        scaled = self.add("Div", x, self.add("CastLike", self.add("Sub", one, ratio), x))
        result = self.add("Where", stays, scaled, self.add("CastLike", zero, x))
        for old, new in zip(node.outputs, (result, stays), strict=False):
            new.type, new.shape, name = old.type, old.shape, old.name
            old.name, new.name = f"{DRAWS}_replaced_{name}", name
            ir.convenience.replace_all_uses_with(old, new, replace_graph_outputs=True)
        self._graph.remove(node, safe=True)
