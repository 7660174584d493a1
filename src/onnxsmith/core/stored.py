"""A tensor that lies somewhere under a name, in a file or in the text of a module, until it is needed."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from onnxsmith.schema.inference.known import Known


class Stored:
    """The value of `weights["name"]`: an operand like an array, whose content may never be loaded."""

    __slots__ = ()
    #: How the reader of attributes, which stands below this module, knows one.
    is_stored: ClassVar[bool] = True

    @property
    def known(self) -> Known:
        """Its type and shape."""
        raise NotImplementedError

    def __array__(self, dtype: np.dtype[Any] | None = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        raise NotImplementedError
