"""A name that tensors do not have, `x.relu()`: Python's own error, made one that says what to write."""

from __future__ import annotations

from onnxsmith.core.operands import operators_for
from onnxsmith.core.semantics.numpy_calls import operator_for
from onnxsmith.core.tensor import Tensor
from onnxsmith.diagnostics import did_you_mean
from onnxsmith.errors import UnknownMethodError
from onnxsmith.source import traceback_span
from onnxsmith.types.dtypes import DType

#: numpy's methods that tensors do not have, and what to write.
_INSTEAD = {
    "sort": "tensors do not change; in order are x[x.argsort()], along one dimension, and op.TopK",
    "fill": "tensors do not change; make a new one: x * 0 + value",
    "put": "tensors do not change: x = x.at[index].set(value)",
    "itemset": "tensors do not change: x = x.at[index].set(value)",
    "resize": "tensors do not change: x = x.reshape(…)",
    "copy": "tensors do not change, so that none needs a copy: use x itself",
    "dot": "x @ y",
    "take": "x[indices], or the operator op.Gather",
    "compress": "x[condition]",
    "nonzero": "call the operator op.NonZero, which gives one row for each dimension",
    "cumprod": "op.Exp(op.Log(x).cumsum()) for numbers above 0, or a loop",
    "ptp": "x.max() - x.min()",
    "round": "round(x)",
    "tolist": "make a list where the model is called: model(x).tolist()",
    "trace": "(x * op.EyeLike(x)).sum()",
}

#: Python's methods of text, for tensors of them.
_FOR_TEXTS = {
    "lower": 'op.StringNormalizer(x, case_change_action="LOWER")',
    "upper": 'op.StringNormalizer(x, case_change_action="UPPER")',
    "split": 'words, counts = op.StringSplit(x, delimiter=" ")',
    "join": "op.StringConcat(a, b)",
    "startswith": 'op.RegexFullMatch(x, pattern="(?s)beginning.*")',
    "endswith": 'op.RegexFullMatch(x, pattern="(?s).*end")',
    "isdigit": 'op.RegexFullMatch(x, pattern="[0-9]+")',
    "get": "LabelEncoder of onnxsmith.opset_ai_onnx_ml4 looks texts up",
}


def unknown_method(error: AttributeError) -> UnknownMethodError | None:
    """The error to raise in place of Python's, or None where that is not about a tensor."""
    owner, name = error.obj, error.name
    if not isinstance(owner, Tensor) or not name:
        return None
    known = _INSTEAD.get(name)
    if owner.dtype is DType.STRING:
        known = _FOR_TEXTS.get(name, known)
    public = [each for each in dir(Tensor) if not each.startswith("_")]
    help_text = known or did_you_mean(name, public)
    meant = operator_for(name, operators_for(owner).version)
    if known is None and meant is not None and (help_text is None or meant.lower() == name.lower()):
        help_text = f"call the operator op.{meant}"
    found = UnknownMethodError(f"a tensor has no attribute '{name}'", help=help_text)
    found.locate(traceback_span(error.__traceback__))
    return found.with_traceback(error.__traceback__)
