"""Models of Keras: by its own ONNX export, and by tf2onnx from the same layers and from functions of TensorFlow."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import keras
import numpy as np
import onnx
import tensorflow as tf
import tf2onnx

from benchmarks.foreign.making import Made, Maker, normal

_L = keras.layers

#: One layer each, and the shape of its input without the batch.
_LAYERS: dict[str, tuple[Callable[[], Any], tuple[int, ...]]] = {
    "dense": (lambda: _L.Dense(4, activation="gelu"), (6,)),
    "conv1d": (lambda: _L.Conv1D(4, 3, padding="causal"), (8, 3)),
    "conv2d": (lambda: _L.Conv2D(4, 3, strides=2, padding="same"), (9, 9, 3)),
    "dilated conv2d": (lambda: _L.Conv2D(4, 3, dilation_rate=2), (9, 9, 3)),
    "depthwise conv2d": (lambda: _L.DepthwiseConv2D(3, padding="same"), (8, 8, 3)),
    "separable conv2d": (lambda: _L.SeparableConv2D(5, 3), (8, 8, 3)),
    "conv2d transpose": (lambda: _L.Conv2DTranspose(4, 3, strides=2, padding="same"), (5, 5, 3)),
    "max pool": (lambda: _L.MaxPooling2D(3, 2, padding="same"), (9, 9, 3)),
    "average pool": (lambda: _L.AveragePooling2D(2), (8, 8, 3)),
    "global pool": (lambda: _L.GlobalAveragePooling2D(), (8, 8, 3)),
    "batch normalization": (lambda: _L.BatchNormalization(), (6, 6, 4)),
    "layer normalization": (lambda: _L.LayerNormalization(), (5, 8)),
    "group normalization": (lambda: _L.GroupNormalization(2), (6, 6, 4)),
    "unit normalization": (lambda: _L.UnitNormalization(), (8,)),
    "lstm": (lambda: _L.LSTM(5, return_sequences=True), (7, 3)),
    "gru": (lambda: _L.GRU(5), (7, 3)),
    "bidirectional": (lambda: _L.Bidirectional(_L.LSTM(4)), (7, 3)),
    "simple rnn": (lambda: _L.SimpleRNN(5, go_backwards=True), (7, 3)),
    "up sampling": (lambda: _L.UpSampling2D(2, interpolation="bilinear"), (4, 4, 3)),
    "resizing": (lambda: _L.Resizing(5, 7), (8, 8, 3)),
    "zero padding": (lambda: _L.ZeroPadding2D((1, 2)), (4, 4, 3)),
    "cropping": (lambda: _L.Cropping2D(1), (6, 6, 3)),
    "flatten and reshape": (lambda: keras.Sequential([_L.Flatten(), _L.Reshape((4, -1))]), (6, 4)),
    "permute": (lambda: _L.Permute((2, 1)), (3, 5)),
    "repeat vector": (lambda: _L.RepeatVector(3), (5,)),
    "leaky relu": (lambda: _L.LeakyReLU(0.1), (6,)),
    "prelu": (lambda: _L.PReLU(), (6,)),
    "elu": (lambda: _L.ELU(), (6,)),
    "softmax": (lambda: _L.Softmax(), (6,)),
    "rescaling": (lambda: _L.Rescaling(1 / 255, offset=-1), (6, 6, 3)),
}


def _attention() -> Any:
    x = keras.Input((6, 8))
    return keras.Model(x, _L.LayerNormalization()(x + _L.MultiHeadAttention(2, 4)(x, x)))


def _two_inputs() -> Any:
    a, b = keras.Input((6,)), keras.Input((6,))
    return keras.Model([a, b], [_L.Dot(1)([a, b]), _L.Concatenate()([a, b]), _L.Maximum()([a, b])])


def _residual() -> Any:
    x = keras.Input((8, 8, 4))
    y = _L.Conv2D(4, 3, padding="same", use_bias=False)(x)
    y = _L.ReLU(max_value=6)(_L.BatchNormalization()(y))
    return keras.Model(x, _L.Dense(3, activation="softmax")(_L.GlobalMaxPooling2D()(y + x)))


_NETWORKS: dict[str, tuple[Callable[[], Any], tuple[tuple[int, ...], ...]]] = {
    "attention": (_attention, ((6, 8),)),
    "two inputs": (_two_inputs, ((6,), (6,))),
    "residual": (_residual, ((8, 8, 4),)),
}

#: Functions of TensorFlow, for tf2onnx.
_FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "while": lambda x: tf.while_loop(lambda i, v: i < 4, lambda i, v: (i + 1, v * 1.5 - 0.5), (0, x))[1],
    "cond": lambda x: tf.cond(tf.reduce_sum(x) > 0, lambda: x * 2.0, lambda: x - 1.0),
    "map": lambda x: tf.map_fn(lambda row: tf.cumsum(row), x),
    "gather": lambda x: tf.gather(x, [2, 0, 1], axis=1),
    "strided slice": lambda x: x[:, ::-2, tf.newaxis],
    "top k": lambda x: tf.math.top_k(x, 3)[0],
    "one hot": lambda x: tf.one_hot(tf.argmax(x, axis=1), 8, on_value=2.0, off_value=-1.0),
    "scatter": lambda x: tf.tensor_scatter_nd_update(x, [[0]], tf.ones((1, 8))),
    "segments": lambda x: tf.math.unsorted_segment_sum(x, [0, 1, 0], 2),
    "einsum": lambda x: tf.einsum("ij,kj->ik", x, x),
    "norm": lambda x: tf.linalg.l2_normalize(x, axis=1),
    "where": lambda x: tf.where(x > 0, x, tf.math.erf(x)),
    "shapes": lambda x: tf.reshape(x, tf.concat([[2], tf.shape(x)[:1], [-1]], 0)),
    "pad": lambda x: tf.pad(x, [[1, 0], [0, 2]], mode="REFLECT"),
    "floor division": lambda x: tf.cast(x * 10, tf.int32) // 3 % 4,
}


def _keras_export(build: Callable[[], Any], shapes: tuple[tuple[int, ...], ...]) -> Maker:
    def make() -> Made:
        model = _built(build, shapes)
        inputs = [normal(3, *shape) for shape in shapes]
        outputs = model(inputs if len(inputs) > 1 else inputs[0])
        with tempfile.TemporaryDirectory() as folder:
            place = Path(folder, "m.onnx")
            model.export(str(place), format="onnx", verbose=False)
            return Made(onnx.load(place), inputs, _arrays(outputs))

    return make


def _tf2onnx(build: Callable[[], Any], shapes: tuple[tuple[int, ...], ...], opset: int) -> Maker:
    def make() -> Made:
        model = _built(build, shapes)
        inputs = [normal(3, *shape) for shape in shapes]
        call = tf.function(lambda *given: model(given if len(given) > 1 else given[0]))
        signature = [tf.TensorSpec((None, *shape), tf.float32) for shape in shapes]
        proto, _ = tf2onnx.convert.from_function(call, input_signature=signature, opset=opset)
        return Made(proto, inputs, _arrays(call(*map(tf.constant, inputs))))

    return make


def _of_function(function: Callable[[Any], Any]) -> Maker:
    def make() -> Made:
        given = normal(3, 8)
        call = tf.function(function)
        proto, _ = tf2onnx.convert.from_function(
            call, input_signature=[tf.TensorSpec((3, 8), tf.float32)], opset=17
        )
        return Made(proto, [given], _arrays(call(tf.constant(given))))

    return make


def _built(build: Callable[[], Any], shapes: tuple[tuple[int, ...], ...]) -> Any:
    keras.utils.set_random_seed(25)
    found = build()
    is_whole = isinstance(found, keras.Model) and not isinstance(found, keras.Sequential)
    return found if is_whole else keras.Sequential([keras.Input(shapes[0]), found])


def _arrays(outputs: Any) -> list[Any]:
    return [np.asarray(each) for each in (outputs if isinstance(outputs, list | tuple) else [outputs])]


_ALL = {name: (build, (shape,)) for name, (build, shape) in _LAYERS.items()} | _NETWORKS
MODELS: dict[str, Maker] = {
    **{f"keras {name}": _keras_export(*each) for name, each in _ALL.items()},
    **{f"tf2onnx {name}": _tf2onnx(*each, opset=13) for name, each in _ALL.items()},
    **{f"tf2onnx {name} of a function": _of_function(each) for name, each in _FUNCTIONS.items()},
}
