"""Rows where outputs may be meant: unpacking the one output of an operator that has more, away from its call.

How many outputs a call has is said by the call, or by the unpacking that stands at it. Anything else that would unpack
such a tensor gives its rows, which nobody asked for who wrote `p = op.MaxPool(x); y, indices = p`.
"""

from __future__ import annotations

from typing import Any

from onnxsmith.errors import OutputCountError
from onnxsmith.graphs.records import ValueRecord
from onnxsmith.schema import registry
from onnxsmith.schema.definition import OperatorDef
from onnxsmith.types.value_types import TensorType


def refuse_rows_for_outputs(value: Any, count: int | None) -> None:
    """Raise OutputCountError where unpacking a tensor into `count` variables (None: any number) may mean outputs."""
    program = value.scope.program
    found = _operator_behind(value.record, program.opsets.version)
    if found is not None and any((found.domain, found.name) == each[:2] for each in program.functions):
        return  # a function of the model: what it returns is known
    kind = value.known.type
    rows = kind.shape[0] if isinstance(kind, TensorType) and kind.shape else None
    # Where nobody says how many there are, rows are taken for outputs only if there are as few of them.
    wanted = rows if count is None else count
    if found is None or not isinstance(wanted, int) or not 1 < wanted <= found.max_outputs:
        return
    names = ", ".join(each.name.lower() for each in found.outputs[:wanted]) if found.is_known else "a, b"
    raise OutputCountError(
        f"this is the one output that {found.qualified_name} was called for: it has {wanted} rows here, not outputs"
        if count is None
        else f"this is the one output that {found.qualified_name} was called for, and {count} are wanted",
        help=f"say it at the call: {names} = {found.name}(…), or {found.name}(…, outputs={wanted});\n"
        "for the rows of the one output write x[0], x[1]",
    )


def _operator_behind(value: ValueRecord, version_of: Any) -> OperatorDef | None:
    """The operator that a value is the only output of, though it has more; seen through branches and loops."""
    node = value.producer
    if node is None:
        return None
    if node.domain == "" and node.op_type in ("If", "Loop"):
        position = list(node.outputs).index(value)
        place = position if node.op_type == "If" else position + 1
        for graph in node.graphs():
            outputs = graph.outputs
            found = _operator_behind(_itself(outputs[place]), version_of) if place < len(outputs) else None
            if found is not None:
                return found
        return None
    if len(node.outputs) != 1:
        return None
    version = version_of(node.domain)
    definition = registry.find(node.domain, node.op_type, version)
    if definition is None and not registry.is_known_domain(node.domain):
        definition = registry.lookup(node.domain, node.op_type, version)
    if definition is None or definition.max_outputs < 2:
        return None
    # Attributes and bodies say how many of a variadic output there are; of an unknown operator nothing does.
    is_said = definition.is_known and definition.outputs[-1].option == "variadic"
    return None if is_said else definition


def _itself(value: ValueRecord) -> ValueRecord:
    """The value that a branch gives: a value from outside passes through a node of its own."""
    node = value.producer
    source = node.inputs[0] if node is not None and node.op_type == "Identity" else None
    return value if source is None else source
