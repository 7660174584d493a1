"""Texts that would become code if they were pasted into it, and the places of a model where a text can stand."""

from __future__ import annotations

from collections.abc import Callable

import onnx
from onnx import AttributeProto, TensorProto, helper

#: Sets a mark that the tests look for.
STRIKE = "__import__('builtins').__dict__.__setitem__('PWNED', 1)"

TEXTS = (
    STRIKE,
    f'"""\n{STRIKE}\n"""',
    f"'''\n{STRIKE}\n'''",
    f'"""+{STRIKE}+"""',
    f'"+str({STRIKE})+"',
    f"'+str({STRIKE})+'",
    f"x\n    {STRIKE}\n",
    f"x\n{STRIKE}\n",
    f"x\r{STRIKE}\r",
    f"x\r\n{STRIKE}\r\n",
    f"x\x0c{STRIKE}",
    f"x\x85{STRIKE}\x85",
    f"x\u2028{STRIKE}\u2028",
    f"x\u2029{STRIKE}",
    f"x\0{STRIKE}",
    f"x;{STRIKE};",
    f"x):\n    {STRIKE}\ndef g(y",
    f"x, y=({STRIKE})",
    f"{{{STRIKE}}}",
    f"{{{{{STRIKE}}}}}",
    f'\\"""\n{STRIKE}\n\\"""',
    f'\\\\"""\n{STRIKE}',
    f'\\"+{STRIKE}#',
    f"\\\n{STRIKE}",
    f"\\N{{LINE FEED}}{STRIKE}",
    f"\\x0a{STRIKE}",
    f"\\u000a{STRIKE}",
    f"# type: ignore\n{STRIKE}",
    f"-*- coding: utf-7 -*-\n+AAo-{STRIKE}",
    f"x # noqa\n{STRIKE}",
    f"\u202e{STRIKE}\u202c",
    f"\u200b{STRIKE}",
    "x\ud83d".encode("utf-8", "ignore").decode() + f"\U000e0001{STRIKE}",
    "__builtins__",
    "__import__",
    "os.system",
    "a\\",
    '"',
    "'",
    '"""',
    "\\",
    "x" * 5000,
)


def base() -> onnx.ModelProto:
    """A model in which every kind of text has a place."""
    branch = helper.make_graph(
        [helper.make_node("Add", ["x", "w"], ["inner"], name="inner_node")],
        "branch",
        [],
        [helper.make_tensor_value_info("inner", 1, None)],
    )
    body = helper.make_graph(
        [
            helper.make_node("Identity", ["cond_in"], ["cond_out"]),
            helper.make_node("Mul", ["state", "w"], ["next"]),
        ],
        "body",
        [
            helper.make_tensor_value_info("i", TensorProto.INT64, []),
            helper.make_tensor_value_info("cond_in", TensorProto.BOOL, []),
            helper.make_tensor_value_info("state", 1, None),
        ],
        [
            helper.make_tensor_value_info("cond_out", TensorProto.BOOL, []),
            helper.make_tensor_value_info("next", 1, None),
        ],
    )
    nodes = [
        helper.make_node("If", ["b"], ["chosen"], name="choice", then_branch=branch, else_branch=branch),
        helper.make_node("Loop", ["count", "", "chosen"], ["looped"], name="loop", body=body),
        helper.make_node("Custom", ["looped"], ["c"], domain="custom", text="t", texts=["t", "u"]),
        helper.make_node("f", ["c"], ["y"], domain="local", alpha=0.5),
        helper.make_node(
            "Constant", [], ["s"], value=helper.make_tensor("t", TensorProto.STRING, [1], [b"s"])
        ),
    ]
    graph = helper.make_graph(
        nodes,
        "graph",
        [helper.make_tensor_value_info("x", 1, ["N", 2]), helper.make_tensor_value_info("b", 9, [])],
        [helper.make_tensor_value_info("y", 1, ["M", 2])],
        [
            helper.make_tensor("w", 1, [2], [1.0, 2.0]),
            helper.make_tensor("count", TensorProto.INT64, [], [3]),
        ],
    )
    function = helper.make_function(
        "local",
        "f",
        ["a"],
        ["r"],
        [helper.make_node("LeakyRelu", ["a"], ["r"])],
        [helper.make_opsetid("", 21)],
        ["alpha"],
        [helper.make_attribute("beta", "text")],
    )
    function.node[0].attribute.add(name="alpha", type=AttributeProto.FLOAT, ref_attr_name="alpha")
    imports = [
        helper.make_opsetid(domain, version) for domain, version in (("", 21), ("local", 1), ("custom", 1))
    ]
    model = helper.make_model(graph, functions=[function], opset_imports=imports, ir_version=10)
    helper.set_model_props(model, {"key": "value"})
    return model


def rename(model: onnx.ModelProto, was: str, now: str) -> None:
    """Give a value another name wherever it is meant."""

    def in_graph(graph: onnx.GraphProto) -> None:
        for info in (*graph.input, *graph.output, *graph.initializer):
            info.name = now if info.name == was else info.name
        in_nodes(graph)

    def in_nodes(holder: onnx.GraphProto | onnx.FunctionProto) -> None:
        for node in holder.node:
            for field in (node.input, node.output):
                field[:] = [now if name == was else name for name in field]
            for attribute in node.attribute:
                if attribute.HasField("g"):
                    in_graph(attribute.g)

    in_graph(model.graph)
    for function in model.functions:
        for field in (function.input, function.output):
            field[:] = [now if name == was else name for name in field]
        in_nodes(function)


