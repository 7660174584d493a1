"""Parts that bombs are made of: small models by hand, which nothing here checks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

#: More elements than any memory has.
GIANT = 1 << 40
#: More iterations than any patience has.
FOREVER = 1 << 62


@dataclass(frozen=True)
class Bomb:
    """A file that asks for more than it should."""

    name: str
    make: Callable[[], bytes]
    #: The commands that say that something is wrong with the file; of the others, none may die of it.
    refused_by: tuple[str, ...]
    #: True if the model, run as it stands, computes for ever: only commands with a limit of time run it.
    runs_for_ever: bool


#: Of a file that cannot be a model: its tensors, places of data or functions make no sense. Those commands that are not
#: among these may be of use to find out what is wrong with it.
INVALID = ("check", "convert down", "convert up", "optimize", "view", "run --isolated", "outline")
#: Of nodes that wait for each other, which can be looked at.
CIRCULAR = tuple(each for each in INVALID if each != "view")
#: Of a model that breaks a rule of ONNX at a node: it can be read and changed.
BROKEN = ("check",)
#: Of a model that is sound and gives more than memory holds, or that cannot be computed.
UNRUNNABLE = ("run --isolated",)

#: All bombs, by name, in the order of the files.
BOMBS: dict[str, Bomb] = {}

Maker = Callable[[], onnx.ModelProto | bytes]


def bomb(*, refused_by: tuple[str, ...] = (), runs_for_ever: bool = False) -> Callable[[Maker], Maker]:
    """Enter a function that makes a bomb; the bomb is called what the function is called."""

    def enter(make: Maker) -> Maker:
        def made() -> bytes:
            found = make()
            return found if isinstance(found, bytes) else found.SerializeToString()

        name = make.__name__
        assert name not in BOMBS
        BOMBS[name] = Bomb(name, made, refused_by, runs_for_ever)
        return make

    return enter


def info(
    name: str, dtype: int = TensorProto.FLOAT, shape: Sequence[int | str] | None = ()
) -> onnx.ValueInfoProto:
    """A declared value; a scalar of FLOAT by default."""
    return helper.make_tensor_value_info(name, dtype, shape)


def tensor(name: str, content: object, dtype: type = np.int64) -> TensorProto:
    """A weight."""
    return numpy_helper.from_array(np.asarray(content, dtype), name)


def model(
    nodes: Sequence[onnx.NodeProto],
    weights: Sequence[TensorProto] = (),
    *,
    inputs: Sequence[onnx.ValueInfoProto] = (),
    output: int = TensorProto.FLOAT,
    rank: int = 1,
    functions: Sequence[onnx.FunctionProto] = (),
    opset: int = 21,
    domains: Sequence[str] = (),
) -> onnx.ModelProto:
    """A model whose output `y` is a tensor of a rank and of any sizes: one that the checker accepts."""
    shape = [f"size{n}" for n in range(rank)]
    graph = helper.make_graph(nodes, "g", inputs, [info("y", output, shape)], weights)
    imports = [helper.make_opsetid("", opset), *(helper.make_opsetid(each, 1) for each in domains)]
    return helper.make_model(graph, functions=functions, opset_imports=imports, ir_version=10)


def call(op_type: str, inputs: Sequence[str], output: str = "y", **attributes: object) -> onnx.NodeProto:
    """A node with one output."""
    return helper.make_node(op_type, inputs, [output], **attributes)


def loop_body(
    nodes: Sequence[onnx.NodeProto],
    states: Sequence[tuple[str, str]],
    *,
    collected: Sequence[onnx.ValueInfoProto] = (),
    suffix: str = "",
) -> onnx.GraphProto:
    """A body of a Loop that never ends by itself; `states` are scalars of FLOAT, before and after an iteration.

    `suffix` keeps the names of a body apart from those of the body around it.
    """
    return helper.make_graph(
        [call("Identity", [f"going{suffix}"], f"goes_on{suffix}"), *nodes],
        "body",
        [
            info(f"i{suffix}", TensorProto.INT64),
            info(f"going{suffix}", TensorProto.BOOL),
            *(info(before) for before, _ in states),
        ],
        [info(f"goes_on{suffix}", TensorProto.BOOL), *(info(after) for _, after in states), *collected],
    )


def count_and_start(count: int) -> list[TensorProto]:
    """The weights of a loop: how many iterations, that it begins, the first state, and a one."""
    return [
        tensor("count", count),
        tensor("true", True, np.bool_),
        tensor("zero", 0.0, np.float32),
        tensor("one", 1.0, np.float32),
    ]
