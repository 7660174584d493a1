"""Numbers that wait for each other in any way are those of the loop bit for bit, however many sweeps it takes."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import onnx.parser
import onnx.printer
import pytest

from onnxsmith import Model, optimize
from tests.passes.agreement import operators, results
from tests.passes.side_by_side.test_loops import at_once, loop
from tests.passes.side_by_side.test_recurrences import smoothing

_EACH = "e = Gather(x, i)"
_SIZES = (0, 1, 2, 5, 16, 17, 63, 150, 400)


def same_bits(model: Model, x: Any) -> None:
    """The loop and what is made of it give the same, zeros with their signs."""
    for wanted, found in zip(results(model, [x]), results(optimize(model), [x]), strict=True):
        assert (wanted.dtype, wanted.shape) == (found.dtype, found.shape)
        np.testing.assert_array_equal(found, wanted)
        np.testing.assert_array_equal(
            np.signbit(found[~np.isnan(found)]), np.signbit(wanted[~np.isnan(wanted)])
        )


def number(body: str, kind: str = "double", start: float = 0.5) -> Model:
    return smoothing(kind, body, start)


#: Steps that forget where they began soon, late, and never.
STEPS = {
    "a clipped sum": "p = Add(s, e) \n q = Min(p, b) \n s_new = Max(q, a)",
    "a root": "p = Mul(s, a) \n q = Abs(p) \n u = Sqrt(q) \n s_new = Add(u, e)",
    "a square that stays small": "p = Mul(s, s) \n q = Add(p, b) \n u = Div(e, q) \n s_new = Mul(u, a)",
    "chaos": "p = Mul(s, s) \n q = Sub(b, p) \n u = Mul(q, a) \n w = Mul(e, s) \n k = Mul(w, w) \n s_new = Sub(u, k)",
    "the greatest": "p = Greater(e, s) \n s_new = Where(p, e, s)",
    "a product": "p = Mul(e, a) \n q = Abs(p) \n s_new = Mul(s, q)",
    "a quotient of itself": "p = Add(s, e) \n s_new = Div(p, s)",
    "its own inverse": "p = Mul(s, e) \n s_new = Reciprocal(p)",
    "no other": "s_new = Mul(s, s)",
    "a sum that is divided": "p = Add(s, e) \n q = Mul(b, p) \n u = Add(q, e) \n s_new = Div(u, b)",
    "two sides": """p = Greater(e, s)
        s_new = If (p) <then_branch = t () => (double g) { h = Sub(e, s) \n k = Mul(a, h) \n g = Add(s, k) },
                        else_branch = f () => (double l) { l = Mul(s, a) }>""",
    "sides that look at the same element": """p = Greater(s, a)
        s_new = If (p) <then_branch = t () => (double g) { h = Gather(x, i) \n g = Sub(h, s) },
                        else_branch = f () => (double l) { l = Add(s, b) }>""",
    "a side in a side": """p = Greater(s, a) \n w = Less(e, s)
        s_new = If (p) <then_branch = t () => (double g) {
                    g = If (w) <then_branch = t1 () => (double g1) { g1 = Sub(s, b) },
                                else_branch = f1 () => (double l1) { l1 = Mul(s, a) }> },
                        else_branch = f () => (double l) { l = Add(s, b) }>""",
}


@pytest.mark.parametrize("name", STEPS)
def test_steps_are_the_loop_bit_for_bit(name: str) -> None:
    model = number(STEPS[name])
    assert operators(at_once(model)).count("Scan") == 1
    for size in _SIZES:
        same_bits(model, np.random.default_rng(size).normal(size=size))


@pytest.mark.parametrize("name", STEPS)
@pytest.mark.parametrize("spoiled", [(np.nan,), (np.inf,), (np.inf, -np.inf), (-0.0, 0.0), (1e308, 1e308)])
def test_what_is_no_plain_number_is_the_same_too(name: str, spoiled: tuple[float, ...]) -> None:
    x = np.random.default_rng(1).normal(size=130)
    for place, value in zip((30, 61), spoiled, strict=False):
        x[place] = value
    same_bits(number(STEPS[name]), x)


@pytest.mark.parametrize("start", [0.0, -0.0, 2.0])
def test_signs_of_zeros_settle_too(start: float) -> None:
    """A block that begins with another zero is not the same block: what is divided by it has another sign."""
    x = np.where(np.arange(200) % 70 == 3, -1.0, 0.0)
    same_bits(number("p = Neg(s) \n s_new = Mul(p, e)", start=start), x)


def test_numbers_that_wait_for_each_other_settle_together() -> None:
    body = f"""{_EACH} \n p = Mul(s, t) \n q = Neg(p) \n s_new = Add(q, e) \n u = Abs(s) \n t_new = Sqrt(u)
        v = Add(s_new, t_new)"""
    model = loop(
        body, "double s, double t", "zero, zero", "double v", results="double r0, double r1, double[N] q"
    )
    assert operators(at_once(model)).count("Scan") == 1
    for size in _SIZES:
        same_bits(model, np.random.default_rng(size).normal(size=size) / 2)


def test_a_sum_that_waits_for_one_that_settles_is_a_sum() -> None:
    body = f"""{_EACH} \n p = Mul(s, s) \n q = Neg(p) \n s_new = Add(q, e) \n g = Greater(s_new, zero)
        k = Add(t, one) \n t_new = Where(g, k, t) \n v = Mul(s_new, e)"""
    model = loop(
        body, "double s, int64 t", "zero, nought", "double v", results="double r0, int64 r1, double[N] q"
    )
    made = operators(at_once(model))
    assert (made.count("Scan"), made.count("CumSum")) == (1, 1)
    for size in _SIZES:
        same_bits(model, np.random.default_rng(size).normal(size=size) / 4)


def test_conditions_and_whole_numbers_settle() -> None:
    body = f"""{_EACH} \n g = Greater(e, zero) \n f_new = Xor(f, g) \n h = Add(t, one) \n k = Abs(t)
        t_new = Where(f, h, k) \n v = Identity(f_new)"""
    model = loop(body, "bool f, int64 t", "yes, nought", "bool v", results="bool r0, int64 r1, bool[N] q")
    for size in _SIZES:
        x = np.random.default_rng(size).normal(size=size)
        for wanted, found in zip(results(model, [x]), results(optimize(model), [x]), strict=True):
            np.testing.assert_array_equal(found, wanted)


#: What would fail on numbers that the loop never has, or in turns that the branch is not taken in.
FAILING = {
    "whole numbers that are divided": (
        "p = Add(t, one) \n q = Div(n, p) \n t_new = Sub(q, nought) \n v = Identity(t)",
        "int64 t",
        "nought",
        "int64 v",
        "int64 r0, int64[N] q",
    ),
    "a place that the number says": (
        "s_new = Gather(x, t) \n t_new = Cast<to = 7>(s) \n v = Identity(s)",
        "double s, int64 t",
        "zero, nought",
        "double v",
        "double r0, int64 r1, double[N] q",
    ),
    "a place that one side alone looks at": (
        """k = Add(i, n) \n p = Greater(s, zero)
        s_new = If (p) <then_branch = t () => (double g) { h = Gather(x, k) \n g = Mul(h, s) },
                        else_branch = f () => (double l) { m = Mul(s, s) \n l = Neg(m) }>
        v = Identity(s_new)""",
        "double s",
        "zero",
        "double v",
        "double r0, double[N] q",
    ),
}


@pytest.mark.parametrize("name", FAILING)
def test_what_may_fail_stays_a_loop(name: str) -> None:
    body, carried, given, puts, outputs = FAILING[name]
    assert "Scan" not in operators(at_once(loop(body, carried, given, puts, results=outputs)))


def test_few_turns_stay_a_loop() -> None:
    model = number(STEPS["a root"])
    text = onnx.printer.to_text(model.proto)
    few = onnx.parser.parse_model(text.replace("Size (x)", "Constant <value_int = 8> ()"))
    assert "Scan" in operators(at_once(model))
    assert "Scan" not in operators(at_once(Model.from_proto(few)))


def made_up(draw: random.Random) -> str:
    """Steps of a turn that make `s_new` of s, a and b and e in any way that cannot fail."""
    values, lines = ["s", "e", "a", "b"], list[str]()
    for step in range(draw.randint(2, 7)):
        name = f"k{step}"
        one, other = draw.choice(values), draw.choice(values[-3:])
        kind = draw.choice(["Add", "Sub", "Mul", "Div", "Max", "Min", "Neg", "Abs", "Sqrt", "Floor", "where"])
        if kind == "where":
            lines += [f"c{step} = Less({one}, {other})", f"{name} = Where(c{step}, {other}, s)"]
        elif kind in ("Neg", "Abs", "Sqrt", "Floor"):
            lines.append(f"{name} = {kind}({other})")
        else:
            lines.append(f"{name} = {kind}({one}, {other})")
        values.append(name)
    return " \n ".join([*lines, f"m = Mul(s, {values[-1]})", "s_new = Sub(m, e)"])


@pytest.mark.parametrize("seed", range(24))
def test_any_steps_give_the_same(seed: int) -> None:
    draw = random.Random(seed)
    kind = draw.choice(["double", "float"])
    model = number(made_up(draw), kind, start=draw.choice([-0.25, 0.0, 1.5]))
    for size in (0, 3, 64, 150):
        same_bits(
            model,
            np.random.default_rng(seed)
            .normal(size=size)
            .astype(np.float64 if kind == "double" else np.float32),
        )
