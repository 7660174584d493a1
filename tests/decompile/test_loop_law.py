"""The law of the round trip for scripts with loops: arithmetic, comparisons and logic on a counter come back as nodes.

A decompiled loop is a `for` statement whose counter is a variable of Python; what is computed with it has to be the
model's, not Python's.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import onnxsmith
from tests.decompile.fidelity import differences
from tests.decompile.rebuild_law import LAW
from tests.decompile.round_trip import compile_text
from tests.decompile.test_law import LENIENT
from tests.scripting.programs import Program, programs
from tests.scripting.test_laws import REFUSALS, load

_HEAD = """
from onnxsmith import BOOL, INT64, opset18 as op, script

@script
def program(x: INT64, n: INT64):
    b = n > 2
    for i in range(n):
"""
#: Of the counter, the state, and what an earlier line of the body has computed: forms of an INT64, and of a BOOL.
_INTEGERS = (
    *("({} + {})", "({} - {})", "({} * {})", "op.Div({}, 2)", "({} // 2)", "({} % 3)", "op.Mod({}, 2)"),
    *(
        "op.Neg({})",
        "(-{})",
        "abs({})",
        "op.BitwiseNot({})",
        "op.BitwiseAnd({}, {})",
        "op.Pow({}, 2)",
        "min({}, {})",
    ),
    *("({0} if {b} else {1})", "op.Where({b}, {}, {})", "op.Cast({b}, to=INT64)"),
)
_TRUTHS = (
    *("({} == {})", "({} != {})", "({} < {})", "({} <= {})", "({} > {})", "({} >= 2)", "op.Equal({}, 1)"),
    *("(not {b})", "op.Not({b})", "({b} and {c})", "({b} or {c})", "op.And({b}, {c})", "op.Xor({b}, {c})"),
)
_STATEMENTS = ("x = {0}", "b = {b}", "if {b}:\n            x = {0}", "if {b}:\n            break")


@st.composite
def _loops(draw: Callable[[Any], Any]) -> str:
    """A script with a loop over a counter."""

    def integer(depth: int) -> str:
        atoms = ("i", "i", "x", "n", "3")
        return filled(draw(st.sampled_from(_INTEGERS)), depth) if depth else draw(st.sampled_from(atoms))

    def truth(depth: int) -> str:
        return filled(draw(st.sampled_from(_TRUTHS)), depth) if depth else "b"

    def filled(form: str, depth: int) -> str:
        integers = [integer(depth - 1), integer(depth - 1)]
        return form.format(*integers, b=truth(depth - 1), c=truth(depth - 1))

    body = [
        draw(st.sampled_from(_STATEMENTS)).format(integer(2), b=truth(2))
        for _ in range(draw(st.integers(1, 3)))
    ]
    return _HEAD + "".join(f"        {line}\n" for line in body) + "    return x, b\n"


def _assert_comes_back(source: str) -> None:
    model = load(Program(source, (), {})).to_model()
    text = onnxsmith.decompile(model)
    assert not differences(model.proto, compile_text(text)), text


@settings(LENIENT, max_examples=40)
@given(_loops())
def test_what_is_computed_with_a_counter_comes_back(source: str) -> None:
    _assert_comes_back(source)


@pytest.mark.parametrize(
    "line",
    [
        "x = x + i if not (i == 3) else x",
        "x = x + op.Cast(op.Not(i < 2), to=7)",
        "x = x if i != 3 else n",
        "b = i != 2",
        "b = i != 3 and x > 2",
        "x = x + op.Div(i, 2)",
        "x = x + (i - 3) // 2",
        "x = op.Where(op.Not(op.Equal(i, 1)), x + 1, x)",
        "x = x if i > 1 and not i < n or not b else i",
    ],
)
def test_an_operator_on_a_counter_is_a_node(line: str) -> None:
    _assert_comes_back(f"{_HEAD}        {line}\n    return x, b\n")


def test_what_a_loop_in_a_function_carries_has_the_type_that_it_starts_with() -> None:
    """A function has no types: compiled again, a literal beside its result would be cast to whatever it is."""
    _assert_comes_back(_FUNCTION)


_FUNCTION = """
from onnxsmith import FLOAT, opset21 as op, script

@script
def helper(v: FLOAT["N"], f: FLOAT):
    count = 0
    while True:
        count += 1
        if count > 1 or f > 1:
            break
        v = v
    return v + 0

@script
def program(v: FLOAT["N"], f: FLOAT):
    return helper(v, f)
