"""The words of a command in the script of fish: options, values of every kind, and what has to be quoted."""

from __future__ import annotations

import pytest

from onnxsmith.cli.shells import fish
from onnxsmith.cli.shells.offers import offers
from tests.cli.shells.arguments import ARGUMENTS, command_of

SPELLED = {
    "model": "-f -a '(__fish_complete_suffix .onnx)' -d 'a model'",
    "models": "-f -a '(__fish_complete_suffix .onnx)' -d 'models'",
    "word": "-f -d 'a word'",
    "switch": "-l quiet -d 'say less: nothing'",
    "short": "-s o -l output -r -f -a '(__fish_complete_directories (commandline -ct))' -d 'where to [path]'",
    "choice": "-l by -r -f -a 'repeats scopes' -d 'what decides'",
    "repeated": "-l input -r -F -d 'an input\\'s value'",
    "many": "-l rules -r -f -a '(__fish_complete_suffix .py)' -d 'files'",
    "asked": "-l domain -r -f -a '(onnxsmith completion bash --names domains 2>/dev/null)' -d 'a domain'",
}


@pytest.mark.parametrize("name", ARGUMENTS)
def test_a_word_in_the_script(name: str) -> None:
    (offer,) = [each for each in offers(command_of(name)) if each.help == ARGUMENTS[name].help]
    assert fish._words(offer) == SPELLED[name]
