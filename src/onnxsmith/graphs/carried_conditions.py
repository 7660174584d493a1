"""The sizes that a called model is for, where a graph is being made: checked at once, or carried into the outer model.

What the types of the arguments decide is decided at the call. The rest is noted with what is shared while a model is
made, and goes into the metadata of that model, as far as the sizes are those of its inputs.
"""

from __future__ import annotations

import contextlib
from collections.abc import Generator, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from onnxsmith.errors.user_warnings import tell
from onnxsmith.graphs.records import ModelRecord, named_dimensions
from onnxsmith.graphs.size_conditions import SIZES_KEY, SizeCondition, check, written
from onnxsmith.source import Span, caller_span
from onnxsmith.types.value_types import Dimension

#: Under which the conditions stand in what a program shares.
_SHARED = "size conditions"


@dataclass(frozen=True, slots=True)
class _Noted:
    #: In the names of the graph that the call was made in, and the names that these are; None where one has no name.
    condition: SizeCondition
    names: frozenset[str] | None
    span: Span | None
    #: Whether the call is certain to be one of the model, and its dimensions those of the model.
    is_certain: bool


@dataclass(slots=True)
class _Carried:
    noted: list[_Noted] = field(default_factory=list[_Noted])
    is_certain: bool = True


def carry(
    shared: dict[Hashable, Any], conditions: Sequence[SizeCondition], sizes: Mapping[str, Dimension]
) -> None:
    """Take over the conditions of a called model, whose dimensions are of these sizes in the graph being made.

    Raises ModelInputError where sizes that are known break one.
    """
    known = {name: size for name, size in sizes.items() if isinstance(size, int)}
    check(conditions, known)
    given = {name: size for name, size in sizes.items() if size is not None}
    carried = _carried(shared)
    for each in conditions:
        if not each.names or each.holds(known) is not None:
            continue
        inside = each.with_sizes(given) if each.names <= given.keys() else None
        names = None if inside is None else inside.names
        carried.noted.append(_Noted(inside or each, names, caller_span(), carried.is_certain))


@contextlib.contextmanager
def uncertain(shared: dict[Hashable, Any]) -> Generator[None]:
    """In this block a body is made for any types: it is made again for those that it is called with."""
    carried = _carried(shared)
    before, carried.is_certain = carried.is_certain, False
    try:
        yield
    finally:
        carried.is_certain = before


def put_into(model: ModelRecord, shared: dict[Hashable, Any]) -> None:
    """Put what was carried into the metadata of the finished model; warn of what its inputs do not decide."""
    named = {name for value in model.graph.inputs for name in named_dimensions(value)}
    kept: dict[str, SizeCondition] = {}
    lost: dict[str, _Noted] = {}
    for each in _carried(shared).noted:
        if each.names is not None and each.names <= named:
            kept.setdefault(each.condition.text, each.condition)
        elif each.is_certain:
            lost.setdefault(each.condition.text, each)
    if kept:
        model.metadata_props[SIZES_KEY] = written(list(kept.values()))
    for text, each in lost.items():
        tell(
            f"a model that is called here is for {text}, and nothing will check that: its sizes are not those of "
            f"dimensions that the inputs of '{model.graph.name}' name",
            each.span,
        )


def _carried(shared: dict[Hashable, Any]) -> _Carried:
    return shared.setdefault(_SHARED, _Carried())
