"""Runs one script four ways: by Python on numpy, eagerly, in ONNX Runtime, and in onnx's reference evaluator."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
import onnxruntime
from onnx.reference import ReferenceEvaluator

from onnxsmith.scripting.functions.function import ScriptFunction
from onnxsmith.types.value_types import SequenceType, TensorType

PLAIN, EAGER, RUNTIME, REFERENCE = "plain Python", "eager", "ONNX Runtime", "reference evaluator"


def run_plain(script: Any, inputs: Sequence[Any], attributes: Mapping[str, Any]) -> Any:
    """Python itself, on copies of the arrays: numpy's `+=` changes an array. Scalars do not change, and are scalars."""
    copies = [np.array(each)[()] if isinstance(each, np.ndarray) else each for each in inputs]
    names = script.__wrapped__.__globals__
    scripts = {name: each for name, each in names.items() if isinstance(each, ScriptFunction)}
    names.update(
        {name: each.__wrapped__ for name, each in scripts.items()}
    )  # those that it calls are plain, too
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            return script.__wrapped__(*copies, **attributes)
    finally:
        names.update(scripts)


def run_eagerly(script: Any, inputs: Sequence[Any], attributes: Mapping[str, Any]) -> Any:
    """The script itself, on numpy arrays."""
    return script(*inputs, **attributes)


def compile_and_check(script: Any, attributes: Mapping[str, Any], **options: Any) -> onnx.ModelProto:
    """The model of a script, which onnx's checker accepts."""
    model = script.to_model(**options, attributes=attributes)
    proto = model.proto
    # The checker wants a shape of every input and output, also of those that can have any.
    if not any(_has_no_rank(port.type) for port in (*model.inputs, *model.outputs)):
        onnx.checker.check_model(proto, full_check=True)
    return proto


def _has_no_rank(kind: Any) -> bool:
    while not isinstance(kind, TensorType):
        kind = kind.element
    return kind.shape is None


def run_runtime(proto: onnx.ModelProto, inputs: Sequence[Any]) -> list[Any]:
    """The model in ONNX Runtime."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(
        proto.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    return session.run(None, _feeds([each.name for each in session.get_inputs()], inputs))


def run_reference(proto: onnx.ModelProto, inputs: Sequence[Any]) -> list[Any]:
    """The model in the reference evaluator."""
    evaluator = ReferenceEvaluator(proto)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return list(evaluator.run(None, _feeds(evaluator.input_names, inputs)))


def _feeds(names: Sequence[str], inputs: Sequence[Any]) -> dict[str, Any]:
    given = [each for each in inputs if each is not None]
    return dict(zip(names, given, strict=True))


def flat(result: Any, kinds: Sequence[Any] | None = None) -> list[Any]:
    """What a call returned as a list of outputs; a list stays one where the script says that it is a sequence."""
    is_sequence = kinds is not None and len(kinds) == 1 and isinstance(kinds[0], SequenceType)
    if isinstance(result, tuple) or (isinstance(result, list) and not is_sequence):
        return list(result)
    return [result]


def assert_same(expected: Sequence[Any], actual: Sequence[Any], who: str, *, is_close: bool = False) -> None:
    """Refuse results that differ in number, shape, element type or content."""
    assert len(actual) == len(expected), f"{who}: {len(actual)} results instead of {len(expected)}"
    for position, (wanted, got) in enumerate(zip(expected, actual, strict=True)):
        where = f"{who}, result {position}"
        if isinstance(wanted, list | tuple):
            assert isinstance(got, list | tuple), f"{where}: {got!r} instead of a sequence"
            assert_same(wanted, got, where, is_close=is_close)
            continue
        a, b = np.asarray(wanted), np.asarray(got)
        assert b.shape == a.shape, (
            f"{where}: shape {b.shape} instead of {a.shape}: {got!r} instead of {wanted!r}"
        )
        if hasattr(wanted, "dtype") and a.dtype.kind not in "UOT":
            assert b.dtype == a.dtype, f"{where}: {b.dtype} instead of {a.dtype}"
        if is_close:
            np.testing.assert_allclose(b, a, rtol=1e-5, atol=1e-6, err_msg=where)
        else:
            same = np.array_equal(a, b, equal_nan=a.dtype.kind == "f" and b.dtype.kind == "f")
            assert same, f"{where}: {got!r} instead of {wanted!r}"
