"""Names in code: which variables and attributes code may read, as its code object shows it."""

from __future__ import annotations

import builtins
import copy
import dataclasses
import importlib
import operator
from typing import Any

import pytest

from onnxsmith.scripting.staging import code_names as module
from onnxsmith.scripting.staging.code_names import BY_TEXT, code_names

HOLDERS: tuple[Any, ...] = (builtins, object, copy, dataclasses, importlib, operator, type)


@pytest.mark.parametrize("name", sorted(BY_TEXT))
def test_what_reaches_attributes_by_text_is_a_name_of_python(name: str) -> None:
    assert any(hasattr(each, name) for each in HOLDERS)


def test_everything_that_reaches_attributes_by_text_is_there() -> None:
    reaching = [getattr, hasattr, setattr, delattr, vars, dir, globals, eval, exec, __import__]
    reaching += (
        [copy.copy, copy.deepcopy, copy.replace] if hasattr(copy, "replace") else [copy.copy, copy.deepcopy]
    )
    reaching += [dataclasses.replace, dataclasses.asdict, dataclasses.astuple, importlib.import_module]
    named = {each.__name__ for each in reaching} | {"attrgetter", "methodcaller"}
    assert named | {"__dict__", "__getattribute__", "__setattr__"} == BY_TEXT


def outer(a: Any) -> Any:
    def inner() -> Any:
        return [a.deep.deeper for _ in dataclasses.fields(a)]

    return inner, missing  # it is only named  # pyright: ignore[reportUndefinedVariable]


def test_code_and_the_functions_inside_it() -> None:
    assert code_names(outer.__code__) >= {"missing", "deep", "deeper", "dataclasses", "fields", "a"}
    assert "inner" not in code_names(outer.__code__)


def test_the_cache_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_code_names", {})
    monkeypatch.setattr(module, "_CODE_LIMIT", 2)
    codes = [compile(f"x{k}", "file", "eval") for k in range(3)]
    assert [code_names(each) for each in codes] == [{f"x{k}"} for k in range(3)]
    assert len(module._code_names) == 1
    assert code_names(codes[2]) is code_names(codes[2])
