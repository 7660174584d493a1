"""Bombs whose nodes give more than any memory holds, of inputs that are constants."""

from __future__ import annotations

import numpy as np
import onnx
from onnx import TensorProto, helper

from tests.cli.bombs.making import BROKEN, FOREVER, GIANT, UNRUNNABLE, bomb, call, info, model, tensor


@bomb(refused_by=UNRUNNABLE)
def constant_of_shape() -> onnx.ModelProto:
    return model([call("ConstantOfShape", ["s"])], [tensor("s", [GIANT])])


@bomb(refused_by=UNRUNNABLE)
def constant_of_shape_beyond_64_bits() -> onnx.ModelProto:
    return model([call("ConstantOfShape", ["s"])], [tensor("s", [1 << 32] * 3)], rank=3)


@bomb(refused_by=UNRUNNABLE)
def expand() -> onnx.ModelProto:
    return model([call("Expand", ["x", "s"])], [tensor("x", 1.0, np.float32), tensor("s", [GIANT])])


@bomb(refused_by=UNRUNNABLE)
def range_of_integers() -> onnx.ModelProto:
    ends = [tensor("a", 0), tensor("b", FOREVER), tensor("c", 1)]
    return model([call("Range", ["a", "b", "c"])], ends, output=TensorProto.INT64)


@bomb(refused_by=UNRUNNABLE)
def range_of_tiny_steps() -> onnx.ModelProto:
    ends = [tensor(name, number, np.float32) for name, number in (("a", 0), ("b", 1e30), ("c", 1e-30))]
    return model([call("Range", ["a", "b", "c"])], ends)


@bomb(refused_by=UNRUNNABLE)
def range_without_a_step() -> onnx.ModelProto:
    ends = [tensor("a", 0), tensor("b", 10), tensor("c", 0)]
    return model([call("Range", ["a", "b", "c"])], ends, output=TensorProto.INT64)


@bomb(refused_by=UNRUNNABLE)
def range_that_is_read_as_a_shape() -> onnx.ModelProto:
    nodes = [call("Range", ["a", "b", "c"], "r"), call("ConstantOfShape", ["r"])]
    return model(nodes, [tensor("a", 1), tensor("b", 1 << 24), tensor("c", 1)])


@bomb(refused_by=UNRUNNABLE)
def tile() -> onnx.ModelProto:
    return model([call("Tile", ["x", "n"])], [tensor("x", [1.0], np.float32), tensor("n", [GIANT])])


@bomb(refused_by=UNRUNNABLE)
def one_hot() -> onnx.ModelProto:
    weights = [tensor("i", [1, 2]), tensor("d", GIANT), tensor("v", [0, 1], np.float32)]
    return model([call("OneHot", ["i", "d", "v"])], weights, rank=2)


@bomb(refused_by=UNRUNNABLE)
def pad() -> onnx.ModelProto:
    return model([call("Pad", ["x", "p"])], [tensor("x", [1.0], np.float32), tensor("p", [GIANT, GIANT])])


@bomb()
def pad_by_the_least_integer() -> onnx.ModelProto:
    ends = tensor("p", [np.iinfo(np.int64).min, np.iinfo(np.int64).max])
    return model([call("Pad", ["x", "p"])], [tensor("x", [1.0], np.float32), ends])


@bomb(refused_by=UNRUNNABLE)
def resize_by_scales() -> onnx.ModelProto:
    weights = [tensor("x", np.ones((1, 1, 2, 2)), np.float32), tensor("s", [1, 1, 1e12, 1e12], np.float32)]
    return model([call("Resize", ["x", "", "s"], mode="linear")], weights, rank=4)


@bomb(refused_by=UNRUNNABLE)
def resize_to_sizes() -> onnx.ModelProto:
    weights = [tensor("x", np.ones((1, 1, 2, 2)), np.float32), tensor("s", [1, 1, GIANT, GIANT])]
    return model([call("Resize", ["x", "", "", "s"])], weights, rank=4)


