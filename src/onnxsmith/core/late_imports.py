"""The modules above this layer that it loads on first use; the package's top says which they are.

Holds names only, and imports nothing, so that `import onnxsmith` can fill it in for next to nothing.
"""

from __future__ import annotations

import importlib
from typing import Literal, TypeAlias

Role: TypeAlias = Literal["default target", "model runtime", "version converter", "body watch"]

_MODULES: dict[Role, str] = {}


def register_module(role: Role, module: str) -> None:
    """Say which module plays a role; importing it must register what it brings."""
    _MODULES[role] = module


def load_module(role: Role) -> None:
    """Import the module of a role."""
    importlib.import_module(_MODULES[role])
