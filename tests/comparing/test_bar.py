"""The bar: 50 faults in single nodes of ten models, half of them against a twin, and ten pairs without a fault."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from onnxsmith import Model, compare
from tests.comparing.planting import converted, exported, faults, has_effect, optimised, renamed
from tests.comparing.zoo import ZOO, inputs_of

#: For each model: five faults. The first two against a copy; then one against each of three twins.
TWINS = ("copy", "copy", "renamed", "optimised", "converted")
#: ONNX Runtime rounds a bias to whole numbers where it exports a quantised model, which is another model.
EXPORTED = tuple(name for name in ZOO if name != "quantised")


def twin_of(model: Model, kind: str, folder: Path) -> Model:
    if kind == "exported":
        return exported(model, folder)
    return {"copy": lambda each: each, "renamed": renamed, "optimised": optimised, "converted": converted}[
        kind
    ](model)


def check(name: str, kind: str, number: int, folder: Path) -> None:
    """A fault that is drawn by its number: in the first model, or in the twin, in turns."""
    model = ZOO[name]()
    inputs = inputs_of(model)
    twin = twin_of(model, kind, folder)
    is_first = number % 2 == 0
    base = model if is_first else twin
    draw = random.Random(f"{name} {kind} {number}")
    fault = next(each for each in faults(base, draw) if has_effect(base, each, inputs))
    found = compare(fault.model, twin, inputs) if is_first else compare(model, fault.model, inputs)
    blamed = found.node if is_first else found.other
    assert not found
    assert blamed is not None, found
    assert blamed.address == fault.address, found
    assert found.difference is not None


@pytest.mark.parametrize("number", range(5))
@pytest.mark.parametrize("name", ZOO)
def test_the_right_node_is_named(name: str, number: int, tmp_path: Path) -> None:
    kind = "exported" if number == 4 and name in EXPORTED and len(name) % 2 else TWINS[number]
    check(name, kind, number, tmp_path)


@pytest.mark.parametrize("name", ZOO)
def test_nothing_is_named_where_there_is_no_fault(name: str, tmp_path: Path) -> None:
    model = ZOO[name]()
    kinds = ("renamed", "optimised", "converted", "exported" if name in EXPORTED else "copy")
    for kind in kinds:
        found = compare(model, twin_of(model, kind, tmp_path), inputs_of(model))
        assert found, f"{kind}: {found}"
        assert found.node is None


@pytest.mark.parametrize("way", ["reference", "unoptimized"])
@pytest.mark.parametrize("name", ZOO)
def test_other_ways_to_run_give_the_same(name: str, way: str) -> None:
    model = ZOO[name]()
    found = compare(model, way, inputs_of(model))  # type: ignore[arg-type]
    assert found, found
