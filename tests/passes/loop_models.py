"""Random models full of loops: turns that are known, or given, or none; values that change, stay, or are put together.

Bodies compute again what they could have computed once, read around them, hold loops themselves, and in loops that may
take no turn they hold what fails when it runs.
"""

from __future__ import annotations

import numpy as np
import onnx
from hypothesis import strategies as st
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

Draw = st.DrawFn
SHAPE = (2, 3)
UNARY = ("Tanh", "Neg", "Abs", "Relu", "Sigmoid")
BINARY = ("Add", "Sub", "Mul", "Max")


class _Maker:
    def __init__(self, draw: Draw) -> None:
        self.draw = draw
        self.count = 0

    def fresh(self, stem: str) -> str:
        self.count += 1
        return f"{stem}{self.count}"

    def pick(self, known: list[str]) -> str:
        return self.draw(st.sampled_from(known))

    def fill(self, known: list[str], depth: int, *, may_fail: bool = False) -> list[onnx.NodeProto]:
        """Some nodes; what they give is known afterwards."""
        nodes: list[onnx.NodeProto] = []
        kinds = ["unary", "binary", "constant", "matmul", *(["failing"] if may_fail else [])]
        if depth < 2:
            kinds += ["loop", "scan", "loop"]
        for _ in range(self.draw(st.integers(1, 4))):
            getattr(self, f"_{self.draw(st.sampled_from(kinds))}")(nodes, known, depth)
        return nodes

    def _unary(self, nodes: list[onnx.NodeProto], known: list[str], _: int) -> None:
        name = self.fresh("v")
        nodes.append(helper.make_node(self.draw(st.sampled_from(UNARY)), [self.pick(known)], [name]))
        known.append(name)

    def _binary(self, nodes: list[onnx.NodeProto], known: list[str], _: int) -> None:
        name, operands = self.fresh("v"), [self.pick(known), self.pick(known)]
        nodes.append(helper.make_node(self.draw(st.sampled_from(BINARY)), operands, [name]))
        known.append(name)

    def _constant(self, nodes: list[onnx.NodeProto], known: list[str], _: int) -> None:
        name = self.fresh("c")
        content = np.full(SHAPE, self.draw(st.integers(-2, 2)) * 0.5, np.float32)
        nodes.append(helper.make_node("Constant", [], [name], value=numpy_helper.from_array(content)))
        known.append(name)

    def _matmul(self, nodes: list[onnx.NodeProto], known: list[str], _: int) -> None:
        name = self.fresh("v")
        nodes.append(helper.make_node("MatMul", [self.pick(known), "square"], [name]))
        known.append(name)

    def _failing(self, nodes: list[onnx.NodeProto], known: list[str], _: int) -> None:
        """What is out of range: it runs in loops of no turns only."""
        name = self.fresh("v")
        nodes.append(helper.make_node("Gather", [self.pick(known), "far"], [f"{name}_failed"]))
        nodes.append(helper.make_node("Add", [f"{name}_failed", self.pick(known)], [name]))
        known.append(name)

    def _loop(self, nodes: list[onnx.NodeProto], known: list[str], depth: int) -> None:
        turns = self.draw(st.sampled_from(["none", "one", "three", "given", "nothing_given"]))
        inputs = [turns, self.draw(st.sampled_from(["", "yes", "asked"]))]
        states = [self.fresh("s") for _ in range(self.draw(st.integers(1, 3)))]
        seen = [*known, *states]
        inside = self.fill(seen, depth + 1, may_fail=turns in ("none", "nothing_given"))
        going, turn = self.fresh("g"), self.fresh("t")
        float_turn = self.fresh("f")
        inside.append(helper.make_node("Cast", [turn], [float_turn], to=TensorProto.FLOAT))
        changed: list[str] = []
        for state in states:
            changed.append(self.fresh("o"))
            kind = self.draw(st.sampled_from(["same", "sum", "count"]))
            if kind == "same":
                inside.append(helper.make_node("Identity", [state], [changed[-1]]))
            else:
                other = float_turn if kind == "count" else self.pick(seen)
                inside.append(helper.make_node("Add", [state, other], [changed[-1]]))
        elements = [self.fresh("e") for _ in range(self.draw(st.integers(0, 2)))]
        for element in elements:
            inside.append(
                helper.make_node(
                    self.draw(st.sampled_from(["Identity", "Neg"])), [self.pick(seen)], [element]
                )
            )
        inside.append(helper.make_node("Identity", [self.pick([going, "yes"])], [f"{going}o"]))
        body = helper.make_graph(
            inside,
            "body",
            [_info(turn, (), TensorProto.INT64), _info(going, (), TensorProto.BOOL), *map(_info, states)],
            [_info(f"{going}o", (), TensorProto.BOOL), *map(_info, changed), *map(_info, elements)],
        )
        inputs += [self.pick(known) for _ in states]
        outputs = [self.fresh("v") for _ in (*states, *elements)]
        nodes.append(helper.make_node("Loop", inputs, outputs, body=body))
        known.extend(outputs[: len(states)])
        for name in outputs[len(states) :]:
            self._sum_up(nodes, known, name, 0)

    def _scan(self, nodes: list[onnx.NodeProto], known: list[str], depth: int) -> None:
        state, column = self.fresh("s"), self.fresh("x")
        axis, length = self.draw(st.sampled_from([(0, 2), (1, 3), (-1, 3)]))
        seen = [*known, state]
        inside = self.fill(seen, depth + 1)
        wide, result, element = self.fresh("w"), self.fresh("o"), self.fresh("e")
        inside.append(helper.make_node("ReduceMax", [column], [wide], keepdims=0))
        inside.append(helper.make_node("Add", [state, wide], [result]))
        inside.append(helper.make_node("Mul", [self.pick(seen), wide], [element]))
        size = SHAPE[1] if axis == 0 else SHAPE[0]
        body = helper.make_graph(
            inside, "body", [_info(state), _info(column, (size,))], [_info(result), _info(element)]
        )
        out_axis = self.draw(st.sampled_from([0, 1, 2, -1]))
        outputs = [self.fresh("v"), self.fresh("v")]
        ways = self.draw(st.tuples(st.sampled_from([0, 1]), st.sampled_from([0, 1])))
        node = helper.make_node(
            "Scan",
            [self.pick(known), self.pick(known)],
            outputs,
            body=body,
            num_scan_inputs=1,
            scan_input_axes=[axis],
            scan_input_directions=[ways[0]],
            scan_output_axes=[out_axis],
            scan_output_directions=[ways[1]],
        )
        assert length == SHAPE[axis]
        nodes.append(node)
        known.append(outputs[0])
        self._sum_up(nodes, known, outputs[1], out_axis)

    def _sum_up(self, nodes: list[onnx.NodeProto], known: list[str], name: str, axis: int) -> None:
        """Read what was put together, in its order: weighted by place, if not by nobody at all."""
        if not self.draw(st.booleans()):
            return
        total, axes = self.fresh("v"), self.fresh("a")
        content = numpy_helper.from_array(np.array([axis], np.int64))
        nodes.append(helper.make_node("Constant", [], [axes], value=content))
        running = self.fresh("r")
        nodes.append(helper.make_node("CumSum", [name, axes], [running]))
        nodes.append(helper.make_node("ReduceSum", [running, axes], [total], keepdims=0))
        known.append(total)


