"""Why a model failed on its inputs, in the words that the same mistake has elsewhere.

Asked after a runtime failed: our inference goes through the model on the very inputs, and finds what it finds when the
call is made eagerly or traced. It counts where it blames the operator that the runtime named; else the runtime's word
stands.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
import onnx_ir as ir

from onnxsmith.errors import OnnxsmithError, OperatorFailedError
from onnxsmith.graphs.graph_inference import infer_model, sizes_of
from onnxsmith.schema.inference.known import Known
from onnxsmith.types.annotations import type_of_example

#: Contents larger than this say nothing about shapes.
_LARGEST_CONTENT = 1024


def diagnosed(model: ir.Model, failure: OperatorFailedError, feeds: Sequence[Any]) -> OnnxsmithError:
    """The error to raise for a run that failed."""
    if failure.node is None:
        return failure
    try:
        inputs = [_known(each) for each in feeds]
        infer_model(model, inputs, sizes_of(model, [each.type for each in inputs]))
    except OnnxsmithError as found:
        if found.node is not None and found.node[0] == failure.node[0]:
            found.labels = found.labels or failure.labels
            return found
    except Exception:  # inference is not at fault that the run failed, whatever it stumbles over
        return failure
    return failure


def _known(value: Any) -> Known:
    kind = type_of_example(cast(object, value))
    is_small = isinstance(value, np.ndarray) and cast("np.ndarray[Any, Any]", value).size <= _LARGEST_CONTENT
    return Known(kind, cast("np.ndarray[Any, Any]", value) if is_small else None)
