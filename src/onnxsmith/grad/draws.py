"""Random operators in graphs that a gradient records several times: branches, bodies of loops, checkpointed functions.

The way back records such a graph again, and a random operator would draw other numbers there. So their numbers are made
of a key and a counter: the key is drawn once, outside, and each iteration of a loop has a key of its own. A node with a
seed draws the same numbers wherever it stands, and stays.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import TypeAlias, cast

import numpy as np
import onnx_ir as ir

from onnxsmith.algorithms.threefry import fraction, threefry
from onnxsmith.core.target import current_graph
from onnxsmith.core.tensor import Tensor
from onnxsmith.core.value import Value
from onnxsmith.grad.operators import op, several
from onnxsmith.grad.steps import Step, content_of, dtype_of, shape_of
from onnxsmith.graphs.identity import is_random
from onnxsmith.graphs.rewriting.scopes import bodies_of
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import Shape, TensorType

#: Two words of 32 bits, as INT64.
Key: TypeAlias = tuple[Tensor, Tensor]

_Functions: TypeAlias = "Mapping[ir.OperatorIdentifier, ir.Function]"


class Draws:
    """The random nodes of a model: which graphs have one, and a number for each node that tells its draws apart."""

    def __init__(self, functions: _Functions) -> None:
        self._functions = functions
        self._found: dict[ir.Graph, bool] = {}
        self._numbers: dict[ir.Node, int] = {}

    def are_in(self, graphs: Iterable[ir.Graph]) -> bool:
        """True if a graph has a random node without a seed, at any depth and in functions that it calls."""
        return any(map(self._is_in, graphs))

    def _is_in(self, graph: ir.Graph) -> bool:
        if graph not in self._found:
            self._found[graph] = False  # no function calls itself
            self._found[graph] = any(self._draws(node) for node in graph)
        return self._found[graph]

    def _draws(self, node: ir.Node) -> bool:
        function = self._functions.get(node.op_identifier())
        if function is not None:
            return self._is_in(function.graph)
        return has_no_seed(node) or self.are_in(bodies_of(node))

    def inside(self, key: Key | None, node: ir.Node) -> Key:
        """The key for the graphs of a node; a new one where nothing around it has one."""
        return _new_key() if key is None else _words(key, self._number(node), np.int64(0))

    def results(self, node: ir.Node, step: Step, key: Key) -> tuple[Tensor, ...]:
        """The results of a random node, as its numbers follow from the key."""
        return _Drawn(step, key, self._number(node)).results()

    def _number(self, node: ir.Node) -> int:
        return self._numbers.setdefault(node, len(self._numbers))


def has_no_seed(node: ir.Node) -> bool:
    """True if each run of a node draws other numbers. As in ONNX's reference, a seed that is no number is none."""
    if not is_random(node):
        return False
    seed = node.attributes.get("seed")
    return seed is None or (not seed.is_ref() and math.isnan(cast(float, seed.value)))


def is_used(inputs: tuple[Value | None, ...], node: ir.Node) -> bool:
    """True if a node draws: a Dropout does in training only."""
    if node.op_type != "Dropout" or len(inputs) < 3:
        return node.op_type != "Dropout"
    training = content_of(inputs[2])
    return training is None or bool(training.any())


def at_turn(key: Key, turn: Value) -> Key:
    """The key of one iteration."""
    return _words(key, 0xFFFFFFFF, cast(Tensor, turn))


def _words(key: Key, high: int, low: Tensor | np.int64) -> Key:
    graph = current_graph()
    counter = graph.lift(np.int64(high)), graph.lift(low)
    return threefry(key, cast("tuple[Tensor, Tensor]", counter))


def _new_key() -> Key:
    # The mask of a dropout has a kernel in every opset of ONNX Runtime; RandomUniform has none from 22 on.
    _, bits = several(op.Dropout(np.ones((2, 32), np.float32), np.float32(0.5), np.array(True), outputs=2))
    words = op.ReduceSum(op.Cast(bits, to=DType.INT64) * 2 ** np.arange(32), np.array([1]), keepdims=0)
    return op.Gather(words, np.int64(0), axis=0), op.Gather(words, np.int64(1), axis=0)


