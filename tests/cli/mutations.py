"""Mutated files: a sound model, changed in a few places as accidents, other writers and attackers change one."""

from __future__ import annotations

import functools
import random
from collections.abc import Callable, Iterator

import numpy as np
import onnx
from onnx import AttributeProto, TensorProto, helper

from onnxsmith import FLOAT, trace
from onnxsmith import opset21 as op
from onnxsmith import opset_ai_onnx_ml3 as ml
from tests.decompile.hostile import base
from tests.graphs.test_damaged_files import damaged, known, plain, sparse
from tests.passes.spoiling import models as pass_models

#: Sizes and numbers that code forgets.
EXTREMES = (0, 1, -1, 2, 7, 1 << 20, 1 << 31, (1 << 31) - 1, 1 << 40, (1 << 62), -(1 << 63), (1 << 63) - 1)
WORDS = ("", "x", "y", "N", "0", "a" * 5000, "\x1b[31m", "../x", "ai.onnx", "é", "while", "a.b/c:0")


def image() -> onnx.ModelProto:
    """Convolutions, pools, a resize, shapes that are computed."""

    def network(x):
        y = op.Relu(op.Conv(x, np.ones((4, 3, 3, 3), np.float32), pads=[1, 1, 1, 1]))
        y = op.MaxPool(y, kernel_shape=[2, 2], strides=[2, 2])
        y = op.Resize(y, None, None, op.Concat(op.Shape(y)[:2], np.int64([8, 8]), axis=0))
        y = op.Reshape(y, op.Concat(op.Shape(y)[:1], np.int64([-1]), axis=0), allowzero=1)
        return op.Softmax(op.Gemm(y, np.ones((256, 5), np.float32)), axis=-1)

    return trace(network, FLOAT["N", 3, 8, 8], opset_version=21).proto


def table() -> onnx.ModelProto:
    """Operators for tables: scaling, encoding, trees."""

    def network(x):
        y = ml.Scaler(x, offset=[0.5, 1.0], scale=[2.0, 1.0])
        return ml.TreeEnsembleRegressor(
            y,
            n_targets=1,
            nodes_treeids=[0, 0, 0],
            nodes_nodeids=[0, 1, 2],
            nodes_featureids=[0, 0, 0],
            nodes_modes=["BRANCH_LEQ", "LEAF", "LEAF"],
            nodes_values=[0.5, 0.0, 0.0],
            nodes_truenodeids=[1, 0, 0],
            nodes_falsenodeids=[2, 0, 0],
            target_treeids=[0, 0],
            target_nodeids=[1, 2],
            target_ids=[0, 0],
            target_weights=[1.0, 2.0],
        )

    return trace(network, FLOAT["N", 2]).proto


def signal() -> onnx.ModelProto:
    """Operators with several outputs, windows and recurrences."""

    def network(x):
        left, right = op.Split(x, np.array([10, 6]), axis=1)
        whole = op.Concat(right, left, axis=1)
        spectrum = op.STFT(whole, np.int64(4), np.ones(8, np.float32), np.int64(8), onesided=1)
        real, imaginary = op.Split(spectrum, axis=-1, num_outputs=2)
        power = op.ReduceSum(real * real + imaginary * imaginary, np.array([-1]), keepdims=False)
        kernel, recurrence = np.ones((1, 6, 5), np.float32), np.ones((1, 6, 2), np.float32)
        steps, _ = op.GRU(op.Transpose(power, perm=[1, 0, 2]), kernel, recurrence, hidden_size=2)
        ones = np.ones(1, np.float32)
        normal, _, _ = op.BatchNormalization(steps, *[ones] * 4, training_mode=1)
        values, _ = op.TopK(normal, np.array([1]))
        return values

    return trace(network, FLOAT["N", 16, 1], opset_version=21).proto


@functools.cache
def seeds() -> tuple[bytes, ...]:
    """The sound models, with dynamic sizes and with fixed ones: commands make up inputs only for those."""
    found = [plain(), sparse(), known(), base(), image(), table(), signal(), *pass_models()]
    return tuple(each.SerializeToString() for model in found for each in (model, _fixed(model)))


