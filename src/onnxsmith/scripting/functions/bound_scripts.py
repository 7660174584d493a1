"""The scripts that were bound to an object: kept on it, and left behind when it is copied."""

from __future__ import annotations

import types
from typing import Any
from weakref import WeakKeyDictionary

#: The attribute of an object in which its methods that are scripts are kept.
METHODS = "_onnxsmith_scripts"


class Methods(dict[types.FunctionType, Any]):
    """The scripts of an object that were bound to it. A copy of the object, here or elsewhere, starts with none."""

    def __reduce__(self) -> tuple[type[Methods], tuple[()]]:
        return Methods, ()


#: The scripts that classmethods are, by class: a class has no place of its own that others do not see.
OF_CLASSES: WeakKeyDictionary[type, Methods] = WeakKeyDictionary()
