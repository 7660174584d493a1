"""The completions of each argument of a command: the same facts for all shells."""

from __future__ import annotations

from typing import Literal, NamedTuple

from onnxsmith.cli.declaration import SHARED, Argument, Command, Completion, switch

#: Endings of the files of a kind.
ENDINGS: dict[Completion, tuple[str, ...]] = {
    "model": (".onnx",),
    "python": (".py",),
    "program": (".onnx", ".py"),
    "array": (".npy", ".npz"),
    "page": (".html", ".svg", ".png"),
}
#: Kinds whose names we print when the shell asks for them: they depend on what is installed.
ASKED_FOR = ("operators", "domains", "errors")

_HELP = switch("--help", "show this help message and exit")._replace(names=("-h", "--help"))


class Offer(NamedTuple):
    """A word of a command as a shell sees it."""

    #: The names of an option; empty for a positional argument.
    names: tuple[str, ...]
    help: str
    metavar: str
    #: How many values it takes.
    values: Literal["none", "one", "many"]
    #: Whether it may be said more than once.
    is_repeated: bool
    choices: tuple[str, ...]
    completes: Completion | None


def offers(command: Command) -> list[Offer]:
    """All words of a command, in the order of its help."""
    return [_offer(each) for each in (*command.arguments, *SHARED, _HELP)]


def options(command: Command) -> list[Offer]:
    """The options among them."""
    return [each for each in offers(command) if each.names]


def positionals(command: Command) -> list[Offer]:
    """The positional arguments among them."""
    return [each for each in offers(command) if not each.names]


def _offer(declared: Argument) -> Offer:
    given = declared.options
    is_option = declared.names[0].startswith("-")
    values: Literal["none", "one", "many"] = "one"
    if given.get("action") == "store_true":
        values = "none"
    elif given.get("nargs") in ("+", "*"):
        values = "many"
    return Offer(
        declared.names if is_option else (),
        declared.help,
        given.get("metavar") or "VALUE",
        values,
        given.get("action") == "append",
        tuple(given.get("choices", ())),
        declared.completes,
    )


def question(kind: Completion) -> str:
    """The arguments of the command that prints the names of a kind."""
    return f"completion bash --names {kind}"
