"""A hypothesis strategy for valid models with everything that a decompiler may stumble over."""

from __future__ import annotations

import onnx
from hypothesis import assume
from hypothesis import strategies as st
from onnx import AttributeProto, TensorProto, helper

from tests.decompile.odd_names import maybe_texts, names
from tests.decompile.random_nodes import ATTRIBUTE_NAMES, fill, result
from tests.decompile.random_scopes import FLOATS, Kind, Scope, Setting
from tests.decompile.random_tensors import DTYPES, Draw, sparse_tensor, tensor

#: IR version -> opsets that were there with it.
VERSIONS = {
    3: (7, 8),
    4: (9,),
    6: (10, 11),
    7: (12, 13),
    8: (15, 17),
    9: (19, 20),
    10: (21, 22),
    13: (23, 25),
    14: (27,),
}
_FUNCTION_DOMAINS = ("local", "my.functions", "pkg.onnxscript.torch_lib", "a'b", "import")
_FUNCTION_NAMES = ("f", "Attention", "lambda", "a.b", "a_b", "Ünï", "print", "op", "Relu")


@st.composite
def models(draw: Draw) -> onnx.ModelProto:
    """A model that onnx's checker accepts, or would if it let shapes be unknown."""
    ir_version = draw(st.sampled_from(sorted(VERSIONS)))
    setting = Setting(draw, draw(st.sampled_from(VERSIONS[ir_version])), ir_version)
    if ir_version >= 8:
        for _ in range(draw(st.sampled_from((0, 0, 1, 2, 3)))):
            if (function := _function(setting)) is not None:
                setting.functions.append(function)
    graph = _graph(setting)
    model = helper.make_model(
        graph,
        functions=setting.functions,
        ir_version=ir_version,
        opset_imports=[helper.make_opsetid("", setting.opset), *_imports(setting)],
    )
    _decorate(setting, model)
    assume(_is_valid(model))
    return model


def _is_valid(model: onnx.ModelProto) -> bool:
    """Whether the checker accepts it, but for shapes that inputs and outputs need not have."""
    shaped = onnx.ModelProto()
    shaped.CopyFrom(model)
    for info in (*shaped.graph.input, *shaped.graph.output):
        if info.type.HasField("tensor_type"):
            info.type.tensor_type.shape.SetInParent()
    try:
        onnx.checker.check_model(shaped)
    except Exception:  # the checker raises unrelated classes
        return False
    return True


def _imports(setting: Setting) -> list[onnx.OperatorSetIdProto]:
    domains = setting.domains | {each.domain for each in setting.functions}
    return [helper.make_opsetid(domain, 1) for domain in sorted(domains)]


def _decorate(setting: Setting, model: onnx.ModelProto) -> None:
    draw = setting.draw
    model.producer_name, model.producer_version = draw(maybe_texts), draw(maybe_texts)
    model.domain, model.doc_string = draw(maybe_texts), draw(maybe_texts)
    model.model_version = draw(st.integers(0, 3))
    keys = draw(st.lists(names, unique=True, max_size=2))
    helper.set_model_props(model, {key: draw(maybe_texts) for key in keys})
    model.graph.doc_string = draw(maybe_texts)
    if setting.ir_version >= 10 and setting.chance(4):
        model.graph.metadata_props.add(key=draw(names), value=draw(maybe_texts))
    if model.graph.initializer and setting.chance(10):
        name = model.graph.initializer[0].name
        annotation = model.graph.quantization_annotation.add(tensor_name=model.graph.output[0].name)
        annotation.quant_parameter_tensor_names.add(key="SCALE_TENSOR", value=name)


