"""A function of single elements, or of parts, on whole arrays: one `Loop` over them, whatever the function decides.

Serves `vectorize` and `apply_along_axis`. The loop has one turn for each element, in order; where no turn waits for
another, `optimize` makes nodes for all turns at once of it (`passes.side_by_side`).
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, NamedTuple, TypeAlias, cast

import numpy as np

from onnxsmith.algorithms import values
from onnxsmith.algorithms.operators import op
from onnxsmith.core.bodies import watch_body
from onnxsmith.core.demands import noting
from onnxsmith.core.semantics.number import Number, number
from onnxsmith.core.target import ACTIVE, current_graph
from onnxsmith.core.tensor import Tensor
from onnxsmith.core.user_values import UserValue
from onnxsmith.core.value import TensorValue
from onnxsmith.diagnostics import described_type
from onnxsmith.errors import InputTypeError
from onnxsmith.numpy import dtypes
from onnxsmith.numpy.array import Array
from onnxsmith.numpy.conversions import array_of, as_type, python_number
from onnxsmith.scripting.staging.raised import PathEnded, Raises, open_raises
from onnxsmith.types.dtypes import DType

#: A function as it is staged where it is called.
Staged: TypeAlias = Callable[..., Any]

_NUMBERS = {"int": dtypes.INT64, "float": dtypes.FLOAT64, "bool": dtypes.BOOL}


class Gathered(NamedTuple):
    """The results of a function for all elements: an array for each result."""

    arrays: list[Array]
    #: Whether it gives several, or a tuple of one.
    is_tuple: bool


def over_elements(
    function: Staged,
    arrays: Sequence[Array],
    wanted: Sequence[dtypes.NumpyDType] | None,
    *,
    written: Staged,
    as_python: bool,
) -> Gathered:
    """The results of a function for the parts of arrays at each first index, put together.

    `wanted` are the element types of the results. `written` is the user's own function, which may change nothing that
    outlives one call: here it is called a few times, whatever the number of elements. `as_python` hands single elements
    over as Python's numbers, as `np.vectorize` does.
    """
    raises = open_raises()
    with watch_body(written), _forgotten(), _one_call(raises) as raised:
        # numpy asks for the types with elements as they are, and computes with Python's numbers.
        sample = _sample(function, [each[0] for each in arrays], raises)
        is_tuple = isinstance(sample, tuple)
        found = [_dtype_of(each) for each in _results(sample)]
    if as_python and raises is not None:
        # Python's numbers raise errors where those of numpy do not: 1 / 0.0.
        with watch_body(written), _forgotten(), noting(raises), _one_call(raises) as raised:
            _sample(function, [_as_python(each[0]) for each in arrays], raises)
    kinds = found if wanted is None else list(wanted)
    if len(kinds) != len(found):
        raise InputTypeError(f"the function gives {len(found)} results, and otypes has {len(kinds)}")
    may_raise = any(isinstance(each, Number) for each in raised)

    def turn(index: TensorValue, go_on: TensorValue) -> tuple[TensorValue, ...]:
        place = cast(int, number(index))
        elements = [each[place] for each in arrays]
        with watch_body(written), noting(raises), _one_call(raises) as raised:
            result = function(*(map(_as_python, elements) if as_python else elements))
        tensors = [_tensor(each, kind) for each, kind in zip(_results(result), kinds, strict=True)]
        errors = [_code(each) for each in raised if may_raise]
        return (op.Identity(go_on), *errors, *tensors)

    count = values.cast(cast(values.Size, arrays[0].shape[0]), DType.INT64)
    made: Any = cast(Any, op).Loop(count, np.array(True), body=turn, outputs=may_raise + len(kinds))
    tensors = list(cast("Sequence[Tensor]", made if isinstance(made, tuple | list) else (made,)))
    if raises is not None and may_raise:
        raises.note_first(tensors.pop(0))
    return Gathered([Array(each) for each in tensors], is_tuple)


def _sample(function: Staged, elements: Sequence[Array | Number], raises: Raises | None) -> UserValue:
    """The result of the function for one element; the errors that it may raise are noted when it is recorded."""
    noted = 0 if raises is None else len(raises.errors)
    try:
        return function(*elements)
    except PathEnded:
        assert raises is not None  # who ends paths
        said = raises.errors[-1].error
        raise InputTypeError(
            f"the function raises an error for every element: {type(said).__name__}: {said}",
            help="raise it before, or under a condition on the element",
        ) from None
    finally:
        if raises is not None:
            del raises.errors[noted:]


def _one_call(raises: Raises | None) -> AbstractContextManager[list[Number | int]]:
    """One call of the user's function; the list has the number of its error at the end."""
    return nullcontext([]) if raises is None else raises.of_one_call()


def _code(raised: Number | int) -> TensorValue:
    """The number of an element's error, in the model."""
    return raised.as_dtype(DType.INT64) if isinstance(raised, Number) else values.constant(np.array(raised))


@contextmanager
def _forgotten() -> Generator[None]:
    """Keeps the nodes that are recorded in the block out of the model."""
    graph = current_graph()
    bring_back = graph.checkpoint()
    inner = graph.subgraph()
    token = ACTIVE.set(inner)
    try:
        yield
    finally:
        ACTIVE.reset(token)
        inner.discard()
        bring_back()


def _as_python(element: Array) -> Array | Number:
    """A single element as Python's number; parts of arrays and complex numbers stay what they are."""
    if element.ndim or element.dtype.kind == "c":
        return element
    return python_number(element)


def _results(result: UserValue) -> list[UserValue]:
    return list(result) if isinstance(result, tuple) else [result]


def _dtype_of(value: UserValue) -> dtypes.NumpyDType:
    if isinstance(value, Array):
        return value.dtype
    if isinstance(value, Number):
        return _NUMBERS[value.kind]
    found = np.asarray(value).dtype
    if found not in dtypes.DTYPES:
        raise InputTypeError(f"the function gives {described_type(type(value))}, which is no number")
    return found


def _tensor(value: UserValue, dtype: dtypes.NumpyDType) -> Tensor:
    if isinstance(value, Number):
        value = Array(cast(Tensor, value.as_dtype(dtypes.onnx_type(_NUMBERS[value.kind]))))
    return as_type(array_of(value), dtype).tensor
