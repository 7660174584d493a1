"""Models, scripts, tensors and types at the end of a notebook's cell; errors there, in colours."""

from __future__ import annotations

import importlib
import sys
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from onnxsmith import FLOAT, Model, script, tensor
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


def test_a_large_model_says_how_to_see_it() -> None:
    bundle = Model.from_proto(transformer(2000, has_scopes=True))._repr_mimebundle_()
    assert "<iframe" not in bundle["text/html"]
    assert "model.show()" in bundle["text/html"]
    assert "image/svg+xml" not in bundle


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
