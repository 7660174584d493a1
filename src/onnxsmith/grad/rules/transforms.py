"""Fourier transforms, determinants, and what is written into a cache."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from onnxsmith.algorithms.complex_numbers.field import Field
from onnxsmith.algorithms.linalg import determinants
from onnxsmith.algorithms.named import DOMAIN as ALGORITHMS
from onnxsmith.core.tensor import Tensor
from onnxsmith.core.value import Value
from onnxsmith.errors import NotDifferentiableError
from onnxsmith.grad.broadcasting import as_type_of, filled_like
from onnxsmith.grad.operators import op
from onnxsmith.grad.rules.indexing import as_int64, size_along
from onnxsmith.grad.rules.linear_algebra import inverse_of_turned
from onnxsmith.grad.steps import Cotangents, Step, dtype_of, numpy_of, shape_of
from onnxsmith.grad.table import rule
from onnxsmith.grad.through import defined

#: Up to as many rows the cofactors of a matrix are computed one by one; and those of numpy code, which has the factors
#: of others.
_MOST_ROWS = 32
_FEW_ROWS = 8


def _is_small(inputs: Sequence[Value | None], attributes: Mapping[str, object], outputs: int) -> bool:
    rows = [each.shape[-1] for each in inputs if isinstance(each, Tensor) and each.shape]
    return len(inputs) == 1 and all(isinstance(each, int) and each <= _FEW_ROWS for each in rows)


@rule("determinant", domain=ALGORITHMS, only=_is_small)
def determinant_by_factors(step: Step, g: Tensor) -> Cotangents:
    # Not Det: the runtime has no kernel for doubles.
    return _by_cofactors(step, g, lambda minors: determinants.determinant(Field(minors)).re)


@rule("Det")
def determinant(step: Step, g: Tensor) -> Cotangents:
    return _by_cofactors(step, g, op.Det)


def _by_cofactors(step: Step, g: Tensor, determinant_of: Callable[[Tensor], Tensor]) -> Cotangents:
    """The cofactors, which there are also for a matrix that has no inverse; of many rows, by the inverse."""
    x = step.input()
    rank, shape = step.rank(), shape_of(x)
    rows = None if shape is None else shape[-1]
    outer = op.Unsqueeze(g, [-2, -1])
    if not isinstance(rows, int) or rows > _MOST_ROWS:
        return (as_type_of(outer * op.Unsqueeze(step.output(), [-2, -1]) * inverse_of_turned(x), x),)
    if rows == 1:
        return (outer,)
    others = np.array([[k for k in range(rows) if k != row] for row in range(rows)])
    # (…, i, n - 1, j, n - 1), then the minors last.
    minors = op.Gather(op.Gather(x, others, axis=rank - 2), others, axis=rank)
    order = [*range(rank - 2), rank - 2, rank, rank - 1, rank + 1]
    signs = np.where(np.add.outer(np.arange(rows), np.arange(rows)) % 2, -1.0, 1.0).astype(numpy_of(x))
    return (outer * determinant_of(op.Transpose(minors, perm=order)) * signs,)


@rule("DFT")
def discrete_fourier(step: Step, g: Tensor) -> Cotangents:
    """Its adjoint is the transform the other way, without the factor that one of the two has."""
    x, rank = step.input(0), step.rank()
    known = step.content(2) if step.has(2) else np.array(step.integer("axis", -2))
    if known is None:
        raise NotDifferentiableError("there is no gradient of DFT along an axis that only the model knows")
    axis = int(known.reshape(-1)[0]) % rank
    is_inverse, is_onesided = step.integer("inverse"), step.integer("onesided")
    if is_inverse and is_onesided:
        raise NotDifferentiableError("there is no gradient of an inverse DFT to real numbers")
    length = (
        op.Reshape(as_int64(step.input(1)), [1]) if step.has(1) else op.Shape(x, start=axis, end=axis + 1)
    )
    if is_onesided:
        g = _resized(g, axis, length)
    count = op.Cast(length, to=dtype_of(g))
    given = (g, None, np.array(axis)) if _takes_axis(step) else (g,)
    attributes = {} if _takes_axis(step) else {"axis": axis}
    made = op.DFT(*given, inverse=1 - is_inverse, **attributes)
    made = made / count if is_inverse else made * count
    made = _resized(made, axis, op.Shape(x, start=axis, end=axis + 1))
    shape = shape_of(x)
    if shape is not None and shape[-1] == 1:
        made = op.Slice(made, [0], [1], [-1])  # the input was real
    return (as_type_of(made, x),)


def _takes_axis(step: Step) -> bool:
    return len(step.definition.inputs) > 2


def _resized(x: Tensor, axis: int, length: Tensor) -> Tensor:
    """An axis cut, or filled up with zeros."""
    missing = length - op.Shape(x, start=axis, end=axis + 1)
    return op.Pad(x, op.Concat(np.array([0]), missing, axis=0), None, np.array([axis]))


@defined("STFT")
def short_time_fourier(
    step: Step, signal: Tensor, frame_step: Tensor, window: Tensor | None, frame_length: Tensor | None
) -> Tensor:
    """The transform of frames of the signal, each weighted with the window."""
    length = op.Shape(window) if frame_length is None and window is not None else None
    if frame_length is not None:
        length = op.Reshape(as_int64(frame_length), [1])
    assert length is not None  # one of the two is given
    hop, size = op.Reshape(as_int64(frame_step), [1]), op.Shape(signal, start=1, end=2)
    count = op.Div(size - length, hop) + np.int64(1)
    starts = op.Range(np.int64(0), op.Squeeze(count, [0]), np.int64(1)) * hop
    inside = op.Range(np.int64(0), op.Squeeze(length, [0]), np.int64(1))
    frames = op.Gather(signal, op.Unsqueeze(starts, [1]) + op.Unsqueeze(inside, [0]), axis=1)
    if window is not None:
        frames = frames * op.Unsqueeze(window, [-1])
    is_onesided = step.integer("onesided", 1)
    if _has_axis_input():
        return op.DFT(frames, None, np.array(2), onesided=is_onesided)
    return op.DFT(frames, axis=2, onesided=is_onesided)


def _has_axis_input() -> bool:
    definition = getattr(op.DFT, "definition", None)
    return definition is not None and len(definition.inputs) > 2


@rule("TensorScatter")
def written_to_cache(step: Step, g: Tensor) -> Cotangents:
    cache, update = step.input(0), step.input(1)
    rank = step.rank()
    axis = step.integer("axis", -2) % rank
    first = step.optional(2)
    batch = op.Shape(update, end=1)
    starts = op.Expand(np.array([0]), batch) if first is None else as_int64(first)
    column = op.Reshape(starts, [-1, *[1] * (rank - 1)])
    places = op.Reshape(
        op.Range(np.int64(0), size_along(update, axis), np.int64(1)),
        [-1 if k == axis else 1 for k in range(rank)],
    )
    places = column + places
    if step.text("mode", "linear") == "circular":
        places = op.Mod(places, size_along(cache, axis))
    where = op.Expand(places, op.Shape(update))
    return (
        lambda: op.ScatterElements(g, where, filled_like(update, 0.0), axis=axis),
        lambda: as_type_of(op.GatherElements(g, where, axis=axis), update),
    )
