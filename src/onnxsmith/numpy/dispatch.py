"""numpy's own functions on our arrays: `np.concatenate([x, y])` is the namespace's `concatenate`.

A call is bound as numpy binds it and handed on by our parameters, so that both spell their names as they like.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from onnxsmith.errors import InputTypeError
from onnxsmith.numpy.refused import REFUSED
from onnxsmith.numpy.registry import FUNCTIONS, public

_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


@functools.cache
def by_numpys() -> Mapping[Callable[..., object], str]:
    """Functions of numpy, and the names that ours have."""
    found: dict[Callable[..., object], str] = {}
    for name in FUNCTIONS:
        if name.startswith("random."):
            continue  # ours draw with a key, numpy's from a state that no model has
        theirs: Any = np
        for part in name.split("."):
            theirs = getattr(theirs, part, None)
        if callable(theirs) and not isinstance(theirs, type):
            found.setdefault(theirs, name)
    return found


@public("_array_function")
def array_function(function: Callable[..., object], args: Sequence[Any], kwargs: Mapping[str, Any]) -> object:
    """Answers numpy's protocol: calls our function in the place of one of numpy's."""
    name = by_numpys().get(function)
    if name is None:
        why = REFUSED.get(function.__name__)
        raise InputTypeError(
            f"numpy's {function.__name__} is not there for arrays that run on ONNX"
            + ("" if why is None else f": {why}"),
            help="the functions that are stand in onnxsmith.numpy; np.asarray(x) leaves ONNX",
        )
    positional, named = _handed_on(name, function, args, kwargs)
    return FUNCTIONS[name](*positional, **named)


@functools.cache
def _signatures(
    name: str, theirs: Callable[..., object]
) -> tuple[inspect.Signature, inspect.Signature] | None:
    try:
        return inspect.signature(theirs), inspect.signature(FUNCTIONS[name])
    except (TypeError, ValueError):  # a function written in C need not say what it takes
        return None


def _is_layout(key: str, value: object) -> bool:
    """True if an option only sets the layout of memory or the class, which ours do not have, or sets nothing."""
    if key == "order":
        return value in ("C", "F", "A", "K", None)
    return key == "subok" or (key in ("like", "out") and value is None)


def _handed_on(
    name: str, theirs: Callable[..., object], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> tuple[list[Any], dict[str, Any]]:
    """The arguments of a call as our function takes them."""
    found = _signatures(name, theirs)
    if found is None:
        return list(args), {key: each for key, each in kwargs.items() if not _is_layout(key, each)}
    numpys, ours = found
    given = {
        key: value
        for key, value in numpys.bind(*args, **kwargs).arguments.items()
        if value is not numpys.parameters[key].default
        and (key in ours.parameters or not _is_layout(key, value))
    }
    mine = list(ours.parameters.values())
    positional: list[Any] = []
    named: dict[str, Any] = {}
    is_whole = True
    for place, (key, parameter) in enumerate(numpys.parameters.items()):
        if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
            positional += given.get(key, ())
        elif parameter.kind is inspect.Parameter.VAR_KEYWORD:
            named.update(given.get(key, {}))
        elif key not in given:
            is_whole = False
        elif is_whole and place < len(mine) and mine[place].kind in _POSITIONAL:
            positional.append(given[key])
        else:
            named[key] = given[key]
    return positional, named
