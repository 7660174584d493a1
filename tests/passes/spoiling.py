"""Damage to models that are right: in the graph, as an exporter's mistake would be, or in the bytes, as a disk's.

What comes out may still be a model. Everything is drawn from a seed.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence

import onnx
from onnx import AttributeProto, helper, parser

Damage = Callable[[onnx.ModelProto, random.Random], None]

#: Models that hold all that a model can hold, and what passes look for.
TEXTS = (
    # A layer with weights, shapes that are computed, and what optimisers fuse and fold.
    """<ir_version: 10, opset_import: ["" : 21]>
    g (float[N, 4] x, float[N, 4] z) => (float[N, K] y, float[N, 4] r)
    <float[4, 4] w = {1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16}, float[4] b = {1,2,3,4}, int64[1] zero = {0}>
    { m = MatMul (x, w) a = Add (m, b) s = Shape (x) d = Gather <axis = 0> (s, zero)
      minus = Constant <value = int64[1] {-1}> () c = Concat <axis = 0> (d, minus) h = Reshape (a, c)
      y = Relu (h) t = Transpose <perm = [1, 0]> (z) u = Transpose <perm = [1, 0]> (t) r = Add (u, b) }""",
    # Branches and loops that read from around them.
    """<ir_version: 9, opset_import: ["" : 18]>
    g (bool c, int64 n, float[N] x) => (float[N] y, float[N] z, float[K, N] all) <float[1] w = {2}>
    { o = Mul (x, w)
      y = If (c) <then_branch = a () => (float[N] p) { p = Add (o, w) },
                  else_branch = b () => (float[N] q) <float[1] v = {3}> { q = Mul (o, v) }>
      z, all = Loop (n, c, y) <body = l (int64 i, bool d, float[N] s) => (bool e, float[N] t, float[N] k) {
          e = Identity (d)  t = Add (s, o)
          k = If (d) <then_branch = f () => (float[N] p) { p = Neg (t) },
                      else_branch = h () => (float[N] q) { q = Abs (o) }> }> }""",
    # Functions that call functions, with attributes.
    """<ir_version: 10, opset_import: ["" : 20, "local" : 1]>
    g (float[N, 4] x) => (float[N, 4] y) { h = local.outer <alpha = 0.5> (x) y = local.inner <k: int = 1> (h) }
    <domain: "local", opset_import: ["" : 20, "local" : 1]>
    outer <alpha> (a) => (r) { t = LeakyRelu <alpha: float = @alpha> (a) r = local.inner <k: int = 0> (t) }
    <domain: "local", opset_import: ["" : 18]>
    inner <k> (a) => (r) { r = Softmax <axis: int = @k> (a) }""",
    # Sequences and optionals.
    """<ir_version: 8, opset_import: ["" : 17]>
    g (float[4, N] x, optional(float[4, N]) maybe) => (float[2, N] y, seq(float[2, N]) parts, bool has)
    <int64 one = {1}, int64[2] sizes = {2, 2}>
    { parts = SplitToSequence <axis = 0> (x, sizes) y = SequenceAt (parts, one) has = OptionalHasElement (maybe) }""",
    # Old definitions: attributes that are inputs now, initializers that are inputs.
    """<ir_version: 3, opset_import: ["" : 6]>
    g (float[1, 3, 4, 4] x, float[1] w = {2}) => (float[3, 8, 8] y)
    { a = Add <broadcast = 1> (x, w) u = Upsample <height_scale = 2.0, width_scale = 2.0> (a)
      p = Pad <pads = [0, 0, 0, 0, 0, 0, 0, 0]> (u) q = Softmax <axis = 1> (p) c = Clip <min = 0.0, max = 1.0> (q)
      y = Squeeze <axes = [0]> (c) }""",
    # New ones, and another domain.
    """<ir_version: 11, opset_import: ["" : 23, "ai.onnx.ml" : 3, "custom" : 1]>
    g (float[1, 2, 3, 4] q, float[1, 2, N, 4] k, float[1, 2, N, 4] v, float[M] s)
    => (float[1, 2, 3, 4] y, float[M] t, u) <float[4] w = {1, 1, 1, 1}>
    { a = Attention (q, k, v) n = RMSNormalization <axis = -1> (a, w) y = Gelu <approximate = "tanh"> (n)
      t = ai.onnx.ml.Binarizer <threshold = 0.5> (s) u = custom.Thing <words = ["a", "b"], number = 3> (t, q) }""",
)


def models() -> list[onnx.ModelProto]:
    """Models to damage."""
    return [parser.parse_model(text) for text in TEXTS]


def damaged(model: onnx.ModelProto, rng: random.Random) -> onnx.ModelProto | None:
    """The model after one to three accidents; None where protobuf does not read it any more."""
    made = onnx.ModelProto()
    made.CopyFrom(model)
    if rng.random() < 0.25:
        return _with_other_bytes(made, rng)
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        if made.graph.node:
            rng.choice(DAMAGES)(made, rng)
    return made


def _with_other_bytes(model: onnx.ModelProto, rng: random.Random) -> onnx.ModelProto | None:
    content = bytearray(model.SerializeToString())
    for _ in range(rng.choice((1, 1, 2, 4))):
        content[rng.randrange(len(content))] ^= rng.choice((1 << rng.randrange(8), rng.randrange(1, 256)))
    made = onnx.ModelProto()
    try:
        made.ParseFromString(bytes(content))
    except Exception:  # protobuf's own classes differ between its implementations
        return None
    return made


# -- what can be damaged ------------------------------------------------------------------------------------


def _scopes(model: onnx.ModelProto) -> list[onnx.GraphProto | onnx.FunctionProto]:
    """All that holds nodes, bodies included."""
    found: list[onnx.GraphProto | onnx.FunctionProto] = [model.graph, *model.functions]
    for scope in found:
        found.extend(
            each.g for node in scope.node for each in node.attribute if each.type == AttributeProto.GRAPH
        )
    return found


def _nodes(model: onnx.ModelProto) -> list[onnx.NodeProto]:
    return [node for scope in _scopes(model) for node in scope.node]


def _bodies(model: onnx.ModelProto) -> list[onnx.GraphProto]:
    return [each for each in _scopes(model) if isinstance(each, onnx.GraphProto)]


def _infos(model: onnx.ModelProto) -> list[onnx.ValueInfoProto]:
    return [each for graph in _bodies(model) for each in (*graph.input, *graph.output, *graph.value_info)]


def _names(model: onnx.ModelProto) -> list[str]:
    """Names of values, and some that nothing has."""
    found = {name for node in _nodes(model) for name in (*node.input, *node.output)}
    return [*sorted(found), "", "nobody's", "x" * 300, "a\nb"]


def _another(places: Sequence[object], rng: random.Random) -> int | None:
    return rng.randrange(len(places)) if places else None


# -- damages ------------------------------------------------------------------------------------------------


def _input_of_a_node(model: onnx.ModelProto, rng: random.Random) -> None:
    """Another value, one that comes later, one that nobody defines, none at all."""
    node = rng.choice(_nodes(model))
    place = _another(node.input, rng)
    if place is None:
        node.input.append(rng.choice(_names(model)))
    else:
        node.input[place] = rng.choice(_names(model))


def _output_of_a_node(model: onnx.ModelProto, rng: random.Random) -> None:
    """The name of another value, or none."""
    node = rng.choice(_nodes(model))
    place = _another(node.output, rng)
    if place is not None:
        node.output[place] = rng.choice(_names(model))


def _fewer_or_more(model: onnx.ModelProto, rng: random.Random) -> None:
    """Inputs or outputs of a node that its operator does not have, or must have."""
    node = rng.choice(_nodes(model))
    ports = rng.choice((node.input, node.output))
    if ports and rng.random() < 0.5:
        del ports[rng.randrange(len(ports)) :]
    else:
        ports.extend(rng.choice(_names(model)) for _ in range(rng.choice((1, 3))))


def _cycle(model: onnx.ModelProto, rng: random.Random) -> None:
    scope = rng.choice([each for each in _scopes(model) if each.node])
    first, last = scope.node[0], scope.node[rng.randrange(len(scope.node))]
    if last.output:
        first.input.append(last.output[0])


def _order(model: onnx.ModelProto, rng: random.Random) -> None:
    scope = rng.choice([each for each in _scopes(model) if each.node])
    nodes = list(scope.node)
    rng.shuffle(nodes)
    del scope.node[:]
    scope.node.extend(nodes)


def _same_node_twice(model: onnx.ModelProto, rng: random.Random) -> None:
    scope = rng.choice([each for each in _scopes(model) if each.node])
    scope.node.add().CopyFrom(rng.choice(list(scope.node)))


def _no_nodes(model: onnx.ModelProto, rng: random.Random) -> None:
    scope = rng.choice(_scopes(model))
    del scope.node[rng.randrange(len(scope.node) + 1) :]


def _operator(model: onnx.ModelProto, rng: random.Random) -> None:
    node = rng.choice(_nodes(model))
    known = [each.op_type for each in _nodes(model)]
    node.op_type = rng.choice([*known, "", "Nope", "Loop", "Scan", "Softmax", "Resize", "Constant", "inner"])
    if rng.random() < 0.3:
        node.domain = rng.choice(("", "ai.onnx", "local", "nobody", "ai.onnx.ml", "com.microsoft"))


def _attribute(model: onnx.ModelProto, rng: random.Random) -> None:
    """An attribute of another kind, or one more, or one less."""
    node = rng.choice([each for each in _nodes(model) if each.attribute] or _nodes(model))
    place = _another(node.attribute, rng)
    name = (
        node.attribute[place].name if place is not None else rng.choice(("axis", "perm", "to", "value", ""))
    )
    if place is not None and rng.random() < 0.2:
        del node.attribute[place]
        return
    made = rng.choice(list(_attributes(name)))
    if place is not None and rng.random() < 0.8:
        node.attribute[place].CopyFrom(made)
    else:
        node.attribute.append(made)


def _attributes(name: str) -> Iterator[AttributeProto]:
    tensor = helper.make_tensor("t", 1, [2], [1.0, 2.0])
    for value in (0, -1, 2**63 - 1, -(2**63), 1.5, float("nan"), "words", b"\xff\xfe", [1, 2], [0.5], ["a"]):
        yield helper.make_attribute(name, value)
    yield helper.make_attribute(name, tensor)
    yield helper.make_attribute(name, helper.make_graph([], "empty", [], []))
    yield helper.make_attribute(name, helper.make_tensor_type_proto(1, [2]))
    yield AttributeProto(name=name, type=AttributeProto.INTS)
    yield AttributeProto(name=name)
    yield AttributeProto(name=name, type=AttributeProto.FLOAT, ref_attr_name="alpha")
    yield AttributeProto(name=name, type=AttributeProto.TENSOR)
    yield AttributeProto(name=name, type=AttributeProto.SPARSE_TENSOR)
    yield AttributeProto(name=name, type=AttributeProto.GRAPHS)
    yield AttributeProto(name=name, i=1, s=b"both")


def _opset(model: onnx.ModelProto, rng: random.Random) -> None:
    """An import that is missing, or of a version that there is none of."""
    holder = rng.choice([model, *model.functions])
    place = _another(holder.opset_import, rng)
    kind = rng.randrange(4)
    if place is None or kind == 0:
        holder.opset_import.add(domain=rng.choice(("", "local", "ai.onnx")), version=rng.choice((1, 21)))
    elif kind == 1:
        del holder.opset_import[place]
    else:
        holder.opset_import[place].version = rng.choice((0, -1, 1, 5, 999, 2**62, -(2**63)))


def _ports(model: onnx.ModelProto, rng: random.Random) -> None:
    """Inputs or outputs of a graph: none, twice, of other names."""
    graph = rng.choice(_bodies(model))
    ports = rng.choice((graph.input, graph.output))
    kind = rng.randrange(4)
    if kind == 0 or not ports:
        del ports[:]
    elif kind == 1:
        ports.add().CopyFrom(rng.choice(list(ports)))
    elif kind == 2:
        rng.choice(list(ports)).name = rng.choice(_names(model))
    else:
        del ports[rng.randrange(len(ports))]


def _type(model: onnx.ModelProto, rng: random.Random) -> None:
    infos = _infos(model)
    if not infos:
        return
    info = rng.choice(infos)
    kind = rng.randrange(5)
    if kind == 0:
        info.ClearField("type")
    elif kind == 1:
        info.type.tensor_type.elem_type = rng.choice((0, 2, 7, 8, 9, 16, 99, -1))
    elif kind == 2:
        info.type.tensor_type.shape.dim.add().dim_value = rng.choice((-1, 0, 2**62))
    elif kind == 3:
        info.type.sequence_type.elem_type.tensor_type.elem_type = 1
    else:
        info.type.tensor_type.shape.dim.add().dim_param = rng.choice(("N", "", "a b", "x" * 300))


def _function(model: onnx.ModelProto, rng: random.Random) -> None:
    """A function that is missing, there twice, calls itself, or has other ports."""
    place = _another(model.functions, rng)
    if place is None:
        return
    function = model.functions[place]
    kind = rng.randrange(6)
    if kind == 0:
        del model.functions[place]
    elif kind == 1:
        model.functions.add().CopyFrom(function)
    elif kind == 2:
        function.node.add(op_type=function.name, domain=function.domain, input=["a"], output=["again"])
    elif kind == 3:
        del rng.choice((function.input, function.output))[:]
    elif kind == 4:
        rng.choice((function.input, function.output)).append(rng.choice(_names(model)))
    else:
        function.name = rng.choice(("Relu", "", "outer", "inner"))


def _weight(model: onnx.ModelProto, rng: random.Random) -> None:
    graphs = [each for each in _bodies(model) if each.initializer]
    if not graphs:
        return
    graph = rng.choice(graphs)
    tensor = rng.choice(list(graph.initializer))
    kind = rng.randrange(7)
    if kind == 0:
        tensor.name = rng.choice(_names(model))
    elif kind == 1:
        tensor.data_type = rng.choice((0, 2, 7, 8, 10, 16, 17, 21, 99))
    elif kind == 2:
        tensor.dims[:] = rng.choice(([], [-1], [0], [2**40], [3, 3], [2**32, 2**32]))
    elif kind == 3:
        tensor.ClearField("raw_data")
        tensor.ClearField("float_data")
    elif kind == 4:
        graph.initializer.add().CopyFrom(tensor)
    elif kind == 5:
        tensor.data_location = onnx.TensorProto.EXTERNAL
        tensor.external_data.add(
            key="location", value=rng.choice(("nowhere.bin", "../up", "/etc/passwd", ""))
        )
    else:
        graph.initializer.remove(tensor)


def _ir_version(model: onnx.ModelProto, rng: random.Random) -> None:
    model.ir_version = rng.choice((0, 1, 3, 4, 7, 99, 2**62, -1))


DAMAGES: tuple[Damage, ...] = (
    *[_input_of_a_node] * 4,
    *[_output_of_a_node] * 3,
    *[_fewer_or_more] * 2,
    *[_cycle] * 2,
    _order,
    _same_node_twice,
    _no_nodes,
    *[_operator] * 2,
    *[_attribute] * 5,
    *[_opset] * 3,
    *[_ports] * 3,
    *[_type] * 3,
    *[_function] * 3,
    *[_weight] * 3,
    _ir_version,
)
