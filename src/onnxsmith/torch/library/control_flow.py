# pyright: basic
"""Higher-order operators: graphs that are called, chosen or repeated."""

from __future__ import annotations

from typing import Any

from onnxsmith.core.number import Number
from onnxsmith.torch.library.call import Call
from onnxsmith.torch.library.operators import op
from onnxsmith.torch.library.registry import translates
from onnxsmith.torch.library.values import cast
from onnxsmith.types.dtypes import DType


@translates("higher_order.wrap_with_set_grad_enabled")
def wrap_with_set_grad_enabled(call: Call, is_enabled: bool, body: Any, *operands: Any) -> Any:
    return body(*operands)


@translates("higher_order.wrap_with_autocast")
def wrap_with_autocast(
    call: Call, device: str, dtype: Any, is_enabled: bool, cache: Any, body: Any, *operands: Any
) -> Any:
    return body(*operands)


@translates("higher_order.cond")
def cond(call: Call, predicate: Any, then: Any, otherwise: Any, operands: Any = ()) -> Any:
    if isinstance(predicate, bool):
        return (then if predicate else otherwise)(*operands)
    condition = (
        predicate.as_dtype(DType.BOOL) if isinstance(predicate, Number) else cast(predicate, DType.BOOL)
    )
    count = len(call.output) if isinstance(call.output, tuple | list) else 1
    result = op.If(
        condition,
        then_branch=lambda: _results(then, operands),
        else_branch=lambda: _results(otherwise, operands),
        outputs=count,
    )
    return list(result) if isinstance(result, tuple) else [result]


def _results(body: Any, operands: Any) -> Any:
    return tuple(body(*operands))
