"""Sizes that a model is made for: fixed until they change, with one name for those that change together."""

from __future__ import annotations

from onnxsmith.grad.open_sizes import OpenSizes, fits


def test_sizes_that_change_together_have_one_name() -> None:
    sizes = OpenSizes()
    assert sizes.dimensions((8, 4, 8)) == (8, 4, 8)
    assert sizes.dimensions((16, 4, 16)) == ("n0", 4, "n0")
    assert sizes.dimensions((32, 4, 32)) == ("n0", 4, "n0")
    assert sizes.dimensions((32, 4, 31)) == ("n0", 4, "n1")


def test_a_name_stands_for_one_size() -> None:
    assert fits(("n", 4, "n"), (2, 4, 2))
    assert not fits(("n", 4, "n"), (2, 4, 3))
    assert not fits(("n", 4, "n"), (2, 5, 2))
