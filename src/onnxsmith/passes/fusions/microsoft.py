"""Fusions to operators of ONNX Runtime's own domain: on request, since such a model runs nowhere else.

There are those that its CPU was measured to run faster than what they stand for; `benchmarks/bench_fusions.py` has
the others, too, and what they would give.
"""

from __future__ import annotations

import onnx_ir as ir

from onnxsmith.passes.editor import Attempt, Editor, Outcome
from onnxsmith.passes.fusions.expressions import both_ways, product_of
from onnxsmith.passes.values import float_attribute, int_attribute, ints_attribute, only_for, rank
from onnxsmith.passes.worklist import Worklist, rule_table

DOMAIN = "com.microsoft"
_VERSION = 1


def quick_gelu(at: Attempt) -> Outcome:
    """`x * sigmoid(alpha * x)`, which is Swish for 1: `QuickGelu`."""
    for x, gate in both_ways(at.node):
        curve = only_for(gate, "Sigmoid")
        if curve is None or x is None or x.dtype != ir.DataType.FLOAT:
            continue
        inner = product_of(at.edit, curve.inputs[0])
        if inner.factors == [x]:
            return at.op("QuickGelu", x, domain=DOMAIN, alpha=float(inner.number))
    return None


def turned_product(at: Attempt) -> Outcome:
    """`MatMul` of a matrix that was turned on its side: `FusedMatMul`, which turns it itself."""
    left, right = at.node.inputs
    if left is None or right is None or left.dtype != ir.DataType.FLOAT:
        return None
    sources = [_before_turning(each) for each in (left, right)]
    if sources == [None, None]:
        return None
    return at.op(
        "FusedMatMul",
        sources[0] or left,
        sources[1] or right,
        domain=DOMAIN,
        alpha=1.0,
        transA=int(sources[0] is not None),
        transB=int(sources[1] is not None),
    )


def _before_turning(value: ir.Value) -> ir.Value | None:
    node = only_for(value, "Transpose")
    order = None if node is None else ints_attribute(node, "perm")
    if node is None or order is None or len(order) < 2:
        return None
    last = len(order) - 1
    return node.inputs[0] if order == (*range(last - 1), last, last - 1) else None


def scaled_product(at: Attempt) -> Outcome:
    """A product of matrices times a number: `FusedMatMul`, which multiplies by it as well."""
    whole = product_of(at.edit, at.node.outputs[0], at.node)
    if len(whole.factors) != 1 or whole.number == 1:
        return None
    product = whole.factors[0]
    node = product.producer()
    if node is None or product.dtype != ir.DataType.FLOAT or (rank(product) or 0) < 2:
        return None
    if len(product.uses()) != 1 or product.is_graph_output() or node.graph is not at.node.graph:
        return None
    if (node.domain, node.op_type) not in (("", "MatMul"), (DOMAIN, "FusedMatMul")):
        return None
    if any(int_attribute(node, name, 0) for name in ("transBatchA", "transBatchB")):
        return None
    return at.op(
        "FusedMatMul",
        *node.inputs,
        domain=DOMAIN,
        alpha=float_attribute(node, "alpha", 1.0) * whole.number,
        transA=int_attribute(node, "transA", 0),
        transB=int_attribute(node, "transB", 0),
    )


_RULES = rule_table(
    {"Mul": [quick_gelu, scaled_product], "Div": [scaled_product], "MatMul": [turned_product]}
)


def fuse_for_runtime(edit: Editor) -> int:
    """Make the fusions, and let the model import the domain where it has any; returns how many there were."""
    edit.pass_name = "fusion"
    count = Worklist(edit, _RULES).run()
    if count:
        for holder in (edit.model, *edit.model.functions.values()):
            if any(node.domain == DOMAIN for node in holder.graph.all_nodes()):
                holder.opset_imports.setdefault(DOMAIN, _VERSION)
    return count
