"""Notes on a value or node that no file holds, with a type: onnx-ir's `meta` has no types for its entries."""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import Any, cast

from onnxsmith.graphs.lazy_ir import ir

#: The note of a value under which onnx-ir keeps how it is quantised.
QUANTIZATION_KEY = "quant_parameter_tensor_names"
#: The note of a value that holds the variable that the user gave it.
VARIABLE_KEY = "onnxsmith.variable"
#: The note of a value that holds the name of the weight it was made of.
WEIGHT_KEY = "onnxsmith.weight"
#: The note of an output that holds the name of the input or weight whose gradient it is.
GRADIENT_KEY = "onnxsmith.cotangent_of"


def notes_of(holder: ir.Value | ir.Node) -> MutableMapping[str, Any]:
    """The notes of a value or node, to read and to write."""
    return cast("MutableMapping[str, Any]", holder.meta)
