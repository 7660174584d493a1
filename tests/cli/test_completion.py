"""`onnxsmith completion`: every word of the parser is in each script, and bash completes with its own."""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from onnxsmith.cli import COMMANDS
from onnxsmith.cli.declared.showing import SHELLS
from onnxsmith.cli.parsing import make_parser
from onnxsmith.cli.shells import SCRIPTS
from onnxsmith.errors.pages import pages
from tests.cli.conftest import Run

WORDS = sorted(
    {
        word
        for name in COMMANDS
        for commands in make_parser([name])._actions
        if isinstance(commands, argparse._SubParsersAction)
        for action in commands.choices[name]._actions
        for word in [*action.option_strings, *(action.choices or ())]
    }
)


@pytest.mark.parametrize("shell", SHELLS)
def test_a_script_has_every_word_of_the_parser(run: Run, shell: str) -> None:
    seen = run("completion", shell)
    assert seen.status == 0
    for word in [*COMMANDS, *WORDS]:
        spelled = word.lstrip("-") if shell == "fish" else word
        assert spelled in seen.out, word
    assert run("completion", shell, "--json").json == {"shell": shell, "script": SCRIPTS[shell]()}


@pytest.mark.parametrize("shell", SHELLS)
def test_a_shell_can_read_its_script(tmp_path: Path, shell: str) -> None:
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"{shell} is not installed")
    (tmp_path / "script").write_text(SCRIPTS[shell](), encoding="utf-8")
    done = subprocess.run([program, "-n", tmp_path / "script"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        (["onnxsmith", "ex"], {"export", "extract", "explain"}),
        (["onnxsmith", "completion", ""], set(SHELLS)),
        (["onnxsmith", "outline", "m.onnx", "--by", ""], {"repeats", "scopes"}),
        (["onnxsmith", "info", "--w"], {"--weights"}),
        (["onnxsmith", "info", ""], {"folder", "m.onnx"}),
        (["onnxsmith", "check", "m"], {"m.onnx"}),
        (["onnxsmith", "rewrite", "m.onnx", "--rules", "a.py", ""], {"folder", "rules.py"}),
        (["onnxsmith", "run", "m.onnx", "--output-dir", ""], {"folder"}),
        (["onnxsmith", "run", "m.onnx", "--input", "x", "=", ""], {"folder", "x.npy"}),
        (["onnxsmith", "run", "m.onnx", "--input", "x", "="], {"folder", "x.npy"}),
        (["onnxsmith", "view", "m.onnx", "-o", "p"], {"page.html"}),
        (["onnxsmith", "build", "rules.py", "--opset", ""], set()),
        (["onnxsmith", "explain", "C40"], {each.code for each in pages() if each.code.startswith("C40")}),
        (["onnxsmith", "ops", "LayerNorm"], {"LayerNormalization"}),
        (["onnxsmith", "ops", "--domain", "ai.onnx.m"], {"ai.onnx.ml"}),
    ],
    ids=lambda each: " ".join(each) if isinstance(each, list) else "",
)
def test_what_bash_offers(tmp_path: Path, typed: list[str], offered: set[str]) -> None:
    for name in ("m.onnx", "rules.py", "x.npy", "page.html", "other.txt"):
        (tmp_path / name).touch()
    (tmp_path / "folder").mkdir()
    script = tmp_path / "script"
    script.write_text(SCRIPTS["bash"](), encoding="utf-8")
    # The command may not be installed: a function has its name.
    words = " ".join(f"'{each}'" for each in typed)
    asked = (
        f"onnxsmith() {{ '{sys.executable}' -m onnxsmith \"$@\"; }}; source '{script}'; "
        f"COMP_WORDS=({words}); COMP_CWORD=$(({len(typed)} - 1)); _onnxsmith; "
        'printf "%s\\n" "${COMPREPLY[@]}"'
    )
    done = subprocess.run(
        ["bash", "--norc", "-c", asked],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""
    assert set(filter(None, done.stdout.splitlines())) == offered
