"""Tracing: functions of tensors become models, with their names, weights, versions and control flow."""

import os
import subprocess
import sys
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

import onnxsmith
from onnxsmith import BOOL, FLOAT, INT64, Opset, errors, opset9, opset13, trace
from onnxsmith import opset18 as op
from onnxsmith import opset21 as op21
from onnxsmith.graphs.origins import origin_of
from onnxsmith.source import text_of

X = np.arange(6, dtype=np.float32).reshape(2, 3)


def test_the_example_of_the_readme() -> None:
    model = trace(lambda a, b: op21.Relu(a @ b + 1.0), FLOAT["N", 4], FLOAT[4, 8])
    assert repr(model) == "Model(a: FLOAT['N', 4], b: FLOAT[4, 8]) -> relu: FLOAT['N', 8], 3 nodes, opset 21"
    a, b = np.ones((2, 4), np.float32), np.ones((4, 8), np.float32)
    np.testing.assert_array_equal(model(a, b), np.full((2, 8), 5, np.float32))
    np.testing.assert_array_equal(model(b=b, a=a), np.full((2, 8), 5, np.float32))
    model.check()


def test_a_captured_array_is_stored_once_and_not_copied() -> None:
    weight = np.ones((64, 64), np.float32)  # small ones are copied, so that nobody can change them afterwards
    model = trace(lambda x: (x @ weight) @ weight, FLOAT["N", 64])
    (value,) = model.ir.graph.initializers.values()
    assert value.name == "weight"
    assert np.shares_memory(value.const_value.numpy(), weight)


def test_equal_literals_are_one_initializer_and_unequal_ones_are_not() -> None:
    model = trace(lambda x: (x + 1.0) * 1.0 + 2.0, FLOAT["N"])
    assert sorted(v.const_value.numpy().item() for v in model.ir.graph.initializers.values()) == [1.0, 2.0]


def test_zero_and_minus_zero_are_two() -> None:
    model = trace(lambda x: op.Div(x, 0.0) + op.Div(x, -0.0), FLOAT["N"])
    assert np.isnan(model(np.float32([1]))).all()


def test_every_node_says_where_it_was_written() -> None:
    model = trace(lambda x: op.Relu(x), FLOAT["N"])
    (node,) = model.ir.graph
    assert node.metadata_props["onnxsmith.source"].endswith("test_trace.py:53:29-53:39")
    span = origin_of(model.ir, "the model", node.name or "")
    assert span is not None
    assert Path(span.file).resolve() == Path(__file__).resolve()
    assert text_of(span) == "op.Relu(x)"


def test_names_of_inputs_and_outputs() -> None:
    def function(left: object, right: object) -> object:
        return left + right, left

    model = trace(function, FLOAT[2], FLOAT[2], output_names=["total", "same"])
    assert [port.name for port in model.inputs] == ["left", "right"]
    assert [port.name for port in model.outputs] == ["total", "same"]
    assert model.ir.graph.name == "function"
    model = trace(function, FLOAT[2], FLOAT[2], input_names=["x", "y"], name="g")
    assert [port.name for port in model.inputs] == ["x", "y"]


def test_python_operators_use_the_opset_that_the_code_uses() -> None:
    assert trace(lambda a: op21.Relu(a + 1.0), FLOAT[2]).opset_imports == {"": 21}
    assert trace(lambda a: a + 1.0, FLOAT[2], opset_version=17).opset_imports == {"": 17}


def test_opsets_that_agree_on_every_operator_used_may_mix() -> None:
    assert trace(lambda a: op21.Relu(op.Sigmoid(a)), FLOAT[2]).opset_imports == {"": 21}


def test_opsets_that_disagree_are_an_error_at_both_places() -> None:
    with pytest.raises(errors.OpsetConflictError) as caught:
        trace(lambda a: op21.ReduceMean(opset9.Upsample(a, [1.0, 2.0]), [0]), FLOAT[2, 2])
    assert len(caught.value.labels) == 2


def test_an_opset_that_was_asked_for_is_kept() -> None:
    with pytest.raises(errors.OpsetConflictError, match="asked for this model"):
        trace(lambda a: op21.ReduceMean(a, [0]), FLOAT[2], opset_version=13)


