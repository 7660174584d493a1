"""`expand_training`: what ONNX's own cases leave out. Those are in tests/backend/test_training_cases.py."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import onnx.parser
import pytest

from onnxsmith import Model, load
from onnxsmith.errors import (
    AttributeValueError,
    CallError,
    ModelWarning,
    NotDifferentiableError,
    NotRunnableError,
    UnknownNameError,
)
from onnxsmith.grad import expand_training

HEAD = '<ir_version: 8, opset_import: ["" : 18, "ai.onnx.preview.training" : 1]>'
X = np.float32([1.0, -2.0, 3.0])


def parsed(text: str) -> onnx.ModelProto:
    return onnx.parser.parse_model(f"{HEAD} {text.replace('Gradient', 'ai.onnx.preview.training.Gradient')}")


def test_a_gradient_of_a_gradient() -> None:
    model = parsed("""graph (float[N] x, float[N] z) => (float[N] first, float[N] second) {
        square = Mul (x, x)
        cube = Mul (square, x)
        y = Mul (cube, z)
        first = Gradient <xs = ["x"], zs = ["z"], y = "y"> (x, z)
        second = Gradient <xs = ["x"], zs = ["z"], y = "first"> (x, z)
    }""")
    first, second = expand_training(model)(X, 2 * X)
    np.testing.assert_allclose(first, 3 * X**2 * 2 * X)
    np.testing.assert_allclose(second, 6 * X * 2 * X)


def test_values_at_which_a_gradient_is_taken_may_be_others() -> None:
    model = parsed("""graph (float[N] x, float[N] at) => (float[N] y, float[N] slope) {
        h = Neg (x)
        y = Mul (h, h)
        slope = Gradient <xs = ["h"], y = "y"> (at)
    }""")
    y, slope = expand_training(model)(X, np.float32([5, 6, 7]))
    np.testing.assert_allclose(y, X * X)
    np.testing.assert_allclose(slope, [10, 12, 14])


def test_one_value_for_two_variables() -> None:
    model = parsed("""graph (float[N] a, float[N] b) => (float[N] by_a, float[N] by_b) {
        square = Mul (a, a)
        y = Mul (square, b)
        by_a, by_b = Gradient <xs = ["a", "b"], y = "y"> (a, a)
    }""")
    by_a, by_b = expand_training(model)(X, X)
    np.testing.assert_allclose(by_a, 2 * X * X)
    np.testing.assert_allclose(by_b, X * X)


def test_what_is_not_reached_is_zero_and_an_output_may_be_left_out() -> None:
    model = parsed("""graph (float[N] a, float[N] b, float[N] c) => (float[N] by_b, float[N] by_c) {
        y = Mul (a, b)
        "", by_b, by_c = Gradient <xs = ["a", "b", "c"], y = "y"> (a, b, c)
    }""")
    by_b, by_c = expand_training(model)(X, 2 * X, X)
    np.testing.assert_allclose(by_b, X)
    np.testing.assert_allclose(by_c, 0 * X)


def test_a_gradient_inside_a_branch() -> None:
    model = parsed("""graph (float[N] x, bool flag) => (float[N] r) {
        r = If (flag) <
            then_branch = g1 () => (float[N] slope) {
                t = Identity (x)
                y = Mul (t, t)
                slope = Gradient <xs = ["t"], y = "y"> (x)
            },
            else_branch = g2 () => (float[N] e) { e = Identity (x) }
        >
    }""")
    made = expand_training(model)
    np.testing.assert_allclose(made(X, np.array(True)), 2 * X)
    np.testing.assert_allclose(made(X, np.array(False)), X)


def test_a_gradient_inside_a_function() -> None:
    head = '<ir_version: 8, opset_import: ["" : 18, "ai.onnx.preview.training" : 1, "own" : 1]>'
    text = """graph (float[N] x) => (float[N] r) { r = own.slope (x) }
    <domain: "own", opset_import: ["" : 18, "ai.onnx.preview.training" : 1]>
    slope (t) => (s) {
        y = Mul (t, t)
        s = ai.onnx.preview.training.Gradient <xs = ["t"], y = "y"> (t)
    }"""
    made = expand_training(onnx.parser.parse_model(head + text))
    np.testing.assert_allclose(made(X), 2 * X)


def trained() -> onnx.ModelProto:
    """A linear model with a step of gradient descent as its training information."""
    model = parsed(
        """graph (float[N, 2] x) => (float[N, 1] y) <float[2, 1] w = {0.0, 0.0}> { y = MatMul (x, w) }"""
    )
    algorithm = parsed("""graph (float[N, 1] aim, float[N, 2] x) => (float loss, float[2, 1] w_new, int64 n_new)
        <float rate = {0.1}, int64 n = {7}, int64 one = {1}, float[2, 1] w = {0.0, 0.0}> {
        y = MatMul (x, w)
        rest = Sub (y, aim)
        square = Mul (rest, rest)
        loss = ReduceMean <keepdims = 0> (square)
        slope = Gradient <xs = ["w"], zs = ["x", "aim"], y = "loss"> (w, x, aim)
        move = Mul (slope, rate)
        w_new = Sub (w, move)
        n_new = Add (n, one)
    }""").graph
    info = model.training_info.add()
    info.algorithm.CopyFrom(algorithm)
    # What the graph of the model has is not said again.
    del info.algorithm.input[1], info.algorithm.node[0], info.algorithm.initializer[3]
    for key, value in (("w", "w_new"), ("n", "n_new")):
        info.update_binding.add(key=key, value=value)
    return model


def test_training_information_is_a_step() -> None:
    step = expand_training(trained())
    assert [each.name for each in step.outputs] == ["y", "loss", "w_next", "n_next"]
    x = np.float32([[1, 0], [0, 1], [1, 1]])
    aim = x @ np.float32([[2], [3]])
    y, loss, weight, count = step(x=x, aim=aim)
    np.testing.assert_allclose(y, 0 * aim)
    np.testing.assert_allclose(weight, -0.1 * 2 / 3 * x.T @ -aim, rtol=1e-6)
    assert count == 8
    for _ in range(300):
        _, loss, weight, count = step(x=x, aim=aim, w=weight, n=count)
    np.testing.assert_allclose(weight, [[2], [3]], rtol=1e-4)
    assert loss < 1e-8
    assert count == 308


def test_a_model_without_such_nodes_stays() -> None:
    model = parsed("graph (float[N] x) => (float[N] y) { y = Neg (x) }")
    made = expand_training(Model.from_proto(model))
    assert [node.op_type for node in made.ir.graph] == ["Neg"]


def test_what_is_wrong_is_told() -> None:
    text = (
        'graph (float[N] x) => (float[N] s) {{ value = Mul (x, x) s = Gradient <xs = ["x"], y = "{y}"> (x) }}'
    )
    with pytest.raises(UnknownNameError, match="names a value 'valu', which its graph has not"):
        expand_training(parsed(text.format(y="valu")))
    whole = 'graph (int64[N] x) => (int64[N] s) { v = Mul (x, x) s = Gradient <xs = ["x"], y = "v"> (x) }'
    with pytest.raises(NotDifferentiableError, match="'x' is int64"):
        expand_training(parsed(whole))
    with pytest.raises(AttributeValueError, match="1 stages of training, and no stage 3"):
        expand_training(trained(), stage=3)
    with pytest.raises(CallError, match="expand_training takes a model, not an int"):
        expand_training(3)  # pyright: ignore[reportArgumentType]


def test_a_model_that_leaves_its_training_information_out_says_so(tmp_path) -> None:
    with pytest.warns(ModelWarning, match="training information, which is left out"):
        Model.from_proto(trained())
    onnx.save(trained(), tmp_path / "trained.onnx")
    with pytest.warns(ModelWarning, match=r"trained.onnx' has training information"):
        load(tmp_path / "trained.onnx")


def test_who_runs_such_a_node_is_told_what_to_do() -> None:
    text = 'graph (float[N] x) => (float[N] s) { y = Mul (x, x) s = Gradient <xs = ["x"], y = "y"> (x) }'
    with pytest.raises(NotRunnableError) as caught:
        Model.from_proto(parsed(text))(np.float32([1, 2]))
    assert "expand_training(model)" in str(caught.value)


def adagrad(rate: float, count: int, x: Any, g: Any, h: Any) -> list[Any]:
    """As ONNX's specification has it, with a decay of 0.1, a norm coefficient of 0.01 and an epsilon of 0.5."""
    rate, g = rate / (1 + count * 0.1), 0.01 * x + g
    h = h + g * g
    return [x - rate * g / (np.sqrt(h) + 0.5), h]


