"""mypy plugin: what stands in the brackets of `FLOAT["N", 4]` is a shape, not type arguments.

mypy reads brackets after a class as type arguments and strings in them as names, whatever the class says of itself;
pyright asks the class. To be named in mypy's configuration: `plugins = ["onnxsmith.mypy_plugin"]`. `FLOAT` by itself
and `Annotated[FLOAT, "N", 4]` need no plugin.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from mypy.errorcodes import NAME_DEFINED
from mypy.plugin import AnalyzeTypeContext, Plugin
from mypy.types import Type, UnboundType

from onnxsmith.types.dtypes import DType

_MODULE = "onnxsmith.opset._stubs.tensors"
_CLASSES = frozenset(f"{_MODULE}.{dtype.name}" for dtype in DType)


class ShapePlugin(Plugin):
    """Takes a tensor class with any brackets for the class."""

    def get_type_analyze_hook(self, fullname: str) -> Callable[[AnalyzeTypeContext], Type] | None:
        if fullname not in _CLASSES:
            return None

        def take_class(context: AnalyzeTypeContext) -> Type:
            _forget_undefined_names(context)
            return context.api.named_type(fullname, [])

        return take_class


def _forget_undefined_names(context: AnalyzeTypeContext) -> None:
    """Withdraw what mypy has to say against names in the brackets.

    It looks for type variables in them before it asks a plugin about the annotation, and reports the names it does
    not find; nothing in a plugin comes earlier in every mode of mypy.
    """
    places = {(each.line, each.column) for each in _names_in(context.type.args)}
    # `api` is the semantic analyzer behind its public interface; should it ever look otherwise, only strings suffer.
    analyzer: Any = getattr(context.api, "api", None)
    errors: Any = getattr(analyzer, "errors", None)
    if not places or errors is None:
        return
    reported: list[Any] = errors.error_info_map.get(errors.file, [])
    reported[:] = [
        each for each in reported if each.code is not NAME_DEFINED or (each.line, each.column) not in places
    ]


def _names_in(arguments: Iterable[Type]) -> Iterator[UnboundType]:
    for argument in arguments:
        if isinstance(argument, UnboundType):
            yield argument
            yield from _names_in(argument.args)


def plugin(version: str) -> type[Plugin]:
    """What mypy calls; any version of it will do."""
    return ShapePlugin