Put = Callable[[onnx.ModelProto, str], object]


def _function_name(model: onnx.ModelProto, text: str) -> None:
    model.functions[0].name = model.graph.node[3].op_type = text


def _function_domain(model: onnx.ModelProto, text: str) -> None:
    model.functions[0].domain = model.graph.node[3].domain = model.opset_import[1].domain = text


def _overload(model: onnx.ModelProto, text: str) -> None:
    model.functions[0].overload = model.graph.node[3].overload = text


def _custom_domain(model: onnx.ModelProto, text: str) -> None:
    model.graph.node[2].domain = model.opset_import[2].domain = text


def _function_attribute(model: onnx.ModelProto, text: str) -> None:
    function = model.functions[0]
    function.attribute[0] = function.node[0].attribute[0].ref_attr_name = text
    model.graph.node[3].attribute[0].name = text


def _subgraph(model: onnx.ModelProto) -> onnx.GraphProto:
    return model.graph.node[1].attribute[0].g


def _dimension(model: onnx.ModelProto, text: str) -> None:
    for info in (model.graph.input[0], model.graph.output[0]):
        info.type.tensor_type.shape.dim[0].dim_param = text


#: Each place by name, and how a text gets there.
PLACES: dict[str, Put] = {
    "name of an input": lambda m, text: rename(m, "x", text),
    "name of an output": lambda m, text: rename(m, "y", text),
    "name of a value": lambda m, text: rename(m, "chosen", text),
    "name of a value in a branch": lambda m, text: rename(m, "inner", text),
    "name of a state of a loop": lambda m, text: rename(m, "state", text),
    "name of an initializer": lambda m, text: rename(m, "w", text),
    "name of a condition": lambda m, text: rename(m, "b", text),
    "name of a node": lambda m, text: setattr(m.graph.node[2], "name", text),
    "name of an If": lambda m, text: setattr(m.graph.node[0], "name", text),
    "name of a graph": lambda m, text: setattr(m.graph, "name", text),
    "name of a body": lambda m, text: setattr(_subgraph(m), "name", text),
    "name of a dimension": _dimension,
    "name of a custom operator": lambda m, text: setattr(m.graph.node[2], "op_type", text),
    "name of an attribute": lambda m, text: setattr(m.graph.node[2].attribute[0], "name", text),
    "name of a tensor": lambda m, text: setattr(m.graph.node[4].attribute[0].t, "name", text),
    "name of a function": _function_name,
    "name of a function's input": lambda m, text: rename(m, "a", text),
    "name of a function's output": lambda m, text: rename(m, "r", text),
    "name of a function's attribute": _function_attribute,
    "name of a default": lambda m, text: setattr(m.functions[0].attribute_proto[0], "name", text),
    "domain of a function": _function_domain,
    "domain of an operator": _custom_domain,
    "domain of the model": lambda m, text: setattr(m, "domain", text),
    "overload": _overload,
    "default": lambda m, text: setattr(m.functions[0].attribute_proto[0], "s", text.encode()),
    "string": lambda m, text: setattr(m.graph.node[2].attribute[0], "s", text.encode()),
    "strings": lambda m, text: m.graph.node[2].attribute[1].strings.append(text.encode()),
    "element of a tensor": lambda m, text: (
        m.graph.node[4].attribute[0].t.string_data.__setitem__(0, text.encode())
    ),
    "doc of a node": lambda m, text: setattr(m.graph.node[2], "doc_string", text),
    "doc of a graph": lambda m, text: setattr(m.graph, "doc_string", text),
    "doc of a body": lambda m, text: setattr(_subgraph(m), "doc_string", text),
    "doc of the model": lambda m, text: setattr(m, "doc_string", text),
    "doc of a function": lambda m, text: setattr(m.functions[0], "doc_string", text),
    "doc of an input": lambda m, text: setattr(m.graph.input[0], "doc_string", text),
    "doc of an attribute": lambda m, text: setattr(m.graph.node[2].attribute[0], "doc_string", text),
    "doc of an initializer": lambda m, text: setattr(m.graph.initializer[0], "doc_string", text),
    "producer": lambda m, text: setattr(m, "producer_name", text),
    "version of the producer": lambda m, text: setattr(m, "producer_version", text),
    "key of metadata": lambda m, text: setattr(m.metadata_props[0], "key", text),
    "value of metadata": lambda m, text: setattr(m.metadata_props[0], "value", text),
    "metadata of a node": lambda m, text: m.graph.node[2].metadata_props.add(key=text, value=text),
    "metadata of a graph": lambda m, text: m.graph.metadata_props.add(key=text, value=text),
    "metadata of a function": lambda m, text: m.functions[0].metadata_props.add(key=text, value=text),
    "meaning of a type": lambda m, text: setattr(m.graph.input[0].type, "denotation", text),
}


def everywhere(text: str) -> onnx.ModelProto:
    """A model with a text in all places at once, made different where names must differ."""
    model = base()
    for index, (place, put) in enumerate(PLACES.items()):
        put(model, f"{text}{index}" if place.startswith("name") else text)
    return model
