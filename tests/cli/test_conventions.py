"""The conventions of docs/reference/command-line.md, for every command of the table."""

from __future__ import annotations

import argparse
import io
import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest

from onnxsmith.cli import COMMANDS, command_module
from onnxsmith.cli.declared.running import MOST_THREADS
from onnxsmith.cli.exit_codes import FINDINGS, GOOD, USAGE
from onnxsmith.cli.parsing import make_parser
from onnxsmith.runtime import settings
from tests.cli.conftest import RULES, Run

NAMES = list(COMMANDS)
#: Those that look something up by a word, and read no file.
LOOKUPS = {"explain": ["C999", "C401"], "ops": ["Konv", "Conv"]}
#: Those that need no file at all.
WITHOUT_FILES = {*LOOKUPS, "completion"}
#: What each command does well on, and what it finds something wrong with.
GOOD_WORDS = {
    "build": ["net.py:forward"],
    "export": ["layer.py:layer", "--input-types", "FLOAT[N, 4]"],
    "run": ["m.onnx", "--random", "--dim", "N=10", "--dim", "K=2"],
    "info": ["m.onnx"],
    "check": ["m.onnx"],
    "compare": ["m.onnx", "--levels"],
    "decompile": ["m.onnx"],
    "convert": ["m.onnx", "--opset", "23"],
    "optimize": ["m.onnx"],
    "outline": ["m.onnx"],
    "extract": ["m.onnx", "--outputs", "y"],
    "join": ["m.onnx"],
    "rename": ["m.onnx", "--inputs", "x=image"],
    "rewrite": ["m.onnx", "--rules", "rules.py"],
    "set-shapes": ["m.onnx", "N=10"],
    "view": ["m.onnx", "-o", "m.html"],
    "diff": ["m.onnx", "same.onnx"],
    "profile": ["m.onnx", "--dim", "N=10", "--dim", "K=2", "--runs", "1"],
    "ops": ["Conv"],
    "explain": ["C401"],
    "completion": ["bash"],
}
BAD_WORDS = {
    "build": ["wrong.py:first"],
    "export": ["layer.py:layer", "--input-types", "FLOAT[N, 5]"],
    "run": ["half.onnx"],
    "info": ["half.onnx"],
    "check": ["half.onnx"],
    "compare": ["half.onnx", "--levels"],
    "decompile": ["half.onnx"],
    "convert": ["half.onnx", "--opset", "23"],
    "optimize": ["half.onnx"],
    "outline": ["half.onnx"],
    "extract": ["half.onnx"],
    "join": ["half.onnx"],
    "rename": ["half.onnx"],
    "rewrite": ["half.onnx", "--rules", "rules.py"],
    "set-shapes": ["half.onnx"],
    "view": ["half.onnx"],
    "diff": ["half.onnx", "m.onnx"],
    "profile": ["half.onnx"],
}

#: What has to be said besides the model.
NEEDED = {"compare": ["--levels"], "convert": ["--opset", "23"], "diff": ["m.onnx"]}


@pytest.fixture(autouse=True)
def needs_torch(request: pytest.FixtureRequest) -> None:
    """`export` does nothing without PyTorch, apart from its help."""
    if "export" in request.node.name:
        pytest.importorskip("torch")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, program: Path, wrong: Path, model: Path) -> Path:
    (tmp_path / "half.onnx").write_bytes(model.read_bytes()[:50])
    (tmp_path / "same.onnx").write_bytes(model.read_bytes())
    (tmp_path / "rules.py").write_text(RULES)
    (tmp_path / "layer.py").write_text("import torch\n\nlayer = torch.nn.Linear(4, 3)\n")
    return tmp_path


def parser_of(name: str) -> argparse.ArgumentParser:
    (commands,) = [
        each for each in make_parser([name])._actions if isinstance(each, argparse._SubParsersAction)
    ]
    return commands.choices[name]


def pipe_in(monkeypatch: pytest.MonkeyPatch, content: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))


def whole(model: Path) -> bytes:
    """A model with its weights inside, as one pipes it."""
    return onnx.load(model).SerializeToString()