def test_older_opsets_get_the_older_forms() -> None:
    model = trace(lambda a: opset13.Relu(a)[:, None].sum(axis=0).squeeze(), FLOAT["N", 3])
    assert model.opset_imports == {"": 13}
    model.check()
    np.testing.assert_array_equal(model(X), np.maximum(X, 0)[:, None].sum(axis=0).squeeze())


def test_ir_versions_are_the_lowest_that_work() -> None:
    assert trace(lambda a: opset9.Relu(a), FLOAT[2]).ir.ir_version == 4
    assert trace(lambda a: op21.Relu(a), FLOAT[2]).ir.ir_version == 10
    assert trace(lambda a: op.Cast(a, to=onnxsmith.BFLOAT16), FLOAT[2]).ir.ir_version == 8


def test_branches_and_loops_given_as_functions() -> None:
    def function(x: object, flag: object) -> object:
        doubled = op.If(flag, then_branch=lambda: x * 2.0, else_branch=lambda: x)
        _, total = op.Loop(3, True, doubled, body=lambda i, go, v: (go, v + 1.0, v))
        return total

    model = trace(function, FLOAT["N"], BOOL)
    model.check()
    for flag in (True, False):
        expected = function(np.float32([1, 2]), np.array(flag))
        np.testing.assert_array_equal(model(np.float32([1, 2]), np.array(flag)), expected)


def test_a_loop_whose_state_grows() -> None:
    def function(x: object) -> object:
        return op.Loop(3, True, x, body=lambda i, go, v: (go, op.Concat(v, v, axis=0)))

    model = trace(function, FLOAT[2])
    assert model(np.float32([1, 2])).shape == (16,)
    assert function(np.float32([1, 2])).shape == (16,)


def test_lists_of_scalars_and_tensors_are_shapes() -> None:
    model = trace(lambda x: op.Reshape(x, [x.shape[1], -1]), FLOAT["N", "M"])
    assert model(X).shape == (3, 2)
    assert trace(lambda x: x.reshape(x.shape[1], x.shape[0]), FLOAT["N", "M"])(X).shape == (3, 2)


def test_dimensions_compute_as_pythons_numbers_do() -> None:
    model = trace(lambda x: x / x.shape[0] + x.shape[1] / 2, FLOAT["N", "M"])
    np.testing.assert_array_equal(model(X), X / 2 + np.float32(1.5))


def test_functions_of_other_domains_are_taken_unchecked() -> None:
    custom = Opset("my.domain", 2)
    model = trace(lambda x: custom.Frobnicate(x, alpha=0.5), FLOAT[2])
    assert model.opset_imports == {"": model.opset_imports[""], "my.domain": 2}
    node = model.proto.graph.node[0]
    assert (node.domain, node.op_type, node.attribute[0].f) == ("my.domain", "Frobnicate", 0.5)


@pytest.mark.parametrize(
    ("write", "error", "message"),
    [
        (
            lambda: trace(lambda a: None, FLOAT[2]),
            errors.TraceError,
            "the function returns None, not a tensor",
        ),
        (
            lambda: trace(lambda a, b: a, FLOAT[2]),
            errors.TraceError,
            "trace was given 1 type, and the function cannot be called with as many arguments",
        ),
        (lambda: trace(3, FLOAT[2]), errors.TraceError, "trace needs a function first, not an int"),
        (
            lambda: trace(lambda a: a, int),
            errors.AnnotationError,
            "type 0 of trace is int, which is no tensor type",
        ),
        (lambda: trace(lambda a: a if a.sum() > 0 else -a, FLOAT[2]), errors.TracedValueError, ""),
        (
            lambda: trace(lambda a: a + 1, FLOAT[2], output_names=["x", "y"]),
            errors.TraceError,
            "output_names has 2",
        ),
    ],
)
def test_what_cannot_be_traced(write: object, error: type[errors.OnnxsmithError], message: str) -> None:
    with pytest.raises(error) as caught:
        write()
    assert message in caught.value.message


def test_tensors_do_not_leave_their_graph() -> None:
    kept = []
    trace(lambda a: kept.append(a) or op.Relu(a), FLOAT[2])
    with pytest.raises(errors.LeakedValueError):
        kept[0] + 1.0
    with pytest.raises(errors.LeakedValueError, match="another graph"):
        trace(lambda a: a + kept[0], FLOAT[2])
    with pytest.raises(errors.LeakedValueError):
        op.Relu(kept[0])


