"""Places in the user's code are spans when they are read, and cost little until then."""

from __future__ import annotations

from onnxsmith import FLOAT, trace
from onnxsmith import source as places
from onnxsmith.graphs.value import SymbolicTensor
from onnxsmith.source import STATEMENT, Span, caller_place, caller_span, position_span, span_at


def test_a_place_is_the_span_that_it_was_taken_at() -> None:
    def chain(x: SymbolicTensor) -> SymbolicTensor:
        y = x + 1.0
        assert isinstance(y.place, tuple)
        code, instruction = y.place
        assert y.span == position_span(code, instruction, 0)
        assert y.span is not None
        assert places.text_of(y.span) == "x + 1.0"
        assert places.stored_at(y.place) == y.span.stored
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


def test_the_positions_of_code_are_kept_up_to_a_size() -> None:
    cache = places._PositionsCache()
    texts = [f"x = a{k}\n" * 5_000 for k in range(60)]
    codes = [compile(text, "m.py", "exec") for text in texts]
    for code in codes:
        assert cache.of(code) == list(code.co_positions())
        held = sum(len(positions) for _, positions in cache._entries.values())
        assert held == cache._instructions <= cache._MOST_INSTRUCTIONS
    assert cache.of(codes[-1]) is cache.of(codes[-1])
