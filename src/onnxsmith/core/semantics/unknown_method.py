"""A name that tensors do not have, `x.relu()`: Python's own error, made one that says what to write."""

from __future__ import annotations

from onnxsmith.core.operands import operators_for
from onnxsmith.core.semantics.numpy_calls import operator_for
from onnxsmith.core.tensor import Tensor
from onnxsmith.diagnostics import did_you_mean
from onnxsmith.errors import UnknownMethodError
from onnxsmith.source import traceback_span


def unknown_method(error: AttributeError) -> UnknownMethodError | None:
    """The error to raise in place of Python's, or None where that is not about a tensor."""
    owner, name = error.obj, error.name
    if not isinstance(owner, Tensor) or not name:
        return None
    public = [each for each in dir(Tensor) if not each.startswith("_")]
    help_text = did_you_mean(name, public)
    meant = operator_for(name, operators_for(owner).version)
    if meant is not None and (help_text is None or meant.lower() == name.lower()):
        help_text = f"call the operator op.{meant}"
    found = UnknownMethodError(f"a tensor has no attribute '{name}'", help=help_text)
    found.locate(traceback_span(error.__traceback__))
    return found.with_traceback(error.__traceback__)
