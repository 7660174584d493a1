"""The order of a function's statements, against walks over the tree."""

from __future__ import annotations

import ast

import pytest

from onnxsmith.scripting.analysis.statement_order import StatementOrder, statements_in, stores

SOURCE = """
    a = 1
    for i in x:
        b = 2; c = 3
        while y:
            w[0] = 1
            if z:
                d = 4
            else:
                with e:
                    pass
        else:
            f()
    match g:
        case 1:
            h = 5
        case _:
            h += 6
    try:
        k = 7
    except E:
        k = 8
    else:
        k = 9
    finally:
        def inner():
            m = [n for n in o]
    return a
"""
FUNCTION = ast.parse("def f():" + SOURCE).body[0]
assert isinstance(FUNCTION, ast.FunctionDef)
BODY = FUNCTION.body
ORDER = StatementOrder(BODY)


def walked(*tops: ast.AST) -> list[ast.stmt]:
    return [each for top in tops for each in ast.walk(top) if isinstance(each, ast.stmt)]


def test_every_statement_is_there_once_in_the_order_of_the_source() -> None:
    assert list(statements_in(BODY)) == list(ORDER.all())
    assert sorted(map(id, ORDER.all())) == sorted(map(id, walked(*BODY)))
    places = [(each.lineno, each.col_offset) for each in ORDER.all()]
    assert places == sorted(places)


@pytest.mark.parametrize("number", range(len(ORDER.all())))
def test_each_statement_knows_its_surroundings(number: int) -> None:
    statement = ORDER.all()[number]
    assert set(map(id, ORDER.inside(statement))) == set(map(id, walked(statement)))
    loops = [each for each in ORDER.all() if isinstance(each, ast.For | ast.While)]
    around = [each for each in loops if any(inner is statement for inner in ast.walk(each))]
    assert ORDER.outermost_loop(statement) is (around[0] if around else statement)
    line = statement.lineno
    later = [each for each in walked(*BODY) if each.lineno >= line]
    assert set(map(id, ORDER.since(line))) == set(map(id, later))
    assert ORDER.stores_since(line) == any(map(stores, later))


def test_a_statement_that_was_made_is_walked() -> None:
    made = ast.If(ast.Constant(True), [ast.Pass()], [])
    assert list(ORDER.inside(made)) == [made, made.body[0]]
