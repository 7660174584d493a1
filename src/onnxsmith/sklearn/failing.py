"""`raise_unless`: where a model fails with a text of ours, as scikit-learn raises an error on the same rows.

A node that asks for an element which is not there stands in a branch that runs where the condition does not hold. Its
name holds the text, which the runtime's error repeats.
"""

from __future__ import annotations

import re
from typing import Any, cast

import numpy as np

from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.graphs.raising_nodes import RAISED
from onnxsmith.graphs.value import SymbolicTensor
from onnxsmith.numpy import Array
from onnxsmith.sklearn.control_flow import control_flow
from onnxsmith.sklearn.values import array_of
from onnxsmith.types.dtypes import DType

_FAR = np.array(1 << 40, np.int64)


def raise_unless(holds: Array, value: Array, text: str) -> Array:
    """The value, of a model that fails with the text where a condition on one number does not hold.

    What computes with the result runs after the check.
    """
    tensor = value.tensor

    def fail() -> Tensor:
        # Nobody runs a loop to work out constants: what does so would fail before the model runs.
        index = control_flow().Loop(
            np.array(1, np.int64),
            np.array(True),
            op.Cast(~holds.tensor, to=DType.INT64),
            body=_far_away,
        )
        beyond = op.Gather(np.zeros(1, np.int64), index)
        record: Any = cast(SymbolicTensor, beyond).record
        words = re.sub(r"[\x00-\x1f|]+", " ", text.replace("'", '"')).strip()
        record.producer.name = f"{RAISED}ValueError: {words}|"
        return op.Expand(op.Cast(beyond, to=tensor.dtype), op.Shape(tensor))

    made = control_flow().If(holds.tensor, then_branch=lambda: op.Identity(tensor), else_branch=fail)
    return array_of(made)


def _far_away(_: Tensor, goes_on: Tensor, current: Tensor) -> tuple[Tensor, Tensor]:
    return goes_on, current * _FAR
