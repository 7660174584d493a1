"""`onnxsmith build`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest

import onnxsmith
from tests.cli.conftest import Run


def test_script(run: Run, program: Path) -> None:
    seen = run("build", "net.py:forward", "-o", "m.onnx")
    assert (seen.status, seen.err) == (0, "")
    assert "m.onnx" in seen.out
    assert "FLOAT['N', 4]" in seen.out
    model = onnxsmith.load("m.onnx")
    model.check()
    assert model(np.ones((2, 4), np.float32)).shape == (2, 3)


def test_json_and_default_output(run: Run, program: Path) -> None:
    seen = run("build", "net.py:forward", "--json")
    assert seen.status == 0
    assert seen.json["written"] == ["forward.onnx"]
    assert seen.json["bytes"] == Path("forward.onnx").stat().st_size


def test_types_and_attributes(run: Run, program: Path) -> None:
    words = ["--input-types", "x=FLOAT[N]", "--attribute", "alpha=2.0", "--attribute", "mode=reflect"]
    assert run("build", "net.py:scaled", "-o", "m.onnx", *words).status == 0
    model = onnxsmith.load("m.onnx")
    assert repr(model.inputs[0].type) == "FLOAT['N']"
    assert model(np.float32([1, 2, 3])).tolist() == [4, 2, 4, 6, 4]


def test_types_in_order_and_opset(run: Run, program: Path) -> None:
    words = ["--input-types", "FLOAT[4]", "--attribute", "alpha=1", "--opset", "21", "-o", "m.onnx"]
    assert run("build", "net.py:scaled", *words).status == 0
    assert onnxsmith.load("m.onnx").opset_imports[""] == 21


def test_inline(run: Run, program: Path) -> None:
    assert run("build", "net.py:forward", "-o", "m.onnx", "--inline").status == 0
    assert not onnx.load("m.onnx").functions


@pytest.mark.parametrize("name", ["plain", "traced"])
def test_function_or_model(run: Run, program: Path, name: str) -> None:
    assert run("build", f"net.py:{name}", "-o", "m.onnx").status == 0
    assert onnxsmith.load("m.onnx")(np.zeros(2, np.float32)).tolist() == [1, 1]


def test_module_by_name(run: Run, program: Path) -> None:
    assert run("build", "net:forward", "-o", "m.onnx").status == 0


def test_external_data(run: Run, tmp_path: Path) -> None:
    (tmp_path / "large.py").write_text(
        "import numpy as np\nfrom onnxsmith import FLOAT, script\nW = np.ones((64, 64), np.float32)\n\n\n"
        '@script\ndef f(x: FLOAT["N", 64]):\n    return x @ W\n'
    )
    seen = run("build", "large.py", "-o", "m.onnx", "--external-data", "--json")
    assert seen.status == 0
    assert seen.json["written"] == ["m.onnx", "m.onnx.data"]
    assert Path("m.onnx.data").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["net.py"], "say which function: net.py:gelu, net.py:forward, net.py:scaled"),
        (["net.py:nothing"], "net.py has no 'nothing'"),
        (["net.py:NUMBER"], "is a int"),
        (["missing.py:f"], "there is no file missing.py"),
        (["missing:f"], "there is no module missing"),
        ([":f"], "a function is file.py:name"),
        (["net.py:scaled", "--input-types", "x=NUMBER[N]"], "'NUMBER[N]' is no type"),
        (["net.py:scaled", "--input-types", "FLOAT[N", "--attribute", "alpha=1"], "'FLOAT[N' is no type"),
        (["net.py:scaled", "--attribute", "alpha"], "--attribute is name=value"),
    ],
)
def test_wrong_usage(run: Run, program: Path, arguments: list[str], message: str) -> None:
    seen = run("build", *arguments)
    assert seen.status == 2
    assert message in seen.err
    assert "Traceback" not in seen.err


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["net.py:scaled", "--input-types", "x=FLOAT[N]"], "C607"),
        (["net.py:scaled", "--attribute", "alpha=1"], "C405"),
        (["net.py:scaled", "--attribute", "alpha=1", "--input-types", "y=FLOAT[N]"], "C607"),
        (["net.py:scaled", "--attribute", "alpha=1", "--input-types", "x=FLOAT[-1]"], "C405"),
        (["net.py:forward", "-o", "no/such/folder/m.onnx"], "F103"),
        (["wrong.py:first"], "C301"),
    ],
)
def test_errors(run: Run, program: Path, wrong: Path, arguments: list[str], code: str) -> None:
    seen = run("build", *arguments)
    assert seen.status == 1
    assert f"[{code}]" in seen.err
    assert "Traceback" not in seen.err
    seen = run("build", *arguments, "--json")
    assert seen.status == 1
    assert seen.json["error"]["code"] == code


def test_help_is_for_the_command_line(run: Run, program: Path) -> None:
    assert "--input-types 'x=FLOAT[N]'" in run("build", "net.py:scaled", "--attribute", "alpha=1").err
    assert "--attribute alpha=…" in run("build", "net.py:scaled", "--input-types", "x=FLOAT[N]").err


@pytest.mark.parametrize(
    ("text", "kind"),
    [("1 / 0\n", "ZeroDivisionError"), ("def f(:\n", "SyntaxError"), ("import nowhere\n", "Module")],
)
def test_errors_of_the_program(run: Run, tmp_path: Path, text: str, kind: str) -> None:
    (tmp_path / "broken.py").write_text(text)
    seen = run("build", "broken.py:f")
    assert seen.status == 1
    assert kind in seen.err
    assert "broken.py" in seen.err
    assert "onnxsmith/cli" not in seen.err


def test_a_script_whose_error_is_the_users_own(run: Run, tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text(
        'from onnxsmith import FLOAT, script\n\n\n@script\ndef f(x: FLOAT["N"]):\n    return x * {}["alpha"]\n'
    )
    seen = run("build", "broken.py:f")
    assert seen.status == 1
    assert "KeyError: 'alpha'" in seen.err
    assert "onnxsmith/" not in seen.err
