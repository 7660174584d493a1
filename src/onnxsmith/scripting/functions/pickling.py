"""Scripts that travel to other processes: by name where the other process can import them, else by value.

By value goes the function, as cloudpickle writes it, with the text of the files that it and its helpers come from: a
script is staged from its source, which another process may not have. What was made of a script (models, sessions) stays
behind and is made anew.
"""

from __future__ import annotations

import importlib
import linecache
import pickle
import sys
import types
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast

from onnxsmith.scripting.functions.signature import with_evaluated_annotations
from onnxsmith.scripting.source.outside import helpers_of
from onnxsmith.scripting.staging.plain_outside import Script


@dataclass(frozen=True, slots=True)
class Parcel:
    """A function by value, with the source that it is staged from."""

    module: str
    name: str
    written: bytes
    #: The text of each file that it and its helpers come from.
    texts: Mapping[str, str]

    def is_here(self, function: types.FunctionType) -> bool:
        """True if a function that was imported here under the same name is the same."""
        file = function.__code__.co_filename
        return _text(file) == self.texts.get(file)

    def open(self) -> types.FunctionType:
        """The function, whose source can be found from now on."""
        function: types.FunctionType = pickle.loads(self.written)
        _place_texts(function, self.texts)
        return function


def reduce_script(script: Script, function: types.FunctionType) -> Parcel | str:
    """How pickle is to write the script of a function: the name by which it can be imported, or a parcel."""
    module, name = function.__module__, function.__qualname__
    is_importable = find(module, name) is script
    if is_importable and module != "__main__":
        return name
    written = _by_value(with_evaluated_annotations(function))
    if written is not None:
        return Parcel(module, name, written, _texts(function))
    if is_importable:  # a program that is started again for each process, as multiprocessing does, finds it
        return name
    raise pickle.PicklingError(
        f"the script '{name}' cannot be pickled by name: it is not what module {module!r} calls so. Define it at "
        "the top of a module, or install cloudpickle, with which it is pickled by value"
    )


def find(module: str, name: str) -> Any:
    """The object of this name in an imported module; None where it has no such name."""
    found: Any = sys.modules.get(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    return found


def _by_value(function: types.FunctionType) -> bytes | None:
    try:
        cloudpickle: Any = importlib.import_module("cloudpickle")  # optional
    except ImportError:
        return None
    return cast(bytes, cloudpickle.dumps(function))


# -- source text ---------------------------------------------------------------------------------------------


def _functions(function: types.FunctionType) -> Iterator[types.FunctionType]:
    yield function
    yield from helpers_of(function)


def _text(file: str) -> str:
    return "".join(linecache.getlines(file))


def _texts(function: types.FunctionType) -> dict[str, str]:
    files = dict.fromkeys(each.__code__.co_filename for each in _functions(function))
    return {file: text for file in files if (text := _text(file))}


def _place_texts(function: types.FunctionType, texts: Mapping[str, str]) -> None:
    """Let the source of these functions be found; a file of that name with other text gets out of the way."""
    renamed: dict[str, str] = {}
    for file, text in texts.items():
        here = _text(file)
        if here and here != text:
            renamed[file] = place = f"<{file} of another process>"
            number = 1
            while _text(place) not in ("", text):
                number += 1
                place = renamed[file] = f"<{file} of another process, {number}>"
        else:
            place = file
        if here != text:
            # Without a time of change the entry stays when the file is looked for.
            linecache.cache[place] = (len(text), None, text.splitlines(True), place)
    for each in list(_functions(function)) if renamed else ():
        if each.__code__.co_filename in renamed:
            each.__code__ = _renamed(each.__code__, renamed[each.__code__.co_filename])


def _renamed(code: types.CodeType, file: str) -> types.CodeType:
    constants = tuple(
        _renamed(each, file) if isinstance(each, types.CodeType) else each for each in code.co_consts
    )
    return code.replace(co_filename=file, co_consts=constants)
