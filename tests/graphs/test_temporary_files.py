"""Files that are written beside their place: what a killed writer left goes away, a link stays a link."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from onnxsmith import FLOAT, Model, load, trace
from onnxsmith.errors import ModelWriteError
from onnxsmith.graphs.temporary_files import temporary_file

WRITER = """
import sys, time
from pathlib import Path
from onnxsmith.graphs.temporary_files import temporary_file

with temporary_file(Path(sys.argv[1])):
    print("writing", flush=True)
    time.sleep(600)
"""


def model() -> Model:
    return trace(lambda x: x + 1.0, FLOAT["N"])


def test_what_a_killed_process_left_is_removed(tmp_path: Path) -> None:
    place = tmp_path / "m.onnx"
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    words = [sys.executable, "-c", WRITER, str(place)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, env=environment) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == b"writing\n"
        model().save(place)
        assert len(os.listdir(tmp_path)) == 2  # it is still at work
        writer.send_signal(signal.SIGKILL)
        writer.wait()
    assert len(os.listdir(tmp_path)) == 2
    model().save(place)
    assert os.listdir(tmp_path) == ["m.onnx"]


def test_files_of_others_stay(tmp_path: Path) -> None:
    others = [".m.onnx.mine.tmp", ".n.onnx.onnxsmith-12345678.tmp", ".m.onnx.onnxsmith-notes"]
    for name in others:
        (tmp_path / name).touch()
    with temporary_file(tmp_path / "m.onnx") as temporary:
        assert temporary.exists()
    assert sorted(os.listdir(tmp_path)) == sorted(others)


def test_a_link_stays_one(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    link, target = tmp_path / "m.onnx", tmp_path / "there" / "real.onnx"
    link.symlink_to(target)
    for _ in range(2):  # to a file that is not there, and to one that is
        model().save(link)
        assert link.is_symlink()
        assert load(target).outputs == load(link).outputs
    assert os.listdir(tmp_path / "there") == ["real.onnx"]


def test_a_link_that_leads_back_to_itself_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.onnx").symlink_to("b.onnx")
    (tmp_path / "b.onnx").symlink_to("a.onnx")
    with pytest.raises(ModelWriteError, match="leads back to itself"):
        model().save(tmp_path / "a.onnx")
    assert (tmp_path / "a.onnx").is_symlink()
