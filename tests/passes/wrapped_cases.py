"""ONNX's backend cases, put into branches, loops and functions, with inputs that are weights or have defaults.

Each wrapping takes a model with its inputs and gives another, with the inputs that are left; None where it has no place
for the case. Names are the same inside and outside, and in both branches, as exporters write them. Runs nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

Wrapped: TypeAlias = tuple[onnx.ModelProto, list[Any]]
Wrapping: TypeAlias = Callable[[onnx.ModelProto, Sequence[Any]], Wrapped | None]

_DOMAIN = "wrapped"


def _open_ports(model: onnx.ModelProto) -> list[onnx.ValueInfoProto]:
    held = {each.name for each in model.graph.initializer}
    return [each for each in model.graph.input if each.name not in held]


def _renamed(port: onnx.ValueInfoProto, name: str) -> onnx.ValueInfoProto:
    result = onnx.ValueInfoProto()
    result.CopyFrom(port)
    result.name = name
    return result


def _around(
    model: onnx.ModelProto,
    nodes: Sequence[onnx.NodeProto],
    outputs: Sequence[onnx.ValueInfoProto],
    *,
    inputs: Sequence[onnx.ValueInfoProto] = (),
    weights: Sequence[onnx.TensorProto] = (),
    functions: Sequence[onnx.FunctionProto] = (),
) -> onnx.ModelProto:
    """A model with these nodes and the open inputs of another."""
    imports = {each.domain: each.version for each in model.opset_import}
    imports.setdefault("", 21)
    if functions:
        imports[_DOMAIN] = 1
    return helper.make_model(
        helper.make_graph(nodes, "around", [*_open_ports(model), *inputs], outputs, weights),
        opset_imports=[helper.make_opsetid(*each) for each in imports.items()],
        functions=[*model.functions, *functions],
        ir_version=max(model.ir_version, 10 if functions else 8),
    )


def in_branches(model: onnx.ModelProto, given: Sequence[Any]) -> Wrapped:
    """Both branches of an `If` are the case."""
    graph = model.graph
    branches = {
        name: helper.make_graph(graph.node, name, [], graph.output, graph.initializer)
        for name in ("then_branch", "else_branch")
    }
    outputs = [_renamed(each, f"result_{k}") for k, each in enumerate(graph.output)]
    node = helper.make_node("If", ["chosen"], [each.name for each in outputs], **branches)
    chosen = helper.make_tensor_value_info("chosen", TensorProto.BOOL, [])
    return _around(model, [node], outputs, inputs=[chosen]), [*given, np.array(True)]


def in_a_loop(model: onnx.ModelProto, given: Sequence[Any]) -> Wrapped | None:
    """Two turns of a `Loop`, which puts together what the case gives in each."""
    graph = model.graph
    if any(each.type.WhichOneof("value") != "tensor_type" for each in graph.output):
        return None
    flags = [helper.make_tensor_value_info(name, TensorProto.BOOL, []) for name in ("is_on", "goes_on")]
    turn = helper.make_tensor_value_info("turn", TensorProto.INT64, [])
    body = helper.make_graph(
        [*graph.node, helper.make_node("Identity", ["is_on"], ["goes_on"])],
        "body",
        [turn, flags[0]],
        [flags[1], *graph.output],
        graph.initializer,
    )
    outputs = [
        helper.make_tensor_value_info(f"result_{k}", each.type.tensor_type.elem_type, None)
        for k, each in enumerate(graph.output)
    ]
    node = helper.make_node("Loop", ["turns", "begins"], [each.name for each in outputs], body=body)
    weights = [
        numpy_helper.from_array(np.array(2), "turns"),
        numpy_helper.from_array(np.array(True), "begins"),
    ]
    return _around(model, [node], outputs, weights=weights), list(given)


def in_a_function(model: onnx.ModelProto, given: Sequence[Any]) -> Wrapped:
    """A function that is the case, called twice."""
    graph = model.graph
    names = [each.name for each in _open_ports(model)]
    held = [helper.make_node("Constant", [], [each.name], value=each) for each in graph.initializer]
    results = [each.name for each in graph.output]
    imports = [helper.make_opsetid(each.domain, each.version) for each in model.opset_import]
    if held and not any(each.domain in ("", "ai.onnx") for each in imports):
        imports.append(helper.make_opsetid("", 21))
    function = helper.make_function(_DOMAIN, "Case", names, results, [*held, *graph.node], imports)
    outputs = [[_renamed(each, f"{each.name}_{k}") for each in graph.output] for k in ("first", "second")]
    calls = [
        helper.make_node("Case", names, [each.name for each in ports], domain=_DOMAIN) for ports in outputs
    ]
    return _around(model, calls, [*outputs[0], *outputs[1]], functions=[function]), list(given)


def _with_weights(
    model: onnx.ModelProto, given: Sequence[Any], is_held: Callable[[int], bool], *, has_default: bool = False
) -> Wrapped | None:
    """Some of the inputs as weights, which callers may replace where they are defaults."""
    result = onnx.ModelProto()
    result.CopyFrom(model)
    left: list[Any] = []
    for position, (port, value) in enumerate(zip(_open_ports(model), given, strict=False)):
        kind = port.type.tensor_type.elem_type
        tensor = numpy_helper.from_array(value, port.name) if isinstance(value, np.ndarray) else None
        if not is_held(position) or tensor is None or tensor.data_type != kind:
            left.append(value)
            continue
        result.graph.initializer.append(tensor)
        if not has_default:
            result.graph.input.remove(next(each for each in result.graph.input if each.name == port.name))
            result.ir_version = max(result.ir_version, 4)
    return None if len(left) == len(given) else (result, left)


def of_weights(model: onnx.ModelProto, given: Sequence[Any]) -> Wrapped | None:
    """All inputs are weights: there is nothing left to compute."""
    return _with_weights(model, given, lambda _: True)


def of_one_input(model: onnx.ModelProto, given: Sequence[Any]) -> Wrapped | None:
    """All inputs but the first are weights."""
    return _with_weights(model, given, lambda position: position > 0)


def with_defaults(model: onnx.ModelProto, given: Sequence[Any]) -> Wrapped | None:
    """All inputs but the first have a default."""
    return _with_weights(model, given, lambda position: position > 0, has_default=True)


def of_ir_version_3(model: onnx.ModelProto, given: Sequence[Any]) -> Wrapped | None:
    """The same in the IR version in which every weight was an input."""
    found = with_defaults(model, given)
    if found is not None:
        found[0].ir_version = 3
    return found


def both(first: Wrapping, second: Wrapping) -> Wrapping:
    """One wrapping in another."""

    def wrapped(model: onnx.ModelProto, given: Sequence[Any]) -> Wrapped | None:
        found = first(model, given)
        return None if found is None else second(*found)

    return wrapped


WRAPPINGS: dict[str, Wrapping] = {
    "branches": in_branches,
    "loop": in_a_loop,
    "function": in_a_function,
    "weights": of_weights,
    "one input": of_one_input,
    "defaults": with_defaults,
    "IR version 3": of_ir_version_3,
    "branches with weights": both(of_one_input, in_branches),
    "loop with weights": both(of_one_input, in_a_loop),
    "loop of weights": both(of_weights, in_a_loop),
    "function with weights": both(of_one_input, in_a_function),
    "branches in a loop": both(in_branches, in_a_loop),
    "loop in a loop": both(in_a_loop, in_a_loop),
    "function in branches": both(in_a_function, in_branches),
    "function in a loop": both(in_a_function, in_a_loop),
}
