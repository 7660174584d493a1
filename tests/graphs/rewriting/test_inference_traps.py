"""ONNX's inference ends the process at some models: it is kept from those parts, and finds the rest."""

from __future__ import annotations

import multiprocessing

import onnx
import pytest
from onnx import parser, shape_inference

from onnxsmith import Model
from onnxsmith.graphs.rewriting.inference_traps import _doubtful_slices, infer, without_traps

_HEAD = '<ir_version: 10, opset_import: ["": 21]>'


def _model(inputs: str, nodes: str, weights: str = "") -> onnx.ModelProto:
    known = f"int64[1] zero = {{0}}, int64[1] two = {{2}}, int64[1] axis = {{2}}{weights}"
    return parser.parse_model(f"{_HEAD} g ({inputs}) => (float[a, b, c, d] y) <{known}> {{ {nodes} }}")


#: Models in which a size below zero gets to a Slice, whose inference would end the process.
_TRAPS = {
    "declared": ("float[1, 1, -1, 4] x", "y = Slice(x, zero, two, axis)", ""),
    "window": (
        "float[1, 1, 4, 4] x",
        "p = MaxPool <kernel_shape = [9, 9]> (x)  y = Slice(p, zero, two, axis)",
        "",
    ),
    "weights": (
        "float[1, 1, 4, 4] x",
        "p = Conv <kernel_shape = [9, 9]> (x, w)  y = Slice(p, zero, two, axis)",
        ", float[1, 1, 9, 9] w = {" + ", ".join(["0"] * 81) + "}",
    ),
    "pads": (
        "float[1, 1, 4, 4] x",
        "p = Pad(x, by)  y = Slice(p, zero, two, axis)",
        ", int64[8] by = {0, 0, -5, 0, 0, 0, -5, 0}",
    ),
    "behind another slice": (
        "float[1, 1, 12, 12] x",
        "p = MaxPool <kernel_shape = [2, 2]> (x)  s = Slice(p, zero, two, axis)"
        "  q = MaxPool <kernel_shape = [9, 1]> (s)  y = Slice(q, zero, two, axis)",
        "",
    ),
    "in a branch": (
        "float[1, 1, 4, 4] x, bool c",
        "p = MaxPool <kernel_shape = [9, 9]> (x)  y = If(c) <"
        " then_branch = t () => (float[a, b, c, d] r) { r = Slice(p, zero, two, axis) },"
        " else_branch = e () => (float[a, b, c, d] s) { s = Identity(p) } >",
        "",
    ),
}


#: Operators whose inference reads the type of an input that has none, in the model and in a function.
_UNTYPED = {
    "ai.onnx.ml.DictVectorizer": "<string_vocabulary = ['a']>",
    "ai.onnx.ml.LabelEncoder": "<keys_strings = ['a'], values_floats = [1.0]>",
    "ai.onnx.ml.TreeEnsemble": "<n_targets = 1, leaf_weights = float[1] {1}>",
    "EyeLike": "",
    "RegexFullMatch": "<pattern = 'a'>",
}


def _untyped_model(operator: str, attributes: str, *, is_in_function: bool) -> onnx.ModelProto:
    called = f"{operator} {attributes}".replace("'", '"')
    head = '<ir_version: 10, opset_import: ["": 22, "ai.onnx.ml": 5, "local": 1]>'
    body = "own(a) => (b)" if is_in_function else "unused(a) => (b)"
    text = f"{head} g (float[n] x) => (float[n] y) {{ y = {'local.own' if is_in_function else called}(x) }}"
    text += f'<domain: "local", opset_import: ["": 22, "ai.onnx.ml": 5]> {body} {{ b = {called}(a) }}'
    proto = parser.parse_model(text)
    proto.graph.input[0].ClearField("type")
    return proto


def _work() -> None:
    for operator, attributes in _UNTYPED.items():
        for is_in_function in (False, True):
            proto = _untyped_model(operator, attributes, is_in_function=is_in_function)
            for is_checked in (False, True):
                infer(without_traps(proto, is_checked=is_checked), follows_sizes=True)
            Model.from_proto(proto).optimize()
    for parts in _TRAPS.values():
        proto = _model(*parts)
        infer(without_traps(proto))
        infer(without_traps(proto), follows_sizes=True)
        model = Model.from_proto(proto)
        model.check()
        model.optimize()


def test_the_process_goes_on() -> None:
    process = multiprocessing.get_context("spawn").Process(target=_work)
    process.start()
    process.join()
    assert process.exitcode == 0


