"""A stranger's model is data: no text in it becomes code, and what cannot be decompiled is refused in clear words."""

from __future__ import annotations

import builtins
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import AttributeProto, TensorProto, helper, numpy_helper

import onnxsmith
from onnxsmith.errors import ExternalDataError, OnnxsmithError
from tests.decompile.fidelity import differences
from tests.decompile.hostile import PLACES, TEXTS, base, everywhere
from tests.decompile.only_onnxsmith import offences
from tests.decompile.round_trip import compile_text, proto_of_file

#: No model of these tests may take longer, in seconds.
PATIENCE = 60


def trouble(model: onnx.ModelProto) -> str | None:
    """What goes wrong on the way of a model through Python; None when it comes back and nothing else happened."""
    try:
        text = onnxsmith.decompile(model)
        if found := offences(text):
            return f"is refused before it runs: {found[:3]}"
        proto = compile_text(text)
    except Exception as error:
        return f"{type(error).__name__}: {str(error)[:300]}"
    finally:
        was_struck = builtins.__dict__.pop("PWNED", None)
    if was_struck:
        return "the text was run as code"
    found = differences(model, proto)
    return "; ".join(found[:3]) or None


@pytest.mark.parametrize("shift", range(len(TEXTS)))
def test_no_text_becomes_code(shift: int) -> None:
    """Each text comes to each place in one of these tests: all places have a text, each another one."""
    texts = {place: TEXTS[(index + shift) % len(TEXTS)] for index, place in enumerate(PLACES)}
    model = base()
    for place, text in texts.items():
        PLACES[place](model, text)
    found = trouble(model)
    assert found is None, f"{found}; alone it happens with {alone(texts)}"


def alone(texts: dict[str, str]) -> list[str]:
    """The places where a text does harm even when all else is harmless."""
    wrong: list[str] = []
    for place, text in texts.items():
        model = base()
        PLACES[place](model, text)
        if (found := trouble(model)) is not None:
            wrong.append(f"{place} {text[:60]!r}: {found}")
    return wrong


@pytest.mark.parametrize("text", [each for each in TEXTS if len(each) < 1000], ids=ascii)
def test_no_text_in_all_places_becomes_code(text: str) -> None:
    assert trouble(everywhere(text)) is None


# ---- models out of all proportion, or wrong ----


def identity_model(
    *nodes: onnx.NodeProto, functions: Any = (), imports: Any = (("", 21),)
) -> onnx.ModelProto:
    """A model of these nodes, from x to y."""
    graph = helper.make_graph(
        list(nodes),
        "g",
        [helper.make_tensor_value_info("x", 1, [2])],
        [helper.make_tensor_value_info("y", 1, [2])],
    )
    opsets = [helper.make_opsetid(*each) for each in imports]
    return helper.make_model(graph, functions=list(functions), opset_imports=opsets, ir_version=10)


def function(name: str, *calls: str) -> onnx.FunctionProto:
    """A function that calls others, one after the other."""
    names = ["a", *(f"v{index}" for index in range(len(calls) - 1)), "r"]
    nodes = [
        helper.make_node(call, [names[index]], [names[index + 1]], domain="local")
        for index, call in enumerate(calls)
    ]
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid("local", 1)]
    return helper.make_function("local", name, ["a"], ["r"], nodes, opsets)


def calling(*functions: onnx.FunctionProto) -> onnx.ModelProto:
    call = helper.make_node(functions[0].name, ["x"], ["y"], domain="local")
    return identity_model(call, functions=functions, imports=(("", 21), ("local", 1)))


def nested(depth: int, op: str = "If") -> onnx.ModelProto:
    """Bodies within bodies; filled in place, since protobuf copies nothing that is nested this deep."""
    model = identity_model(imports=(("", 21), ("custom", 1)))
    model.graph.input.append(helper.make_tensor_value_info("b", 9, []))
    graph = model.graph
    for _ in range(depth):
        node = graph.node.add(op_type=op, domain="" if op == "If" else "custom", input=["b"], output=["y"])
        if op == "If":
            node.attribute.append(helper.make_attribute("else_branch", leaf("Neg")))
        attribute = node.attribute.add(name="then_branch", type=AttributeProto.GRAPH)
        graph = attribute.g
        graph.name = "g"
        graph.output.append(helper.make_tensor_value_info("y", 1, [2]))
    graph.node.extend(leaf("Relu").node)
    return model


def leaf(op: str) -> onnx.GraphProto:
    return helper.make_graph(
        [helper.make_node(op, ["x"], ["y"])], "g", [], [helper.make_tensor_value_info("y", 1, [2])]
    )