def adam(rate: float, count: int, x: Any, g: Any, v: Any, h: Any) -> list[Any]:
    g = 0.01 * x + g
    v, h = 0.9 * v + 0.1 * g, 0.99 * h + 0.01 * g * g
    rate = rate * np.sqrt(1 - 0.99**count) / (1 - 0.9**count) if count else rate
    return [(1 - 0.2) * (x - rate * v / (np.sqrt(h) + 0.5)), v, h]


def momentum(rate: float, count: int, x: Any, g: Any, v: Any) -> list[Any]:
    g = 0.01 * x + g
    v = 0.9 * v + (0.8 if count else 1.0) * g
    return [x - rate * v, v]


def nesterov(rate: float, count: int, x: Any, g: Any, v: Any) -> list[Any]:
    _, v = momentum(rate, count, x, g, v)
    return [x - rate * (0.01 * x + g + 0.9 * v), v]


OPTIMIZERS = {
    "adagrad": (adagrad, "Adagrad <decay_factor = 0.1, norm_coefficient = 0.01, epsilon = 0.5>", 3),
    "adam": (
        adam,
        "Adam <alpha = 0.9, beta = 0.99, norm_coefficient = 0.01, norm_coefficient_post = 0.2, epsilon = 0.5>",
        4,
    ),
    "momentum": (
        momentum,
        'Momentum <alpha = 0.9, beta = 0.8, norm_coefficient = 0.01, mode = "standard">',
        3,
    ),
    "nesterov": (
        nesterov,
        'Momentum <alpha = 0.9, beta = 0.8, norm_coefficient = 0.01, mode = "nesterov">',
        3,
    ),
}


