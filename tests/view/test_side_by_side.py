"""Two models beside each other in a real browser: what differs is listed, marked, and shown in both at once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from onnxsmith import FLOAT, INT64, Model, diff, script
from onnxsmith import opset21 as op
from tests.view.conftest import Seen
from tests.view.hostile_models import TEXTS, hostile_model
from tests.view.large_models import transformer

Browse = Callable[..., Seen]
_WEIGHT = np.linspace(-1, 1, 16, dtype=np.float32).reshape(4, 4)
_OTHER_WEIGHT = _WEIGHT + np.float32(0.5)


@script
def before(x: FLOAT["N", 4], n: INT64) -> FLOAT["N", 4]:
    y = op.Relu(x @ _WEIGHT)
    for _ in range(n):
        y = op.Sin(y) + 1.0
    return op.Softmax(op.Neg(y), axis=0)


@script
def after(x: FLOAT["N", 4], n: INT64) -> FLOAT["N", 4]:
    y = op.Relu(x @ _OTHER_WEIGHT)
    for _ in range(n):
        y = op.Cos(y) + 1.0
    return op.Softmax(op.Abs(op.Ceil(y)), axis=1)


def page_of(one: Model, other: Model, place: Path) -> Path:
    assert diff(one, other).show(place) == place
    return place


@pytest.fixture
def page(tmp_path: Path) -> Path:
    return page_of(before.to_model(), after.to_model(), tmp_path / "page.html")


#: Operators of what is chosen in either pane; "" where nothing is.
_CHOSEN = """() => viewer.panes.map(({ chosen, model }) =>
    chosen ? model.operatorName(chosen.frame.ref(chosen.item)) : "")"""
#: Where on the screen, from the corner of its pane, the middle of what is chosen stands in either pane.
_PLACES = """() => viewer.panes.map(({ chosen: { frame, item }, camera }) =>
    [camera.x + camera.scale * (frame.left + frame.x[item]),
     camera.y + camera.scale * frame.itemTop(item), camera.scale])"""


def test_all_changes_are_listed_with_signs(browse: Browse, page: Path) -> None:
    seen = browse(page)
    assert seen.locator(".pane").count() == 2
    found = diff(before.to_model(), after.to_model())
    assert seen.locator(".change").count() == len(found.changes) == 5
    signs = seen.locator(".change i").all_inner_texts()
    assert set(signs) <= {"+", "−", "~"}
    assert len(signs) == len(found.changes)
    assert "weight" in seen.inner_text("#changes").lower()


def test_keys_step_through_the_changes_in_both_panes(browse: Browse, page: Path) -> None:
    seen = browse(page)
    seen.locator(".graph").nth(1).focus()
    pairs: set[tuple[str, str]] = set()
    for _ in range(seen.locator(".change").count()):
        seen.keyboard.press("j")
        assert seen.locator(".change[aria-current]").count() == 1
        pairs.add(tuple(seen.evaluate(_CHOSEN)))
    assert ("MatMul", "MatMul") in pairs  # a weight leads to what takes it
    assert ("Sin", "Cos") in pairs  # inside the body of a loop, which both sides open
    assert any(one == "" or other == "" for one, other in pairs)  # what one side has alone
    here = seen.inner_text(".changes-head .step-text")
    seen.keyboard.press("k")
    assert seen.inner_text(".changes-head .step-text") != here


def test_panes_move_and_open_together(browse: Browse, page: Path) -> None:
    seen = browse(page)
    node = seen.evaluate("viewer.model.byAddress('1')")
    seen.evaluate("(node) => viewer.select(node)", node)
    seen.wait_for_timeout(500)
    one, other = seen.evaluate(_PLACES)
    np.testing.assert_allclose(one, other, atol=2)
    # A drag and a wheel in either pane move both.
    for pane in (0, 1):
        box = seen.locator(".graph").nth(pane).bounding_box()
        before_it = seen.evaluate(_PLACES)
        seen.mouse.move(box["x"] + 300, box["y"] + 500)
        seen.mouse.down()
        seen.mouse.move(box["x"] + 330, box["y"] + 520, steps=4)
        seen.mouse.up()
        seen.mouse.wheel(0, 120)
        seen.wait_for_timeout(100)
        one, other = seen.evaluate(_PLACES)
        assert one != before_it[0]
        assert other != before_it[1]
        assert one[2] == other[2]
        np.testing.assert_allclose(one, other, atol=12)
    is_open = """() => viewer.panes.map((pane) => { const root = pane.scene.root;
        for (let item = 0; item < root.count; item++) if (root.opens(item)) return root.groups.has(item); })"""
    opened = seen.evaluate(is_open)
    assert opened[0] == opened[1]
    seen.evaluate(
        """() => { const pane = viewer.panes[0], nodes = [...Array(pane.model.count).keys()];
        const { frame } = pane.scene.reveal(nodes.find((node) => pane.model.operatorName(node) === "Sin"));
        pane.toggle({ frame: frame.parent, item: frame.host }); }"""
    )
    assert seen.evaluate(is_open) == [False, False]


def test_search_finds_what_only_one_model_has(browse: Browse, page: Path) -> None:
    """Whichever pane is in use."""
    seen = browse(page)
    for pane in (0, 1):
        for word, operator, told in (
            ("op:Ceil", "Ceil", {"none in before", "1 node in after"}),
            ("op:Neg", "Neg", {"1 node in before", "none in after"}),
        ):
            seen.evaluate("(k) => viewer.onTouched(viewer.panes[k])", pane)
            seen.fill("#query", word)
            assert set(seen.inner_text(".found-head").split(", ")) == told
            assert seen.locator(".found-row").count() == 1
            seen.locator(".found-row").first.click()
            assert operator in seen.evaluate(_CHOSEN)


def test_choosing_follows_and_search_begins_with_the_pane_in_use(browse: Browse, page: Path) -> None:
    seen = browse(page)
    seen.focus(".graph")
    seen.fill("#query", "op:Sin")
    seen.locator(".found-row").first.click()
    assert seen.evaluate(_CHOSEN) == ["Sin", "Cos"]
    seen.focus(".graph")
    seen.keyboard.press("b")
    assert seen.heading == "Cos"
    assert seen.evaluate("location.hash").startswith("#node=")


def test_models_that_do_not_differ(browse: Browse, tmp_path: Path) -> None:
    model = Model.from_proto(transformer(300, has_scopes=True))
    seen = browse(page_of(model, Model.from_proto(model.proto), tmp_path / "page.html"))
    assert "do not differ" in seen.inner_text("#changes")


def test_a_phone_has_one_above_the_other(browse: Browse, page: Path) -> None:
    seen = browse(page, width=390, height=780)
    assert seen.evaluate("document.documentElement.scrollWidth") <= 390
    one, other = (seen.locator(".pane").nth(k).bounding_box() for k in (0, 1))
    assert one["width"] == other["width"] == 390
    assert other["y"] >= one["y"] + one["height"]
    seen.click("#tools button[aria-label^='Changes']")
    assert seen.is_visible(".change >> nth=0")
    seen.locator(".change").nth(1).click()
    assert any(seen.evaluate(_CHOSEN))


def test_hostile_models(browse: Browse, tmp_path: Path) -> None:
    other = hostile_model()
    other.graph.node[0].name = TEXTS[0]
    del other.graph.node[0].attribute[:]
    other.graph.doc_string = TEXTS[0]
    seen = browse(page_of(Model.from_proto(hostile_model()), Model.from_proto(other), tmp_path / "page.html"))
    for _ in range(5):
        seen.keyboard.press("j")
    assert seen.evaluate("window.hacked") is None
    assert seen.evaluate("document.querySelectorAll('img, iframe, object, embed').length") == 0
