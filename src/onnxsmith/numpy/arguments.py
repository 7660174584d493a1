"""Types of the arguments of the namespace: arrays and what numpy takes for one, element types, shapes, devices."""

from __future__ import annotations

from typing import TypeAlias

from onnxsmith.numpy.array import ArrayLike as ArrayLike
from onnxsmith.numpy.sizes import ShapeLike as ShapeLike
from onnxsmith.numpy.sizes import SizeLike as SizeLike
from onnxsmith.types.annotations import DTypeLike as DTypeLike

#: There is one device.
Device: TypeAlias = str | None
