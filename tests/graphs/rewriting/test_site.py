"""What is known around a node: values that a runtime may work out before any run."""

from __future__ import annotations

from onnx import parser

from onnxsmith.graphs.rewriting.rewrite import rewrite
from onnxsmith.graphs.rewriting.site import Site

MODEL = """
<ir_version: 10, opset_import: ["" : 21, "own" : 1]>
g (float[3] x, float[N] y, bool c) => (float[N] z)
<float[2] w = {1, 2}>
{
    held = Identity(w)
    later = Identity(x)
    known_shape = Shape(x)
    open_shape = Shape(y)
    mixed = Add(held, x)
    chosen = If (c) < then_branch = t () => (float[M] p) { p = Identity(w) },
                      else_branch = e () => (float[M] q) { q = Neg(w) } >
    always = Constant <value = bool {1}> ()
    folded = If (always) < then_branch = t2 () => (float[M] p2) { p2 = Identity(w) },
                           else_branch = e2 () => (float[M] q2) { q2 = Neg(w) } >
    turns = Constant <value = int64 {1}> ()
    looped = Loop (turns, , w) < body = b (int64 i, bool on, float[K] v) => (bool still, float[K] u)
                                 { still = Identity(on)  u = Identity(v) } >
    z = own.F(held, x)
}
<opset_import: ["" : 21], domain: "own">
F (a, b) => (r) { fixed = Neg(a)  varied = Neg(b)  r = Add(fixed, varied) }
"""
FIXED = {
    "w": True,
    "x": False,
    "c": False,
    "held": True,
    "later": False,
    "mixed": False,
    "a": True,
    "b": False,
}
FIXED |= {
    "known_shape": True,
    "open_shape": False,
    "chosen": False,
    "looped": False,
    "on": False,
    "folded": True,
}


def test_what_follows_from_constants() -> None:
    found: dict[str, bool] = {}

    def look(site: Site) -> list[tuple[str, str]]:
        for name in (*site.node.input, *site.node.output):
            found.setdefault(name, site.scope.may_be_fixed(name))
        return []

    operators = ("Identity", "Shape", "Add", "If", "Loop", "Neg")
    rewrite(parser.parse_model(MODEL), {("", operator): look for operator in operators})
    assert {name: found[name] for name in FIXED} == FIXED


def test_a_long_chain_takes_no_stack() -> None:
    depth = 20_000
    chain = " ".join(f"n{k} = Neg({'w' if k == 0 else f'n{k - 1}'})" for k in range(depth))
    text = '<ir_version: 10, opset_import: ["" : 21]> g () => (float[2] z) <float[2] w = {1, 2}>'
    model = parser.parse_model(f"{text} {{ {chain} z = Identity(n{depth - 1}) }}")
    found: list[bool] = []

    def look(site: Site) -> list[tuple[str, str]]:
        found.append(site.scope.may_be_fixed(site.input(0)))
        return []

    rewrite(model, {("", "Identity"): look})
    assert found == [True]


def test_a_constant_without_output_is_no_error() -> None:
    model = parser.parse_model(MODEL)
    next(each for each in model.graph.node if each.op_type == "Constant").ClearField("output")
    seen: list[str] = []
    rewrite(model, {("", "Identity"): lambda site: seen.append(site.node.op_type) or []})
    assert len(seen) > 1
