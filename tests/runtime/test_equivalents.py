"""Other definitions are only taken where they mean the same."""

from __future__ import annotations

import pytest

from onnxsmith.runtime.equivalents import earlier_calls, later_call
from onnxsmith.runtime.single_node import Call
from onnxsmith.types.dtypes import DType
from tests.runtime.calls import find

F, INT, B16 = DType.FLOAT, DType.INT64, DType.BFLOAT16


@pytest.mark.parametrize(
    ("name", "version", "types", "attributes", "versions"),
    [
        ("Cast", 28, [F], {"to": 7}, [25, 24]),  # 23 says less about float4
        ("Unique", 28, [F], {}, [11]),
        ("Unique", 28, [B16], {}, []),  # only 28 has bfloat16
        ("Range", 27, [F, F, F], {"stash_type": 1}, [11]),
        ("Range", 27, [DType.FLOAT16] * 3, {}, []),
        ("Mod", 28, [F, F], {"fmod": 1}, [13]),
        ("Mod", 28, [F, F], {}, []),  # floor modulus of floats is new
        ("Mod", 28, [INT, INT], {}, [13]),
        ("SpaceToDepth", 28, [F], {"blocksize": 2}, [13, 1]),
        ("SpaceToDepth", 28, [F], {"blocksize": 2, "mode": "CRD"}, []),
        ("Softmax", 13, [F], {}, []),  # 11 took all later axes together
        ("Squeeze", 13, [F], {}, []),  # axes were an attribute
        ("BitShift", 28, [DType.UINT8] * 2, {"direction": "LEFT"}, []),  # 28 defines shifts beyond the width
    ],
)
def test_earlier_definitions(name, version, types, attributes, versions) -> None:
    found = list(earlier_calls(Call(find(name, version), tuple(types), attributes, 1)))
    assert [each.op.since_version for each in found][: len(versions)] == versions
    assert bool(found) == bool(versions)
    for each in found:
        assert set(each.attributes) <= set(each.op.attributes)


@pytest.mark.parametrize(
    ("name", "version", "attributes", "expected"),
    [
        ("Cast", 1, {"to": "INT64"}, (6, {"to": 7})),
        ("Cast", 1, {"to": "NONSENSE"}, None),
        ("Clip", 1, {"min": 0.0, "consumed_inputs": (0,)}, (6, {"min": 0.0})),
        ("Dropout", 6, {"is_test": 1}, (7, {})),
        ("Dropout", 6, {}, None),
        ("Gemm", 6, {"broadcast": 1}, (7, {})),
        ("Gemm", 6, {}, None),
        ("GlobalLpPool", 1, {"p": 3.0}, (2, {"p": 3})),
        ("GlobalLpPool", 1, {"p": 2.5}, None),
        ("Relu", 14, {}, None),
    ],
)
def test_later_definitions(name, version, attributes, expected) -> None:
    found = later_call(Call(find(name, version), (F,), attributes, 1))
    assert (None if found is None else (found.op.since_version, found.attributes)) == expected
