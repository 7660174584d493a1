"""Arrays of a command line: how inputs are read or made up, and how outputs are shown, written and put into JSON."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from onnxsmith.cli import arrays
from onnxsmith.cli.arrays import OutputFolder, make_input, readable, shown
from onnxsmith.cli.report import Usage
from onnxsmith.errors import ModelWriteError
from onnxsmith.graphs.model import Port
from onnxsmith.graphs.trial_inputs import Draw
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import SequenceType, TensorType

MATRIX = Port("x", TensorType(DType.FLOAT, ("N", 3)))


def made(text: str, kind: Any = MATRIX.type, **sizes: int) -> Any:
    return make_input(Port("x", kind), text, sizes, Draw(0))


def test_made_up() -> None:
    np.testing.assert_array_equal(made("zeros", N=2), np.zeros((2, 3), np.float32))
    np.testing.assert_array_equal(made("ones", N=2), np.ones((2, 3), np.float32))
    drawn = made("random", N=4)
    assert (drawn.dtype, drawn.shape) == (np.float32, (4, 3))
    assert len(np.unique(drawn)) > 6
    np.testing.assert_array_equal(drawn, made("random", N=4))
    assert made("zeros", TensorType(DType.STRING, (2,))).tolist() == ["a", "a"]
    whole = [make_input(Port("x", TensorType(DType.INT64, ())), "random", {}, Draw(k)) for k in range(40)]
    assert min(whole) >= 1
    assert max(whole) <= 10
    several = make_input(Port("x", TensorType(DType.INT64, (400,))), "random", {}, Draw(0))
    assert several.min() == 0


def test_literals_and_files(tmp_path: Path) -> None:
    assert made("[1, 2]") == [1, 2]
    one, two = tmp_path / "one.npy", tmp_path / "two.npz"
    np.save(one, np.arange(3))
    np.savez(two, a=np.arange(2), b=np.arange(4))
    np.savez(tmp_path / "single.npz", a=np.arange(2))
    assert made(str(one)).tolist() == [0, 1, 2]
    assert made(f"{two}:b").tolist() == [0, 1, 2, 3]
    assert made(str(tmp_path / "single.npz")).tolist() == [0, 1]


@pytest.mark.parametrize(
    ("text", "kind", "told"),
    [
        ("zeros", MATRIX.type, "--input x is FLOAT['N', 3]; say how large N is: --dim 'N=4'"),
        ("zeros", TensorType(DType.FLOAT, (None,)), "say how large ? is: --dim '?=4'"),
        ("ones", TensorType(DType.FLOAT, None), "its shape is open, so it cannot be made up; give a file"),
        ("ones", TensorType(None, (2,)), "cannot be made up; give a file"),
        ("random", SequenceType(TensorType(DType.FLOAT, (2,))), "cannot be made up; give a file"),
        ("ones", TensorType(DType.FLOAT, (10**9, 10**9)), "is too large to be made up; give a file"),
        (
            "nosuch.npy",
            MATRIX.type,
            "there is no file 'nosuch.npy'; or say random, zeros, ones, or a literal",
        ),
        ("x" * 5000, MATRIX.type, "there is no file"),
    ],
)
def test_what_cannot_be_made(text: str, kind: Any, told: str) -> None:
    with pytest.raises(Usage) as caught:
        made(text, kind)
    assert told in str(caught.value)
    assert len(str(caught.value)) < 400


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    path = tmp_path / "bad.npy"
    path.write_bytes(b"no array")
    with pytest.raises(Usage, match="cannot be read as an array"):
        made(str(path))
    np.savez(tmp_path / "two.npz", a=np.arange(2), b=np.arange(4))
    for text in (f"{tmp_path / 'two.npz'}:c", str(tmp_path / "two.npz")):
        with pytest.raises(Usage, match=r"holds a, b; say which: .*two.npz:a"):
            made(text)


def test_shown() -> None:
    assert shown("y", np.array([1.5, 2], np.float32)) == "y: float32 of shape (2,)\n[1.5, 2. ]"
    assert shown("y", [np.array(1), "a"]) == "y: 2 values\ny[0]: int64 of shape ()\n1\ny[1]: 'a'"
    assert "..." in shown("y", np.arange(201))
    assert "..." not in shown("y", np.arange(200))


@pytest.mark.parametrize(
    ("value", "entry"),
    [
        (np.array([1, 3]), {"dtype": "int64", "shape": [2], "min": 1.0, "max": 3.0, "mean": 2.0, "values": [1, 3]}),
        (
            np.array([[np.inf, np.nan]]),
            {"dtype": "float64", "shape": [1, 2], "min": "nan", "max": "nan", "mean": "nan",
             "values": [["inf", "nan"]]},
        ),
        (np.array([True]), {"dtype": "bool", "shape": [1], "values": [True]}),
        (np.zeros((0, 2)), {"dtype": "float64", "shape": [0, 2], "values": []}),
        (np.array([1 + 2j]), {"dtype": "complex128", "shape": [1], "values": ["(1+2j)"]}),
        (
            np.array([1.5], ml_dtypes.bfloat16),
            {"dtype": "bfloat16", "shape": [1], "min": 1.5, "max": 1.5, "mean": 1.5, "values": [1.5]},
        ),
        ((np.array(True), None, 3), {"elements": [{"dtype": "bool", "shape": [], "values": True},
                                                  {"value": None}, {"value": "3"}]}),
    ],
)  # fmt: skip
def test_json(value: Any, entry: dict[str, Any]) -> None:
    assert readable(value) == entry


def test_json_of_many_elements_has_none() -> None:
    assert "values" in readable(np.zeros(1000))
    assert "values" not in readable(np.zeros(1001))
    assert readable(np.zeros(1001))["max"] == 0


def test_outputs_are_written(tmp_path: Path) -> None:
    folder = OutputFolder(tmp_path / "deep" / "out", overwrite=False)
    written = folder.save("a/b", np.arange(3))
    assert [each.name for each in written] == ["a_b.npy"]
    assert np.load(written[0]).tolist() == [0, 1, 2]
    assert [each.name for each in folder.save("A:B", np.arange(2))] == ["A_B_2.npy"]
    assert [each.name for each in folder.save("s", [np.arange(1), np.array(["é"], object)])] == [
        "s.0.npy",
        "s.1.npy",
    ]
    assert np.load(folder.folder / "s.1.npy").tolist() == ["é"]
    assert [folder.save(each, 1)[0].name for each in ("", "../x", "con", "Lpt3.x", "n" * 300)] == [
        "output.npy",
        "_x.npy",
        "_con.npy",
        "_Lpt3.x.npy",
        "n" * 200 + ".npy",
    ]
    assert {"com0", "lpt9", "nul", "aux", "prn"} <= arrays._DEVICES


def test_other_files_are_left_alone(tmp_path: Path) -> None:
    OutputFolder(tmp_path, overwrite=False).save("y", np.arange(3))
    OutputFolder(tmp_path, overwrite=False).save("y", np.arange(3))  # the same
    with pytest.raises(ModelWriteError, match="holds something else"):
        OutputFolder(tmp_path, overwrite=False).save("y", np.arange(4))
    OutputFolder(tmp_path, overwrite=True).save("y", np.arange(4))
    assert np.load(tmp_path / "y.npy").tolist() == [0, 1, 2, 3]
    (tmp_path / "file").write_text("x")
    with pytest.raises(ModelWriteError, match="cannot write"):
        OutputFolder(tmp_path / "file", overwrite=True).save("y", np.arange(4))