@bomb(refused_by=UNRUNNABLE)
def upsample() -> onnx.ModelProto:
    weights = [tensor("x", np.ones((1, 1, 2, 2)), np.float32), tensor("s", [1, 1, 1e9, 1e9], np.float32)]
    return model([call("Upsample", ["x", "s"])], weights, opset=9, rank=4)


@bomb(refused_by=UNRUNNABLE)
def doubled_sixty_times() -> onnx.ModelProto:
    nodes = [call("Concat", [f"x{n}", f"x{n}"], f"x{n + 1}", axis=0) for n in range(60)]
    return model([*nodes, call("Identity", ["x60"])], [tensor("x0", [1.0], np.float32)])


@bomb(refused_by=UNRUNNABLE)
def outer_sum() -> onnx.ModelProto:
    weights = [tensor("s", [1 << 20, 1]), tensor("t", [1, 1 << 20])]
    nodes = [
        call("ConstantOfShape", ["s"], "a"),
        call("ConstantOfShape", ["t"], "b"),
        call("Add", ["a", "b"]),
    ]
    return model(nodes, weights, rank=2)


@bomb(refused_by=UNRUNNABLE)
def outer_product() -> onnx.ModelProto:
    weights = [tensor("s", [1 << 20, 1]), tensor("t", [1, 1 << 20])]
    nodes = [
        call("ConstantOfShape", ["s"], "a"),
        call("ConstantOfShape", ["t"], "b"),
        call("MatMul", ["a", "b"]),
    ]
    return model(nodes, weights, rank=2)


@bomb(refused_by=UNRUNNABLE)
def einsum_of_many_letters() -> onnx.ModelProto:
    letters = "abcdefghijklmnopqrstuvwxyz"
    equation = ",".join(letters) + "->" + letters
    weights = [tensor("x", np.ones(64), np.float32)]
    return model([call("Einsum", ["x"] * len(letters), equation=equation)], weights, rank=26)


@bomb(refused_by=UNRUNNABLE)
def einsum_of_a_long_equation() -> onnx.ModelProto:
    weights = [tensor("x", np.ones((2, 2)), np.float32)]
    return model([call("Einsum", ["x"], equation="ij->" + "ji." * 100_000)], weights, rank=200000)


@bomb(refused_by=UNRUNNABLE)
def convolution_of_wide_strides() -> onnx.ModelProto:
    weights = [tensor("x", np.ones((1, 1, 2, 2)), np.float32)]
    wide = [1 << 31, 1 << 31]
    return model([call("ConvTranspose", ["x", "x"], strides=wide, output_padding=[1, 1])], weights, rank=4)


@bomb(refused_by=UNRUNNABLE)
def pool_of_wide_windows() -> onnx.ModelProto:
    weights = [tensor("x", np.ones((1, 1, 4, 4)), np.float32)]
    wide = [1 << 31, 1 << 31]
    return model([call("MaxPool", ["x"], kernel_shape=wide, pads=[1 << 30] * 4)], weights, rank=4)


@bomb(refused_by=UNRUNNABLE)
def window_of_many_samples() -> onnx.ModelProto:
    return model([call("HannWindow", ["n"])], [tensor("n", GIANT)])


@bomb(refused_by=UNRUNNABLE)
def mel_bands() -> onnx.ModelProto:
    names = ("a", "b", "c")
    weights = [tensor(name, number) for name, number in zip(names, (GIANT, GIANT, 16000), strict=True)]
    weights += [tensor("d", 0.0, np.float32), tensor("e", 8000.0, np.float32)]
    return model([call("MelWeightMatrix", ["a", "b", "c", "d", "e"])], weights, rank=2)


@bomb(refused_by=UNRUNNABLE)
def random_numbers() -> onnx.ModelProto:
    return model([call("RandomNormal", [], shape=[GIANT])])


@bomb(refused_by=UNRUNNABLE)
def fourier_transform() -> onnx.ModelProto:
    weights = [tensor("x", np.ones((1, 4, 1)), np.float32), tensor("n", GIANT)]
    return model([call("DFT", ["x", "n"])], weights, rank=3)


