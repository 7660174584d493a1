"""Loading a user's Python file: it is run, as `python file.py` would run it, but not as the main program.

Whoever asks to build or check a Python file means their own file; a model file is only ever data.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from onnxsmith.cli.reading import load_model
from onnxsmith.cli.report import Usage
from onnxsmith.graphs.model import Model
from onnxsmith.scripting.functions.function import ScriptFunction
from onnxsmith.scripting.functions.jit import Jit


def load_program(name: str) -> ModuleType:
    """Run a Python file, or import a module by its dotted name; what it raises comes through.

    A program that ends itself would end us, without a word: that is an error of its own.
    """
    try:
        return _loaded(name)
    except SystemExit as stop:
        ended = RuntimeError(
            f"{name} ends with sys.exit({stop.code!r}) when it is run; put that under if __name__ == '__main__':"
        )
        raise ended.with_traceback(stop.__traceback__) from None


def _loaded(name: str) -> ModuleType:
    path = Path(name)
    if (
        path.suffix != ".py"
        and not os.path.exists(path)
        and all(part.isidentifier() for part in name.split("."))
    ):
        sys.path.insert(0, os.getcwd())
        try:
            return importlib.import_module(name)
        except ModuleNotFoundError as error:
            if error.name is not None and (name == error.name or name.startswith(error.name + ".")):
                raise Usage(f"there is no module {name}") from None
            raise
    if not os.path.isfile(path):
        raise Usage(f"there is no file {name}")
    return _run_file(path)


def _run_file(path: Path) -> ModuleType:
    # The module's name is the domain of the functions in it; one that is taken would hide another module.
    stem = path.stem if path.stem.isidentifier() else "program"
    while stem in sys.modules:
        stem += "_"
    spec = importlib.util.spec_from_file_location(stem, path.resolve())
    if spec is None or spec.loader is None:
        raise Usage(f"{path} is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[stem] = module
    sys.path.insert(0, str(path.resolve().parent))
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[stem]
        raise
    return module


def scripts_of(module: ModuleType) -> Iterator[tuple[str, ScriptFunction]]:
    """The scripts that a module defines, by name, in the order of the source."""
    found: dict[int, tuple[str, ScriptFunction]] = {}
    for name, value in vars(module).items():
        if isinstance(value, ScriptFunction) and value.function.__module__ == module.__name__:
            found.setdefault(id(value), (name, value))
    yield from sorted(found.values(), key=lambda each: each[1].definition.line)


def find_object(module: ModuleType, dotted: str, file: str) -> Any:
    """The object that `file.py:dotted` names."""
    value: Any = module
    for part in dotted.split("."):
        if not hasattr(value, part):
            known = ", ".join(name for name, _ in scripts_of(module))
            raise Usage(f"{file} has no {dotted!r}" + (f"; its scripts are {known}" if known else ""))
        value = getattr(value, part)
    return value


def is_program(word: str) -> bool:
    """True if a word where a model is expected names something in a Python file: `file.py:name`, or the file alone."""
    return ".py" in word and (word.endswith(".py") or not os.path.exists(Path(word)))


def model_or_script(word: str) -> Model | ScriptFunction:
    """The object that `file.py:name` names; without a name the `model`, or the only script. The file is run."""
    file, name = taken_apart(word, "a script")
    module = load_program(file)
    found: Any = the_one(module, file) if name is None else find_object(module, name, file)
    found = found.script if isinstance(found, Jit) else found
    if not isinstance(found, Model | ScriptFunction):
        raise Usage(torch_advice(found, word) or f"{word} is neither a script nor a model")
    return found


def read_model(word: str) -> Model:
    """The model of a file, of standard input, or of a script in a Python file."""
    if not is_program(word):
        return load_model(word)
    found = model_or_script(word)
    return found if isinstance(found, Model) else found.to_model()


def the_one(module: ModuleType, file: str) -> Model | ScriptFunction:
    """The model of a module that calls one `model`, as decompiled modules do, or its only script."""
    model = vars(module).get("model")
    if isinstance(model, Model):
        return model
    found = list(scripts_of(module))
    if len(found) != 1:
        known = ", ".join(f"{file}:{name}" for name, _ in found)
        advice = (torch_advice(value, f"{file}:{name}") for name, value in vars(module).items())
        exported = next(filter(None, advice), None)
        nothing = f"{file} has no scripts" + (f"; {exported}" if exported else "")
        raise Usage(f"say which function: {known}" if known else nothing)
    return found[0][1]


def torch_advice(found: object, word: str) -> str | None:
    """The command that makes a model of what `word` names, if that is a module of PyTorch."""
    torch: Any = sys.modules.get("torch")  # whoever has a module has imported it; we need not
    if torch is None or not isinstance(found, torch.nn.Module | torch.export.ExportedProgram):
        return None
    return f"{word} is a PyTorch module: make a model of it with onnxsmith export {shlex.quote(word)}"


def taken_apart(text: str, what: str) -> tuple[str, str | None]:
    """File and name of `file.py:name`; a drive letter is part of the file. `what` is what the name is of."""
    file, separator, name = text.rpartition(":")
    if not separator or os.sep in name or name.endswith(".py"):
        return text, None
    if not name or not file:
        raise Usage(f"{what} is file.py:name, not {text!r}")
    return file, name
