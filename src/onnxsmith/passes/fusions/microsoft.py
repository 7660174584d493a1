"""Fusions to operators of ONNX Runtime's own domain, as rules: on request, since such a model runs nowhere else.

There are those that its CPU was measured to run faster than what they stand for; `benchmarks/bench_fusions.py` has
the others, too, and what they would give.
"""

from __future__ import annotations

import functools
from typing import cast

from onnxsmith.core.tensor import Tensor
from onnxsmith.opset.custom import Opset
from onnxsmith.passes.editor import Editor
from onnxsmith.passes.fusions.operators import RuleOperators, op
from onnxsmith.passes.rules.applying import Application
from onnxsmith.passes.rules.match import Match
from onnxsmith.passes.rules.rule import Rule
from onnxsmith.passes.worklist import Worklist
from onnxsmith.types.dtypes import DType

DOMAIN = "com.microsoft"
_own = cast(RuleOperators, Opset(DOMAIN, 1))

# -- QuickGelu -----------------------------------------------------------------------------------------------


def swish(x: Tensor) -> Tensor:
    """QuickGelu with a factor of 1."""
    return x * op.Sigmoid(x)


def quick_gelu(x: Tensor, *, alpha: float) -> Tensor:
    """With a factor."""
    return x * op.Sigmoid(x * alpha)


def _quick_gelu(x: Tensor, *, alpha: float = 1.0) -> Tensor:
    return _own.QuickGelu(x, alpha=alpha)


def _is_float(match: Match) -> bool:
    return match.tensor("x").dtype is DType.FLOAT


# -- FusedMatMul ---------------------------------------------------------------------------------------------


def turned_left(x: Tensor, y: Tensor, *, left: list[int]) -> Tensor:
    """A product whose first matrix was turned on its side."""
    return op.MatMul(op.Transpose(x, perm=left), y)


def turned_right(x: Tensor, y: Tensor, *, right: list[int]) -> Tensor:
    """The second."""
    return op.MatMul(x, op.Transpose(y, perm=right))


def turned_both(x: Tensor, y: Tensor, *, left: list[int], right: list[int]) -> Tensor:
    """Both."""
    return op.MatMul(op.Transpose(x, perm=left), op.Transpose(y, perm=right))


def _turning(
    x: Tensor, y: Tensor, *, left: list[int] | None = None, right: list[int] | None = None
) -> Tensor:
    return _own.FusedMatMul(x, y, alpha=1.0, transA=int(left is not None), transB=int(right is not None))


def _turns_matrices(match: Match) -> bool:
    """True if the last two dimensions are swapped, and no others are moved; a vector beside it gives something else."""
    orders = [match[name] for name in ("left", "right") if name in match]
    return _are_matrices(match) and all(
        each == [*range(len(each) - 2), len(each) - 1, len(each) - 2] for each in orders
    )


def _are_matrices(match: Match) -> bool:
    return _is_float(match) and min(match.tensor(name).rank or 0 for name in ("x", "y")) >= 2


def scaled_product(x: Tensor, y: Tensor, *, factor: float) -> Tensor:
    """A product of matrices times a number."""
    return op.MatMul(x, y) * factor


def divided_product(x: Tensor, y: Tensor, *, divisor: float) -> Tensor:
    """Divided by one."""
    return op.MatMul(x, y) / divisor


def scaled_fused(x: Tensor, y: Tensor, *, factor: float, alpha: float, turns_x: int, turns_y: int) -> Tensor:
    """The same for a product that was fused before."""
    return _own.FusedMatMul(x, y, alpha=alpha, transA=turns_x, transB=turns_y) * factor


def divided_fused(
    x: Tensor, y: Tensor, *, divisor: float, alpha: float, turns_x: int, turns_y: int
) -> Tensor:
    """And divided."""
    return _own.FusedMatMul(x, y, alpha=alpha, transA=turns_x, transB=turns_y) / divisor


def _scaling(
    x: Tensor,
    y: Tensor,
    *,
    factor: float = 1.0,
    divisor: float = 1.0,
    alpha: float = 1.0,
    turns_x: int = 0,
    turns_y: int = 0,
) -> Tensor:
    return _own.FusedMatMul(x, y, alpha=alpha * factor / divisor, transA=turns_x, transB=turns_y)


def _scales_matrices(match: Match) -> bool:
    return _are_matrices(match) and ("divisor" not in match or match["divisor"] != 0)


@functools.cache
def _rules() -> tuple[Rule, ...]:
    return (
        Rule([swish, quick_gelu], _quick_gelu, _is_float, "quick gelu"),
        Rule([turned_both, turned_left, turned_right], _turning, _turns_matrices, "turned product"),
        Rule(
            [scaled_product, divided_product, scaled_fused, divided_fused],
            _scaling,
            _scales_matrices,
            "scaled product",
        ),
    )


def fuse_for_runtime(edit: Editor) -> int:
    """Make the fusions; returns how many there were."""
    edit.pass_name = "fusion"
    return Worklist(edit, Application(edit, is_forgiving=True).table(_rules())).run()
