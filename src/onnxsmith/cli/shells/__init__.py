"""Scripts that let shells complete words of the command line, made of the table of commands."""

from collections.abc import Callable

from onnxsmith.cli.shells import bash, fish, zsh

#: Shell -> its script.
SCRIPTS: dict[str, Callable[[], str]] = {"bash": bash.script, "zsh": zsh.script, "fish": fish.script}
