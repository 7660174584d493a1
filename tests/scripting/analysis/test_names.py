"""The names that pieces of code bind and read, as Python's own scopes have them."""

from __future__ import annotations

import ast
from typing import Any

import pytest

from onnxsmith.scripting.analysis import names

BOUND = [
    ("a = b", "a"),
    ("a, (b, *c) = d", "a b c"),
    ("a.b = c[0] = d", ""),
    ("a: int = 1", "a"),
    ("a += 1", "a"),
    ("for a, b in c:\n    d = e\nelse:\n    f = g", "a b d f"),
    ("while (a := b):\n    c = d", "a c"),
    ("with a() as b, c() as (d, e):\n    f = g", "b d e f"),
    ("if a:\n    b = c\nelif d:\n    e = f\nelse:\n    g = h", "b e g"),
    ("try:\n    a = b\nexcept E as e:\n    c = d\nfinally:\n    f = g", "a e c f"),
    ("def f(a, b=(c := 1)):\n    d = a", "f"),
    ("class C(A):\n    b = 1", "C"),
    ("f = lambda a: (b := a)", "f"),
    ("a = [b for b in c]", "a"),
    ("a = [(b := c) for c in d if (e := c)]", "a b e"),
    ("import a, b.c, d as e", "a b e"),
    ("from a import b, c as d", "b d"),
    ("del a, b[0]", "a"),
    (
        "match a:\n  case [b, *c]:\n    d = e\n  case {1: f, **g}:\n    pass\n  case C(h) as i:\n    pass",
        "b c d f g i h",
    ),
]
READ = [
    ("a + b.c[d]", "a b d"),
    ("f(a, *b, c=d, **e)", "f a b d e"),
    ("lambda a, *b, c=d, **e: a + b + c + e + g", "d g"),
    ("lambda a=a, /, b=c, *, d=e: a + b + d", "a c e"),
    ("[a + b for a in c]", "c b"),
    ("[a + b for a in c if a > d for e in a if e > f]", "c d f b"),
    ("{a: b for a in c}", "c b"),
    ("{a: d for a, d in c}", "c"),
    ("{a for b in c}", "c a"),
    ("(lambda: a)() + [b for b in (lambda b: c)(d)][0]", "a c d"),
    ("def f(a, b=c, *, d=e):\n    g = a + h\n    return g + f", "c e h f"),
    ("@a\ndef f():\n    nonlocal b\n    b = c\n    return b", "a c b"),
    ("def f():\n    def g():\n        return a + b\n    b = c\n    return g", "a c"),
    ("del a", "a"),
    ("a = b", "b"),
    ("a += b", "b"),
]


@pytest.mark.parametrize(("source", "wanted"), BOUND)
def test_names_that_statements_bind(source: str, wanted: str) -> None:
    assert sorted(names.assigned_names(ast.parse(source).body)) == sorted(wanted.split())


@pytest.mark.parametrize(("source", "wanted"), READ)
def test_names_that_are_read_from_around(source: str, wanted: str) -> None:
    assert names.free_names(ast.parse(source).body[0]) == wanted.split()


def test_names_that_are_read_later() -> None:
    source = "a = b\nc = [lambda d: e for f in g]\ndef h(i=j):\n    return k\nl = (m for n in o)\np = [q for q in r]"
    assert names.deferred_names(ast.parse(source).body) == {"e", "j", "k", "m", "o"}


def function(source: str) -> Any:
    return ast.parse(source).body[0]


NESTED = """def f(a, /, b, *c, d, **e):
    nonlocal g
    def h(i):
        nonlocal j, k
        def l():
            nonlocal i, m
            yield n
        def o():
            nonlocal p, i
        j = p = 1
    def q():
        nonlocal r
        yield 1
    s = lambda: (yield)
"""


def test_a_function_with_functions_inside() -> None:
    outer = function(NESTED)
    assert names.parameter_names(outer.args) == ["a", "b", "c", "d", "e"]
    assert names.declared_nonlocal(outer) == {"g"}
    assert names.assigned_from_inside(outer) == {"j", "k"}
    assert [names.is_generator(each) for each in (outer, *outer.body[1:3])] == [False, False, True]
    assert not any(isinstance(each, ast.Yield) for each in names.own_nodes(outer))


def test_names_that_a_pattern_reads() -> None:
    (statement,) = ast.parse("match x:\n    case C(a.b, d=[E(), *f]) | 3:\n        pass").body
    assert isinstance(statement, ast.Match)
    assert set(names.pattern_reads(statement.cases[0].pattern)) == {"C", "E", "a"}