def _fixed(model: onnx.ModelProto) -> onnx.ModelProto:
    """The model with a size in the place of every name of one."""
    fixed = onnx.ModelProto()
    fixed.CopyFrom(model)
    infos = (*fixed.graph.input, *fixed.graph.output, *fixed.graph.value_info)
    for dim in (dim for info in infos for dim in info.type.tensor_type.shape.dim):
        if dim.dim_param.isidentifier():
            dim.dim_value = 4
    return fixed


def mutated(generator: random.Random) -> bytes:
    """A file of one to three mutations; one in four is changed in its bytes."""
    content = generator.choice(seeds())
    if generator.randrange(4) == 0:
        return damaged(content, generator)
    model = onnx.ModelProto.FromString(content)
    for _ in range(generator.randrange(1, 4)):
        generator.choice(MUTATIONS)(model, generator)
    return model.SerializeToString()


def _graphs(model: onnx.ModelProto) -> Iterator[onnx.GraphProto | onnx.FunctionProto]:
    waiting: list[onnx.GraphProto | onnx.FunctionProto] = [model.graph, *model.functions]
    while waiting:
        here = waiting.pop()
        yield here
        waiting += [each.g for node in here.node for each in node.attribute if each.HasField("g")]


def _node(model: onnx.ModelProto, rng: random.Random) -> onnx.NodeProto:
    return rng.choice([node for graph in _graphs(model) for node in graph.node] or [onnx.NodeProto()])


def _tensor(model: onnx.ModelProto, rng: random.Random) -> TensorProto:
    held = [
        each for graph in _graphs(model) if isinstance(graph, onnx.GraphProto) for each in graph.initializer
    ]
    held += [each.t for node in _all(model) for each in node.attribute if each.HasField("t")]
    return rng.choice(held or [TensorProto()])


def _all(model: onnx.ModelProto) -> list[onnx.NodeProto]:
    return [node for graph in _graphs(model) for node in graph.node]


def _attribute(model: onnx.ModelProto, rng: random.Random) -> AttributeProto:
    return rng.choice([each for node in _all(model) for each in node.attribute] or [AttributeProto()])


def _info(model: onnx.ModelProto, rng: random.Random) -> onnx.ValueInfoProto:
    found: list[onnx.ValueInfoProto] = []
    for graph in _graphs(model):
        found += graph.value_info
        if isinstance(graph, onnx.GraphProto):
            found += [*graph.input, *graph.output]
    return rng.choice(found)


def _names(model: onnx.ModelProto) -> list[str]:
    return [name for node in _all(model) for name in (*node.input, *node.output)] or ["x"]


def other_operator(model: onnx.ModelProto, rng: random.Random) -> None:
    schemas = onnx.defs.get_all_schemas()
    _node(model, rng).op_type = rng.choice([rng.choice(schemas).name, rng.choice(WORDS)])


def other_domain(model: onnx.ModelProto, rng: random.Random) -> None:
    _node(model, rng).domain = rng.choice(["", "ai.onnx", "ai.onnx.ml", "com.microsoft", "local", *WORDS])


def other_input(model: onnx.ModelProto, rng: random.Random) -> None:
    node = _node(model, rng)
    name = rng.choice([*_names(model), *WORDS])
    if node.input and rng.randrange(3):
        node.input[rng.randrange(len(node.input))] = name
    else:
        node.input.append(name)


def fewer_inputs(model: onnx.ModelProto, rng: random.Random) -> None:
    node = _node(model, rng)
    del node.input[rng.randrange(len(node.input) + 1) :]


def other_output(model: onnx.ModelProto, rng: random.Random) -> None:
    node = _node(model, rng)
    name = rng.choice([*_names(model), *WORDS])
    if node.output and rng.randrange(2):
        node.output[rng.randrange(len(node.output))] = name
    else:
        node.output.append(name)


def omitted_output(model: onnx.ModelProto, rng: random.Random) -> None:
    """An output of a node that has several, left out by an empty name."""
    found = [each for each in _all(model) if len(each.output) > 1] or [_node(model, rng)]
    node = rng.choice(found)
    if node.output:
        node.output[rng.randrange(len(node.output))] = ""


def no_node(model: onnx.ModelProto, rng: random.Random) -> None:
    graph = rng.choice(list(_graphs(model)))
    if graph.node:
        del graph.node[rng.randrange(len(graph.node))]


