"""What a pattern matches, and what keeps it from matching."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Literal

import numpy as np
import onnx
import pytest
from onnx import parser

import onnxsmith
from onnxsmith import (
    DOUBLE,
    FLOAT,
    INT64,
    Constant,
    Model,
    Rule,
    either,
    opset13,
    opset17,
    opset18,
    rewrite,
    trace,
)
from onnxsmith import opset21 as op

#: Stands for whatever was found: no model has it otherwise.
found = onnxsmith.Opset("found", 1)


def mark(*names: str) -> Callable[..., Any]:
    """A replacement that shows what it was given; its parameters are the names."""
    space: dict[str, Any] = {"found": found}
    tensors = [each for each in names if not each.startswith("=")]
    captured = [each[1:] for each in names if each.startswith("=")]
    head = ", ".join([*tensors, *(["*", *captured] if captured else [])])
    inner = ", ".join([*tensors, *(f"{each}={each}" for each in captured)])
    exec(f"def marked({head}): return found.Marked({inner})", space)
    return space["marked"]


def count(model: Model, rule: Rule) -> int:
    """How often a rule applies."""
    return len(rewrite(model, rule).report.edits)


def marked(model: Model) -> onnx.NodeProto:
    """The node that a replacement left."""
    return next(node for node in model.proto.graph.node if node.op_type == "Marked")


def attributes(node: onnx.NodeProto) -> dict[str, Any]:
    return {each.name: onnx.helper.get_attribute_value(each) for each in node.attribute}


def parsed(text: str) -> Model:
    return Model.from_proto(parser.parse_model(text))


# -- operators and their inputs ---------------------------------------------------------------------------


def test_operators_in_a_row() -> None:
    rule = Rule(lambda x: op.Relu(op.Neg(x)), mark("x"))
    assert count(trace(lambda x: op.Relu(op.Neg(op.Abs(x))), FLOAT["N"]), rule) == 1
    assert count(trace(lambda x: op.Neg(op.Relu(x)), FLOAT["N"]), rule) == 0


def test_a_parameter_is_one_value() -> None:
    rule = Rule(lambda x: x * op.Sigmoid(x), mark("x"))
    assert count(trace(lambda x: x * op.Sigmoid(x), FLOAT["N"]), rule) == 1
    assert count(trace(lambda x, y: x * op.Sigmoid(y), FLOAT["N"], FLOAT["N"]), rule) == 0


@pytest.mark.parametrize(
    "written",
    [
        lambda x, y: op.Relu(x) + op.Neg(y),
        lambda x, y: op.Neg(y) + op.Relu(x),
    ],
)
def test_either_order(written: Callable[..., Any]) -> None:
    model = trace(written, FLOAT["N"], FLOAT["N"])
    pattern = lambda x, y: op.Relu(x) + op.Neg(y)  # noqa: E731
    result = rewrite(model, Rule(pattern, mark("x", "y")))
    assert list(marked(result).input) == ["x", "y"]


def test_one_order_on_request() -> None:
    model = trace(lambda x, y: op.Neg(y) + op.Relu(x), FLOAT["N"], FLOAT["N"])
    pattern = lambda x, y: op.Relu(x) + op.Neg(y)  # noqa: E731
    assert count(model, Rule(pattern, mark("x", "y"), commutative=False)) == 0


def test_no_other_order_where_that_matters() -> None:
    model = trace(lambda x, y: op.Neg(y) - op.Relu(x), FLOAT["N"], FLOAT["N"])
    assert count(model, Rule(lambda x, y: op.Relu(x) - op.Neg(y), mark("x", "y"))) == 0


def test_many_inputs_in_any_order() -> None:
    model = trace(lambda x, y: op.Max(op.Abs(x), y, op.Neg(x), op.Relu(y)), FLOAT["N"], FLOAT["N"])
    pattern = lambda a, b, c, d: op.Max(op.Relu(a), op.Neg(b), op.Abs(c), d)  # noqa: E731
    result = rewrite(model, Rule(pattern, mark("a", "b", "c", "d")))
    assert list(marked(result).input) == ["y", "x", "x", "y"]


def test_a_choice_is_taken_back() -> None:
    """The first order of the outer Add fits until its inner one is looked at."""
    model = trace(lambda x, y: (op.Relu(x) + op.Abs(y)) + (op.Relu(x) + op.Neg(y)), FLOAT["N"], FLOAT["N"])
    pattern = lambda a, b, c, d: (op.Neg(a) + op.Relu(b)) + (op.Abs(c) + op.Relu(d))  # noqa: E731
    result = rewrite(model, Rule(pattern, mark("a", "b", "c", "d")))
    assert list(marked(result).input) == ["y", "x", "y", "x"]


def test_an_input_that_is_left_out() -> None:
    rule = Rule(lambda x: op.Clip(x, None, 6.0), mark("x"))
    assert count(trace(lambda x: op.Clip(x, None, 6.0), FLOAT["N"]), rule) == 1
    assert count(trace(lambda x: op.Clip(x, 0.0, 6.0), FLOAT["N"]), rule) == 0


def test_outputs_that_are_not_read() -> None:
    rule = Rule(lambda x: op.Dropout(x), mark("x"))
    model = parsed("""<ir_version: 8, opset_import: ["": 17]>
        g (float[N] x) => (float[N] z) { y, m = Dropout(x)  z = Relu(y) }""")
    assert count(model, rule) == 1
    both = parsed("""<ir_version: 8, opset_import: ["": 17]>
        g (float[N] x) => (float[N] z, bool[N] m) { y, m = Dropout(x)  z = Relu(y) }""")
    assert count(both, rule) == 0


def test_the_number_of_outputs_counts() -> None:
    rule = Rule(lambda x: tuple(op.Split(x, num_outputs=2)), lambda x: (x[:3], x[3:]))
    halves = trace(lambda x: tuple(op.Split(x, num_outputs=2)), FLOAT[6])
    thirds = trace(lambda x: tuple(op.Split(x, num_outputs=3))[:2], FLOAT[6])
    assert (count(halves, rule), count(thirds, rule)) == (1, 0)


# -- what is inside is only inside ------------------------------------------------------------------------


def test_what_is_read_elsewhere_blocks() -> None:
    rule = Rule(lambda x: op.Relu(op.Neg(x)), mark("x"))

    def shared(x: Any) -> Any:
        inner = op.Neg(x)
        return op.Relu(inner) + op.Abs(inner)

    assert count(trace(shared, FLOAT["N"]), rule) == 0


def test_what_is_returned_blocks() -> None:
    rule = Rule(lambda x: op.Relu(op.Neg(x)), mark("x"))

    def both(x: Any) -> Any:
        inner = op.Neg(x)
        return op.Relu(inner), inner

    assert count(trace(both, FLOAT["N"]), rule) == 0


def test_what_a_nested_graph_reads_blocks() -> None:
    model = parsed("""<ir_version: 8, opset_import: ["": 17]>
        g (float[N] x, bool c) => (float[N] z) {
            y = Neg(x)
            r = Relu(y)
            i = If (c) <then_branch = t () => (float[N] a) { a = Abs(y) },
                        else_branch = e () => (float[N] b) { b = Neg(r) }>
            z = Add(r, i)
        }""")
    assert count(model, Rule(lambda x: op.Relu(op.Neg(x)), mark("x"))) == 0


def test_an_output_of_the_pattern_may_be_read() -> None:
    def shared(x: Any) -> Any:
        inner = op.Neg(x)
        return op.Relu(inner) + op.Abs(inner)

    def pattern(x: Any) -> Any:
        inner = op.Neg(x)
        return inner, op.Relu(inner)

    rule = Rule(pattern, lambda x: (0.0 - x, op.Max(0.0 - x, 0.0)))
    model = trace(shared, FLOAT["N"])
    result = rewrite(model, rule)
    assert len(result.report.edits) == 1
    x = np.array([-1.0, 0.0, 2.0], np.float32)
    np.testing.assert_array_equal(result(x), model(x))


# -- attributes -------------------------------------------------------------------------------------------


def test_a_default_is_the_explicit_value() -> None:
    left_out, given = (lambda x: op.Softmax(x)), (lambda x: op.Softmax(x, axis=-1))
    for pattern in (left_out, given):
        for written in (left_out, given):
            assert count(trace(written, FLOAT["N", 4]), Rule(pattern, mark("x"))) == 1
    other = trace(lambda x: op.Softmax(x, axis=0), FLOAT["N", 4])
    assert count(other, Rule(left_out, mark("x"))) == 0


def test_an_attribute_that_the_pattern_does_not_mention_has_its_default() -> None:
    model = trace(lambda x: op.LeakyRelu(x, alpha=0.5), FLOAT["N"])
    assert count(model, Rule(lambda x: op.LeakyRelu(x), mark("x"))) == 0


def test_captured_attributes() -> None:
    def pattern(x: Any, *, axis: int) -> Any:
        return op.Softmax(op.LeakyRelu(x, alpha=0.25), axis=axis)

    model = trace(lambda x: op.Softmax(op.LeakyRelu(x, alpha=0.25), axis=1), FLOAT["N", 4])
    assert attributes(marked(rewrite(model, Rule(pattern, mark("x", "=axis"))))) == {"axis": 1}
    default = trace(lambda x: op.Softmax(op.LeakyRelu(x, alpha=0.25)), FLOAT["N", 4])
    assert attributes(marked(rewrite(default, Rule(pattern, mark("x", "=axis"))))) == {"axis": -1}


def test_captured_lists_and_strings() -> None:
    def pattern(x: Any, *, perm: list[int], mode: Literal["none", "tanh"]) -> Any:
        return op.Gelu(op.Transpose(x, perm=perm), approximate=mode)

    model = trace(lambda x: op.Gelu(op.Transpose(x, perm=[1, 0]), approximate="tanh"), FLOAT[2, 3])
    result = rewrite(model, Rule(pattern, mark("x", "=perm", "=mode")))
    assert attributes(marked(result)) == {"perm": [1, 0], "mode": b"tanh"}


def test_what_is_captured_twice_is_equal() -> None:
    def pattern(x: Any, *, axis: int) -> Any:
        return op.Softmax(op.LogSoftmax(x, axis=axis), axis=axis)

    rule = Rule(pattern, mark("x", "=axis"))
    assert count(trace(lambda x: op.Softmax(op.LogSoftmax(x, axis=0), axis=0), FLOAT[2, 3]), rule) == 1
    assert count(trace(lambda x: op.Softmax(op.LogSoftmax(x, axis=0), axis=1), FLOAT[2, 3]), rule) == 0


# -- constants --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_literals_match_within_their_precision(dtype: type) -> None:
    rule = Rule(lambda x: x * math.sqrt(0.5), mark("x"))
    root = dtype(math.sqrt(0.5))
    near, far = np.nextafter(root, dtype(1)), root * dtype(1 + 8 * np.finfo(dtype).eps)
    for number, expected in ((root, 1), (near, 1), (far, 0), (dtype(0.5), 0)):
        model = trace(lambda x, number=number: x * number, np.zeros(3, dtype))
        assert count(model, rule) == expected


def test_an_int_is_an_int_and_a_float() -> None:
    rule = Rule(lambda x: op.Pow(x, 2), mark("x"))
    assert count(trace(lambda x: op.Pow(x, np.float32(2)), FLOAT["N"]), rule) == 1
    assert count(trace(lambda x: op.Pow(x, np.int64(2)), FLOAT["N"]), rule) == 1
    assert count(trace(lambda x: op.Pow(x, np.float32(2.0001)), FLOAT["N"]), rule) == 0


def test_a_float_is_no_int() -> None:
    assert count(trace(lambda x: x * 2, INT64["N"]), Rule(lambda x: x * 2.0, mark("x"))) == 0


@pytest.mark.parametrize(("shape", "expected"), [((), 1), ((1,), 1), ((1, 1), 1), ((1, 1, 1), 0)])
def test_a_number_may_have_dimensions_that_change_nothing(shape: tuple[int, ...], expected: int) -> None:
    model = trace(lambda x: x * np.full(shape, 2.0, np.float32), FLOAT["N", 4])
    assert count(model, Rule(lambda x: x * 2.0, mark("x"))) == expected


def test_arrays_match_by_content() -> None:
    rule = Rule(lambda x: op.Reshape(x, [0, -1]), mark("x"))
    assert count(trace(lambda x: op.Reshape(x, [0, -1]), FLOAT[2, 3, 4]), rule) == 1
    assert count(trace(lambda x: op.Reshape(x, [2, -1]), FLOAT[2, 3, 4]), rule) == 0


def test_captured_numbers() -> None:
    def pattern(x: Any, *, epsilon: float, power: int) -> Any:
        return op.Sqrt(op.Pow(x, power) + epsilon)

    model = trace(lambda x: op.Sqrt(op.Pow(x, np.float32(2)) + np.float32(0.5)), FLOAT["N"])
    result = rewrite(model, Rule(pattern, mark("x", "=epsilon", "=power")))
    assert attributes(marked(result)) == {"epsilon": 0.5, "power": 2}


@pytest.mark.parametrize(
    ("array", "captured"),
    [
        (np.array([2, 3]), [2, 3]),
        (np.array([6]), [6]),
        (np.array([], np.int64), []),
        (np.float32([2, 3]), [2, 3]),
        (np.array(6), None),
        (np.array([[2, 3]]), None),
        (np.float32([2.5, 3]), None),
    ],
    ids=str,
)
def test_a_list_is_captured_of_a_vector_alone(array: Any, captured: list[int] | None) -> None:
    own = onnxsmith.Opset("own", 1)

    def pattern(x: Any, *, sizes: list[int]) -> Any:
        return own.Sized(x, sizes)

    model, rule = trace(lambda x: own.Sized(x, array), FLOAT["N"]), Rule(pattern, mark("x", "=sizes"))
    assert count(model, rule) == (captured is not None)
    if captured is not None:
        assert attributes(marked(rewrite(model, rule))) == {"sizes": captured}


def test_what_only_a_run_knows_is_no_number() -> None:
    def pattern(x: Any, *, epsilon: float) -> Any:
        return op.Sqrt(x + epsilon)

    rule = Rule(pattern, mark("x", "=epsilon"))
    assert count(trace(lambda x, y: op.Sqrt(x + y), FLOAT["N"], FLOAT), rule) == 0


def test_constants_in_every_form() -> None:
    rule = Rule(lambda x: x + 1.5, mark("x"))
    for constant in ("c = Constant <value_float = 1.5> ()", "c = Constant <value = float {1.5}> ()"):
        model = parsed(f"""<ir_version: 8, opset_import: ["": 17]>
            g (float[N] x) => (float[N] z) {{ {constant}  z = Add(c, x) }}""")
        assert count(model, rule) == 1


def test_an_initializer_that_is_an_input_is_no_constant() -> None:
    rule = Rule(lambda x: x + 1.5, mark("x"))
    inside = """<ir_version: 8, opset_import: ["": 17]>
        g (float[N] x) => (float[N] z) <float c = {1.5}> { z = Add(x, c) }"""
    given = """<ir_version: 8, opset_import: ["": 17]>
        g (float[N] x, float c) => (float[N] z) <float c = {1.5}> { z = Add(x, c) }"""
    assert (count(parsed(inside), rule), count(parsed(given), rule)) == (1, 0)


def test_parameters_that_are_constants() -> None:
    def pattern(x: Any, w: Constant) -> Any:
        return op.MatMul(x, w)

    rule = Rule(pattern, mark("x", "w"))
    weight = np.ones((4, 2), np.float32)
    assert count(trace(lambda x: op.MatMul(x, weight), FLOAT["N", 4]), rule) == 1
    assert count(trace(lambda x, y: op.MatMul(x, y), FLOAT["N", 4], FLOAT[4, 2]), rule) == 0


# -- annotations ------------------------------------------------------------------------------------------


def test_element_types() -> None:
    def pattern(x: DOUBLE[...]) -> Any:
        return op.Relu(x)

    rule = Rule(pattern, mark("x"))
    assert count(trace(lambda x: op.Relu(x), DOUBLE["N"]), rule) == 1
    assert count(trace(lambda x: op.Relu(x), FLOAT["N"]), rule) == 0


def test_sizes_and_ranks() -> None:
    def pattern(x: FLOAT["N", 4]) -> Any:
        return op.Relu(x)

    rule = Rule(pattern, mark("x"))
    for kind, expected in (
        (FLOAT["B", 4], 1),
        (FLOAT[7, 4], 1),
        (FLOAT["B", 5], 0),
        (FLOAT["B"], 0),
        (FLOAT[...], 0),
    ):
        assert count(trace(lambda x: op.Relu(x), kind), rule) == expected


def test_equal_names_are_equal_sizes() -> None:
    def pattern(x: FLOAT["N", "K"], y: FLOAT["K", "M"]) -> Any:
        return op.Relu(op.MatMul(op.Relu(x), y))

    rule = Rule(pattern, mark("x", "y"))
    written = lambda x, y: op.Relu(op.MatMul(op.Relu(x), y))  # noqa: E731
    assert count(trace(written, FLOAT["A", 4], FLOAT[4, 2]), rule) == 1
    assert count(trace(written, FLOAT["A", "K"], FLOAT["K", 2]), rule) == 1
    assert count(trace(written, FLOAT["A", None], FLOAT[None, 2]), rule) == 0


# -- variadics, alternatives, several outputs ---------------------------------------------------------------


def test_the_rest_of_the_inputs() -> None:
    def pattern(*xs: Any, axis: int) -> Any:
        return op.Relu(op.Concat(*xs, axis=axis))

    def replacement(*xs: Any, axis: int) -> Any:
        return op.Concat(*[op.Relu(each) for each in xs], axis=axis)

    model = trace(lambda x, y, z: op.Relu(op.Concat(x, y, z, axis=1)), *[FLOAT[2, 3]] * 3)
    result = rewrite(model, Rule(pattern, replacement))
    assert [node.op_type for node in result.proto.graph.node] == ["Relu", "Relu", "Relu", "Concat"]
    arrays = [np.random.default_rng(k).standard_normal((2, 3)).astype(np.float32) for k in range(3)]
    np.testing.assert_array_equal(result(*arrays), model(*arrays))


def test_the_rest_after_others() -> None:
    pattern = lambda x, *xs: op.Concat(op.Relu(x), *xs, axis=0)  # noqa: E731
    rule = Rule(pattern, lambda x, *xs: found.Marked(x, *xs))
    model = trace(lambda x, y, z: op.Concat(op.Relu(x), y, z, axis=0), *[FLOAT["N"]] * 3)
    assert list(marked(rewrite(model, rule)).input) == ["x", "y", "z"]
    swapped = trace(lambda x, y: op.Concat(y, op.Relu(x), axis=0), *[FLOAT["N"]] * 2)
    assert count(swapped, rule) == 0
    total = Rule(lambda x, *xs: op.Sum(op.Relu(x), *xs), lambda x, *xs: found.Marked(x, *xs))
    commuted = trace(lambda x, y, z: op.Sum(y, op.Relu(x), z), *[FLOAT["N"]] * 3)
    assert list(marked(rewrite(commuted, total)).input) == ["x", "y", "z"]


def test_alternatives_inside() -> None:
    rule = Rule(lambda x: op.Relu(either(op.Neg(x), op.Abs(x))), mark("x"))
    for inner, expected in ((op.Neg, 1), (op.Abs, 1), (op.Exp, 0)):
        assert count(trace(lambda x, inner=inner: op.Relu(inner(x)), FLOAT["N"]), rule) == expected


def test_alternative_patterns() -> None:
    rule = Rule([lambda x: op.Relu(op.Neg(x)), lambda x: op.Abs(op.Neg(x))], mark("x"), name="either")
    model = trace(lambda x: op.Relu(op.Neg(x)) + op.Abs(op.Neg(x)), FLOAT["N"])
    assert count(model, rule) == 2
    returned = Rule(lambda x: either(op.Relu(op.Neg(x)), op.Abs(op.Neg(x))), mark("x"))
    assert count(model, returned) == 2


def test_a_parameter_of_one_alternative() -> None:
    pattern = lambda x, b: either(op.MatMul(x, x) + b, op.Relu(x))  # noqa: E731
    rule = Rule(pattern, lambda x, b=None: found.Marked(x) if b is None else found.Marked(x, b))
    model = trace(lambda x, b: op.Relu(x) - (op.MatMul(x, x) + b), FLOAT[2, 2], FLOAT[2])
    result = rewrite(model, rule)
    inputs = sorted(len(node.input) for node in result.proto.graph.node if node.op_type == "Marked")
    assert inputs == [1, 2]


def test_outputs_beside_each_other() -> None:
    pattern = lambda x, w, v: (op.MatMul(x, w), op.MatMul(x, v))  # noqa: E731
    rule = Rule(pattern, lambda x, w, v: tuple(found.Two(x, w, v, outputs=2)))
    weights = [np.full((4, 4), k, np.float32) for k in range(3)]
    two = trace(lambda x: op.Relu(x @ weights[0]) + op.Neg(x @ weights[1]), FLOAT["N", 4])
    assert count(two, rule) == 1
    one = trace(lambda x: op.Relu(x @ weights[0]), FLOAT["N", 4])
    assert count(one, rule) == 0


def test_an_input_that_depends_on_an_output_blocks() -> None:
    pattern = lambda x, y: (op.Relu(x), op.MatMul(x, y))  # noqa: E731
    rule = Rule(pattern, lambda x, y: tuple(found.Two(x, y, outputs=2)))
    circle = trace(lambda x: (op.Abs(op.Relu(x)), op.MatMul(x, op.Abs(op.Relu(x)))), FLOAT[3, 3])
    assert count(circle, rule) in (0, 1)  # one Relu is free of it

    def really(x: Any) -> Any:
        inner = op.Relu(x)
        return op.MatMul(x, op.Abs(inner))

    result = rewrite(trace(really, FLOAT[3, 3]), rule)
    assert not result.report.edits
    assert "depends on what it gives" in str(result.report)


# -- versions ---------------------------------------------------------------------------------------------


def test_versions_that_mean_the_same() -> None:
    rule = Rule(lambda x: op.Reshape(x, [-1]), mark("x"))  # Reshape-21
    assert count(trace(lambda x: opset13.Reshape(x, [-1]), FLOAT[2, 3]), rule) == 1
    old = Rule(lambda x: opset13.Reshape(x, [-1]), mark("x"))
    assert count(trace(lambda x: op.Reshape(x, [-1]), FLOAT[2, 3]), old) == 1


def test_versions_that_mean_something_else() -> None:
    """Until opset 18 the axes of ReduceMean were an attribute."""
    model = trace(lambda x: opset17.ReduceMean(x), FLOAT[2, 3])
    assert count(model, Rule(lambda x: opset18.ReduceMean(x), mark("x"))) == 0
    assert count(model, Rule(lambda x: opset17.ReduceMean(x), mark("x"))) == 1


def test_the_standard_domain_by_its_other_name() -> None:
    model = parsed("""<ir_version: 8, opset_import: ["ai.onnx": 17]>
        g (float[N] x) => (float[N] z) { y = ai.onnx.Neg(x)  z = Relu(y) }""")
    assert count(model, Rule(lambda x: op.Relu(op.Neg(x)), mark("x"))) == 1


def test_literals_before_there_was_a_cast_like() -> None:
    rule = Rule(lambda x: opset13.Relu(x * 0.5), mark("x"))
    assert count(trace(lambda x: op.Relu(x * 0.5), DOUBLE["N"]), rule) == 1


# -- work -------------------------------------------------------------------------------------------------


def test_a_hostile_model_does_not_take_for_ever() -> None:
    """A sum of many equal sums fits in 2**n orders, each of which fails at the end."""

    def tower(x: Any, depth: int) -> Any:
        for _ in range(depth):
            x = op.Max(op.Relu(x), op.Relu(x), op.Relu(x))
        return x

    model = trace(lambda x: tower(x, 12), FLOAT["N"])
    pattern = lambda x: tower(op.Neg(x), 10)  # noqa: E731
    result = rewrite(model, Rule(pattern, mark("x")))
    assert not result.report.edits


def test_equal_operators_of_a_pattern_may_be_one_node() -> None:
    def once(x: Any) -> Any:
        inner = op.Sigmoid(x)
        return inner * inner

    assert count(trace(once, FLOAT["N"]), Rule(lambda x: op.Sigmoid(x) * op.Sigmoid(x), mark("x"))) == 1
