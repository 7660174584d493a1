"""What type checkers see of `@script`, `@graph` and `jit`: functions that keep their signature, and also take arrays."""

# mypy: disable-error-code="overload-overlap, misc"
# pyright: reportOverlappingOverload=false

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import FunctionType, ModuleType
from typing import Any, Concatenate, Generic, Protocol, TypeAlias
from typing import overload as _overload

import numpy as np
import onnx
from typing_extensions import ParamSpec, TypeVar

from onnxsmith.opset._stubs.model import Model
from onnxsmith.opset._stubs.opset_class import Opset
from onnxsmith.opset._stubs.tensors import AnyTensor, Array, Nested, Tensor

_P = ParamSpec("_P", default=...)
_Rest = ParamSpec("_Rest")
_R = TypeVar("_R", covariant=True, default=Any)
_F = TypeVar("_F", bound=Callable[..., Any])

_Fixed: TypeAlias = Array | np.generic | Nested[complex] | Sequence[Array]
# What a parameter is annotated with where it is an input, and not an attribute.
_Input: TypeAlias = Tensor | Sequence[Tensor] | None
_In1 = TypeVar("_In1", bound=_Input)
_In2 = TypeVar("_In2", bound=_Input)
_In3 = TypeVar("_In3", bound=_Input)
_In4 = TypeVar("_In4", bound=_Input)
_In5 = TypeVar("_In5", bound=_Input)
_In6 = TypeVar("_In6", bound=_Input)
_In7 = TypeVar("_In7", bound=_Input)
_In8 = TypeVar("_In8", bound=_Input)

# With tensors alone a call is one of the Python function. Where a leading parameter is an input, an array or a number may
# stand for the tensor: an overload for each number of leading inputs, the most first; what follows them is checked as it
# is written. Names are lost on the way, so a call with arrays by keyword is only checked for not being one with tensors.
class _Callable(Generic[_P, _R]):
    _fixed: _Fixed  # for the mypy plugin, which puts it beside the type of every input

    @_overload
    def __call__(self, *args: _P.args, **kwargs: _P.kwargs) -> _R: ...
    @_overload
    def __call__(
        self: _Callable[Concatenate[_In1, _In2, _In3, _In4, _In5, _In6, _In7, _In8, _Rest], _R],
        input1: _In1 | _Fixed,
        input2: _In2 | _Fixed,
        input3: _In3 | _Fixed,
        input4: _In4 | _Fixed,
        input5: _In5 | _Fixed,
        input6: _In6 | _Fixed,
        input7: _In7 | _Fixed,
        input8: _In8 | _Fixed,
        /,
        *args: _Rest.args,
        **kwargs: _Rest.kwargs,
    ) -> AnyTensor: ...
    @_overload
    def __call__(
        self: _Callable[Concatenate[_In1, _In2, _In3, _In4, _In5, _In6, _In7, _Rest], _R],
        input1: _In1 | _Fixed,
        input2: _In2 | _Fixed,
        input3: _In3 | _Fixed,
        input4: _In4 | _Fixed,
        input5: _In5 | _Fixed,
        input6: _In6 | _Fixed,
        input7: _In7 | _Fixed,
        /,
        *args: _Rest.args,
        **kwargs: _Rest.kwargs,
    ) -> AnyTensor: ...
    @_overload
    def __call__(
        self: _Callable[Concatenate[_In1, _In2, _In3, _In4, _In5, _In6, _Rest], _R],
        input1: _In1 | _Fixed,
        input2: _In2 | _Fixed,
        input3: _In3 | _Fixed,
        input4: _In4 | _Fixed,
        input5: _In5 | _Fixed,
        input6: _In6 | _Fixed,
        /,
        *args: _Rest.args,
        **kwargs: _Rest.kwargs,
    ) -> AnyTensor: ...
    @_overload
    def __call__(
        self: _Callable[Concatenate[_In1, _In2, _In3, _In4, _In5, _Rest], _R],
        input1: _In1 | _Fixed,
        input2: _In2 | _Fixed,
        input3: _In3 | _Fixed,
        input4: _In4 | _Fixed,
        input5: _In5 | _Fixed,
        /,
        *args: _Rest.args,
        **kwargs: _Rest.kwargs,
    ) -> AnyTensor: ...
    @_overload
    def __call__(
        self: _Callable[Concatenate[_In1, _In2, _In3, _In4, _Rest], _R],
        input1: _In1 | _Fixed,
        input2: _In2 | _Fixed,
        input3: _In3 | _Fixed,
        input4: _In4 | _Fixed,
        /,
        *args: _Rest.args,
        **kwargs: _Rest.kwargs,
    ) -> AnyTensor: ...
    @_overload
    def __call__(
        self: _Callable[Concatenate[_In1, _In2, _In3, _Rest], _R],
        input1: _In1 | _Fixed,
        input2: _In2 | _Fixed,
        input3: _In3 | _Fixed,
        /,
        *args: _Rest.args,
        **kwargs: _Rest.kwargs,
    ) -> AnyTensor: ...
    @_overload
    def __call__(
        self: _Callable[Concatenate[_In1, _In2, _Rest], _R],
        input1: _In1 | _Fixed,
        input2: _In2 | _Fixed,
        /,
        *args: _Rest.args,
        **kwargs: _Rest.kwargs,
    ) -> AnyTensor: ...
    @_overload
    def __call__(
        self: _Callable[Concatenate[_In1, _Rest], _R],
        input1: _In1 | _Fixed,
        /,
        *args: _Rest.args,
        **kwargs: _Rest.kwargs,
    ) -> AnyTensor: ...
    @_overload
    def __call__(self, **kwargs: _Fixed | str) -> AnyTensor: ...

