"""Laws of rewriting, on random patterns and on random models with branches, loops and functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import onnxsmith
from onnxsmith import FLOAT, Model, Rule, either, rewrite, trace
from onnxsmith import opset21 as op
from tests.passes.surgery.runnable_models import feeds, runnable_models

found = onnxsmith.Opset("found", 1)
UNARY = ("Tanh", "Neg", "Abs", "Relu", "Sigmoid")
BINARY = ("Add", "Sub", "Mul", "Max")
COMMUTE = ("Add", "Mul", "Max")
CONSTANTS = (0.5, 1.0, 2.0, 0.044715)


@dataclass(frozen=True)
class Step:
    """One operator: what it reads are positions of values before it, or a number on the right."""

    operator: str
    inputs: tuple[int, ...]
    number: float | None = None


@dataclass(frozen=True)
class Program:
    """Operators in a row on two parameters; the last is the result."""

    steps: tuple[Step, ...]

    def needed(self) -> list[int]:
        """The positions of the values that the result needs."""
        needed = {len(self.steps) + 1}
        for position in range(len(self.steps) + 1, 1, -1):
            if position in needed:
                needed.update(self.steps[position - 2].inputs)
        return sorted(needed)

    def run(self, x: Any, y: Any, swapped: Sequence[bool] = ()) -> Any:
        """The result; operators that commute have their inputs the other way round where that is said."""
        values: dict[int, Any] = {0: x, 1: y}
        for position in self.needed():
            if position < 2:
                continue
            step = self.steps[position - 2]
            operands = [values[each] for each in step.inputs]
            if step.number is not None:
                operands.append(step.number)
            if step.operator in COMMUTE and position - 2 < len(swapped) and swapped[position - 2]:
                operands.reverse()
            values[position] = getattr(op, step.operator)(*operands)
        return values[len(self.steps) + 1]

    def function(self, swapped: Sequence[bool] = ()) -> Callable[..., Any]:
        """A function of the parameters that it needs."""
        if 0 in self.needed() and 1 in self.needed():
            return lambda x, y: self.run(x, y, swapped)
        return lambda x: self.run(x, x, swapped)

    @property
    def arity(self) -> int:
        return 2 if 0 in self.needed() and 1 in self.needed() else 1


@st.composite
def programs(draw: st.DrawFn) -> Program:
    steps: list[Step] = []
    for count in range(draw(st.integers(1, 9))):
        # The newest value is read, so that most of the program is needed.
        newest, other = count + 1, draw(st.integers(0, count + 1))
        if draw(st.booleans()):
            steps.append(Step(draw(st.sampled_from(UNARY)), (newest,)))
        elif draw(st.booleans()):
            steps.append(Step(draw(st.sampled_from(BINARY)), (newest,), draw(st.sampled_from(CONSTANTS))))
        else:
            steps.append(Step(draw(st.sampled_from(BINARY)), (newest, other)))
    return Program(tuple(steps))


def marked(arity: int) -> Callable[..., Any]:
    return (lambda x, y: found.Marked(x, y)) if arity == 2 else (lambda x: found.Marked(x))


def traced(program: Program, swapped: Sequence[bool] = ()) -> Model:
    return trace(program.function(swapped), *[FLOAT["N", 3]] * program.arity)


def operators(model: Model) -> list[str]:
    return [node.op_type for node in model.proto.graph.node]


@given(programs())
@settings(max_examples=60, deadline=None, derandomize=True, database=None)
def test_a_model_made_of_a_pattern_matches_it(program: Program) -> None:
    result = rewrite(traced(program), Rule(program.function(), marked(program.arity)))
    assert "Marked" in operators(result)


@given(programs(), st.lists(st.booleans(), min_size=9, max_size=9))
@settings(max_examples=60, deadline=None, derandomize=True, database=None)
def test_so_does_one_with_inputs_the_other_way_round(program: Program, swapped: list[bool]) -> None:
    result = rewrite(traced(program, swapped), Rule(program.function(), marked(program.arity)))
    assert "Marked" in operators(result)


@given(programs(), st.lists(st.booleans(), min_size=9, max_size=9))
@settings(max_examples=40, deadline=None, derandomize=True, database=None)
def test_a_rule_whose_replacement_is_its_pattern_leaves_results_equal(
    program: Program, swapped: list[bool]
) -> None:
    rule = Rule(program.function(), program.function())
    assert not rewrite(traced(program), rule).report.edits
    model = traced(program, swapped)
    result = rewrite(model, rule)
    result.check()
    assert "without end" not in str(result.report)
    rng = np.random.default_rng(3)
    arrays = [rng.standard_normal((2, 3)).astype(np.float32) for _ in range(program.arity)]
    np.testing.assert_array_equal(result(*arrays), model(*arrays))


@given(programs())
@settings(max_examples=30, deadline=None, derandomize=True, database=None)
def test_an_alternative_beside_it_changes_nothing(program: Program) -> None:
    pattern = program.function()
    both = (
        (lambda x, y: either(op.Softplus(pattern(x, y)), pattern(x, y)))
        if program.arity == 2
        else (lambda x: either(op.Softplus(pattern(x)), pattern(x)))
    )
    result = rewrite(traced(program), Rule(both, marked(program.arity)))
    assert "Marked" in operators(result)


#: Each says the same with other operators.
EQUIVALENT = [
    Rule(lambda x: op.Relu(x), lambda x: op.Max(x, 0.0), name="relu"),
    Rule(lambda x, y: op.Sub(x, y), lambda x, y: x + op.Neg(y), name="sub"),
    Rule(lambda x: op.Neg(op.Neg(x)), lambda x: x, name="neg of neg"),
    Rule(lambda x: op.Abs(x), lambda x: op.Max(x, op.Neg(x)), name="abs"),
    Rule(lambda x: x + x, lambda x: x * 2.0, name="twice"),
    Rule(lambda x: op.Identity(x), lambda x: x, name="identity"),
    Rule(
        lambda x: (op.Tanh(x), op.Sigmoid(x)),
        lambda x: (2.0 * op.Sigmoid(2.0 * x) - 1.0, 0.5 + 0.5 * op.Tanh(0.5 * x)),
        when=lambda match: match["x"].dtype is FLOAT.dtype,
        name="tanh and sigmoid",
    ),
    Rule(
        lambda x: tuple(op.Split(x, axis=1, num_outputs=2)),
        lambda x: (op.Slice(x, [0], [2], [1]), op.Slice(x, [2], [4], [1])),
        name="split",
    ),
]


@given(runnable_models(), st.lists(st.sampled_from(range(len(EQUIVALENT))), min_size=1, unique=True))
@settings(max_examples=80, deadline=None, derandomize=True, database=None)
def test_rules_that_say_the_same_leave_results_as_they_are(proto: Any, chosen: list[int]) -> None:
    model = Model.from_proto(proto)
    result = rewrite(model, [EQUIVALENT[each] for each in chosen])
    result.check()
    arrays = feeds(proto)
    expected, given_back = model(**arrays), result(**arrays)
    if len(proto.graph.output) == 1:
        expected, given_back = (expected,), (given_back,)
    for left, right in zip(expected, given_back, strict=True):
        np.testing.assert_allclose(right, left, rtol=1e-3, atol=1e-3)


@given(runnable_models())
@settings(max_examples=30, deadline=None, derandomize=True, database=None)
def test_what_a_rule_finds_is_gone(proto: Any) -> None:
    """Nested graphs and functions included."""
    result = rewrite(Model.from_proto(proto), EQUIVALENT[:1])
    held = [result.ir.graph, *(each.graph for each in result.ir.functions.values())]
    assert not [node for graph in held for node in graph.all_nodes() if node.op_type == "Relu"]