def test_calling_a_model_wrongly() -> None:
    model = trace(lambda a, b: a + b, FLOAT[2], FLOAT[2])
    x = np.float32([1, 2])
    for call in (lambda: model(x), lambda: model(x, x, x), lambda: model(x, c=x), lambda: model(x, a=x)):
        with pytest.raises(errors.ModelInputError):
            call()


def test_a_traced_model_is_the_same_under_every_hash_seed() -> None:
    program = (
        "import numpy as np\nfrom onnxsmith import *\nimport sys\nfrom onnxsmith import opset18 as op\n"
        "def f(a, b):\n    ys = [op.Relu(a + k) for k in (1.0, 2.0, 3.0)]\n"
        "    return op.Concat(*ys, b[:, None] * np.float32([1, 2]).reshape(1, 2), axis=0)\n"
        "sys.stdout.buffer.write(trace(f, FLOAT['N', 2], FLOAT['M']).proto.SerializeToString())\n"
    )
    results = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "2")
    }
    assert len(results) == 1
    onnx.checker.check_model(results.pop())


def test_integer_inputs_and_several_types() -> None:
    model = trace(lambda i, x: (op.Gather(x, i), i + 1), INT64["K"], FLOAT["N", 3])
    gathered, more = model(np.array([1, 0]), X)
    np.testing.assert_array_equal(gathered, X[[1, 0]])
    np.testing.assert_array_equal(more, [2, 1])


def test_arrays_of_the_other_byte_order_are_read_right() -> None:
    swapped = X.astype(X.dtype.newbyteorder())
    for _ in range(2):
        np.testing.assert_array_equal(op.Add(swapped, X), X + X)
    np.testing.assert_array_equal(trace(lambda x: x + swapped, FLOAT[2, 3])(X), X + X)


def test_an_opset_beyond_what_is_installed_is_refused() -> None:
    with pytest.raises(errors.OperatorNotInOpsetError, match="newer than what is installed"):
        _ = Opset("", 999).Relu


@pytest.mark.parametrize(
    ("decide", "answer"),
    [
        (lambda n: n > 0, None),
        (lambda n: n >= 1, None),
        (lambda n: n != 0, None),
        (lambda n: n == 0, None),
        (lambda n: 0 < n, None),
        (lambda n: 2 * n > n, None),
        (lambda n: n // 2 < n, None),
        (lambda n: n >= 0, True),
        (lambda n: n < 0, False),
        (lambda n: n + 1 > 0, True),
        (lambda n: n + 1 > n, True),
        (lambda n: n == -1, False),
    ],
)
def test_a_comparison_is_decided_only_where_it_holds_for_every_size_and_0_is_one(decide, answer) -> None:
    def branch(x):
        return x * 2.0 if decide(x.shape[0]) else x

    if answer is None:
        with pytest.raises(errors.TracedValueError, match="known only when the model runs") as caught:
            trace(branch, FLOAT["N"])
        assert "@script" in (caught.value.help or "")
    else:
        model = trace(branch, FLOAT["N"])
        for size in (0, 1, 3):
            x = np.ones(size, np.float32)
            np.testing.assert_array_equal(model(x), x * 2 if answer else x)


def test_the_floor_of_a_size_less_1_is_right_for_size_0() -> None:
    model = trace(lambda x: (x.shape[0] - 1) // 2 * 1.0, FLOAT["N"])
    assert [float(model(np.zeros(size, np.float32))) for size in (0, 1, 3, 4)] == [-1, 0, 1, 1]


@pytest.mark.parametrize(
    "result",
    [object(), Fraction(1, 2), Decimal(3), len, int, ..., b"bytes"],
    ids=lambda each: type(each).__name__,
)
def test_an_object_is_no_result(result: Any) -> None:
    """numpy makes an array of any object, and a model had its text."""
    with pytest.raises(errors.TraceError, match="not a tensor"):
        trace(lambda x: result, FLOAT)
    with pytest.raises(errors.TraceError, match="result 1 of the function is"):
        trace(lambda x: (x, result), FLOAT)


def test_options_of_other_kinds_are_refused() -> None:
    with pytest.raises(errors.AttributeValueError, match="opset_version=True is not there"):
        trace(op.Relu, FLOAT[2], opset_version=True)
    with pytest.raises(errors.TraceError, match="input_names renames '1', and there is none"):
        trace(op.Relu, FLOAT[2], input_names={1: "a"})  # type: ignore[dict-item]
