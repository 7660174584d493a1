"""Arguments and results of functions that users write, as the values of a graph that are in them.

In scripts and traces they are tensors and numbers; in numpy code arrays that hold tensors, and functions get such
arrays and give them. Arrays are known by what a `Carrier` can be asked: which class they are is no matter here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, cast

from onnxsmith.core.carried import Carried, Carrier
from onnxsmith.core.numpys_arrays import in_numpy_code
from onnxsmith.core.semantics.number import Number
from onnxsmith.core.target import RecordingTarget, recorded
from onnxsmith.core.value import TensorValue, Value
from onnxsmith.errors import CallError
from onnxsmith.scripting.staging.structure import parts, rebuilt

_SHARED = "it may be an array from around a function that says something about its gradient"


@dataclass(frozen=True, slots=True)
class Handed:
    """An argument or a result of a function: the values in it, and a function that rebuilds it of other values."""

    values: list[Value]
    made: Callable[[Sequence[Value]], object]

    def made_of(self, values: Iterator[Value]) -> object:
        """The like of the next values."""
        return self.made([next(values) for _ in self.values])


def is_open(value: object) -> bool:
    """True if only the model has a value."""
    return value.is_symbolic if isinstance(value, Carrier) else isinstance(value, Value)


def holds_open(value: object) -> bool:
    """True if a value, or one in a container, is one that only the model has."""
    inner = parts(cast(Any, value))
    return is_open(value) if inner is None else any(holds_open(each) for _, each in inner)


def argument(value: object, graph: RecordingTarget) -> Handed:
    """The values in an argument; known values stay as they are, also within lists, tuples and dicts."""
    if not holds_open(value):
        return Handed([], lambda given: value)
    inner = parts(cast(Any, value))
    if inner is None:
        return _handed(value, graph, is_shared=True)
    items = [argument(each, graph) for _, each in inner]

    def made(given: Sequence[Value]) -> object:
        left = iter(given)
        return rebuilt(cast(Any, value), [cast(Any, each.made_of(left)) for each in items])

    return Handed([each for item in items for each in item.values], made)


def result(value: object, graph: RecordingTarget, begin: int) -> Handed:
    """The values in a result of a function that began at a moment: older ones came from its arguments."""
    value = in_numpy_code(value)
    return _handed(value, graph, is_shared=isinstance(value, Carrier) and value.owner.born < begin)


def _handed(value: object, graph: RecordingTarget, *, is_shared: bool) -> Handed:
    if isinstance(value, Carrier):
        return _of_carrier(value, graph, is_shared=is_shared)
    if isinstance(value, Number):
        kind = value.kind
        return Handed([recorded(value)], lambda given: Number(cast(TensorValue, given[0]), kind))
    if value is None or parts(cast(Any, value)) is not None:
        raise CallError(
            "a function that says something about its gradient gives arrays or tensors, or a tuple of them, and not "
            f"{value!r}"
        )
    return Handed([recorded(graph.lift(cast(Any, value)))], lambda given: given[0])


def _of_carrier(carrier: Carrier, graph: RecordingTarget, *, is_shared: bool) -> Handed:
    held, traits, kind = carrier.carried, carrier.traits, type(carrier)
    names = tuple(held)

    def made(given: Sequence[Value]) -> object:
        found = kind.made_of(traits, cast("dict[str, Carried]", dict(zip(names, given, strict=True))))
        if is_shared:  # Python hands on the same array: what is written to this one would be missing there
            found.keep_unchanged(_SHARED)
        return found

    return Handed([recorded(graph.lift(cast(Any, each))) for each in held.values()], made)
