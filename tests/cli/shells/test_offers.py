"""The words of a command that all shells offer."""

from __future__ import annotations

from onnxsmith.cli.shells.offers import offers, options, positionals
from tests.cli.shells.arguments import command_of


def test_every_command_has_help_and_what_all_commands_share() -> None:
    shared = offers(command_of())
    assert shared[-1].names == ("-h", "--help")
    assert options(command_of("model")) == shared
    assert options(command_of("model", "switch"))[0].names == ("--quiet",)
    (positional,) = positionals(command_of("model", "switch"))
    assert (positional.names, positional.values, positional.metavar) == ((), "one", "MODEL")


def test_how_many_values_a_word_takes() -> None:
    found = {
        each.metavar or each.names[0]: each
        for each in offers(command_of("models", "repeated", "many", "choice"))
    }
    assert [
        (found[each].values, found[each].is_repeated) for each in ("MODEL", "NAME=FILE", "FILE", "HOW")
    ] == [
        ("many", False),
        ("one", True),
        ("many", False),
        ("one", False),
    ]
    assert found["HOW"].choices == ("repeats", "scopes")
