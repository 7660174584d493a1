"""`show`: what is written where, what is left alone, and which mistakes are told."""

from __future__ import annotations

import importlib
import sys
import webbrowser
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from onnxsmith import FLOAT, INT64, Model, script, source_root, trace
from onnxsmith import opset21 as op
from onnxsmith.errors import AttributeTypeError, AttributeValueError, MissingDependencyError, ModelWriteError
from onnxsmith.view.content import page_content
from onnxsmith.view.showing import viewed
from tests.view.hostile_models import endless_model, hostile_model, nested_model
from tests.view.large_models import transformer


@script
def gelu(x: FLOAT["N"]):
    half = 0.5 * x
    return half * (op.Erf(x * 0.7) + 1.0)


@pytest.fixture
def model() -> Model:
    return gelu.to_model()


def content_of(model: Model, **options: Any) -> Any:
    content: Any = page_content(viewed(model, **options))
    return {**content["models"][0], "strings": content["strings"]}


def test_a_page_is_one_file_with_its_policy(model: Model, tmp_path: Path) -> None:
    assert model.show(tmp_path / "m.html") == tmp_path / "m.html"
    text = (tmp_path / "m.html").read_text("utf-8")
    assert "default-src 'none'" in text
    assert "'unsafe-inline'" not in text
    assert "http" not in text.partition("<body>")[0].replace("http-equiv", "")
    assert list(tmp_path.iterdir()) == [tmp_path / "m.html"]


def test_the_same_model_gives_the_same_bytes(model: Model, tmp_path: Path) -> None:
    for name in ("a.html", "b.html", "a.svg", "b.svg"):
        model.show(tmp_path / name)
    assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes()
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()


@pytest.mark.parametrize("name", ["m.html", "m.svg"])
def test_a_page_replaces_a_page_and_nothing_else(model: Model, tmp_path: Path, name: str) -> None:
    place = tmp_path / name
    model.show(place)
    model.show(place)
    place.write_text("a stranger's")
    with pytest.raises(ModelWriteError, match="is there already"):
        model.show(place)
    assert place.read_text() == "a stranger's"
    model.show(place, overwrite=True)
    assert place.read_text("utf-8") != "a stranger's"


def test_a_picture_is_drawn_as_dots(model: Model, tmp_path: Path) -> None:
    pytest.importorskip("resvg_py", reason="resvg-py is not installed: pip install 'onnxsmith[view]'")
    model.show(tmp_path / "m.png")
    model.show(tmp_path / "m.png")  # over its own
    assert (tmp_path / "m.png").read_bytes().startswith(b"\x89PNG")


def test_dots_without_what_draws_them(model: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "resvg_py", None)
    with pytest.raises(MissingDependencyError, match="resvg-py") as caught:
        model.show(tmp_path / "m.png")
    assert ".svg" in str(caught.value)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["m.pdf", "m", "m.onnx"])
def test_another_ending_is_refused(model: Model, tmp_path: Path, name: str) -> None:
    with pytest.raises(AttributeValueError, match="is neither"):
        model.show(tmp_path / name)


def test_a_folder_that_is_not_there(model: Model, tmp_path: Path) -> None:
    with pytest.raises(ModelWriteError, match="there is no folder"):
        model.show(tmp_path / "nix" / "m.html")


def test_unknown_statistics(model: Model) -> None:
    with pytest.raises(AttributeValueError, match="statistics='all'"):
        model.show("m.html", statistics="all")  # type: ignore[arg-type]


