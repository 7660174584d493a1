"""Steps that are not made again of their class: which part of the model each is, and that part as an estimator.

A step says the names of the values that it takes and gives. What it says is data: names that are not in the model, or
between which there is no part of it, are refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from onnxsmith.errors import OnnxsmithError
from onnxsmith.graphs.model import Model
from onnxsmith.graphs.value import SymbolicTensor
from onnxsmith.passes import extract, rename, with_metadata
from onnxsmith.runtime.frames import Json
from onnxsmith.sklearn.frames.signature import KEY, OUTPUT_NAMES, Layout, Signature, kind_of
from onnxsmith.sklearn.restoring.values import Damaged, Unwritable
from onnxsmith.sklearn.restoring.wrapping import OnnxPredictor, OnnxTransformer
from onnxsmith.sklearn.steps import StepValues
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import TensorType


def written_step(step: StepValues, output_names: Mapping[int, str]) -> Json:
    """The entry of a step. `output_names` are what outputs of the model are called, by the id of what is recorded."""
    if not step.made:
        raise Unwritable("a step whose values are no plain tensors")

    def name_of(tensor: SymbolicTensor) -> str:
        return output_names.get(id(tensor.record), tensor.record.name)

    return {
        "inputs": [name_of(each) for each in step.given],
        "columns": None if step.columns is None else list(step.columns),
        "outputs": {method: name_of(each) for method, each in step.made.items()},
    }


def step_of(given: Json, model: Model) -> OnnxTransformer | OnnxPredictor:
    """The step of an entry, as the part of the model that it is; raises `Damaged`."""
    entry = given if isinstance(given, dict) else {}
    inputs, outputs, columns = _texts(entry.get("inputs")), entry.get("outputs"), entry.get("columns")
    if not isinstance(outputs, dict) or not outputs or not set(outputs) <= set(OUTPUT_NAMES):
        raise Damaged("a step whose outputs are of no method")
    methods = dict(zip(outputs, _texts(list(outputs.values())), strict=True))
    try:
        part = extract(model, inputs, list(methods.values()))
        part = _named(part, methods, None if columns is None else _texts(columns))
    except OnnxsmithError as error:
        raise Damaged(f"a step that is no part of the model: {error.message}") from None
    return OnnxTransformer(part) if "transform" in methods else OnnxPredictor(part)


def _named(part: Model, methods: Mapping[str, str], columns: list[str] | None) -> Model:
    """The part with the names and the signature that a model of its own would have."""
    types = [each.type for each in part.inputs]
    if not all(isinstance(each, TensorType) for each in types):
        raise Damaged("a step that takes something else than tensors")
    ports = cast("list[TensorType]", types)
    kinds = [kind_of(each.dtype) for each in ports if each.dtype is not None]
    if len(kinds) != len(ports):
        raise Damaged("a step that takes elements of an unknown type")
    layout: Layout = "columns"
    if columns is None:
        shape = ports[0].shape or ()
        if len(ports) != 1:
            raise Damaged("a step that takes several matrices")
        width = shape[1] if len(shape) == 2 else None
        is_text = ports[0].dtype is DType.STRING and len(shape) == 1
        layout = "matrix" if isinstance(width, int) else "texts" if is_text else "array"
        if layout == "array":
            raise Damaged("a step that takes neither rows nor texts")
        named: list[str | None] = [None] * (width if isinstance(width, int) else 1)
        kinds *= len(named)
    else:
        if len(columns) != len(ports) or len(set(columns)) != len(columns):
            raise Damaged("a step with other columns than inputs")
        named = [*columns]
    said = tuple((method, OUTPUT_NAMES[method]) for method in methods)
    signature = Signature(layout, tuple(zip(named, kinds, strict=True)), said)
    new = dict(zip([each.name for each in part.inputs], signature.names, strict=True))
    found = {name: OUTPUT_NAMES[method] for method, name in methods.items()}
    return with_metadata(rename(part, inputs=new, outputs=found), {KEY: signature.to_json()})


def _texts(given: Json) -> list[str]:
    if not isinstance(given, list) or not given or not all(isinstance(each, str) for each in given):
        raise Damaged("names that are no text")
    return cast("list[str]", given)