def node_twice(model: onnx.ModelProto, rng: random.Random) -> None:
    graph = rng.choice(list(_graphs(model)))
    if graph.node:
        graph.node.append(rng.choice(graph.node))


def node_elsewhere(model: onnx.ModelProto, rng: random.Random) -> None:
    graph = rng.choice(list(_graphs(model)))
    nodes = list(graph.node)
    rng.shuffle(nodes)
    copies = [onnx.NodeProto.FromString(each.SerializeToString()) for each in nodes]
    del graph.node[:]
    graph.node.extend(copies)


def other_attribute_type(model: onnx.ModelProto, rng: random.Random) -> None:
    _attribute(model, rng).type = rng.choice(list(AttributeProto.AttributeType.values()))


def other_attribute_value(model: onnx.ModelProto, rng: random.Random) -> None:
    found = _attribute(model, rng)
    found.i = rng.choice(EXTREMES)
    found.f = rng.choice([0.0, -1.0, float("nan"), float("inf"), 1e38])
    found.s = rng.choice(WORDS).encode() + rng.choice([b"", b"\xff"])
    if found.ints:
        found.ints[rng.randrange(len(found.ints))] = rng.choice(EXTREMES)


def longer_attribute(model: onnx.ModelProto, rng: random.Random) -> None:
    found = _attribute(model, rng)
    found.ints.extend([rng.choice(EXTREMES)] * rng.choice([1, 3, 70]))
    found.floats.extend([0.5] * rng.choice([0, 1]))


def new_attribute(model: onnx.ModelProto, rng: random.Random) -> None:
    content = rng.choice([1, 0.5, "text", [1, 2], [0.5], ["a"], helper.make_tensor("t", 1, [1], [0.5])])
    name = rng.choice(["axis", "axes", "to", "value", "body", "alpha", "perm", "shape", *WORDS[1:]])
    _node(model, rng).attribute.append(helper.make_attribute(name, content))


def attribute_reference(model: onnx.ModelProto, rng: random.Random) -> None:
    _attribute(model, rng).ref_attr_name = rng.choice(["alpha", "x", "a" * 100])


def other_attribute_name(model: onnx.ModelProto, rng: random.Random) -> None:
    _attribute(model, rng).name = rng.choice(["axis", "value", "body", "then_branch", *WORDS])


def other_weight_type(model: onnx.ModelProto, rng: random.Random) -> None:
    _tensor(model, rng).data_type = rng.randrange(30)


def other_weight_shape(model: onnx.ModelProto, rng: random.Random) -> None:
    tensor = _tensor(model, rng)
    if tensor.dims and rng.randrange(2):
        tensor.dims[rng.randrange(len(tensor.dims))] = rng.choice(EXTREMES)
    else:
        tensor.dims.append(rng.choice(EXTREMES))


def cut_weight(model: onnx.ModelProto, rng: random.Random) -> None:
    tensor = _tensor(model, rng)
    tensor.raw_data = tensor.raw_data[: rng.randrange(len(tensor.raw_data) + 1)]


def other_numbers(model: onnx.ModelProto, rng: random.Random) -> None:
    """Small integers are shapes, axes, counts: others than the model was made for."""
    found = [each for each in (_tensor(model, rng) for _ in range(8)) if each.data_type == TensorProto.INT64]
    for tensor in found[:1]:
        count = int(np.prod([max(each, 0) for each in tensor.dims] or [1]))
        if count <= 64:
            tensor.ClearField("int64_data")
            tensor.raw_data = np.array([rng.choice(EXTREMES) for _ in range(count)], "<i8").tobytes()


def weight_in_a_file(model: onnx.ModelProto, rng: random.Random) -> None:
    tensor = _tensor(model, rng)
    tensor.data_location = TensorProto.EXTERNAL
    entries = {
        "location": ["data.bin", "nowhere", "..", "", "/dev/zero", "m.onnx"],
        "offset": ["0", "-1", "4096", "x", str(1 << 70)],
        "length": ["16", "0", "-4", str(1 << 40)],
    }
    for key, texts in entries.items():
        if rng.randrange(4):
            tensor.external_data.add(key=key, value=rng.choice(texts))


