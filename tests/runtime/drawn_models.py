"""Models drawn at random for the law of sessions: any value may be an output, also an input, a weight, or one twice."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from onnxsmith import load

Arrays = tuple[np.ndarray, ...]

_OPERATORS: dict[str, Callable[..., np.ndarray]] = {
    "Add": np.add,
    "Sub": np.subtract,
    "Max": np.maximum,
    "Neg": np.negative,
    "Identity": np.copy,
}
#: Below and above what results are copied out of a buffer for.
_SIZES = (1, 3, 2000)


@dataclass(frozen=True)
class Drawn:
    """A model, which outputs follow which inputs of its state, and what numpy computes for it."""

    model: Any
    pairs: dict[str, str]
    inputs: Callable[[np.random.Generator], Arrays]
    compute: Callable[[Arrays, Mapping[str, np.ndarray]], tuple[Arrays, dict[str, np.ndarray]]]
    state: dict[str, tuple[int, ...]]


def drawn_model(rng: np.random.Generator) -> Drawn:
    """A model of up to five nodes on two inputs, up to two of state, and a weight; all of one size."""
    size = int(rng.choice(_SIZES))
    states = ["h", "k"][: int(rng.integers(0, 3))]
    inputs = ["x", "y"]
    weight = rng.normal(size=size).astype(np.float32)
    names = [*inputs, *states, "w"]
    nodes: list[tuple[str, list[str], str]] = []
    for count in range(int(rng.integers(0, 6))):
        operator = str(rng.choice(list(_OPERATORS)))
        read = [str(each) for each in rng.choice(names, 1 if operator in ("Neg", "Identity") else 2)]
        nodes.append((operator, read, f"v{count}"))
        names.append(f"v{count}")
    following = [str(each) for each in rng.permutation(names)[: len(states)]]
    results = [str(each) for each in rng.choice(names, int(rng.integers(1, 4)))]
    outputs = [str(each) for each in rng.permutation([*following, *results])]
    pairs = dict(zip(states, following, strict=True))

    declared = size if rng.random() < 0.6 else "N"
    made: onnx.ModelProto = helper.make_model(
        helper.make_graph(
            [helper.make_node(operator, read, [name]) for operator, read, name in nodes],
            "drawn",
            [_typed(name, declared) for name in (*inputs, *states)],
            [_typed(name, declared) for name in outputs],
            [numpy_helper.from_array(weight, "w")],
        ),
        opset_imports=[helper.make_opsetid("", 18)],
        ir_version=8,
    )

    def compute(given: Arrays, state: Mapping[str, np.ndarray]) -> tuple[Arrays, dict[str, np.ndarray]]:
        values = {**dict(zip(inputs, given, strict=True)), **state, "w": weight}
        for operator, read, name in nodes:
            values[name] = _OPERATORS[operator](*(values[each] for each in read))
        wanted = tuple(values[each].copy() for each in outputs if each not in following)
        return wanted, {name: values[output].copy() for name, output in pairs.items()}

    def given(rng: np.random.Generator) -> Arrays:
        return tuple(rng.normal(size=size).astype(np.float32) for _ in inputs)

    return Drawn(load(made), pairs, given, compute, dict.fromkeys(states, (size,)))


def _typed(name: str, size: int | str) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, [size])
