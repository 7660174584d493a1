"""`stop_gradient`, `custom_gradient` and `checkpoint`, also after a model was saved and loaded."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import onnxsmith.numpy as xp
from onnxsmith import DOUBLE, FLOAT, load, script, trace
from onnxsmith import opset21 as op
from onnxsmith.errors import CallError, TensorAssignmentError
from onnxsmith.grad import checkpoint, custom_gradient, grad, jvp, stop_gradient

X = np.float32([1.25, -2.5])
straight_through = custom_gradient(lambda x: op.Round(x))(lambda g, x: g)


def test_no_gradient_goes_through_what_is_stopped() -> None:
    np.testing.assert_array_equal(grad(lambda x: (x * stop_gradient(x)).sum())(X), X)
    np.testing.assert_array_equal(jvp(lambda x: x * stop_gradient(x))(X, tangent=X)[1], X * X)


def test_a_stopped_value_in_a_script() -> None:
    @script
    def loss(x: FLOAT["N"]):
        return op.ReduceSum(x * stop_gradient(x), keepdims=0)

    np.testing.assert_array_equal(grad(loss)(X), X)
    np.testing.assert_allclose(loss(X), (X * X).sum())


def test_a_gradient_of_its_own(tmp_path: Any) -> None:
    np.testing.assert_array_equal(grad(lambda x: (straight_through(x) * x).sum())(X), np.round(X) + X)
    model = trace(lambda x: op.ReduceSum(straight_through(x * 3.0), keepdims=0), FLOAT["N"])
    model.save(tmp_path / "model.onnx")
    for each in (model, load(tmp_path / "model.onnx")):
        each.check()
        np.testing.assert_array_equal(each.gradient(wrt=["x"])(X)[1], [3, 3])


def test_several_arguments_and_one_without_a_cotangent() -> None:
    product = custom_gradient(lambda x, y: x * y)(lambda g, x, y: (g * 100.0, None))
    by_x, by_y = grad(lambda x, y: product(x, y).sum(), wrt=(0, 1))(X, X)
    np.testing.assert_array_equal(by_x, [100, 100])
    np.testing.assert_array_equal(by_y, [0, 0])


def test_it_runs_on_arrays_as_it_is() -> None:
    np.testing.assert_array_equal(straight_through(X), np.round(X))


def test_a_backward_function_of_another_number_of_cotangents() -> None:
    wrong = custom_gradient(lambda x, y: x * y)(lambda g, x, y: g)
    with pytest.raises(CallError, match="returns 1 cotangents, and the function has 2 arguments"):
        trace(lambda x: wrong(x, x), FLOAT["N"])


#: Prints by how much memory grows while a gradient runs, of eight blocks with or without the mark.
MEMORY = """
import sys
import numpy as np
from onnxsmith import FLOAT, opset21 as op, trace
from onnxsmith.grad import checkpoint

def block(x, w, v):
    return x + op.Tanh(op.MatMul(op.Tanh(op.Sin(op.Exp(op.Tanh(op.MatMul(x, w))))), v))

inner = checkpoint(block) if sys.argv[1] == "again" else block

def net(x, *weights):
    for k in range(0, len(weights), 2):
        x = inner(x, weights[k], weights[k + 1])
    return op.ReduceMean(x * x, keepdims=0)

weights = [np.eye(64, dtype=np.float32)] * 16
model = trace(net, FLOAT[16384, 64], *[FLOAT[64, 64]] * 16, opset_version=21)
run = model.gradient(wrt=[each.name for each in model.inputs[1:]]).runner()
x = np.ones((16384, 64), np.float32)

def peak():  # of this program alone: `getrusage` begins with what the one that started it had
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))

