"""Gradients of what changes the shape of a tensor and moves its elements as a whole."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from onnxsmith import opset24 as op
from tests.grad.differences import agree
from tests.grad.node_gradients import wrong_of_family

X = np.arange(24.0).reshape(2, 3, 4) / 7
IMAGE = np.arange(16.0).reshape(1, 4, 2, 2) / 5
#: A name, what is computed, and of which arrays.
CASES: dict[str, tuple[Any, ...]] = {
    "Reshape": (lambda x: op.Reshape(x, [4, -1]), X),
    "Flatten": (lambda x: op.Flatten(x, axis=2), X),
    "Squeeze": (lambda x: op.Squeeze(x, [0]), X[:1]),
    "Unsqueeze": (lambda x: op.Unsqueeze(x, [1, -1]), X),
    "Transpose": (lambda x: op.Transpose(x), X),
    "Transpose by an order": (lambda x: op.Transpose(x, perm=[1, 2, 0]), X),
    "Expand": (lambda x: op.Expand(x, [2, 2, 3, 4]), X[:1]),
    "Expand of a number": (lambda x: op.Expand(x, [2, 3]), np.array(0.5)),
    "Concat": (lambda x, y: op.Concat(x, y, axis=1), X, X[:, :1] + 1),
    "Concat at the end": (lambda x, y: op.Concat(y, x, axis=-1), X, X + 1),
    "Split, the first": (lambda x: op.Split(x, [1, 3], axis=2)[0], X),
    "Split, the last": (lambda x: op.Split(x, num_outputs=3, axis=1)[2], X),
    "Split, all": (lambda x: op.Concat(*op.Split(x, [1, 1, 2], axis=2)[::-1], axis=2), X),
    "Tile": (lambda x: op.Tile(x, [2, 1, 3]), X[:1]),
    "Trilu, above": (lambda x: op.Trilu(x), X),
    "Trilu, below": (lambda x: op.Trilu(x, np.int64(1), upper=0), X),
    "ReverseSequence": (
        lambda x: op.ReverseSequence(x, np.int64([2, 3, 1, 2][:3]), time_axis=0, batch_axis=1),
        np.arange(9.0).reshape(3, 3, 1),
    ),
    "DepthToSpace": (lambda x: op.DepthToSpace(x, blocksize=2), IMAGE),
    "DepthToSpace, columns first": (lambda x: op.DepthToSpace(x, blocksize=2, mode="CRD"), IMAGE),
    "SpaceToDepth": (lambda x: op.SpaceToDepth(x, blocksize=2), IMAGE),
}


@pytest.mark.parametrize("name", CASES)
def test_gradients_are_those_of_differences(name: str) -> None:
    function, *arrays = CASES[name]
    agree(function, *arrays)


def test_gradients_of_node_cases_are_those_of_differences() -> None:
    assert wrong_of_family("shapes") == []
