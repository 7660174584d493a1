"""Places that a file claims: names, and no file is opened for them; unless it lies below a root that the user names."""

from __future__ import annotations

import linecache
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

import onnxsmith
from onnxsmith import FLOAT, Model, source_root, trace
from onnxsmith import opset21 as op
from onnxsmith.claims import claimed_span, is_live
from onnxsmith.errors import AttributeValueError, ShapeError
from onnxsmith.source import Span, text_of

FOUR = np.zeros(4, np.float32)
FIVE = np.zeros(5, np.float32)


def failing(source: str) -> onnx.ModelProto:
    """A model that fails when it runs on 4 and 5 elements, in a node that says it comes from `source`."""
    proto = trace(lambda x, y: op.Add(x, y), FLOAT["N"], FLOAT["M"]).proto
    proto.graph.node[0].metadata_props[0].value = source
    return proto


def message_of(model: Model) -> str:
    with pytest.raises(ShapeError) as caught:
        model(FOUR, FIVE)
    return str(caught.value)


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    file = tmp_path / "secret.py"
    file.write_text("password = 'swordfish'\n")
    return file


def test_a_loaded_model_names_its_place_and_shows_no_line_of_it(tmp_path: Path, secret: Path) -> None:
    place = tmp_path / "m.onnx"
    place.write_bytes(failing(f"{secret}:1:1-1:23").SerializeToString())
    text = message_of(onnxsmith.load(place))
    assert f"--> {secret}:1:1, as m.onnx says" in text
    assert "onnxsmith.source_root(folder)" in text
    assert "swordfish" not in text
    assert str(secret) not in linecache.cache


def test_a_model_that_was_made_here_shows_its_line() -> None:
    model = trace(lambda x, y: op.Add(x, y), FLOAT["N"], FLOAT["M"])
    assert "op.Add(x, y), FLOAT" in message_of(model)


def test_a_model_made_here_and_read_back_does_not(tmp_path: Path) -> None:
    trace(lambda x, y: op.Add(x, y), FLOAT["N"], FLOAT["M"]).save(tmp_path / "m.onnx")
    text = message_of(onnxsmith.load(tmp_path / "m.onnx"))
    assert "op.Add(x, y)" not in text
    assert "test_claims.py" in text


def test_below_a_root_that_the_user_names_lines_are_shown(tmp_path: Path, secret: Path) -> None:
    model = Model.from_proto(failing("secret.py:1:1-1:23"))
    with source_root(tmp_path):
        text = message_of(model)
    assert "password = 'swordfish'" in text
    assert "source_root" not in text
    assert "password" not in message_of(model)


def test_the_environment_can_name_the_root(
    tmp_path: Path, secret: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ONNXSMITH_SOURCE_ROOT", str(tmp_path))
    assert "swordfish" in message_of(Model.from_proto(failing(f"{secret}:1:1-1:23")))


@pytest.mark.parametrize("way", ["absolute", "upwards", "link", "link_to_folder", "no Python", "folder"])
def test_no_way_leads_out_of_the_root(tmp_path: Path, secret: Path, way: str) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (root / "link.py").symlink_to(secret)
    (root / "up").symlink_to(tmp_path)
    (root / "folder.py").mkdir()
    (root / "secret.txt").write_text("password = 'swordfish'\n")
    names = {
        "absolute": str(secret),
        "upwards": "../secret.py",
        "link": "link.py",
        "link_to_folder": "up/secret.py",
        "no Python": "secret.txt",
        "folder": "folder.py",
    }
    with source_root(root):
        assert "swordfish" not in message_of(Model.from_proto(failing(f"{names[way]}:1:1-1:23")))


def test_a_root_that_is_not_there_is_told() -> None:
    with pytest.raises(AttributeValueError, match="there is no folder 'nowhere'"), source_root("nowhere"):
        pass


def test_a_span_survives_as_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model.py").write_text("def f(x):\n    def g(y):\n        return y\n    return g(x)\n")
    span = Span(str(tmp_path / "model.py"), 3, 15, 3, 16, "g")
    assert span.stored == "model.py:3:16-3:17"
    with source_root(tmp_path):
        assert claimed_span(span.stored, "m.onnx") == span
    claimed = claimed_span(span.stored, "m.onnx")
    assert claimed == Span("model.py", 3, 15, 3, 16, "", "m.onnx")
    assert text_of(claimed) is None


@pytest.mark.parametrize(
    "text",
    [
        "nonsense",
        "a.py:1",
        "a.py:x:y",
        f"a.py:{'9' * 5000}:1",
        "a\nb.py:1:1",
        "a.py" * 2000 + ":1:1",
        ":1:1",
        "",
    ],
)
def test_what_is_no_place_is_none(text: str) -> None:
    assert claimed_span(text, "m.onnx") is None


@pytest.mark.parametrize("name", ["\x1b[2Jx", "a\x00b", "\u202eexe.py", "\x9b31m", "x\rfake", "x\u2028y"])
def test_hostile_names_reach_no_terminal(name: str) -> None:
    text = message_of(Model.from_proto(failing(f"{name}:1:1-1:2")))
    assert all(each.isprintable() or each == "\n" for each in text)


def test_very_long_names_are_clipped() -> None:
    assert len(message_of(Model.from_proto(failing("a" * 4000 + ".py:1:1-1:2")))) < 2000


def live_here() -> str:
    return "this function lives in this process"


class Holder:
    """Functions of a class, and of a class inside it."""

    def method(self) -> str:
        return "a method"

    @staticmethod
    def static() -> str:
        return "a static method"

    @classmethod
    def of_class(cls) -> str:
        return "a method of the class"

    class Inner:
        def method(self) -> str:
            return "a method inside"


METHODS = [Holder.method, Holder.static, Holder.of_class.__func__, Holder.Inner.method]


@pytest.mark.parametrize("function", METHODS, ids=lambda each: each.__qualname__)
def test_methods_live_in_this_process(function: Any) -> None:
    assert is_live(__file__, max(line for _, _, line in function.__code__.co_lines() if line is not None))


def test_what_lives_in_this_process() -> None:
    first = live_here.__code__.co_firstlineno
    assert is_live(__file__, first + 1)
    assert not is_live(__file__, 1)
    assert not is_live("/etc/passwd", 1)
