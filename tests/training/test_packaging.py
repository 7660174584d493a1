"""Training packages: run by onnxruntime and numpy alone in a fresh process, and by onnxruntime-web in a browser."""

from __future__ import annotations

import functools
import http.server
import json
import os
import runpy
import subprocess
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
import torch
from torch import nn

import onnxsmith.torch
from onnxsmith import DOUBLE, FLOAT, INT64, Model, trace
from onnxsmith import opset21 as op
from onnxsmith.core.value import Array
from onnxsmith.errors import (
    AttributeTypeError,
    AttributeValueError,
    CallError,
    ModelWarning,
    ModelWriteError,
    UnreadableModelError,
)
from onnxsmith.training import Trainer, adam, adamw, load_state, schedules, sgd
from onnxsmith.training.packaging import planned_rates

STEPS = 20
FILES = {
    "python": [
        "evaluation.onnx",
        "inference.onnx",
        "state.bin",
        "train.py",
        "training.json",
        "training_step.onnx",
    ],
    "web": [
        *("evaluation.onnx", "index.html", "inference.onnx", "state.bin", "train.mjs", "training.json"),
        "training_step.onnx",
    ],
}


def _random(*shape: int) -> Array:
    return np.random.default_rng(0).normal(size=shape).astype(np.float32)


def linear(dtype: type[np.floating[Any]] = np.float32) -> Model:
    weight, bias = _random(4, 3).astype(dtype), np.zeros(3, dtype)
    kind = FLOAT["N", 4] if dtype is np.float32 else DOUBLE["N", 4]
    return trace(lambda x: op.MatMul(x, weight) + bias, kind)


def with_loss_inside() -> Model:
    weight = _random(4, 3)

    def forward(x: Any, labels: Any) -> Any:
        scores = op.MatMul(x, weight)
        return op.SoftmaxCrossEntropyLoss(scores, labels), scores

    return trace(
        forward,
        FLOAT["N", 4],
        INT64["N"],
        input_names=["x", "labels"],
        output_names=["loss", "scores"],
    )


def of_torch(*, is_training: bool = True) -> Model:
    """A network with running statistics."""
    torch.manual_seed(0)
    network = nn.Sequential(
        nn.Linear(4, 6, bias=False), nn.BatchNorm1d(6), nn.ReLU(), nn.Dropout(0.2), nn.Linear(6, 3)
    )
    network.train(is_training).training = True  # the exporter keeps all weights of a module in training
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # which says that the module is in training
        return onnxsmith.torch.export(
            network,
            (torch.zeros(8, 4),),
            dynamic_shapes=({0: torch.export.Dim("N")},),
            input_names=["x"],
            keep_mutations=is_training,
        )


@dataclass(frozen=True)
class Case:
    """A trainer, the number of steps whose rates are written, and rates that each step is given."""

    make: Callable[[], Trainer]
    steps: int | None = None
    rates: dict[str, float] = field(default_factory=dict[str, float])
    #: The form of the model that predicts.
    inference: Callable[[], Model] | None = None

    @functools.cached_property
    def trainer(self) -> Trainer:
        return self.make()

    def write(self, folder: Path, kind: Any) -> Path:
        inference = None if self.inference is None else self.inference()
        return self.trainer.package(folder, kind, steps=self.steps, inference=inference)


CASES = {
    "a schedule": Case(
        lambda: Trainer(linear(), optimizer=adam(schedules.cosine(0.1, warmup=3))),
        steps=STEPS,
    ),
    "a rate for each step": Case(
        lambda: Trainer(linear(), optimizer=sgd(schedules.constant(1.0), momentum=0.9)),
        steps=1,
        rates={"lr": 0.05},
    ),
    "groups, clipped, accumulated and averaged": Case(
        lambda: Trainer(
            linear(),
            optimizer={"bias": sgd(0.1), "*": adamw(schedules.exponential(0.1, 0.9))},
            clip_norm=0.5,
            accumulate=2,
            average=0.9,
        ),
        steps=STEPS,
    ),
    "running statistics and dropout": Case(
        lambda: Trainer(of_torch(), optimizer=adam(0.01)), inference=lambda: of_torch(is_training=False)
    ),
    "a loss inside": Case(lambda: Trainer(with_loss_inside(), "loss", sgd(0.1))),
    "float64": Case(lambda: Trainer(linear(np.float64), optimizer=adam(0.1))),
}


