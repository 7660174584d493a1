"""Shapes that no runtime should be given."""

from __future__ import annotations

import numpy as np
import onnx
import pytest

from onnxsmith import Model
from onnxsmith.errors import OnnxsmithError
from onnxsmith.runtime.adapting import Refused, adapt


def _model(nodes: str) -> Model:
    header = '<ir_version: 10, opset_import: ["" : 21]>'
    graph = f"g (float[1] x, int64[2] s) => (float[N] y) {{ {nodes} }}"
    return Model.from_proto(onnx.parser.parse_model(f"{header} {graph}"))


_RANGE = (
    "a = Constant <value_int = 0> () b = Constant <value_int = 131072> () d = Constant <value_int = 1> ()"
    " r = Range(a, b, d)"
)
#: A shape of 2**17 sizes, by 17 doublings.
_DOUBLED = "r0 = Constant <value_ints = [1]> () " + " ".join(
    f"r{n + 1} = Concat <axis = 0> (r{n}, r{n})" for n in range(17)
)


@pytest.mark.parametrize(
    "nodes",
    [
        f"{_RANGE} y = ConstantOfShape(r)",
        f"{_RANGE} y = Expand(x, r)",
        f"{_RANGE} y = Reshape(x, r)",
        f"{_DOUBLED} y = ConstantOfShape(r17)",
    ],
    ids=["ConstantOfShape", "Expand", "Reshape", "doubled"],
)
def test_a_shape_without_measure_is_refused(nodes: str) -> None:
    """Of 2**24 sizes, ONNX Runtime opens such a model in minutes, and in gigabytes of memory."""
    model = _model(nodes)
    with pytest.raises(Refused, match="a tensor of 131,072 dimensions"):
        adapt(model.proto, (1, 21))
    with pytest.raises(OnnxsmithError):
        model(np.ones(1, np.float32), np.array([2, 3]))


def test_shapes_that_are_put_together_of_sizes_run() -> None:
    nodes = "n = Shape(x) m = Concat <axis = 0> (s, n) z = ConstantOfShape(m) y = Reshape(z, s)"
    assert _model(nodes)(np.ones(1, np.float32), np.array([2, 3])).shape == (2, 3)
