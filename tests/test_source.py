"""Places in the user's source, which are spans when they are read and cost little until then; trees of texts."""

from __future__ import annotations

import ast
from collections.abc import Callable

import pytest

from onnxsmith import FLOAT, script, trace
from onnxsmith import opset18 as op
from onnxsmith import source as places
from onnxsmith.graphs.value import SymbolicTensor
from onnxsmith.source import (
    STATEMENT,
    PlaceTexts,
    Span,
    caller_place,
    caller_span,
    parse,
    parse_expression,
    position_span,
    span_at,
)

MISMATCH = "AST constructor recursion depth mismatch (before=2, after=3)"


def test_a_place_is_the_span_that_it_was_taken_at() -> None:
    def chain(x: SymbolicTensor) -> SymbolicTensor:
        y = x + 1.0
        assert isinstance(y.place, tuple)
        code, instruction = y.place
        assert y.span == position_span(code, instruction, 0)
        assert y.span is not None
        assert places.text_of(y.span) == "x + 1.0"
        assert PlaceTexts().of(y.place) == y.span.stored
        return y

    trace(chain, FLOAT["N"])


def test_a_statement_that_is_set_is_the_place() -> None:
    span = Span("model.py", 3, 4, 3, 9)
    token = STATEMENT.set(span)
    try:
        assert caller_place() is caller_span() is span
    finally:
        STATEMENT.reset(token)
    assert span_at(span) is span
    assert span_at(None) is None


def test_the_texts_of_places_are_those_of_their_spans_in_any_order() -> None:
    code = compile("a = b(c,\n  d)\nx = y + z\n" * 3, "m.py", "exec")
    offsets = range(0, len(code.co_code), 2)
    expected = {each: position_span(code, each, code.co_firstlineno).stored for each in offsets}
    for order in (offsets, reversed(offsets), sorted(offsets, key=lambda each: each * 7 % 11)):
        texts = PlaceTexts()
        assert {each: texts.of((code, each)) for each in order} == expected
    assert PlaceTexts().of(Span("m.py", 1, 0, 1, 3)) == "m.py:1:1-1:4"


def test_the_positions_of_code_are_kept_up_to_a_size() -> None:
    cache = places._PositionsCache()
    texts = [f"x = a{k}\n" * 5_000 for k in range(60)]
    codes = [compile(text, "m.py", "exec") for text in texts]
    for code in codes:
        assert cache.of(code) == list(code.co_positions())
        held = sum(len(positions) for _, positions in cache._entries.values())
        assert held == cache._instructions <= cache._MOST_INSTRUCTIONS
    assert cache.of(codes[-1]) is cache.of(codes[-1])


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
