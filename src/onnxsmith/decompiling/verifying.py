"""Compares a model with the one that its decompiled text makes, before the text is given away.

The text is run as an import would run it, without its weights: the tensors of the given model stand in for them, so
that none is read. The text comes from a file that may be anybody's. `layout` and `identifiers` see to it that nothing
of it becomes code; what is run here also has no builtins but those that decompiled modules use.
"""

from __future__ import annotations

import builtins
import itertools
import linecache
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import onnx_ir as ir

from onnxsmith.graphs import beyond
from onnxsmith.graphs.ir_types import dimensions_of
from onnxsmith.graphs.model import Model
from onnxsmith.graphs.sparse_tensor import SparseTensor
from onnxsmith.graphs.weights import Weights
from onnxsmith.inspection import is_same_graph

if TYPE_CHECKING:
    from onnxsmith.decompiling.module_writer import ModuleWriter

_numbers = itertools.count(1)
#: Modules that a decompiled one imports.
_IMPORTED = ("numpy", "onnx", "onnxsmith", "typing")
_BUILTINS = ("range", "float", "complex", "bytes", "int", "str", "list", "tuple", "bool", "len", "dict")


def difference(writer: ModuleWriter, body: Sequence[str]) -> str | None:
    """The first difference between the given model and the one that the text makes; None where they are the same.

    Where the text makes no model, the difference is the error.
    """
    tensors = {key: _stand_in(key, tensor) for key, tensor in writer.weights.items()}
    text = "\n".join([*writer.header([]), *body]) + "\n"
    file = f"<decompiled {next(_numbers)}>"
    namespace: dict[str, Any] = {
        "__name__": "decompiled",
        "__file__": file,
        "__builtins__": {**{name: getattr(builtins, name) for name in _BUILTINS}, "__import__": _import},
        "weights": Weights.of(tensors),
    }
    linecache.cache[file] = (
        len(text),
        None,
        text.splitlines(keepends=True),
        file,
    )  # scripts read their source
    try:
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore"
            )  # an import of the text gives the same warnings, where they belong
            exec(compile(text, file, "exec"), namespace)
    except Exception as error:
        return f"the text makes no model: {type(error).__name__}: {error}"
    finally:
        linecache.cache.pop(file, None)
    known = [(tensor, tensors[key]) for key, tensor in writer.weights.items()]
    given, types = writer.model, writer.given.types
    # onnx-ir has no maps: a model of them is compared as the proto that has their types.
    whole = Model.from_proto(beyond.to_proto(given, types)) if types else Model(given)
    found = is_same_graph(whole, namespace["model"], known)
    return found.difference


def _stand_in(key: str, tensor: ir.TensorProtocol) -> ir.TensorProtocol:
    """A tensor of the same content, which may be given another name while the model is made."""
    if isinstance(tensor, SparseTensor):
        return SparseTensor(tensor.proto)
    return ir.LazyTensor(
        lambda: tensor,
        dtype=tensor.dtype,
        shape=ir.Shape(dimensions_of(tensor)),
        name=tensor.name or key,
        doc_string=tensor.doc_string,
    )


def _import(name: str, *arguments: Any) -> Any:
    if name.partition(".")[0] not in _IMPORTED:
        raise ImportError(f"decompiled modules do not import {name!r}")
    return builtins.__import__(name, *arguments)