class _Drawn:
    """One random node, with numbers that follow from a key."""

    def __init__(self, step: Step, key: Key, number: int) -> None:
        self._step = step
        self._key = key
        self._number = number

    def results(self) -> tuple[Tensor, ...]:
        step = self._step
        match step.name:
            case "Dropout":
                return self._dropped()
            case "Bernoulli":
                happens = op.Less(self._uniform_like(), op.Cast(step.input(), to=DType.DOUBLE))
                return (self._cast(happens, dtype_of(step.input())),)
            case "Multinomial":
                return (self._chosen(),)
            case "RandomUniform" | "RandomNormal":
                sizes = step.integers("shape") or ()
                made = self._scaled(op.Identity(np.array(sizes, np.int64)), sizes)
                return (self._cast(made, DType.FLOAT),)
            case _:
                made = self._scaled(op.Shape(step.input()), shape_of(step.input()))
                return (self._cast(made, dtype_of(step.input())),)

    def _cast(self, value: Tensor, default: DType | None) -> Tensor:
        """A result in the element type that the node says, or in the default one."""
        given = self._step.attribute("dtype")
        if given is not None:
            return op.Cast(value, to=DType(int(cast(int, given))))
        return op.CastLike(value, self._step.input()) if default is None else op.Cast(value, to=default)

    def _drawn(self, sizes: Tensor, shape: Shape | None) -> Key:
        """Two words for each element of a shape."""
        count = op.Range(np.int64(0), op.ReduceProd(sizes, keepdims=0), np.int64(1))
        graph = current_graph()
        kind = TensorType(DType.INT64, shape)
        made = _words(self._key, self._number, count)
        x, y = (graph.refined(op.Reshape(each, sizes, allowzero=1), kind) for each in made)
        return cast(Tensor, x), cast(Tensor, y)

    def _uniform(self, sizes: Tensor, shape: Shape | None) -> Tensor:
        return fraction(self._drawn(sizes, shape), is_wide=True)

    def _uniform_like(self) -> Tensor:
        given = self._step.input()
        return self._uniform(op.Shape(given), shape_of(given))

    def _scaled(self, sizes: Tensor, shape: Shape | None) -> Tensor:
        """Numbers of the distribution that the node's name and attributes say, as DOUBLE."""
        step = self._step
        if "Uniform" in step.name:
            low = step.number("low", 0.0)
            return self._uniform(sizes, shape) * (step.number("high", 1.0) - low) + low
        # Box and Muller's: a distance and a direction in the plane, of which one coordinate is taken.
        first, second = self._drawn(sizes, shape)
        away = 1.0 - fraction((first, second), is_wide=False)  # above 0
        angle = fraction((second, first), is_wide=False) * (2 * math.pi)
        numbers = op.Cast(op.Sqrt(op.Log(away) * -2.0) * op.Cos(angle), to=DType.DOUBLE)
        return numbers * step.number("scale", 1.0) + step.number("mean", 0.0)

    def _dropped(self) -> tuple[Tensor, Tensor]:
        """The elements that stay, scaled up, and which they are; outside of training all do."""
        step = self._step
        x, given = step.input(), step.optional(1)
        ratio = 0.5 if given is None else op.Cast(given, to=DType.DOUBLE)
        ratio = op.Where(step.input(2), ratio, np.float64(0))
        stays = op.GreaterOrEqual(self._uniform_like(), ratio)
        return op.Where(stays, x / op.CastLike(1.0 - ratio, x), op.CastLike(np.float32(0), x)), stays

    def _chosen(self) -> Tensor:
        """As many classes for each row as the node says, of its logarithms of probabilities."""
        step = self._step
        logits, count = step.input(), step.integer("sample_size", 1)
        chances = op.CumSum(op.Softmax(op.Cast(logits, to=DType.FLOAT), axis=1), np.int64(1))
        sizes = op.Shape(logits)
        rows, classes = op.Slice(sizes, [0], [1]), op.Slice(sizes, [1], [2])
        drawn = self._uniform(op.Concat(rows, np.array([count]), axis=0), (None, count))
        # How many classes end at or below the number that was drawn; rounding may leave all of them.
        ends = op.Unsqueeze(op.Cast(chances, to=DType.DOUBLE), [1])
        is_past = op.GreaterOrEqual(op.Unsqueeze(drawn, [2]), ends)
        passed = op.ReduceSum(op.Cast(is_past, to=DType.INT64), np.array([2]), keepdims=0)
        return self._cast(op.Min(passed, classes - 1), DType.INT32)