@bomb(refused_by=UNRUNNABLE)
def spectrum_without_a_step() -> onnx.ModelProto:
    weights = [tensor("x", np.ones((1, 64, 1)), np.float32), tensor("step", 0), tensor("n", 16)]
    return model([call("STFT", ["x", "step", "", "n"])], weights, rank=4)


@bomb(refused_by=UNRUNNABLE)
def text_doubled_forty_times() -> onnx.ModelProto:
    nodes = [call("StringConcat", [f"x{n}", f"x{n}"], f"x{n + 1}") for n in range(40)]
    text = helper.make_tensor("x0", TensorProto.STRING, [1], [b"a"])
    return model([*nodes, call("Identity", ["x40"])], [text], output=TensorProto.STRING)


@bomb(refused_by=UNRUNNABLE)
def sequence_of_single_elements() -> onnx.ModelProto:
    nodes = [
        call("ConstantOfShape", ["s"], "x"),
        call("SplitToSequence", ["x", "one"], "parts"),
        call("SequenceLength", ["parts"]),
    ]
    return model(nodes, [tensor("s", [GIANT]), tensor("one", 1)], output=TensorProto.INT64, rank=0)


@bomb(refused_by=UNRUNNABLE)
def sequence_doubled_sixty_times() -> onnx.ModelProto:
    nodes: list[onnx.NodeProto] = []
    for n in range(60):
        nodes.append(call("SequenceConstruct", [f"x{n}", f"x{n}"], f"s{n}"))
        nodes.append(call("ConcatFromSequence", [f"s{n}"], f"x{n + 1}", axis=0))
    return model([*nodes, call("Identity", ["x60"])], [tensor("x0", [1.0], np.float32)])


@bomb()
def slice_of_extreme_ends() -> onnx.ModelProto:
    least, most = np.iinfo(np.int64).min, np.iinfo(np.int64).max
    weights = [
        tensor("x", [1.0, 2.0], np.float32),
        *(tensor(name, [number]) for name, number in (("a", most), ("b", least), ("c", 0), ("d", least))),
    ]
    return model([call("Slice", ["x", "a", "b", "c", "d"])], weights)


@bomb(refused_by=(*BROKEN, *UNRUNNABLE))
def split_into_many() -> onnx.ModelProto:
    weights = [tensor("x", [1.0, 2.0], np.float32)]
    return model([call("Split", ["x"], num_outputs=1 << 31)], weights)


@bomb(refused_by=UNRUNNABLE)
def many_axes() -> onnx.ModelProto:
    weights = [tensor("x", [1.0], np.float32), tensor("a", np.arange(100_000))]
    return model([call("Unsqueeze", ["x", "a"])], weights, rank=100001)


@bomb(refused_by=UNRUNNABLE)
def blocks_of_depth() -> onnx.ModelProto:
    weights = [tensor("x", np.ones((1, 4, 2, 2)), np.float32)]
    return model([call("DepthToSpace", ["x"], blocksize=1 << 31)], weights, rank=4)


@bomb(refused_by=(*BROKEN, *UNRUNNABLE))
def greatest_of_more_than_there_are() -> onnx.ModelProto:
    node = helper.make_node("TopK", ["x", "k"], ["y", "i"])
    return model([node], [tensor("x", [1.0, 2.0], np.float32), tensor("k", [FOREVER])])


@bomb(refused_by=UNRUNNABLE)
def image_of_columns() -> onnx.ModelProto:
    weights = [tensor("x", np.ones((1, 4, 4)), np.float32), tensor("i", [GIANT, GIANT]), tensor("b", [2, 2])]
    return model([call("Col2Im", ["x", "i", "b"])], weights, rank=4)


@bomb(refused_by=UNRUNNABLE)
def identity_matrix_of_an_input() -> onnx.ModelProto:
    nodes = [call("Expand", ["x", "s"], "wide"), call("EyeLike", ["wide"])]
    return model(nodes, [tensor("s", [1 << 20, 1 << 20])], inputs=[info("x")], rank=2)
