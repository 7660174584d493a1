"""Notices when Python objects from outside are changed where only the model knows whether that happens."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from onnxsmith.errors import MutationError
from onnxsmith.source import Span

if TYPE_CHECKING:
    from onnxsmith.scripting.frame import Frame

#: The attribute of an object in which its methods that are scripts are kept.
METHODS = "_onnxsmith_scripts"


class Guard:
    """A picture of all containers that variables hold, to compare with later."""

    def __init__(self, frame: Frame) -> None:
        self._pictures: list[tuple[str, Any, Any]] = []
        seen: set[int] = set()
        here: Frame | None = frame
        while here is not None:
            variables: dict[str, Any] = here.variables
            for name, value in variables.items():
                anything: Any = value
                if isinstance(value, list | dict | set) and id(cast(object, value)) not in seen:
                    seen.add(id(cast(object, value)))
                    self._pictures.append((name, anything, anything.copy()))
                elif name == "self" and hasattr(anything, "__dict__"):
                    held = cast("dict[str, Any]", anything.__dict__)
                    held.setdefault(METHODS, {})  # where scripts that are methods are kept is no change
                    self._pictures.append((name, held, dict(held)))
            here = here.outer

    def check(self, span: Span | None) -> None:
        """Put changed containers back and say so."""
        changed: str | None = None
        for name, container, picture in self._pictures:
            if not _is_same(container, picture):
                _restore(container, picture)
                changed = changed or name
        if changed is not None:
            raise MutationError(
                f"'{changed}' is changed inside this, and only the model knows whether and how often it runs",
                help=f"assign a new value to a variable instead of changing '{changed}'",
            ).locate(span)


def _is_same(container: Any, picture: Any) -> bool:
    if len(container) != len(picture):
        return False
    if isinstance(container, set):
        return container == picture  # pyright: ignore[reportUnknownVariableType]
    if isinstance(container, dict):
        pairs = zip(cast("dict[Any, Any]", container).items(), picture.items(), strict=True)
        return all(a == b and x is y for (a, x), (b, y) in pairs)
    return all(x is y for x, y in zip(container, picture, strict=True))


def _restore(container: Any, picture: Any) -> None:
    if isinstance(container, list):
        container[:] = picture
        return
    container.clear()
    container.update(picture)
