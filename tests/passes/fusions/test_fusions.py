"""What modules spell out becomes the operator that ONNX has for it; PyTorch is what it is compared with."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pytest
import torch
from torch import nn

from onnxsmith import FLOAT, Tensor, trace
from onnxsmith import opset23 as op
from onnxsmith.errors import AttributeValueError
from onnxsmith.graphs.model import Model
from onnxsmith.passes import optimize
from onnxsmith.schema.registry import default_opset_version
from tests.passes.agreement import CLOSE, model_of, operators, optimized, results

RNG = np.random.default_rng(0)
ROOT_HALF = float(np.sqrt(0.5))
ROOT_PI = float(np.sqrt(2 / np.pi))


def rows(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape).astype(np.float32)


GELUS = {
    "erf": lambda x: 0.5 * x * (op.Erf(x * ROOT_HALF) + 1.0),
    "erf, divided": lambda x: x * (1.0 + op.Erf(x / float(np.sqrt(2)))) * 0.5,
    "erf, nested": lambda x: x * (0.5 * (op.Erf(x * ROOT_HALF) + 1.0)),
    "tanh": lambda x: 0.5 * x * (op.Tanh(ROOT_PI * (x + 0.044715 * x**3.0)) + 1.0),
    "tanh, by products": lambda x: x * 0.5 * (1.0 + op.Tanh((x + x * x * x * 0.044715) * ROOT_PI)),
    "tanh, factored": lambda x: x * 0.5 * (1.0 + op.Tanh(x * ROOT_PI * (1.0 + 0.044715 * (x * x)))),
}


@pytest.mark.parametrize("name", GELUS)
def test_gelu(name: str) -> None:
    x = rows(3, 5)
    small = optimized(trace(GELUS[name], FLOAT["N", 5]), x, within=CLOSE)
    assert operators(small) == ["Gelu"]
    kind = "tanh" if name.startswith("tanh") else "none"
    wanted = nn.functional.gelu(torch.from_numpy(x), approximate=kind).numpy()
    np.testing.assert_allclose(results(small, [x])[0], wanted, atol=1e-6)


def layer(x: Tensor, scale: np.ndarray, bias: np.ndarray, form: str) -> Tensor:
    centred = x - op.ReduceMean(x, [-1])
    variance = op.ReduceMean(centred**2.0 if form == "power" else centred * centred, [-1]) + 1e-5
    unit = centred * op.Reciprocal(op.Sqrt(variance)) if form == "reciprocal" else centred / op.Sqrt(variance)
    return unit * scale + bias


@pytest.mark.parametrize("form", ["power", "product", "reciprocal"])
def test_layer_normalisation(form: str) -> None:
    x, scale, bias = rows(3, 8), rows(8), rows(8)
    small = optimized(trace(lambda x: layer(x, scale, bias, form), FLOAT["N", 8]), x, within=1e-5)
    assert operators(small) == ["LayerNormalization"]
    wanted = nn.functional.layer_norm(
        torch.from_numpy(x), (8,), torch.from_numpy(scale), torch.from_numpy(bias)
    )
    np.testing.assert_allclose(results(small, [x])[0], wanted.numpy(), atol=1e-5)


def test_rms_normalisation() -> None:
    x, scale = rows(3, 8), rows(8)
    model = trace(
        lambda x: (x * op.Reciprocal(op.Sqrt(op.ReduceMean(x * x, [-1]) + 1e-6))) * scale, FLOAT["N", 8]
    )
    small = optimized(model, x, within=1e-5)
    assert operators(small) == ["RMSNormalization"]
    wanted = nn.functional.rms_norm(torch.from_numpy(x), (8,), torch.from_numpy(scale), 1e-6)
    np.testing.assert_allclose(results(small, [x])[0], wanted.numpy(), atol=1e-5)


def test_a_mean_that_is_read_elsewhere_stays() -> None:
    x, scale, bias = rows(3, 8), rows(8), rows(8)

    def both(x: Tensor) -> tuple[Tensor, Tensor]:
        root = op.Sqrt(op.ReduceMean((x - op.ReduceMean(x, [-1])) ** 2.0, [-1]) + 1e-5)
        return (x - op.ReduceMean(x, [-1])) / root * scale + bias, root

    small = optimized(trace(both, FLOAT["N", 8]), x, within=1e-5)
    assert "LayerNormalization" not in operators(small)


def test_linear_layer() -> None:
    x, weight, bias = rows(3, 4), rows(4, 5), rows(5)
    small = optimized(trace(lambda x: x @ weight + bias, FLOAT["N", 4]), x, within=CLOSE)
    assert operators(small) == ["Gemm"]


def test_a_product_of_more_dimensions_is_no_linear_layer() -> None:
    x, weight, bias = rows(2, 3, 4), rows(4, 5), rows(5)
    small = optimized(trace(lambda x: x @ weight + bias, FLOAT["N", 3, 4]), x, within=CLOSE)
    assert operators(small) == ["Add", "MatMul"]


def normalised(transposed: bool, bias: bool) -> tuple[Model, np.ndarray, np.ndarray]:
    kind = nn.ConvTranspose2d if transposed else nn.Conv2d
    torch.manual_seed(0)
    module = nn.Sequential(kind(3, 6, 3, padding=1, bias=bias), nn.BatchNorm2d(6)).eval()
    for name, parameter in module.state_dict().items():
        if parameter.dtype == torch.float32 and name.startswith("1."):
            parameter.uniform_(0.5, 1.5)
    state = {name: each.numpy() for name, each in module.state_dict().items()}
    operator = op.ConvTranspose if transposed else op.Conv

    def network(x: Tensor) -> Tensor:
        given = [state["0.weight"], *([state["0.bias"]] if bias else [])]
        y = operator(x, *given, pads=[1, 1, 1, 1])
        parts = [state[f"1.{each}"] for each in ("weight", "bias", "running_mean", "running_var")]
        return op.BatchNormalization(y, *parts)

    x = rows(2, 3, 5, 5)
    with torch.no_grad():
        wanted = module(torch.from_numpy(x)).numpy()
    return trace(network, FLOAT["N", 3, 5, 5]), x, wanted


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("bias", [False, True])
def test_batch_normalisation_behind_a_convolution(transposed: bool, bias: bool) -> None:
    model, x, wanted = normalised(transposed, bias)
    small = optimized(model, x, within=1e-5)
    assert operators(small) == ["ConvTranspose" if transposed else "Conv"]
    np.testing.assert_allclose(results(small, [x])[0], wanted, atol=2e-5)


def test_batch_normalisation_that_trains_stays() -> None:
    body = (
        "s = Constant<value_floats=[1.0, 2.0]>() w = Constant<value=float[2,2,1,1] {1.0, 2.0, 3.0, 4.0}>()"
        " c = Conv(x, w) y, m, v = BatchNormalization<training_mode=1>(c, s, s, s, s)"
    )
    model = model_of(f"g (float[N, 2, 4, 4] x) => (float[N, 2, 4, 4] y, float[2] m, float[2] v) {{ {body} }}")
    assert operators(optimize(model)) == ["BatchNormalization", "Conv"]


def attention(x: Tensor, heads: int, mask: np.ndarray | None, scaled: str) -> Tensor:
    def parted(value: Tensor) -> Tensor:
        return op.Transpose(op.Reshape(value, [0, 0, heads, 4]), perm=[0, 2, 1, 3])

    q, k, v = parted(x), parted(x * 2.0), parted(x * 3.0)
    turned = op.Transpose(k, perm=[0, 1, 3, 2])
    scores = (q * 0.5) @ turned if scaled == "queries" else (q @ turned) / 2.0
    if mask is not None:
        scores = scores + mask
    y = op.Softmax(scores, axis=-1) @ v
    return op.Reshape(op.Transpose(y, perm=[0, 2, 1, 3]), [0, 0, 4 * heads])


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("scaled", ["queries", "scores"])
def test_attention(masked: bool, scaled: str) -> None:
    x = rows(2, 5, 8)
    mask = np.triu(np.full((5, 5), -1e9, np.float32), 1) if masked else None
    small = optimized(trace(lambda x: attention(x, 2, mask, scaled), FLOAT["N", 5, 8]), x, within=1e-5)
    assert operators(small) == ["Attention", "Mul", "Mul"]


def test_attention_on_open_sizes_says_what_it_does_not_take() -> None:
    """ONNX Runtime refuses an empty batch; dynamic models are fused nevertheless, and told so."""
    word = "Attention, which was not in it, takes no batch and no sequence of size 0"
    for batch, notes in (("N", [word]), (2, [])):
        small = optimize(trace(lambda x: attention(x, 2, None, "scores"), FLOAT[batch, 5, 8]))
        assert "Attention" in operators(small)
        assert small.report.notes == notes


def rotated(x: Tensor, cosine: np.ndarray, sine: np.ndarray) -> Tensor:
    turned = op.Concat(-x[..., 4:], x[..., :4], axis=-1)
    return x * cosine + turned * sine


def test_rotary_embedding() -> None:
    angles = np.outer(np.arange(5), 10000.0 ** (-np.arange(4) / 4))
    both = np.concatenate([angles, angles], -1)[None, None].astype(np.float32)
    x = rows(2, 3, 5, 8)
    model = trace(lambda x: rotated(x, np.cos(both), np.sin(both)), FLOAT[2, 3, 5, 8])
    small = optimized(model, x, within=1e-5)
    assert "RotaryEmbedding" in operators(small)


def test_a_table_with_other_halves_is_no_rotary_embedding() -> None:
    x = rows(2, 3, 5, 8)
    cosines, sines = rows(1, 1, 5, 8), rows(1, 1, 5, 8)
    model = trace(lambda x: rotated(x, cosines, sines), FLOAT[2, 3, 5, 8])
    assert "RotaryEmbedding" not in operators(optimized(model, x, within=1e-5))


TABLES = [rows(7, 4), rows(7, 4)]
POSITIONS = np.arange(10).reshape(2, 5) % 7


def embedded(x: Tensor, *positions: Tensor, **options: int) -> Tensor:
    heads = op.Transpose(op.Reshape(x, [0, 0, 3, 8]), perm=[0, 2, 1, 3])
    return op.RotaryEmbedding(heads, *TABLES, *positions, **options)


@pytest.mark.parametrize("interleaved", [0, 1])
def test_rotary_embedding_before_heads_are_parted(interleaved: int) -> None:
    x = rows(2, 5, 24)

    def network(x: Tensor) -> Tensor:
        y = embedded(x, POSITIONS, interleaved=interleaved)
        return op.Reshape(op.Transpose(y, perm=[0, 2, 1, 3]), [0, 0, 24])

    small = optimized(trace(network, FLOAT["N", 5, 24]), x, within=CLOSE)
    assert operators(small) == ["RotaryEmbedding"]


def test_heads_that_are_read_elsewhere_are_parted_once() -> None:
    x = rows(2, 5, 24)

    def network(x: Tensor) -> tuple[Tensor, Tensor]:
        heads = op.Transpose(op.Reshape(x, [0, 0, 3, 8]), perm=[0, 2, 1, 3])
        return op.RotaryEmbedding(heads, *TABLES, POSITIONS), op.Exp(heads)

    small = optimized(trace(network, FLOAT["N", 5, 24]), x, within=CLOSE)
    assert operators(small) == ["Exp", "Reshape", "RotaryEmbedding", "Transpose"]


@pytest.mark.parametrize(("opset", "left"), [("keep", 5), (19, 5), (20, 1), ("runtime", 1)])
def test_the_opset_decides_what_there_is(opset: int | Literal["keep", "runtime"], left: int) -> None:
    x = rows(3, 5)
    older = model_of(
        "g (float[N, 5] x) => (float[N, 5] y) { c = Constant<value_float=0.70710678>() a = Mul(x, c) b = Erf(a)"
        " o = Constant<value_float=1.0>() d = Add(b, o) e = Mul(x, d) h = Constant<value_float=0.5>() y = Mul(e, h) }",
        opset=17,
    )
    small = optimize(older, opset=opset)
    assert len(operators(small)) == left
    assert small.report.opset_after == {"keep": 17, 19: 19, 20: 20}.get(opset, default_opset_version())
    np.testing.assert_allclose(results(small, [x])[0], results(older, [x])[0], atol=1e-6)


def test_an_opset_that_is_none_is_refused() -> None:
    model = trace(GELUS["erf"], FLOAT["N", 5])
    for wrong in ("newest", 99, True, 2.0):
        with pytest.raises(AttributeValueError):
            optimize(model, opset=wrong)  # type: ignore[arg-type]  # that is the mistake


def test_a_fused_node_knows_all_its_places() -> None:
    x, weight, bias = rows(3, 4), rows(4, 5), rows(5)

    def linear(x: Tensor) -> Tensor:
        product = x @ weight
        return product + bias

    small = optimized(trace(linear, FLOAT["N", 4]), x, within=CLOSE)
    [edit] = [each for each in small.report.edits if each.rule == "linear layer"]
    assert [note.operator for note in edit.before] == ["Add", "MatMul"]
    assert [note.operator for note in edit.after] == ["Gemm"]
    assert len(edit.sources) == 2
    [node] = list(small.ir.graph)
    assert all(each in node.metadata_props["onnxsmith.sources"] for each in edit.sources)
