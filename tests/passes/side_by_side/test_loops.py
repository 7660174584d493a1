"""Loops of independent turns give the same with all turns at once; others stay loops."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
import pytest

from onnxsmith import Model, optimize
from onnxsmith.passes.cleanup.constants import lift_constants
from onnxsmith.passes.editor import Editor
from onnxsmith.passes.side_by_side.loops import SIDE_BY_SIDE
from onnxsmith.passes.surgery.holding import finished, read
from onnxsmith.passes.typing_values import DeclaredTypes
from onnxsmith.passes.worklist import Worklist, rule_table
from tests.passes.agreement import model_of, operators, results


def at_once(model: Model) -> Model:
    held = read(model).copy()
    edit = Editor(held.ir)
    edit.settles_loops = True  # as `optimize` does
    lift_constants(edit)
    DeclaredTypes(held.ir).fill()
    Worklist(edit, rule_table(SIDE_BY_SIDE)).run()
    made = finished(held)
    onnx.checker.check_model(made.proto, full_check=True)
    return made


def agree(model: Model, *inputs: Any) -> Model:
    made = at_once(model)
    for size in (0, 1, 2, 7):
        given = [each(size) for each in inputs]
        for wanted, found in zip(results(model, given), results(made, given), strict=True):
            assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
            np.testing.assert_array_equal(found, wanted)
    return made


def loop(
    body: str,
    carried: str,
    given: str,
    puts: str = "",
    inputs: str = "double[N] x",
    results: str = "double[N] r",
) -> Model:
    """A loop over the places of x; `carried` are the body's states, `given` what they begin with."""
    outputs = ", ".join(each.split()[-1] for each in results.split(", "))
    states = "".join(f", {each}" for each in carried.split(", ") if each)
    new = "".join(
        f", {each.rpartition(' ')[0]} {each.split()[-1]}_new" for each in carried.split(", ") if each
    )
    return model_of(
        f"""g ({inputs}) => ({results}) {{
        m1 = Constant<value = int64[1] {{-1}}>()
        one = Constant<value = int64 {{1}}>()
        zero = Constant<value = double {{0}}>()
        nought = Constant<value = int64 {{0}}>()
        n = Size(x)
        yes = Constant<value = bool {{1}}>()
        {outputs} = Loop (n, yes{", " + given if given else ""}) <body = b (int64 i, bool c{states})
          => (bool d{new}{", " + puts if puts else ""}) {{
            d = Identity(c)
            {body}
        }}>
    }}"""
    )


def vector(size: int) -> Any:
    return np.random.default_rng(size).integers(-8, 9, size=size) / 4


