"""What a function takes from around it: globals, variables of the functions around it, attributes of objects.

A session has all of that as it was when the session was made. Before each call it is looked at again, so that a
function that jit made gives what the function itself gives: where something is another one, sessions are made anew.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

from onnxsmith.scripting.staging.known_types import is_random
from onnxsmith.scripting.staging.pictures import AttributesPicture, BindingsPicture, FunctionPicture, Picture
from onnxsmith.scripting.staging.reach import Reach, content_of_array


class Outside:
    """What a function reaches, and what objects that it is given reach, as it is now."""

    def __init__(self, function: Callable[..., Any], given: Sequence[tuple[str, object]] = ()) -> None:
        reach = Reach([(getattr(function, "__name__", "function"), function), *given], ())
        self._reach = reach
        names = frozenset(reach.names)
        # Who draws random numbers is refused when a model is made, and generators move on without the function.
        found = [_narrowed(each, names) for each in reach.pictures if not is_random(type(each.owner))]
        self._pictures = [*found, *map(content_of_array, reach.arrays)]

    def changed(self) -> str | None:
        """What has changed since, as the user's code would write it; None where nothing has."""
        for each in self._pictures:
            if each.is_changed():
                name = f"'{self._reach.name_of(each.owner)}'"
                is_named = type(each) in (BindingsPicture, FunctionPicture)
                return f"a name that {name} reads" if is_named else name
        return None


def _narrowed(picture: Picture, names: frozenset[str]) -> Picture:
    """Of an object's attributes those that code names, its class's among them: others may change as they like."""
    space: object = getattr(picture.owner, "__dict__", None)
    if type(picture) is not AttributesPicture or type(space) is not dict:
        return picture
    held, kind = cast("dict[str, object]", space), type(picture.owner)
    named = [name for name in names if name in held or hasattr(kind, name)]
    return _Attributes(picture.owner, held, named)


class _Attributes(BindingsPicture):
    """Some attributes of an object."""
