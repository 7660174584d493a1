"""A `match` on numbers, `match n: case 1: …`, as the `if` statements that it means: a tensor may decide those.

Only where every pattern is a number, several of them, or the wildcard, and the subject is a variable. All others stay:
Python decides them when the model is made.
"""

from __future__ import annotations

import ast
import copy

from onnxsmith.scripting.analysis.statement_order import statements_in


def with_branches(body: list[ast.stmt]) -> list[ast.stmt]:
    """The statements of a function, with `if` statements in the place of such `match` statements."""
    if not any(isinstance(each, ast.Match) for each in statements_in(body)):
        return body
    module = ast.Module(copy.deepcopy(body), [])  # the tree itself is compared with the function's code
    _Rewriter().generic_visit(module)
    return module.body


class _Rewriter(ast.NodeTransformer):
    def visit_Match(self, node: ast.Match) -> ast.stmt:
        self.generic_visit(node)
        subject = node.subject
        if not isinstance(subject, ast.Name) or not node.cases:
            return node
        tests = [_test(subject, each) for each in node.cases]
        known = [each for each in tests if each is not None]
        if len(known) < len(tests):
            return node
        rest: list[ast.stmt] = []
        for test, case in zip(reversed(known), reversed(node.cases), strict=True):
            if isinstance(test, ast.Constant):  # the wildcard, which is the last
                rest = case.body
                continue
            rest = [ast.copy_location(ast.If(test, case.body, rest), test)]
        if not rest or not isinstance(rest[0], ast.If):
            return node
        return ast.copy_location(rest[0], node)


def _test(subject: ast.Name, case: ast.match_case) -> ast.expr | None:
    """The condition of a case; None for what is no comparison with numbers."""
    match case.pattern:
        case ast.MatchAs(pattern=None, name=None) as pattern:
            return case.guard or ast.copy_location(ast.Constant(True), pattern)
        case pattern:
            test = _comparison(subject, pattern)
    if test is None or case.guard is None:
        return test
    return ast.copy_location(ast.BoolOp(ast.And(), [test, case.guard]), case.guard)


def _comparison(subject: ast.Name, pattern: ast.pattern) -> ast.expr | None:
    match pattern:
        case ast.MatchValue(value=value) if _is_number(value):
            name = ast.copy_location(ast.Name(subject.id, ast.Load()), pattern)
            return ast.copy_location(ast.Compare(name, [ast.Eq()], [value]), pattern)
        case ast.MatchOr(patterns=patterns):
            tests = [_comparison(subject, each) for each in patterns]
            known = [each for each in tests if each is not None]
            return (
                ast.copy_location(ast.BoolOp(ast.Or(), [*known]), pattern)
                if len(known) == len(tests)
                else None
            )
        case _:
            return None


def _is_number(value: ast.expr) -> bool:
    match value:
        case ast.Constant(value=int() | float()) | ast.UnaryOp(op=ast.USub(), operand=ast.Constant()):
            return True
        case _:
            return False
