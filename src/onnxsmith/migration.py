"""Functions for code that comes from onnxscript: `proto2python`.

New code says `onnxsmith.decompile`, which is what it does.
"""

from __future__ import annotations

from typing import Any

from onnxsmith.decompiling import decompile


def proto2python(
    model_onnx: Any,
    function_name: str | None = None,
    *,
    rename: bool = False,
    use_operators: bool = True,
    inline_const: bool = True,
    clean_names: bool = True,
    skip_initializers: bool = False,
) -> str:
    """A model as the text of a Python module: `decompile`, under onnxscript's name.

    The options are taken and change nothing. Python's operators and literals are used wherever they give the same nodes
    (`use_operators`, `inline_const`). Variables have readable names, and values keep their own (`rename`,
    `clean_names`). The main function has the name of the graph (`function_name`). Large initializers stand apart from
    the code (`skip_initializers`).

    >>> from onnxsmith import FLOAT, opset21 as op, proto2python, trace
    >>> proto = trace(lambda a: op.Relu(a) + 1.0, FLOAT["N"]).proto
    >>> "add = relu + 1.0" in proto2python(proto, use_operators=True)
    True
    """
    return decompile(model_onnx)