@pytest.mark.parametrize(
    ("node", "fits"),
    [
        ("MaxPool <kernel_shape = [3, 3], pads = [1, 1, 1, 1]> (x)", True),
        ("MaxPool <kernel_shape = [3, 3], pads = [1, 0, 1, 1]> (x)", False),
        ("MaxPool <kernel_shape = [3, 3], pads = [1, 1, 1, 1], dilations = [2, 1]> (x)", False),
        ("MaxPool <kernel_shape = [3, 3], pads = [2, 1, 2, 1], dilations = [2, 1]> (x)", True),
        ("MaxPool <kernel_shape = [3, 3], pads = [1, 1]> (x)", False),
        ("LpPool <kernel_shape = [1, 1], strides = [2, 2]> (x)", True),
        ("LpPool <kernel_shape = [1, 2]> (x)", False),
        ('AveragePool <kernel_shape = [2, 2], auto_pad = "SAME_UPPER"> (x)', True),
        ('AveragePool <kernel_shape = [2, 2], auto_pad = "VALID"> (x)', False),
        ("Conv (x, w)", False),
        ("Conv <pads = [1, 1, 1, 1]> (x, w)", True),
        ("Conv <pads = [1, 1, 1, 1]> (x, x)", False),
        ("Conv <kernel_shape = [3, 3], pads = [1, 1, 1, 1]> (x, x)", True),
        ("ConvTranspose (x, w)", True),
        ("ConvTranspose <strides = [3, 1]> (x, w)", True),
        ("ConvTranspose <strides = [4, 1]> (x, w)", False),
        ("ConvTranspose <strides = [4, 1], output_padding = [1, 0]> (x, w)", True),
        ("ConvTranspose <pads = [1, 1, 1, 1]> (x, w)", True),
        ("ConvTranspose <pads = [1, 1, 1, 1], strides = [2, 2]> (x, w)", False),
        ("Softmax <axis = -1> (x)", True),
        ("MaxRoiPool <pooled_shape = [-1, 1]> (x, w)", False),
        ("Expand (x, two)", True),
        ("Expand (x, below)", False),
        ("Expand (x, below_too)", False),
    ],
)
def test_which_windows_and_sizes_fit_however_small_the_image(node: str, fits: bool) -> None:
    weights = f", float[1, 1, 3, 3] w = {{{', '.join('0' * 9)}}}, int64[2] below = {{2, -2}}"
    nodes = f"below_too = Constant <value_ints = [-3]> ()  p = {node}  y = Slice(p, zero, two, axis)"
    proto = _model("float[1, 1, h, v] x", nodes, weights)
    assert (_doubtful_slices(proto, follows_sizes=False) == ([], [])) == fits


def test_slices_behind_windows_that_fit_are_inferred() -> None:
    nodes = (
        "p = MaxPool <kernel_shape = [2, 2]> (x)  s = Slice(p, zero, two, axis)"
        "  q = MaxPool <kernel_shape = [2, 1]> (s)  y = Slice(q, zero, two, axis)"
    )
    proto = _model("float[1, 1, 12, 12] x", nodes)
    del proto.graph.output[0].type.tensor_type.shape.dim[:]
    proto.graph.output[0].type.tensor_type.ClearField("shape")
    found = infer(proto)
    sizes = {
        each.name: [dim.dim_value for dim in each.type.tensor_type.shape.dim]
        for each in (*found.graph.value_info, *found.graph.output)
    }
    assert sizes == {"p": [1, 1, 11, 11], "s": [1, 1, 2, 11], "q": [1, 1, 1, 11], "y": [1, 1, 1, 11]}
    assert list(found.graph.node) == list(proto.graph.node)
    assert [each.name for each in found.graph.input] == ["x"]


def test_operators_on_known_types_are_checked() -> None:
    """The type of what a trap reads is known here, in the second model only once the first node is inferred."""
    for nodes in (
        'y = ai.onnx.ml.LabelEncoder <keys_strings = ["a"], values_floats = [1.0]> (x)',
        'h = Neg(x)  y = ai.onnx.ml.LabelEncoder <keys_strings = ["a"], values_floats = [1.0]> (h)',
    ):
        head = '<ir_version: 10, opset_import: ["": 21, "ai.onnx.ml": 4]>'
        proto = parser.parse_model(f"{head} g (float[n] x) => (float[n] y) {{ {nodes} }}")
        with pytest.raises(shape_inference.InferenceError, match="LabelEncoder"):
            infer(without_traps(proto, is_checked=True), is_strict=True)


def test_a_vectorizer_of_a_function_keeps_its_model_valid() -> None:
    head = '<ir_version: 10, opset_import: ["": 21, "ai.onnx.ml": 4, "local": 1]>'
    body = 'own(a) => (b) { b = ai.onnx.ml.DictVectorizer <string_vocabulary = ["a"]> (a) }'
    imports = '<domain: "local", opset_import: ["": 21, "ai.onnx.ml": 4]>'
    text = f"{head} g (float[n] x) => (float[n, k] y) {{ y = local.own(x) }} {imports} {body}"
    proto = parser.parse_model(text)
    number = onnx.helper.make_tensor_type_proto(onnx.TensorProto.FLOAT, [])
    proto.graph.input[0].type.CopyFrom(onnx.helper.make_map_type_proto(onnx.TensorProto.STRING, number))
    Model.from_proto(proto).check()
