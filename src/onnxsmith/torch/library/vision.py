"""torchvision's own operators, found by name: torchvision itself is not needed here."""

from __future__ import annotations

import numpy as np

from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.algorithms.values import constant
from onnxsmith.torch.library.call import Call
from onnxsmith.torch.library.kinds import Translated
from onnxsmith.torch.library.registry import translates
from onnxsmith.torch.library.values import cast
from onnxsmith.types.dtypes import DType


@translates("torchvision.nms.default")
def nms(call: Call, boxes: Tensor, scores: Tensor, iou_threshold: float) -> Translated:
    """The places of boxes that no better one overlaps, the best first."""
    found = op.NonMaxSuppression(
        op.Unsqueeze(cast(boxes, DType.FLOAT), [0]),
        op.Unsqueeze(cast(scores, DType.FLOAT), [0, 1]),
        constant(np.array([np.iinfo(np.int64).max])),
        constant(np.array([iou_threshold], np.float32)),
    )
    return op.Gather(found, np.int64(2), axis=1)


@translates("torchvision.roi_align.default")
def roi_align(
    call: Call,
    x: Tensor,
    rois: Tensor,
    spatial_scale: float,
    pooled_height: int,
    pooled_width: int,
    sampling_ratio: int,
    aligned: bool,
) -> Translated:
    """Regions of interest, each a row of the number of its image and a box."""
    return op.RoiAlign(
        x,
        op.Slice(rois, [1], [5], [1]),
        cast(op.Gather(rois, np.int64(0), axis=1), DType.INT64),
        coordinate_transformation_mode="half_pixel" if aligned else "output_half_pixel",
        mode="avg",
        output_height=pooled_height,
        output_width=pooled_width,
        sampling_ratio=max(sampling_ratio, 0),
        spatial_scale=float(spatial_scale),
    )
