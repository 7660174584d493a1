"""How large the integers in a graph can be, as far as what makes them says so: sizes and counts are small.

So that what is known of large integers costs nothing where shapes are worked out. Knows no values of a run.
"""

from __future__ import annotations

import numpy as np

from onnxsmith.graphs.rewriting.scopes import plain_domain
from onnxsmith.graphs.rewriting.site import Scope, element_type
from onnxsmith.types.dtypes import DType

#: Bits of a number of elements: no process can address more.
SIZE_BITS = 46
#: Integers below 2**52 are exact in doubles, with a bit to spare for how a test for it rounds.
EXACT_BITS = 52
_INT32 = np.iinfo(np.int32)
#: How many nodes back a value is followed.
_MOST_STEPS = 16

#: Operators whose INT64 results are sizes, or places of elements.
_COUNT = frozenset({"ArgMax", "ArgMin", "NonZero", "Shape", "Size"})
#: Operators whose results are elements of their first input, but for the sign.
_TAKE = frozenset(
    {"Abs", "Cast", "Expand", "Flatten", "Gather", "GatherElements", "GatherND", "Identity", "Neg"}
    | {"Reshape", "Slice", "Split", "Squeeze", "Tile", "Transpose", "Unsqueeze"}
)
#: Those that may change the sign: the lowest number of a type has no counterpart.
_MIRROR = frozenset({"Abs", "Neg"})
#: Operators whose results are elements of some input: which is the first that they are taken from.
_JOIN = {"Concat": 0, "Max": 0, "Min": 0, "Where": 1}
#: Operators that give no element of their first input twice.
_SELECT = frozenset({"Cast", "Identity", "Reshape", "Slice", "Squeeze", "Unsqueeze"})


def bits(scope: Scope, name: str, steps: int = _MOST_STEPS) -> int | None:
    """How many bits the absolute value of any element has at most; None where nothing says so, and for floats."""
    constant = scope.constant(name)
    if constant is not None:
        if constant.dtype.kind not in "iub":
            return None
        ends = (constant.min(), constant.max()) if constant.size else (0, 0)
        return max(abs(int(each)).bit_length() for each in ends)
    dtype = element_type(scope.type_of(name))
    if dtype is None or not (dtype.is_integer or dtype is DType.BOOL):
        return None
    made = _bits_of_result(scope, name, steps)
    if dtype.bits > 32:
        return made
    return dtype.bits if made is None else min(made, dtype.bits)


def _bits_of_result(scope: Scope, name: str, steps: int) -> int | None:
    """The same, by the operator that makes the value."""
    node = scope.producer(name)
    if node is None or plain_domain(node.domain) or steps == 0:
        return None
    if node.op_type in _COUNT:
        return SIZE_BITS
    if node.op_type in _TAKE:
        return bits(scope, node.input[0], steps - 1)
    if node.op_type in _JOIN:
        found = [bits(scope, each, steps - 1) for each in node.input[_JOIN[node.op_type] :]]
        known = [each for each in found if each is not None]
        return max(known) if known and len(known) == len(found) else None
    return None


def are_int32(scope: Scope, name: str) -> bool:
    """True if every element lies in the range of INT32, by what makes them.

    Sizes and places are taken to: that shapes cost nothing is worth more than tensors of 2**31 elements.
    """
    waiting, seen = [name], set[str]()
    while waiting:
        each = waiting.pop()
        if each in seen:
            continue
        seen.add(each)
        sources = None if len(seen) > _MOST_STEPS else _origins_in_int32(scope, each)
        if sources is None:
            return False
        waiting += sources
    return True


def _origins_in_int32(scope: Scope, name: str) -> list[str] | None:
    """The values that all have to lie in INT32's range so that this one does; None where nothing says so."""
    constant = scope.constant(name)
    if constant is not None:
        is_within = constant.dtype.kind in "iub" and _INT32.min <= constant.min(initial=0)
        return [] if is_within and constant.max(initial=0) <= _INT32.max else None
    dtype = element_type(scope.type_of(name))
    if dtype is None or not (dtype.is_integer or dtype is DType.BOOL):
        return None
    if dtype.bits < 32 or dtype is DType.INT32:
        return []
    node = scope.producer(name)
    if node is None or plain_domain(node.domain):
        return None
    if node.op_type in _COUNT:
        return []
    if node.op_type in _TAKE - _MIRROR:
        return [node.input[0]]
    return list(node.input[_JOIN[node.op_type] :]) if node.op_type in _JOIN else None


def are_dimensions(scope: Scope, name: str, steps: int = _MOST_STEPS) -> bool:
    """True if the elements are dimensions of one tensor, each at most once: they are few, and multiply to its size."""
    node = scope.producer(name)
    if node is None or plain_domain(node.domain) or steps == 0:
        return False
    if node.op_type == "Shape":
        return True
    return node.op_type in _SELECT and are_dimensions(scope, node.input[0], steps - 1)
