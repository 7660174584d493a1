"""`onnxsmith decompile`, and `onnxsmith build` of what it writes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import onnxsmith
from onnxsmith import FLOAT, trace
from onnxsmith import opset21 as op
from tests.cli.conftest import Run

X, ROWS = np.ones((2, 4), np.float32), np.array([1, 0])


def test_to_a_folder_and_back(run: Run, model: Path) -> None:
    seen = run("decompile", "m.onnx", "-o", "out/deep")
    assert (seen.status, seen.err) == (0, "")
    assert [line.partition(":")[0] for line in seen.out.splitlines()] == [
        str(Path("out/deep/m.py")),
        str(Path("out/deep/m.safetensors")),
    ]
    seen = run("build", "out/deep/m.py", "-o", "back.onnx")
    assert (seen.status, seen.err) == (0, "")
    before, after = onnxsmith.load("m.onnx"), onnxsmith.load("back.onnx")
    nodes = [[(each.name, each.op_type) for each in found.ir.graph] for found in (before, after)]
    assert nodes[0] == nodes[1]
    for one, other in zip(before(X, ROWS), after(X, ROWS), strict=True):
        np.testing.assert_array_equal(one, other)


def test_the_folder_is_the_models_name_by_default(run: Run, model: Path) -> None:
    seen = run("decompile", "m.onnx", "--json")
    assert seen.json == [
        {
            "file": "m.onnx",
            "written": ["m/m.py", "m/m.safetensors"],
            "bytes": Path("m/m.py").stat().st_size,
        }
    ]


@pytest.mark.parametrize(
    ("place", "mention"),
    [("inline", 'weights = Weights({"'), ("external", 'weights = Weights("../m.onnx")')],
)
def test_where_weights_go(run: Run, model: Path, place: str, mention: str) -> None:
    seen = run("decompile", "m.onnx", "-o", "out", "--weights", place, "--json")
    assert len(seen.json[0]["written"]) == 1
    assert sorted(each.name for each in Path("out").iterdir()) == ["m.py"]
    assert mention in Path("out/m.py").read_text().replace("(\n    {\n        ", "({")
    assert run("build", "out/m.py").status == 0
    np.testing.assert_array_equal(
        onnxsmith.load("model.onnx")(X, ROWS)[0], onnxsmith.load("m.onnx")(X, ROWS)[0]
    )


def test_weights_of_another_model_are_not_ours(run: Run, tmp_path: Path) -> None:
    trace(lambda x: op.Relu(x), FLOAT["N"]).save(tmp_path / "m.onnx")
    (tmp_path / "m.safetensors").write_bytes(b"somebody else's")
    assert run("decompile", "m.onnx", "-o", ".", "--json").json[0]["written"] == ["m.py"]


def test_stdout(run: Run, model: Path) -> None:
    seen = run("decompile", "m.onnx", "-o", "-")
    assert (seen.status, seen.err) == (0, "")
    assert seen.out == onnxsmith.decompile("m.onnx")
    assert run("decompile", "m.onnx", "-o", "-", "--json").json == [{"file": "m.onnx", "text": seen.out}]
    assert [each.name for each in Path().iterdir() if each.suffix in (".py", ".safetensors")] == []
    seen = run("decompile", "m.onnx", "-o", "-", "--weights", "external")
    assert seen.out == onnxsmith.decompile("m.onnx", weights="external")


def test_group(run: Run, tmp_path: Path) -> None:
    weights = [np.full((8, 8), k, np.float32) for k in range(4)]

    def layers(x: FLOAT["N", 8]) -> FLOAT["N", 8]:
        for weight in weights:
            x = op.LayerNormalization(op.Relu(x @ weight) + x, np.ones(8, np.float32))
        return x

    trace(layers, FLOAT["N", 8]).save(tmp_path / "m.onnx")
    assert run("decompile", "m.onnx", "-o", "-", "--group").out == onnxsmith.decompile("m.onnx", group=True)
    assert run("decompile", "m.onnx", "--group").status == 0
    assert Path("m/m.py").read_text() != run("decompile", "m.onnx", "-o", "-").out
    assert run("build", "m/m.py").status == 0
    x = np.linspace(-1, 1, 16, dtype=np.float32).reshape(2, 8)
    np.testing.assert_allclose(onnxsmith.load("model.onnx")(x), onnxsmith.load("m.onnx")(x), rtol=1e-5)


def test_build_prefers_the_model_to_the_scripts(run: Run, tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(
        "from onnxsmith import FLOAT, script, trace\n\n\n"
        '@script\ndef f(x: FLOAT["N"]):\n    return x + 1.0\n\n\n'
        '@script\ndef g(x: FLOAT["N"]):\n    return x + 2.0\n\n\n'
        'model = trace(lambda x: x + 3.0, FLOAT["N"])\n'
    )
    assert run("build", "net.py").status == 0
    assert onnxsmith.load("model.onnx")(np.zeros(1, np.float32)).tolist() == [3.0]
    assert run("build", "net.py:g").status == 0
    assert onnxsmith.load("g.onnx")(np.zeros(1, np.float32)).tolist() == [2.0]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["m.onnx", "-o", "-", "--weights", "safetensors"], "inline or external, not safetensors"),
        (["m.onnx", "--weights", "elsewhere"], "invalid choice"),
        ([], "required: MODEL"),
    ],
)
def test_wrong_usage(run: Run, model: Path, arguments: list[str], message: str) -> None:
    seen = run("decompile", *arguments)
    assert seen.status == 2
    assert message in seen.err
    assert "Traceback" not in seen.err


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["missing.onnx"], "F101"),
        (["damaged.onnx"], "F101"),
        (["m.onnx", "-o", "m.onnx"], "F103"),
        (["m.onnx", "-o", "m.onnx/inside"], "F103"),
    ],
)
@pytest.mark.parametrize("form", ["--weights=safetensors", "--weights=inline"])
def test_errors(run: Run, model: Path, arguments: list[str], code: str, form: str) -> None:
    Path("damaged.onnx").write_bytes(b"\xff" * 40)
    seen = run("decompile", *arguments, form)
    assert seen.status == 1
    assert f"[{code}]" in seen.err
    assert "Traceback" not in seen.err
    assert run("decompile", *arguments, form, "--json").json[0]["error"]["code"] == code


def test_help(run: Run) -> None:
    seen = run("decompile", "--help")
    assert seen.status == 0
    for part in ("-o", "--weights", "--group", "onnxsmith build net/net.py"):
        assert part in seen.out


def test_standard_input_is_read_once(run: Run, model: Path) -> None:
    seen = run("decompile", "-", "m.onnx", "-")
    assert (seen.status, seen.out) == (2, "")
    assert "- stands for standard input, which can be read only once" in seen.err
    assert not Path("m").exists()