def test_the_table_is_complete() -> None:
    assert set(GOOD_WORDS) == set(COMMANDS)
    assert set(BAD_WORDS) == set(COMMANDS) - WITHOUT_FILES


@pytest.mark.parametrize("name", NAMES)
def test_results_go_to_stdout_and_the_code_is_0(run: Run, name: str) -> None:
    seen = run(name, *GOOD_WORDS[name])
    assert (seen.status, seen.err) == (GOOD, "")
    assert seen.out.strip()


@pytest.mark.parametrize("name", BAD_WORDS)
def test_errors_go_to_stderr_and_the_code_is_1(run: Run, name: str) -> None:
    seen = run(name, *BAD_WORDS[name])
    assert seen.status == FINDINGS
    assert seen.err.startswith("error: ")
    assert "Traceback" not in seen.err


@pytest.mark.parametrize("name", NAMES)
def test_wrong_usage_is_2_and_says_where_help_is(run: Run, name: str) -> None:
    seen = run(name, "--no-such-option")
    assert seen.status == USAGE
    assert "usage: " in seen.err
    assert seen.out == ""


@pytest.mark.parametrize(
    "words",
    [
        "compare m.onnx --levels --rtol -1",
        "compare m.onnx --levels --atol nan",
        "compare m.onnx --levels --rtol inf",
        "compare m.onnx --levels --rtol much",
        "diff m.onnx same.onnx --limit -1",
        "diff m.onnx same.onnx -o out.pdf",
        "optimize m.onnx --unroll -1",
        "profile m.onnx --runs 0",
        "profile m.onnx --runs 1.5",
        "profile m.onnx --warm-up -1",
        "profile m.onnx --threads -3",
        "profile m.onnx --threads 999999",
        "profile m.onnx --limit -1",
        "profile m.onnx -o -",
        "run m.onnx --random --seed -1",
        "view m.onnx -o out.pdf",
        "view m.onnx -o -",
        "view m.onnx -o out",
    ],
)
def test_values_that_an_option_does_not_have_are_wrong_usage(run: Run, words: str, folder: Path) -> None:
    before = set(folder.iterdir())
    seen = run(*words.split())
    assert (seen.status, seen.out) == (USAGE, "")
    assert words.split()[-2] in seen.err
    assert set(folder.iterdir()) == before
    assert run(*words.split(), "--json").json["error"]["kind"] == "Usage"


@pytest.mark.parametrize("name", NAMES)
def test_json_is_one_document_and_a_list_where_several_are_taken(run: Run, name: str) -> None:
    seen = run(name, *GOOD_WORDS[name], "--json")
    assert isinstance(seen.json, list) == COMMANDS[name].takes_several
    entry = seen.json[0] if COMMANDS[name].takes_several else seen.json
    assert COMMANDS[name].writes_files == ("written" in entry)
    assert ("file" in entry) == (COMMANDS[name].reads_stream or "checked" in entry)


@pytest.mark.parametrize("name", BAD_WORDS)
def test_errors_are_in_the_json(run: Run, name: str) -> None:
    seen = run(name, *BAD_WORDS[name], "--json")
    assert (seen.status, seen.err) == (FINDINGS, "")
    entry = seen.json[0] if COMMANDS[name].takes_several else seen.json
    error = entry["findings"][0] if name == "check" else entry["error"]
    assert {"code", "kind", "message", "text"} <= set(error)


@pytest.mark.parametrize("name", [each for each in NAMES if COMMANDS[each].takes_several])
def test_several_are_done_in_order_and_one_does_not_stop_the_rest(run: Run, name: str) -> None:
    words = LOOKUPS.get(name) or [*BAD_WORDS[name], *GOOD_WORDS[name]]
    seen = run(name, *words, "--json")
    assert [each.get("file", each.get("code", each.get("name"))) for each in seen.json[1:]] == words[1:]
    assert len(seen.json) == len(words)
    assert seen.status == (USAGE if name in LOOKUPS else FINDINGS)
    assert "error" not in seen.json[1]


