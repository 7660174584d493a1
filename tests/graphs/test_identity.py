"""Keys of contents, nodes and functions: what is the same, and what is not."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import onnx
import onnx_ir as ir
import pytest
from onnx import parser

from onnxsmith.graphs.identity import (
    EXACT,
    FINGERPRINT,
    IDENTICAL,
    ISOMORPHIC,
    SMALL_BYTES,
    Policy,
    array_key,
    tensor_key,
    value_key,
    value_number,
)
from tests.graphs import copying_law, exact_law, fingerprint_law, isomorphic_law, value_number_law
from tests.laws.named import Law

NAN, OTHER_NAN = np.array([0x7FC00000, 0x7FC00001], np.uint32).view(np.float32)


_LAWS = [value_number_law.LAW, exact_law.LAW, fingerprint_law.LAW, isomorphic_law.LAW, copying_law.LAW]


@pytest.mark.parametrize("law", _LAWS, ids=lambda law: law.sentence)
def test_laws(law: Law) -> None:
    assert not law.wrong(0, 500)


@pytest.mark.parametrize(
    "values",
    [
        (0.0, -0.0, float("nan"), 0, False, "0.0", b"0.0", None, (0.0,), (-0.0,), ("0.0",)),
        ("a", b"a", "b'a'", ("a",), ("a", "a"), "aa"),
        (float(NAN), -float(NAN), 1, 1.0, True, np.float32(1), np.int64(1), 1j, complex(0, -0.0) - 1j),
        (
            np.zeros(2),
            np.zeros(2, np.float32),
            np.zeros((1, 2)),
            -np.zeros(2),
            np.array(["a"], object),
            np.array([b"a"], object),
        ),
        (np.zeros(2, np.uint16), np.zeros(2, np.float16), np.zeros(2, ml_dtypes.bfloat16)),
        (1.0, np.float64(1), [1.0], (1.0,), [np.float64(1)], slice(1), slice(0, 1), slice(None, 1.0)),
        (np.timedelta64(1, "us"), np.timedelta64(1, "s"), np.timedelta64(1, "ms"), np.datetime64(1, "s")),
        ({}, {"a": 1}, [{}], {1}, float, np.float32, np.dtype(np.float32)),
    ],
)
def test_values_that_are_not_the_same(values: tuple[Any, ...]) -> None:
    keys = [value_key(each) for each in values]
    assert len(set(keys)) == len(values)
    assert keys == [value_key(each) for each in values]


def test_a_nan_is_the_same_by_its_bits() -> None:
    assert array_key(np.array([NAN])) == array_key(np.array([NAN]))
    assert array_key(np.array([NAN])) != array_key(np.array([OTHER_NAN]))


@pytest.mark.parametrize(
    "given",
    [
        0.1,
        [0.5, 0.1],
        3,
        [1, 2],
        "text",
        ["a", "b"],
        onnx.helper.make_tensor("t", onnx.TensorProto.INT64, [2], [1, 2]),
        onnx.helper.make_tensor_type_proto(onnx.TensorProto.FLOAT, ["N", 2]),
    ],
)
def test_attributes_of_every_kind(given: Any) -> None:
    proto = onnx.helper.make_attribute("name", given)
    one, two = (ir.serde.deserialize_attribute(proto) for _ in range(2))
    for policy in (EXACT, ISOMORPHIC, IDENTICAL, FINGERPRINT):
        assert policy.attribute(one) == policy.attribute(two)
        assert policy.attribute(one) != policy.attribute(ir.AttrInt64("name", 7))


def test_a_float_is_what_a_file_holds() -> None:
    stored = float(np.float32(0.1))
    assert ISOMORPHIC.attribute(ir.AttrFloat32("a", 0.1)) == ISOMORPHIC.attribute(ir.AttrFloat32("a", stored))
    huge, infinite = ir.AttrFloat32("a", -1e300), ir.AttrFloat32("a", float("-inf"))
    assert ISOMORPHIC.attribute(huge) == ISOMORPHIC.attribute(infinite)


def test_bytes_are_no_text() -> None:
    attributes = [ir.Attr("a", ir.AttributeType.STRING, each) for each in ("b'a'", b"a", "a")]
    assert len({ISOMORPHIC.attribute(each) for each in attributes}) == 3


def test_a_large_weight_is_itself_and_is_not_read() -> None:
    def unread() -> ir.TensorProtocol:
        raise AssertionError("it was read")

    size = SMALL_BYTES // 4 + 1
    lazy = ir.LazyTensor(unread, dtype=ir.DataType.FLOAT, shape=ir.Shape([size]))
    assert EXACT.tensor(lazy) == EXACT.tensor(lazy)
    one, two = (ir.Tensor(np.zeros(size, np.float32)) for _ in range(2))
    assert EXACT.tensor(one) != EXACT.tensor(two)
    assert ISOMORPHIC.tensor(one) == ISOMORPHIC.tensor(two)


def test_a_large_weight_is_the_same_as_one_at_its_place_in_a_file(tmp_path: Any) -> None:
    (tmp_path / "w").write_bytes(bytes(SMALL_BYTES * 3))

    def tensor(offset: int) -> ir.ExternalTensor:
        shape = ir.Shape([SMALL_BYTES * 2])
        return ir.ExternalTensor(
            "w", offset, SMALL_BYTES * 2, ir.DataType.UINT8, shape=shape, name="w", base_dir=str(tmp_path)
        )

    assert EXACT.tensor(tensor(0)) == EXACT.tensor(tensor(0))
    assert EXACT.tensor(tensor(0)) != EXACT.tensor(tensor(8))


def test_text_is_the_same_in_memory_and_in_a_file() -> None:
    made = ir.StringTensor(np.array(["ä", "b"], object), shape=ir.Shape([2]))
    stored = ir.StringTensor(np.array(["ä".encode(), b"b"], object), shape=ir.Shape([2]))
    assert tensor_key(made) == tensor_key(stored)


def test_a_fingerprint_does_not_see_all_of_a_large_weight() -> None:
    one = np.zeros(1 << 20, np.float32)
    two = one.copy()
    two[1] = 1
    assert FINGERPRINT.tensor(ir.Tensor(one)) == FINGERPRINT.tensor(ir.Tensor(two))
    two[0] = 1
    assert FINGERPRINT.tensor(ir.Tensor(one)) != FINGERPRINT.tensor(ir.Tensor(two))


@pytest.mark.parametrize("domain", ["", "ai.onnx"])
def test_random_and_foreign_nodes_are_the_same_as_none(domain: str) -> None:
    x = ir.Value(name="x")
    drawn = ir.Node(domain, "Bernoulli", [x], num_outputs=1)
    assert value_number(drawn) is None
    assert value_number(ir.Node("mine", "Relu", [x], num_outputs=1)) is None
    assert value_number(ir.Node(domain, "Relu", [x], num_outputs=1)) is not None
    assert value_number(ir.Node(domain, "Relu", [x], num_outputs=1)) == value_number(
        ir.Node("", "Relu", [x, None], num_outputs=1)
    )


def _function(text: str) -> ir.Function:
    return ir.from_proto(parser.parse_function(text))


def test_names_and_places_count_by_choice() -> None:
    text = '<domain: "d", opset_import: ["" : 21]> f (x) => (y) { a = Relu(x) y = Exp(a) }'
    one, renamed, placed = (
        _function(text),
        _function(text.replace("a ", "b ").replace("(a)", "(b)")),
        _function(text),
    )
    placed.graph[0].metadata_props["source"] = "there"
    for other, policy, is_same in (
        (renamed, ISOMORPHIC, True),
        (renamed, Policy(names=True), False),
        (placed, Policy(names=True), True),
        (placed, Policy(places=True), False),
    ):
        assert (policy.function(one) == policy.function(other)) is is_same
