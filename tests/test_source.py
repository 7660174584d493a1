"""Places in the user's source, and the syntax trees of texts."""

from __future__ import annotations

import ast
from collections.abc import Callable

import pytest

from onnxsmith import FLOAT, script
from onnxsmith import opset18 as op
from onnxsmith.source import parse, parse_expression

MISMATCH = "AST constructor recursion depth mismatch (before=2, after=3)"


@pytest.fixture
def fail_once(monkeypatch: pytest.MonkeyPatch) -> Callable[[Exception], list[str]]:
    """Lets the next parse fail, and returns a list that gets the texts."""

    def install(error: Exception) -> list[str]:
        really, texts = ast.parse, []

        def failing(text: str, *args: object, **kwargs: object) -> ast.AST:
            texts.append(text)
            if len(texts) == 1:
                raise error
            return really(text, *args, **kwargs)

        monkeypatch.setattr(ast, "parse", failing)
        return texts

    return install


@pytest.mark.parametrize("parser", [parse, parse_expression])
def test_a_parse_that_a_garbage_collection_spoiled_is_made_again(parser, fail_once) -> None:
    texts = fail_once(SystemError(MISMATCH))
    assert "'x'" in ast.dump(parser("x + 1"))
    assert texts == ["x + 1"] * 2


@pytest.mark.parametrize("parser", [parse, parse_expression])
def test_other_failures_are_the_callers(parser, fail_once) -> None:
    texts = fail_once(SyntaxError("no"))
    with pytest.raises(SyntaxError):
        parser("x + 1")
    assert texts == ["x + 1"]


def test_a_script_is_read_though_a_parse_was_spoiled(fail_once) -> None:
    def branching(x: FLOAT["N"]):
        return op.Neg(x) if op.ReduceMax(x) > 1.0 else x

    texts = fail_once(SystemError(MISMATCH))
    assert [node.op_type for node in script()(branching).to_model_proto().graph.node][-1] == "If"
    assert len(texts) > 1
