"""Models of jax2onnx: functions of JAX, and modules of Flax."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import onnx_ir as ir
from flax import nnx
from jax2onnx import to_onnx

from benchmarks.foreign.making import Made, Maker, normal

#: Functions of an array of 3 x 8.
_FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "elementwise": lambda x: jnp.tanh(x) * jnp.exp(-x) + jax.nn.sigmoid(x),
    "gelu": jax.nn.gelu,
    "softmax": lambda x: jax.nn.softmax(x, axis=-1),
    "reductions": lambda x: (x.sum(0), x.mean(1), x.max(), jnp.var(x, axis=1)),
    "matrix product": lambda x: x @ x.T,
    "einsum": lambda x: jnp.einsum("ij,kj->ik", x, x),
    "gather": lambda x: x[:, jnp.array([2, 0, 1])],
    "slice": lambda x: x[1:, ::2],
    "update": lambda x: x.at[0].set(1.0),
    "where": lambda x: jnp.where(x > 0, x, -x),
    "sort": lambda x: jnp.sort(x, axis=1),
    "argmax": lambda x: jnp.argmax(x, axis=1),
    "cumulative sum": lambda x: jnp.cumsum(x, axis=0),
    "concatenation": lambda x: jnp.concatenate([x, x[:1]], axis=0),
    "scan": lambda x: jax.lax.scan(lambda c, row: (c + row, c * row), jnp.zeros(8), x)[1],
    "while": lambda x: jax.lax.while_loop(lambda v: v.sum() < 100, lambda v: v * 2 + 1, x),
    "fori": lambda x: jax.lax.fori_loop(0, 5, lambda i, v: v * 0.5 + i, x),
    "cond": lambda x: jax.lax.cond(x.sum() > 0, lambda v: v * 2, lambda v: v - 1, x),
    "clip and round": lambda x: jnp.round(jnp.clip(x * 3, -2, 2)),
    "integer division": lambda x: (x * 10).astype(jnp.int32) // 3 % 4,
    "reshape and transpose": lambda x: x.reshape(2, 3, 4).transpose(2, 0, 1),
    "convolution": lambda x: jax.lax.conv_general_dilated(
        x.reshape(1, 1, 3, 8), jnp.ones((2, 1, 2, 3)), (1, 2), "SAME"
    ),
}


def _of_function(function: Callable[[Any], Any]) -> Maker:
    def make() -> Made:
        given = normal(3, 8)
        return _made(function, given)

    return make


def _of_module(build: Callable[[nnx.Rngs], Any], shape: tuple[int, ...]) -> Maker:
    def make() -> Made:
        module = build(nnx.Rngs(25))
        module.eval()
        return _made(module, normal(*shape))

    return make


def _made(function: Callable[[Any], Any], given: Any) -> Made:
    exported = to_onnx(function, [given.shape])
    proto = ir.to_proto(exported) if isinstance(exported, ir.Model) else exported
    outputs = function(jnp.asarray(given))
    return Made(proto, [given], [np.asarray(each) for each in jax.tree.leaves(outputs)])


_MODULES: dict[str, tuple[Callable[[nnx.Rngs], Any], tuple[int, ...]]] = {
    "linear": (lambda rngs: nnx.Linear(8, 4, rngs=rngs), (3, 8)),
    "conv": (lambda rngs: nnx.Conv(3, 4, (3, 3), rngs=rngs), (2, 8, 8, 3)),
    "batch norm": (lambda rngs: nnx.BatchNorm(8, rngs=rngs), (3, 8)),
    "layer norm": (lambda rngs: nnx.LayerNorm(8, rngs=rngs), (3, 8)),
    "attention": (
        lambda rngs: nnx.MultiHeadAttention(2, 8, decode=False, rngs=rngs),
        (2, 5, 8),
    ),
    "sequential": (
        lambda rngs: nnx.Sequential(nnx.Linear(8, 16, rngs=rngs), nnx.relu, nnx.Linear(16, 2, rngs=rngs)),
        (3, 8),
    ),
}

MODELS: dict[str, Maker] = {
    **{f"jax2onnx {name}": _of_function(each) for name, each in _FUNCTIONS.items()},
    **{f"jax2onnx flax {name}": _of_module(*each) for name, each in _MODULES.items()},
}