"""


@settings(LENIENT, max_examples=30)
@given(programs())
def test_generated_programs_come_back(program: Program) -> None:
    try:
        model = load(program).to_model(attributes=program.attributes)
    except REFUSALS:
        return
    text = onnxsmith.decompile(model)
    assert not differences(model.proto, compile_text(text)), text


@pytest.mark.filterwarnings("ignore::onnxsmith.errors.ModelWarning")
def test_decompiled_text_makes_the_same_model_and_results() -> None:
    assert not LAW.wrong(0, 18)


#: Loops in loops that read the state of the loop around them: each has variables of its own.
_TABLES = {
    "for in for": "for j in range(n):\n            c = c + p",
    "while in for": "k = 0\n        while k < n:\n            c = c + p\n            k = k + 1",
    "counts by the outer state": "for j in range(op.Cast(p, to=7)):\n            c = c + 1.0",
    "in a branch": """if c > 3.0:
            for j in range(n):
                c = c + p
        else:
            c = c - p""",
    "three deep": """for j in range(n):
            d = c
            for k in range(n):
                d = d + c + p
            c = d""",
}


@pytest.mark.parametrize("inner", _TABLES.values(), ids=_TABLES)
def test_an_inner_loop_reads_the_state_of_the_outer_one(inner: str) -> None:
    source = f"""
from onnxsmith import FLOAT, INT64, opset18 as op, script

@script
def program(x: FLOAT, n: INT64):
    p = x
    for i in range(n):
        c = p + 1.0
        {inner}
        p = c
    return p
"""
    model = load(Program(source, (), {})).to_model()
    text = onnxsmith.decompile(model)
    assert "@graph" not in text
    again = onnxsmith.recompile(text)
    assert isinstance(again, onnxsmith.Model)
    assert again.equals(model), text
    for count in range(4):
        arguments = np.float32(1), np.int64(count)
        assert again(*arguments) == model(*arguments)


#: Results of a body that carries two truth values `p` and `q`: `c` is the condition, and `g` the next one.
_RESULTS = {
    "exchanged": ("q", "p", True),
    "one for both": ("q", "q", True),
    "a new one for both": ("r", "r", True),
    "the condition": ("c", "p", False),
    "the next condition": ("g", "q", False),
}


@pytest.mark.parametrize(("one", "other", "is_statement"), _RESULTS.values(), ids=_RESULTS)
def test_variables_of_a_loop_get_each_others_values(one: str, other: str, is_statement: bool) -> None:
    """`p, q = q, p` is a statement; the condition of a loop has no variable, and makes it a function."""
    text = f"""<ir_version: 8, opset_import: ["": 18]>
        main (int64 n, bool x, bool y) => (bool u, bool v) {{
            u, v = Loop (n, , x, y) <body = body (int64 i, bool c, bool p, bool q) => (bool g, bool {one}, bool {other})
                {{ r = And (p, q)  g = Identity (c) }}>
        }}"""
    model = onnx.parser.parse_model(text)
    decompiled = onnxsmith.decompile(model)
    assert ("@graph" not in decompiled) == is_statement
    assert not differences(model, compile_text(decompiled)), decompiled


def test_no_variable_is_assigned_to_itself() -> None:
    @onnxsmith.script
    def nested(x: onnxsmith.FLOAT["N"], n: onnxsmith.INT64, m: onnxsmith.INT64):
        for _ in range(n):
            for _ in range(m):
                x = x + 1.0
        return x

    model = nested.to_model()
    text = str(onnxsmith.decompile(model))
    lines = [each.strip().partition(" = ") for each in text.splitlines()]
    assert not [left for left, _, right in lines if left and left == right]
    assert not differences(model.proto, compile_text(text))


_CONDITION_THAT_A_BRANCH_READS = """
from onnxsmith import FLOAT, opset23 as op, script

@script()
def helper(x: FLOAT["N"], f: FLOAT):
    for i in range(2):
        b = f > 1
        if any([b, b]):
            f = f + 1
        f = f + x[0]
    return f

@script
def program(x: FLOAT["N"], f: FLOAT):
    return helper(x, f)
"""


def test_the_condition_of_a_loop_in_a_function_keeps_its_type() -> None:
    # The constant with which the loop goes on is the one that a branch in it gives.
    model = load(Program(_CONDITION_THAT_A_BRANCH_READS, (), {})).to_model().proto
    text = onnxsmith.decompile(model, verify=False)
    assert '"constant"' in text
    assert differences(model, compile_text(text)) == []
