"""Saves a model as it was recorded: into one file, from its records, with large weights going from their own memory.

Weights in a file beside the model are `files`' business.
"""

from __future__ import annotations

from pathlib import Path

from onnxsmith.graphs import files
from onnxsmith.graphs.lazy_ir import ir
from onnxsmith.graphs.proto_writer import model_to_proto
from onnxsmith.graphs.records import ModelRecord, ValueRecord
from onnxsmith.graphs.stream import LARGE_BYTES


def save(model: ModelRecord, place: Path, external_data: bool | str | None) -> bool:
    """Write a model into one file; False, and nothing done, for a model that does not go there by itself."""
    files.check_place(place)
    weights: dict[ValueRecord, ir.TensorProtocol] = {
        each: each.tensor
        for each in model.graph.initializers
        if each.tensor is not None and each.tensor.dtype != ir.DataType.STRING
    }
    if files.data_name_of(list(weights.values()), place, external_data) is not None:
        return False
    if sum(each.nbytes for each in weights.values()) > files.MOST_BYTES:
        return False  # which is an error, and told there
    large = {each: tensor for each, tensor in weights.items() if tensor.nbytes >= LARGE_BYTES}
    stand_ins = {
        each: files.reference(tensor, each.name, "", 0, 0, place.parent) for each, tensor in large.items()
    }
    proto = model_to_proto(model, stand_ins)
    if proto is None:
        return False
    try:
        with files.replacing(place) as temporary:
            files.write_with_weights(proto, {each.name: tensor for each, tensor in large.items()}, temporary)
    except OSError as error:
        raise files.not_written(place, error) from None
    return True
