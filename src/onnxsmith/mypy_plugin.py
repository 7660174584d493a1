"""mypy plugin: what stands in the brackets of `FLOAT["N", 4]` is a shape, not type arguments.

mypy reads brackets in an annotation as type arguments and strings in them as names, whatever the class says; pyright
asks the class. To be named in mypy's configuration: `plugins = ["onnxsmith.mypy_plugin"]`. `FLOAT` by itself and
`Annotated[FLOAT, "N", 4]` need no plugin.
"""

from __future__ import annotations

from collections.abc import Callable

from mypy.plugin import AnalyzeTypeContext, Plugin
from mypy.types import Type

from onnxsmith.types.dtypes import DType

_MODULE = "onnxsmith.opset._stubs.tensors"
_CLASSES = frozenset(f"{_MODULE}.{dtype.name}" for dtype in DType)


class ShapePlugin(Plugin):
    """Takes each tensor class with any brackets for the class."""

    def get_type_analyze_hook(self, fullname: str) -> Callable[[AnalyzeTypeContext], Type] | None:
        if fullname not in _CLASSES:
            return None
        return lambda context: context.api.named_type(fullname, [])


def plugin(version: str) -> type[Plugin]:
    """What mypy calls; any version of it will do."""
    return ShapePlugin