WRITES = "j = Unsqueeze(i, m1) \n y_new = ScatterND(y, j, v)"
INDEPENDENT = {
    "each element": loop(f"e = Gather(x, i) \n v = Mul(e, e) \n {WRITES}", "double[N] y", "x"),
    "put together": loop("e = Gather(x, i) \n v = Mul(e, e)", "", "", "double v"),
    "its own place is read": loop(f"e = Gather(y, i) \n v = Neg(e) \n {WRITES}", "double[N] y", "x"),
    "a branch": loop(
        f"""e = Gather(x, i) \n p = Greater(e, zero)
        v = If (p) <then_branch = t () => (double a) {{ a = Sqrt(e) }},
                    else_branch = f () => (double b) {{ b = Neg(e) }}> \n {WRITES}""",
        "double[N] y",
        "x",
    ),
    "written in a branch": loop(
        """e = Gather(x, i) \n p = Greater(e, zero) \n j = Unsqueeze(i, m1)
        y_new = If (p) <then_branch = t () => (double[N] a) { a = ScatterND(y, j, zero) },
                    else_branch = f () => (double[N] b) { b = Identity(y) }>""",
        "double[N] y",
        "x",
    ),
    "the next place, where there is one": loop(
        f"""k = Add(i, one) \n p = Less(k, n)
        v = If (p) <then_branch = t () => (double a) {{ a = Gather(x, k) }},
                    else_branch = f () => (double b) {{ b = Identity(zero) }}> \n {WRITES}""",
        "double[N] y",
        "x",
    ),
    "a division that would fail": loop(
        """k = Sub(i, one) \n p = Equal(k, nought)
        v = If (p) <then_branch = t () => (int64 a) { a = Identity(one) },
                    else_branch = f () => (int64 b) { b = Div(n, k) }>""",
        "",
        "",
        "int64 v",
        results="int64[N] r",
    ),
    "a sum": loop(
        """e = Gather(x, i) \n p = Greater(e, zero)
        s_new = If (p) <then_branch = t () => (double a) { a = Add(s, e) },
                    else_branch = f () => (double b) { b = Identity(s) }>""",
        "double s",
        "zero",
        results="double r",
    ),
    "the last value": loop(
        "e = Gather(x, i) \n t_new = Neg(e)",
        "double t",
        "zero",
        results="double r",
    ),
    "a loop in each turn": loop(
        f"""e = Gather(x, i) \n p = Greater(e, zero) \n big = Constant<value = double {{100}}>()
        v = Loop (, p, e) <body = w (int64 k, bool g, double s) => (bool h, double t) {{
            t = Add(s, s) \n h = Less(t, big) }}> \n {WRITES}""",
        "double[N] y",
        "x",
    ),
    "a loop with its own limit in each turn": loop(
        f"""e = Gather(x, i)
        v = Loop (i, , e) <body = w (int64 k, bool g, double s) => (bool h, double t) {{
            q = Cast<to=11>(k) \n t = Add(s, q) \n h = Identity(g) }}> \n {WRITES}""",
        "double[N] y",
        "x",
    ),
}


@pytest.mark.parametrize("name", INDEPENDENT)
def test_independent_turns_happen_at_once(name: str):
    made = agree(INDEPENDENT[name], vector)
    assert operators(made).count("Loop") == ("a loop" in name)
    assert "If" not in operators(made)


DEPENDENT = {
    "the place before": loop(
        f"k = Sub(i, one) \n e = Gather(y, k) \n v = Neg(e) \n {WRITES}", "double[N] y", "x"
    ),
    "one place for all": loop(
        "e = Gather(x, i) \n j = Unsqueeze(nought, m1) \n y_new = ScatterND(y, j, e)", "double[N] y", "x"
    ),
    "two places": loop(
        f"e = Gather(x, i) \n k = Add(i, one) \n z = Gather(y, k) \n v = Add(e, z) \n {WRITES}",
        "double[N] y",
        "x",
    ),
    "a product": loop("e = Gather(x, i) \n s_new = Mul(s, e)", "double s", "zero", results="double r"),
    "an array in each turn": loop(
        "e = Gather(x, i) \n v = Mul(x, e)", "", "", "double[N] v", results="double[N,M] r"
    ),
    "random": loop(
        "v = RandomUniform<shape=[2], dtype=11, seed=1.0>()", "", "", "double[2] v", results="double[N,2] r"
    ),
}


@pytest.mark.parametrize("name", DEPENDENT)
def test_turns_that_wait_for_each_other_stay_a_loop(name: str):
    made = at_once(DEPENDENT[name])
    assert [each.op_type for each in made.proto.graph.node].count("Loop") == 1


