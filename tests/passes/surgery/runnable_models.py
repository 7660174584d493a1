"""Random models that every runtime runs: floats of one shape, with branches, loops, functions, weights and constants.

Asked for, an input has a default, which is not the value that it gets: nothing may take the default for a constant.
Bodies read values from around them, and give names that values outside have in other bodies.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
from hypothesis import strategies as st
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

Draw = st.DrawFn

#: Calls of these are safe on any floats, one after the other.
UNARY = ("Tanh", "Sigmoid", "Neg", "Abs", "Relu")
BINARY = ("Add", "Sub", "Mul", "Max")
KINDS = ("unary", "binary", "weight", "constant", "split", "function")
SHAPE = (2, 4)
#: An input that says a shape, its default, and the value that it gets.
FORM = "form"
DEFAULT_FORM, GIVEN_FORM = np.array([2, 4]), np.array([4, 2])


class _Maker:
    """Nodes of one model, with the names that can be read."""

    def __init__(self, draw: Draw, kinds: tuple[str, ...]) -> None:
        self.draw = draw
        self.kinds = kinds
        self.initializers: list[onnx.TensorProto] = []
        self.count = 0
        self.has_function = False
        self.has_form = False

    def fresh(self, stem: str) -> str:
        self.count += 1
        return f"{stem}{self.count}"

    def fill(self, nodes: list[onnx.NodeProto], known: list[str], count: int, depth: int) -> None:
        """Append nodes; what they give can be read afterwards."""
        for _ in range(count):
            kind = self.draw(st.sampled_from([*self.kinds, "if", "loop"] if depth == 0 else self.kinds))
            getattr(self, f"_{kind}")(nodes, known)

    def _pick(self, known: list[str]) -> str:
        return self.draw(st.sampled_from(known))

    def _add(self, nodes: list[onnx.NodeProto], known: list[str], node: onnx.NodeProto) -> None:
        node.name = self.fresh("node")
        nodes.append(node)
        known.extend(node.output)

    def _unary(self, nodes: list[onnx.NodeProto], known: list[str]) -> None:
        name = self.draw(st.sampled_from(UNARY))
        self._add(nodes, known, helper.make_node(name, [self._pick(known)], [self.fresh("v")]))

    def _binary(self, nodes: list[onnx.NodeProto], known: list[str]) -> None:
        inputs = [self._pick(known), self._pick(known)]
        self._add(
            nodes, known, helper.make_node(self.draw(st.sampled_from(BINARY)), inputs, [self.fresh("v")])
        )

    def _weight(self, nodes: list[onnx.NodeProto], known: list[str]) -> None:
        name = self.fresh("w")
        content = np.arange(4, dtype=np.float32) * 0.25 + self.count
        self.initializers.append(numpy_helper.from_array(content, name))
        self._add(nodes, known, helper.make_node("Add", [self._pick(known), name], [self.fresh("v")]))

    def _constant(self, nodes: list[onnx.NodeProto], known: list[str]) -> None:
        content = numpy_helper.from_array(np.full(SHAPE, self.count, np.float32))
        self._add(nodes, known, helper.make_node("Constant", [], [self.fresh("c")], value=content))

    def _split(self, nodes: list[onnx.NodeProto], known: list[str]) -> None:
        halves = [self.fresh("half"), self.fresh("half")]
        node = helper.make_node("Split", [self._pick(known)], halves, axis=1, num_outputs=2)
        self._add(nodes, [], node)
        joined = helper.make_node("Concat", [halves[1], halves[0]], [self.fresh("v")], axis=1)
        self._add(nodes, known, joined)

    def _form(self, nodes: list[onnx.NodeProto], known: list[str]) -> None:
        self.has_form = True
        formed, largest, less = (self.fresh("formed") for _ in range(3))
        self._add(nodes, [], helper.make_node("Reshape", [self._pick(known), FORM], [formed]))
        self._add(nodes, [], helper.make_node("ReduceMax", [formed, "first"], [largest]))
        self._add(nodes, [], helper.make_node("Sub", [formed, largest], [less]))
        self._add(nodes, known, helper.make_node("Reshape", [less, "shape"], [self.fresh("v")]))

    def _function(self, nodes: list[onnx.NodeProto], known: list[str]) -> None:
        self.has_function = True
        node = helper.make_node("twice", [self._pick(known)], [self.fresh("v")], domain="local")
        self._add(nodes, known, node)

    def _if(self, nodes: list[onnx.NodeProto], known: list[str]) -> None:
        condition = self.fresh("condition")
        total = self.fresh("total")
        chosen = self._pick(known)
        self._add(nodes, [], helper.make_node("ReduceSum", [chosen], [total], keepdims=0))
        self._add(nodes, [], helper.make_node("Greater", [total, "zero"], [condition]))
        branches = {name: self._body(known, name) for name in ("then_branch", "else_branch")}
        self._add(nodes, known, helper.make_node("If", [condition], [self.fresh("v")], **branches))

    def _body(self, known: list[str], name: str) -> onnx.GraphProto:
        inside: list[onnx.NodeProto] = []
        # Both branches call their result the same.
        seen = list(known)
        self.fill(inside, seen, self.draw(st.integers(0, 2)), 1)
        inside.append(helper.make_node("Identity", [self._pick(seen)], ["branch_result"]))
        return helper.make_graph(inside, name, [], [_info("branch_result")])

    def _loop(self, nodes: list[onnx.NodeProto], known: list[str]) -> None:
        inside: list[onnx.NodeProto] = []
        seen = [*known, "state"]
        self.fill(inside, seen, self.draw(st.integers(0, 2)), 1)
        inside.append(helper.make_node("Add", ["state", self._pick(seen)], ["state_out"]))
        inside.append(helper.make_node("Identity", ["going"], ["going_out"]))
        body = helper.make_graph(
            inside,
            "body",
            [
                helper.make_tensor_value_info("turn", TensorProto.INT64, []),
                helper.make_tensor_value_info("going", TensorProto.BOOL, []),
                _info("state"),
            ],
            [helper.make_tensor_value_info("going_out", TensorProto.BOOL, []), _info("state_out")],
        )
        inputs = ["turns", "", self._pick(known)]
        self._add(nodes, known, helper.make_node("Loop", inputs, [self.fresh("v")], body=body))


def _info(name: str) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, list(SHAPE))


@st.composite
def runnable_models(draw: Draw, *, has_default: bool = False) -> onnx.ModelProto:
    """A valid model; its outputs are the last value and perhaps others. `has_default` lets an input have a default."""
    maker = _Maker(draw, (*KINDS, "form") if has_default else KINDS)
    inputs = ["x", "y"][: draw(st.integers(1, 2))]
    nodes: list[onnx.NodeProto] = []
    known = list(inputs)
    maker.fill(nodes, known, draw(st.integers(2, 7)), 0)
    last = helper.make_node("Add", [known[-1], draw(st.sampled_from(known))], ["result"], name="last")
    nodes.append(last)
    made = [name for name in known if name not in inputs and not name.startswith("c")]
    others = draw(st.lists(st.sampled_from(made), unique=True, max_size=1)) if made else []
    maker.initializers += [
        numpy_helper.from_array(np.array(2, np.int64), "turns"),
        numpy_helper.from_array(np.array(0, np.float32), "zero"),
    ]
    ports = [_info(each) for each in inputs]
    if maker.has_form:
        ports.append(helper.make_tensor_value_info(FORM, TensorProto.INT64, [2]))
        constants = {FORM: DEFAULT_FORM, "first": np.array([0]), "shape": np.array(SHAPE)}
        maker.initializers += [numpy_helper.from_array(each, name) for name, each in constants.items()]
    twice = helper.make_function(
        "local",
        "twice",
        ["a"],
        ["b"],
        [helper.make_node("Add", ["a", "a"], ["b"])],
        [helper.make_opsetid("", 21)],
    )
    graph = helper.make_graph(
        nodes,
        "random",
        ports,
        [_info(each) for each in ["result", *others]],
        maker.initializers,
    )
    return helper.make_model(
        graph,
        opset_imports=[helper.make_opsetid("", 21), helper.make_opsetid("local", 1)],
        functions=[twice] if maker.has_function else [],
        ir_version=10,
    )


def feeds(model: onnx.ModelProto) -> dict[str, NDArray[Any]]:
    """Arrays for the inputs."""
    rng = np.random.default_rng(7)
    return {
        each.name: GIVEN_FORM if each.name == FORM else rng.normal(size=SHAPE).astype(np.float32)
        for each in model.graph.input
    }
