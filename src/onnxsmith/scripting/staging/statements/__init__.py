"""The kinds of statements, one class each; a module that is put here is found without being named elsewhere."""

from __future__ import annotations

import importlib
import pkgutil

for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")
