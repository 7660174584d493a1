"""Whether ONNX's own checker and inference object to a model of one node.

Asked only after a runtime refused it, to tell "cannot" from "must not".
"""

from __future__ import annotations

import onnx
from onnx import checker, shape_inference

from onnxsmith.runtime.failure import plain_reason


def objection(model: onnx.ModelProto) -> str | None:
    """What is wrong with the model's node by ONNX's rules, or None."""
    context = checker.C.CheckerContext()
    context.ir_version = model.ir_version
    context.opset_imports = {entry.domain: entry.version for entry in model.opset_import}
    node = model.graph.node[0]
    try:
        # The checker does not know outer values that a body uses.
        if not any(attribute.type == onnx.AttributeProto.GRAPH for attribute in node.attribute):
            checker.check_node(node, context)
        # The model as a whole is not checked: its inputs have no shapes, which the checker insists on.
        shape_inference.infer_shapes(model, check_type=True, strict_mode=True)
    except (checker.ValidationError, shape_inference.InferenceError) as error:
        return plain_reason(error)
    return None
