"""`onnxsmith run`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from onnx import numpy_helper, parser

from onnxsmith import BOOL, FLOAT, FLOAT16, INT8, STRING, trace
from onnxsmith import opset21 as op
from onnxsmith.cli.arrays import OutputFolder
from tests.cli.conftest import Run

GIVEN = ["--input", "i=[0]"]


def test_array_from_a_file(run: Run, model: Path, tmp_path: Path) -> None:
    x = np.ones((2, 4), np.float32)
    np.save(tmp_path / "x.npy", x)
    seen = run("run", "m.onnx", "--input", "x=x.npy", *GIVEN, "--output-dir", "out")
    assert seen.status == 0, seen.err
    assert "y: float32 of shape (2, 100)" in seen.out
    weight = np.arange(400, dtype=np.float32).reshape(4, 100)
    np.testing.assert_array_equal(np.load("out/y.npy"), x @ weight)
    assert "wrote" in seen.out


@pytest.mark.parametrize("form", ["data.npz:x", "one.npz"])
def test_array_from_an_archive(run: Run, model: Path, tmp_path: Path, form: str) -> None:
    x = np.ones((1, 4), np.float32)
    np.savez(tmp_path / "data.npz", x=x, other=x)
    np.savez(tmp_path / "one.npz", anything=x)
    seen = run("run", "m.onnx", "--input", f"x={form}", *GIVEN, "--json")
    assert seen.status == 0
    assert seen.json["outputs"][0]["shape"] == [1, 100]


def test_random_is_the_same_every_time(run: Run, model: Path) -> None:
    words = ["run", "m.onnx", "--input", "x=random", "--dim", "N=3", *GIVEN, "--json"]
    first, second, third = run(*words), run(*words), run(*words, "--seed", "1")
    assert first.status == 0
    assert first.json == second.json
    assert first.json != third.json
    assert first.json["outputs"][0]["shape"] == [3, 100]
    assert set(first.json["outputs"][0]) == {"name", "dtype", "shape", "min", "max", "mean", "values"}


def test_all_random(run: Run, model: Path) -> None:
    seen = run("run", "m.onnx", "--random", "--dim", "N=10", "--dim", "K=2", "--json")
    assert seen.status == 0
    assert [each["shape"] for each in seen.json["outputs"]] == [[10, 100], [2, 4]]


def test_zeros_ones_and_literals(run: Run, model: Path) -> None:
    seen = run("run", "m.onnx", "--input", "x=ones", "--dim", "N=2", "--input", "i=[1, 0]", "--json")
    assert seen.status == 0
    assert seen.json["outputs"][1] == {
        "name": "picked",
        "dtype": "float32",
        "shape": [2, 4],
        "min": 1.0,
        "max": 1.0,
        "mean": 1.0,
        "values": [[1.0] * 4] * 2,
    }


def test_every_kind_of_input(run: Run, tmp_path: Path) -> None:
    types = [FLOAT16["N"], INT8["N"], BOOL["N"], STRING["N"]]
    trace(lambda a, b, c, d: (a, b, c, d), *types).save(tmp_path / "kinds.onnx")
    seen = run("run", "kinds.onnx", "--random", "--dim", "N=3", "--json", "--output-dir", "out")
    assert seen.status == 0
    assert [each["shape"] for each in seen.json["outputs"]] == [[3]] * 4
    assert len(list(Path("out").iterdir())) == 4


def test_nan_is_valid_json(run: Run, tmp_path: Path) -> None:
    trace(lambda x: x / 0.0, FLOAT["N"]).save(tmp_path / "nan.onnx")
    seen = run("run", "nan.onnx", "--input", "x=[0.0, 1.0]", "--json")
    assert seen.json["outputs"][0]["values"] == ["nan", "inf"]


def test_sequences(run: Run, tmp_path: Path) -> None:
    trace(lambda x: op.SplitToSequence(x), FLOAT[2, 3], output_names=["parts"]).save(tmp_path / "s.onnx")
    seen = run("run", "s.onnx", "--random", "--output-dir", "out")
    assert seen.status == 0
    assert "parts: 2 values" in seen.out
    assert sorted(each.name for each in Path("out").iterdir()) == ["parts.0.npy", "parts.1.npy"]
    assert len(run("run", "s.onnx", "--random", "--json").json["outputs"][0]["elements"]) == 2


def test_reference_runtime(run: Run, model: Path) -> None:
    words = ["run", "m.onnx", "--random", "--dim", "N=10", "--dim", "K=2", "--json"]
    assert run(*words, "--runtime", "reference").status == 0


def test_names_of_outputs_stay_in_the_folder(run: Run, tmp_path: Path) -> None:
    trace(lambda x: x + 1.0, FLOAT["N"], output_names=["../../up"]).save(tmp_path / "odd.onnx")
    seen = run("run", "odd.onnx", "--input", "x=[1.0]", "--output-dir", "out/deep")
    assert seen.status == 0
    assert [each.name for each in Path("out/deep").iterdir()] == ["_.._up.npy"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--input", "z=random"], "the model has no input 'z'; its inputs are x, i"),
        (["--input", "x"], "--input is name=value"),
        (["--input", "x=random"], "say how large N is: --dim 'N=4'"),
        (["--input", "x=missing.npy"], "there is no file 'missing.npy'"),
        (["--input", "x=text.npy"], "cannot be read as an array"),
        (["--input", "x=many.npz"], "say which: many.npz:a"),
        (["--dim", "N=many"], "'many' is no size"),
        (["--random", "--dim", "N=9999999999", "--dim", "K=2"], "is too large to be made up; give a file"),
        (["--runtime", "other"], "invalid choice"),
    ],
)
def test_wrong_usage(run: Run, model: Path, tmp_path: Path, arguments: list[str], message: str) -> None:
    (tmp_path / "text.npy").write_text("no array")
    np.savez(tmp_path / "many.npz", a=np.ones(2), b=np.ones(2))
    seen = run("run", "m.onnx", *arguments)
    assert seen.status == 2
    assert message in seen.err


def test_pickles_are_not_loaded(run: Run, model: Path, tmp_path: Path) -> None:
    np.save(tmp_path / "evil.npy", np.array([{"a": 1}], dtype=object), allow_pickle=True)
    seen = run("run", "m.onnx", "--input", "x=evil.npy")
    assert seen.status == 2
    assert "cannot be read as an array" in seen.err


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ([], "R104"),
        (["--input", "x=[[1, 2]]", *GIVEN], "R104"),
        (["--input", "x=ones", "--dim", "N=2", "--input", "i=[99]"], "C406"),
    ],
)
def test_errors(run: Run, model: Path, arguments: list[str], code: str) -> None:
    seen = run("run", "m.onnx", *arguments)
    assert seen.status == 1
    assert f"[{code}]" in seen.err
    assert "Traceback" not in seen.err
    assert run("run", "m.onnx", *arguments, "--json").json["error"]["code"] == code


def test_a_folder_that_cannot_be_written(run: Run, model: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    seen = run("run", "m.onnx", "--input", "x=ones", "--dim", "N=1", *GIVEN, "--output-dir", "file")
    assert seen.status == 1
    assert "[F103]" in seen.err


def test_no_model(run: Run) -> None:
    seen = run("run", "missing.onnx")
    assert seen.status == 1
    assert seen.err.startswith("error: cannot read 'missing.onnx'")
    assert "-->" not in seen.err  # there is no line of the user's to point at


def test_in_a_process_of_its_own(run: Run, model: Path) -> None:
    words = ["run", "m.onnx", "--input", "x=ones", "--dim", "N=2", *GIVEN, "--json"]
    here = run(*words)
    there = run(*words, "--isolated", "--timeout", "60")
    assert there.status == 0, there.err
    assert there.json == here.json


def test_limits_of_the_process(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    trace(lambda x: op.Expand(x, [100_000_000]), FLOAT[1]).save("large.onnx")
    seen = run("run", "large.onnx", "--random", "--isolated", "--memory", "50MB")
    assert seen.status == 1
    assert "more memory than the 50 MB" in seen.err


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--timeout", "5"], "say --isolated"),
        (["--memory", "1GB"], "say --isolated"),
        (["--isolated", "--timeout", "0"], "positive"),
        (["--isolated", "--timeout", "nan"], "positive"),
        (["--isolated", "--memory", "lots"], "512MB"),
        (["--isolated", "--memory", "0MB"], "512MB"),
    ],
)
def test_limits_that_make_no_sense(run: Run, model: Path, words: list[str], told: str) -> None:
    seen = run("run", "m.onnx", "--random", *words)
    assert seen.status == 2
    assert told in seen.err


def test_a_size_of_no_dimension(run: Run, model: Path) -> None:
    seen = run("run", "m.onnx", "--random", "--dim", "N=2", "--dim", "K=2", "--dim", "Q=3")
    assert seen.status == 2
    assert "--dim Q: no input has such a dimension; their open dimensions are N, K" in seen.err


def test_what_is_missing_is_told_in_words_of_the_shell(run: Run, model: Path) -> None:
    seen = run("run", "m.onnx")
    assert "--input x=FILE.npy, or say --random" in seen.err


def test_inputs_with_a_default(run: Run, tmp_path: Path) -> None:
    text = '<ir_version: 8, opset_import: ["" : 18]> g (float[N] x, float[1] w) => (float[N] y) { y = Mul(x, w) }'
    proto = parser.parse_model(text)
    proto.graph.initializer.append(numpy_helper.from_array(np.float32([3]), "w"))
    (tmp_path / "m.onnx").write_bytes(proto.SerializeToString())
    words = ["run", "m.onnx", "--input", "x=[2.0]", "--json"]
    assert run(*words).json["outputs"][0]["values"] == [6.0]
    assert run(*words, "--random").json["outputs"][0]["values"] == [6.0]
    assert run(*words, "--input", "w=[5.0]").json["outputs"][0]["values"] == [10.0]
    seen = run("info", "m.onnx")
    assert "optional inputs\n  w  FLOAT[1]" in seen.out
    assert "w: FLOAT[1] = ..." in run("run", "m.onnx").err


def test_no_output_is_called_as_a_device_of_windows(tmp_path: Path) -> None:
    folder = OutputFolder(tmp_path, overwrite=False)
    written = [folder.save(name, np.ones(1))[0].name for name in ("nul", "CON.x", "com1", "console")]
    assert written == ["_nul.npy", "_CON.x.npy", "_com1.npy", "console.npy"]
