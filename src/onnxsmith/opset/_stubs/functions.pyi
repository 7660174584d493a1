"""What type checkers see of `@script`, `@graph` and `jit`: functions that keep their signature, and also take arrays."""

# mypy: disable-error-code="overload-overlap, misc"
# pyright: reportOverlappingOverload=false

import inspect
from collections.abc import Callable, Iterator
from types import FunctionType, ModuleType
from typing import Any, Concatenate, Generic, Protocol, TypeAlias, overload

import numpy as np
import onnx
from typing_extensions import ParamSpec, TypeVar

from onnxsmith.opset._stubs.model import Model
from onnxsmith.opset._stubs.opset_class import Opset
from onnxsmith.opset._stubs.tensors import AnyTensor, Array, Nested

_P = ParamSpec("_P", default=...)
_Rest = ParamSpec("_Rest")
_R = TypeVar("_R", covariant=True, default=Any)
_F = TypeVar("_F", bound=Callable[..., Any])

_Fixed: TypeAlias = Array | np.generic | Nested[complex]

# With tensors alone a call is one of the Python function; with an array or a number where it wants a tensor, which has
# no place in its signature, anything goes. An overload for each place at which the first of them may stand.
class _Callable(Generic[_P, _R]):
    @overload
    def __call__(self, *args: _P.args, **kwargs: _P.kwargs) -> _R: ...
    @overload
    def __call__(self, a: _Fixed, /, *args: Any, **kwargs: Any) -> AnyTensor: ...
    @overload
    def __call__(self, a: Any, b: _Fixed, /, *args: Any, **kwargs: Any) -> AnyTensor: ...
    @overload
    def __call__(self, a: Any, b: Any, c: _Fixed, /, *args: Any, **kwargs: Any) -> AnyTensor: ...
    @overload
    def __call__(self, a: Any, b: Any, c: Any, d: _Fixed, /, *args: Any, **kwargs: Any) -> AnyTensor: ...
    @overload
    def __call__(self, **kwargs: _Fixed) -> AnyTensor: ...

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

    def jit(self, *args: Any, **kwargs: Any) -> AnyTensor:
        """Run the whole function as one model, kept for inputs of the same types and ranks."""

    def check(self) -> None:
        """Find the mistakes that can be found now."""

    def to_model(self, **options: Any) -> Model:
        """The script as a model; see `to_model_proto` for the options."""

    def to_model_proto(self, **options: Any) -> onnx.ModelProto:
        """The script as a ModelProto.

        `input_types` and `output_types` are types in order or by name, `io_types` one type for all that have none,
        `value_infos` types by value name; `opset_version`, `ir_version`, `producer_name` are the model's own;
        `functions` are further functions to carry, `inline=True` dissolves calls of functions; every other keyword
        is the value of an attribute parameter.
        """

    def to_function_proto(self) -> onnx.FunctionProto:
        """The script as a FunctionProto: generic in the types that its annotations leave open."""

    @overload
    def __get__(self, instance: None, owner: Any = None) -> OnnxFunction[_P, _R]: ...
    @overload
    def __get__(
        self: OnnxFunction[Concatenate[Any, _Rest], _R], instance: object, owner: Any = None
    ) -> OnnxFunction[_Rest, _R]: ...

class Jit(_Callable[_P, _R]):
    """Runs a script as a model; `jit(f)` makes one."""

class _Decorator(Protocol):
    def __call__(self, function: Callable[_P, _R], /) -> OnnxFunction[_P, _R]: ...

@overload
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

@overload
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
@overload
def graph(function: _F) -> _F:
    """Mark a nested function as the body of `op.Loop`, `op.Scan`, `op.If` or `op.SequenceMap`."""

@overload
def graph(function: None = None) -> Callable[[_F], _F]: ...
def jit(function: Callable[_P, _R]) -> Jit[_P, _R]:
    """A script that runs as one model: `fast = jit(f)`, then `fast(x)`."""

class static_range:
    """`for i in static_range(n)`: the loop runs when the model is made, and `i` is a Python int."""

    def __init__(self, *bounds: int) -> None: ...
    def __iter__(self) -> Iterator[int]: ...
    def __len__(self) -> int: ...
