"""The law of what is there already: nothing that others wrote, or that the user edited, is lost without force."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Literal

import numpy as np
import pytest
from onnx import TensorProto, helper

import onnxsmith
from onnxsmith import FLOAT, Model, trace
from onnxsmith import opset21 as op
from onnxsmith.cli import main
from onnxsmith.errors import ModelWriteError, OnnxsmithError

Before = Literal["a stranger's", "ours", "ours, edited", "a stranger's of the same length"]
BEFORE: tuple[Before, ...] = ("a stranger's", "ours", "ours, edited", "a stranger's of the same length")


def model(scale: float = 1.0) -> Model:
    weights = np.arange(4096, dtype=np.float32).reshape(64, 64) * scale
    return trace(lambda x: op.Relu(x @ weights), FLOAT["N", 64], name="net")


def decompile(folder: Path, force: bool) -> None:
    model().save(folder.parent / "net.onnx")
    onnxsmith.decompile_to(folder.parent / "net.onnx", folder, overwrite=force)


def decompile_command(folder: Path, force: bool) -> None:
    model().save(folder.parent / "net.onnx")
    words = ["decompile", str(folder.parent / "net.onnx"), "-o", str(folder), *(["--force"] if force else [])]
    if main(words):
        raise ModelWriteError("the command said so")


def save_with_data(folder: Path, force: bool) -> None:
    model().save(folder / "net.onnx", external_data=True, overwrite=force)


def save_whole(folder: Path, force: bool) -> None:
    model().save(folder / "net.onnx", overwrite=force)


def save_odd(folder: Path, force: bool) -> None:
    """A model with sparse weights, which onnx-ir has no place for."""
    proto = model().proto
    values = helper.make_tensor("sparse", TensorProto.FLOAT, [1], [2.0])
    indices = helper.make_tensor("indices", TensorProto.INT64, [1], [0])
    proto.graph.sparse_initializer.append(helper.make_sparse_tensor(values, indices, [3]))
    Model.from_proto(proto).save(folder / "net.onnx", overwrite=force)


def run_command(folder: Path, force: bool) -> None:
    model().save(folder.parent / "net.onnx")
    words = [
        "run",
        str(folder.parent / "net.onnx"),
        "--input",
        "x=ones",
        "--dim",
        "N=2",
        "--output-dir",
        str(folder),
    ]
    if main([*words, *(["--force"] if force else [])]):
        raise ModelWriteError("the command said so")


def build_command(folder: Path, force: bool) -> None:
    program = folder.parent / "program.py"
    program.write_text(
        "from onnxsmith import FLOAT, script\n\n@script\ndef net(x: FLOAT['N']) -> FLOAT['N']:\n    return x + 1.0\n"
    )
    words = ["build", f"{program}:net", "-o", str(folder / "net.onnx"), *(["--force"] if force else [])]
    if main(words):
        raise ModelWriteError("the command said so")


Operation = Callable[[Path, bool], None]
#: An operation, and the files that it writes; the name that the user gave stands last, if there is one.
OPERATIONS: dict[str, tuple[Operation, list[str]]] = {
    "decompile_to": (decompile, ["net.safetensors", "net.py"]),
    "decompile": (decompile_command, ["net.safetensors", "net.py"]),
    "save": (save_with_data, ["net.onnx.data"]),
    "save whole": (save_whole, ["net.onnx"]),
    "save an odd one": (save_odd, ["net.onnx"]),
    "run": (run_command, ["relu.npy"]),
    "build": (build_command, ["net.onnx"]),
}


def prepare(operation: Operation, folder: Path, place: Path, before: Before) -> bytes:
    """Put a file there, and give what it holds."""
    if before != "a stranger's":
        operation(folder, False)
    if before in ("ours, edited", "a stranger's of the same length"):
        content = bytearray(place.read_bytes())
        content[-1] ^= 0x40
        place.write_bytes(bytes(content))
    if before == "a stranger's of the same length":
        for each in folder.iterdir():
            if each != place:
                each.unlink()
    elif before == "a stranger's":
        place.write_bytes(b"somebody's work")
    return place.read_bytes()


CASES = [
    (name, file, before) for name, (_, files) in OPERATIONS.items() for file in files for before in BEFORE
]
#: The data of the model that is replaced goes with it, and a model that is named is the user's to replace.
REPLACED = {("save", "ours, edited")} | {
    (name, before)
    for name in ("build", "save whole", "save an odd one")
    for before in ("ours, edited", "a stranger's of the same length")
}


@pytest.mark.parametrize(("name", "file", "before"), CASES)
def test_nothing_is_lost_without_force(tmp_path: Path, name: str, file: str, before: Before) -> None:
    operation = OPERATIONS[name][0]
    folder = tmp_path / "folder"
    folder.mkdir()
    place = folder / file
    held = prepare(operation, folder, place, before)
    others = {each: each.read_bytes() for each in folder.iterdir()}
    if before == "ours" or (name, before) in REPLACED:
        operation(folder, False)
        assert before != "ours" or place.read_bytes() == held
        return
    with pytest.raises(OnnxsmithError):
        operation(folder, False)
    assert {
        each: each.read_bytes() for each in folder.iterdir()
    } == others  # all or nothing, nothing left behind
    operation(folder, True)
    assert place.read_bytes() != held


def test_the_error_names_the_file_and_the_remedy(tmp_path: Path) -> None:
    (tmp_path / "net.safetensors").write_bytes(b"somebody's work")
    with pytest.raises(ModelWriteError) as caught:
        onnxsmith.decompile_to(model(), tmp_path)
    text = str(caught.value)
    assert "net.safetensors' is there already, and holds other weights" in text
    assert "overwrite=True" in text
    assert "--force" in text


def test_two_models_do_not_share_a_file_by_accident(tmp_path: Path) -> None:
    model(1.0).save(tmp_path / "a.onnx", external_data="weights.bin")
    with pytest.raises(ModelWriteError, match="does not keep its weights in it"):
        model(2.0).save(tmp_path / "b.onnx", external_data="weights.bin")
    model(3.0).save(tmp_path / "a.onnx", external_data="weights.bin")
    x = np.ones((1, 64), np.float32)
    np.testing.assert_array_equal(onnxsmith.load(tmp_path / "a.onnx")(x), model(3.0)(x))


def test_outputs_that_look_alike_get_files_of_their_own(tmp_path: Path) -> None:
    both = trace(lambda x: (x + 1.0, x + 2.0), FLOAT[2], output_names=["a/b", "a_b"])
    both.save(tmp_path / "m.onnx")
    assert main(["run", str(tmp_path / "m.onnx"), "--input", "x=zeros", "--output-dir", str(tmp_path)]) == 0
    found = sorted(float(np.load(each)[0]) for each in tmp_path.glob("*.npy"))
    assert found == [1.0, 2.0]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes with names")
@pytest.mark.parametrize("suffix", ["onnx", "html", "svg"])
def test_a_pipe_stays_a_pipe(tmp_path: Path, suffix: str) -> None:
    place = tmp_path / f"pipe.{suffix}"
    os.mkfifo(place)
    written = model().save if suffix == "onnx" else model().show
    with pytest.raises(ModelWriteError, match="device or a pipe"):
        written(place)
    assert stat.S_ISFIFO(place.stat().st_mode)
    assert [each.name for each in tmp_path.iterdir()] == [place.name]


def test_a_program_is_not_saved_over(tmp_path: Path) -> None:
    place = tmp_path / "net.py"
    place.write_text("answer = 42\n")
    with pytest.raises(ModelWriteError, match=r"net\.py' is there already, and holds no model"):
        model().save(place)
    assert place.read_text() == "answer = 42\n"


def test_an_empty_file_is_nobodys_work(tmp_path: Path) -> None:
    """Programs that make a name for a temporary file make the file, too."""
    place = tmp_path / "made.onnx"
    place.touch()
    model().save(place)
    assert onnxsmith.load(place).inputs[0].name == "x"