def _info(name: str, shape: tuple[int, ...] = SHAPE, dtype: int = TensorProto.FLOAT) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, dtype, list(shape))


@st.composite
def loop_models(draw: Draw) -> onnx.ModelProto:
    """A valid model that runs on what `loop_feeds` gives."""
    maker = _Maker(draw)
    known = ["x", "y"]
    nodes = maker.fill(known, 0)
    maker._loop(nodes, known, 0)
    nodes.append(helper.make_node("Add", [known[-1], maker.pick(known)], ["result"]))
    constants = {
        "none": np.array(0, np.int64),
        "one": np.array(1, np.int64),
        "three": np.array(3, np.int64),
        "yes": np.array(True),
        "square": np.arange(9, dtype=np.float32).reshape(3, 3) / 8,
    }
    graph = helper.make_graph(
        nodes,
        "loops",
        [
            _info("x"),
            _info("y"),
            _info("given", (), TensorProto.INT64),
            _info("nothing_given", (), TensorProto.INT64),
            _info("asked", (), TensorProto.BOOL),
            _info("far", (), TensorProto.INT64),
        ],
        [_info("result")],
        [numpy_helper.from_array(content, name) for name, content in constants.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


def loop_feeds() -> dict[str, NDArray[np.generic]]:
    """Arrays for the inputs."""
    rng = np.random.default_rng(3)
    return {
        "x": rng.normal(size=SHAPE).astype(np.float32),
        "y": rng.normal(size=SHAPE).astype(np.float32),
        "given": np.array(2, np.int64),
        "nothing_given": np.array(0, np.int64),
        "asked": np.array(True),
        "far": np.array(99, np.int64),
    }
