"""Checkpoints as files: there and back, read by torch, and refused where something in them is wrong."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from onnxsmith.errors import CheckpointError
from onnxsmith.training import Checkpoint, read_checkpoint
from onnxsmith.training.checkpoints import saved, write_checkpoint

STATE = {
    "layer.weight": np.arange(6, dtype=np.float32).reshape(2, 3),
    "layer.weight_mean": np.full((2, 3), np.nan, np.float32),
    "half": np.ones(3, np.float16),
    "step": np.array(7, np.int64),
    "empty": np.zeros((0, 4), np.float32),
}


def checkpoint(step: int = 7) -> Checkpoint:
    return Checkpoint(
        STATE,
        ["layer.weight"],
        {"step": step, "epoch": 2, "batch": 3, "seed": 11},
        [{"epoch": 1, "loss": 0.1}, {"epoch": 2, "loss": float("inf")}],
        {"lr": {"factor": 0.5, "best": np.float64(0.1), "waited": 1.0}},
        [{"class": "EarlyStopping", "value": 0.25, "best.w": np.float32([1, 2])}, {"class": "Printing"}],
        {"model": "abc", "batch_size": 32},
        {"device": "cpu", "threads": 2},
    )


def test_a_checkpoint_there_and_back(tmp_path: Path) -> None:
    file = write_checkpoint(checkpoint(), tmp_path / "new" / "run")
    assert file.name == "step-00000007.safetensors"
    assert [each.name for each in file.parent.iterdir()] == [file.name]
    found = read_checkpoint(file)
    assert list(found.state) == list(STATE)
    for name, each in STATE.items():
        assert found.state[name].dtype == each.dtype
        assert found.state[name].shape == each.shape
        assert found.state[name].tobytes() == each.tobytes()
    given = checkpoint()
    for name in ("weights", "position", "history", "plateaus", "fixed", "environment"):
        assert getattr(found, name) == getattr(given, name), name
    first, second = found.callbacks
    assert {**first, "best.w": first["best.w"].tolist()} == {
        "class": "EarlyStopping", "value": 0.25, "best.w": [1.0, 2.0]
    }  # fmt: skip
    assert second == {"class": "Printing"}
    assert repr(found) == "Checkpoint(step 7, 1 weight, 2 epochs)"


def test_torch_reads_the_weights_by_their_names(tmp_path: Path) -> None:
    load_file = pytest.importorskip("safetensors.torch").load_file
    torch = pytest.importorskip("torch")
    found = load_file(write_checkpoint(checkpoint(), tmp_path))
    module = torch.nn.ModuleDict({"layer": torch.nn.Linear(3, 2, bias=False)})
    left = module.load_state_dict(found, strict=False)
    assert left.missing_keys == []
    np.testing.assert_array_equal(module["layer"].weight.detach().numpy(), STATE["layer.weight"])


def test_a_folder_gives_its_last_checkpoint(tmp_path: Path) -> None:
    for step in (9, 100, 20):
        write_checkpoint(checkpoint(step), tmp_path)
    (tmp_path / "step-00000999.txt").touch()
    (tmp_path / "notes.safetensors").touch()
    assert read_checkpoint(tmp_path).position["step"] == 100
    assert [each.name[5:13] for each in saved(tmp_path)] == ["00000009", "00000020", "00000100"]
    assert saved(tmp_path / "nowhere") == []


def test_what_a_killed_writer_left_is_removed_whatever_its_step(tmp_path: Path) -> None:
    left = tmp_path / ".step-00000003.safetensors.onnxsmith-12345678.tmp"
    others = [".step-00000003.mine.tmp", ".other.onnxsmith-12345678.tmp"]
    for name in (left.name, *others):
        (tmp_path / name).touch()
    file = write_checkpoint(checkpoint(), tmp_path)
    assert sorted(each.name for each in tmp_path.iterdir()) == sorted([file.name, *others])


# -- damage --------------------------------------------------------------------------------------------------------


def header(content: bytes) -> tuple[dict[str, dict[str, str]], bytes]:
    (length,) = struct.unpack("<Q", content[:8])
    return json.loads(content[8 : 8 + length]), content[8 + length :]


def joined(entries: dict[str, dict[str, str]], data: bytes) -> bytes:
    text = json.dumps(entries).encode()
    return struct.pack("<Q", len(text)) + text + data


def with_notes(content: bytes, change: Callable[[str], str]) -> bytes:
    entries, data = header(content)
    notes = entries["__metadata__"]
    notes["onnx.note:checkpoint"] = change(notes["onnx.note:checkpoint"])
    return joined(entries, data)


def without_notes(content: bytes) -> bytes:
    entries, data = header(content)
    return joined({name: each for name, each in entries.items() if name != "__metadata__"}, data)


DAMAGE: dict[str, tuple[Callable[[bytes], bytes], str]] = {
    "empty": (lambda content: b"", "is not a safetensors file, or only part of one"),
    "cut in the header": (lambda content: content[:40], "is not a safetensors file, or only part of one"),
    "cut in the data": (lambda content: content[:-1], "does not fit into"),
    "longer": (lambda content: content + b"\0", "bytes, and its header says"),
    "one bit of the data": (
        lambda content: content[:-1] + bytes([content[-1] ^ 1]),
        "the check sum is another",
    ),
    "other notes": (
        lambda content: with_notes(content, lambda text: text.replace("0.25", "0.75")),
        "the check sum is another",
    ),
    "notes that are no JSON": (
        lambda content: with_notes(content, lambda text: text[:-1]),
        "the check sum is another",
    ),
    "no notes": (without_notes, "it does not say that it is a checkpoint"),
    "zeros": (lambda content: bytes(len(content)), "is not a safetensors file, or only part of one"),
    "another file": (lambda content: b"PK\x03\x04" * 100, "is not a safetensors file, or only part of one"),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_a_damaged_checkpoint_is_refused_by_what_is_wrong(name: str, tmp_path: Path) -> None:
    spoil, told = DAMAGE[name]
    before = write_checkpoint(checkpoint(5), tmp_path)
    file = write_checkpoint(checkpoint(7), tmp_path)
    write_checkpoint(checkpoint(9), tmp_path)
    file.write_bytes(spoil(file.read_bytes()))
    with pytest.raises(CheckpointError) as caught:
        read_checkpoint(file)
    assert "is damaged" in caught.value.message
    assert told in caught.value.message
    assert str(before) in str(caught.value.help)  # not the later one


def test_the_first_checkpoint_has_none_before_it(tmp_path: Path) -> None:
    file = write_checkpoint(checkpoint(), tmp_path)
    file.write_bytes(b"")
    with pytest.raises(CheckpointError) as caught:
        read_checkpoint(tmp_path)
    assert "there is none before it" in str(caught.value.help)


def test_no_length_of_a_file_reads_as_a_checkpoint(tmp_path: Path) -> None:
    file = write_checkpoint(checkpoint(), tmp_path)
    content = file.read_bytes()
    for length in range(0, len(content), 97):
        file.write_bytes(content[:length])
        with pytest.raises(CheckpointError, match="is damaged"):
            read_checkpoint(file)


def test_a_layout_of_another_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:
        patched.setattr("onnxsmith.training.checkpoints._LAYOUT", 2)
        file = write_checkpoint(checkpoint(), tmp_path)
    with pytest.raises(CheckpointError, match="has the layout 2, and this version of onnxsmith reads 1"):
        read_checkpoint(file)


def test_a_folder_without_checkpoints(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="there is no checkpoint in"):
        read_checkpoint(tmp_path)


def test_a_callback_that_keeps_an_object(tmp_path: Path) -> None:
    given = Checkpoint({}, [], {"step": 1}, callbacks=[{"class": "Own", "thing": object()}])
    with pytest.raises(CheckpointError, match="keeps numbers, texts and arrays of numpy, not object"):
        write_checkpoint(given, tmp_path)
    assert not saved(tmp_path)
