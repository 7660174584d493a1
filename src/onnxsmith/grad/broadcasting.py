"""Cotangents that fit: what an operator has broadcast is summed again, with sizes that are known or open."""

from __future__ import annotations

import numpy as np

from onnxsmith.core.target import current_graph
from onnxsmith.core.tensor import Tensor
from onnxsmith.core.value import Value
from onnxsmith.errors import NotDifferentiableError
from onnxsmith.grad.operators import op
from onnxsmith.grad.steps import dtype_of, shape_of
from onnxsmith.schema.inference import symbolic
from onnxsmith.types.value_types import Dimension


def is_same(left: Dimension, right: Dimension) -> bool:
    """True if two dimensions are certainly the same size."""
    if isinstance(left, int) or isinstance(right, int):
        return left == right
    return left is not None and (left == right or symbolic.is_same(left, right))


def have_same_shape(left: Value, right: Value) -> bool:
    """True if two tensors certainly have the same shape."""
    a, b = shape_of(left), shape_of(right)
    return a is not None and b is not None and len(a) == len(b) and all(map(is_same, a, b))


def as_type_of(value: Tensor, like: Tensor) -> Tensor:
    """A tensor with the type of another that it is known to have, where inference does not see it."""
    made = current_graph().refined(value, like.type)
    assert isinstance(made, Tensor)  # a tensor stays one
    return made


def summed_to(cotangent: Tensor, like: Tensor) -> Tensor:
    """The cotangent of a tensor that was broadcast: the sum over what it was repeated along."""
    given, wanted = shape_of(cotangent), shape_of(like)
    if given is None or wanted is None:
        return _summed_to_open_rank(cotangent, like)
    lead = len(given) - len(wanted)
    pairs = list(zip(wanted, given[lead:], strict=True))
    certain = [lead + k for k, (mine, theirs) in enumerate(pairs) if mine == 1 and theirs != 1]
    may_differ = any(
        not isinstance(mine, int) and theirs != 1 and not is_same(mine, theirs) for mine, theirs in pairs
    )
    if lead and (certain or may_differ):
        cotangent = op.ReduceSum(cotangent, np.arange(lead), keepdims=0)
        certain = [each - lead for each in certain]
    elif lead:
        return op.ReduceSum(cotangent, np.arange(lead), keepdims=0)
    if may_differ:
        return _summed_where_different(cotangent, like)
    return op.ReduceSum(cotangent, np.array(certain), keepdims=1) if certain else cotangent


def _summed_where_different(cotangent: Tensor, like: Tensor) -> Tensor:
    """The sum along the axes whose sizes turn out to differ, for tensors of one rank."""
    is_different = op.Not(op.Equal(op.Shape(like), op.Shape(cotangent)))
    axes = op.Reshape(op.NonZero(is_different), [-1])
    return as_type_of(op.ReduceSum(cotangent, axes, keepdims=1, noop_with_empty_axes=1), like)


def _summed_to_open_rank(cotangent: Tensor, like: Tensor) -> Tensor:
    sizes, wanted = op.Shape(cotangent), op.Shape(like)
    lead = op.Sub(op.Shape(sizes), op.Shape(wanted))
    padded = op.Concat(op.Expand(np.array([1]), lead), wanted, axis=0)
    axes = op.Reshape(op.NonZero(op.Not(op.Equal(padded, sizes))), [-1])
    total = op.ReduceSum(cotangent, axes, keepdims=1, noop_with_empty_axes=1)
    return as_type_of(op.Reshape(total, wanted, allowzero=1), like)


def expanded_to(value: Tensor, like: Tensor) -> Tensor:
    """A tensor repeated to the shape of another."""
    if have_same_shape(value, like):
        return value
    return as_type_of(op.Expand(value, shape_tensor(like)), like)


def shape_tensor(x: Tensor) -> Tensor | np.ndarray[tuple[int], np.dtype[np.int64]]:
    """The shape of a tensor as operators take it: a constant where it is known."""
    shape = shape_of(x)
    if shape is not None and all(isinstance(each, int) for each in shape):
        return np.array(shape, np.int64).reshape(-1)
    return op.Shape(x)


def filled_like(x: Tensor, number: float) -> Tensor:
    """A tensor of one number, of the shape and the element type of another."""
    dtype = dtype_of(x)
    if dtype is None:  # of a script without annotations
        raise NotDifferentiableError(
            "a gradient needs the element type of its argument, and nothing says it here",
            help="annotate the parameters of the script: x: FLOAT['N']",
        )
    shape = shape_of(x)
    element = np.asarray(number, dtype.numpy)
    if shape is not None and not shape:
        made = current_graph().constant(element)
        assert isinstance(made, Tensor)
        return made
    sizes = shape_tensor(x)
    return as_type_of(op.ConstantOfShape(sizes, value=element.reshape(1)), x)
