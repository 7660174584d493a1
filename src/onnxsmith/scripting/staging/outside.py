"""The objects that a function takes from around it: globals, variables of outer functions, attributes of objects.

A session has all of that as it was when the session was made. Each call of a jitted script or of jitted numpy code
checks it again, and makes new sessions where something has changed. So a function that jit made gives what the function
itself gives, and a gradient is that of the function as it is now.
"""

from __future__ import annotations

import dis
import functools
import types
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, cast

import numpy as np

from onnxsmith.core.captures import AnyArray
from onnxsmith.core.value_containers import Carrier
from onnxsmith.diagnostics import described_type
from onnxsmith.errors import UnseenStateError
from onnxsmith.scripting.staging.array_pictures import ArrayPicture
from onnxsmith.scripting.staging.known_types import (
    is_library_class,
    is_random,
    is_torch_tensor,
    names_its_attributes,
)
from onnxsmith.scripting.staging.reach import Reach
from onnxsmith.scripting.staging.snapshots import (
    AttributesPicture,
    BindingsPicture,
    ClassPicture,
    FunctionPicture,
    Holder,
    Picture,
)


class Outside:
    """The objects that a function reaches, and those that its arguments reach, as they are now.

    Data whose changes cannot be seen is refused; with `is_lenient` it counts as what does not change. Of arrays of more
    than `most` bytes, some elements are compared.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        given: Sequence[tuple[str, object]] = (),
        *,
        is_lenient: bool = False,
        most: int | None = None,
    ) -> None:
        variables = [(getattr(function, "__name__", "function"), function), *given]
        reach = Reach(variables, (), has_scripts=True)
        self._reach = reach
        if not is_lenient:
            self._refuse_unseen(given)
        names = None if reach.has_any_name else frozenset(reach.names)
        found = [
            each if names is None else _narrowed(each, names)
            for each in reach.pictures
            if type(each) not in (Holder, ArrayPicture) and not _is_passed_over(each.owner)
        ]
        arrays = [cast("AnyArray", each) for each in reach.objects if isinstance(each, np.ndarray)]
        self._pictures = [*_merged(found), *(ArrayPicture(each, most) for each in arrays)]
        #: Each says if one of the objects has changed since.
        self.checks: Sequence[Callable[[], bool]] = [each.check() for each in self._pictures]

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
        for is_changed in self.checks:
            if is_changed():
                each = self._pictures[self.checks.index(is_changed)]
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


def _is_passed_over(owner: object) -> bool:
    """True for what may change as it likes: generators of random numbers, and our own modules.

    Code that draws random numbers is refused when a model is made, and generators move on without it.
    """
    if isinstance(owner, types.ModuleType):
        return owner.__name__.partition(".")[0] == "onnxsmith"
    return is_random(type(owner))


def _merged(found: Iterable[Picture]) -> Iterator[Picture]:
    """The pictures, with one for all names that code reads in a namespace."""
    spaces: dict[int, list[BindingsPicture]] = {}
    for each in found:
        if type(each) is BindingsPicture:
            spaces.setdefault(id(each.space), []).append(each)
        else:
            yield each
    for same in spaces.values():
        names = frozenset[str]().union(*map(_read_names, same))
        yield BindingsPicture(same[0].owner, same[0].space, names)


def _read_names(picture: BindingsPicture) -> frozenset[str]:
    """The names that code reads in a namespace; of those that stand for nothing, none that is only an attribute's."""
    names, owner = frozenset(picture.names), picture.owner
    if not isinstance(owner, types.FunctionType):
        return names
    return frozenset(each for each in names if each in picture.space) | (
        names & _global_names(owner.__code__)
    )


@functools.lru_cache(maxsize=1024)
def _global_names(code: types.CodeType) -> frozenset[str]:
    """The globals and builtins that code reads, with the functions inside it."""
    own = {each.argval for each in dis.get_instructions(code) if each.opname in ("LOAD_GLOBAL", "LOAD_NAME")}
    inner = (each for each in code.co_consts if isinstance(each, types.CodeType))
    return frozenset(own).union(*map(_global_names, inner))


def _narrowed(picture: Picture, names: frozenset[str]) -> Picture:
    """Of the attributes of an object or a class those that code names: others may change as they like.

    Code of libraries is not looked into, so that what it names is not known.
    """
    owner = picture.owner
    if type(picture) is AttributesPicture and names_its_attributes(type(owner)):
        space: object = getattr(owner, "__dict__", None)
        if type(space) is dict:
            return _Attributes(owner, cast("dict[str, object]", space), names)
    if type(picture) is ClassPicture and names_its_attributes(cast(type, owner)):
        return picture.narrowed(names)
    return picture


class _Attributes(BindingsPicture):
    """Some attributes of an object."""
