"""The law of inference: whatever a call is given, it is typed, or refused by an error of ours.

Calls are drawn, for every operator that has a rule.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from onnxsmith.errors import OnnxsmithError
from onnxsmith.schema import registry
from onnxsmith.schema.definition import AttributeType, OperatorDef, Parameter
from onnxsmith.schema.inference import infer
from onnxsmith.schema.inference.call import RULES
from onnxsmith.schema.inference.known import Known
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import TensorType, parse_onnx_type

CALLS = 40
SIZES = (0, 1, 2, 3, 4, 5, "N", "M", None, 2**40)
NUMBERS = (0, 1, 1, 2, 3, 4, 7, -1, -2, -5, 2**31, 2**62, 2**63 - 1, -(2**63))
WORDS = (
    "",
    "NOTSET",
    "SAME_UPPER",
    "VALID",
    "none",
    "sum",
    "linear",
    "bidirectional",
    "ij,jk->ik",
    "...i->i",
    "CRD",
)
TENSORS = (np.zeros(0, np.float32), np.ones((2, 2)), np.array(3), np.array([1], np.int32))

#: How a value of an attribute is drawn, by its type.
DRAWN: dict[AttributeType, Callable[[random.Random], Any]] = {
    AttributeType.INT: lambda rng: rng.choice(NUMBERS),
    AttributeType.INTS: lambda rng: tuple(rng.choices(NUMBERS, k=rng.choice((0, 1, 2, 2, 3, 4, 6)))),
    AttributeType.FLOAT: lambda rng: rng.choice((0.0, 1.0, -1.0, 0.5, float("nan"), float("inf"))),
    AttributeType.FLOATS: lambda rng: tuple(rng.choices((0.0, 1.0, -1.0), k=rng.randrange(4))),
    AttributeType.STRING: lambda rng: rng.choice(WORDS),
    AttributeType.STRINGS: lambda rng: tuple(rng.choices("ab", k=rng.randrange(3))),
    AttributeType.TENSOR: lambda rng: rng.choice(TENSORS),
}


def operators() -> Iterator[OperatorDef]:
    for domain, name in sorted(RULES):
        for version in registry.versions(domain, name):
            op = registry.find(domain, name, version)
            if op is not None and not any("GRAPH" in each.type.name for each in op.attributes.values()):
                yield op


def drawn_input(rng: random.Random, parameter: Parameter) -> Known | None:
    kind = rng.choice(sorted(parameter.types)) if parameter.types else ""
    if not kind.startswith("tensor("):
        return Known(parse_onnx_type(kind) or TensorType(None, None))
    dtype = DType.from_onnx_name(kind.removeprefix("tensor(").removesuffix(")"))
    if rng.random() < 0.4:
        return drawn_content(rng, dtype)
    shape = tuple(rng.choices(SIZES, k=rng.choice((0, 1, 1, 2, 2, 3, 3, 4, 4, 5))))
    return Known(TensorType(rng.choice((dtype, dtype, None)), None if rng.random() < 0.1 else shape))


def drawn_content(rng: random.Random, dtype: DType | None) -> Known:
    """A tensor of which the content is known, or as much of it as names are."""
    count = rng.choice((0, 1, 1, 2, 3, 4, 5, 6, 8))
    shape = rng.choice(((), (1,), (1, 1)) if count == 1 else ((count,), (count,), (count, 1)))
    if dtype is DType.INT64 and rng.random() < 0.3:
        return Known(TensorType(dtype, (count,)), tuple(rng.choices((*NUMBERS, "N", None), k=count)))
    if dtype is None or dtype not in (
        DType.INT64,
        DType.INT32,
        DType.FLOAT,
        DType.DOUBLE,
        DType.BOOL,
        DType.UINT8,
    ):
        return Known(TensorType(dtype, shape))
    with np.errstate(all="ignore"):
        content = np.array(rng.choices(NUMBERS, k=count), np.int64).astype(dtype.numpy)
    return Known(TensorType(dtype, shape), content.reshape(shape))


def drawn_call(rng: random.Random, op: OperatorDef) -> tuple[list[Known | None], dict[str, Any]]:
    inputs: list[Known | None] = []
    for parameter in op.inputs:
        if parameter.option == "optional" and rng.random() < 0.4:
            inputs.append(None)
            continue
        count = rng.choice((1, 1, 2, 3)) if parameter.option == "variadic" else 1
        inputs += [drawn_input(rng, parameter) for _ in range(count)]
    while inputs and inputs[-1] is None:
        inputs.pop()
    attributes = {
        each.name: DRAWN[each.type](rng)
        for each in op.attributes.values()
        if each.type in DRAWN and (each.is_required or rng.random() < 0.5)
    }
    return inputs, attributes


@pytest.mark.parametrize("shard", range(4))
def test_any_call_is_typed_or_refused(shard: int) -> None:
    for op in list(operators())[shard::4]:
        rng = random.Random(f"{op.domain} {op.name} {op.since_version}")
        for _ in range(CALLS):
            inputs, attributes = drawn_call(rng, op)
            try:
                known = infer(op, op.since_version, inputs, attributes, max(1, len(op.outputs)))
            except OnnxsmithError:
                continue
            except Exception as error:
                error.add_note(f"{op.qualified_name}-{op.since_version} on {inputs} with {attributes}")
                raise
            assert len(known) == max(1, len(op.outputs))
