"""Integer arithmetic: what the processor traps on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

import numpy as np

from onnxsmith.graphs.rewriting.site import Site
from onnxsmith.graphs.run_values import Array as RunArray
from onnxsmith.runtime.facts.fact import Check, Family, Probe, Requirement, Rewrite
from onnxsmith.types.dtypes import DType

FAMILY = Family()

#: The opset that brought CastLike, for types that nobody knows.
_CAST_LIKE = 15
_LOWEST = np.array([-(2**31)], np.int32)
_MINUS_ONE = np.array([-1], np.int32)
_INTEGERS = [each for each in DType if each.kind in ("signed", "unsigned")]
_BY_ZERO = "integer division by zero"


def _may_be_minus_one(site: Site) -> bool:
    divisor = site.constant(1)
    return divisor is None or bool((divisor == -1).any())


@FAMILY.fact(
    "Div",
    met_by=Rewrite,
    reason="the lowest integer divided by -1 ends the process; it wraps around, as in numpy",
    dtypes=[DType.INT32, DType.INT64],
    probe=Probe(
        "g (int32[N] a, int32[N] b) => (int32[N] y) { y = Div(a, b) }",
        {"a": _LOWEST, "b": _MINUS_ONE},
        right=[_LOWEST],
    ),
)
def quotient_of_lowest(site: Site) -> bool:
    dtype = site.dtype(0) or site.dtype(1)
    if (dtype is None and site.emit.version < _CAST_LIKE) or not _may_be_minus_one(site):
        return False
    emit, divisor = site.emit, site.input(1)
    # 1 where the divisor is -1, and the sign put in afterwards. Arithmetic, because Where came with opset 9.
    is_minus_one = emit.op("Equal", divisor, emit.constant_like(-1, divisor, dtype))
    is_minus_one = emit.cast_like(is_minus_one, divisor, dtype)
    twice = emit.op("Add", is_minus_one, is_minus_one)
    safe = emit.op("Add", divisor, twice)
    quotient = emit.names.after(site.output(0))
    site.same_node([site.input(0), safe], [quotient])
    sign = emit.op("Sub", emit.constant_like(1, divisor, dtype), twice)
    emit.op("Mul", quotient, sign, into=site.output(0))
    return True


@FAMILY.fact(
    "Mod",
    met_by=Rewrite,
    reason="the remainder of the lowest integer by -1 ends the process; it is 0",
    dtypes=[DType.INT32, DType.INT64],
    probe=Probe(
        "g (int32[N] a, int32[N] b) => (int32[N] y) { y = Mod(a, b) }",
        {"a": _LOWEST, "b": _MINUS_ONE},
        right=[np.array([0], np.int32)],
    ),
)
def remainder_of_lowest(site: Site) -> bool:
    dtype = site.dtype(0) or site.dtype(1)
    if (dtype is None and site.emit.version < _CAST_LIKE) or not _may_be_minus_one(site):
        return False
    emit, divisor = site.emit, site.input(1)
    # Dividing by 1 leaves what dividing by -1 leaves: nothing.
    is_minus_one = emit.op("Equal", divisor, emit.constant_like(-1, divisor, dtype))
    is_minus_one = emit.cast_like(is_minus_one, divisor, dtype)
    safe = emit.op("Add", divisor, emit.op("Add", is_minus_one, is_minus_one))
    site.same_node([site.input(0), safe])
    return True


def _found_by_zero(_: Mapping[str, int], inputs: Sequence[RunArray]) -> str | None:
    return None if np.all(inputs[1]) else _BY_ZERO


@FAMILY.fact(
    "Div",
    "Mod",
    met_by=partial(Check, at_once=_found_by_zero),
    reason="an integer divided by 0 ends the process",
    dtypes=_INTEGERS,
    last="1.24",
    probe=Probe(
        "g (int64[N] a, int64[N] b) => (int64[N] y) { y = Div(a, b) }",
        {"a": np.array([5]), "b": np.array([0])},
    ),
)
def divided_by_something(site: Site) -> Iterator[Requirement]:
    dtype, known = site.dtype(0) or site.dtype(1), site.constant(1)
    if known is not None and known.all():
        return
    if dtype is None and (site.emit.version < _CAST_LIKE or known is not None):
        return
    emit, divisor = site.emit, site.input(1)
    # Few element types can be compared; of every integer the cast to int64 is 0 only for 0.
    is_zero = emit.op("Equal", emit.cast(divisor, DType.INT64), emit.constant(0))
    if dtype is None:
        # A half is 0 as an integer, and only there.
        half = emit.op("CastLike", emit.constant(0.5, DType.DOUBLE), divisor)
        is_integer = emit.op("Equal", emit.cast(half, DType.DOUBLE), emit.constant(0.0, DType.DOUBLE))
        is_zero = emit.both(is_zero, is_integer)
    yield Requirement(emit.all(emit.negated(is_zero)), _BY_ZERO)
