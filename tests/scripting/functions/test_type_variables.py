"""Parameters annotated with a Union or a TypeVar: which arguments are refused, and which types literals take."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, Union

import numpy as np
import pytest

from onnxsmith import DOUBLE, FLOAT, INT64, script, trace
from onnxsmith import opset21 as op
from onnxsmith.errors import AnnotationError, CallError, DTypeNotAllowedError

T = TypeVar("T", FLOAT, DOUBLE)
Bound = TypeVar("Bound", bound=Union[FLOAT, DOUBLE])  # noqa: UP007  # as onnxscript's library writes it
Any1 = TypeVar("Any1")

WHOLE, SINGLE, DOUBLED = np.int64([3]), np.float32([3]), np.float64([3])


@script
def of_union(x: Union[FLOAT["N"], DOUBLE["N"]]):  # noqa: UP007  # as onnxscript's users write it
    return op.Mul(x, op.CastLike(0.5, x))


@script
def of_variable(x: T):
    return op.Mul(x, op.CastLike(0.5, x))


@script
def of_bound(x: Bound):
    return op.Mul(x, op.CastLike(0.5, x))


@script
def cast(x: T, y: T):
    return op.CastLike(x, y)


@script
def cast_any(x: Any1, y: Any1):
    return op.CastLike(x, y)


def called(function: Any) -> list[Callable[..., Any]]:
    """The ways to call a script: eagerly, jitted, jitted by name, in a trace."""

    def traced(*arrays: Any) -> Any:
        return trace(lambda *each: function(*each), *arrays)(*arrays)

    return [function, function.jit, lambda *arrays: function.jit(**named(function, arrays)), traced]


def named(function: Any, arrays: Any) -> dict[str, Any]:
    return dict(zip(function.signature.parameters, arrays, strict=True))


@pytest.mark.parametrize("function", [of_union, of_variable, of_bound], ids=lambda each: each.name)
def test_an_element_type_outside_the_annotation_is_refused(function: Any) -> None:
    for call in called(function):
        for given in (SINGLE, DOUBLED):
            result = call(given)
            assert result.dtype == given.dtype
            assert result.tolist() == [1.5]
        with pytest.raises(DTypeNotAllowedError, match=r"takes float32 or float64 as 'x', not int64"):
            call(WHOLE)


@pytest.mark.parametrize("function", [cast, cast_any], ids=lambda each: each.name)
def test_arguments_of_one_type_variable_have_one_element_type(function: Any) -> None:
    for call in called(function):
        assert call(SINGLE, SINGLE).dtype == np.float32
        with pytest.raises(
            DTypeNotAllowedError, match="one element type as 'x' and 'y', not float32 and float64"
        ):
            call(SINGLE, DOUBLED)


def test_a_call_of_another_script_is_refused_where_it_is_written() -> None:
    with pytest.raises(DTypeNotAllowedError, match="not int64"):

        @script
        def halved(x: INT64["N"]):
            return of_union(x)

    with pytest.raises(DTypeNotAllowedError, match="float32 and float64"):

        @script
        def mixed(x: FLOAT["N"], y: DOUBLE["N"]):
            return cast(x, y)


@pytest.mark.parametrize("call", [cast, cast.jit], ids=["eager", "jit"])
def test_a_literal_takes_the_type_of_the_other_argument(call: Any) -> None:
    assert call(DOUBLED, 0.1).dtype == np.float64
    assert call(0.1, DOUBLED) == 0.1
    assert call(1, 2).dtype == np.float32  # INT64 is none of the types that are allowed


def test_a_literal_takes_the_type_of_the_other_argument_also_if_only_a_call_says_it() -> None:
    @script
    def inner(x, n: float = 0.1):
        return cast(x, 0.1), cast(0.1, x), cast(n, x)

    @script
    def outer(x: DOUBLE["N"]):
        return inner(x)

    # An attribute is a float32 in ONNX, everywhere.
    expected = [[3.0], 0.1, float(np.float32(0.1))]
    for run in (outer, outer.jit, outer.to_model(), inner, inner.jit):
        results = run(DOUBLED)
        assert [each.dtype for each in results] == [np.float64] * 3
        assert [each.tolist() for each in results] == expected


def test_a_model_is_made_for_one_of_the_types() -> None:
    assert of_union.to_model(input_types=[DOUBLE["N"]])(DOUBLED) == [1.5]
    for options in ({"input_types": [INT64["N"]]}, {"io_types": INT64["N"]}):
        with pytest.raises(CallError, match=r"annotated FLOAT or DOUBLE, and .* says INT64"):
            of_union.to_model(**options)
    with pytest.raises(DTypeNotAllowedError, match="float32 and float64"):
        cast.to_model(input_types=[FLOAT["N"], DOUBLE["N"]])


def test_a_model_needs_input_types_and_no_other_annotation() -> None:
    with pytest.raises(AnnotationError) as raised:
        of_union.to_model()
    assert raised.value.help == "say to_model(input_types={'x': FLOAT['N']})"
