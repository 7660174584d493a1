"""The old name of `scripting/dialects/numpy`: functions that were jitted and pickled before name their classes here."""

from __future__ import annotations

import importlib
import sys

from onnxsmith.numpy.names import STAGING

for _name in ("jit", "vectorize"):
    sys.modules[f"{__name__}.{_name}"] = importlib.import_module(STAGING[_name])
