"""The words of a command in the script of zsh: options, values of every kind, and what has to be quoted."""

from __future__ import annotations

import pytest

from onnxsmith.cli.shells import zsh
from tests.cli.shells.arguments import ARGUMENTS, command_of

SPELLED = {
    "model": "'1:MODEL:_files -g \"*.onnx\"'",
    "models": "'*:MODEL:_files -g \"*.onnx\"'",
    "word": "'1:WORD: '",
    "switch": "'--quiet[say less\\: nothing]'",
    "short": "'(-o --output)'{-o,--output}'[where to \\[path\\]]:PATH:_files -/'",
    "choice": "'--by[what decides]:HOW:(repeats scopes)'",
    "repeated": "'*--input[an input'\\''s value]:NAME=FILE:_onnxsmith_array'",
    "many": "'--rules[files]:*-*:FILE:_files -g \"*.py\"'",
    "asked": "'--domain[a domain]:NAME:_onnxsmith_asked \"completion bash --names domains\"'",
}


@pytest.mark.parametrize("name", ARGUMENTS)
def test_a_word_in_the_script(name: str) -> None:
    assert SPELLED[name] in zsh._specs(command_of(name))


def test_positional_arguments_are_counted() -> None:
    specs = zsh._specs(command_of("model", "switch", "word"))
    assert [each.partition(":")[0] for each in specs if each[1].isdigit()] == ["'1", "'2"]
