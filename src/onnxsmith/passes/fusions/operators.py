"""`op`: the operators that our own rules are written with. A rule applies in all opsets in which they mean the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, cast

import onnxsmith.opset17
import onnxsmith.opset23
from onnxsmith.core.tensor import Tensor


class RuleOperators(Protocol):
    """The operators of an opset that give one tensor."""

    def __getattr__(self, name: str) -> Callable[..., Tensor]: ...


op = cast(RuleOperators, onnxsmith.opset23)
#: The last opset in which the axes of a mean are an attribute.
older_op = cast(RuleOperators, onnxsmith.opset17)
