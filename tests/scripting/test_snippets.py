"""Every snippet runs four ways with one result, or is refused with an error that points at its line."""

from __future__ import annotations

import importlib
import importlib.util
import linecache
import pkgutil
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from onnxsmith import script
from onnxsmith.errors import OnnxsmithError
from onnxsmith.scripting.functions.function import ScriptFunction
from onnxsmith.types.value_types import OptionalType, TensorType
from tests.scripting import golden, snippets
from tests.scripting.corpus import Snippet, snippets_of
from tests.scripting.four_ways import (
    EAGER,
    PLAIN,
    REFERENCE,
    RUNTIME,
    assert_same,
    compile_and_check,
    flat,
    run_eagerly,
    run_plain,
    run_reference,
    run_runtime,
)

#: Snippets with objects of a package that is not everywhere: the oldest dependencies and other Pythons do without.
_NEEDED = {"torch_state": "torch"}
_MODULES = [
    importlib.import_module(f"tests.scripting.snippets.{each.name}")
    for each in pkgutil.iter_modules(snippets.__path__)
    if each.name not in _NEEDED or importlib.util.find_spec(_NEEDED[each.name])
]
SNIPPETS = {name: found for module in _MODULES for name, found in snippets_of(module).items()}
RUN = [name for name, (_, snippet) in SNIPPETS.items() if snippet.error is None]
REFUSED = [name for name, (_, snippet) in SNIPPETS.items() if snippet.error is not None]


def make(function: Any, snippet: Snippet) -> ScriptFunction:
    """The script of a snippet; some are scripts already."""
    return function if isinstance(function, ScriptFunction) else script(**snippet.options)(function)


def model_options(made: ScriptFunction, snippet: Snippet, inputs: tuple[Any, ...]) -> dict[str, Any]:
    """What `to_model` is given: the snippet's own options, and the types of its examples."""
    types = {} if "io_types" in snippet.model_options else {"input_types": example_types(made, inputs)}
    return {**types, **snippet.model_options}


def example_types(made: ScriptFunction, inputs: tuple[Any, ...]) -> dict[str, Any]:
    """Arguments stand for the types of parameters that have none, and for optional ones."""
    parameters = made.parameters.inputs
    types: dict[str, Any] = {}
    for parameter, value in zip(parameters, inputs, strict=False):
        is_open = isinstance(parameter.type, TensorType) and parameter.type.dtype is None
        if value is not None and (is_open or parameter.has_default):
            types[parameter.name] = value if is_open else _required(parameter.type)
    return types


def _required(kind: Any) -> Any:
    return kind.element if isinstance(kind, OptionalType) else kind


#: The models of snippets and the errors of those that are refused. `--update-golden` writes both files, of a whole run
#: in one process (`-n 0`); the change is reviewed as a diff.
MODELS, ERRORS = Path(__file__).with_name("models.txt"), Path(__file__).with_name("refusals.txt")


@cache
def _kept(path: Path) -> dict[str, str]:
    return golden.read(path.read_text() if path.exists() else "")


def _compare(path: Path, name: str, text: str, *, update: bool) -> None:
    if update:
        _kept(path)[name] = text
        path.write_text(golden.written(_kept(path)))
    assert text == _kept(path).get(name)


@pytest.mark.parametrize("name", RUN)
def test_runs(name: str, update_golden: bool) -> None:
    function, snippet = SNIPPETS[name]
    assert snippet.runs, f"{name} has neither a run nor an error"
    made = make(function, snippet)
    returns = made.parameters.returns
    for number, (inputs, attributes) in enumerate(snippet.runs):
        results: dict[str, list[Any]] = {}
        if "plain" not in snippet.skips:
            results[PLAIN] = flat(run_plain(made, inputs, attributes), returns)
        if "eager" not in snippet.skips:
            results[EAGER] = flat(run_eagerly(made, inputs, attributes), returns)
        proto = compile_and_check(made, attributes, **model_options(made, snippet, inputs))
        if number == 0:
            _compare(MODELS, name, golden.model_text(proto), update=update_golden)
        if "runtime" not in snippet.skips:
            results[RUNTIME] = run_runtime(proto, inputs)
        if "reference" not in snippet.skips:
            results[REFERENCE] = run_reference(proto, inputs)
        first = next(iter(results), "")
        for way, actual in results.items():
            assert_same(results[first], actual, f"{way} against {first}", is_close=snippet.is_close)


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str, update_golden: bool) -> None:
    function, snippet = SNIPPETS[name]
    with pytest.raises(OnnxsmithError) as caught:  # noqa: PT012  # decorating or compiling may find it
        made = make(function, snippet)
        inputs, attributes = snippet.runs[0] if snippet.runs else ((), {})
        compile_and_check(made, attributes, **model_options(made, snippet, inputs))
    error = caught.value
    assert type(error) is snippet.error, f"{type(error).__name__}: {error}"
    assert snippet.text in str(error), str(error)
    _compare(ERRORS, name, golden.error_text(error), update=update_golden)
    span = error.span
    assert span is not None, f"the error points nowhere: {error}"
    assert span.file == function.__code__.co_filename, str(error)
    marked = _marked_lines(function)
    assert not marked or span.line in marked, f"{error}\npoints at line {span.line}, not at {marked}"


def _marked_lines(function: Any) -> list[int]:
    code = function.__code__
    last = max((line for _, _, line in code.co_lines() if line is not None), default=code.co_firstlineno)
    lines = range(code.co_firstlineno, last + 1)
    return [
        number for number in lines if linecache.getline(code.co_filename, number).rstrip().endswith("# here")
    ]
