"""Short ways to write one call for tests: `call("MatMul", T("N", 4), T(4, 8))`.

Not a test itself.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from onnxsmith.schema import registry
from onnxsmith.schema.inference import BodyOutputs, Data, Known, infer
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import UNKNOWN_TENSOR, Dimension, Shape, TensorType

LATEST = 28

FLOAT, INT64, BOOL = DType.FLOAT, DType.INT64, DType.BOOL
ANY = Known(UNKNOWN_TENSOR)


def T(*shape: Dimension, dtype: DType | None = FLOAT) -> Known:
    """A tensor of this shape."""
    return Known(TensorType(dtype, shape))


def R(dtype: DType | None = FLOAT) -> Known:
    """A tensor of unknown rank."""
    return Known(TensorType(dtype, None))


def V(*entries: Dimension) -> Known:
    """An integer vector with this content."""
    return Known(TensorType(INT64, (len(entries),)), entries)


def S(entry: int | str | None) -> Known:
    """An integer scalar with this content."""
    return Known(TensorType(INT64, ()), entry)


def C(value: Any, dtype: Any = None) -> Known:
    """A constant; integers are int64."""
    array = np.asarray(value, dtype if dtype is not None or np.asarray(value).dtype.kind != "i" else np.int64)
    return Known(TensorType(DType.from_numpy(array.dtype), array.shape), array)


def call(
    name: str,
    *inputs: Known | None,
    version: int = LATEST,
    domain: str = "",
    outputs: int = 1,
    bodies: dict[str, BodyOutputs] | None = None,
    **attributes: Any,
) -> tuple[Known, ...]:
    """What is inferred of all outputs."""
    op = registry.find(domain, name, version)
    assert op is not None, f"no {name} in opset {version}"
    return infer(op, version, inputs, attributes, outputs, bodies or {})


def shape(name: str, *inputs: Known | None, **options: Any) -> Shape | None:
    """The shape of the only output."""
    (known,) = call(name, *inputs, **options)
    assert isinstance(known.type, TensorType)
    return known.type.shape


def dtype(name: str, *inputs: Known | None, **options: Any) -> DType | None:
    """The element type of the first output."""
    known = call(name, *inputs, **options)[0]
    assert isinstance(known.type, TensorType)
    return known.type.dtype


def data(name: str, *inputs: Known | None, **options: Any) -> Data:
    """The content of the first output."""
    return call(name, *inputs, **options)[0].data