def test_a_file_that_is_not_there_does_not_stop_the_rest(run: Run, model: Path) -> None:
    seen = run("check", "nix.py", "m.onnx")
    assert seen.status == USAGE
    assert "there is no file nix.py" in seen.err
    assert seen.out == "m.onnx: good\n"
    first, second = run("check", "nix.py", "m.onnx", "--json").json
    assert first["error"]["kind"] == "Usage"
    assert second == {"file": "m.onnx", "checked": [], "findings": [], "warnings": []}


@pytest.mark.parametrize(
    "words", [["run"], ["run", "m.onnx", "--dim", "N"], ["info", "--nix"], ["info", "-", "-"]]
)
def test_wrong_usage_is_an_error_in_the_json(run: Run, model: Path, words: list[str]) -> None:
    seen = run(*words, "--json")
    assert seen.status == USAGE
    assert seen.json["error"].keys() == {"code", "kind", "message", "help", "places", "others", "text"}
    assert seen.json["error"]["kind"] == "Usage"
    assert seen.json["error"]["message"] in seen.err


def test_whoever_reads_our_errors_may_stop_early(folder: Path) -> None:
    command = f"{shlex.quote(sys.executable)} -m onnxsmith run m.onnx --json | true"
    seen = subprocess.run(command, shell=True, cwd=folder, capture_output=True, text=True, check=False)
    assert seen.stderr == ""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no /dev/full")
@pytest.mark.parametrize(
    "words",
    ["info m.onnx", "info half.onnx --json", "diff m.onnx same.onnx", "optimize m.onnx -o -", "explain C401"],
)
def test_standard_output_that_is_full_or_closed(folder: Path, words: str) -> None:
    command = f"{shlex.quote(sys.executable)} -m onnxsmith {words}"
    full = subprocess.run(
        f"{command} > /dev/full", shell=True, cwd=folder, capture_output=True, text=True, check=False
    )
    assert full.returncode == FINDINGS
    assert full.stderr.startswith("error: cannot write to standard output: ")
    assert len(full.stderr.splitlines()) == 1
    closed = subprocess.run(
        f"{command} >&-", shell=True, cwd=folder, capture_output=True, text=True, check=False
    )
    assert "Traceback" not in closed.stderr


