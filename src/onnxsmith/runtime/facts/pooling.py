"""Pooling whose sizes are rounded up: the kernel and the inference of shapes disagree on the last window."""

from __future__ import annotations

import numpy as np

from onnxsmith.graphs.rewriting.branches import at_run_only
from onnxsmith.graphs.rewriting.site import Site
from onnxsmith.runtime.facts.fact import rewrite
from onnxsmith.types.dtypes import DType

#: The first opset with a Loop that hides a value until a run.
_HIDES_SINCE = 11


@rewrite(
    ("MaxPool", "AveragePool", "LpPool"),
    "before opset 22 shapes count a window that begins in the padding, and the kernel leaves it out",
    probe="g (float[1, 1, 5] x) => (float[1, 1, A] y, int64[3] s)"
    " { y = MaxPool <kernel_shape = [2], strides = [3], pads = [1, 1], ceil_mode = 1> (x) s = Shape(y) }",
    given={"x": np.arange(5, dtype=np.float32).reshape(1, 1, 5)},
    right=[np.array([[[0, 3]]], np.float32), np.array([1, 1, 2])],
    since=10,
    until=21,
    is_ordinary=True,
)
def windows_in_the_padding(site: Site) -> bool:
    kernel = site.integers("kernel_shape")
    rank = len(kernel)
    if not site.integer("ceil_mode", 0) or site.text("auto_pad", "NOTSET") not in ("NOTSET", "VALID"):
        return False
    strides = site.integers("strides", (1,) * rank)
    dilations = site.integers("dilations", (1,) * rank)
    pads = site.integers("pads", (0,) * (2 * rank))
    sizes = (site.shape(0) or (None,) * (2 + rank))[2:]
    if not (len(strides) == len(dilations) == len(sizes) == rank and len(pads) == 2 * rank):
        return False  # said by a check of its own
    if min((*strides, *dilations), default=1) < 1:
        return False
    is_valid = site.text("auto_pad", "NOTSET") == "VALID"
    is_left_out, is_rounded_up = False, False
    for k, size in enumerate(sizes):
        before, after = (0, 0) if is_valid else (pads[k], pads[k + rank])
        extent = dilations[k] * (kernel[k] - 1) + 1
        if size is None:
            # No window begins in the padding where the stride and the padding fit into one window.
            is_left_out |= strides[k] + after > extent
            is_rounded_up = True
            continue
        room = size + before + after - extent
        is_up = room % strides[k] != 0
        is_beyond = -(-room // strides[k]) * strides[k] >= size + before
        is_left_out |= is_beyond
        is_rounded_up |= is_up and not is_beyond
    if not is_left_out:
        return False
    source = site.scope.producer(site.input(0))
    if not is_rounded_up and (source is None or source.op_type != "Pad"):
        # Where no other size is rounded up either, all are rounded down.
        site.same_node(list(site.node.input), changed={"ceil_mode": 0})
        return True
    if site.emit.version < _HIDES_SINCE:
        return False
    # A shape that only a run knows: nothing is inferred from it, nor is padding before it made that of the window.
    shape = at_run_only(site.emit, site.emit.op("Shape", site.input(0)), DType.INT64)
    site.same_node([site.emit.op("Reshape", site.input(0), shape)])
    return True