def long_list(**values: Any) -> onnx.ModelProto:
    node = helper.make_node("Custom", ["x"], ["y"], domain="custom", **values)
    return identity_model(node, imports=(("", 21), ("custom", 1)))


def with_initializer(tensor: TensorProto) -> onnx.ModelProto:
    model = identity_model(helper.make_node("Add", ["x", tensor.name], ["y"]))
    model.graph.initializer.append(tensor)
    return model


def chain(length: int) -> onnx.ModelProto:
    names = ["x", *(f"v{index}" for index in range(length - 1)), "y"]
    return identity_model(
        *(helper.make_node("Relu", [names[index]], [names[index + 1]]) for index in range(length))
    )


def untyped_attribute() -> onnx.ModelProto:
    model = identity_model(helper.make_node("LeakyRelu", ["x"], ["y"]))
    model.graph.node[0].attribute.append(AttributeProto(name="alpha"))
    return model


def reference() -> onnx.NodeProto:
    node = helper.make_node("LeakyRelu", ["x"], ["y"])
    node.attribute.add(name="alpha", type=onnx.AttributeProto.FLOAT, ref_attr_name="alpha")
    return node


def negative_dimension() -> onnx.ModelProto:
    model = identity_model(helper.make_node("Relu", ["x"], ["y"]))
    model.graph.input[0].type.tensor_type.shape.dim[0].dim_value = -5
    return model


#: Models that come back as they were, or are refused with an error of ours.
EXTREMES: dict[str, Callable[[], onnx.ModelProto]] = {
    "20 nested Ifs": lambda: nested(20),
    "200 nested Ifs": lambda: nested(200),
    "200 nested bodies": lambda: nested(200, "Custom"),
    "a function that calls itself": lambda: calling(function("f", "f")),
    "functions that call each other": lambda: calling(function("f", "g"), function("g", "f")),
    "a ring of functions": lambda: calling(*(function(f"f{i}", f"f{(i + 1) % 50}") for i in range(50))),
    "functions that double 60 times": lambda: calling(
        *(function(f"f{i}", f"f{i + 1}", f"f{i + 1}") for i in range(60)), relu_function("f60")
    ),
    "300 functions in a row": lambda: calling(
        *(function(f"f{i}", f"f{i + 1}") for i in range(300)), relu_function("f300")
    ),
    "a call of a function that is not there": lambda: calling(function("f", "nowhere")),
    "100,000 integers": lambda: long_list(values=list(range(100_000))),
    "100,000 floats": lambda: long_list(values=[0.5] * 100_000),
    "20,000 strings": lambda: long_list(values=["text"] * 20_000),
    "a long string": lambda: long_list(values="x\n" * 500_000),
    "5,000 nodes in a row": lambda: chain(5_000),
    "a node that feeds itself": lambda: identity_model(helper.make_node("Add", ["x", "y"], ["y"])),
    "a ring of nodes": lambda: identity_model(
        helper.make_node("Add", ["x", "y"], ["z"]), helper.make_node("Relu", ["z"], ["y"])
    ),
    "nodes in the wrong order": lambda: identity_model(
        helper.make_node("Relu", ["z"], ["y"]), helper.make_node("Neg", ["x"], ["z"])
    ),
    "a value made twice": lambda: identity_model(
        helper.make_node("Relu", ["x"], ["y"]), helper.make_node("Neg", ["x"], ["y"])
    ),
    "a value from nowhere": lambda: identity_model(helper.make_node("Relu", ["nowhere"], ["y"])),
    "an output from nowhere": lambda: identity_model(),
    "a node without operator": lambda: identity_model(helper.make_node("", ["x"], ["y"])),
    "an operator that ONNX lacks": lambda: identity_model(helper.make_node("NoSuchOp", ["x"], ["y"])),
    "an operator with too many inputs": lambda: identity_model(helper.make_node("Relu", ["x"] * 3, ["y"])),
    "an attribute that Relu lacks": lambda: identity_model(helper.make_node("Relu", ["x"], ["y"], no="t")),
    "an opset of the future": lambda: identity_model(
        helper.make_node("Relu", ["x"], ["y"]), imports=(("", 9999),)
    ),
    "no opset": lambda: identity_model(helper.make_node("Relu", ["x"], ["y"]), imports=()),
    "an attribute without type": untyped_attribute,
    "a dimension below zero": negative_dimension,
    "a tensor with too few bytes": lambda: with_initializer(
        TensorProto(name="w", data_type=1, dims=[2], raw_data=b"1")
    ),
    "a tensor of an unknown type": lambda: with_initializer(
        TensorProto(name="w", data_type=99, dims=[2], raw_data=b"1")
    ),
    "a tensor larger than memory": lambda: with_initializer(
        TensorProto(name="w", data_type=1, dims=[2**40, 2**20])
    ),
    "an attribute of no function": lambda: identity_model(reference()),
    "no graph": lambda: onnx.ModelProto(ir_version=10),
}


