"""Names in code: which variables and attributes code may read, as its code object shows it."""

from __future__ import annotations

import builtins
import copy
import dataclasses
import importlib
import operator
from typing import Any

import numpy as np
import pytest

from onnxsmith import FLOAT, script
from onnxsmith.errors import LastingChangeError
from onnxsmith.scripting.staging import code_names as code_names_module
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
    monkeypatch.setattr(code_names_module, "_code_names", {})
    monkeypatch.setattr(code_names_module, "_CODE_LIMIT", 2)
    codes = [compile(f"x{k}", "file", "eval") for k in range(3)]
    assert [code_names(each) for each in codes] == [{f"x{k}"} for k in range(3)]
    assert len(code_names_module._code_names) == 1
    assert code_names(codes[2]) is code_names(codes[2])


def module(x: FLOAT["N"]):
    import random

    return x * random.random()


def name_of_a_module(x: FLOAT["N"]):
    from random import random as draw

    return x * draw()


def part_of_a_package(x: FLOAT["N"]):
    import numpy

    return x * numpy.float32(numpy.random.rand())  # noqa: NPY002  # the state that is meant is the global one


def helper(x):
    import random

    return x * random.random()


def in_a_helper(x: FLOAT["N"]):
    return helper(x)


@pytest.mark.parametrize("function", [module, name_of_a_module, part_of_a_package, in_a_helper])
def test_random_numbers_are_not_baked_in(function) -> None:
    with pytest.raises(LastingChangeError, match="draws random numbers"):
        script(function)


def test_imports_without_state_work() -> None:
    @script
    def scaled(x: FLOAT["N"]):
        import math
        from collections import OrderedDict

        sizes = OrderedDict(root=math.sqrt(4.0))
        return x * sizes["root"]

    x = np.ones(2, np.float32)
    np.testing.assert_array_equal(scaled(x), x * 2)
    np.testing.assert_array_equal(scaled.to_model()(x), x * 2)
