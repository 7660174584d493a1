"""What blocks of operators compute is called as hooks in their code would call it."""

from __future__ import annotations

from typing import Any, cast

import pytest

from onnxsmith import FLOAT, INT64, script
from onnxsmith import opset18 as op
from onnxsmith.errors import OnnxsmithError
from onnxsmith.scripting.analysis import analyze, facts
from onnxsmith.scripting.functions.function import ScriptFunction
from onnxsmith.scripting.source.trees import Bounded
from onnxsmith.scripting.staging import frame
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
    monkeypatch.setattr(facts, "_call_of_names", lambda _: None)


@pytest.fixture
def from_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    """All functions are staged from their trees, which are analyzed anew."""
    monkeypatch.setattr(ScriptFunction, "straight_call", lambda _: None)
    monkeypatch.setattr(analyze, "_analyses", Bounded[int, Any](0))


@pytest.mark.usefixtures("from_tree")
def test_names_are_those_that_hooks_give(monkeypatch: pytest.MonkeyPatch) -> None:
    runs: list[str] = []
    real = frame._run_calls
    monkeypatch.setattr(frame, "_run_calls", lambda *given: runs.append("block") or real(*given))
    model = made_anew(branches, {}).to_model_proto()
    names = [node.output[0] for node in model.graph.node]
    assert names[:4] == ["y", "y_1", "split", "same"]
    assert runs
    runs.clear()
    monkeypatch.setattr(analyze, "_analyses", Bounded[int, Any](0))
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
    monkeypatch.setattr(analyze, "_analyses", Bounded[int, Any](0))
    as_hooked(monkeypatch)
    assert model() == without


@pytest.mark.usefixtures("from_tree")
def test_a_statement_that_fails_names_nothing_and_those_before_it_are_named() -> None:
    seen: list[str] = []
    real = frame.CallNaming.stop

    def stopped(self: Any, traceback: Any) -> None:
        real(self, traceback)
        seen.extend(each.outputs[0].name for each in self._scope.nodes)

    def fails(x: FLOAT["N"], k: INT64["N"]):
        a = op.Neg(x)
        b = op.Abs(a)
        c = unchecked.Add(b, k)
        return op.Add(c, x)

    def lacks(x: FLOAT["N"]):
        a = op.Neg(x)
        b = unchecked.NoSuchOperator(a)
        return op.Add(b, x)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(frame.CallNaming, "stop", stopped)
        with pytest.raises(OnnxsmithError):
            script(fails)
        assert seen == ["a", "b"]
        seen.clear()
        with pytest.raises(OnnxsmithError):
            script(lacks)
        assert seen == ["a"]
