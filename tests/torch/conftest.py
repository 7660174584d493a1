"""Leaves out of the collection what needs packages that are missing, and files that only hold models."""

from __future__ import annotations

import importlib.util

_NEEDED = ("torch", "onnxruntime")
_NEEDED_BY_OPERATOR_DATABASE = ("expecttest",)


def _are_there(modules: tuple[str, ...]) -> bool:
    return all(importlib.util.find_spec(module) is not None for module in modules)


# They have no doctests, and import torch and more when they are looked at.
collect_ignore_glob = ["models/own_*.py", "models/of_*.py"]
if not _are_there(_NEEDED):
    collect_ignore_glob = ["*"]
elif not _are_there(_NEEDED_BY_OPERATOR_DATABASE):
    collect_ignore_glob.append("opinfo/*")
