"""Arguments of every kind, as commands declare them, for tests of the shells' scripts.

Not a test itself.
"""

from __future__ import annotations

from onnxsmith.cli.declaration import Command, argument, repeated, switch, valued

ARGUMENTS = {
    "model": argument("model", help="a model", completes="model", metavar="MODEL"),
    "models": argument("models", help="models", completes="model", metavar="MODEL", nargs="+"),
    "word": argument("word", help="a word", metavar="WORD"),
    "switch": switch("--quiet", "say less: nothing"),
    "short": valued(("-o", "--output"), "PATH", "where to [path]", "folder"),
    "choice": argument("--by", help="what decides", choices=("repeats", "scopes"), metavar="HOW"),
    "repeated": repeated("--input", "NAME=FILE", "an input's value", "array"),
    "many": argument("--rules", help="files", completes="python", nargs="*", metavar="FILE"),
    "asked": valued("--domain", "NAME", "a domain", "domains"),
}


def command_of(*names: str) -> Command:
    """A command with some of them."""
    return Command("a command", "", tuple(ARGUMENTS[each] for each in names))
