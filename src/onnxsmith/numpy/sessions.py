"""The sessions of recorded functions: how one is made for a form of call, and how its results are put together."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias, cast

import numpy as np

from onnxsmith.algorithms.complex_numbers.pair import Complex
from onnxsmith.algorithms.named import inline_algorithms
from onnxsmith.core.demands import noting
from onnxsmith.core.target import current_graph
from onnxsmith.core.tensor import Tensor
from onnxsmith.errors import OnnxsmithError
from onnxsmith.graphs.identity import slice_parts
from onnxsmith.numpy import dtypes
from onnxsmith.numpy.array import Array
from onnxsmith.tracing.trace import trace
from onnxsmith.types.value_types import TensorType

#: Elements that are known.
Elements: TypeAlias = "np.ndarray[Any, np.dtype[Any]]"

_NUMBER = np.dtype(np.int64)
_ABOUT_NODE = re.compile(r"^node '[^']*' \([^)]*\) of the model: ")


class Run:
    """The session of a function called in one form, and how its results are put together."""

    def __init__(
        self,
        function: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        is_number: Callable[[int | str], bool],
    ) -> None:
        types: list[TensorType] = []
        for place, each in (*enumerate(args), *kwargs.items()):
            _collect_types(each, types, is_number=is_number(place))
        self._rebuild: Callable[[Iterator[Elements], bool], Any] = lambda outputs, is_plain: None
        self._run: Callable[[Sequence[Elements]], Any] | None = None

        def body(*inputs: Tensor) -> tuple[Any, ...]:
            inline_algorithms(current_graph())  # a session opens sooner without functions
            given = iter(inputs)
            made_args = [_decode(each, given, is_number=is_number(place)) for place, each in enumerate(args)]
            made_kwargs = {
                name: _decode(each, given, is_number=is_number(name)) for name, each in kwargs.items()
            }
            outputs: list[Any] = []
            with noting(None):  # who calls looks at the elements, which are known
                self._rebuild = _disassemble(function(*made_args, **made_kwargs), outputs)
            self._count = len(outputs)
            return tuple(outputs) or (inputs[0],)

        self._count = 0
        if types:
            model = trace(body, *types, name=function.__name__)
            if self._count:
                self._run = model.runner()
        else:
            model = trace(body, name=function.__name__)
            self._run = model.runner() if self._count else None

    def __call__(self, feeds: Sequence[Elements], is_plain: bool) -> Any:
        if self._run is None:
            return self._rebuild(iter(()), is_plain)
        try:
            results = self._run(feeds)
        except OnnxsmithError as error:
            # Nobody wrote the nodes of this session: the mistake stands where the function is called.
            error.labels = ()
            error.message = _ABOUT_NODE.sub("", error.message)
            raise
        return self._rebuild(
            iter(cast("tuple[Elements, ...]", results if self._count > 1 else (results,))), is_plain
        )


def _collect_types(value: Any, types: list[TensorType], *, is_number: bool) -> None:
    """The types of what a session is fed, in the order in which `_encode` feeds it."""
    if isinstance(value, np.ndarray | np.generic):
        value = Array(np.asarray(cast(Elements, value)))
    if value.__class__ is Array:
        array = cast(Array, value)
        kind = TensorType(dtypes.onnx_type(array.dtype), (None,) * array.ndim)
        types += [kind] * (2 if array.dtype.kind == "c" else 1)
    elif is_number and isinstance(value, int) and not isinstance(value, bool):
        types.append(TensorType(dtypes.onnx_type(_NUMBER), ()))
    elif isinstance(value, list | tuple):
        for each in cast("Sequence[Any]", value):
            _collect_types(each, types, is_number=is_number)
    elif isinstance(value, slice):
        for k, each in enumerate(slice_parts(cast("slice[Any, Any, Any]", value))):
            _collect_types(each, types, is_number=is_number and k < 2)


def _decode(value: Any, inputs: Iterator[Tensor], *, is_number: bool) -> Any:
    """An argument as the function gets it while it is recorded: arrays and numbers of the graph in their places."""
    if isinstance(value, np.ndarray | np.generic):
        value = Array(np.asarray(cast(Elements, value)))
    if value.__class__ is Array:
        array = cast(Array, value)
        made = Array(Complex(next(inputs), next(inputs)) if array.dtype.kind == "c" else next(inputs))
        made.lock("it is an argument")
        return made
    if is_number and isinstance(value, int) and not isinstance(value, bool):
        return next(inputs).as_number()
    if isinstance(value, list | tuple):
        items = [_decode(each, inputs, is_number=is_number) for each in cast("Sequence[Any]", value)]
        return items if isinstance(value, list) else tuple(items)
    if isinstance(value, slice):
        return slice(
            *[
                _decode(each, inputs, is_number=is_number and k < 2)
                for k, each in enumerate(slice_parts(cast("slice[Any, Any, Any]", value)))
            ]
        )
    return value


def _disassemble(result: Any, outputs: list[Any]) -> Callable[[Iterator[Elements], bool], Any]:
    """Put the tensors of a result among the outputs of the model; gives who puts the result together again."""
    if result.__class__ is Array:
        held = cast(Array, result).held
        if not cast(Array, result).ndim:
            return _disassembled_number(cast(Array, result), outputs)
        is_line = cast(Array, result).ndim == 1  # which has no other order
        if isinstance(held, Complex):
            outputs += [held.real, held.imag]
            dtype = cast(Array, result).dtype
            return lambda given, is_plain: Array(
                _joined(next(given), next(given), dtype), is_plain or is_line
            )
        outputs.append(held)
        return lambda given, is_plain: Array(next(given), is_plain or is_line)
    if isinstance(result, tuple | list):
        items = [_disassemble(each, outputs) for each in cast("Sequence[Any]", result)]
        make = cast(Any, type(cast(object, result)))
        if hasattr(make, "_fields"):
            return lambda given, is_plain: make(*[each(given, is_plain) for each in items])
        return lambda given, is_plain: make([each(given, is_plain) for each in items])
    return lambda given, is_plain: result


def _disassembled_number(result: Array, outputs: list[Any]) -> Callable[[Iterator[Elements], bool], Array]:
    held = result.held
    if isinstance(held, Complex):
        outputs += [held.real, held.imag]
        dtype = result.dtype
        return lambda given, is_plain: Array(_joined(next(given), next(given), dtype)).as_number()
    outputs.append(held)
    return lambda given, is_plain: Array(next(given)).as_number()


def _joined(real: Elements, imag: Elements, dtype: dtypes.NumpyDType) -> Elements:
    made: Elements = np.empty(real.shape, dtype)
    made.real, made.imag = real, imag
    return made
