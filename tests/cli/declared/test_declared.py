"""The arguments of every command, their conventions and what shells complete are those of `commands.txt`.

Scripts of users are written against them: a change is seen as a difference of that file (`--update-golden` writes it).
"""

from __future__ import annotations

from pathlib import Path
from typing import cast

from onnxsmith.cli.declaration import SHARED, Argument, Command
from onnxsmith.cli.declared import COMMANDS

GOLDEN = Path(__file__).with_name("commands.txt")


def written(argument: Argument) -> str:
    options = cast("dict[str, object]", argument.options)
    shown = {name: getattr(value, "__name__", None) or repr(value) for name, value in sorted(options.items())}
    if argument.completes is not None:
        shown["completes"] = argument.completes
    return " ".join([", ".join(argument.names), *(f"{name}={value}" for name, value in shown.items())])


def listed(name: str, command: Command) -> list[str]:
    conventions = ("takes_several", "reads_stream", "writes_stream", "writes_files")
    held = [each for each in conventions if getattr(command, each)]
    return [" ".join([f"{name}:", *held]), *(f"  {written(each)}" for each in command.arguments)]


def test_the_commands_are_those_of_the_list(update_golden: bool) -> None:
    lines = [line for name, command in COMMANDS.items() for line in listed(name, command)]
    text = "\n".join([*lines, "every command:", *(f"  {written(each)}" for each in SHARED)]) + "\n"
    if update_golden:
        GOLDEN.write_text(text)
    assert text == GOLDEN.read_text()


def test_every_command_and_argument_says_what_it_does() -> None:
    for name, command in COMMANDS.items():
        assert command.summary
        assert command.summary[0].islower()
        assert f"onnxsmith {name}" in command.epilog
        assert all(each.help for each in command.arguments)
        assert len({each for argument in (*command.arguments, *SHARED) for each in argument.names}) == sum(
            len(argument.names) for argument in (*command.arguments, *SHARED)
        )
