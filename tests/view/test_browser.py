"""Pages in a real browser: open, expand, search, click, see the source line; at every size, and with hostile models."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from onnxsmith import FLOAT, INT64, Model, script
from onnxsmith import opset21 as op
from onnxsmith.view import Note, Overlay, Step
from onnxsmith.view.notebook import page_frame
from tests.view.conftest import Seen
from tests.view.hostile_models import TEXTS, endless_model, hostile_model
from tests.view.large_models import transformer, with_source

Browse = Callable[..., Seen]


@script
def inner(x: FLOAT["N"]):
    return op.Relu(x * 2.0)


@script
def program(x: FLOAT["N"], n: INT64) -> FLOAT["N"]:
    total = x
    for _ in range(n):
        if op.ReduceSum(total, keepdims=0) > 10.0:
            total = inner(total) - 1.0
        else:
            total = total + 1.0
    return total


def page_of(model: Model, place: Path, **options: Any) -> Path:
    written = model.show(place, **options)
    assert written is not None
    return written


@pytest.mark.parametrize(
    ("count", "has_scopes"), [(100, True), (5_000, True), (20_000, True), (20_000, False)]
)
def test_open_expand_search_click_and_see_the_line(
    browse: Browse, tmp_path: Path, count: int, has_scopes: bool
) -> None:
    model = with_source(Model.from_proto(transformer(count, has_scopes=has_scopes)))
    place = page_of(model, tmp_path / "m.html", statistics="none")
    assert place.stat().st_size <= (400_000 if count <= 300 else 4_000_000)
    seen = browse(place)
    assert seen.evaluate("viewer.model.count") == count

    before = seen.evaluate("viewer.scene.root.count")
    if has_scopes:
        assert before < count
        label = seen.evaluate(
            """() => { const root = viewer.scene.root;
            for (let item = 0; item < root.count; item++) if (root.kind(item) === 1) {
                const was = root.groups.has(item);
                viewer.toggle({ frame: root, item }); viewer.toggle({ frame: root, item });
                if (root.groups.has(item) !== was) return "";
                if (!was) viewer.toggle({ frame: root, item });
                return root.groups.has(item) ? root.face(item).title : ""; }
            return ""; }"""
        )
        assert label.startswith("layers.")
    else:
        assert before >= count

    seen.fill("#query", "op:Softmax")
    found = seen.inner_text(".found-head")
    assert "node" in found
    rows = seen.locator(".found-row")
    assert rows.count() >= 1
    rows.first.click()
    assert seen.heading == "Softmax"

    last = count - 1
    seen.click_node(last)
    assert seen.heading == "Identity"
    assert seen.inner_text("#panel .address") == f"node {last}"
    assert "large_models.py" in seen.inner_text("#panel section small")
    assert seen.locator("#source li.lit").count() == 1


def test_a_line_leads_to_its_nodes(browse: Browse, tmp_path: Path) -> None:
    seen = browse(page_of(program.to_model(), tmp_path / "m.html"), width=1400)
    line = seen.locator("#source .has-nodes", has_text="total + 1.0").first
    line.click()
    assert seen.heading == "Add"
    several = seen.locator("#source .has-nodes", has_text="op.ReduceSum").first
    several.click()
    assert seen.locator("#panel .link-row").count() >= 2
    # This file is longer than what the page has of it.
    assert "are not in this page" in seen.locator("#source .lines-left-out").last.inner_text()


def test_every_node_is_reached_by_keys(browse: Browse, tmp_path: Path) -> None:
    """N walks through all nodes of the file, in bodies and functions too; arrows go along the lines between them."""
    seen = browse(page_of(program.to_model(), tmp_path / "m.html"))
    wanted = seen.evaluate(
        "[...Array(viewer.model.count).keys()].filter((node) => !viewer.model.folded.has(node))"
    )
    seen.focus(".graph")
    reached: set[int] = set()
    for _ in wanted:
        seen.keyboard.press("n")
        reached.add(seen.evaluate("viewer.chosen.frame.ref(viewer.chosen.item)"))
        assert seen.inner_text(".spoken")
    assert reached == set(wanted)

    seen.evaluate("viewer.openAll()")
    walked: set[int] = set()
    for key in ["ArrowDown"] * 40 + ["ArrowUp"] * 40:
        seen.keyboard.press(key)
        chosen = seen.evaluate(
            "[viewer.chosen.frame.kind(viewer.chosen.item), viewer.chosen.frame.ref(viewer.chosen.item)]"
        )
        if chosen[0] == 0:
            walked.add(chosen[1])
    assert len(walked) > len(wanted) // 3


def test_keys_search_open_and_close(browse: Browse, tmp_path: Path) -> None:
    seen = browse(page_of(program.to_model(), tmp_path / "m.html"))
    seen.focus(".graph")
    seen.keyboard.press("/")
    seen.keyboard.type("loop")
    seen.keyboard.press("Enter")
    assert seen.heading == "Loop"
    seen.focus(".graph")
    is_open = "viewer.chosen.frame.groups.has(viewer.chosen.item)"
    was = seen.evaluate(is_open)
    seen.keyboard.press("Enter")
    assert seen.evaluate(is_open) != was
    seen.keyboard.press("Enter")
    assert seen.evaluate(is_open) == was
    seen.keyboard.press("?")
    assert seen.is_visible("#keys")


def test_search_finds_by_type_shape_and_attribute(browse: Browse, tmp_path: Path) -> None:
    seen = browse(page_of(Model.from_proto(transformer(100, has_scopes=True)), tmp_path / "m.html"))
    find = "(query) => viewer.search.find(query).map((node) => viewer.model.operatorName(node))"
    assert set(seen.evaluate(find, "attr:perm=[1,")) == {"Transpose"}
    assert set(seen.evaluate(find, "perm=[1,")) == {"Transpose"}
    assert "MatMul" in seen.evaluate(find, "shape:8x8")
    assert len(seen.evaluate(find, "dtype:f32")) == 100
    assert seen.evaluate(find, "dtype:i64") == []
    assert set(seen.evaluate(find, "layers.0 op:softmax")) == {"Softmax"}
    seen.fill("#query", "nothing is called so")
    assert "Nothing is called so" in seen.inner_text("#found")


def test_in_a_frame_that_is_shut_in(chromium: Any, tmp_path: Path) -> None:
    """As notebooks show it: packed, in `srcdoc`, allowed to run scripts and nothing else."""
    page = page_of(program.to_model(), tmp_path / "m.html").read_bytes()
    around = tmp_path / "around.html"
    around.write_text(f"<!doctype html>{page_frame(page)}", "utf-8")
    tab = chromium.new_page()
    errors: list[str] = []
    tab.on("console", lambda message: errors.append(message.text))
    tab.on("pageerror", lambda error: errors.append(str(error)))
    tab.goto(around.as_uri())
    frame = tab.frames[1]
    frame.wait_for_selector("html[data-ready]")
    frame.evaluate("viewer.select(0)")
    frame.fill("#query", "Loop")
    frame.locator(".found-row").first.click()
    assert frame.inner_text("#panel h2") == "Loop"
    assert errors == []
    # The page's own policy holds there, too.
    frame.evaluate(
        "document.body.append(Object.assign(document.createElement('script'), {text: 'window.hacked = 1'}))"
    )
    assert frame.evaluate("window.hacked") is None
    assert "Content Security Policy" in errors[0]
    tab.close()


def test_links_lead_to_nodes(browse: Browse, tmp_path: Path) -> None:
    place = page_of(Model.from_proto(transformer(100, has_scopes=True)), tmp_path / "m.html")
    seen = browse(place)
    seen.evaluate("viewer.select(5)")
    assert seen.evaluate("location.hash") == "#node=5"
    seen.evaluate("location.hash = '#node=7'")
    seen.wait_for_function("document.querySelector('#panel .address')?.textContent === 'node 7'")


def test_hostile_texts_stay_texts(browse: Browse, tmp_path: Path) -> None:
    model = Model.from_proto(hostile_model())
    place = page_of(model, tmp_path / "m.html")
    assert place.stat().st_size < 400_000
    seen = browse(place)
    seen.evaluate("viewer.openAll()")
    for node in range(seen.evaluate("viewer.model.count")):
        seen.evaluate("(node) => viewer.select(node)", node)
    for text in TEXTS[:-1]:
        seen.fill("#query", text)
    seen.evaluate("viewer.choose(null)")
    assert seen.evaluate("window.hacked") is None
    assert seen.evaluate("document.querySelectorAll('img, iframe, object, embed').length") == 0
    # It names places in /etc/passwd: they are words, and nothing of that file is here.
    assert seen.evaluate("viewer.model.raw.sources.files.length") == 0
    assert seen.evaluate("viewer.source.places(0)") == [{"text": "/etc/passwd:1:1-1:5", "claim": True}]


def test_a_policy_keeps_other_scripts_from_running(browse: Browse, tmp_path: Path) -> None:
    seen = browse(page_of(program.to_model(), tmp_path / "m.html"))
    seen.evaluate(
        """() => { const script = document.createElement("script");
        script.textContent = "window.hacked = 1"; document.body.append(script); }"""
    )
    assert seen.evaluate("window.hacked") is None
    assert any("Content Security Policy" in each for each in seen.errors)
    seen.errors.clear()


def test_notes_of_other_tools(browse: Browse, tmp_path: Path) -> None:
    model = Model.from_proto(transformer(100, has_scopes=True))
    notes = {"3": Note("heat", "1.5 ms", "took half of the time", share=0.5), "5": Note("added", "new")}
    steps = [Step("fuse", {"7": Note("changed", "fused")}), Step("clean up")]
    overlay = Overlay("What happened", notes, {"heat": "time", "added": "added"}, steps)
    seen = browse(page_of(model, tmp_path / "m.html", overlay=overlay))
    assert "What happened" in seen.inner_text(".overlay")
    # It begins with the first step, at what that changed.
    assert "step 1 of 2: fuse" in seen.inner_text(".overlay")
    assert seen.inner_text("#panel .address") == "node 7"
    assert seen.inner_text("#panel .told") == "~ fused"
    seen.click(".overlay button[aria-label='Next step']")
    assert "step 2 of 2: clean up" in seen.inner_text(".overlay")
    # A step without notes shows those of the whole.
    seen.evaluate("viewer.select(3)")
    assert "took half of the time" in seen.inner_text("#panel .told")


def test_one_note_after_the_other(browse: Browse, tmp_path: Path) -> None:
    model = Model.from_proto(transformer(100, has_scopes=True))
    shares = {"3": 0.2, "40": 1.0, "60": 0.5}
    notes = {address: Note("heat", f"{share} ms", share=share) for address, share in shares.items()}
    seen = browse(page_of(model, tmp_path / "m.html", overlay=Overlay("Time", notes, {"heat": "time"})))
    # The hottest first, and round again.
    for address in ("40", "60", "3", "40"):
        assert seen.inner_text("#panel .address") == f"node {address}"
        seen.click(".overlay button[aria-label='Next note']")
    seen.click(".overlay button[aria-label='Note before']")
    assert seen.inner_text("#panel .address") == "node 40"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_phone_has_all_of_it(browse: Browse, tmp_path: Path, scheme: str) -> None:
    seen = browse(page_of(program.to_model(), tmp_path / "m.html"), width=390, height=780, scheme=scheme)
    assert seen.evaluate("document.documentElement.scrollWidth") <= 390
    seen.evaluate("viewer.select(0)")
    box = seen.locator("#panel").bounding_box()
    assert box["width"] >= 380
    assert box["y"] > 300  # a sheet at the bottom, with the graph above it
    assert seen.locator(".graph").bounding_box()["height"] > 200
    for button in seen.locator("#tools button, #zoomer button").all():
        place = button.bounding_box()
        assert place["x"] >= 0
        assert place["x"] + place["width"] <= 390
    # One sheet at a time, and none that cannot be closed.
    seen.click("#tools button[aria-label^='Source']")
    assert seen.is_visible("#source .line >> nth=0")
    assert not seen.is_visible("#panel")
    seen.click("#source .close")
    assert not seen.is_visible("#source")
    assert seen.locator(".graph").bounding_box()["height"] > 600


def test_light_and_dark(browse: Browse, tmp_path: Path) -> None:
    seen = browse(page_of(program.to_model(), tmp_path / "m.html"), scheme="dark")
    ground = "getComputedStyle(document.body).backgroundColor"
    dark = seen.evaluate(ground)
    seen.focus(".graph")
    seen.keyboard.press("d")
    assert seen.evaluate(ground) != dark


@pytest.mark.parametrize("functions", [1, 2])
def test_functions_that_call_themselves(browse: Browse, tmp_path: Path, functions: int) -> None:
    seen = browse(page_of(Model.from_proto(endless_model(functions)), tmp_path / "m.html"))
    assert seen.evaluate("viewer.scene.openAll()")
