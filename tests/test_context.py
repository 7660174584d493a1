"""Context variables that have a value for a block."""

from __future__ import annotations

from contextvars import ContextVar

import pytest

from onnxsmith.context import setting

_NUMBER: ContextVar[int] = ContextVar("number", default=0)


def test_the_value_of_before_comes_back() -> None:
    with setting(_NUMBER, 1) as inside:
        assert inside == _NUMBER.get() == 1
        with setting(_NUMBER, 2):
            assert _NUMBER.get() == 2
        assert _NUMBER.get() == 1
    assert _NUMBER.get() == 0


def test_it_comes_back_after_an_error() -> None:
    with pytest.raises(ZeroDivisionError), setting(_NUMBER, 1):
        raise ZeroDivisionError
    assert _NUMBER.get() == 0
