"""Every command that takes a model's file, as words for one file. Results go to a folder beside it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from onnxsmith import FLOAT, trace
from onnxsmith import opset21 as op
from tests.laws.pool import Worker

#: In the folder of the files: a sound model, and rules for `rewrite`.
SOUND = "sound.onnx"
RULES = "rules.py"
RULES_TEXT = """
from onnxsmith import Rule
from onnxsmith import opset21 as op

rules = [Rule(lambda a, b: op.Add(a, b), lambda a, b: op.Add(b, a), name="turned")]
"""

Words = Callable[[Path], list[str]]


def _words(command: str, *options: str, output: str | None = None) -> Words:
    """The words of a command; {folder} in an option is that of the file."""

    def made(path: Path) -> list[str]:
        folder = path.parent
        words = [command, str(path), *(each.format(folder=folder) for each in options)]
        return words if output is None else [*words, "-o", str(folder / "made" / output), "--force"]

    return made


def _isolated(path: Path) -> list[str]:
    limits = ["--isolated", "--timeout", "5", "--memory", "1GB"]
    return ["run", str(path), "--random", *limits]


COMMANDS: dict[str, Words] = {
    "check": _words("check"),
    "info": _words("info"),
    "info --weights": _words("info", "--weights"),
    "info --nodes": _words("info", "--nodes", "--json"),
    "decompile": _words("decompile", "-o", "-"),
    "decompile to files": _words("decompile", output="module"),
    "decompile --group": _words("decompile", "--group", "-o", "-"),
    "run --isolated": _isolated,
    "convert down": _words("convert", "--opset", "13", output="down.onnx"),
    "convert up": _words("convert", "--opset", "23", output="up.onnx"),
    "optimize": _words("optimize", output="small.onnx"),
    "optimize --keep-functions": _words(
        "optimize", "--keep-functions", "--opset", "keep", output="small.onnx"
    ),
    "optimize --unroll": _words("optimize", "--unroll", "100", output="small.onnx"),
    "outline": _words("outline", output="outlined.onnx"),
    "outline --by scopes": _words("outline", "--by", "scopes", output="outlined.onnx"),
    "extract": _words("extract", output="part.onnx"),
    "join": _words("join", "{folder}/" + SOUND, output="joined.onnx"),
    "rename": _words("rename", "--prefix", "p.", output="renamed.onnx"),
    "rewrite": _words("rewrite", "--rules", "{folder}/" + RULES, output="rewritten.onnx"),
    "set-shapes": _words("set-shapes", "N=3", output="shaped.onnx"),
    "view": _words("view", output="page.html"),
    "view as a picture": _words("view", output="picture.svg"),
    "diff": _words("diff", "{folder}/" + SOUND),
    # These run the model, in this process or after a try in another one.
    "check --runtime": _words("check", "--runtime"),
    "convert --verify": _words("convert", "--opset", "17", "--verify", output="verified.onnx"),
    "optimize --verify": _words("optimize", "--verify", output="verified.onnx"),
    "run": _words("run", "--random"),
    "compare": _words("compare", "--levels"),
    "profile": _words("profile", "--runs", "1", "--warm-up", "0"),
}

#: Those that run the model in this process, for as long as it takes: a model that has no end is not for them.
RUNNING = ("check --runtime", "convert --verify", "optimize --verify", "run", "compare", "profile")


def prepare(folder: Path) -> Path:
    """Put what the commands need beside the files into a folder."""
    (folder / "made").mkdir()
    trace(lambda x: op.Relu(x + 1.0), FLOAT["N"]).save(folder / SOUND)
    (folder / RULES).write_text(RULES_TEXT)
    (folder / "data.bin").write_bytes(bytes(64))
    return folder


def refuses_sound(worker: Worker, folder: Path) -> bool:
    """True if a worker refuses the sound model, too: what it refused before says nothing about the files."""
    (outcome,) = worker.outcomes(folder / SOUND, ["check --runtime"]).values()
    return outcome.kind != "values" or outcome.values[0] != 0
