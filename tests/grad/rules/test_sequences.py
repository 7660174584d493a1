"""Gradients through sequences, optionals and the lists of scripts, against torch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import onnx.parser
import pytest
import torch

from onnxsmith import FLOAT, INT64, Model, script
from onnxsmith import opset21 as op
from onnxsmith.grad import grad, jvp

X = np.random.default_rng(0).standard_normal((4, 3)).astype(np.float32)
V = np.float32([0.5, -0.4, 0.3])


def check(ours: Any, theirs: Callable[..., Any], *arrays: Any) -> None:
    tensors = [torch.tensor(each, requires_grad=True) for each in arrays]
    wanted = torch.autograd.grad(theirs(*tensors), tensors, allow_unused=True)
    for found, x, each in zip(ours, tensors, wanted, strict=True):
        np.testing.assert_allclose(found, torch.zeros_like(x) if each is None else each, rtol=1e-5, atol=1e-6)


def inserted(x, v):
    parts = op.SplitToSequence(x, axis=0, keepdims=0)
    parts = op.SequenceInsert(parts, op.Sin(v), -2)
    parts = op.SequenceInsert(parts, op.Exp(v))
    parts = op.SequenceErase(parts, -4)
    parts = op.SequenceErase(parts, 0)
    rows = op.ConcatFromSequence(parts, axis=0, new_axis=1)
    return (rows * rows * rows).sum()


def inserted_in_torch(x: Any, v: Any) -> Any:
    parts = list(x)
    parts.insert(len(parts) - 2, torch.sin(v))
    parts.append(torch.exp(v))
    del parts[-4]
    del parts[0]
    return (torch.stack(parts) ** 3).sum()


def picked(x, v):
    parts = op.SequenceConstruct(x, op.Unsqueeze(v, [0]), op.Sin(x))
    some = op.SequenceAt(parts, 1) * op.SequenceAt(parts, -3) + op.SequenceAt(parts, 2)
    longer = op.ConcatFromSequence(op.SequenceErase(parts), axis=0)
    return (some * some).sum() + (longer**3.0).sum()


def picked_in_torch(x: Any, v: Any) -> Any:
    some = v[None] * x + torch.sin(x)
    return (some * some).sum() + (torch.cat([x, v[None]]) ** 3).sum()


def split(x, v):
    first, second = (op.SequenceAt(op.SplitToSequence(x, [1, 3], axis=0), k) for k in (0, 1))
    return (first * second * v).sum()


def split_in_torch(x: Any, v: Any) -> Any:
    return (x[:1] * x[1:] * v).sum()


CASES = [(inserted, inserted_in_torch), (picked, picked_in_torch), (split, split_in_torch)]


@pytest.mark.parametrize(("ours", "theirs"), CASES, ids=[each[0].__name__ for each in CASES])
def test_sequences(ours: Any, theirs: Any) -> None:
    check(grad(ours, wrt=(0, 1))(X, V), theirs, X, V)


@pytest.mark.parametrize(("ours", "theirs"), CASES, ids=[each[0].__name__ for each in CASES])
def test_second_derivatives_of_sequences(ours: Any, theirs: Any) -> None:
    def first(x: Any, v: Any) -> Any:
        (slope,) = torch.autograd.grad(theirs(x, v), x, create_graph=True)
        return (slope * slope).sum()

    def ours_first(x, v):
        slope = grad(ours)(x, v)
        return (slope * slope).sum()

    check(grad(ours_first, wrt=(0, 1))(X, V), first, X, V)


@script
def listed(x: FLOAT["N", "M"], v: FLOAT["M"], n: INT64):
    items = [v]
    for i in range(n):
        items.append(op.Tanh(items[-1] * x[i] + items[0]))
    total = op.ReduceSum(items[-1] * items[-1], keepdims=0)
    for each in items:
        total = total * 0.9 + op.ReduceSum(op.Sin(each), keepdims=0)
    return total


def listed_in_torch(count: int) -> Callable[..., Any]:
    def same(x: Any, v: Any) -> Any:
        items = [v]
        for i in range(count):
            items.append(torch.tanh(items[-1] * x[i] + items[0]))
        total = (items[-1] * items[-1]).sum()
        for each in items:
            total = total * 0.9 + torch.sin(each).sum()
        return total

    return same


@pytest.mark.parametrize("trips", [0, 1, 4])
def test_a_list_that_a_loop_fills_and_reads(trips: int) -> None:
    check(grad(listed, wrt=(0, 1))(X, V, np.int64(trips)), listed_in_torch(trips), X, V)


def test_a_list_forwards() -> None:
    tangent = np.float32([1, 0, -2])
    _, change = jvp(listed, wrt=1)(X, V, np.int64(3), tangent=tangent)
    np.testing.assert_allclose(change, grad(listed, wrt=1)(X, V, np.int64(3)) @ tangent, rtol=1e-5)


def test_a_loop_that_carries_a_sequence_which_only_some_turns_change() -> None:
    @script
    def some(x: FLOAT["N", "M"], n: INT64):
        items = [x[0]]
        h = x[0]
        for i in range(n):
            if op.ReduceSum(x[i], keepdims=0) > 0.0:
                items.append(h * x[i])
            h = op.Sin(h + items[-1])
        return op.ReduceSum(h * items[-1], keepdims=0)

    def same(x: Any) -> Any:
        items, h = [x[0]], x[0]
        for i in range(4):
            if x[i].sum() > 0:
                items.append(h * x[i])
            h = torch.sin(h + items[-1])
        return (h * items[-1]).sum()

    check([grad(some)(X, np.int64(4))], same, X)


def test_a_sequence_may_be_an_input() -> None:
    proto = onnx.parser.parse_model(
        """<ir_version: 8, opset_import: ["": 18]>
        g (seq(float[N]) s) => (float loss) {
          y = ConcatFromSequence<axis = 0> (s)
          z = Mul (y, y)
          loss = ReduceSum<keepdims = 0> (z)
        }"""
    )
    made = Model.from_proto(proto).gradient(wrt=["s"])
    parts = [np.float32([1, 2]), np.float32([3])]
    found = made(parts)[1]
    for each, part in zip(found, parts, strict=True):
        np.testing.assert_array_equal(each, 2 * part)


def test_optionals() -> None:
    def held(x):
        some = op.Optional(x * x)
        return op.OptionalGetElement(some).sum()

    np.testing.assert_allclose(grad(held)(V), 2 * V)


def test_every_element_of_a_sequence() -> None:
    def mapped(x, v):
        parts = op.SplitToSequence(x, axis=0, keepdims=0)
        made = op.SequenceMap(parts, v, body=lambda part, w: op.Sin(part * w))
        return op.ConcatFromSequence(made, axis=0).sum()

    check(grad(mapped, wrt=(0, 1))(X, V), lambda x, v: torch.sin(x * v).sum(), X, V)
