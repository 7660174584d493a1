"""Types of what the user's own code gives and holds: tensors, numbers, containers of them, and all other objects.

Types only. `value` has those that operators take.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import BuiltinFunctionType, EllipsisType, FunctionType, MethodType, ModuleType
from typing import Any, TypeAlias, final

import numpy as np

from onnxsmith.core.stored import Stored
from onnxsmith.core.value import Array, Scalar, Value
from onnxsmith.core.value_containers import Carrier


@final
class Opaque:
    """An object of the user's that is handed on and not computed with: a layer, a settings object, a file.

    For type checkers alone: no object is one when it runs. User code gives objects of every class; one of no kind
    that `UserValue` lists is this. So nothing is asked of it without a check, and nothing of our own (the side of a
    branch, a place in the source) is taken for a value of the user's.
    """


#: What user code calls, or takes names from.
Named: TypeAlias = FunctionType | MethodType | BuiltinFunctionType | ModuleType | type[Any]
#: What stands between brackets, besides tensors and numbers.
Bracketed: TypeAlias = "EllipsisType | slice[Any, Any, Any]"
#: What has no parts.
SingleValue: TypeAlias = (
    "Value | Stored | Carrier | Array | np.generic[Any] | Scalar | Bracketed | Named | Opaque | None"
)
#: What the user's code may give.
UserValue: TypeAlias = "SingleValue | Sequence[UserValue] | Mapping[Any, UserValue]"
