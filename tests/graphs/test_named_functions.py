"""When two functions are the same: by their nodes and not by names; and which names a called model keeps."""

from __future__ import annotations

import onnx_ir as ir
from onnx import parser

from onnxsmith.graphs.identity import ISOMORPHIC
from onnxsmith.graphs.named_functions import is_same

_TEXT = """
<domain: "onnxsmith.test", opset_import: ["" : 21, "other" : 1]>
f (x, y) => (z) {
    %s
}
"""


def _function(body: str, versions: str = "21") -> ir.Function:
    text = _TEXT.replace(": 21", f": {versions}") % body
    return ir.from_proto(parser.parse_function(text))


BODY = "a = Add(x, y) c = Constant <value_floats = [1.0, 0.0]> () z = Mul(a, c)"


def test_names_of_values_do_not_matter():
    other = "first = Add(x, y) k = Constant <value_floats = [1.0, 0.0]> () z = Mul(first, k)"
    assert is_same(_function(BODY), _function(other))


def test_what_matters():
    mine = ISOMORPHIC.function(_function(BODY))
    for old, new in (
        ("Add(x, y)", "Add(y, x)"),
        ("Add", "Sub"),
        ("0.0", "-0.0"),
        ("1.0, 0.0", "1.0"),
        ("Mul(a, c)", "Mul(c, a)"),
    ):
        assert ISOMORPHIC.function(_function(BODY.replace(old, new))) != mine


def test_versions_in_which_the_operators_are_the_same():
    assert is_same(_function(BODY, "14"), _function(BODY, "18"))
    assert not is_same(_function(BODY, "6"), _function(BODY, "14"))


def test_bodies_inside():
    text = """
    z = If (x) <then_branch = g () => (q) { q = %s(y, y) }, else_branch = h () => (r) { r = Identity(y) }>
    """
    assert is_same(_function(text % "Add"), _function(text % "Add"))
    assert not is_same(_function(text % "Add"), _function(text % "Mul"))


def test_calls_of_other_functions():
    assert not is_same(_function("z = other.f(x)"), _function("z = other.g(x)"))
