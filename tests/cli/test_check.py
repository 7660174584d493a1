"""`onnxsmith check`."""

from __future__ import annotations

from pathlib import Path

import onnx

from tests.cli.conftest import Run


def test_good(run: Run, program: Path, model: Path) -> None:
    seen = run("check", "net.py", "m.onnx")
    assert (seen.status, seen.err) == (0, "")
    assert seen.out == "net.py: good (gelu, forward, scaled)\nm.onnx: good\n"


def test_all_scripts_of_a_file(run: Run, wrong: Path) -> None:
    seen = run("check", "wrong.py")
    assert seen.status == 1
    assert "wrong.py: 3 findings (good)" in seen.out
    assert [code for code in ("C301", "C401", "C307") if f"[{code}]" in seen.err] == ["C301", "C401", "C307"]
    assert seen.err.count("[C301]") == 1  # a script that calls a wrong one is not wrong itself
    assert "did you mean 'Relu'?" in seen.err
    assert "wrong.py:7:12 in first" in seen.err


def test_all_errors_of_one_script_count(run: Run, tmp_path: Path) -> None:
    text = """
from onnxsmith import FLOAT, script
from onnxsmith import opset21 as op

@script
def twice_wrong(x: FLOAT["N"]):
    y = op.Reul(x)
    z = op.Abss(x)
    return y + z
"""
    (tmp_path / "twice.py").write_text(text)
    seen = run("check", "twice.py")
    assert seen.out == "twice.py: 2 findings\n"


def test_json(run: Run, wrong: Path, program: Path) -> None:
    seen = run("check", "wrong.py", "net.py", "--json")
    assert seen.status == 1
    first, second = seen.json
    assert [each["code"] for each in first["findings"]] == ["C301", "C401", "C307"]
    place = first["findings"][0]["places"][0]
    assert Path(place["file"]).name == "wrong.py"
    assert (place["line"], place["column"], place["end_column"], place["function"]) == (7, 12, 19, "first")
    checked = ["gelu", "forward", "scaled"]
    assert second == {"file": "net.py", "checked": checked, "findings": [], "warnings": []}


def test_program_that_fails(run: Run, tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text("value = {}\nvalue['missing']\n")
    seen = run("check", "broken.py")
    assert seen.status == 1
    assert "KeyError: 'missing'" in seen.err
    assert "onnxsmith/" not in seen.err
    finding = run("check", "broken.py", "--json").json[0]["findings"][0]
    assert (finding["code"], finding["kind"]) == (None, "KeyError")


def test_invalid_model(run: Run, tmp_path: Path) -> None:
    text = (
        '<ir_version: 8, opset_import: ["": 17]> g (float[N] a) => (float[N] b) { b = Relu <alpha = 1> (a) }'
    )
    onnx.save(onnx.parser.parse_model(text), tmp_path / "m.onnx")
    seen = run("check", "m.onnx")
    assert seen.status == 1
    assert "[F104]" in seen.err
    assert "alpha" in seen.err


def test_external_data(run: Run, model: Path) -> None:
    Path("m.onnx.data").unlink()
    seen = run("check", "m.onnx")
    assert seen.status == 1
    assert "[F102]" in seen.err


def test_runtime(run: Run, tmp_path: Path, model: Path) -> None:
    text = '<ir_version: 8, opset_import: ["": 17, "my": 1]> g (float[N] a) => (float[N] b) { b = my.Odd(a) }'
    onnx.save(onnx.parser.parse_model(text), tmp_path / "odd.onnx")
    assert run("check", "m.onnx", "--runtime").status == 0
    assert run("check", "odd.onnx").status == 0
    seen = run("check", "odd.onnx", "--runtime")
    assert seen.status == 1
    assert "[R102]" in seen.err


def test_missing_files(run: Run) -> None:
    assert run("check", "missing.onnx").status == 1
    seen = run("check", "missing.py")
    assert seen.status == 2
    assert "there is no file missing.py" in seen.err


def test_a_program_that_ends_itself(run: Run, tmp_path: Path) -> None:
    (tmp_path / "ending.py").write_text("import sys\nsys.exit(3)\n")
    seen = run("check", "ending.py")
    assert seen.status == 1
    assert "sys.exit(3)" in seen.err
    assert 'ending.py", line 2' in seen.err
    assert seen.out == "ending.py: 1 finding\n"


FUSED = (
    '<ir_version: 8, opset_import: ["" : 17]> '
    "g (float[2, 2] x, float[2] v) => (float[2] y) { t = Transpose(x) y = MatMul(t, v) }"
)
SCRIPT = """
from onnxsmith import FLOAT, script
from onnxsmith import opset21 as op

@script
def product(x: FLOAT["M", "N"], v: FLOAT["M"]):
    return op.MatMul(op.Transpose(x), v)
"""


def test_what_the_runtime_gets_wrong_is_a_warning(run: Run, tmp_path: Path) -> None:
    onnx.save(onnx.parser.parse_model(FUSED), tmp_path / "m.onnx")
    onnx.save(onnx.parser.parse_model(FUSED), tmp_path / "same.onnx")
    (tmp_path / "fused.py").write_text(SCRIPT)
    seen = run("check", "m.onnx", "same.onnx", "fused.py")
    assert (seen.status, seen.out) == (0, "m.onnx: good\nsame.onnx: good\nfused.py: good (product)\n")
    for file in ("m.onnx", "same.onnx", "fused.py"):
        assert seen.err.count(f"warning: {file}: the installed ONNX Runtime gets this model wrong") == 1
    assert seen.err.count("MatMul 'y'") == 2
    told = [each["warnings"] for each in run("check", "m.onnx", "fused.py", "--json").json]
    assert [len(each) for each in told] == [1, 1]
    assert "MatMul 'y'" in told[0][0]


def test_a_broken_rule_goes_before_the_runtime(run: Run, tmp_path: Path) -> None:
    text = FUSED.replace("Transpose", "Transpose <alpha = 1> ")
    onnx.save(onnx.parser.parse_model(text), tmp_path / "m.onnx")
    seen = run("check", "m.onnx")
    assert seen.status == 1
    assert "warning" not in seen.err
