"""ONNX's backend cases, converted to another opset, run, and compared with their data.

Loads, converts and compares; what may fail is decided by the tests. The cases are those of single operators, which
onnx makes in memory, and the models that it ships as files.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import onnx
from onnx import numpy_helper

from onnxsmith import Model
from onnxsmith.errors import NotRunnableError, VersionConversionError
from onnxsmith.passes.versions.convert import convert_version
from onnxsmith.schema import registry
from tests.backend.node_cases import all_cases, as_value, check_equal

#: Folders of models that onnx ships with their data.
_FOLDERS = ("simple", "pytorch-operator", "pytorch-converted", "light")


@dataclass(frozen=True)
class BackendCase:
    """A model with inputs and what it gives for them."""

    name: str
    model: onnx.ModelProto
    inputs: Sequence[Any]
    outputs: Sequence[Any]
    rtol: float
    atol: float


@dataclass(frozen=True)
class Outcome:
    """What became of a case: refused says why there is no conversion, wrong what is wrong with the one there is.

    Of one that nothing installed can run, unconverted or converted, only the form is looked at.
    """

    kind: Literal["good", "refused", "unrunnable", "wrong"]
    text: str = ""


@functools.cache
def backend_cases() -> Mapping[str, BackendCase]:
    """All cases, by name."""
    found: dict[str, BackendCase] = {}
    for name, case in sorted(all_cases().items()):
        inputs, outputs = case.data_sets[0]
        found[name] = BackendCase(
            name,
            case.model,
            [as_value(each) for each in inputs],
            [as_value(each) for each in outputs],
            case.rtol,
            case.atol,
        )
    found.update((each.name, each) for each in _shipped())
    return found


def _shipped() -> Iterator[BackendCase]:
    data = Path(onnx.__file__).parent / "backend" / "test" / "data"
    for folder in _FOLDERS:
        for place in sorted((data / folder).iterdir()):
            sets = sorted(place.glob("test_data_set_*")) if place.is_dir() else []
            if not (place / "model.onnx").exists() or not sets:
                continue
            model = onnx.load(place / "model.onnx")
            graph = model.graph
            held = {each.name for each in graph.initializer}
            given = [each for each in graph.input if each.name not in held or model.ir_version < 4]
            inputs = [
                _read(sets[0] / f"input_{k}.pb", each.type)
                for k, each in enumerate(given)
                if (sets[0] / f"input_{k}.pb").exists()
            ]
            outputs = [_read(sets[0] / f"output_{k}.pb", each.type) for k, each in enumerate(graph.output)]
            yield BackendCase(f"{folder}/{place.name}", model, inputs, outputs, 1e-3, 1e-5)


def _read(place: Path, kind: onnx.TypeProto) -> Any:
    content = place.read_bytes()
    if kind.HasField("sequence_type"):
        return numpy_helper.to_list(onnx.SequenceProto.FromString(content))
    if kind.HasField("optional_type"):
        return numpy_helper.to_optional(onnx.OptionalProto.FromString(content))
    return numpy_helper.to_array(onnx.TensorProto.FromString(content))


def opset_of(model: onnx.ModelProto) -> int:
    """The version of the standard opset that a model imports; 0 for none."""
    return next((each.version for each in model.opset_import if each.domain in ("", "ai.onnx")), 0)


def outcome(case: BackendCase, target: int) -> Outcome:
    """Convert a case, run it, and compare with its data."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = Model.from_proto(case.model)
        before = case.model.SerializeToString(deterministic=True)
        try:
            converted = convert_version(model, target)
        except VersionConversionError as error:
            return Outcome("refused", error.message)
        assert case.model.SerializeToString(deterministic=True) == before
        return as_converted(case, model, converted, target)


def as_converted(case: BackendCase, model: Model, converted: Model, target: int) -> Outcome:
    """Judge a model that somebody made of a case for another opset: its form, and what it gives."""
    try:
        check_form(case, converted.proto, target)
        actual = _results(converted, case)
    except NotRunnableError as error:
        return Outcome("wrong" if _is_runnable(model, case) else "unrunnable", str(error))
    except Exception as error:
        return Outcome("wrong", f"{type(error).__name__}: {error}")
    try:
        _compare(actual, case.outputs, case)
    except AssertionError as error:
        return _as_the_original(model, case, actual, error)
    return Outcome("good")


def check_form(case: BackendCase, proto: onnx.ModelProto, target: int) -> None:
    """The converted model is what it says: of the opset that it imports, by ONNX's own checker."""
    assert opset_of(proto) in (target, 0)
    onnx.checker.check_model(proto)
    try:
        onnx.checker.check_model(case.model, full_check=True)
    except Exception:  # as the case itself is
        return
    onnx.checker.check_model(proto, full_check=True)


def _results(model: Model, case: BackendCase) -> Sequence[Any]:
    result = model(*case.inputs)
    return result if len(case.outputs) != 1 else [result]


def _is_runnable(model: Model, case: BackendCase) -> bool:
    try:
        _results(model, case)
    except NotRunnableError:
        return False
    return True


def _compare(actual: Sequence[Any], expected: Sequence[Any], case: BackendCase) -> None:
    for one, other in zip(actual, expected, strict=True):
        check_equal(one, other, case.rtol, case.atol)


def _as_the_original(model: Model, case: BackendCase, actual: Sequence[Any], error: Exception) -> Outcome:
    """A case whose data the model itself does not give (it is random, or rounded otherwise) is compared with that."""
    try:
        own = _results(model, case)
        _compare(own, case.outputs, case)
    except AssertionError:
        try:
            _compare(actual, own, case)
        except AssertionError:
            if [getattr(each, "shape", None) for each in actual] == [
                getattr(each, "shape", None) for each in own
            ] and _is_random(case):
                return Outcome("good")
            return Outcome("wrong", str(error))
        return Outcome("good")
    except Exception as other:
        return Outcome("wrong", f"{error}; the model itself: {other}")
    return Outcome("wrong", str(error))


def _is_random(case: BackendCase) -> bool:
    random = {"Bernoulli", "Dropout", "Multinomial", "RandomUniformLike", "RandomUniform", "RandomNormal"}
    return any(node.op_type in random for node in case.model.graph.node)


def newest() -> int:
    """The newest version of the standard opset."""
    return registry.latest_version("")