@pytest.mark.parametrize("count", [0, 3])
@pytest.mark.parametrize(("update", "node", "kinds"), OPTIMIZERS.values(), ids=OPTIMIZERS)
def test_optimizers_of_two_weights(update: Any, node: str, kinds: int, count: int) -> None:
    names = [f"{kind}{weight}" for kind in "xgvh"[:kinds] for weight in "ab"]
    outputs = [f"n{name}" for name in names if name[0] != "g"]
    model = parsed(f"""graph (float r, int64 t, {", ".join(f"float[N] {each}" for each in names)})
        => ({", ".join(f"float[N] {each}" for each in outputs)}) {{
        {", ".join(outputs)} = ai.onnx.preview.training.{node} (r, t, {", ".join(names)})
    }}""")
    given = {
        name: (np.abs(X) if name[0] in "vh" else X) * np.float32(0.5 + k) for k, name in enumerate(names)
    }
    found = dict(
        zip(outputs, expand_training(model)(np.float32(0.3), np.int64(count), *given.values()), strict=True)
    )
    for weight in "ab":
        own = [given[f"{kind}{weight}"].astype(np.float64) for kind in "xgvh"[:kinds]]
        made = [found[f"n{kind}{weight}"] for kind in "xvh"[: kinds - 1]]
        for mine, wanted in zip(made, update(0.3, count, *own), strict=True):
            np.testing.assert_allclose(mine, wanted, rtol=1e-5)
