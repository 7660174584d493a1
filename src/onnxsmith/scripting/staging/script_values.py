"""What a script's variables hold while it is staged, in types: what is computed with, taken apart, or handed on.

Types only: `structure` takes values apart, `merge` puts those of two paths together, `truth` asks whether one is true.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import EllipsisType
from typing import Any, TypeAlias, TypeVar, final

import numpy as np

from onnxsmith.core.stored import Stored
from onnxsmith.core.value import Array, Scalar, Value


@final
class Opaque:
    """An object of the user's that staging hands on and does not compute with: a layer, a module, a function, a file.

    For type checkers alone: no object is one when it runs. User code gives objects of every class; one of no kind
    that `ScriptValue` lists is this. So nothing is asked of it without a check, and nothing of our own (the side of a
    branch, a place in the source) is taken for a value of the user's.
    """


class Marker:
    """Stands where a value of the user's would: because there is none, or until it is known."""

    __slots__ = ()


#: What has no parts: tensors and numbers of the program, what stands between brackets, and what is handed on.
Single: TypeAlias = (
    "Value | Stored | Array | np.generic[Any] | Scalar | EllipsisType | slice[Any, Any, Any] | Opaque | None"
)
#: What the user's code may give.
ScriptValue: TypeAlias = "Single | Sequence[ScriptValue] | Mapping[Any, ScriptValue]"
#: What a variable holds: a value of the user's, or a marker, or a container with markers in it.
Held: TypeAlias = "Single | Marker | Sequence[Held] | Mapping[Any, Held]"
#: What can be a tensor of the model.
TensorLike: TypeAlias = "Value | Array | np.generic[Any] | bool | int | float"
#: A function of the user's, or one that is called in its place.
Function: TypeAlias = Callable[..., Any]
#: What is handed on as it is.
T = TypeVar("T")
