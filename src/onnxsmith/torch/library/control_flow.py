"""Higher-order operators: graphs that are called, chosen or repeated."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeAlias
from typing import cast as cast_type

import numpy as np
import torch

from onnxsmith.algorithms.complex_numbers.pair import Complex
from onnxsmith.algorithms.loops import repeat, several
from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.algorithms.values import as_tensor, cast, rank_of
from onnxsmith.core.semantics.number import Number
from onnxsmith.torch.library.call import Call
from onnxsmith.torch.library.dtypes import onnx_dtype
from onnxsmith.torch.library.kinds import Argument, Fake, Given, Subgraph, Translated
from onnxsmith.torch.library.registry import translates_both
from onnxsmith.torch.size_arithmetic import AnyNumber, as_number
from onnxsmith.types.dtypes import DType

#: What a body is given and gives.
Carried: TypeAlias = "Given | AnyNumber | None"

# -- what goes in and out of a body --------------------------------------------------------------------------


def _packed(values: Sequence[Argument], fakes: Sequence[Fake]) -> list[Tensor]:
    """Values as tensors of the types that torch has for them: two for a complex one, none for None."""
    tensors: list[Tensor] = []
    for value, fake in zip(values, fakes, strict=True):
        if value is None or fake is None:
            continue
        if isinstance(value, Complex):
            tensors += [value.real, value.imag]
        else:
            assert isinstance(value, Tensor | bool | int | float)  # what torch carries from step to step
            tensors.append(as_tensor(value, _dtype(fake)))
    return tensors


def _unpacked(tensors: Iterator[Tensor], fakes: Sequence[Fake]) -> list[Carried]:
    """The values that tensors stand for: pairs, tensors, and numbers where torch has a number."""
    values: list[Carried] = []
    for fake in fakes:
        if fake is None:
            values.append(None)
        elif not isinstance(fake, torch.Tensor):
            values.append(as_number(next(tensors).as_number()))
        elif fake.dtype.is_complex:
            values.append(Complex(next(tensors), next(tensors)))
        else:
            values.append(next(tensors))
    return values


def _dtype(fake: Fake) -> DType:
    if isinstance(fake, torch.Tensor):
        return onnx_dtype(fake.dtype)
    if isinstance(fake, bool | torch.SymBool):
        return DType.BOOL
    return DType.INT64 if isinstance(fake, int | torch.SymInt) else DType.DOUBLE


def _width(fakes: Sequence[Fake]) -> int:
    """How many tensors values take."""
    return sum(
        0 if each is None else 2 if isinstance(each, torch.Tensor) and each.dtype.is_complex else 1
        for each in fakes
    )


def _results(body: Subgraph, arguments: Iterable[Argument]) -> list[Argument]:
    """The results of a graph, in a list for one result too."""
    result = body(*arguments)
    return list(result) if isinstance(result, list | tuple) else [result]


def _as_given(body: Subgraph, arguments: Iterable[Argument]) -> Translated:
    """The results of a graph, as the result of the operator that calls it."""
    return cast_type("Translated", body(*arguments))


# -- graphs that are called ----------------------------------------------------------------------------------


@translates_both("higher_order.wrap_with_set_grad_enabled")
def wrap_with_set_grad_enabled(
    call: Call, is_enabled: bool, body: Subgraph, *operands: Argument
) -> Translated:
    return _as_given(body, operands)


@translates_both("higher_order.wrap_with_autocast")
def wrap_with_autocast(
    call: Call,
    device: str,
    dtype: torch.dtype | None,
    is_enabled: bool,
    cache: bool | None,
    body: Subgraph,
    *operands: Argument,
) -> Translated:
    return _as_given(body, operands)


@translates_both("higher_order.invoke_subgraph")
def invoke_subgraph(call: Call, body: Subgraph, name: str, *operands: Argument) -> Translated:
    return _as_given(body, operands)


@translates_both("higher_order.tag_activation_checkpoint", "higher_order.strict_mode", "higher_order.wrap")
def wrapped(call: Call, body: Subgraph, *operands: Argument, **_: Argument) -> Translated:
    if call.overload == "higher_order.strict_mode":  # whose operands are in one list
        operands = tuple(cast_type("Sequence[Argument]", operands[0]))
    return _as_given(body, operands)


# -- graphs that are chosen ----------------------------------------------------------------------------------


@translates_both("higher_order.cond")
def cond(
    call: Call,
    predicate: Tensor | bool,
    then: Subgraph,
    otherwise: Subgraph,
    operands: Sequence[Argument] = (),
) -> Translated:
    if isinstance(predicate, bool):
        return _as_given(then if predicate else otherwise, operands)
    fakes = call.outputs
    condition = cast(predicate, DType.BOOL)
    if not isinstance(predicate, Number) and rank_of(predicate):
        condition = op.Reshape(condition, np.zeros(0, np.int64))
    branches: dict[str, Any] = {  # a function is an attribute only where it is called
        "then_branch": lambda: tuple(_packed(_results(then, operands), fakes)),
        "else_branch": lambda: tuple(_packed(_results(otherwise, operands), fakes)),
    }
    return _unpacked(iter(several(op.If, condition, outputs=_width(fakes), **branches)), fakes)


# -- graphs that are repeated --------------------------------------------------------------------------------


@translates_both("higher_order.while_loop")
def while_loop(
    call: Call,
    condition: Subgraph,
    body: Subgraph,
    carried: Sequence[Argument],
    operands: Sequence[Argument] = (),
) -> Translated:
    fakes = body.inputs[: len(carried)]

    def holds(tensors: Sequence[Tensor]) -> Tensor:
        found = _results(condition, [*_unpacked(iter(tensors), fakes), *operands])[0]
        return as_tensor(found if isinstance(found, Tensor) else bool(found), DType.BOOL)

    def step(counter: Tensor, keep: Tensor, *tensors: Tensor) -> tuple[Tensor, ...]:
        values = _packed(_results(body, [*_unpacked(iter(tensors), fakes), *operands]), fakes)
        return (holds(values), *values)

    start = _packed(carried, fakes)
    return _unpacked(iter(repeat(holds(start), start, step)), call.outputs)


@translates_both("higher_order.scan")
def scan(
    call: Call,
    combine: Subgraph,
    start: Sequence[Argument],
    scanned: Sequence[Argument],
    operands: Sequence[Argument] = (),
) -> Translated:
    return _scanned(combine, start, scanned, operands, call.outputs)


@translates_both("higher_order.map_impl")
def map_(
    call: Call, body: Subgraph, scanned: Sequence[Argument], operands: Sequence[Argument] = ()
) -> Translated:
    return _scanned(body, (), scanned, operands, call.outputs)


@translates_both("higher_order.associative_scan")
def associative_scan(
    call: Call, combine: Subgraph, scanned: Sequence[Argument], operands: Sequence[Argument] = ()
) -> Translated:
    """One after the other: the first slice is where it starts, and every step's state is a slice of the result."""
    fakes = call.outputs
    parts = _packed(scanned, fakes)
    first = [op.Gather(each, np.array(0, np.int64), axis=0) for each in parts]
    inner = combine.inputs[: len(fakes)]

    def step(*tensors: Tensor) -> tuple[Tensor, ...]:
        state, new = tensors[: len(parts)], tensors[len(parts) :]
        given = [*_unpacked(iter(state), inner), *_unpacked(iter(new), inner), *operands]
        packed = _packed(_results(combine, given), inner)
        return (*packed, *packed)

    rest = [op.Slice(each, [1], [9223372036854775807], [0]) for each in parts]
    results = _scan([*first, *rest], step, len(rest), 2 * len(parts))
    joined = [
        op.Concat(op.Unsqueeze(head, [0]), tail, axis=0)
        for head, tail in zip(first, results[len(parts) :], strict=True)
    ]
    return _unpacked(iter(joined), fakes)