#: What fails where x has no elements, or where y is not as long as x, the same in all turns.
FAILING = {
    "the first element": "f = Gather(x, nought)",
    "the last element": "l = Constant<value = int64 {-1}>() \n f = Gather(x, l)",
    "a place that is given": "f = Gather(x, n)",
    "an element of an element's row": "w = Unsqueeze(x, m1) \n k = Gather(w, nought) \n f = Squeeze(k, o)",
    "a quotient of integers": "q = Div(one, n) \n f = Cast<to=11>(q)",
    "a quotient of what differs": "q = Div(i, n) \n f = Cast<to=11>(q)",
    "a remainder of integers": "q = Mod(one, n) \n f = Cast<to=11>(q)",
    "the largest": "f = ReduceMax<keepdims=0>(x)",
    "another shape": "k = Reshape(x, three) \n f = ReduceSum<keepdims=0>(k)",
    "a dimension that is not 1": "k = Squeeze(y, o) \n f = Identity(k)",
    "shapes that do not fit": "k = Add(x, y) \n p = Neg(k) \n f = ReduceSum<keepdims=0>(p)",
    "a product of what does not fit": "f = MatMul(y, z)",
    "put behind what does not fit": """a = Unsqueeze(y, o) \n b = Unsqueeze(z, o)
        k = Concat<axis=0>(a, b) \n f = ReduceSum<keepdims=0>(k)""",
}
READ = {
    "in an array": ("e = Gather(x, i) \n v = Mul(e, f) \n " + WRITES, "double[N] y_", "x", "", "double[N] r"),
    "put together": ("e = Gather(x, i) \n v = Mul(e, f)", "", "", "double v", "double[N] r"),
    "in a sum": ("s_new = Add(s, f)", "double s", "zero", "", "double r"),
}


@pytest.mark.parametrize("way", READ)
@pytest.mark.parametrize("name", FAILING)
@pytest.mark.parametrize("change", [at_once, optimize])
def test_what_would_fail_is_not_run_without_turns(name: str, way: str, change: Callable[[Model], Model]):
    body, carried, given, puts, made = READ[way]
    constants = "o = Constant<value = int64[1] {0}>() \n three = Constant<value = int64[2] {3, 5}>()"
    body = f"{constants} \n {FAILING[name]} \n {body}".replace("ScatterND(y,", "ScatterND(y_,")
    body = body.replace("y_new", "y__new")
    model = loop(body, carried, given, puts, "double[N] x, double[M] y, double[K] z", made)
    inputs = [np.zeros(0), np.ones(2), np.ones(3)]
    (wanted,), (found,) = results(model, inputs), results(change(model), inputs)
    np.testing.assert_array_equal(found, wanted)
    assert found.size == (way == "in a sum")


@pytest.mark.parametrize(
    "name", ["the first element", "the last element", "a quotient of integers", "a quotient of what differs"]
)
@pytest.mark.parametrize("way", READ)
def test_what_fails_only_without_turns_happens_at_once(name: str, way: str):
    body, carried, given, puts, made = READ[way]
    body = f"{FAILING[name]} \n {body}".replace("ScatterND(y,", "ScatterND(y_,").replace("y_new", "y__new")
    assert "Loop" not in operators(agree(loop(body, carried, given, puts, results=made), vector))


def counted(limit: str, inputs: str = "") -> Model:
    """A loop that only counts: it takes no memory, however many turns it has."""
    return model_of(
        f"""g ({inputs}) => (float y) {{
        m = {limit}
        yes = Constant<value = bool {{1}}>()
        zero = Constant<value = float {{0}}>()
        y = Loop (m, yes, zero) <body = b (int64 i, bool c, float a) => (bool d, float b) {{
            d = Identity(c)
            one = Constant<value = float {{1}}>()
            b = Add(a, one)
        }}>
    }}"""
    )


def test_a_loop_of_many_turns_stays_one():
    model = counted(f"Constant<value = int64 {{{1 << 62}}}>()")
    assert "Loop" in operators(optimize(model))
    assert "Loop" not in operators(optimize(counted("Constant<value = int64 {1000}>()")))


def test_a_loop_without_memory_does_not_become_arrays_of_its_turns():
    assert "Loop" in operators(optimize(counted("Identity(n)", "int64 n")))
    of_size = counted("Size(x)", "float[N] x")
    assert "Loop" not in operators(optimize(of_size))
