"""Scan, which had a batch around all that it was given before opset 9."""

from __future__ import annotations

import onnx_ir as ir

from onnxsmith.passes.values import dimensions, ints_attribute
from onnxsmith.passes.versions.step import Answer, Refusal, Step, up


@up("Scan", since=9)
def scan_of_a_batch(step: Step) -> Answer:
    """A scan over the batch, with the scan over the sequence as its body."""
    if step.input(0) is not None:
        raise Refusal("its sequences have lengths of their own (sequence_lens), which opset 9 cannot say")
    body = step.node.attributes.get("body")
    if body is None or body.is_ref():
        raise Refusal("it has no body")
    given = [step.required(position) for position in range(1, len(step.node.inputs))]
    count = step.axis(0, "num_scan_inputs")
    directions = ints_attribute(step.node, "directions")
    step.hand_over(["body"])
    items = [_item(step, value) for value in given]
    attributes = [body, ir.AttrInt64("num_scan_inputs", count)]
    if directions is not None:
        attributes.append(ir.AttrInt64s("scan_input_directions", list(directions)))
    inner = ir.Node("", "Scan", items, attributes, num_outputs=len(step.node.outputs))
    for made, old in zip(inner.outputs, step.node.outputs, strict=True):
        made.name = step.edit.fresh_name(f"{old.name}_item")
    around = ir.Graph(items, list(inner.outputs), nodes=[inner], name=f"{step.node.name or 'scan'}_batch")
    return step.ops("Scan", *given, outputs=len(step.node.outputs), body=around, num_scan_inputs=len(given))


def _item(step: Step, value: ir.Value) -> ir.Value:
    """The value that the body for one item of the batch is given."""
    sizes = dimensions(value)
    return ir.Value(
        name=step.edit.fresh_name(f"{value.name}_item"),
        type=value.type,
        shape=None if not sizes else ir.Shape(sizes[1:]),
    )
