"""Short ways to call the engine in tests."""

from __future__ import annotations

from typing import Any

import numpy as np

from onnxsmith.runtime import engine
from onnxsmith.schema import registry
from onnxsmith.schema.definition import OperatorDef
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import SequenceType, TensorType

LATEST = 2**31 - 1


def find(name: str, version: int = LATEST, domain: str = "") -> OperatorDef:
    op = registry.find(domain, name, version)
    assert op is not None
    return op


def type_of(value: Any) -> Any:
    if value is None:
        return None
    if isinstance(value, list):
        return SequenceType(TensorType(DType.from_numpy(value[0].dtype), None))
    return DType.from_numpy(value.dtype)


def prepare(
    name: str, *inputs: Any, version: int = LATEST, outputs: int = 1, **attributes: Any
) -> engine.Runner:
    return engine.prepare(find(name, version), [type_of(each) for each in inputs], attributes, outputs)


def call(name: str, *inputs: Any, version: int = LATEST, outputs: int = 1, **attributes: Any) -> Any:
    """Run an operator; one output comes as it is."""
    results = prepare(name, *inputs, version=version, outputs=outputs, **attributes)(inputs)
    return results[0] if outputs == 1 else results


def floats(*values: Any) -> np.ndarray:
    return np.array(values, np.float32)


def ints(*values: Any) -> np.ndarray:
    return np.array(values, np.int64)
