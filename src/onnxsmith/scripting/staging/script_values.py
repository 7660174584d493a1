"""Types of the values of a script's variables while it is staged: computed with, taken apart, or handed on.

Types only: `structure` takes values apart, `merge` puts those of two paths together, `truth` asks whether one is true.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias, TypeVar

import numpy as np

from onnxsmith.core.user_values import SingleValue
from onnxsmith.core.value import Array, Value


class Marker:
    """Stands where a value of the user's would: because there is none, or until it is known."""

    __slots__ = ()


class TakenApart(Marker):
    """Stands for a value of the user's whose parts are looked at one by one."""

    __slots__ = ()


#: What a variable holds: a value of the user's, or a marker, or a container with markers in it.
Held: TypeAlias = "SingleValue | Marker | Sequence[Held] | Mapping[Any, Held]"
#: What can be a tensor of the model.
TensorLike: TypeAlias = "Value | Array | np.generic[Any] | bool | int | float"
#: A function of the user's, or one that is called in its place.
Function: TypeAlias = Callable[..., Any]
#: What is handed on as it is.
T = TypeVar("T")
