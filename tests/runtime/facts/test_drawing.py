"""Seeds and element types of random numbers: what ONNX does not know is refused, with a seed as without."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import onnx
import pytest

from onnxsmith import FLOAT, FLOAT16, INT64, Model, trace
from onnxsmith import opset21 as op
from onnxsmith import opset22 as op22
from onnxsmith.errors import AttributeValueError
from onnxsmith.runtime.facts import drawing as facts
from tests.runtime.facts.probing import wrong_probes

X = np.zeros(5000, np.float32)


def drawing(node: str, opset: int = 21, seed: float | None = None) -> Model:
    text = f'<ir_version: 10, opset_import: ["" : {opset}]> g (float[N] x, float[1, 3] z) => (y) {{ y = {node} }}'
    proto = onnx.parser.parse_model(text)
    if seed is not None:
        proto.graph.node[0].attribute.append(onnx.helper.make_attribute("seed", seed))
    return Model.from_proto(proto)


def drawn(model: Model) -> Any:
    return model(X, np.ones((1, 3), np.float32))


NODES = ["RandomNormal <shape = [5000]> ()", "RandomUniformLike (x)", "Bernoulli (x)", "Multinomial (z)"]


@pytest.mark.parametrize("seed", [None, 1.0, math.nan])
@pytest.mark.parametrize("opset", [21, 22])
@pytest.mark.parametrize(
    "node",
    [
        "RandomNormal <shape = [3], dtype = 7> ()",
        "RandomUniform <shape = [3], dtype = 7> ()",
        "RandomNormalLike <dtype = 7> (x)",
        "RandomUniformLike <dtype = 9> (x)",
        "Multinomial <dtype = 1> (z)",
        "Bernoulli <dtype = 8> (x)",
    ],
)
def test_an_element_type_that_cannot_come_out_is_refused(node: str, opset: int, seed: float | None) -> None:
    with pytest.raises(AttributeValueError, match=r"does not know dtype=(INT64|BOOL|FLOAT|STRING)"):
        drawn(drawing(node, opset, seed))


@pytest.mark.parametrize("each", [op, op22])
@pytest.mark.parametrize("seed", [{}, {"seed": 1.0}])
def test_and_in_a_call(each: Any, seed: dict[str, float]) -> None:
    with pytest.raises(AttributeValueError, match="RandomNormal does not know dtype=INT64"):
        each.RandomNormal(shape=[3], dtype=INT64, **seed)
    for kind in (FLOAT, FLOAT16):
        assert each.RandomNormal(shape=[3], dtype=kind, **seed).shape == (3,)


@pytest.mark.parametrize("seed", [math.inf, -math.inf])
@pytest.mark.parametrize("node", NODES)
def test_no_seed_is_infinite(node: str, seed: float) -> None:
    with pytest.raises(AttributeValueError, match=r"does not know seed=-?inf"):
        drawn(drawing(node, seed=seed))


@pytest.mark.parametrize("opset", [21, 22])
@pytest.mark.parametrize("node", NODES[:2])
def test_a_seed_that_is_no_number_is_none(node: str, opset: int) -> None:
    model = drawing(node, opset, math.nan)
    assert not np.array_equal(drawn(model), drawn(model))
    assert np.isfinite(drawn(model)).all()


@pytest.mark.parametrize(
    ("seed", "same"), [(-256.0, 2.0**32 - 256), (2.0**32 + 512, 512.0), (1e20, 0.0), (2.5, 2.0)]
)
@pytest.mark.parametrize("node", NODES[:2])
def test_seeds_are_counted_modulo_two_to_the_32(node: str, seed: float, same: float) -> None:
    assert np.array_equal(drawn(drawing(node, seed=seed)), drawn(drawing(node, seed=same)))


def test_numbers_of_a_dropout_do_not_decide_its_shape() -> None:
    x, many = np.ones((3, 4), np.float32), (1,) * 6
    ratio, training = np.full(many, 0.5, np.float32), np.full(many, True)
    dropped, mask = op.Dropout(x, ratio, training, seed=7, outputs=2)
    assert dropped.shape == mask.shape == x.shape


def test_a_ratio_that_drops_nothing_is_not_looked_at() -> None:
    x, ratio = np.ones((2, 3), np.float32), np.float32([[1.5]])
    run = trace(lambda data: op22.Dropout(data, ratio, seed=0, outputs=2)[0], FLOAT["N", "M"])
    np.testing.assert_array_equal(op22.Dropout(x, ratio, seed=0, outputs=2)[0], x)
    np.testing.assert_array_equal(run(x), x)


def test_adapted_models_of_probes_are_right() -> None:
    assert wrong_probes(facts) == []
