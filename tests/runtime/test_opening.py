"""Models that ONNX Runtime ends the process on are refused before it opens them."""

from __future__ import annotations

import numpy as np
import onnx
import pytest

from onnxsmith import Model
from onnxsmith.errors import NotRunnableError, OnnxsmithError

_ENDS = "s = Constant<value_ints=[0]>() e = Constant<value_ints=[2]>() a = Constant<value_ints=[2]>()"
_IMAGE = "g (float[1,1,4,4] x) => (float[A,B,C,D] y)"
#: Nodes that give `p` a size below zero.
GIVING = {
    "MaxPool": (_IMAGE, "p = MaxPool<kernel_shape=[9,9]>(x)"),
    "AveragePool": (_IMAGE, "p = AveragePool<kernel_shape=[9,9]>(x)"),
    "LpPool": (_IMAGE, "p = LpPool<kernel_shape=[9,9]>(x)"),
    "Pad": (_IMAGE, "q = Constant<value_ints=[0,0,-9,0,0,0,0,0]>() p = Pad(x, q)"),
    "Expand": (_IMAGE, "q = Constant<value_ints=[1,1,-3,4]>() p = Expand(x, q)"),
    "Split": (_IMAGE, "q = Constant<value_ints=[-2,6]>() p, r = Split<axis=2>(x, q)"),
}


def model_of(head: str, node: str) -> Model:
    text = f'<ir_version: 8, opset_import: ["" : 21]> {head} {{ {node} {_ENDS} y = Slice(p, s, e, a) }}'
    return Model.from_proto(onnx.parser.parse_model(text))


@pytest.mark.parametrize("name", GIVING)
def test_a_slice_of_a_size_below_zero_is_refused(name: str) -> None:
    with pytest.raises(OnnxsmithError):
        model_of(*GIVING[name])(np.ones((1, 1, 4, 4), np.float32))


def test_the_value_and_the_size_are_named() -> None:
    with pytest.raises(NotRunnableError, match="'p' would have the size -4"):
        model_of(*GIVING["MaxPool"])(np.ones((1, 1, 4, 4), np.float32))


def test_windows_that_fit_are_run() -> None:
    model = model_of(_IMAGE, "p = MaxPool<kernel_shape=[2,2]>(x)")
    assert model(np.ones((1, 1, 4, 4), np.float32)).shape == (1, 1, 2, 3)