def test_without_a_path_the_browser_opens(model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr(webbrowser, "open", opened.append)
    monkeypatch.setenv("BROWSER", "firefox")
    place = model.show()
    assert place is not None
    assert opened == [place.as_uri()]
    assert place.name == "gelu.html"


def test_the_lines_of_code_of_this_process(model: Model) -> None:
    sources = content_of(model)["sources"]
    (file,) = sources["files"]
    strings = content_of(model)["strings"]
    assert strings[file["name"]].endswith("test_showing.py")
    lines = {spans[1] for spans in sources["spans"].values()}
    texts = {strings[file["lines"][line - file["first"]]].strip() for line in lines}
    assert texts == {"half = 0.5 * x", "return half * (op.Erf(x * 0.7) + 1.0)"}
    left_out = content_of(model, source=False)["sources"]
    assert left_out == {"files": [], "spans": {}, "claims": {}}


def test_what_a_file_says_of_places_is_words(model: Model, tmp_path: Path) -> None:
    model.save(tmp_path / "m.onnx")
    loaded = content_of(Model.load(tmp_path / "m.onnx"))
    assert loaded["sources"]["files"] == []
    claims = {loaded["strings"][each] for each in loaded["sources"]["claims"].values()}
    assert all("test_showing.py:" in each for each in claims)
    assert len(claims) >= 3


def test_below_a_root_that_the_user_names_claims_are_believed(model: Model, tmp_path: Path) -> None:
    model.save(tmp_path / "m.onnx")
    with source_root(Path(__file__).parents[2]):
        loaded = content_of(Model.load(tmp_path / "m.onnx"))
    assert len(loaded["sources"]["files"]) == 1


def test_places_of_nodes_that_passes_joined() -> None:
    @script
    def program(x: FLOAT[4, 4]):
        y = op.MatMul(x, np.ones((4, 4), np.float32))
        return op.Add(y, np.ones(4, np.float32))

    optimized = program.to_model().optimize()
    content = content_of(optimized)
    assert any(len(spans) == 10 for spans in content["sources"]["spans"].values())


def test_types_come_from_inference_where_the_model_has_none() -> None:
    content = content_of(Model.from_proto(transformer(60, has_scopes=True)))
    shorts = [content["strings"][each] for each in content["values"]["short"]]
    assert all(shorts)
    assert "f32 N×8" in shorts


def test_each_node_has_its_statement(model: Model) -> None:
    content = content_of(model)
    texts = {content["strings"][each] for each in content["code"].values()}
    assert "return_val = half * add" in texts or any("half * " in each for each in texts)


def test_hostile_texts_in_a_picture(tmp_path: Path) -> None:
    place = tmp_path / "m.svg"
    Model.from_proto(hostile_model()).show(place)
    tree = importlib.import_module("xml.etree.ElementTree").parse(place)
    names = {each.tag.rpartition("}")[2] for each in tree.iter() if isinstance(each.tag, str)}
    assert names <= {"svg", "title", "style", "rect", "path", "text", "circle"}


def test_a_model_that_is_wrong_is_shown_all_the_same(tmp_path: Path) -> None:
    proto = trace(lambda a, b: a @ b, FLOAT[2, 3], FLOAT[3, 4]).proto
    proto.graph.input[1].type.tensor_type.shape.dim[0].dim_value = 7
    assert Model.from_proto(proto).show(tmp_path / "m.html") is not None


@pytest.mark.parametrize(
    "proto",
    [endless_model(1), endless_model(2), endless_model(70), nested_model(3000)],
    ids=["1", "2", "70", "nested"],
)
def test_functions_without_end_are_shown_as_far_as_one_sees(proto: onnx.ModelProto, tmp_path: Path) -> None:
    model = Model.from_proto(proto)
    for name in ("m.html", "m.svg"):
        assert model.show(tmp_path / name) is not None
    drawn = (tmp_path / "m.svg").read_text("utf-8").count(">F")
    assert 2 <= drawn <= 100
    # A notebook gets the page of what is small enough.
    assert ("<iframe" in model._repr_mimebundle_()["text/html"]) == (len(model.nodes) <= 150)


@pytest.mark.parametrize("path", [5, b"", b"m.svg", ["m.svg"]])
def test_what_is_no_path_is_refused(model: Model, path: Any) -> None:
    with pytest.raises(AttributeTypeError, match="the path of a file is text"):
        model.show(path)
    with pytest.raises(AttributeTypeError, match="the path of a file is text"):
        model.save(path)


def test_what_no_file_is_called_is_refused(model: Model) -> None:
    for write in (model.show, model.save, Model.load):
        with pytest.raises(AttributeValueError, match="zero byte"):
            write("a\0b.svg")


def test_what_is_no_overlay_is_refused(model: Model, tmp_path: Path) -> None:
    for name in ("m.html", "m.svg"):
        with pytest.raises(AttributeTypeError, match="overlay is an"):
            model.show(tmp_path / name, overlay=5)  # type: ignore[arg-type]


def test_a_node_in_a_loop_says_what_its_variables_hold() -> None:
    """The variable that a loop carries is called as the loop's output; alone, a statement says which value it means."""

    @script
    def summed(x: FLOAT["N"], n: INT64) -> FLOAT["N"]:
        total = x
        for _ in range(n):
            total = op.Sin(total)
        return total

    content = content_of(summed.to_model())
    (code,) = [
        text
        for each in content["code"].values()
        if "Sin" in (text := content["strings"][each]) and "for" not in text
    ]
    names = {content["strings"][each] for each in content["values"]["name"]}
    said = [line for line in code.splitlines() if line.startswith("#")]
    assert said
    assert all(line.split("'")[1] in names and line.endswith("' here") for line in said)


def test_titles_are_followed_by_what_stands_beside_them(tmp_path: Path) -> None:
    """However wide the reader's fonts are, the two cannot overlap: they are one text."""
    Model.from_proto(transformer(60, has_scopes=True)).show(tmp_path / "m.svg")
    text = (tmp_path / "m.svg").read_text("utf-8")
    assert '</tspan><tspan dx="8" font-size="11"' in text


def test_lines_of_a_file_that_the_page_has_not_are_said(model: Model) -> None:
    (file,) = content_of(model)["sources"]["files"]
    lines = Path(__file__).read_text("utf-8").splitlines()
    assert file["total"] == len(lines)
    assert file["first"] + len(file["lines"]) - 1 < len(lines)
