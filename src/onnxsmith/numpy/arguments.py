"""Types of the arguments of the namespace: arrays and what numpy takes for one, element types, shapes, devices."""

from __future__ import annotations

from typing import TypeAlias

from onnxsmith.errors import AttributeValueError
from onnxsmith.numpy.array import ArrayLike as ArrayLike
from onnxsmith.numpy.sizes import ShapeLike as ShapeLike
from onnxsmith.numpy.sizes import SizeLike as SizeLike
from onnxsmith.types.annotations import DTypeLike as DTypeLike

#: There is one device.
Device: TypeAlias = str | None


def check_choice(name: str, given: object, *choices: str, others: tuple[object, ...] = ()) -> None:
    """Refuse an argument that is none of its choices; `others` are taken as well, and not named."""
    if given not in (*choices, *others):
        *first, last = (repr(each) for each in choices)
        told = f"{name} is {', '.join(first)} or {last}, not {given!r}"
        raise AttributeValueError(told, culprit=("attribute", name))
