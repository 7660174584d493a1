"""Calls of operators as samples; those of operators and versions that ONNX has no cases for are written here."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from onnxsmith.runtime import engine, using
from onnxsmith.schema import registry
from onnxsmith.schema.definition import OperatorDef
from onnxsmith.types.dtypes import DType

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Node:
    """One call: an operator, attributes, and a value for each input, None in holes."""

    op: OperatorDef
    attributes: Mapping[str, Any]
    inputs: tuple[Array | None, ...]
    outputs: int

    def run(self, runtime: str) -> list[Any] | None:
        """The results on an engine; None where it has no kernel."""
        kinds = [None if each is None else DType.from_numpy(each.dtype) for each in self.inputs]
        with using(runtime=runtime), warnings.catch_warnings():  # pyright: ignore[reportArgumentType]
            warnings.simplefilter("ignore")
            runner = engine.prepare(self.op, kinds, self.attributes, self.outputs)
            if runner.source not in (runtime, "by ranks"):
                return None
            return list(runner(list(self.inputs)))


@dataclass(frozen=True)
class Sample:
    """A call with what it should give, None where nothing says it."""

    name: str
    node: Node
    expected: Sequence[Any]

    @property
    def size(self) -> int:
        """The number of elements that go in."""
        return sum(each.size for each in self.node.inputs if each is not None)


def written_samples() -> Iterator[Sample]:
    """Calls of operators of ai.onnx.ml; ONNX Runtime, which has most of them on FLOAT, is the oracle."""
    x = np.array([[1.0, 2.0, 0.0], [-1.0, 3.0, 2.0], [2.0, -2.0, 1.0]], np.float32)
    calls: dict[tuple[str, int], tuple[dict[str, Any], int]] = {
        ("Scaler", 1): ({"offset": (1.0, 0.5, 2.0), "scale": (2.0, 0.25, 1.0)}, 1),
        ("Imputer", 1): ({"imputed_value_floats": (7.0, 8.0, 9.0), "replaced_value_float": 2.0}, 1),
        ("Binarizer", 1): ({"threshold": 1.0}, 1),
        ("Normalizer", 1): ({"norm": "L2"}, 1),
        ("LinearRegressor", 1): ({"coefficients": (1.0, 2.0, 0.5), "intercepts": (0.25,), "targets": 1}, 1),
        ("LinearClassifier", 1): (
            {
                "coefficients": (1.0, 2.0, 0.5, -1.0, 1.0, 0.0, 0.5, 0.5, 2.0),
                "intercepts": (0.25, 0.0, -1.0),
                "classlabels_ints": (4, 5, 6),
                "multi_class": 0,
                "post_transform": "NONE",
            },
            2,
        ),
        ("OneHotEncoder", 1): ({"cats_int64s": (0, 1, 2), "zeros": 1}, 1),
        ("FeatureVectorizer", 1): ({"inputdimensions": (3,)}, 1),
        ("SVMRegressor", 1): (
            {
                "coefficients": (1.0, -0.5),
                "kernel_params": (0.5, 0.0, 3.0),
                "kernel_type": "RBF",
                "n_supports": 2,
                "rho": (0.25,),
                "support_vectors": (1.0, 0.0, 1.0, 0.0, 2.0, 1.0),
            },
            1,
        ),
        ("TreeEnsembleRegressor", 1): ({**_TREE, **_TARGETS}, 1),
        ("TreeEnsembleRegressor", 3): ({**_TREE, **_TARGETS}, 1),
        ("TreeEnsembleClassifier", 1): ({**_TREE, **_CLASSES}, 2),
        ("TreeEnsembleClassifier", 3): ({**_TREE, **_CLASSES}, 2),
    }
    for (name, version), (attributes, outputs) in calls.items():
        op = registry.find("ai.onnx.ml", name, version)
        assert op is not None
        given = np.array([0, 2, 1], np.int64) if name == "OneHotEncoder" else x
        yield Sample(f"{name}-{version}", Node(op, attributes, (given,), outputs), [None] * outputs)


def old_samples() -> Iterator[Sample]:
    """Calls of definitions that no later one is like, with what numpy gives."""
    x = np.array([[1.0, 2.0, 0.5], [-1.0, 3.0, 2.0]], np.float32)
    image = x.reshape(1, 1, 2, 3)
    larger = np.repeat(np.repeat(image, 2, 2), 2, 3)
    row = np.ones(1, np.float32)
    calls: list[tuple[str, int, Mapping[str, Any], tuple[Array, ...], Array]] = [
        ("Cast", 1, {"to": "DOUBLE"}, (x,), x.astype(np.float64)),
        ("Pad", 1, {"paddings": (1, 0, 0, 2)}, (x,), np.pad(x, ((1, 0), (0, 2)))),
        ("Pad", 2, {"pads": (1, 0, 0, 2)}, (x,), np.pad(x, ((1, 0), (0, 2)))),
        ("Tile", 1, {}, (x, row * 2, row), np.concatenate([x, x], 1)),
        ("Upsample", 1, {"height_scale": 2.0, "width_scale": 2.0}, (image,), larger),
        ("Upsample", 7, {"scales": (1.0, 1.0, 2.0, 2.0)}, (image,), larger),
        (
            *("BatchNormalization", 6, {"is_test": 1, "epsilon": 0.5}),
            *((image, row * 2, row, row * 0.5, row * 1.5), (image - 0.5) / np.sqrt(np.float32(2)) * 2 + 1),
        ),
    ]
    column = np.array([2.0, 0.5], np.float32)
    aligned: list[tuple[str, tuple[int, ...], Array]] = [
        ("Add", (1, 6), x + column[:, None]),
        ("Sub", (1, 6), x - column[:, None]),
        ("Mul", (1, 6), x * column[:, None]),
        ("Div", (1, 6), x / column[:, None]),
        ("Less", (1,), x < column[:, None]),
        ("Greater", (1,), x > column[:, None]),
    ]
    for name, versions, result in aligned:
        calls += [(name, each, {"axis": 0, "broadcast": 1}, (x, column), result) for each in versions]
    calls.append(("Pow", 1, {"axis": 0, "broadcast": 1}, (abs(x), column), abs(x) ** column[:, None]))
    for name, version, attributes, inputs, right in calls:
        op = registry.find("", name, version)
        assert op is not None
        yield Sample(f"{name}-{version}", Node(op, attributes, inputs, 1), [right])


_TREE: Mapping[str, Any] = {
    "nodes_falsenodeids": (2, 0, 0),
    "nodes_featureids": (1, 0, 0),
    "nodes_hitrates": (1.0, 1.0, 1.0),
    "nodes_missing_value_tracks_true": (0, 0, 0),
    "nodes_modes": ("BRANCH_LEQ", "LEAF", "LEAF"),
    "nodes_nodeids": (0, 1, 2),
    "nodes_treeids": (0, 0, 0),
    "nodes_truenodeids": (1, 0, 0),
    "nodes_values": (1.5, 0.0, 0.0),
}
_TARGETS: Mapping[str, Any] = {
    "target_ids": (0, 0),
    "target_nodeids": (1, 2),
    "target_treeids": (0, 0),
    "target_weights": (1.5, -2.0),
    "n_targets": 1,
}
_CLASSES: Mapping[str, Any] = {
    "class_ids": (0, 1),
    "class_nodeids": (1, 2),
    "class_treeids": (0, 0),
    "class_weights": (1.0, 1.0),
    "classlabels_int64s": (3, 4),
    "post_transform": "NONE",
}
