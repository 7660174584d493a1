"""Constant shapes that hold a size which is to be open: what `with_shapes` says of them, and that it is right."""

from __future__ import annotations

import ast
import re

import numpy as np
import pytest

from onnxsmith import FLOAT, Model, Tensor, trace
from onnxsmith import opset21 as op
from onnxsmith.errors import ShapeError

WEIGHT = np.arange(12, dtype=np.float32).reshape(3, 4)


def refusal(model: Model, *shape: int | str) -> ShapeError:
    with pytest.raises(ShapeError) as caught:
        model.with_shapes(x=shape)
    return caught.value


def replaced(model: Model, error: ShapeError) -> Model:
    """The model after what the help says was done."""
    found = re.search(r"model\.replace_weights\((\{.*?\})\) first", error.help or "")
    assert found is not None, error.help
    return model.replace_weights(ast.literal_eval(found[1]))


@pytest.mark.parametrize("batch", [1, 2])
@pytest.mark.parametrize("wanted", [(12,), (4, 3), (2, 2, 3)])
def test_the_help_says_what_to_replace_and_how(batch: int, wanted: tuple[int, ...]) -> None:
    model = trace(lambda x: op.Relu(op.Reshape(x * WEIGHT, [batch, *wanted])), FLOAT[batch, 3, 4])
    opened = replaced(model, refusal(model, "N", 3, 4)).with_shapes(x=("N", 3, 4))
    x = np.random.default_rng(0).standard_normal((3 * batch, 3, 4)).astype(np.float32)
    parts = [model(x[at : at + batch]) for at in range(0, 3 * batch, batch)]
    np.testing.assert_array_equal(opened(x), np.concatenate(parts))


def test_a_batch_in_a_product_is_found() -> None:
    def rows(x: Tensor) -> Tensor:
        return op.Reshape(op.Relu(op.Reshape(x, [6, 4])), [2, 12])

    model = trace(rows, FLOAT[2, 3, 4])
    opened = replaced(model, refusal(model, "N", 3, 4)).with_shapes(x=("N", 3, 4))
    x = np.random.default_rng(0).standard_normal((5, 3, 4)).astype(np.float32)
    np.testing.assert_array_equal(opened(x), np.maximum(x, 0).reshape(5, 12))


def test_nothing_is_said_that_would_mix_the_items_of_a_batch() -> None:
    """Sequence first: `[-1, 4, 2]` would fit any batch, and put elements of one item into another."""
    model = trace(lambda x: op.Reshape(x, [5, 4, 2]), FLOAT[5, 1, 8])
    assert "replace_weights" not in (refusal(model, 5, "N", 8).help or "")


def test_only_the_dimension_at_fault_is_named() -> None:
    def network(x: Tensor) -> Tensor:
        return op.Reshape(op.ReduceMean(x, [2, 3]), [1, 3])

    error = refusal(trace(network, FLOAT[1, 3, 8, 8]), "N", 3, "H", "W")
    assert "any size of 'N', only" in error.message
    assert "'H'" not in error.message
    assert "[-1, 3]" in (error.help or "") or "[0, 3]" in (error.help or "")
