"""Numbers that turns make of themselves are the same for all turns at once, and where something is not finite."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from onnxsmith import Model, optimize
from onnxsmith.graphs.notes import WEIGHT_KEY
from onnxsmith.passes.cleanup.constants import lift_constants
from onnxsmith.passes.editor import Editor
from onnxsmith.passes.side_by_side.loops import SIDE_BY_SIDE
from onnxsmith.passes.surgery.holding import read
from onnxsmith.passes.typing_values import DeclaredTypes
from onnxsmith.passes.worklist import Worklist, rule_table
from tests.passes.agreement import model_of, operators, results
from tests.passes.side_by_side.test_loops import agree, at_once, loop, vector

_EACH = "e = Gather(x, i)"
#: What is exactly the same, at any number of turns.
EXACT = {
    "a running sum that is read": ("s_new = Add(s, e) \n v = Neg(s_new)", "double s", "zero"),
    "what is taken away": ("s_new = Sub(s, e) \n v = Identity(s_new)", "double s", "zero"),
    "the sum before": ("s_new = Add(e, s) \n v = Mul(s, e)", "double s", "zero"),
    "what the turn before had": ("s_new = Neg(e) \n v = Sub(e, s)", "double s", "zero"),
    "what the turn before the last had": (
        "s_new = Neg(e) \n t_new = Identity(s) \n v = Sub(s, t)",
        "double s, double t",
        "zero, zero",
    ),
    "a sum of sums": (
        "s_new = Add(s, e) \n t_new = Add(t, s_new) \n v = Add(t_new, s)",
        "double s, double t",
        "zero, zero",
    ),
    "a sum that a branch adds to": (
        """p = Greater(e, zero)
        s_new = If (p) <then_branch = t () => (double a) { q = Mul(e, e) \n a = Add(s, q) },
                        else_branch = f () => (double b) { b = Identity(s) }>
        v = Identity(s_new)""",
        "double s",
        "zero",
    ),
    "two sums of one branch": (
        """p = Greater(e, zero)
        s_new, t_new = If (p) <then_branch = t () => (double a, double b) { a = Add(s, e) \n b = Identity(t) },
                               else_branch = f () => (double c, double g) { c = Identity(s) \n g = Sub(t, e) }>
        v = Mul(s_new, t_new)""",
        "double s, double t",
        "zero, zero",
    ),
    "a sum that a condition adds to": (
        "p = Greater(e, zero) \n q = Add(s, e) \n s_new = Where(p, q, s) \n v = Identity(s_new)",
        "double s",
        "zero",
    ),
}


@pytest.mark.parametrize("name", EXACT)
def test_sums_and_what_was_before_are_the_same_in_every_bit(name: str) -> None:
    body, carried, given = EXACT[name]
    after = [f"double r{place}" for place in range(carried.count(",") + 1)]
    model = loop(f"{_EACH} \n {body}", carried, given, "double v", results=", ".join([*after, "double[N] q"]))
    assert "Loop" not in operators(agree(model, vector))


def smoothing(kind: str, body: str, start: float = 0.5) -> Model:
    """A loop over the places of x, of which each turn makes s anew."""
    return model_of(
        f"""g ({kind}[N] x) => ({kind} r, {kind}[N] q) {{
        zero = Constant<value = {kind} {{{start}}}>()
        a = Constant<value = {kind} {{0.75}}>()
        b = Constant<value = {kind} {{1.03125}}>()
        n = Size(x)
        yes = Constant<value = bool {{1}}>()
        r, q = Loop (n, yes, zero) <body = t (int64 i, bool c, {kind} s) => (bool d, {kind} s_new, {kind} v) {{
            d = Identity(c)
            e = Gather(x, i)
            {body}
            v = Identity(s_new)
        }}>
    }}"""
    )


#: A factor times itself, plus something.
LINEAR = {
    "smaller": "p = Mul(a, s) \n s_new = Add(p, e)",
    "towards": "p = Sub(e, s) \n u = Mul(a, p) \n s_new = Add(s, u)",
    "alternating": "p = Div(s, b) \n u = Div(p, b) \n s_new = Sub(e, u)",
    "negative": "p = Add(s, e) \n u = Mul(p, a) \n s_new = Neg(u)",
}
_SIZES = (0, 1, 2, 63, 64, 65, 128, 200, 1000)


def compare(model: Model, x: Any, tolerance: float) -> None:
    """Both give the same, up to rounding of the largest number on the way, and the same where none is finite."""
    wanted, found = results(model, [x]), results(optimize(model), [x])
    finite = np.abs(wanted[1][np.isfinite(wanted[1])])
    largest = float(finite.max()) if finite.size else 0.0
    for one, other in zip(wanted, found, strict=True):
        assert (one.dtype, one.shape) == (other.dtype, other.shape)
        np.testing.assert_allclose(other, one, rtol=tolerance, atol=tolerance * min(largest, 1e30))


@pytest.mark.parametrize(("kind", "tolerance"), [("double", 1e-13), ("float", 3e-6)])
@pytest.mark.parametrize("name", LINEAR)
def test_powers_are_the_same_up_to_rounding(name: str, kind: str, tolerance: float) -> None:
    model = smoothing(kind, LINEAR[name])
    made = at_once(model)
    assert operators(made).count("MatMul") == 1
    dtype = np.float64 if kind == "double" else np.float32
    for size in _SIZES:
        compare(model, np.random.default_rng(size).normal(size=size).astype(dtype), tolerance)


@pytest.mark.parametrize("name", LINEAR)
@pytest.mark.parametrize("kind", ["double", "float"])
@pytest.mark.parametrize("spoiled", [(np.inf,), (np.nan,), (np.inf, -np.inf), (1e38, -1e38), (3e38, 3e38)])
@pytest.mark.filterwarnings("ignore")
def test_what_is_not_finite_goes_turn_by_turn(name: str, kind: str, spoiled: tuple[float, ...]) -> None:
    dtype = np.float64 if kind == "double" else np.float32
    scale = 1.0 if kind == "float" or not np.isfinite(spoiled[0]) else 5e269
    x = np.random.default_rng(0).normal(size=200).astype(dtype)
    for place, number in zip((70, 100), spoiled, strict=False):
        x[place] = number * scale
    model = smoothing(kind, LINEAR[name])
    for one, other in zip(results(model, [x]), results(optimize(model), [x]), strict=True):
        np.testing.assert_array_equal(other, one)


def test_an_impulse_fades_as_it_does_turn_by_turn() -> None:
    model = smoothing("double", LINEAR["smaller"], start=0.0)
    x = np.zeros(2400)
    x[0] = 1
    for one, other in zip(results(model, [x]), results(optimize(model), [x]), strict=True):
        np.testing.assert_allclose(other, one, rtol=1e-12, atol=1e-320)


#: What is no sum of powers, or not known to be the same.
WAITING = {
    "a product": "s_new = Mul(s, e)",
    "a factor of the turn": "p = Mul(s, e) \n s_new = Add(p, a)",
    "a square": "p = Mul(s, s) \n s_new = Add(p, e)",
    "two addends, which may round": "p = Add(s, e) \n s_new = Sub(p, e)",
    "a factor near one": "k = Constant<value = float {0.999}>() \n p = Mul(s, k) \n s_new = Add(p, e)",
    "a small factor": "k = Constant<value = float {0.001}>() \n p = Mul(s, k) \n s_new = Add(p, e)",
    "a large factor": "k = Constant<value = float {4}>() \n p = Mul(s, k) \n s_new = Add(p, e)",
    "a factor above one, whose powers cancel": "p = Mul(s, b) \n s_new = Sub(p, e)",
    "a number that is multiplied and divided": "p = Mul(s, b) \n u = Add(p, e) \n s_new = Div(u, b)",
    "no number": "k = Constant<value = float {nan}>() \n p = Mul(s, k) \n s_new = Add(p, e)",
    "factors that cancel": """k = Constant<value = float {64}>() \n l = Constant<value = float {63.5}>()
        p = Mul(s, k) \n u = Mul(s, l) \n w = Sub(p, u) \n s_new = Add(w, e)""",
    "a condition on itself": "p = Greater(s, a) \n u = Add(s, e) \n s_new = Where(p, u, s)",
}


@pytest.mark.parametrize("name", WAITING)
def test_what_turns_make_otherwise_stays_a_loop(name: str) -> None:
    made = at_once(smoothing("float", WAITING[name]))
    assert "Loop" in operators(made)
    assert "MatMul" not in operators(made)


def test_whole_numbers_divide_to_whole_numbers() -> None:
    model = model_of(
        """g (int64[N] x) => (int64 r) {
        zero = Constant<value = int64 {1}>()
        two = Constant<value = int64 {2}>()
        n = Size(x)
        yes = Constant<value = bool {1}>()
        r = Loop (n, yes, zero) <body = t (int64 i, bool c, int64 s) => (bool d, int64 s_new) {
            d = Identity(c)
            e = Gather(x, i)
            p = Div(s, two)
            u = Mul(p, two)
            s_new = Add(u, e)
        }>
    }"""
    )
    x = np.ones(5, np.int64)
    np.testing.assert_array_equal(results(optimize(model), [x])[0], results(model, [x])[0])


def test_a_factor_that_may_be_exchanged_is_not_looked_at() -> None:
    held = read(smoothing("double", LINEAR["smaller"])).copy()
    edit = Editor(held.ir, keeps_weights=True)
    lift_constants(edit)
    DeclaredTypes(held.ir).fill()
    for value in held.ir.graph.initializers.values():
        value.meta[WEIGHT_KEY] = True
    Worklist(edit, rule_table(SIDE_BY_SIDE)).run()
    assert "MatMul" not in [node.op_type for node in held.ir.graph.all_nodes()]


def made_up(draw: random.Random) -> str:
    """Steps of a turn that make `s_new` linear in s."""
    lines: list[str] = []
    now, has_added = "s", False
    for step in range(draw.randint(1, 5)):
        kind = draw.choice(["Mul(a, {})", "Mul({}, a)", "Div({}, b)", "Neg({})", "Identity({})", "add"])
        if kind == "add" or (step == 4 and not has_added):
            kind = (
                "Identity({})"
                if has_added
                else draw.choice(["Add({}, e)", "Add(e, {})", "Sub({}, e)", "Sub(e, {})"])
            )
            has_added = True
        lines.append(f"k{step} = {kind.format(now)}")
        now = f"k{step}"
    if not has_added:
        lines.append(f"k = Sub(e, {now})")
        now = "k"
    return " \n ".join([*lines, f"s_new = Identity({now})"])


@pytest.mark.parametrize("seed", range(12))
def test_any_linear_steps_give_the_same(seed: int) -> None:
    model = smoothing("double", made_up(random.Random(seed)), start=-0.25)
    for size in (0, 3, 64, 150):
        compare(model, np.random.default_rng(seed).normal(size=size), 1e-13)
