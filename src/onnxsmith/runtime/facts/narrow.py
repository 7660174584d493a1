"""Elements of less than a byte: how they are made of floats, and how bodies hand them on."""

from __future__ import annotations

import numpy as np

from onnxsmith.graphs.rewriting.scopes import inner_graphs
from onnxsmith.graphs.rewriting.site import Site
from onnxsmith.runtime.facts.fact import Family, Probe, Refusal, Rewrite
from onnxsmith.types.dtypes import DType

FAMILY = Family()

#: Element types of which several share a byte.
_PACKED = frozenset(int(each) for each in DType if 0 < each.bits < 8)
#: Those of them that floats are rounded to.
_NARROW = (int(DType.INT4), int(DType.UINT4))


@FAMILY.fact(
    "If",
    "Loop",
    met_by=Refusal,
    reason="it copies elements of less than a byte as if each had one, which gives others or ends the process",
    first="1.31",
    probe=None,  # numpy alone has no such values to compare
)
def bodies_give_whole_bytes(site: Site) -> str | None:
    # By what the bodies declare: to infer types would cost every model with a body.
    for body in inner_graphs(site.node):
        for each in body.output:
            if each.type.tensor_type.elem_type in _PACKED:
                return f"{site.node.op_type} does not copy elements of less than a byte right"
    return None


@FAMILY.fact(
    "Cast",
    met_by=Rewrite,
    reason="floats are rounded to integers of four bits, where a cast cuts off what is behind the point",
    since=21,
    first="1.23",
    probe=Probe(
        "g (float[N] x) => (int32[N] y) { t = Cast <to = 21> (x) y = Cast <to = 6> (t) }",
        {"x": np.array([1.5], np.float32)},
        right=[np.array([1], np.int32)],
    ),
)
def cut_off_first(site: Site) -> bool:
    dtype = site.dtype(0)
    if site.integer("to", 0) not in _NARROW or dtype is None or not dtype.is_float:
        return False
    site.same_node([site.emit.cast(site.input(0), DType.INT32)])
    return True
