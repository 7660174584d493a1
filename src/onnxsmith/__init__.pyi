"""What type checkers see of `onnxsmith`; `__init__.py` imports the same names when they are first used.

Written by hand; the tensor classes stand in `opset/_stubs/tensors.pyi`. Whatever a stub imports, a checker reads: this
one reaches neither our own modules nor onnx-ir nor PyTorch, but stubs of them that are generated (`dev.py stubs`), and
the opsets and `onnx_opset` are modules that are read by whoever imports them.
"""

# mypy: disable-error-code="overload-overlap, misc"
# pyright: reportOverlappingOverload=false

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias, overload

import numpy as np
import onnx as _onnx
from typing_extensions import TypeVar

from onnxsmith import grad as grad
from onnxsmith import runtime as runtime
from onnxsmith import errors as errors
from onnxsmith import evaluator as evaluator
from onnxsmith import onnx_types as onnx_types
from onnxsmith import sklearn as sklearn
from onnxsmith import torch as torch
from onnxsmith import training as training
from onnxsmith import values as values
from onnxsmith.claims import source_root as source_root
from onnxsmith.opset._stubs.decompiling import data_root as data_root
from onnxsmith.opset._stubs.decompiling import decompile as decompile
from onnxsmith.opset._stubs.decompiling import decompile_to as decompile_to
from onnxsmith.opset._stubs.decompiling import export_onnx_lib as export_onnx_lib
from onnxsmith.opset._stubs.decompiling import proto2python as proto2python
from onnxsmith.opset._stubs.decompiling import recompile as recompile
from onnxsmith.opset._stubs.functions import OnnxFunction as OnnxFunction
from onnxsmith.opset._stubs.functions import graph as graph
from onnxsmith.opset._stubs.functions import jit as jit
from onnxsmith.opset._stubs.functions import script as script
from onnxsmith.opset._stubs.functions import static_range as static_range
from onnxsmith.opset._stubs.model import Model as Model
from onnxsmith.opset._stubs.model import Rule as Rule
from onnxsmith.opset._stubs.comparing import compare as compare
from onnxsmith.opset._stubs.model import compose as compose
from onnxsmith.opset._stubs.model import convert_version as convert_version
from onnxsmith.opset._stubs.model import diff as diff
from onnxsmith.opset._stubs.model import either as either
from onnxsmith.opset._stubs.model import explain_match as explain_match
from onnxsmith.opset._stubs.model import load as load
from onnxsmith.opset._stubs.model import optimize as optimize
from onnxsmith.opset._stubs.model import outline as outline
from onnxsmith.opset._stubs.model import rewrite as rewrite
from onnxsmith.opset._stubs.opset_class import Opset as Opset
from onnxsmith.opset._stubs.tensors import BFLOAT16 as BFLOAT16
from onnxsmith.opset._stubs.tensors import BOOL as BOOL
from onnxsmith.opset._stubs.tensors import COMPLEX128 as COMPLEX128
from onnxsmith.opset._stubs.tensors import COMPLEX64 as COMPLEX64
from onnxsmith.opset._stubs.tensors import DOUBLE as DOUBLE
from onnxsmith.opset._stubs.tensors import FLOAT as FLOAT
from onnxsmith.opset._stubs.tensors import FLOAT16 as FLOAT16
from onnxsmith.opset._stubs.tensors import FLOAT4E2M1 as FLOAT4E2M1
from onnxsmith.opset._stubs.tensors import FLOAT6E2M3 as FLOAT6E2M3
from onnxsmith.opset._stubs.tensors import FLOAT6E3M2 as FLOAT6E3M2
from onnxsmith.opset._stubs.tensors import FLOAT8E4M3FN as FLOAT8E4M3FN
from onnxsmith.opset._stubs.tensors import FLOAT8E4M3FNUZ as FLOAT8E4M3FNUZ
from onnxsmith.opset._stubs.tensors import FLOAT8E5M2 as FLOAT8E5M2
from onnxsmith.opset._stubs.tensors import FLOAT8E5M2FNUZ as FLOAT8E5M2FNUZ
from onnxsmith.opset._stubs.tensors import FLOAT8E8M0 as FLOAT8E8M0
from onnxsmith.opset._stubs.tensors import INT16 as INT16
from onnxsmith.opset._stubs.tensors import INT2 as INT2
from onnxsmith.opset._stubs.tensors import INT32 as INT32
from onnxsmith.opset._stubs.tensors import INT4 as INT4
from onnxsmith.opset._stubs.tensors import INT64 as INT64
from onnxsmith.opset._stubs.tensors import INT8 as INT8
from onnxsmith.opset._stubs.tensors import STRING as STRING
from onnxsmith.opset._stubs.tensors import Tensor as Tensor
from onnxsmith.opset._stubs.tensors import UINT16 as UINT16
from onnxsmith.opset._stubs.tensors import UINT2 as UINT2
from onnxsmith.opset._stubs.tensors import UINT32 as UINT32
from onnxsmith.opset._stubs.tensors import UINT4 as UINT4
from onnxsmith.opset._stubs.tensors import UINT64 as UINT64
from onnxsmith.opset._stubs.tensors import UINT8 as UINT8
from onnxsmith.opset._stubs.tensors import AnyTensor as _AnyTensor
from onnxsmith.opset._stubs.tensors import NumpyArray as _Array
from onnxsmith.opset._stubs.tensors import DTypeLike as _DTypeLike
from onnxsmith.types.dtypes import DType as DType
from onnxsmith.types.value_types import Dim as Dim

