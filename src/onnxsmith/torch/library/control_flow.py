"""Higher-order operators: graphs that are called, chosen or repeated."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any
from typing import cast as cast_type

import numpy as np
import torch

from onnxsmith.algorithms.complex_numbers.pair import Complex
from onnxsmith.core.value import Value
from onnxsmith.torch.library.call import Call
from onnxsmith.torch.library.dtypes import onnx_dtype
from onnxsmith.torch.library.operators import op
from onnxsmith.torch.library.registry import translates, translates_complex
from onnxsmith.torch.library.values import Translated, cast, constant
from onnxsmith.types.dtypes import DType

# -- what goes in and out of a body --------------------------------------------------------------------------


def _packed(values: Sequence[Any], fakes: Sequence[Any]) -> list[Any]:
    """Values as tensors of the types that torch has for them: two for a complex one, none for None."""
    tensors: list[Any] = []
    for value, fake in zip(values, fakes, strict=True):
        if value is None or fake is None:
            continue
        if isinstance(value, Complex):
            tensors += [value.real, value.imag]
        else:
            tensor = cast(value, _dtype(fake))
            tensors.append(tensor if isinstance(tensor, Value) else constant(tensor))
    return tensors


def _unpacked(tensors: Iterator[Any], fakes: Sequence[Any]) -> list[Any]:
    """The values that tensors stand for: pairs, tensors, and numbers where torch has a number."""
    values: list[Any] = []
    for fake in fakes:
        if fake is None:
            values.append(None)
        elif not isinstance(fake, torch.Tensor):
            values.append(next(tensors).as_number())
        elif fake.dtype.is_complex:
            values.append(Complex(next(tensors), next(tensors)))
        else:
            values.append(next(tensors))
    return values


def _dtype(fake: Any) -> DType:
    if isinstance(fake, torch.Tensor):
        return onnx_dtype(fake.dtype)
    if isinstance(fake, bool | torch.SymBool):
        return DType.BOOL
    return DType.INT64 if isinstance(fake, int | torch.SymInt) else DType.DOUBLE


def _width(fakes: Sequence[Any]) -> int:
    """How many tensors values take."""
    return sum(
        0 if each is None else 2 if isinstance(each, torch.Tensor) and each.dtype.is_complex else 1
        for each in fakes
    )


def _several(result: Any) -> list[Any]:
    return list(cast_type("Sequence[Any]", result)) if isinstance(result, list | tuple) else [result]


# -- graphs that are called ----------------------------------------------------------------------------------


@translates("higher_order.wrap_with_set_grad_enabled")
@translates_complex("higher_order.wrap_with_set_grad_enabled")
def wrap_with_set_grad_enabled(call: Call, is_enabled: bool, body: Any, *operands: Any) -> Translated:
    return body(*operands)


@translates("higher_order.wrap_with_autocast")
@translates_complex("higher_order.wrap_with_autocast")
def wrap_with_autocast(
    call: Call, device: str, dtype: Any, is_enabled: bool, cache: Any, body: Any, *operands: Any
) -> Translated:
    return body(*operands)


@translates("higher_order.invoke_subgraph")
@translates_complex("higher_order.invoke_subgraph")
def invoke_subgraph(call: Call, body: Any, name: Any, *operands: Any) -> Translated:
    return body(*operands)


@translates("higher_order.tag_activation_checkpoint", "higher_order.strict_mode", "higher_order.wrap")
@translates_complex("higher_order.tag_activation_checkpoint", "higher_order.strict_mode", "higher_order.wrap")
def wrapped(call: Call, body: Any, *operands: Any, **_: Any) -> Translated:
    if call.overload == "higher_order.strict_mode":
        return body(*operands[0])
    return body(*operands)


# -- graphs that are chosen ----------------------------------------------------------------------------------


@translates("higher_order.cond")
@translates_complex("higher_order.cond")
def cond(call: Call, predicate: Any, then: Any, otherwise: Any, operands: Any = ()) -> Translated:
    if isinstance(predicate, bool):
        return (then if predicate else otherwise)(*operands)
    fakes = call.outputs
    result = op.If(
        op.Reshape(cast(predicate, DType.BOOL), np.zeros(0, np.int64))
        if getattr(predicate, "rank", 0)
        else cast(predicate, DType.BOOL),
        then_branch=lambda: tuple(_packed(_several(then(*operands)), fakes)),
        else_branch=lambda: tuple(_packed(_several(otherwise(*operands)), fakes)),
        outputs=_width(fakes),
    )
    return _unpacked(iter(_several(result)), fakes)


# -- graphs that are repeated --------------------------------------------------------------------------------


@translates("higher_order.while_loop")
@translates_complex("higher_order.while_loop")
def while_loop(call: Call, condition: Any, body: Any, carried: Any, operands: Any = ()) -> Translated:
    fakes = body.inputs[: len(carried)]

    def holds(tensors: Sequence[Any]) -> Any:
        found = _several(condition(*_unpacked(iter(tensors), fakes), *operands))[0]
        return cast(found, DType.BOOL) if isinstance(found, Value) else constant(np.array(found, np.bool_))

    def step(counter: Any, keep: Any, *tensors: Any) -> Any:
        values = _packed(_several(body(*_unpacked(iter(tensors), fakes), *operands)), fakes)
        return (holds(values), *values)

    start = _packed(carried, fakes)
    result = op.Loop(None, holds(start), *start, body=step, outputs=len(start))
    return _unpacked(iter(_several(result)), call.outputs)


@translates("higher_order.scan")
@translates_complex("higher_order.scan")
def scan(call: Call, combine: Any, start: Any, scanned: Any, operands: Any = ()) -> Translated:
    return _scanned(combine, start, scanned, operands, call.outputs)


@translates("higher_order.map_impl")
@translates_complex("higher_order.map_impl")
def map_(call: Call, body: Any, scanned: Any, operands: Any = ()) -> Translated:
    return _scanned(body, (), scanned, operands, call.outputs)


@translates("higher_order.associative_scan")
@translates_complex("higher_order.associative_scan")
def associative_scan(call: Call, combine: Any, scanned: Any, operands: Any = ()) -> Translated:
    """One after the other: the first slice is where it starts, and every step's state is a slice of the result."""
    fakes = call.outputs
    parts = _packed(scanned, fakes)
    first = [op.Gather(each, np.array(0, np.int64), axis=0) for each in parts]
    inner = combine.inputs[: len(fakes)]

    def step(*tensors: Any) -> Any:
        state, new = tensors[: len(parts)], tensors[len(parts) :]
        results = combine(*_unpacked(iter(state), inner), *_unpacked(iter(new), inner), *operands)
        packed = _packed(_several(results), inner)
        return (*packed, *packed)

    rest = [op.Slice(each, [1], [9223372036854775807], [0]) for each in parts]
    results = _several(op.Scan(*first, *rest, body=step, num_scan_inputs=len(rest), outputs=2 * len(parts)))
    joined = [
        op.Concat(op.Unsqueeze(head, [0]), tail, axis=0)
        for head, tail in zip(first, results[len(parts) :], strict=True)
    ]
    return _unpacked(iter(joined), fakes)


def _scanned(body: Any, start: Any, scanned: Any, operands: Any, fakes: Sequence[Any]) -> list[Any]:
    """`Scan` over the first dimension: the state that comes out last, then the slices of each step, stacked."""
    inner = body.inputs
    states, slices = inner[: len(start)], inner[len(start) : len(start) + len(scanned)]
    outputs = [*states, *_several(body.output)[len(start) :]]
    state, parts = _packed(start, states), _packed(scanned, slices)

    def step(*tensors: Any) -> Any:
        given = iter(tensors)
        values = [*_unpacked(given, states), *_unpacked(given, slices)]
        return tuple(_packed(_several(body(*values, *operands)), outputs))

    result = op.Scan(*state, *parts, body=step, num_scan_inputs=len(parts), outputs=_width(fakes))
    return _unpacked(iter(_several(result)), fakes)