def batches(step: Model) -> list[dict[str, Array]]:
    """Twenty batches of what a step takes."""
    generator = np.random.default_rng(1)
    taken = {each.name: each.type for each in step.inputs}
    given: list[dict[str, Array]] = []
    for _ in range(STEPS):
        x = generator.normal(size=(16, 4)).astype(taken["x"].dtype.numpy)
        labels = generator.integers(0, 3, 16)
        given.append({"x": x, "labels" if "labels" in taken else "target": labels})
    return given


@functools.cache
def trained_here(name: str) -> tuple[list[float], dict[str, Array], float, Array]:
    """The losses of twenty steps of the trainer's, the state behind them, and the last batch evaluated with it."""
    case = CASES[name]
    trainer = case.trainer
    planned = planned_rates(trainer.updates, case.steps)
    session = trainer.step.session(state=trainer.state)
    found: list[float] = []
    given = batches(trainer.step)
    for number, batch in enumerate(given):
        rates = {each: values[min(number, len(values) - 1)] for each, values in planned.items()}
        now = {each: np.float64(rate) for each, rate in {**rates, **case.rates}.items()}
        found.append(float(session(**batch, **now)))
    state = session.state
    model = trainer.model if case.inference is None else case.inference()
    suffix = "_average" if trainer.updates.average is not None else ""
    weights = {each: state[f"{each}{suffix}"] for each in model.ir.graph.initializers if each in state}
    last = given[-1]
    results = model.replace_weights(weights)(*(last[each.name] for each in model.inputs))
    scores = results[-1] if isinstance(results, tuple) else results
    loss = torch.nn.functional.cross_entropy(torch.tensor(scores), torch.tensor(list(last.values())[-1]))
    return found, state, float(loss), scores


# -- with onnxruntime and numpy alone ------------------------------------------------------------------------------

