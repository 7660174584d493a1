"""What type checkers are told of calling a script: the overloads of `__call__`, which are too many to write by hand."""

from __future__ import annotations

#: Scripts with more leading inputs are checked like ones with as many.
_MOST_INPUTS = 8

_HEAD = '''\
"""Calls of scripts: on tensors, as the function is written; and on arrays and numbers, which stand for tensors."""

# mypy: disable-error-code="overload-overlap, misc"
# pyright: reportOverlappingOverload=false

from collections.abc import Sequence
from typing import Any, Concatenate, Generic, TypeAlias, overload

import numpy as np
from typing_extensions import ParamSpec, TypeVar

from onnxsmith.opset._stubs.tensors import AnyTensor, NumberOrList, NumpyArray, Tensor

_P = ParamSpec("_P", default=...)
_Rest = ParamSpec("_Rest")
_R = TypeVar("_R", covariant=True, default=Any)

_Array: TypeAlias = NumpyArray | np.generic
_Fixed: TypeAlias = _Array | NumberOrList[complex] | Sequence[NumpyArray]
# What a parameter is annotated with where it is an input, and not an attribute.
_Input: TypeAlias = Tensor | Sequence[Tensor] | None
'''

_CLASS = '''
# With tensors alone a call is one of the Python function. Where a leading parameter is an input, an array or a number
# may stand for the tensor: overloads for each number of leading inputs, the most first; what follows them is checked as
# it is written. Names are lost on the way, so a call with arrays by keyword is only checked for not being one with
# tensors.
# An array first and no tensor after it: arrays come out. Of numbers alone: arrays, or tensors where a graph is made.
class ScriptCall(Generic[_P, _R]):
    """Something that is called like the function that it was made of."""

    # For the mypy plugin, which puts these in the place of the type of an input.
    _array: _Array
    _fixed: _Fixed
    @overload
    def __call__(self, *args: _P.args, **kwargs: _P.kwargs) -> _R: ...
'''

_LAST = """\
    @overload
    def __call__(self, **kwargs: _Fixed | str) -> AnyTensor: ...
"""


def script_calls() -> str:
    """The text of the stub, without its header."""
    variables = [f'_In{k} = TypeVar("_In{k}", bound=_Input)\n' for k in range(1, _MOST_INPUTS + 1)]
    calls = [_overloads(count) for count in range(_MOST_INPUTS, 0, -1)]
    return "".join([_HEAD, *variables, _CLASS, *calls, _LAST])


def _overloads(count: int) -> str:
    """The overloads for a script with so many leading inputs."""
    numbers = range(1, count + 1)
    arrays = [f"input{k}: {'_Array' if k == 1 else '_Fixed | None'}" for k in numbers]
    mixed = [f"input{k}: _In{k} | _Fixed" for k in numbers]
    return (
        _overload(count, "Tensor", arrays, "NumpyArray")
        + _overload(count, "tuple[Tensor, ...]", arrays, "tuple[NumpyArray, ...]")
        + _overload(count, "_R", mixed, "AnyTensor")
    )


def _overload(count: int, made: str, inputs: list[str], returns: str) -> str:
    own = ", ".join([*(f"_In{k}" for k in range(1, count + 1)), "_Rest"])
    rest = "/, *args: _Rest.args, **kwargs: _Rest.kwargs"
    head = f"self: ScriptCall[Concatenate[{own}], {made}]"
    return (
        f"    @overload\n    def __call__(\n        {head},\n"
        f"        {', '.join(inputs)}, {rest},\n    ) -> {returns}: ...\n"
    )