def relu_function(name: str) -> onnx.FunctionProto:
    nodes = [helper.make_node("Relu", ["a"], ["r"])]
    return helper.make_function("local", name, ["a"], ["r"], nodes, [helper.make_opsetid("", 21)])


@pytest.mark.parametrize("name", EXTREMES)
def test_extremes_come_back_or_are_refused(name: str) -> None:
    model = EXTREMES[name]()
    start = time.monotonic()
    proto, refusal = None, ""
    try:
        proto = compile_text(onnxsmith.decompile(model))
    except OnnxsmithError as error:
        refusal = str(error)
    if proto is None:
        assert refusal.strip()
    elif name != "nodes in the wrong order":  # which may be put right
        assert differences(model, proto) == []
    assert time.monotonic() - start < PATIENCE


# ---- data in other files ----


def external(folder: Path, location: str) -> Path:
    """A model file whose weight lies at `location`."""
    weight = TensorProto(name="w", data_type=1, dims=[2], data_location=TensorProto.EXTERNAL)
    for key, value in (("location", location), ("offset", "0"), ("length", "8")):
        weight.external_data.add(key=key, value=value)
    path = folder / "model.onnx"
    path.write_bytes(with_initializer(weight).SerializeToString())
    return path


@pytest.mark.parametrize("weights", ["inline", "external", "safetensors"])
@pytest.mark.parametrize("kind", ["upwards", "absolute", "link", "linked folder", "missing", "empty"])
def test_data_out_of_the_folder_is_refused(tmp_path: Path, kind: str, weights: Any) -> None:
    inside, secret = tmp_path / "inside", tmp_path / "secret"
    inside.mkdir()
    secret.write_bytes(np.float32([1, 2]).tobytes())
    os.symlink(secret, inside / "link")
    os.symlink(tmp_path, inside / "folder")
    location = {
        "upwards": "../secret",
        "absolute": str(secret),
        "link": "link",
        "linked folder": "folder/secret",
        "missing": "nowhere",
        "empty": "",
    }[kind]
    path = external(inside, location)
    if weights != "safetensors":  # a text alone has no file for them
        with pytest.raises(ExternalDataError):
            onnxsmith.decompile(path, weights=weights)
    with pytest.raises(ExternalDataError):
        onnxsmith.decompile_to(path, tmp_path / "out", weights=weights)


@pytest.mark.parametrize("weights", ["inline", "external", "safetensors"])
def test_data_beside_the_model_is_found(tmp_path: Path, weights: Any) -> None:
    values = np.float32([1, 2])
    (tmp_path / "weights").write_bytes(values.tobytes())
    path = external(tmp_path, "weights")
    folder = tmp_path if weights == "external" else tmp_path / "out"
    proto = proto_of_file(Path(onnxsmith.decompile_to(path, folder, weights=weights)))
    assert np.array_equal(numpy_helper.to_array(proto.graph.initializer[0], str(tmp_path)), values)


@pytest.mark.parametrize("content", [b"", b"no model", b"\x08", b"\xff" * 100, "é".encode() * 50])
def test_files_that_are_no_models_are_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(content)
    with pytest.raises(OnnxsmithError):
        onnxsmith.decompile(path)


def test_files_nested_too_deeply_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(nested(200).SerializeToString())
    with pytest.raises(OnnxsmithError):
        onnxsmith.decompile(path)


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(OnnxsmithError):
        onnxsmith.decompile(tmp_path / "nowhere.onnx")


def test_single_pieces_are_data_too() -> None:
    model = everywhere(TEXTS[1])
    for piece in (*model.functions, *model.graph.node):
        is_part = isinstance(piece, onnx.NodeProto)
        assert offences(onnxsmith.decompile(piece), is_part=is_part) == []
    assert "PWNED" not in builtins.__dict__


def test_a_node_without_outputs_is_refused() -> None:
    with pytest.raises(OnnxsmithError, match="has no outputs"):
        onnxsmith.decompile(onnx.NodeProto())


def test_a_type_without_an_element_type_is_refused() -> None:
    node = helper.make_node("Optional", [], ["y"], type=onnx.TypeProto())
    with pytest.raises(OnnxsmithError, match="'type' of Optional '' is a type without an element type"):
        onnxsmith.decompile(node)
