"""Whether a model gives a case's data on ONNX Runtime and on onnx's reference evaluator.

Each engine is used bare, so that nothing of onnxsmith can hide a difference.
"""

from __future__ import annotations

import ctypes
import tomllib
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx

from onnxsmith.types.dtypes import DType
from tests.backend.node_cases import check_equal
from tests.decompile.backend_cases import Case

#: Engines in the order in which they are reported.
ENGINES = ("onnxruntime", "reference")

#: Case -> engines on which it must not be judged, with the reason.
FAULTS: dict[str, dict[str, Any]] = tomllib.loads(
    Path(__file__).with_name("known_oracle_faults.toml").read_text()
)


def failure(engine: str, model: onnx.ModelProto, case: Case) -> str | None:
    """What keeps a model from giving a case's data on an engine; None when it gives it."""
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            run = _PREPARE[engine](model)
            for data in case.data:
                for actual, expected in zip(run(data.inputs), data.outputs, strict=True):
                    check_equal(actual, expected, case.rtol, case.atol)
    except Exception as error:
        return f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"
    return None


def is_judged(engine: str, case: Case) -> bool:
    """Whether an engine is no known-faulty judge of a case."""
    return engine not in FAULTS.get(str(case), {}).get("engines", ())


def _prepare_onnxruntime(model: onnx.ModelProto) -> Callable[[Mapping[str, Any]], Sequence[Any]]:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )

    def run(inputs: Mapping[str, Any]) -> Sequence[Any]:
        arrays = [each for each in inputs.values() if isinstance(each, np.ndarray)]
        if any(
            each.dtype.kind not in "OUST" and not DType.from_numpy(each.dtype).is_native for each in arrays
        ):
            return _run_as_bits(session, inputs)
        if _has_foreign_output(session):
            return _run_as_bits(session, inputs)
        return session.run(None, {name: value for name, value in inputs.items() if value is not None})

    return run


def _has_foreign_output(session: Any) -> bool:
    kinds = " ".join(each.type for each in session.get_outputs())
    return any(word in kinds for word in ("bfloat16", "float8"))


def _run_as_bits(session: Any, inputs: Mapping[str, Any]) -> Sequence[Any]:
    """Run where numpy lacks an element type: handed over and taken back as bits."""
    import onnxruntime

    feeds: dict[str, Any] = {}
    for name, value in inputs.items():
        dtype = DType.from_numpy(value.dtype)
        if dtype.is_native:
            feeds[name] = onnxruntime.OrtValue.ortvalue_from_numpy(value)
        else:
            bits = np.ascontiguousarray(value).view(np.dtype(f"u{value.dtype.itemsize}"))
            feeds[name] = onnxruntime.OrtValue.ortvalue_from_numpy_with_onnx_type(bits, int(dtype))
    results = session.run_with_ort_values([each.name for each in session.get_outputs()], feeds)
    return [_from_ort_value(each) for each in results]


def _from_ort_value(value: Any) -> Any:
    dtype = DType(value.element_type()) if value.is_tensor() else None
    if dtype is None or dtype.is_native:
        return value.numpy()
    # OrtValue.numpy() knows none of ml_dtypes' types: the memory is read as it lies there.
    shape = tuple(value.shape())
    size = int(np.prod(shape)) * dtype.numpy.itemsize
    return np.frombuffer(ctypes.string_at(value.data_ptr(), size), dtype.numpy).reshape(shape)


def _prepare_reference(model: onnx.ModelProto) -> Callable[[Mapping[str, Any]], Sequence[Any]]:
    from onnx.reference import ReferenceEvaluator

    evaluator = ReferenceEvaluator(model)
    return lambda inputs: evaluator.run(None, dict(inputs))


_PREPARE: dict[str, Callable[[onnx.ModelProto], Callable[[Mapping[str, Any]], Sequence[Any]]]] = {
    "onnxruntime": _prepare_onnxruntime,
    "reference": _prepare_reference,
}