before = peak()
run([x, *weights])
print(peak() - before)
"""


def test_what_is_computed_again_is_not_kept() -> None:
    def growth(how: str) -> int:
        done = subprocess.run([sys.executable, "-c", MEMORY, how], capture_output=True, text=True, check=True)
        return int(done.stdout)

    assert growth("again") < 0.6 * growth("kept")


def test_what_is_computed_again_gives_the_same(tmp_path: Any) -> None:
    weight = np.float32([[0.5, -1.0], [2.0, 0.25]])

    def block(x):
        return op.Tanh(op.Tanh(x @ weight) @ weight)

    def loss(layer):
        return lambda x: (layer(layer(x)) ** 2.0).sum()

    x = np.float32([[1.0, 2.0], [-0.5, 0.1]])
    np.testing.assert_allclose(grad(loss(checkpoint(block)))(x), grad(loss(block))(x), rtol=1e-5)


def test_what_is_computed_again_is_not_shared() -> None:
    block = checkpoint(lambda x: op.Sin(op.Exp(op.Cos(x))))
    model = trace(lambda x: op.ReduceSum(block(x), keepdims=0), FLOAT[3]).gradient(wrt=["x"])
    assert [node.op_type for node in model.ir.graph].count("Exp") == 2


# -- code for numpy ------------------------------------------------------------------------------------

rounded = custom_gradient(lambda v: np.round(v))(lambda g, v: g)
again = checkpoint(lambda v, parts, scale: np.tanh(v * parts[0]) * scale)


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        (lambda x: (x * stop_gradient(x)).sum(), lambda x: x),
        (lambda x: (x * stop_gradient((x, {"a": x}))[1]["a"]).sum(), lambda x: x),
        (lambda x: (x * stop_gradient(x.sum())).sum(), lambda x: np.full_like(x, x.sum())),
        (
            lambda x: np.abs(stop_gradient(x + 1j * x) * x).sum(),
            lambda x: np.sqrt(2) * np.abs(x) * np.sign(x),
        ),
        (lambda x: (rounded(x) * x).sum(), lambda x: np.round(x) + x),
        (lambda x: again(x, [x], 3).sum(), lambda x: 6 * x * (1 - np.tanh(x * x) ** 2)),
    ],
)
def test_in_code_for_numpy(code: Any, expected: Any, tmp_path: Any) -> None:
    x = np.float64([1.25, -0.75])
    wanted = expected(x)
    np.testing.assert_allclose(grad(xp.jit(code))(x), wanted, rtol=1e-12)
    np.testing.assert_allclose(xp.jit(code)(x), code(x), rtol=1e-12)
    model = xp.to_model(code, DOUBLE["N"])
    model.save(tmp_path / "model.onnx")
    np.testing.assert_allclose(load(tmp_path / "model.onnx").gradient(wrt=["x"])(x)[1], wanted, rtol=1e-12)


def test_in_code_for_numpy_within_branches_and_loops() -> None:
    @xp.jit
    def loss(x):
        total = 0.0
        for i in range(len(x)):
            if x[i] > 0:
                total += rounded(x[i]) * x[i]
            else:
                total += stop_gradient(x[i]) * x[i]
        return total

    np.testing.assert_allclose(grad(loss)(X), [2.25, -2.5])


def test_arguments_that_are_known_and_several_results() -> None:
    both = custom_gradient(lambda v, k: (v * k, v.sum()))(lambda g, h, v, k: (g * 10 * k + h, None))

    @xp.jit
    def loss(x):
        scaled, total = both(x, 3)
        scaled += total  # the function made it, so that it may be written to
        return scaled.sum()

    np.testing.assert_allclose(grad(loss)(X), [32, 32])


def test_a_number_of_code_for_numpy() -> None:
    np.testing.assert_allclose(grad(xp.jit(lambda s, x: (s * stop_gradient(s) * x).sum()))(2.0, X), -2.5)


def test_what_is_shared_with_an_argument_is_not_written_to() -> None:
    def loss(x):
        y = stop_gradient(x)
        y[0] = 1
        return (x * y).sum()

    with pytest.raises(TensorAssignmentError, match="from around a function that says something"):
        grad(xp.jit(loss))(X)


def test_a_list_for_a_gradient_of_its_own_is_refused() -> None:
    doubled = custom_gradient(lambda v: v[0] * 2)(lambda g, v: g)
    with pytest.raises(CallError, match="is given a list of values"):
        grad(xp.jit(lambda x: doubled([x]).sum()))(X)


@pytest.mark.parametrize(
    ("backward", "found"),
    [
        (lambda g, x: g.sum(), "FLOAT"),
        (lambda g, x: op.Cast(g, to=11), r"DOUBLE\['N'\]"),
        (lambda g, x: op.Unsqueeze(g, [0]), r"FLOAT\[1, 'N'\]"),
    ],
)
def test_a_cotangent_of_another_type_is_refused(backward: Any, found: str) -> None:
    wrong = custom_gradient(lambda x: op.Round(x))(backward)
    wanted = rf"gives a cotangent of {found} for argument 0, which is FLOAT\['N'\]"
    with pytest.raises(CallError, match=wanted) as caught:
        trace(lambda x: wrong(x), FLOAT["N"])
    assert any(each.text == "the backward function" for each in caught.value.labels)


@pytest.mark.parametrize(
    "backward",
    [lambda g, x: g.sum(), lambda g, x: g.astype(np.float64), lambda g, x: 2.0, lambda g, x: g + 1j],
)
def test_a_cotangent_of_another_type_in_code_for_numpy_is_refused(backward: Any) -> None:
    wrong = custom_gradient(lambda x: np.round(x))(backward)
    with pytest.raises(CallError, match=r"gives a cotangent of .* for argument 0, which is FLOAT\["):
        grad(xp.jit(lambda x: wrong(x).sum()))(X)


def test_a_cotangent_whose_sizes_may_be_the_same() -> None:
    same = custom_gradient(lambda x: np.round(x))(lambda g, x: (g[::-1])[::-1])
    np.testing.assert_array_equal(grad(xp.jit(lambda x: same(x).sum()))(X), [1, 1])
