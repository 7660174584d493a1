"""`Loop` over complex and real tensors: the state of a step is `Field`s and plain tensors, in two lists."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from onnxsmith.algorithms import loops, values
from onnxsmith.algorithms.complex_numbers.field import Field
from onnxsmith.algorithms.operators import Tensor, TensorOrArray
from onnxsmith.core.value import Array


@dataclass(frozen=True, slots=True)
class Step:
    """The result of a step: the next state, the collected values, and the condition to go on (None: as before)."""

    fields: Sequence[Field]
    tensors: Sequence[Tensor] = ()
    collected: Field | Tensor | None = None
    goes_on: Tensor | None = None


@dataclass(frozen=True, slots=True)
class Ended:
    """The state after the last step, and what was collected, along a new first dimension."""

    fields: Sequence[Field]
    tensors: Sequence[Tensor]
    collected: Field | None


#: Of the number of the step, the fields and the tensors.
Body: TypeAlias = Callable[[Tensor, Sequence[Field], Sequence[Tensor]], Step]


def loop(
    count: values.Numeric | Array,
    fields: Sequence[Field],
    tensors: Sequence[TensorOrArray],
    body: Body,
    *,
    collects: Field | bool = False,
) -> Ended:
    """`body` as often as `count` says; `collects`: a `Field` as complex as what is collected, or True for tensors."""
    collected_like = [collects] if isinstance(collects, Field) else []
    flat = [*(part for each in fields for part in each.parts()), *tensors]
    width = sum(len(each.parts()) for each in collected_like) if collected_like else int(bool(collects))

    def run(i: Tensor, keep: Tensor, *parts: Tensor) -> tuple[Tensor, ...]:
        mine, rest = _grouped(parts, fields)
        made = body(i, mine, rest)
        gathered = made.collected
        outputs = [part for each in made.fields for part in each.parts()]
        more = gathered.parts() if isinstance(gathered, Field) else [] if gathered is None else [gathered]
        return (keep if made.goes_on is None else made.goes_on, *outputs, *made.tensors, *more)

    outputs = loops.loop(count, flat, run, width)
    mine, rest = _grouped(outputs, fields)
    ending, last = rest[: len(tensors)], rest[len(tensors) :]
    collected = Field(last[0], last[1] if len(last) > 1 else None) if last else None
    return Ended(mine, ending, collected)


def _grouped(parts: Sequence[Tensor], like: Sequence[Field]) -> tuple[list[Field], list[Tensor]]:
    rest = list(parts)
    made: list[Field] = []
    for each in like:
        count = len(each.parts())
        made.append(Field(*rest[:count]))
        del rest[:count]
    return made, rest
