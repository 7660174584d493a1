"""Types of the inputs and outputs of models. Holds no behaviour."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

#: An array of any element type and shape.
Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]

#: A tensor, a sequence, a map (whose elements may be plain numbers and text), or an optional that is empty.
RunValue: TypeAlias = "np.ndarray[Any, Any] | np.generic[Any] | list[RunValue] | dict[int | str, RunValue] | int | float | str | None"  # noqa: E501  # checkers read one string, not two

#: From inputs, in order, to outputs.
Run: TypeAlias = Callable[[Sequence[RunValue]], list[RunValue]]