__version__: str

# -- tensor ------------------------------------------------------------------------------------------------------

_T = TypeVar("_T", bound=Tensor)

class _Nothing(np.generic):
    """No array has elements of it, so only an array of unknown element type passes for one."""

@overload
def tensor(value: Any, dtype: type[_T]) -> _T:
    """A tensor of an array, a number or a list, to compute with ONNX's operators."""

@overload
def tensor(value: Any, dtype: _DTypeLike) -> _AnyTensor: ...
@overload
def tensor(value: bool | Sequence[bool]) -> BOOL: ...
@overload
def tensor(value: int | Sequence[int]) -> INT64: ...
@overload
def tensor(value: float | Sequence[float]) -> FLOAT: ...
@overload
def tensor(value: complex | Sequence[complex]) -> COMPLEX128: ...
@overload
def tensor(value: str | Sequence[str]) -> STRING: ...
@overload
def tensor(value: np.ndarray[Any, np.dtype[_Nothing]]) -> _AnyTensor: ...
@overload
def tensor(value: np.ndarray[Any, np.dtype[np.float32]]) -> FLOAT: ...
@overload
def tensor(value: np.ndarray[Any, np.dtype[np.float64]]) -> DOUBLE: ...
@overload
def tensor(value: np.ndarray[Any, np.dtype[np.float16]]) -> FLOAT16: ...
@overload
def tensor(value: np.ndarray[Any, np.dtype[np.int64]]) -> INT64: ...
@overload
def tensor(value: np.ndarray[Any, np.dtype[np.int32]]) -> INT32: ...
@overload
def tensor(value: np.ndarray[Any, np.dtype[np.int16]]) -> INT16: ...
@overload
def tensor(value: np.ndarray[Any, np.dtype[np.int8]]) -> INT8: ...
@overload
def tensor(value: np.ndarray[Any, np.dtype[np.uint64]]) -> UINT64: ...
@overload
def tensor(value: np.ndarray[Any, np.dtype[np.uint32]]) -> UINT32: ...
@overload
def tensor(value: np.ndarray[Any, np.dtype[np.uint16]]) -> UINT16: ...
@overload
def tensor(value: np.ndarray[Any, np.dtype[np.uint8]]) -> UINT8: ...
@overload
def tensor(value: np.ndarray[Any, np.dtype[np.bool_]]) -> BOOL: ...
@overload
def tensor(value: np.ndarray[Any, np.dtype[np.str_]]) -> STRING: ...
@overload
def tensor(value: np.ndarray[Any, np.dtype[np.complex64]]) -> COMPLEX64: ...
@overload
def tensor(value: np.ndarray[Any, np.dtype[np.complex128]]) -> COMPLEX128: ...
@overload
def tensor(value: Any, dtype: None = None) -> _AnyTensor: ...

