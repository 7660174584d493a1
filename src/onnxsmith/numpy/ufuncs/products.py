"""Products of matrices and vectors, which stand in the last dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from onnxsmith.algorithms import values
from onnxsmith.algorithms.complex_numbers.field import Field
from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.algorithms.values import converted
from onnxsmith.errors import ShapeError
from onnxsmith.numpy.dtypes import NumpyDType
from onnxsmith.numpy.recorded import Elements
from onnxsmith.numpy.ufunc import Check, ComplexLoop, RealLoop, define
from onnxsmith.types.dtypes import DType

_LAST = np.array([-1], np.int64)
_SECOND_LAST = np.array([-2], np.int64)
_BOTH = np.array([-2, -1], np.int64)


def _vectors(x: Field) -> Field:
    if not values.rank_of(x.re):
        raise ShapeError("a product runs over vectors, and an operand has no dimensions")
    return x


def _row(x: Field) -> Field:
    return _vectors(x).map(op.Unsqueeze, _SECOND_LAST)


def _column(x: Field) -> Field:
    return _vectors(x).map(op.Unsqueeze, _LAST)


def _without(x: Field, axes: np.ndarray[Any, np.dtype[np.int64]]) -> Field:
    return x.map(op.Squeeze, axes)


def _product(x: Field, y: Field) -> Field:
    """The product of matrices, those without elements included.

    ONNX Runtime does not broadcast the first operand to a stack of no matrices, and gives its shape to products of
    matrices of shapes (n, 0) and (0, m). Where there are no elements, operands are broadcast before.
    """
    for each in (x, y):
        if values.rank_of(each.re) < 2:
            raise ShapeError("a product runs over matrices, and an operand has too few dimensions")
    stacked = values.rank_of(y.re) - 2
    if stacked <= 0:
        return x @ y
    mine = values.dimensions_of(x.re)[:-2]
    theirs = values.dimensions_of(y.re)[:stacked]
    is_alike = len(mine) == len(theirs) and all(
        a == b and a is not None for a, b in zip(mine, theirs, strict=True)
    )
    if is_alike or all(isinstance(each, int) and each > 0 for each in theirs):
        return x @ y
    has_some = op.Min(op.Size(x.re), op.Size(y.re)) > 0
    return _spread(x, y, has_some) @ _spread(y, x, has_some)


def _spread(x: Field, other: Field, has_some: Tensor) -> Field:
    """A stack broadcast to another where there are no elements; else it is as it was."""
    if values.rank_of(other.re) == 2:
        return x
    sizes = op.Where(has_some, np.array([1], np.int64), op.Shape(other.re, end=-2))
    shape = op.Concat(sizes, np.array([1, 1], np.int64), axis=0)
    return x.map(op.Expand, shape)


def _matmul(x: Field, y: Field) -> Field:
    if values.rank_of(x.re) == 1 and values.rank_of(y.re) == 1:
        return _vecdot(x.conj(), y)
    if values.rank_of(x.re) == 1:
        return _without(_product(_row(x), y), _SECOND_LAST)
    if values.rank_of(y.re) == 1:
        return _without(_product(x, _column(y)), _LAST)
    return _product(x, y)


def _vecdot(x: Field, y: Field) -> Field:
    # A product of matrices, as the others: a sum of products would take a vector of one element for one of any size.
    return _without(_product(_row(x.conj()), _column(y)), _BOTH)


def _matvec(x: Field, y: Field) -> Field:
    return _without(_product(x, _column(y)), _LAST)


def _vecmat(x: Field, y: Field) -> Field:
    return _without(_product(_row(x.conj()), y), _SECOND_LAST)


def _core(signature: str, *, is_short: bool = False) -> Check:
    """Refuse operands whose last dimensions are not those of a signature; `is_short`: or vectors."""
    names = [part.split(",") for part in signature.split(" ")]

    def check(loop: Sequence[NumpyDType], operands: Sequence[Elements | None]) -> None:
        sizes: dict[str, int] = {}
        stacks: list[tuple[int, ...]] = []
        for number, (operand, core) in enumerate(zip(operands, names, strict=True)):
            if operand is None:
                continue
            if operand.ndim < (1 if is_short else len(core)):
                raise ShapeError(
                    f"operand {number} has {operand.ndim} dimensions, and the product runs over its last {len(core)}",
                    help="x[None, :] gives a vector another dimension",
                )
            mine = core if operand.ndim >= len(core) else [each for each in core if each == "n"]
            for name, size in zip(mine, operand.shape[-len(mine) :], strict=True):
                if sizes.setdefault(name, size) != size:
                    raise ShapeError(
                        f"operand {number} of shape {operand.shape} has {size} where the other operand has "
                        f"{sizes[name]}: a product runs over dimensions of one size"
                    )
            stacks.append(operand.shape[: -len(mine)])
        try:
            np.broadcast_shapes(*stacks)
        except ValueError:
            named = " and ".join(str(each) for each in stacks)
            raise ShapeError(f"stacks of shapes {named} do not broadcast together") from None

    return check


def _of_real(loop: ComplexLoop) -> RealLoop:
    """The same of real tensors; sums of truth values are true where one of them is."""

    def call(x: Tensor, y: Tensor) -> Tensor:
        is_bool = x.dtype is DType.BOOL
        if is_bool:
            x, y = converted(x, DType.INT32), converted(y, DType.INT32)
        made = loop(Field(x), Field(y))
        assert isinstance(made, Field)  # it gives one
        return made.re > np.int32(0) if is_bool else made.re

    return call


matmul = define("matmul", _of_real(_matmul), _matmul, check=_core("l,n n,m", is_short=True))
vecdot = define("vecdot", _of_real(_vecdot), _vecdot, check=_core("n n"))
matvec = define("matvec", _of_real(_matvec), _matvec, check=_core("m,n n"))
vecmat = define("vecmat", _of_real(_vecmat), _vecmat, check=_core("n n,m"))
