"""Models, scripts, tensors and types at the end of a notebook's cell; errors there, in colours."""

from __future__ import annotations

import importlib
import json
import sys
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from onnx import helper

from onnxsmith import FLOAT, Model, script, tensor, trace
from onnxsmith import opset21 as op
from onnxsmith.errors import ShapeError
from onnxsmith.view import notebook
from tests.view.large_models import transformer


@script
def scaled(x: FLOAT["N", 4]):
    return op.Relu(x * 2.0)


@script
def open_types(x, y):
    return x + y


@pytest.fixture
def shell() -> Iterator[Any]:
    """IPython as a notebook's kernel has it."""
    interactive = importlib.import_module("IPython.core.interactiveshell").InteractiveShell
    made = interactive.instance()
    made.kernel = object()
    yield made
    del made.kernel
    interactive.clear_instance()


@pytest.fixture
def displayed(shell: Any, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    found: list[Any] = []
    monkeypatch.setattr("IPython.display.display", found.append)
    return found


def test_a_model_is_a_page_a_picture_and_a_line() -> None:
    model = scaled.to_model()
    bundle = model._repr_mimebundle_()
    assert bundle["text/plain"] == repr(model)
    assert 'sandbox="allow-scripts"' in bundle["text/html"]
    assert "<td>input</td>" in bundle["text/html"]
    assert bundle["image/svg+xml"].startswith("<svg")
    assert set(model._repr_mimebundle_(include={"image/svg+xml"})) == {"text/plain", "image/svg+xml"}
    assert "text/html" not in model._repr_mimebundle_(exclude={"text/html"})


def kept_bytes(bundle: dict[str, str]) -> int:
    """What a notebook's file grows by."""
    return len(json.dumps(bundle, ensure_ascii=False).encode())


@pytest.mark.parametrize(
    ("nodes", "has_scopes", "shown"),
    [
        (10, False, "<iframe"),
        (60, True, "<iframe"),
        (120, False, "120 nodes: <code>model.show()"),
        (800, True, "<img"),
        (800, False, "800 nodes: <code>model.show()"),
        (2000, True, "2,000 nodes: <code>model.show()"),
    ],
)
def test_a_model_in_a_notebook_has_a_budget(nodes: int, has_scopes: bool, shown: str) -> None:
    bundle = Model.from_proto(transformer(nodes, has_scopes=has_scopes))._repr_mimebundle_()
    assert shown in bundle["text/html"]
    assert kept_bytes(bundle) <= 60_000


def test_inputs_of_any_number_and_length_have_a_budget() -> None:
    names = [f"{'long' * 300}_{k}" for k in range(900)]
    model = Model.from_proto(
        helper.make_model(
            helper.make_graph(
                [helper.make_node("Sum", names, ["y"])],
                "g",
                [helper.make_tensor_value_info(name, 1, ["size" * 200, 4]) for name in names],
                [helper.make_tensor_value_info("y", 1, None)],
            )
        )
    )
    assert kept_bytes(model._repr_mimebundle_()) <= 60_000
    assert len(str(model)) < 3000
    assert "888 more" in repr(trace(lambda *xs: op.Sum(*xs), *[FLOAT[4]] * 900))


def test_scripts_tensors_and_types() -> None:
    assert "<iframe" in scaled._repr_mimebundle_()["text/html"]
    assert open_types._repr_mimebundle_() == {"text/plain": "<script open_types(x, y)>"}
    assert FLOAT["<b>", 4]._repr_mimebundle_()["text/html"] == "<code>FLOAT[&#x27;&lt;b&gt;&#x27;, 4]</code>"
    assert "<td>1.5</td>" in tensor([1.5, 2.5])._repr_mimebundle_()["text/html"]
    assert "<pre>" in tensor([[[1.5]]])._repr_mimebundle_()["text/html"]


def test_show_in_a_notebook_shows_there(displayed: list[Any]) -> None:
    assert scaled.show() is None
    assert "<iframe" in displayed[0].data


def test_a_page_that_is_too_large_is_a_button(
    displayed: list[Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(notebook, "MOST_BYTES", 1000)
    monkeypatch.setitem(sys.modules, "ipywidgets", None)
    # Without widgets the file is there at once, with a link to it; one of somebody else's stays.
    scaled.show()
    assert "too much to keep in a notebook" in displayed[0].data
    assert '<a href="scaled.html"' in displayed[0].data
    assert len(displayed) == 1
    assert (tmp_path / "scaled.html").exists()
    (tmp_path / "scaled.html").write_text("mine")
    scaled.show()
    assert "<a href" not in displayed[1].data
    assert "scaled.html" in displayed[1].data
    assert (tmp_path / "scaled.html").read_text() == "mine"
    (tmp_path / "scaled.html").unlink()

    class Button:
        def __init__(self, description: str, layout: object) -> None:
            self.description = description

        def on_click(self, action: Any) -> None:
            self.action = action

    widgets: Any = types.ModuleType("ipywidgets")
    widgets.Button, widgets.Layout = Button, dict
    monkeypatch.setitem(sys.modules, "ipywidgets", widgets)
    scaled.show()
    button = displayed[-1]
    assert button.description == "Write scaled.html"
    button.action(button)
    assert (tmp_path / "scaled.html").exists()
    assert button.description == "scaled.html is written"


def test_an_error_is_in_colours_and_without_our_frames(shell: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    with pytest.raises(ShapeError) as caught:
        op.MatMul(tensor([[1.0, 2.0]]), tensor([[1.0, 2.0]]))
    text = "\n".join(caught.value._render_traceback_())
    assert "\x1b[1;31monnxsmith.errors.ShapeError\x1b[0m" in text
    assert "onnxsmith/runtime" not in text
    assert "test_notebook.py" in text
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in "\n".join(caught.value._render_traceback_())
