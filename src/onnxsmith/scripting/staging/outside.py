"""The objects that a function takes from around it: globals, variables of outer functions, attributes of objects.

A session has all of that as it was when the session was made. Each call checks it again, and makes new
sessions where something has changed. So a function that jit made gives what the function itself gives, and a gradient
is that of the function as it is now.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np

from onnxsmith.core.carried import Carrier
from onnxsmith.diagnostics import described_type
from onnxsmith.errors import UnseenStateError
from onnxsmith.scripting.staging.known_types import (
    is_library_class,
    is_random,
    is_torch_tensor,
    names_its_attributes,
)
from onnxsmith.scripting.staging.pictures import AttributesPicture, BindingsPicture, FunctionPicture, Picture
from onnxsmith.scripting.staging.reach import Reach, content_of_array


class Outside:
    """The objects that a function reaches, and those that its arguments reach, as they are now.

    Data whose changes cannot be seen is refused; with `is_lenient` it counts as what does not change.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        given: Sequence[tuple[str, object]] = (),
        *,
        is_lenient: bool = False,
    ) -> None:
        reach = Reach([(getattr(function, "__name__", "function"), function), *given], ())
        self._reach = reach
        if not is_lenient:
            self._refuse_unseen(given)
        names = frozenset(reach.names)
        # Who draws random numbers is refused when a model is made, and generators move on without the function.
        found = [_narrowed(each, names) for each in reach.pictures if not is_random(type(each.owner))]
        self._pictures = [*found, *map(content_of_array, reach.arrays)]

    def _refuse_unseen(self, given: Sequence[tuple[str, object]]) -> None:
        """Refuse data whose changes cannot be seen: a session would go on with what it was."""
        for each in self._reach.objects:
            if _is_others_array(type(each)):
                name = self._reach.name_of(each)
                has_elements = hasattr(type(each), "to_numpy")
                raise _unseen(each, name, f"{name}.to_numpy()" if has_elements else f"np.asarray({name})")
        opaque = {id(each) for each in self._reach.opaque}
        for name, each in given:
            if id(each) in opaque and not _has_hash_of_content(type(each)):
                raise _unseen(
                    each, name, "arrays, numbers, containers of these, or objects of classes in Python"
                )

    def changed(self) -> str | None:
        """The name of what has changed since, as the user's code would write it; None where nothing has."""
        for each in self._pictures:
            if each.is_changed():
                name = f"'{self._reach.name_of(each.owner)}'"
                is_named = type(each) in (BindingsPicture, FunctionPicture)
                return f"a name that {name} reads" if is_named else name
        return None


def _unseen(value: object, name: str, instead: str) -> UnseenStateError:
    package = type(value).__module__.partition(".")[0]
    return UnseenStateError(
        f"'{name}' is {described_type(type(value))} of {package}, whose changes from call to call cannot be seen",
        help=f"give the function its values: {instead}",
    )


@functools.lru_cache(maxsize=2048)
def _is_others_array(kind: type) -> bool:
    """True if objects of a class hold the elements of an array in a way of their own: Series, data frames, images."""
    is_known = any(each in kind.__mro__ for each in (np.ndarray, np.generic, Carrier, type))
    if is_known or not is_library_class(kind):
        return False
    is_ours = kind.__module__.partition(".")[0] == "onnxsmith"
    return not (is_ours or is_torch_tensor(kind)) and any(hasattr(kind, each) for each in _GIVES_ELEMENTS)


#: By these numpy takes the elements of what is no array of its own.
_GIVES_ELEMENTS = ("__array__", "__array_interface__", "__dataframe__", "__arrow_c_stream__")


def _has_hash_of_content(kind: type) -> bool:
    """True if objects are told apart by their content: it does not change, and is part of the key."""
    return kind.__hash__ not in (None, object.__hash__)


def _narrowed(picture: Picture, names: frozenset[str]) -> Picture:
    """Of an object's attributes those that code names, its class's among them: others may change as they like.

    Code of libraries is not looked into, so that what it names is not known.
    """
    space: object = getattr(picture.owner, "__dict__", None)
    if type(picture) is not AttributesPicture or type(space) is not dict:
        return picture
    if not names_its_attributes(type(picture.owner)):
        return picture
    held, kind = cast("dict[str, object]", space), type(picture.owner)
    named = [name for name in names if name in held or hasattr(kind, name)]
    return _Attributes(picture.owner, held, named)


class _Attributes(BindingsPicture):
    """Some attributes of an object."""
