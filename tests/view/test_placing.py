"""Places: order and gaps are kept, for every graph; the page gives the same ones as Python."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onnxsmith import Model
from onnxsmith.view.content import describe
from onnxsmith.view.layering import Net
from onnxsmith.view.ordering import arrange
from onnxsmith.view.placing import BEND_WIDTH, GAP_X, place
from tests.view.conftest import Seen
from tests.view.large_models import transformer


@given(st.data())
def test_nothing_overlaps(data: st.DataObject) -> None:
    count = data.draw(st.integers(1, 12))
    widths = data.draw(st.lists(st.floats(10, 200), min_size=count, max_size=count))
    nets = [
        Net(k, k, tuple(dict.fromkeys(targets)))
        for k in range(count - 1)
        if (targets := data.draw(st.lists(st.integers(k + 1, count - 1), max_size=3)))
    ]
    made = arrange(count, nets, range(count))
    placed = place(made, widths, [30.0] * count)

    def width(item: int) -> float:
        return widths[item] if item < count else BEND_WIDTH

    for layer in made.layers:
        for one, other in itertools.pairwise(layer):
            free = placed.x[other] - placed.x[one] - (width(one) + width(other)) / 2
            assert free >= GAP_X - 1e-6
    for _, a, b in made.segments:
        assert placed.y[a] + placed.heights[a] < placed.y[b]
    assert min(placed.x) >= 0


def test_a_chain_is_straight() -> None:
    made = arrange(4, [Net(k, k, (k + 1,)) for k in range(3)], range(4))
    assert len(set(place(made, [50.0, 90.0, 30.0, 70.0], [30.0] * 4).x)) == 1


def test_the_page_gives_the_same_places(browse: Callable[..., Seen], tmp_path: Path) -> None:
    model = Model.from_proto(transformer(60, has_scopes=False))
    shown = model.show(tmp_path / "m.html")
    assert shown is not None
    found = browse(shown).evaluate(
        """() => { const { x, y, widths, heights, count } = viewer.scene.root;
        const own = (sizes) => [...sizes].slice(0, count);
        return { x: [...x], y: [...y], widths: own(widths), heights: own(heights) }; }"""
    )
    _, boxes = describe(model.ir)
    arrangement = boxes.boxes[0].arrangement
    assert arrangement is not None
    placed = place(arrangement, found["widths"], found["heights"])
    assert placed.x == pytest.approx(found["x"])
    assert placed.y == pytest.approx(found["y"])
