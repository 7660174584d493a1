"""What type checkers see of `@script`, `@graph` and `jit`: functions that keep their signature, and also take arrays."""

# mypy: disable-error-code="overload-overlap, misc"
# pyright: reportOverlappingOverload=false

import inspect
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any, Concatenate, Literal, Protocol
from typing import overload as _overload

import onnx
from typing_extensions import ParamSpec, TypeVar

from onnxsmith.opset._stubs.model import Model, Profile
from onnxsmith.opset._stubs.opset_class import Opset
from onnxsmith.opset._stubs.script_calls import ScriptCall

_P = ParamSpec("_P", default=...)
_Rest = ParamSpec("_Rest")
_R = TypeVar("_R", covariant=True, default=Any)
_F = TypeVar("_F", bound=Callable[..., Any])

class OnnxFunction(ScriptCall[_P, _R]):
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
        producer_version: str = "",
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
        - `ir_version`, `producer_name`, `producer_version`: the model's own.
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
        producer_version: str = "",
        functions: Sequence[OnnxFunction[..., Any] | onnx.FunctionProto] = (),
        inline: bool = False,
    ) -> onnx.ModelProto:
        """The script as a ModelProto; the options are those of `to_model`."""

    def to_function_proto(self) -> onnx.FunctionProto:
        """The script as a FunctionProto: generic in the types that its annotations leave open."""

    def show(self, path: str | os.PathLike[str] | None = None, *, source: bool = True) -> Path | None:
        """Show the script's model as a page, beside the lines that made it; as `Model.show` does."""

    def profile(
        self,
        inputs: Sequence[Any] | Mapping[str, Any] | None = None,
        *,
        runs: int = 10,
        warm_up: int = 3,
        providers: Sequence[Any] | None = None,
        intra_op_threads: int | None = None,
    ) -> Profile:
        """How long each kernel takes when it runs as one model, and which line it runs for.

        `inputs` are the arguments of a call, in order as a list or by name as a mapping, values of attributes among
        them; the rest is as in `Model.profile`. Without any, inputs are made up.
        """

    @_overload
    def __get__(self, instance: None, owner: Any = None) -> OnnxFunction[_P, _R]: ...
    @_overload
    def __get__(
        self: OnnxFunction[Concatenate[Any, _Rest], _R], instance: object, owner: Any = None
    ) -> OnnxFunction[_Rest, _R]: ...

class Jit(ScriptCall[_P, _R]):
    """Runs a script as a model; `jit(f)` makes one."""

    def profile(
        self,
        inputs: Sequence[Any] | Mapping[str, Any] | None = None,
        *,
        runs: int = 10,
        warm_up: int = 3,
        providers: Sequence[Any] | None = None,
        intra_op_threads: int | None = None,
    ) -> Profile:
        """How long each kernel takes when it runs as one model, and which line it runs for.

        `inputs` are the arguments of a call, in order as a list or by name as a mapping, values of attributes among
        them; the rest is as in `Model.profile`. Without any, inputs are made up.
        """

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
    exact: bool | Literal["unchecked"] = False,
    opset: Opset | ModuleType | int | None = None,
    ir_version: int | None = None,
    producer_name: str | None = None,
    producer_version: str | None = None,
) -> OnnxFunction[_P, _R]:
    """Make a Python function an ONNX function: `@script`, `@script()`, `@script(default_opset=opset18)`."""

@_overload
def script(
    function: Opset | ModuleType | None = None,
    default_opset: Opset | ModuleType | int | None = None,
    *,
    domain: str | None = None,
    overload: str = "",
    inline: bool = False,
    name: str | None = None,
    exact: bool | Literal["unchecked"] = False,
    opset: Opset | ModuleType | int | None = None,
    ir_version: int | None = None,
    producer_name: str | None = None,
    producer_version: str | None = None,
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