def _graph(setting: Setting) -> onnx.GraphProto:
    draw = setting.draw
    scope = Scope(setting)
    inputs = [_input(scope) for _ in range(draw(st.integers(0, 3)))]
    if setting.ir_version < 4 or setting.chance(4):
        inputs += [_default(scope) for _ in range(draw(st.integers(0, 2)))]
    if setting.opset >= 11 and setting.chance(10):
        name = scope.fresh(FLOATS)
        scope.sparse_initializers.append(sparse_tensor(draw, name))
    fill(scope, draw(st.integers(0, 5)))
    if setting.chance(4):
        scope.weight()  # used by nobody
    outputs = [_output(scope, result(scope, FLOATS))]
    others = sorted(name for name in scope.types if name not in {each.name for each in outputs})
    made = {name for node in scope.nodes for name in node.output} | {each.name for each in inputs}
    for name in draw(st.lists(st.sampled_from(others), unique=True, max_size=2)) if others else ():
        if name in made:
            outputs.append(_output(scope, name))
    # An input that is an output is one value: onnx-ir has no second place for what is said of it.
    said = {each.name: each.doc_string for each in inputs}
    for each in outputs:
        if said.get(each.name):
            each.doc_string = said[each.name]
    return helper.make_graph(
        scope.nodes,
        draw(names),
        inputs,
        outputs,
        scope.initializers,
        sparse_initializer=scope.sparse_initializers,
    )


def _input(scope: Scope) -> onnx.ValueInfoProto:
    draw = scope.setting.draw
    form = draw(st.sampled_from(("tensor", "tensor", "tensor", "sequence", "optional")))
    if scope.setting.opset < 18 and form != "tensor":
        form = "tensor"
    common = (TensorProto.FLOAT, TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL)
    dtype = (
        TensorProto.FLOAT
        if form != "tensor"
        else draw(st.one_of(st.sampled_from(common), st.sampled_from(DTYPES)))
    )
    dims = st.one_of(st.just(2), st.none(), names)
    shape = draw(st.one_of(st.none(), st.lists(dims, max_size=3).map(tuple)))
    kind = Kind(form, dtype, shape if form == "tensor" else None)
    info = onnx.ValueInfoProto(name=scope.fresh(kind), type=kind.proto)
    if scope.setting.chance(6):
        info.doc_string = draw(maybe_texts)
    return info


def _default(scope: Scope) -> onnx.ValueInfoProto:
    """An input with an initializer."""
    content = tensor(scope.setting.draw, "")
    kind = Kind("tensor", content.data_type, tuple(content.dims))
    content.name = scope.fresh(kind)
    scope.initializers.append(content)
    return onnx.ValueInfoProto(name=content.name, type=kind.proto)


def _output(scope: Scope, name: str) -> onnx.ValueInfoProto:
    return onnx.ValueInfoProto(name=name, type=scope.types[name].proto)


def _function(setting: Setting) -> onnx.FunctionProto | None:
    """A local function; None when one of its name is there."""
    draw = setting.draw
    body = Scope(Setting(draw, setting.opset, setting.ir_version, setting.functions), is_function=True)
    if setting.chance(4):
        body.setting.opset = max(9, setting.opset - 2)
    inputs = [body.fresh(FLOATS) for _ in range(draw(st.integers(0, 3)))]
    attributes = draw(st.lists(st.sampled_from(ATTRIBUTE_NAMES), unique=True, max_size=3))
    body.attributes = dict.fromkeys(attributes, AttributeProto.FLOAT)
    fill(body, draw(st.integers(1, 4)))
    outputs = [result(body, FLOATS)]
    with_default = attributes[: draw(st.integers(0, len(attributes)))] if setting.ir_version >= 9 else []
    function = helper.make_function(
        draw(st.sampled_from(_FUNCTION_DOMAINS)),
        draw(st.sampled_from(_FUNCTION_NAMES)),
        inputs,
        outputs,
        body.nodes,
        [helper.make_opsetid("", body.setting.opset), *_imports(body.setting)],
        [name for name in attributes if name not in with_default],
        [helper.make_attribute(name, draw(st.floats(width=32))) for name in with_default],
        doc_string=draw(maybe_texts),
        overload=draw(st.sampled_from(("", "", "o", "a b"))) if setting.ir_version >= 10 else "",
    )
    key = (function.domain, function.name, function.overload)
    known = {(each.domain, each.name, each.overload) for each in setting.functions}
    return None if key in known else function
