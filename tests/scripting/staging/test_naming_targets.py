"""What blocks of operators compute is called as hooks in their code would call it."""

from __future__ import annotations

import sys
import traceback
from typing import Any, cast

import numpy as np
import pytest

from onnxsmith import FLOAT, INT64, script
from onnxsmith import opset18 as op
from onnxsmith.core.call_cache import CallCache
from onnxsmith.errors import OnnxsmithError
from onnxsmith.graphs.builder import GraphTarget
from onnxsmith.scripting.analysis import analyze, expressions, facts
from onnxsmith.scripting.functions.function import ScriptFunction
from onnxsmith.scripting.staging.frame import Frame
from tests.scripting.test_snippets import RUN, SNIPPETS, make, model_options

#: Type checkers would find the mistakes, too.
unchecked: Any = op


def branches(x: FLOAT["N"], k: INT64, z: FLOAT):
    y = op.Add(x, 1.0)
    y = op.Mul(y, 2)
    first = op.Split(y, num_outputs=2)
    same = op.Identity(y)
    if k > 1:
        y = op.Clip(y, 0.0)
        y = op.Add(y, z)
    add = op.Add(y, same)
    y = op.Add(add, y)
    return y, first[0]


def made_anew(function: Any, options: dict[str, Any]) -> ScriptFunction:
    if isinstance(function, ScriptFunction):  # its options are those of the class, not of the decorator
        return ScriptFunction(function.function, **options)
    return cast(Any, script(**options))(function)


def as_hooked(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (facts, expressions):
        monkeypatch.setattr(module, "call_reads", lambda _: None)


@pytest.fixture
def from_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    """All functions are staged from their trees, which are analyzed anew."""
    monkeypatch.setattr(ScriptFunction, "straight_call", lambda _: None)
    monkeypatch.setattr(analyze, "_analyses", CallCache[Any](0))


@pytest.mark.usefixtures("from_tree")
def test_names_are_those_that_hooks_give(monkeypatch: pytest.MonkeyPatch) -> None:
    runs: list[str] = []
    real = Frame._called
    monkeypatch.setattr(Frame, "_called", lambda *given: runs.append("call") or real(*given))
    model = made_anew(branches, {}).to_model_proto()
    names = [node.output[0] for node in model.graph.node]
    assert names[:4] == ["y", "y_1", "split", "same"]
    assert runs
    runs.clear()
    monkeypatch.setattr(analyze, "_analyses", CallCache[Any](0))
    as_hooked(monkeypatch)
    assert made_anew(branches, {}).to_model_proto() == model
    assert not runs


@pytest.mark.usefixtures("from_tree")
@pytest.mark.parametrize("name", [each for each in RUN if not each.startswith("sources.")])
def test_every_snippet_is_the_same_with_hooks(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    function, snippet = SNIPPETS[name]
    inputs, attributes = snippet.runs[0]
    if getattr(function, "instance", None) is not None:
        return

    def model() -> Any:
        made = made_anew(function, getattr(function, "options", snippet.options))
        return made.to_model_proto(
            **model_options(make(function, snippet), snippet, inputs), attributes=attributes
        )

    without = model()
    monkeypatch.setattr(analyze, "_analyses", CallCache[Any](0))
    as_hooked(monkeypatch)
    assert model() == without


def fails(x: FLOAT["N"], k: INT64["N"]):
    a = op.Neg(x)
    b = op.Abs(a)
    c = unchecked.Add(b, k)
    return op.Add(c, x)


def lacks(x: FLOAT["N"]):
    a = op.Neg(x)
    b = unchecked.NoSuchOperator(a)
    return op.Add(b, x)


def asks_wrongly(x: FLOAT["N"]):
    if unchecked.Greater(x):
        x = op.Neg(x)
    return x


def error_of(function: Any) -> OnnxsmithError:
    with pytest.raises(OnnxsmithError) as caught:
        script(function)
    return caught.value


@pytest.mark.usefixtures("from_tree")
@pytest.mark.parametrize(("function", "named"), [(fails, ["a", "b"]), (lacks, ["a"]), (asks_wrongly, [])])
def test_a_call_that_fails_names_nothing_and_is_refused_as_its_code_is(
    function: Any, named: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []
    real = GraphTarget.suggest_name
    monkeypatch.setattr(
        GraphTarget, "suggest_name", lambda self, value, wish: seen.append(wish) or real(self, value, wish)
    )
    direct = error_of(function)
    assert seen == named
    monkeypatch.setattr(analyze, "_analyses", CallCache[Any](0))
    as_hooked(monkeypatch)
    hooked = error_of(function)
    assert (type(direct), str(direct), direct.span) == (type(hooked), str(hooked), hooked.span)
    assert [frame.name for frame in traceback.extract_tb(direct.__traceback__)] == [
        frame.name for frame in traceback.extract_tb(hooked.__traceback__)
    ]


@pytest.mark.usefixtures("from_tree")
def test_the_lines_of_calls_are_seen_by_who_follows_them() -> None:
    seen: set[int] = set()

    def follow(frame: Any, event: str, _: object) -> Any:
        if frame.f_code.co_filename == __file__ and event == "line":
            seen.add(frame.f_lineno)
        return follow

    outer = sys.gettrace()
    sys.settrace(follow)
    try:
        made_anew(branches, {})
    finally:
        sys.settrace(outer)
    first = branches.__code__.co_firstlineno
    assert seen >= {first + 1, first + 4, first + 6, first + 7, first + 9}


@pytest.mark.usefixtures("from_tree")
def test_one_output_of_many_is_one_wherever_the_script_is_made() -> None:
    """How many variables the code around takes the script apart into is not how many outputs a call in it has."""

    @script
    def pooled(x: FLOAT["N", 1, "H"], n: INT64):
        first = x
        for _ in range(n):
            first = op.Dropout(x)
            x = op.Abs(first)
        return x, first

    array = -np.ones((1, 1, 2), np.float32)
    x, first = pooled.jit(array, np.array(1))
    assert np.array_equal(x, -array)
    assert np.array_equal(first, array)
