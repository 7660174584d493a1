"""The tasks can be done, their checkers tell right from wrong, and the page with the answer is in the index."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import onnxsmith
from onnxsmith import FLOAT, script, trace
from onnxsmith import opset21 as op
from tests.docs.tasks.checkers import problems
from tests.docs.tasks.given import GIVEN
from tests.docs.tasks.solutions import SOLUTIONS

HERE = Path(__file__).resolve().parent
DOCS = HERE.parents[2] / "docs"


def _text(task: str) -> str:
    return (HERE / f"{task}.md").read_text(encoding="utf-8")


def test_every_task_has_all_of_it() -> None:
    texts = {each.stem for each in HERE.glob("*.md")} - {"README"}
    assert len(texts) == 10
    assert texts == set(GIVEN) == set(SOLUTIONS) == set(MISTAKES)


@pytest.mark.parametrize("task", GIVEN)
def test_solution(task: str, tmp_path: Path) -> None:
    GIVEN[task](tmp_path)
    assert problems(task, tmp_path), "a folder that nobody touched"
    SOLUTIONS[task](tmp_path)
    assert problems(task, tmp_path) == []


@pytest.mark.parametrize("task", GIVEN)
def test_a_likely_mistake(task: str, tmp_path: Path) -> None:
    GIVEN[task](tmp_path)
    SOLUTIONS[task](tmp_path)
    MISTAKES[task](tmp_path)
    assert problems(task, tmp_path)


@pytest.mark.parametrize("task", GIVEN)
def test_the_text_tells_no_answer(task: str) -> None:
    names = {name for name in dir(onnxsmith.Model) if not name.startswith("_")} | set(dir(onnxsmith))
    code = re.findall(r"`([^`]+)`", _text(task))
    assert [each for each in code if f"{each}(" in _text(task) and each in names] == []
    assert "onnxsmith" not in _text(task)


@pytest.mark.parametrize("task", GIVEN)
def test_the_page_is_in_the_index(task: str) -> None:
    page = DOCS / re.findall(r"^Page: (\S+)$", _text(task), re.MULTILINE)[0]
    assert page.is_file()
    index = (page.parent / "index.md").read_text(encoding="utf-8")
    assert re.search(rf"^{page.stem}$", index, re.MULTILINE), "the toctree of its part"
    assert f"{page.parent.name}/index" in (DOCS / "index.md").read_text(encoding="utf-8")


def _without_normalising(folder: Path) -> None:
    model = onnxsmith.load(folder / "classifier.onnx")
    raw = trace(
        lambda pixels: op.Cast(pixels, to=FLOAT), onnxsmith.UINT8["batch", 16], input_names=["pixels"]
    )
    label = trace(lambda s: op.ArgMax(s, axis=-1, keepdims=0), FLOAT["batch", 5], output_names=["label"])
    onnxsmith.compose(raw, model, label).save(folder / "camera.onnx")


@script
def _by_rows(boxes: FLOAT["N", 4], scores: FLOAT["N"]):
    return op.NonMaxSuppression(boxes[None], scores[None, None], 100, 0.5, 0.3)


def _rows_of_three(folder: Path) -> None:
    _by_rows.to_model(output_names=["keep"]).save(folder / "nms.onnx")


@script
def _from_zero(x: FLOAT["N"], alpha: FLOAT):
    y = x
    state = 0.0 * alpha
    for i in range(x.shape[0]):
        state = alpha * x[i] + (1.0 - alpha) * state
        y = y.at[i].set(state)
    return y


def _begins_with_zero(folder: Path) -> None:
    _from_zero.to_model(output_names=["y"]).save(folder / "average.onnx")


def _without_preparing(folder: Path) -> None:
    onnxsmith.load(folder / "network.onnx").rename(inputs={"x": "raw"}).save(folder / "whole.onnx")


def _inside(folder: Path) -> None:
    onnxsmith.load(folder / "network.onnx").save(folder / "small.onnx")


def _last_batch_lost(folder: Path) -> None:
    np.save(folder / "results.npy", np.load(folder / "results.npy")[: 1000 // 64 * 64])


def _loops_not_counted(folder: Path) -> None:
    facts = json.loads((folder / "facts.json").read_text())
    del facts["operators"]["Tanh"]
    (folder / "facts.json").write_text(json.dumps(facts))


def _weights_as_they_were(folder: Path) -> None:
    model = onnxsmith.load(folder / "network.onnx")
    model.rename({"12": "logits", "onnx::MatMul_0": "tokens"}).save(folder / "named.onnx")


def _other_weights(folder: Path) -> None:
    model = trace(
        lambda picture: op.Softmax(op.Reshape(picture, [-1, 8]) @ np.ones((8, 3), np.float32)),
        FLOAT["batch", 2, 4],
        input_names=["picture"],
        output_names=["scores"],
    )
    model.save(folder / "open.onnx")


def _the_output(folder: Path) -> None:
    (folder / "answer.txt").write_text("softmax")


MISTAKES: dict[str, Callable[[Path], None]] = {
    "normalise": _without_normalising,
    "nms": _rows_of_three,
    "average": _begins_with_zero,
    "merge": _without_preparing,
    "external": _inside,
    "batches": _last_batch_lost,
    "inspect": _loops_not_counted,
    "rename": _weights_as_they_were,
    "batch": _other_weights,
    "compare": _the_output,
}
