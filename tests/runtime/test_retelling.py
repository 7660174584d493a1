"""Earlier definitions are only taken where they mean the same."""

from __future__ import annotations

import pytest

from onnxsmith.runtime.retelling import earliest_same
from tests.runtime.calls import find


@pytest.mark.parametrize(
    ("name", "version", "attributes", "expected"),
    [
        ("Cast", 28, {"to"}, 24),  # 23 says less about float4
        ("Unique", 28, set(), 11),
        ("Range", 27, set(), 11),
        ("Range", 27, {"stash_type"}, 27),
        ("Mod", 28, {"fmod"}, 28),  # floor modulus of floats is new
        ("SpaceToDepth", 28, {"blocksize"}, 1),
        ("SpaceToDepth", 28, {"blocksize", "mode"}, 28),
        ("Softmax", 13, {"axis"}, 13),  # 11 took all later axes together
        ("Squeeze", 13, set(), 13),  # axes were an attribute
        ("BitShift", 28, {"direction"}, 28),  # 28 defines shifts beyond the width
    ],
)
def test_earlier_definitions(name: str, version: int, attributes: set[str], expected: int) -> None:
    assert earliest_same(find(name, version), attributes) == expected