def _scanned(
    body: Subgraph,
    start: Sequence[Argument],
    scanned: Sequence[Argument],
    operands: Sequence[Argument],
    fakes: Sequence[Fake],
) -> list[Carried]:
    """`Scan` over the first dimension: the state that comes out last, then the slices of each step, stacked."""
    inner = body.inputs
    states, slices = inner[: len(start)], inner[len(start) : len(start) + len(scanned)]
    results = list(body.output) if isinstance(body.output, list | tuple) else [body.output]
    outputs = [*states, *results[len(start) :]]
    state, parts = _packed(start, states), _packed(scanned, slices)

    def step(*tensors: Tensor) -> tuple[Tensor, ...]:
        given = iter(tensors)
        values = [*_unpacked(given, states), *_unpacked(given, slices)]
        return tuple(_packed(_results(body, [*values, *operands]), outputs))

    return _unpacked(iter(_scan([*state, *parts], step, len(parts), _width(fakes))), fakes)


def _scan(
    inputs: Sequence[Tensor],
    step: Callable[..., tuple[Tensor, ...]],
    scanned: int,
    outputs: int,
) -> tuple[Tensor, ...]:
    """`Scan` with a Python function as its body, over the last inputs, so many as are `scanned`."""
    bodies: dict[str, Any] = {"body": step}  # a function is an attribute only where it is called
    return several(op.Scan, *inputs, num_scan_inputs=scanned, outputs=outputs, **bodies)
