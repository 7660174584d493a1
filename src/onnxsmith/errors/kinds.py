"""Failures of a run that have a class of their own: where only the run decides, the runtime's words say which it is.

What inference can see it tells itself; this is for indices and divisors that a model works out.
"""

from __future__ import annotations

import re

from onnxsmith.errors.base import OnnxsmithError
from onnxsmith.errors.running import DivisionByZeroError, MemoryLimitError, OperatorFailedError
from onnxsmith.errors.tensors import TensorIndexError

_INDEX = re.compile(
    r"indices element out of data bounds|invalid index found|out of range value in index tensor"
    r"|invalid sequence index|index -?\d+ is out of bounds for axis \d+ with size [1-9]",
    re.IGNORECASE,
)
#: How every road says it.
BY_ZERO = "division by zero"
NO_MEMORY = "there is not enough memory for the result"


def of_its_kind(failure: OperatorFailedError) -> OnnxsmithError:
    """The failure, or the same told by the class that the mistake has where it is found before a run."""
    if failure.message.endswith(f": {BY_ZERO}"):
        kind = DivisionByZeroError
    elif failure.message.endswith(f": {NO_MEMORY}"):
        kind = MemoryLimitError
    elif _INDEX.search(failure.message) is not None:
        kind = TensorIndexError
    else:
        return failure
    error = kind(failure.message, labels=failure.labels, help=failure.help)
    error.node = failure.node
    return error