@pytest.mark.parametrize("name", [each for each in NAMES if COMMANDS[each].reads_stream])
def test_a_dash_is_standard_input(run: Run, name: str, model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pipe_in(monkeypatch, whole(model))
    seen = run(name, *("-" if word == "m.onnx" else word for word in GOOD_WORDS[name]))
    assert (seen.status, seen.err) == (GOOD, "")
    pipe_in(monkeypatch, b"no model")
    words = ["-" if word == "half.onnx" else word for word in BAD_WORDS[name]]
    assert run(name, *words).status == FINDINGS
    pipe_in(monkeypatch, b"")
    assert run(name, "-", *NEEDED.get(name, ())).status == USAGE


@pytest.mark.parametrize(
    "name",
    [
        "run",
        "join",
        *(each for each in NAMES if COMMANDS[each].reads_stream and COMMANDS[each].takes_several),
    ],
)
def test_standard_input_is_read_once(run: Run, name: str) -> None:
    again = ["--input", "x=-"] if name == "run" else ["-"]
    seen = run(name, "-", *again)
    assert seen.status == USAGE
    assert "only once" in seen.err


@pytest.mark.parametrize("name", [each for each in NAMES if COMMANDS[each].writes_stream])
def test_a_dash_is_standard_output(folder: Path, name: str) -> None:
    words = [sys.executable, "-m", "onnxsmith", name, *GOOD_WORDS[name], "-o", "-"]
    before = set(folder.iterdir())
    done = subprocess.run(words, cwd=folder, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (GOOD, b"")
    assert {each for each in folder.iterdir() if each.name != "__pycache__"} == before
    if name != "decompile":
        onnx.checker.check_model(onnx.load_model_from_string(done.stdout))
    else:
        compile(done.stdout, "m.py", "exec")


def test_an_array_from_standard_input(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    content = io.BytesIO()
    np.save(content, np.ones((2, 4), np.float32))
    pipe_in(monkeypatch, content.getvalue())
    seen = run("run", "m.onnx", "--input", "x=-", "--input", "i=[0]", "--json")
    assert seen.json["outputs"][0]["shape"] == [2, 100]


@pytest.mark.parametrize("name", NAMES)
def test_quiet_says_nothing_but_does_the_same(run: Run, name: str, folder: Path) -> None:
    before = set(folder.iterdir())
    loud = run(name, *GOOD_WORDS[name])
    written = {each.name for each in set(folder.iterdir()) - before}
    seen = run(name, *GOOD_WORDS[name], "--quiet")
    assert (seen.status, seen.out, seen.err) == (loud.status, "", "")
    assert {each.name for each in set(folder.iterdir()) - before} == written


@pytest.mark.parametrize("name", BAD_WORDS)
def test_quiet_still_says_what_is_wrong(run: Run, name: str) -> None:
    seen = run(name, *BAD_WORDS[name], "-q")
    assert (seen.status, seen.out) == (FINDINGS, "")
    assert seen.err.startswith("error: ")


@pytest.mark.parametrize("name", [each for each in NAMES if COMMANDS[each].writes_stream])
def test_quiet_does_not_hold_back_what_goes_to_standard_output(folder: Path, name: str) -> None:
    words = [sys.executable, "-m", "onnxsmith", name, *GOOD_WORDS[name], "-o", "-", "--quiet"]
    done = subprocess.run(words, cwd=folder, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (GOOD, b"")
    assert done.stdout


@pytest.mark.parametrize("name", NAMES)
def test_a_document_and_none_are_wrong_usage(run: Run, name: str) -> None:
    assert run(name, *GOOD_WORDS[name], "--json", "--quiet").status == USAGE


def test_as_many_threads_as_the_runtime_allows() -> None:
    assert MOST_THREADS == settings.MOST_THREADS


@pytest.mark.parametrize("name", NAMES)
def test_whoever_writes_files_has_force(name: str) -> None:
    assert ("--force" in parser_of(name).format_help()) == COMMANDS[name].writes_files


@pytest.mark.parametrize("name", NAMES)
def test_help_says_what_each_word_means(run: Run, name: str) -> None:
    for action in parser_of(name)._actions:
        assert action.help, action
        if action.option_strings and action.nargs != 0 and action.choices is None and action.type is None:
            assert action.metavar == str(action.metavar).upper(), action
    seen = run(name, "--help")
    assert (seen.status, seen.err) == (GOOD, "")
    assert all(len(line) <= 120 for line in seen.out.splitlines())


@pytest.mark.parametrize("name", NAMES)
def test_examples_in_the_help_can_be_typed(name: str) -> None:
    """A shell takes them apart, and the parser takes them; brackets are in quotes, as shells want them."""
    examples = re.findall(r"^ +onnxsmith (.+?)(?: < .*)?$", parser_of(name).epilog or "", re.MULTILINE)
    assert examples
    for example in examples:
        unquoted = re.sub(r"'[^']*'", "", example)
        assert not re.search(r"[\[\]*?()$&;|<>]", unquoted), example
        words = shlex.split(example)
        make_parser(words).parse_args(words)


@pytest.mark.parametrize("name", NAMES)
def test_every_command_has_its_place_in_the_reference(name: str) -> None:
    page = (Path(__file__).parents[2] / "docs" / "reference" / "command-line.md").read_text(encoding="utf-8")
    section = page.partition(f"\n## {name}\n")[2].partition("\n## ")[0]
    assert section
    options = {
        word for action in parser_of(name)._actions for word in action.option_strings if word.startswith("--")
    }
    for option in options - {"--help", "--json", "--quiet"}:
        assert f"`{option}" in section or f", `{option}" in section, option


@pytest.mark.parametrize("name", NAMES)
def test_a_command_says_what_it_is(name: str) -> None:
    assert f"onnxsmith {name}" in (command_module(name).__doc__ or "")
    assert COMMANDS[name].summary[0].islower()
    assert not COMMANDS[name].summary.endswith(".")
