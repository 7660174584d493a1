"""The law of kinds: an error says what a value is in the words of users, never by a class that they cannot know."""

from __future__ import annotations

import functools
import linecache
import re
import sys
import warnings
from types import ModuleType
from typing import Any

import onnxsmith
import onnxsmith.sklearn
from onnxsmith import errors, training
from tests.errors import catalogue
from tests.errors.mistakes import mistake

#: How many programs the suite tries; `python -m tests.errors.test_kinds 0 5000` tries more.
_TRIED = 100


@functools.cache
def private_names() -> frozenset[str]:
    """The names of this package's classes that nobody can import from its top; words of English are left out."""
    for seed in range(8):
        raised(seed)  # whoever makes models has loaded what the classes are in
    modules = [each for name, each in sys.modules.items() if name.partition(".")[0] == "onnxsmith"]
    kinds = {
        each.__qualname__.rpartition(".")[2]
        for module in modules
        if isinstance(module, ModuleType)
        for each in vars(module).values()
        if isinstance(each, type) and each.__module__.partition(".")[0] == "onnxsmith"
    }
    public = {*dir(onnxsmith), *vars(errors), *dir(training), *dir(onnxsmith.sklearn)}
    return frozenset(each for each in kinds - public if re.search("[a-z][A-Z]", each) or each.startswith("_"))


def names_in(text: str) -> set[str]:
    """The private classes that a text names."""
    return set(re.findall(r"\w+", text)) & private_names()


def raised(seed: int) -> BaseException | None:
    """What making a model of a program with a mistake raises."""
    source, file = mistake(seed), f"<mistake {seed}>"
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    namespace: dict[str, Any] = {"__name__": "mistakes"}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exec(compile(source, file, "exec"), namespace)
            namespace["program"].to_model_proto()
    except Exception as error:
        return error
    return None


def test_private_names_are_found() -> None:
    assert {"StagedClosure", "SymbolicTensor", "SymbolicSequence", "_InPlace"} <= private_names()


def test_no_text_of_the_catalogue_names_a_class_of_ours() -> None:
    assert {case.name: found for case in catalogue.read_cases() if (found := names_in(case.expected))} == {}


def test_no_mistake_is_told_by_a_class_of_ours() -> None:
    wrong = {seed: str(error) for seed in range(_TRIED) if (error := raised(seed)) and names_in(str(error))}
    assert wrong == {}


if __name__ == "__main__":
    first, last = int(sys.argv[1]), int(sys.argv[2])
    count = 0
    for each in range(first, last):
        told = raised(each)
        if told is not None and names_in(str(told)):
            count += 1
            print(each, str(told).splitlines()[0], flush=True)
    print(f"{count} of {last - first} name a class of ours")
