"""What is saved or checked, and the installed runtime gets wrong, is said once, with nodes and remedy."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
import pytest
from onnx import defs, parser

from onnxsmith import FLOAT, INT64, STRING, Model, Opset, opset21, trace
from onnxsmith.errors import RuntimeSupportWarning
from onnxsmith.graphs.runtime_support import BESIDE, CONCERNED
from onnxsmith.runtime import onnxruntime_api
from onnxsmith.runtime.models import ordinary_rules
from onnxsmith.schema.registry import default_opset_version
from tests.laws.bare_session import run

#: The installed onnx knows later opsets than the runtime of the same time loads.
NEWEST = defs.onnx_opset_version()


def product() -> Model:
    return trace(lambda x, g: x.T @ g, FLOAT["M", "N"], FLOAT["M"])


def newest() -> Model:
    return trace(lambda x: Opset("", NEWEST).Relu(x), FLOAT["N"])


def lowered() -> Model:
    return trace(lambda x: opset21.StringNormalizer(x, case_change_action="LOWER"), STRING["N"])


def narrowed() -> Model:
    return trace(lambda x: opset21.Cast(opset21.Cast(x, to=22), to=1), FLOAT["N"])


def narrowed_like() -> Model:
    def like(x):
        zero = opset21.Cast(opset21.Constant(value_int=0), to=21)
        return opset21.Cast(opset21.CastLike(x, zero), to=6)

    return trace(like, FLOAT["N"])


def trained() -> Model:
    def step(x, one, mean):
        return opset21.BatchNormalization(x, one, one, mean, one, training_mode=1, outputs=3)

    return trace(step, FLOAT["N", 1], FLOAT[1], FLOAT[1])


def reversed_places() -> Model:
    return trace(lambda x: opset21.Gather(x, opset21.Range(opset21.Size(x) - 1, -1, -1)), FLOAT["N"])


def last_places() -> Model:
    return trace(lambda x, n: opset21.Gather(x, opset21.Range(-n, 0, 1)), FLOAT["N"], INT64)


MODELS = {
    "statistics": (trained, "BatchNormalization 'batch_normalization'"),
    "reversed places": (reversed_places, "Gather 'gather'"),
    "last places": (last_places, "Gather 'gather'"),
    "transposed": (product, "MatMul 'mat_mul'"),
    "opset": (newest, f"opsets up to {default_opset_version()}"),
    "locale": (lowered, "StringNormalizer 'string_normalizer'"),
}


#: Runtimes before this one have no kernel for it.
ROUNDS = (1, 23)
if onnxruntime_api.version() >= ROUNDS:
    MODELS |= {
        "four bits": (narrowed, "Cast 'cast'"),
        "four bits, like another": (narrowed_like, "CastLike 'cast_like'"),
    }


@pytest.mark.parametrize("name", MODELS)
def test_save_and_check_say_it_and_the_remedy_is_one(name, tmp_path) -> None:
    make, words = MODELS[name]
    model = make()
    with pytest.warns(RuntimeSupportWarning, match=words) as told:
        model.save(tmp_path / "model.onnx")
    assert len(told) == 1
    assert "for_runtime()" in str(told[0].message)
    assert told[0].filename == __file__
    with pytest.warns(RuntimeSupportWarning, match=words):
        model.check()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.for_runtime().save(tmp_path / "shipped.onnx")


def test_the_line_of_the_node_is_named(tmp_path) -> None:
    with pytest.warns(RuntimeSupportWarning, match=r"test_runtime_support\.py:\d+"):
        product().save(tmp_path / "model.onnx")


def test_it_is_so(tmp_path) -> None:
    x, g = np.float32([[1, 2], [3, 4]]), np.float32([1, 10])
    outcome = run(product().proto.SerializeToString(), {"x": x, "g": g})
    assert outcome.results["mat_mul"].tolist() != (x.T @ g).tolist()
    shipped = product().for_runtime().proto
    assert (
        next(iter(run(shipped.SerializeToString(), {"x": x, "g": g}).results.values())).tolist()
        == (x.T @ g).tolist()
    )


X = np.float32([-1.7, 6.5, 3])
SHOWN: dict[str, tuple[Callable[[], Model], dict[str, np.ndarray], list[float]]] = {
    "reversed places": (reversed_places, {"x": X}, X[::-1].tolist()),
    "last places": (last_places, {"x": X, "n": np.array(2)}, X[-2:].tolist()),
}


if onnxruntime_api.version() >= ROUNDS:
    SHOWN["four bits"] = (narrowed, {"x": X}, [-1, 6, 3])


@pytest.mark.parametrize("name", SHOWN)
def test_it_is_so_of_others(name: str) -> None:
    make, feeds, right = SHOWN[name]
    model = make()
    assert model(*feeds.values()).tolist() == right
    shipped = run(model.for_runtime().proto.SerializeToString(), feeds)
    assert next(iter(shipped.results.values())).tolist() == right
    bare = run(model.proto.SerializeToString(), feeds)
    assert next(iter(bare.results.values())).tolist() != right


def test_a_loaded_model_is_looked_at_too(tmp_path) -> None:
    text = "g (float[2, 2] x, float[2] v) => (float[2] y) { t = Transpose(x) y = MatMul(t, v) }"
    model = Model.from_proto(parser.parse_model(f'<ir_version: 8, opset_import: ["" : 17]> {text}'))
    with pytest.warns(RuntimeSupportWarning, match="MatMul 'y'"):
        model.save(tmp_path / "model.onnx")


def test_nothing_is_said_of_others(tmp_path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        trace(lambda x, w: opset21.Relu(x @ w.T), FLOAT["N", 4], FLOAT[4, 4]).save(tmp_path / "a.onnx")
        trace(lambda a, b: a @ b.T @ a, FLOAT["N", "N"], FLOAT["N", "N"]).save(tmp_path / "b.onnx")
        trace(lambda x: opset21.Cast(opset21.Cast(x, to=6), to=22), FLOAT["N"]).save(tmp_path / "c.onnx")
        trace(lambda x: opset21.Gather(x, opset21.Range(0, opset21.Size(x), 2)), FLOAT["N"]).save(
            tmp_path / "d.onnx"
        )
        trace(lambda x, s: opset21.BatchNormalization(x, s, s, s, s), FLOAT["N", 1], FLOAT[1]).save(
            tmp_path / "e.onnx"
        )


def test_the_opset_is_reported_by_the_remedy() -> None:
    assert f"opset {NEWEST} became" in str(newest().for_runtime().report)


def test_the_operators_that_are_looked_for_are_those_of_the_facts() -> None:
    # The table is of all versions: some facts end with one, and others begin.
    versions = [(1, minor) for minor in range(21, onnxruntime_api.version()[1] + 1)]
    found = set().union(*map(ordinary_rules, versions))
    assert found <= CONCERNED
    if versions[-1] >= (1, 31):
        assert found == CONCERNED
    assert BESIDE.keys() <= CONCERNED