# -- decompiled modules ------------------------------------------------------------------------------------------

class Weights(Mapping[str, _AnyTensor]):
    """Tensors by name, from files beside the module or from its text: operands of operators."""

    def __init__(self, *sources: str | os.PathLike[str] | Mapping[str, tuple[Any, Any]]) -> None: ...
    def __getitem__(self, name: str, /) -> _AnyTensor: ...
    def __iter__(self) -> Iterator[str]: ...
    def __len__(self) -> int: ...

# What the tables hold, only the decompiler and `rebuild` need to know.
def rebuild(script: OnnxFunction[..., Any], **tables: Any) -> Model:
    """The model of a script, with the names and notes of the tables: what a decompiled module ends with."""

def rebuild_function(script: OnnxFunction[..., Any], **tables: Any) -> _onnx.FunctionProto:
    """The function of a script, with the names and notes of the tables: what a decompiled function ends with."""

# -- rules -------------------------------------------------------------------------------------------------------

# A tensor in the pattern, an array in the replacement.
class Constant(Any):
    """The annotation of a parameter that matches constants alone; the replacement gets the array."""

# -- trace -------------------------------------------------------------------------------------------------------

# The types given are those of the function's parameters: a lambda's are checked as if they were annotated.
_A = TypeVar("_A", default=Any)
_B = TypeVar("_B", default=Any)
_C = TypeVar("_C", default=Any)
_D = TypeVar("_D", default=Any)
_E = TypeVar("_E", default=Any)
_F = TypeVar("_F", default=Any)
_G = TypeVar("_G", default=Any)
_H = TypeVar("_H", default=Any)

_Traced: TypeAlias = Tensor | _Array | Sequence[Any]

@overload
def trace(
    function: Callable[..., _Traced],
    /,
    *examples: _Array | np.generic,
    opset_version: int | None = None,
    name: str | None = None,
    input_names: Sequence[str] | Mapping[str, str] | None = None,
    output_names: Sequence[str] | Mapping[str, str] | None = None,
    doc_string: str | None = None,
    metadata: Mapping[str, str] | None = None,
) -> Model:
    """The model of a function: called once with symbolic tensors of these types (or types of example arrays).

    `opset_version` is that of the standard domain, by default the one that the function's operators are from. `name` is
    the graph's. `input_names` and `output_names` are in order, or new names by the ones that there would be.
    `doc_string` and `metadata` are the model's.
    """