class OnnxFunction(_Callable[_P, _R]):
    """A function made by `@script`: it runs on arrays, and becomes an ONNX function or model."""

    name: str
    domain: str
    overload: str
    function: FunctionType
    @property
    def signature(self) -> inspect.Signature:
        """The Python signature."""

    @property
    def source(self) -> str:
        """The source text."""

    @property
    def opset_version(self) -> int:
        """The opset that Python's own operators in it use: the one named, the one its code uses, or the newest."""

    @property
    def jit(self) -> Jit[_P, _R]:
        """Run the whole function as one model, kept for inputs of the same types and ranks."""

    def check(self) -> None:
        """Find the mistakes that can be found now."""

    def to_model(
        self,
        *,
        attributes: Mapping[str, Any] | None = None,
        opset_version: int | None = None,
        input_types: Sequence[Any] | Mapping[str, Any] | None = None,
        output_types: Sequence[Any] | Mapping[str, Any] | None = None,
        io_types: Any = None,
        value_infos: Mapping[str, Any] | None = None,
        input_names: Sequence[str] | Mapping[str, str] | None = None,
        output_names: Sequence[str] | Mapping[str, str] | None = None,
        name: str | None = None,
        doc_string: str | None = None,
        metadata: Mapping[str, str] | None = None,
        ir_version: int | None = None,
        producer_name: str = "onnxsmith",
        functions: Sequence[OnnxFunction[..., Any] | onnx.FunctionProto] = (),
        inline: bool = False,
    ) -> Model:
        """The script as a model.

        - `attributes`: values of the script's attribute parameters, by name.
        - `opset_version`: of the standard domain; by default the one that the script's code names.
        - `input_types`, `output_types`: types in order or by name, where annotations leave them open; `io_types`: one
          type for all inputs that have none; `value_infos`: types of values in between, by their name.
        - `input_names`, `output_names`: names in order, or new names by the ones that there are.
        - `name`: of the graph, by default the script's. `doc_string`, `metadata`: of the model.
        - `ir_version`, `producer_name`: the model's own.
        - `functions`: further functions to carry; `inline=True` dissolves calls of functions.
        """

    def to_model_proto(
        self,
        *,
        attributes: Mapping[str, Any] | None = None,
        opset_version: int | None = None,
        input_types: Sequence[Any] | Mapping[str, Any] | None = None,
        output_types: Sequence[Any] | Mapping[str, Any] | None = None,
        io_types: Any = None,
        value_infos: Mapping[str, Any] | None = None,
        input_names: Sequence[str] | Mapping[str, str] | None = None,
        output_names: Sequence[str] | Mapping[str, str] | None = None,
        name: str | None = None,
        doc_string: str | None = None,
        metadata: Mapping[str, str] | None = None,
        ir_version: int | None = None,
        producer_name: str = "onnxsmith",
        functions: Sequence[OnnxFunction[..., Any] | onnx.FunctionProto] = (),
        inline: bool = False,
    ) -> onnx.ModelProto:
        """The script as a ModelProto; the options are those of `to_model`."""

    def to_function_proto(self) -> onnx.FunctionProto:
        """The script as a FunctionProto: generic in the types that its annotations leave open."""

    @_overload
    def __get__(self, instance: None, owner: Any = None) -> OnnxFunction[_P, _R]: ...
    @_overload
    def __get__(
        self: OnnxFunction[Concatenate[Any, _Rest], _R], instance: object, owner: Any = None
    ) -> OnnxFunction[_Rest, _R]: ...

class Jit(_Callable[_P, _R]):
    """Runs a script as a model; `jit(f)` makes one."""

class _Decorator(Protocol):
    def __call__(self, function: Callable[_P, _R], /) -> OnnxFunction[_P, _R]: ...

@_overload
def script(
    function: Callable[_P, _R],
    default_opset: Opset | ModuleType | int | None = None,
    *,
    domain: str | None = None,
    overload: str = "",
    inline: bool = False,
    name: str | None = None,
    exact: bool = False,
) -> OnnxFunction[_P, _R]:
    """Make a Python function an ONNX function: `@script`, `@script()`, `@script(default_opset=opset18)`."""

@_overload
def script(
    function: Opset | ModuleType | int | None = None,
    default_opset: Opset | ModuleType | int | None = None,
    *,
    domain: str | None = None,
    overload: str = "",
    inline: bool = False,
    name: str | None = None,
    exact: bool = False,
) -> _Decorator: ...
@_overload
def graph(function: _F) -> _F:
    """Mark a nested function as the body of `op.Loop`, `op.Scan`, `op.If` or `op.SequenceMap`."""

@_overload
def graph(function: None = None) -> Callable[[_F], _F]: ...
def jit(function: Callable[_P, _R]) -> Jit[_P, _R]:
    """A script that runs as one model: `fast = jit(f)`, then `fast(x)`."""

class static_range:
    """`for i in static_range(n)`: the loop runs when the model is made, and `i` is a Python int."""

    def __init__(self, *bounds: int) -> None: ...
    def __iter__(self) -> Iterator[int]: ...
    def __len__(self) -> int: ...
