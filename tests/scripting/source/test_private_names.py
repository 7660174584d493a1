"""Private names of classes mean in models, helpers and debuggers what they mean in Python."""

from __future__ import annotations

import ast
import types
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import onnxsmith
from onnxsmith import FLOAT, script
from onnxsmith.scripting.source.function_source import inner_code
from onnxsmith.scripting.source.private_names import has_private_names, mangle_private_names

X = np.arange(3, dtype=np.float32)

#: Every way to write a name.
ALL_NAMES = """
class _K(Base.__of_module):
    def f(self, __a, /, __b, *__c, __d=1, **__e):
        g(__keyword=__a, **__e)
        import x as __n
        from p import __q
        global __g
        __g = self.__w.__call__(__init__, ___, _one, __w_, __w__)
        try:
            pass
        except Error as __error:
            pass
        match self:
            case C(__attribute=1, y=__y):
                pass
            case {"k": 1, **__rest}:
                pass
            case [__first, *__others]:
                pass
        with a as __opened:
            pass
        for __i in range(3):
            self.__z = f"{__i}"
        def __inner(__p=__i):
            nonlocal __y
            __y = __p
            return lambda __u: __u + __y
        class __Inner:
            def in_class(self, __v):
                return __v + self.__w
        del __i
        return [__j for __j in __inner(1)], (__new := 2), __Inner

    class __D:
        def g(self):
            return self.__w

class __:
    def h(self):
        return self.__w

def outside():
    return __w.__v
"""


def _functions(node: ast.AST) -> Iterator[ast.FunctionDef]:
    """The functions that are in no other function."""
    for each in ast.iter_child_nodes(node):
        if isinstance(each, ast.FunctionDef):
            yield each
        else:
            yield from _functions(each)


def _names(code: types.CodeType) -> list[Any]:
    own = code.co_names, code.co_varnames, code.co_cellvars, code.co_freevars
    return [own, *(_names(each) for each in code.co_consts if isinstance(each, types.CodeType))]


def test_names_are_those_that_python_compiles() -> None:
    python = {each.co_name: each for each in inner_code(compile(ALL_NAMES, "file", "exec"))}
    tree = ast.parse(ALL_NAMES)
    mangle_private_names(tree)
    found = list(_functions(tree))
    assert [each.name for each in found] == ["f", "g", "h", "outside"]
    for each in found:
        (code,) = (
            inner
            for inner in compile(ast.Module([each], []), "file", "exec").co_consts
            if isinstance(inner, types.CodeType)
        )
        assert _names(code) == _names(python[each.name])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("class K:\n    __w = 1", True),
        ("class K:\n    a = __w_", True),
        ("class K:\n    def __init__(self): _a, a__b, __, ___", False),
        ("__w = 1", False),
    ],
)
def test_files_without_private_names_are_not_looked_through(text: str, expected: bool) -> None:
    assert has_private_names(text) is expected


class Scaled:
    def __init__(self) -> None:
        self.__w = 2.0
        self.w = self.__w

    @script
    def go(self, __x: FLOAT["N"]):
        __y = __x * self.__w
        if __y.sum() > 0.0:
            __y = __y + 1.0
        return __y

    @script
    def __private(self, x: FLOAT["N"]):
        return x * self.__w

    @script
    def calls_private(self, x: FLOAT["N"]):
        def __inner(y: Any) -> Any:
            return self.__private(y) + self.__w

        return __inner(x)

    def helper(self, x: Any) -> Any:
        __t = x + self.__w
        __t += 1.0
        return __t


SCALED = Scaled()


@script
def uses_a_helper(x: FLOAT["N"]):
    y = SCALED.helper(x)
    return y if y.sum() > 0.0 else x


RUNS = pytest.mark.parametrize(
    ("function", "expected"),
    [(SCALED.go, X * 2 + 1), (SCALED.calls_private, X * 2 + 2), (uses_a_helper, X + 3)],
    ids=["parameter", "inner", "helper"],
)


@RUNS
def test_private_names_in_all_runs(function: Any, expected: Any) -> None:
    for run in (function, onnxsmith.jit(function), function.to_model()):
        np.testing.assert_array_equal(run(X), expected)
