"""Functions for code that comes from onnxscript: `proto2python` and `export_onnx_lib`.

New code says `onnxsmith.decompile`, which is what the first does.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

from onnxsmith.decompiling import decompile
from onnxsmith.errors import InputTypeError, boundary
from onnxsmith.graphs.files import save_bytes
from onnxsmith.graphs.lazy_ir import ir
from onnxsmith.schema.registry import default_opset_version

if TYPE_CHECKING:
    from onnxsmith.graphs.model import ModelLike
    from onnxsmith.scripting.functions.function import ScriptFunction


@boundary
def proto2python(
    model_onnx: ModelLike,
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


@boundary
def export_onnx_lib(functions: Sequence[ScriptFunction], filename: str | os.PathLike[str]) -> None:
    """Writes the functions of some scripts to a file: a model that has no nodes, as onnxscript writes it.

    Another model calls a function of it once it is added: `f.to_model(functions=…)`.

    >>> import onnx, pathlib, tempfile
    >>> from onnxsmith import Opset, export_onnx_lib, opset18 as op, script
    >>> @script(Opset("com.mydomain", 1))
    ... def l2norm(X):
    ...     return op.ReduceSum(X * X, keepdims=1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     export_onnx_lib([l2norm], pathlib.Path(folder, "library.onnx"))
    ...     [each.name for each in onnx.load(pathlib.Path(folder, "library.onnx")).functions]
    ['l2norm']
    """
    if not hasattr(functions, "__iter__"):
        functions = [cast(Any, functions)]  # one script alone is a library, too
    wrong = [each for each in functions if not hasattr(each, "to_function_proto")]
    if wrong:
        raise InputTypeError(
            f"a library is made of scripts, not of {type(wrong[0]).__name__}",
            help="give a list of functions under @script",
        )
    imports = {"": default_opset_version()}
    protos = [each.to_function_proto() for each in functions]
    for each, proto in zip(functions, protos, strict=True):
        imports.update({item.domain: item.version for item in proto.opset_import})
        imports[each.domain] = each.domain_version
    model = ir.Model(
        ir.Graph([], [], nodes=[], opset_imports=imports, name="library"),
        ir_version=10,
        producer_name="onnxsmith",
        functions=[ir.serde.deserialize_function(each) for each in protos],
    )
    save_bytes(ir.serde.serialize_model(model).SerializeToString(), filename)