def other_declared_type(model: onnx.ModelProto, rng: random.Random) -> None:
    _info(model, rng).type.tensor_type.elem_type = rng.randrange(30)


def other_declared_shape(model: onnx.ModelProto, rng: random.Random) -> None:
    shape = _info(model, rng).type.tensor_type.shape
    dim = shape.dim.add() if not shape.dim or rng.randrange(2) else rng.choice(shape.dim)
    if rng.randrange(2):
        dim.dim_value = rng.choice(EXTREMES)
    else:
        dim.dim_param = rng.choice(["N", "N+1", "2*N", "N**9", "((N", "N//0", "max(N,", "a" * 300, *WORDS])


def other_kind(model: onnx.ModelProto, rng: random.Random) -> None:
    held = _info(model, rng).type
    inner = onnx.TypeProto.FromString(held.SerializeToString())
    held.Clear()
    match rng.randrange(4):
        case 0:
            held.sequence_type.elem_type.CopyFrom(inner)
        case 1:
            held.optional_type.elem_type.CopyFrom(inner)
        case 2:
            held.map_type.key_type = rng.randrange(20)
            held.map_type.value_type.CopyFrom(inner)
        case _:
            pass


def other_name_of_a_value(model: onnx.ModelProto, rng: random.Random) -> None:
    _info(model, rng).name = rng.choice([*_names(model), *WORDS])


def other_opset(model: onnx.ModelProto, rng: random.Random) -> None:
    if model.opset_import and rng.randrange(3):
        rng.choice(model.opset_import).version = rng.choice([0, 1, 5, 9, 13, 21, 28, 99, *EXTREMES])
    elif rng.randrange(2):
        model.opset_import.add(
            domain=rng.choice(["", "ai.onnx", "ai.onnx.ml", *WORDS]), version=rng.choice(EXTREMES)
        )
    else:
        del model.opset_import[:]


def other_ir_version(model: onnx.ModelProto, rng: random.Random) -> None:
    model.ir_version = rng.choice([0, 3, 7, 10, 99, (1 << 63) - 1, -1])


def other_metadata(model: onnx.ModelProto, rng: random.Random) -> None:
    keys = ("onnxsmith.sizes", "onnxsmith.source", "onnxsmith.sources", "onnxsmith.parameters", "namespace")
    texts = ("[", "{}", "null", "[1, [2]]", '[{"left": 1}]', "a.py:1:1-2:3", "9" * 5000, *WORDS)
    holder = rng.choice([model, model.graph, _node(model, rng)])
    holder.metadata_props.add(key=rng.choice(keys), value=rng.choice(texts))


def other_function(model: onnx.ModelProto, rng: random.Random) -> None:
    if not model.functions:
        return
    function = rng.choice(model.functions)
    match rng.randrange(5):
        case 0:
            function.name = rng.choice(WORDS)
        case 1:
            function.output.append(rng.choice(WORDS))
        case 2:
            function.input.append(rng.choice(WORDS))
        case 3:
            function.node.add(
                op_type=function.name, domain=function.domain, input=function.input, output=["r"]
            )
        case _:
            model.functions.append(onnx.FunctionProto.FromString(function.SerializeToString()))


def body_in_itself(model: onnx.ModelProto, rng: random.Random) -> None:
    found = _attribute(model, rng)
    copy = onnx.GraphProto.FromString(model.graph.SerializeToString())
    if copy.ByteSize() < 100_000:
        found.g.CopyFrom(copy)
        found.type = AttributeProto.GRAPH


Mutation = Callable[[onnx.ModelProto, random.Random], None]

MUTATIONS: tuple[Mutation, ...] = (
    other_operator,
    other_domain,
    other_input,
    fewer_inputs,
    other_output,
    omitted_output,
    no_node,
    node_twice,
    node_elsewhere,
    other_attribute_type,
    other_attribute_value,
    longer_attribute,
    new_attribute,
    attribute_reference,
    other_attribute_name,
    other_weight_type,
    other_weight_shape,
    cut_weight,
    other_numbers,
    weight_in_a_file,
    other_declared_type,
    other_declared_shape,
    other_kind,
    other_name_of_a_value,
    other_opset,
    other_ir_version,
    other_metadata,
    other_function,
    body_in_itself,
)
