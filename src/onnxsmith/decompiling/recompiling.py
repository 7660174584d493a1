"""From the text of a module back to what it makes, without a file."""

from __future__ import annotations

import itertools
import linecache
import os
from typing import Any

import onnx

from onnxsmith.errors import DecompileError, OnnxsmithError, boundary
from onnxsmith.graphs.given_paths import path_of
from onnxsmith.graphs.model import Model

_numbers = itertools.count(1)


@boundary
def recompile(text: str, folder: str | os.PathLike[str] = ".") -> Model | onnx.FunctionProto:
    """The model, or the function, that the text of a decompiled module makes, edited or not.

    The text is run, as Python runs a module: give it only what you have read. Files of weights that it names are looked
    for in `folder`.

    >>> from onnxsmith import FLOAT, decompile, opset21 as op, recompile, trace
    >>> text = decompile(trace(lambda a: op.Relu(a), FLOAT["N"]))
    >>> recompile(text.replace("op.Relu", "op.Exp"))
    Model(a: FLOAT['N']) -> relu: FLOAT['N'], 1 node, opset 21
    """
    if not isinstance(text, str):  # pyright: ignore[reportUnnecessaryIsInstance]  # what a user passes is not typed
        raise DecompileError(
            f"recompile takes the text of a module, not {type(text).__name__}",
            help="decompile(model) gives it; a file is imported, or read first: Path('m.py').read_text()",
        )
    file = os.path.join(os.path.abspath(path_of(folder)), f"<recompiled {next(_numbers)}>")
    # Scripts read their own source, and errors show lines of it.
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    namespace: dict[str, Any] = {"__name__": "recompiled", "__file__": file}
    try:
        exec(compile(text, file, "exec"), namespace)
    except OnnxsmithError:
        raise
    except Exception as error:
        if isinstance(error, SyntaxError) and error.text:
            raise  # Python shows the line of the text
        raise DecompileError(
            f"the text does not run: {type(error).__name__}: {error}",
            help="it is a module, as decompile(model) gives it; a file is read first: Path('m.py').read_text()",
        ) from error
    for name in ("model", "function"):
        if isinstance(namespace.get(name), Model | onnx.FunctionProto):
            return namespace[name]
    raise DecompileError(
        "the text makes no model", help="it ends with model = rebuild(…), or function = rebuild_function(…)"
    )
