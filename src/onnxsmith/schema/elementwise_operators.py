"""Elementwise operators: an element of the result depends only on the elements at its place."""

from __future__ import annotations

_NAMES = """
    Abs Acos Acosh Add And Asin Asinh Atan Atanh BitShift BitwiseAnd BitwiseNot BitwiseOr BitwiseXor Cast Ceil Clip
    Cos Cosh Div Elu Equal Erf Exp Floor Gelu Greater GreaterOrEqual HardSigmoid HardSwish Identity IsInf IsNaN
    LeakyRelu Less LessOrEqual Log Max Mean Min Mish Mod Mul Neg Not Or Pow Reciprocal Relu Round Selu Sigmoid Sign
    Sin Sinh Softplus Softsign Sqrt Sub Sum Tan Tanh ThresholdedRelu Where Xor
"""
#: Of the standard domain; inputs are broadcast, and attributes are the same for all elements.
ELEMENTWISE = frozenset(_NAMES.split())