@overload
def trace(
    function: Callable[[_A], _Traced],
    a: type[_A] | _Array,
    /,
    *,
    opset_version: int | None = None,
    name: str | None = None,
    input_names: Sequence[str] | Mapping[str, str] | None = None,
    output_names: Sequence[str] | Mapping[str, str] | None = None,
    doc_string: str | None = None,
    metadata: Mapping[str, str] | None = None,
) -> Model: ...
@overload
def trace(
    function: Callable[[_A, _B], _Traced],
    a: type[_A] | _Array,
    b: type[_B] | _Array,
    /,
    *,
    opset_version: int | None = None,
    name: str | None = None,
    input_names: Sequence[str] | Mapping[str, str] | None = None,
    output_names: Sequence[str] | Mapping[str, str] | None = None,
    doc_string: str | None = None,
    metadata: Mapping[str, str] | None = None,
) -> Model: ...
@overload
def trace(
    function: Callable[[_A, _B, _C], _Traced],
    a: type[_A] | _Array,
    b: type[_B] | _Array,
    c: type[_C] | _Array,
    /,
    *,
    opset_version: int | None = None,
    name: str | None = None,
    input_names: Sequence[str] | Mapping[str, str] | None = None,
    output_names: Sequence[str] | Mapping[str, str] | None = None,
    doc_string: str | None = None,
    metadata: Mapping[str, str] | None = None,
) -> Model: ...
@overload
def trace(
    function: Callable[[_A, _B, _C, _D], _Traced],
    a: type[_A] | _Array,
    b: type[_B] | _Array,
    c: type[_C] | _Array,
    d: type[_D] | _Array,
    /,
    *,
    opset_version: int | None = None,
    name: str | None = None,
    input_names: Sequence[str] | Mapping[str, str] | None = None,
    output_names: Sequence[str] | Mapping[str, str] | None = None,
    doc_string: str | None = None,
    metadata: Mapping[str, str] | None = None,
) -> Model: ...
@overload
def trace(
    function: Callable[[_A, _B, _C, _D, _E], _Traced],
    a: type[_A] | _Array,
    b: type[_B] | _Array,
    c: type[_C] | _Array,
    d: type[_D] | _Array,
    e: type[_E] | _Array,
    /,
    *,
    opset_version: int | None = None,
    name: str | None = None,
    input_names: Sequence[str] | Mapping[str, str] | None = None,
    output_names: Sequence[str] | Mapping[str, str] | None = None,
    doc_string: str | None = None,
    metadata: Mapping[str, str] | None = None,
) -> Model: ...
@overload
def trace(
    function: Callable[[_A, _B, _C, _D, _E, _F], _Traced],
    a: type[_A] | _Array,
    b: type[_B] | _Array,
    c: type[_C] | _Array,
    d: type[_D] | _Array,
    e: type[_E] | _Array,
    f: type[_F] | _Array,
    /,
    *,
    opset_version: int | None = None,
    name: str | None = None,
    input_names: Sequence[str] | Mapping[str, str] | None = None,
    output_names: Sequence[str] | Mapping[str, str] | None = None,
    doc_string: str | None = None,
    metadata: Mapping[str, str] | None = None,
) -> Model: ...
@overload
def trace(
    function: Callable[[_A, _B, _C, _D, _E, _F, _G], _Traced],
    a: type[_A] | _Array,
    b: type[_B] | _Array,
    c: type[_C] | _Array,
    d: type[_D] | _Array,
    e: type[_E] | _Array,
    f: type[_F] | _Array,
    g: type[_G] | _Array,
    /,
    *,
    opset_version: int | None = None,
    name: str | None = None,
    input_names: Sequence[str] | Mapping[str, str] | None = None,
    output_names: Sequence[str] | Mapping[str, str] | None = None,
    doc_string: str | None = None,
    metadata: Mapping[str, str] | None = None,
) -> Model: ...
@overload
def trace(
    function: Callable[[_A, _B, _C, _D, _E, _F, _G, _H], _Traced],
    a: type[_A] | _Array,
    b: type[_B] | _Array,
    c: type[_C] | _Array,
    d: type[_D] | _Array,
    e: type[_E] | _Array,
    f: type[_F] | _Array,
    g: type[_G] | _Array,
    h: type[_H] | _Array,
    /,
    *,
    opset_version: int | None = None,
    name: str | None = None,
    input_names: Sequence[str] | Mapping[str, str] | None = None,
    output_names: Sequence[str] | Mapping[str, str] | None = None,
    doc_string: str | None = None,
    metadata: Mapping[str, str] | None = None,
) -> Model: ...
@overload
def trace(
    function: Callable[..., _Traced],
    a: Any,
    b: Any,
    c: Any,
    d: Any,
    e: Any,
    f: Any,
    g: Any,
    h: Any,
    i: Any,
    /,
    *types: Any,
    opset_version: int | None = None,
    name: str | None = None,
    input_names: Sequence[str] | Mapping[str, str] | None = None,
    output_names: Sequence[str] | Mapping[str, str] | None = None,
    doc_string: str | None = None,
    metadata: Mapping[str, str] | None = None,
) -> Model: ...
