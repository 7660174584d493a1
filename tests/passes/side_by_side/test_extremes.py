"""The greatest so far, and what is kept until it is set anew, are the same for all turns at once."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from onnxsmith import Model
from tests.passes.agreement import model_of, operators, results
from tests.passes.side_by_side.test_loops import at_once

_KINDS = {"double": np.float64, "float": np.float32, "int64": np.int64, "int32": np.int32}


def carried(kind: str, body: str, start: str = "0") -> Model:
    """A loop over the places of x, of which each turn makes s anew, of e and f."""
    return model_of(
        f"""g ({kind}[N] x) => ({kind} r, {kind}[N] q) {{
        zero = Constant<value = {kind} {{{start}}}>()
        one = Constant<value = {kind} {{1}}>()
        n = Size(x)
        yes = Constant<value = bool {{1}}>()
        r, q = Loop (n, yes, zero) <body = t (int64 i, bool c, {kind} s) => (bool d, {kind} s_new, {kind} v) {{
            d = Identity(c)
            e = Gather(x, i)
            f = Neg(e)
            k = Greater(e, one)
            {body}
            v = Identity(s_new)
        }}>
    }}"""
    )


def numbers(kind: str, size: int, seed: int) -> Any:
    """Numbers with ties, zeros of both signs and, where there are such, NaN and infinities."""
    draw = np.random.default_rng(seed)
    drawn = draw.integers(-9, 9, size).astype(_KINDS[kind])
    if kind in ("double", "float") and seed % 2:
        special = draw.choice([0.0, -0.0, np.nan, np.inf, -np.inf], size)
        drawn = np.where(draw.random(size) < 0.1, special, drawn).astype(_KINDS[kind])
    elif seed % 2 and size:
        drawn[draw.integers(size)] = np.iinfo(_KINDS[kind]).min
    return drawn


def same(model: Model, given: Any) -> Model:
    """Both give the same numbers. Zeros may differ in sign: the runtime's `Where` gives either for a negative one."""
    made = at_once(model)
    for wanted, found in zip(results(model, [given]), results(made, [given]), strict=True):
        assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
        np.testing.assert_array_equal(found, wanted)
    return made


EXTREMES = {
    "greater": "p = Greater(e, s) \n s_new = Where(p, e, s)",
    "not less": "p = GreaterOrEqual(e, s) \n s_new = Where(p, e, s)",
    "less, the other way round": "p = Greater(s, e) \n s_new = Where(p, e, s)",
    "kept where it is greater": "p = Greater(s, e) \n s_new = Where(p, s, e)",
    "kept where it is not greater": "p = LessOrEqual(s, e) \n s_new = Where(p, s, e)",
    "a branch that computes it again": """p = Less(e, s)
        s_new = If (p) <then_branch = t () => (KIND a) { h = Gather(x, i) \n a = Identity(h) },
                        else_branch = f () => (KIND b) { b = Identity(s) }>""",
    "in some turns": "p = Greater(f, s) \n u = Where(p, f, s) \n s_new = Where(k, s, u)",
    "the greatest": "s_new = Max(s, e)",
    "the least of three": "s_new = Min(e, s, f)",
    "the greatest in some turns": """s_new = If (k)
        <then_branch = t () => (KIND a) { h = Add(e, one) \n a = Max(h, s) },
        else_branch = f () => (KIND b) { b = Identity(s) }>""",
    "one after the other": "u = Max(s, e) \n s_new = Max(f, u)",
}
KEPT = {
    "the last of some": "s_new = Where(k, e, s)",
    "the last of a branch": """s_new = If (k) <then_branch = t () => (KIND a) { a = Mul(e, f) },
        else_branch = f () => (KIND b) { b = Identity(s) }>""",
    "two conditions": "p = Less(e, f) \n u = Where(p, s, f) \n s_new = Where(k, e, u)",
    "one condition is the same in all turns": "p = Less(one, zero) \n u = Where(p, e, s) \n s_new = Where(k, f, u)",
}
COUNTED = {
    "how often in a row": "u = Add(s, one) \n s_new = Where(k, u, zero)",
    "a sum that begins anew": "u = Add(e, s) \n s_new = Where(k, f, u)",
    "kept, added to or set": """s_new = If (k) <then_branch = t () => (KIND a) { a = Add(s, e) },
        else_branch = f () => (KIND b) { p = Less(e, f) \n b = Where(p, one, s) }>""",
}


@pytest.mark.parametrize("kind", _KINDS)
@pytest.mark.parametrize("name", [*EXTREMES, *KEPT])
def test_extremes_and_what_is_kept_are_the_same(name: str, kind: str) -> None:
    body = {**EXTREMES, **KEPT}[name].replace("KIND", kind)
    starts = ("0", "-3") if kind in ("int32", "int64") else ("-0.0", "-3", "nan", "-inf")
    for seed, size in enumerate((0, 1, 64, 65, 200, 201)):
        made = same(carried(kind, body, starts[seed % len(starts)]), numbers(kind, size, seed))
        assert "Loop" not in operators(made)


@pytest.mark.parametrize("kind", ["int64", "int32"])
@pytest.mark.parametrize("name", COUNTED)
def test_whole_numbers_are_counted(name: str, kind: str) -> None:
    for seed, size in enumerate((0, 1, 2, 64, 200, 201)):
        made = same(carried(kind, COUNTED[name].replace("KIND", kind), "5"), numbers(kind, size, seed))
        assert "Loop" not in operators(made)


@pytest.mark.parametrize("seed", range(10))
def test_any_choices_give_the_same(seed: int) -> None:
    draw = random.Random(seed)
    kind = draw.choice(list(_KINDS))
    lines: list[str] = []
    now = "s"
    for step in range(draw.randint(1, 4)):
        other = draw.choice(["e", "f", "one"])
        comparison = draw.choice(["Greater", "GreaterOrEqual", "Less", "LessOrEqual"])
        compared = draw.choice([("s", other), (other, "s"), (now, other), ("e", "f")])
        sides = draw.choice([(now, other), (other, now), (now, "s")])
        lines.append(f"p{step} = {comparison}({', '.join(compared)})")
        lines.append(f"u{step} = Where(p{step}, {', '.join(sides)})")
        now = f"u{step}"
    model = carried(kind, " \n ".join([*lines, f"s_new = Identity({now})"]))
    for size in (0, 3, 64, 150):
        same(model, numbers(kind, size, seed + 2 * size))
