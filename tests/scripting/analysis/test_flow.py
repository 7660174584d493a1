"""What is live after each statement is what the kinds of statements say, also where they are not asked."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest

from onnxsmith import INT64, script
from onnxsmith.scripting.analysis import facts
from onnxsmith.scripting.analysis.facts import FactTable
from onnxsmith.scripting.analysis.flow import Flow
from tests.scripting import snippets

FILES = sorted(Path(inspect.getfile(snippets)).parent.glob("*.py"))


def functions() -> Iterator[tuple[str, Sequence[ast.stmt]]]:
    for file in FILES:
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.FunctionDef):
                yield f"{file.stem}:{node.name}", node.body


FUNCTIONS = dict(functions())


def live(body: Sequence[ast.stmt]) -> dict[int, frozenset[str]]:
    return Flow(body, FactTable(body))._live


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_call_is_live_as_its_kind_says(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    found = live(FUNCTIONS[name])
    monkeypatch.setattr(facts, "_call_of_names", lambda _: None)
    assert live(FUNCTIONS[name]) == found


def test_what_an_augmented_assignment_changes_is_live_before_it() -> None:
    body = ast.parse("while True:\n    w += 1\n    if w > 3:\n        break\n").body
    loop = body[0]
    assert isinstance(loop, ast.While)
    flow = Flow(body, FactTable(body))
    assert "w" not in flow.live_after(loop)
    assert "w" in flow.live_in_loop(loop)


def test_a_variable_that_only_counts_is_carried_through_a_loop() -> None:
    @script
    def counted(n: INT64) -> INT64:
        w = n - n
        total = n
        for _ in range(n):
            w += 1
            total = total + w
        return total

    assert counted.to_model()(np.array(4)) == 4 + 1 + 2 + 3 + 4
