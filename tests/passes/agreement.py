"""Models written in a few lines, and what must hold of whatever a pass makes of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
import onnx
import onnx.parser

from onnxsmith.graphs.model import Model
from onnxsmith.passes import PassedModel, optimize

#: A tolerance for results that are computed in another order.
CLOSE = 2e-6


def model_of(body: str, *, opset: int = 21, ir_version: int = 10) -> Model:
    """The model of a graph in ONNX's text."""
    text = f'<ir_version: {ir_version}, opset_import: ["" : {opset}]> {body}'
    return Model.from_proto(onnx.parser.parse_model(text))


def operators(model: Model) -> list[str]:
    """The operators of a model, nested ones included, constants left out, in alphabetical order."""
    found: Counter[str] = Counter(node.op_type for node in model.ir.graph.all_nodes())
    return sorted(each for each in found.elements() if each != "Constant")


def results(model: Model, inputs: Sequence[np.ndarray]) -> list[np.ndarray]:
    """What a model gives, as a list."""
    found = model(*inputs)
    return [np.asarray(each) for each in (found if isinstance(found, tuple) else (found,))]


def optimized(model: Model, *inputs: np.ndarray, within: float = 0.0) -> PassedModel:
    """The optimised model, which is valid, gives the same, keeps its ports, and left the given one as it was."""
    before = model.proto.SerializeToString(deterministic=True)
    small = optimize(model)
    assert model.proto.SerializeToString(deterministic=True) == before
    assert (small.inputs, small.outputs) == (model.inputs, model.outputs)
    onnx.checker.check_model(small.proto, full_check=True)
    for wanted, found in zip(results(model, inputs), results(small, inputs), strict=True):
        assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
        if within and wanted.size:
            error = np.abs(found.astype(np.float64) - wanted).max()
            assert error <= within * max(1.0, float(np.abs(wanted).max()))
        else:
            np.testing.assert_array_equal(found, wanted)
    return small
