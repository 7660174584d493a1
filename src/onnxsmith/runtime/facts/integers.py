"""Integer arithmetic: what the processor traps on."""

from __future__ import annotations

import numpy as np

from onnxsmith.graphs.rewriting.emitter import Emitter
from onnxsmith.graphs.rewriting.site import Site
from onnxsmith.runtime.facts.fact import Family, Probe, Rewrite
from onnxsmith.types.dtypes import DType

FAMILY = Family()

#: The opset that brought CastLike, for types that nobody knows.
_CAST_LIKE = 15
_LOWEST = np.array([-(2**31)], np.int32)
_MINUS_ONE = np.array([-1], np.int32)


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
    divisor = site.input(1)
    safe, twice = _safe_divisor(site, dtype)

    def signs(emit: Emitter) -> tuple[str, ...]:
        return (emit.op("Sub", emit.constant_like(1, divisor, dtype), twice),)

    quotient = site.emit.names.after(site.output(0))
    site.same_node([site.input(0), safe], [quotient])
    (sign,) = site.once(("signs", divisor, dtype), signs)
    site.emit.op("Mul", quotient, sign, into=site.output(0))
    return True


def _safe_divisor(site: Site, dtype: DType | None) -> tuple[str, str]:
    """The divisor with 1 in the place of -1, and 2 where that is so and else 0; made once for each divisor.

    ONNX Runtime takes time with the square of the nodes that wait for a chain of others. In a chain of divisions by
    one number these would.
    """
    divisor = site.input(1)

    def make(emit: Emitter) -> tuple[str, ...]:
        # Arithmetic, because Where came with opset 9.
        is_minus_one = emit.op("Equal", divisor, emit.constant_like(-1, divisor, dtype))
        is_minus_one = emit.cast_like(is_minus_one, divisor, dtype)
        twice = emit.op("Add", is_minus_one, is_minus_one)
        return emit.op("Add", divisor, twice), twice

    safe, twice = site.once(("safe divisor", divisor, dtype), make)
    return safe, twice


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
    # Dividing by 1 leaves what dividing by -1 leaves: nothing.
    safe, _ = _safe_divisor(site, dtype)
    site.same_node([site.input(0), safe])
    return True