_ALONE = """
import json, runpy, sys
from pathlib import Path

class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("onnxsmith", "onnx", "onnx_ir", "ml_dtypes", "torch"):
            raise ImportError(name)

sys.meta_path.insert(0, Refuse())
import numpy as np

found = {}
for folder in map(Path, sys.argv[1:]):
    training = runpy.run_path(str(folder / "train.py"))["Training"](folder)
    data, rates = dict(np.load(folder / "data.npz")), json.loads((folder / "rates.json").read_text())
    losses = [training.step({name: each[step] for name, each in data.items()}, **rates) for step in range(20)]
    last = {name: each[-1] for name, each in data.items()}
    evaluated = training.evaluate(last)
    predicted = training.predict(last)
    training.save(folder / "trained.bin")
    training.load((folder / "trained.bin").read_bytes())
    assert training.count == 20
    found[folder.name] = [losses, evaluated["loss"].item(), [each.tolist() for each in predicted.values()]]
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], Path]:
    """The results of all packages in one fresh process, and the folder of their folders."""
    top = tmp_path_factory.mktemp("packages")
    folders: list[Path] = []
    for name, case in CASES.items():
        folders.append(case.write(top / name, "python"))
        given = batches(case.trainer.step)
        np.savez(
            folders[-1] / "data.npz", **{each: np.stack([one[each] for one in given]) for each in given[0]}
        )
        (folders[-1] / "rates.json").write_text(json.dumps(case.rates))
    command = [sys.executable, "-c", _ALONE, *map(str, folders)]
    result = subprocess.run(command, capture_output=True, text=True, check=False, cwd=top)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout), top


@pytest.mark.parametrize("name", CASES)
def test_losses_with_onnxruntime_and_numpy_alone(name: str, alone: tuple[dict[str, Any], Path]) -> None:
    found, top = alone
    losses, evaluated, predicted = found[name]
    expected, state, loss, prediction = trained_here(name)
    assert losses == expected
    back = load_state(top / name, "trained.bin")
    assert list(back) == list(state)
    for each, array in state.items():
        np.testing.assert_array_equal(back[each], array)
    np.testing.assert_allclose(evaluated, loss, rtol=1e-6)
    np.testing.assert_allclose(predicted[0], prediction, rtol=1e-5, atol=1e-6)


def test_program_trains_on_a_file(tmp_path: Path) -> None:
    folder = Trainer(linear(), optimizer=adam(0.1)).package(tmp_path / "new" / "package", "python")
    assert sorted(os.listdir(folder)) == FILES["python"]
    x = _random(100, 4)
    np.savez(tmp_path / "data.npz", x=x, target=(x[:, 0] > 0).astype(np.int64))
    command = [sys.executable, "train.py", str(tmp_path / "data.npz"), "3", "10"]
    result = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
    assert result.returncode == 0, result.stderr
    shown = [float(line.rpartition(" ")[2]) for line in result.stdout.splitlines()]
    assert len(shown) == 3
    assert shown[-1] < shown[0]
    assert load_state(folder, "trained.bin")["step"] == 30


def test_package_goes_on_where_the_trainer_is(tmp_path: Path) -> None:
    trainer = Trainer(linear(), optimizer=adam(schedules.exponential(0.1, 0.9)))
    x, labels = _random(64, 4), np.arange(64) % 3
    trainer.fit(x, labels, batch_size=16, shuffle=False)
    folder = trainer.package(tmp_path, "python")
    training = runpy.run_path(str(folder / "train.py"))["Training"](folder)
    for start in range(0, 64, 16):
        training.step({"x": x[start : start + 16], "target": labels[start : start + 16]})
    trainer.fit(x, labels, batch_size=16, shuffle=False)
    for name, each in trainer.state.items():
        np.testing.assert_array_equal(training.state[name], each)
    rates = [0.1 * 0.9**number for number in range(4, 8)]
    np.testing.assert_allclose(training.plan["rates"][0]["values"], rates)


def test_schedule_over_all_steps_begins_anew(tmp_path: Path) -> None:
    trainer = Trainer(linear(), optimizer=adam(schedules.cosine(0.1)))
    trainer.fit(_random(64, 4), np.arange(64) % 3, batch_size=16)
    trainer.package(tmp_path, "python")
    plan = json.loads((tmp_path / "training.json").read_text())
    assert plan["rates"][0]["values"] == schedules.cosine(0.1).rates(4)


def test_operators_without_kernels_are_replaced(tmp_path: Path) -> None:
    weight = _random(4, 3).astype(np.float64)
    model = trace(lambda x: op.Erf(op.MatMul(x, weight)), DOUBLE["N", 4])
    folder = Trainer(model, "squared", sgd(0.1)).package(tmp_path, "python")
    training = runpy.run_path(str(folder / "train.py"))["Training"](folder)
    x, target = _random(8, 4), np.ones((8, 3))
    found = [training.step({"x": x, "target": target}) for _ in range(5)]
    assert found[-1] < found[0]


def test_other_files_are_noticed(tmp_path: Path) -> None:
    folder = Trainer(linear(), optimizer=adam(0.1)).package(tmp_path / "package", "python")
    (folder / "evaluation.onnx").write_bytes((folder / "inference.onnx").read_bytes())
    command = [sys.executable, "-c", "import train; train.Training()"]
    result = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
    assert "evaluation.onnx is damaged, or belongs to another package" in result.stderr


# -- in a browser ---------------------------------------------------------------------------------------------------

_IN_PAGE = """
async ([batches, rates]) => {
    const { Training } = await import("./train.mjs"), ort = await import("/ort/ort.wasm.bundle.min.mjs");
    const training = await Training.open(ort), losses = [];
    for (const batch of batches) losses.push(await training.step(batch, rates));
    const evaluated = await training.evaluate(batches.at(-1)), predicted = await training.predict(batches.at(-1));
    const saved = await training.save().arrayBuffer();
    training.load(saved);
    if (training.count !== batches.length) throw new Error("count");
    return [losses, evaluated.loss.data[0], [...Object.values(predicted)[0].data], [...new Uint8Array(saved)]];
}
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, str]]:
    """A folder that is served, with onnxruntime-web in it, and its address."""
    named = os.environ.get("ONNXSMITH_TEST_ONNXRUNTIME_WEB")
    places = [Path(named)] if named else [Path.cwd() / "node_modules" / "onnxruntime-web"]
    found = next((each / "dist" for each in places if (each / "dist").is_dir()), None)
    if found is None:
        pytest.skip(
            "onnxruntime-web is not there: npm install onnxruntime-web, and name its folder in "
            "ONNXSMITH_TEST_ONNXRUNTIME_WEB"
        )
    top = tmp_path_factory.mktemp("site")
    (top / "ort").symlink_to(found)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(_Quiet, directory=str(top)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield top, f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


class _Quiet(http.server.SimpleHTTPRequestHandler):
    extensions_map: ClassVar[dict[str, str]] = {
        **http.server.SimpleHTTPRequestHandler.extensions_map,
        ".mjs": "text/javascript",
    }

    def log_message(self, format: str, *args: object) -> None:
        """Requests are not worth a line."""


@pytest.mark.parametrize("name", CASES)
def test_losses_in_a_browser(name: str, site: tuple[Path, str], chromium: Any) -> None:
    top, address = site
    place = name.replace(" ", "-")
    folder = CASES[name].write(top / place, "web")
    assert sorted(os.listdir(folder)) == FILES["web"]
    given = batches(CASES[name].trainer.step)
    listed = [{each: array.tolist() for each, array in batch.items()} for batch in given]
    page = chromium.new_page()
    wrong: list[str] = []
    page.on("console", lambda message: wrong.append(message.text))
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.goto(f"{address}/{place}/index.html")
    there, evaluated, predicted, saved = page.evaluate(_IN_PAGE, [listed, CASES[name].rates])
    page.close()
    assert wrong == []
    expected, state, loss, prediction = trained_here(name)
    # The kernels of WebAssembly add in another order: the last bit of a loss may differ.
    np.testing.assert_allclose(there, expected, rtol=1e-12 if name == "float64" else 1e-6)
    (folder / "trained.bin").write_bytes(bytes(saved))
    for each, array in load_state(folder, "trained.bin").items():
        np.testing.assert_allclose(array, state[each], rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(evaluated, loss, rtol=1e-5)
    np.testing.assert_allclose(predicted, prediction.ravel(), rtol=1e-4, atol=1e-5)


def test_page_trains_on_a_file(site: tuple[Path, str], chromium: Any) -> None:
    top, address = site
    Trainer(linear(), optimizer=adam(0.1)).package(top / "page", "web")
    x = _random(40, 4)
    labels = (x[:, 0] > 0).astype(int)
    (top / "page" / "data.json").write_text(json.dumps({"x": x.tolist(), "target": labels.tolist()}))
    page = chromium.new_page()
    page.goto(f"{address}/page/index.html?ort=/ort/ort.wasm.bundle.min.mjs&epochs=3&size=10")
    page.click("#train")
    page.wait_for_selector("#save:not([hidden])")
    lines = page.inner_text("#log").splitlines()
    page.close()
    shown = [float(line.rpartition(" ")[2]) for line in lines]
    assert len(shown) == 3
    assert shown[-1] < shown[0]


# -- files ------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def small() -> Trainer:
    return Trainer(linear(), optimizer=sgd(0.1))


def test_package_of_the_same_kind_is_replaced(small: Trainer, tmp_path: Path) -> None:
    folder = small.package(tmp_path, "python")
    (folder / "data.npz").write_bytes(b"mine")
    Trainer(linear(), optimizer=adam(0.1)).package(folder, "python")
    assert sorted(os.listdir(folder)) == sorted([*FILES["python"], "data.npz"])
    assert "step" in load_state(folder)


def test_nothing_is_written_where_a_write_fails(
    small: Trainer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = small.package(tmp_path / "package", "python")
    before = {each: (folder / each).read_bytes() for each in os.listdir(folder)}
    write = Path.write_bytes
    written: list[Path] = []

    def fail(self: Path, data: bytes) -> int:
        written.append(self)
        if len(written) == 4:
            raise OSError(28, "No space left on device")
        return write(self, data)

    monkeypatch.setattr(Path, "write_bytes", fail)
    with pytest.raises(ModelWriteError, match="No space left"):
        Trainer(linear(), optimizer=adam(0.1)).package(folder, "python")
    monkeypatch.undo()
    assert {each: (folder / each).read_bytes() for each in os.listdir(folder)} == before


def _write_in_a_full_folder(trainer: Trainer, place: Path) -> None:
    (place / "notes.txt").write_text("mine")
    trainer.package(place, "python")


def _write_over_another_kind(trainer: Trainer, place: Path) -> None:
    trainer.package(place, "web")
    trainer.package(place, "python")


def _write_over_a_file(trainer: Trainer, place: Path) -> None:
    (place / "file").write_text("mine")
    trainer.package(place / "file", "python")


def _write_beneath_a_file(trainer: Trainer, place: Path) -> None:
    (place / "file").write_text("mine")
    trainer.package(place / "file" / "folder", "python")


REFUSED: dict[str, tuple[Callable[[Trainer, Path], object], type[Exception], str]] = {
    "a folder with files": (
        _write_in_a_full_folder,
        ModelWriteError,
        "it is not empty, and holds no training package",
    ),
    "another kind": (_write_over_another_kind, ModelWriteError, "it holds a package for 'web'"),
    "a file": (_write_over_a_file, ModelWriteError, "it is no folder"),
    "beneath a file": (_write_beneath_a_file, ModelWriteError, "cannot write to"),
    "kind misspelt": (
        lambda trainer, place: trainer.package(place, "pyton"),
        AttributeValueError,
        'for "python" or for "web", and not for \'pyton\'',
    ),
    "kind of another type": (
        lambda trainer, place: trainer.package(place, 3),
        AttributeTypeError,
        "not an int",
    ),
    "folder of another type": (
        lambda trainer, place: trainer.package(3, "python"),
        AttributeTypeError,
        "path",
    ),
    "inference with other weights": (
        lambda trainer, place: trainer.package(
            place, "web", inference=trace(lambda x: x * 2.0, FLOAT["N", 4])
        ),
        CallError,
        "the model for inference has no weight 'weight', which is trained",
    ),
    "inference with other outputs": (
        lambda trainer, place: trainer.package(
            place, "web", inference=trainer.model.rename({"add": "other"})
        ),
        CallError,
        "the model that is trained takes x and gives add",
    ),
    "rates of how many steps": (
        lambda trainer, place: Trainer(linear(), optimizer=sgd(schedules.constant(0.1))).package(
            place, "web"
        ),
        AttributeValueError,
        "the rates of a number of steps",
    ),
    "no state": (lambda trainer, place: load_state(place), UnreadableModelError, "cannot read"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str, small: Trainer, tmp_path: Path) -> None:
    call, kind, text = REFUSED[name]
    with pytest.raises(kind) as raised:
        call(small, tmp_path)
    assert text in str(raised.value)


def test_state_of_another_package_is_refused(small: Trainer, tmp_path: Path) -> None:
    folder = small.package(tmp_path / "package", "python")
    (folder / "other.bin").write_bytes(b"1234")
    with pytest.raises(UnreadableModelError, match="is not the state of this package: it has 4 bytes"):
        load_state(folder, "other.bin")


def test_folder_that_cannot_be_written_to(small: Trainer, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "link")
    with pytest.raises(ModelWriteError):
        small.package(tmp_path / "link" / "package", "python")


def test_plateau_is_told(tmp_path: Path) -> None:
    with pytest.warns(ModelWarning, match="does not follow a plateau"):
        Trainer(linear(), optimizer=sgd(schedules.plateau(0.1))).package(tmp_path, "python", steps=3)
    assert json.loads((tmp_path / "training.json").read_text())["rates"][0]["values"] == [0.1]


def test_element_types_that_loops_lack(tmp_path: Path) -> None:
    weight = _random(4, 3)
    half = trace(lambda x: op.MatMul(op.Cast(x, to=1), weight), onnxsmith.BFLOAT16["N", 4])
    with pytest.raises(CallError, match="'x' is bfloat16, which numpy does not have"):
        Trainer(half, "squared", sgd(0.1)).package(tmp_path, "python")
    assert os.listdir(tmp_path) == []
