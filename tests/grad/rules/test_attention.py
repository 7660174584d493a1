"""The closed form of attention, and the definition for what it is not for, against torch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention

from onnxsmith import BOOL, FLOAT, Model, trace
from onnxsmith import opset23 as op
from onnxsmith.grad import grad, jvp
from tests.grad.node_gradients import wrong_of_family

RNG = np.random.default_rng(0)


def drawn(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape).astype(np.float32)


Q, K, V = drawn(2, 4, 5, 6), drawn(2, 4, 7, 6), drawn(2, 4, 7, 3)
BIAS = drawn(5, 7)
SEEN = RNG.random((2, 1, 5, 7)) > 0.4
SEEN[0, 0, 2] = False  # a row of which nothing is left
G = drawn(2, 4, 5, 3)

#: Name: attributes of ours, torch's arguments, and arrays in the place of others.
CASES: dict[str, tuple[dict[str, Any], dict[str, Any], dict[str, np.ndarray]]] = {
    "plain": ({}, {}, {}),
    "scaled": ({"scale": 0.3}, {"scale": 0.3}, {}),
    "causal": ({"is_causal": 1}, {"is_causal": True}, {}),
    "heads in groups": ({}, {"enable_gqa": True}, {"k": drawn(2, 2, 7, 6), "v": drawn(2, 2, 7, 3)}),
    "a bias": ({}, {}, {"mask": BIAS}),
    "a mask": ({}, {}, {"mask": SEEN}),
    "a cap": ({"softcap": 2.0}, {}, {}),  # through the definition
}


def _torch(given: list[np.ndarray], mask: np.ndarray | None, **how: Any) -> list[np.ndarray]:
    tensors = [torch.tensor(each, requires_grad=True) for each in given]
    bias = None if mask is None else torch.tensor(mask, requires_grad=mask.dtype != bool)
    made = scaled_dot_product_attention(*tensors, attn_mask=bias, **how)
    if mask is not None and mask.dtype == bool:
        made = torch.where(torch.isnan(made), 0.0, made)
    (made * torch.from_numpy(G)).sum().backward()
    wanted = [*tensors, *([bias] if bias is not None and bias.requires_grad else [])]
    return [np.nan_to_num(each.grad.numpy()) for each in wanted if each.grad is not None]


@pytest.mark.parametrize("sizes", ["known", "open"])
@pytest.mark.parametrize("name", [each for each in CASES if each != "a cap"])
def test_the_gradient_is_that_of_torch(name: str, sizes: str) -> None:
    attributes, how, arrays = CASES[name]
    given = [arrays.get("q", Q), arrays.get("k", K), arrays.get("v", V)]
    mask = arrays.get("mask")
    model = _model(given, mask, attributes, is_open=sizes == "open")
    wrt = ["q", "k", "v", *(["mask"] if mask is not None and mask.dtype != bool else [])]
    made = model.gradient(wrt=wrt)
    found = made(*given, *([] if mask is None else [mask]))[1:]
    assert "Attention" in [node.op_type for node in made.ir.graph]
    for one, other in zip(found, _torch(given, mask, **how), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=2e-6)


def _model(
    given: list[np.ndarray], mask: np.ndarray | None, attributes: dict[str, Any], *, is_open: bool
) -> Model:
    def kind(array: np.ndarray, name: str) -> Any:
        sizes = ("N", array.shape[1], "S" if name != "q" else "L", array.shape[3]) if is_open else array.shape
        return FLOAT[sizes]

    kinds = [kind(each, name) for each, name in zip(given, "qkv", strict=True)]
    if mask is None:
        return trace(
            lambda q, k, v: op.ReduceSum(op.Attention(q, k, v, **attributes) * G, keepdims=0), *kinds
        )
    of_mask: Any = BOOL if mask.dtype == bool else FLOAT
    sizes = (*mask.shape[:-2], "L", "S") if is_open else mask.shape
    return trace(
        lambda q, k, v, mask: op.ReduceSum(op.Attention(q, k, v, mask, **attributes) * G, keepdims=0),
        *kinds,
        of_mask[sizes],
    )


def _joined(x: np.ndarray) -> np.ndarray:
    return x.transpose(0, 2, 1, 3).reshape(x.shape[0], x.shape[2], -1)


@pytest.mark.parametrize("name", ["plain", "heads in groups"])
def test_heads_that_are_joined(name: str) -> None:
    _, how, arrays = CASES[name]
    given = [Q, arrays.get("k", K), arrays.get("v", V)]
    heads = {"q_num_heads": 4, "kv_num_heads": given[1].shape[1]}
    model = trace(
        lambda q, k, v: op.ReduceSum(op.Attention(q, k, v, **heads) * _joined(G), keepdims=0),
        *[FLOAT[_joined(each).shape] for each in given],
    )
    found = model.gradient(wrt=["q", "k", "v"])(*map(_joined, given))[1:]
    for one, other in zip(found, _torch(given, None, **how), strict=True):
        np.testing.assert_allclose(one, _joined(other), rtol=1e-4, atol=2e-6)


def test_what_is_rare_goes_through_the_definition() -> None:
    model = _model([Q, K, V], None, {"softcap": 2.0}, is_open=False)
    found = model.gradient(wrt=["q"])(Q, K, V)[1]
    q, k, v = (torch.tensor(each, requires_grad=True) for each in (Q, K, V))
    scores = 2.0 * torch.tanh(q @ k.transpose(2, 3) / np.sqrt(6) / 2.0)
    (torch.softmax(scores, -1) @ v * torch.from_numpy(G)).sum().backward()
    assert q.grad is not None
    np.testing.assert_allclose(found, q.grad.numpy(), rtol=1e-4, atol=2e-6)


def test_second_derivatives() -> None:
    def loss(q: Any) -> Any:
        return op.ReduceSum(op.Attention(q, K, V) * G, keepdims=0)

    def wanted(q: torch.Tensor) -> torch.Tensor:
        k, v, g = map(torch.from_numpy, (K, V, G))
        return (torch.softmax(q @ k.transpose(2, 3) / np.sqrt(6), -1) @ v * g).sum()

    direction = drawn(*Q.shape)
    found = jvp(grad(loss))(Q, tangent=direction)[1]
    made: Callable[..., Any] = torch.autograd.functional.hvp
    product = made(wanted, torch.from_numpy(Q), torch.from_numpy(direction))[1]
    np.testing.assert_allclose(found, product.numpy(), rtol=1e-3, atol=1e-5)


def test_gradients_of_node_cases_are_those_of_differences() -> None:
    assert wrong_of_family("attention") == []
