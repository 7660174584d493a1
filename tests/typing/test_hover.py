"""What an editor shows for operators and their results, by pyright's language server: texts that are read as a diff.

`--update-golden` writes them anew.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.typing.language_server import LanguageServer

HOVERS = Path(__file__).with_name("hovers")
OPERATORS = ("Add", "Cast", "Concat", "Conv", "Gather", "MaxPool", "Relu", "Reshape", "Split", "TopK")

#: Each variable holds what is hovered over.
PROGRAM = """\
import numpy as np
from onnxsmith import FLOAT, jit, script
from onnxsmith import opset21 as op

array = np.ones((2, 2), dtype=np.float32)


@script
def doubled(tensor: FLOAT) -> FLOAT:
    inside = op.Add(tensor, 1.0)
    return inside


of_array = op.Relu(array)
of_two = op.TopK(array, [1])
of_script = doubled(array)
of_jitted = jit(doubled)(array)
"""
RESULTS = {
    "inside": "FLOAT",
    "of_array": "NumpyArray",
    "of_two": "tuple[NumpyArray, NumpyArray]",
    "of_script": "NumpyArray",
    "of_jitted": "NumpyArray",
}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LanguageServer]:
    with LanguageServer(tmp_path_factory.mktemp("hover")) as running:
        yield running


@pytest.fixture(scope="module")
def opened(server: LanguageServer) -> str:
    return server.open(PROGRAM + "".join(f"op.{name}\n" for name in OPERATORS))


@pytest.mark.parametrize("name", OPERATORS)
def test_operators_read_well(
    name: str, server: LanguageServer, opened: str, request: pytest.FixtureRequest
) -> None:
    line = PROGRAM.count("\n") + OPERATORS.index(name)
    shown = server.hover(opened, line, len("op.")) + "\n"
    golden = HOVERS / f"{name}.txt"
    if request.config.getoption("--update-golden"):
        golden.write_text(shown, encoding="utf-8")
    assert shown == golden.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", RESULTS)
def test_results_are_what_comes_out(name: str, server: LanguageServer, opened: str) -> None:
    lines = PROGRAM.splitlines()
    line = next(number for number, text in enumerate(lines) if text.strip().startswith(f"{name} = "))
    shown = server.hover(opened, line, lines[line].index(name))
    assert shown == f"(variable) {name}: {RESULTS[name]}"
