"""Gradients of recurrent layers beside torch's, in the form that keeps its gates and in those that do not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from onnxsmith import DOUBLE, FLOAT, INT32, Model, trace
from onnxsmith import opset21 as op
from onnxsmith.grad import gradient

_MAKE = {"LSTM": torch.nn.LSTM, "GRU": torch.nn.GRU, "RNN": torch.nn.RNN}
#: Where ONNX's gates stand among torch's.
_GATES = {"LSTM": (0, 3, 1, 2), "GRU": (1, 0, 2), "RNN": (0,)}
_FEATURES, _HIDDEN, _TIME, _BATCH = 3, 4, 5, 2


def _ways(module: Any) -> list[str]:
    return ["", "_reverse"] if module.bidirectional else [""]


def _read(results: Any, is_read: tuple[bool, ...]) -> Any:
    """A number of those results that are read."""
    total: Any = 0.0
    for k, (each, read) in enumerate(zip(results, is_read, strict=True)):
        if read:
            total = total + (each * each * float(k + 1)).sum()
    return total


def _model(
    name: str,
    directions: int,
    is_read: tuple[bool, ...],
    *,
    lengths: bool = False,
    kind: Any = FLOAT,
    **options: Any,
) -> Model:
    """The sum of squares of what a layer gives, on its inputs, weights and first states."""
    gates, states = len(_GATES[name]) * _HIDDEN, 2 if name == "LSTM" else 1
    options["hidden_size"] = _HIDDEN
    if name == "GRU":
        options.setdefault("linear_before_reset", 1)
    if directions == 2:
        options["direction"] = "bidirectional"

    def loss(x: Any, w: Any, r: Any, b: Any, *rest: Any) -> Any:
        given, first = (rest[0], rest[1:]) if lengths else (None, rest)
        made = getattr(op, name)(x, w, r, b, given, *first, outputs=1 + states, **options)
        return _read(made, is_read)

    shapes = [
        *([_TIME, _BATCH, _FEATURES], [directions, gates, _FEATURES], [directions, gates, _HIDDEN]),
        [directions, 2 * gates],
    ]
    kinds = [kind[tuple(each)] for each in shapes]
    kinds += [INT32[_BATCH]] if lengths else []
    kinds += [kind[directions, _BATCH, _HIDDEN]] * states
    names = ["x", "w", "r", "b", *(["lengths"] if lengths else []), *["h", "c"][:states]]
    return trace(loss, *kinds, input_names=names)


def _arrays(name: str, directions: int) -> list[np.ndarray[Any, Any]]:
    drawn, gates = np.random.default_rng(0), len(_GATES[name]) * _HIDDEN
    shapes = [
        *((_TIME, _BATCH, _FEATURES), (directions, gates, _FEATURES), (directions, gates, _HIDDEN)),
        (directions, 2 * gates),
        *((directions, _BATCH, _HIDDEN),) * (2 if name == "LSTM" else 1),
    ]
    return [drawn.uniform(-0.7, 0.7, each).astype(np.float32) for each in shapes]


_READ = {
    "LSTM": [(True, False, False), (False, True, False), (False, False, True), (True, True, True)],
    "GRU": [(True, False), (False, True), (True, True)],
    "RNN": [(True, False), (False, True), (True, True)],
}
_CASES = [
    *((name, 1, is_read) for name in _MAKE for is_read in _READ[name]),
    *((name, 2, _READ[name][-1]) for name in _MAKE),
]


@pytest.mark.parametrize(("name", "directions", "is_read"), _CASES)
def test_beside_torch(name: str, directions: int, is_read: tuple[bool, ...]) -> None:
    """Whatever is read of a layer: all of its times, a last state, or all of them."""
    arrays = _arrays(name, directions)
    model = _model(name, directions, is_read)
    wrt = [each.name for each in model.inputs]
    found = gradient(model, wrt=wrt)(*arrays)[1:]
    wanted = _of_torch(name, directions, is_read, arrays)
    for each, mine, theirs in zip(wrt, found, wanted, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=2e-4, atol=2e-5, err_msg=each)


def _of_torch(
    name: str, directions: int, is_read: tuple[bool, ...], arrays: list[np.ndarray[Any, Any]]
) -> list[np.ndarray[Any, Any]]:
    module = _MAKE[name](_FEATURES, _HIDDEN, bidirectional=directions == 2)
    inverse = np.argsort(_GATES[name])
    x, w, r, b, *first = (torch.tensor(each, requires_grad=True) for each in arrays)
    weights: dict[str, torch.Tensor] = {}
    for k, way in enumerate(_ways(module)):
        in_bias, state_bias = b[k].chunk(2)
        for kind, each in (
            ("weight_ih", w[k]), ("weight_hh", r[k]), ("bias_ih", in_bias), ("bias_hh", state_bias)
        ):  # fmt: skip
            parts = each.chunk(len(inverse))
            weights[f"{kind}_l0{way}"] = torch.cat([parts[j] for j in inverse])
    state: Any = tuple(first) if name == "LSTM" else first[0]
    rows, last = torch.func.functional_call(module, weights, (x, state))
    lasts = last if name == "LSTM" else (last,)
    _read((rows, *lasts), is_read).backward()
    tensors = (x, w, r, b, *first)
    return [np.zeros(each.shape) if each.grad is None else each.grad.numpy() for each in tensors]


_FORMS = [
    ("LSTM", 1, {"direction": "reverse"}),
    ("GRU", 1, {"direction": "reverse"}),
    ("RNN", 1, {"activations": ["Relu"]}),
    ("RNN", 2, {"activations": ["Relu", "Relu"]}),
    ("LSTM", 2, {"activations": ["Sigmoid", "Tanh", "Tanh"] * 2}),
]


@pytest.mark.parametrize(("name", "directions", "options"), _FORMS)
def test_form_that_keeps_gates_beside_the_one_that_does_not(
    name: str, directions: int, options: dict[str, Any]
) -> None:
    """A layer with lengths is gone back over by what it computes; all lengths are full here."""
    arrays = _arrays(name, directions)
    is_read = (True,) * (3 if name == "LSTM" else 2)
    plain = _model(name, directions, is_read, **options)
    full = _model(name, directions, is_read, lengths=True, **options)
    wrt = [each.name for each in plain.inputs]
    kept, computed = gradient(plain, wrt=wrt), gradient(full, wrt=wrt)
    assert name not in [each.op_type for each in kept.ir.graph]
    assert name in [each.op_type for each in computed.ir.graph]
    found = kept(*arrays)
    wanted = computed(*arrays[:4], np.full(_BATCH, _TIME, np.int32), *arrays[4:])
    for mine, theirs in zip(found, wanted, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=2e-4, atol=2e-5)


@pytest.mark.parametrize(
    "options", [{"clip": 0.3}, {"input_forget": 1}, {"activations": ["Sigmoid", "Relu", "Tanh"]}]
)
def test_other_forms_stay_the_operator(options: dict[str, Any]) -> None:
    """They are not of the usual form: the operator itself is on the way forward."""
    made = gradient(_model("LSTM", 1, (True, True, True), **options), wrt=["w"])
    assert "LSTM" in [each.op_type for each in made.ir.graph]


@pytest.mark.parametrize("name", _MAKE)
def test_gradients_of_weights_are_not_summed_in_the_loop(name: str) -> None:
    """Neither loop has a state of the size of a weight, and the way back has one product an iteration."""
    made = gradient(_model(name, 1, (True,) * (3 if name == "LSTM" else 2)), wrt=["w", "r", "b"])
    loops = [each for each in made.ir.graph if each.op_type == "Scan"]
    assert len(loops) == 2
    for each in loops:
        body = each.attributes["body"].as_graph()
        assert [node.op_type for node in body].count("Gemm") == 1
        assert "MatMul" not in [node.op_type for node in body]


@pytest.mark.parametrize("name", _MAKE)
def test_second_derivatives(name: str) -> None:
    """The gradient of the length of a gradient, beside differences of that."""
    arrays = [each.astype(np.float64) for each in _arrays(name, 1)]
    model = _model(name, 1, (True,) * (3 if name == "LSTM" else 2), kind=DOUBLE)
    slope = gradient(model, wrt=["x", "r"])

    def squared(*given: Any) -> Any:
        _, of_x, of_r = slope(*given)
        return op.ReduceSum(of_x * of_x, keepdims=0) + op.ReduceSum(of_r * of_r, keepdims=0)

    kinds = [DOUBLE[each.shape] for each in arrays]
    length = trace(squared, *kinds, input_names=[each.name for each in model.inputs])
    found = gradient(length, wrt=["x", "r"])(*arrays)[1:]
    for place, mine in zip((0, 2), found, strict=True):
        direction = np.random.default_rng(1).standard_normal(mine.shape)
        ends: list[float] = []
        for step in (-1e-4, 1e-4):
            moved = [*arrays]
            moved[place] = arrays[place] + step * direction
            ends.append(float(length(*moved)))
        np.testing.assert_allclose((mine * direction).sum(), (ends[1] - ends[0]) / 2e-4, rtol=1e-5)
