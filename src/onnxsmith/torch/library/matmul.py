"""Products of matrices and vectors, and Einstein sums."""

from __future__ import annotations

from collections.abc import Sequence

from onnxsmith.algorithms import einsum as algorithm
from onnxsmith.algorithms.linalg.matrices import product_of
from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.algorithms.values import Numeric, converted, rank_of, reshape
from onnxsmith.torch.library.call import Call
from onnxsmith.torch.library.kinds import Translated
from onnxsmith.torch.library.registry import translates
from onnxsmith.torch.library.values import cast, is_number, tensors


@translates(
    *("aten.matmul.default", "aten.mm.default", "aten.bmm.default", "aten.mv.default", "aten.dot.default"),
    "aten.linalg_matmul.default",
)
def matmul(call: Call, x: Tensor, y: Tensor) -> Translated:
    return product_of(*tensors(call, x, y))


@translates("aten.linear.default")
def linear(call: Call, x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Translated:
    if rank_of(x) == 2 and rank_of(weight) == 2 and call.dtype.is_float:
        given = () if bias is None else (bias,)
        return op.Gemm(x, weight, *given, transB=1)
    product = product_of(x, op.Transpose(weight, perm=[1, 0]) if rank_of(weight) == 2 else weight)
    return product if bias is None else product + bias


@translates("aten.addmm.default")
def addmm(
    call: Call, bias: Tensor, x: Tensor, y: Tensor, *, beta: Numeric = 1, alpha: Numeric = 1
) -> Translated:
    # ONNX Runtime (1.31) leaves `beta` out of account where the inner dimension is 0.
    inner = call.size(x, 1)
    is_safe = is_number(beta, 0) or is_number(beta, 1) or (isinstance(inner, int) and inner > 0)
    if call.dtype.is_float and isinstance(beta, int | float) and isinstance(alpha, int | float) and is_safe:
        # A bias that counts for nothing must not even pass on its NaN.
        given = () if beta == 0 else (bias,)
        return op.Gemm(x, y, *given, alpha=float(alpha), beta=float(beta))
    return _sum(call, bias, op.MatMul(x, y), beta, alpha)


@translates("aten.baddbmm.default", "aten.addbmm.default", "aten.addmv.default")
def baddbmm(
    call: Call, bias: Tensor, x: Tensor, y: Tensor, *, beta: Numeric = 1, alpha: Numeric = 1
) -> Translated:
    product = product_of(x, y)
    if call.overload.startswith("aten.addbmm"):
        product = op.ReduceSum(product, [0], keepdims=0)
    return _sum(call, bias, product, beta, alpha)


def _sum(call: Call, bias: Tensor, product: Tensor, beta: Numeric, alpha: Numeric) -> Tensor:
    if not is_number(alpha, 1):
        product = product * cast(alpha, call.dtype)
    if is_number(beta, 0):
        return product
    bias = bias if is_number(beta, 1) else bias * cast(beta, call.dtype)
    return bias + product


@translates("aten.bilinear.default")
def bilinear(call: Call, x: Tensor, y: Tensor, weight: Tensor, bias: Tensor | None = None) -> Translated:
    """For each of the weight's matrices, the product of a row of `x`, the matrix and a row of `y`."""
    outputs, left, right = call.shape_of(weight)
    matrices = reshape(op.Transpose(weight, perm=[1, 0, 2]), [left, outputs * right])
    rows = reshape(op.MatMul(x, matrices), [*call.output_shape(), right])
    result = op.Squeeze(op.MatMul(rows, op.Unsqueeze(y, [-1])), [-1])
    return result if bias is None else result + bias


# -- Einstein sums -------------------------------------------------------------------------------------


@translates("aten.einsum.default")
def einsum(
    call: Call, equation: str, tensors: Sequence[Tensor], *, path: Sequence[int] | None = None
) -> Tensor:
    return algorithm.einsum(equation, [converted(each, call.dtype) for each in tensors], path)
