"""The completion script for fish."""

from __future__ import annotations

from onnxsmith.cli.declared import COMMANDS
from onnxsmith.cli.shells.offers import ASKED_FOR, ENDINGS, Offer, offers, question

_HEAD = """\
# Completion of onnxsmith for fish. In config.fish: onnxsmith completion fish | source
complete -c onnxsmith -e
complete -c onnxsmith -f
complete -c onnxsmith -n __fish_use_subcommand -s h -l help -d 'show this help message and exit'
complete -c onnxsmith -n __fish_use_subcommand -l version -d 'show the version and exit'
"""


def script() -> str:
    """The script."""
    lines = [_HEAD]
    for name, command in COMMANDS.items():
        lines.append(
            f"complete -c onnxsmith -n __fish_use_subcommand -a {name} -d {_quoted(command.summary)}\n"
        )
    for name, command in COMMANDS.items():
        condition = f"-n '__fish_seen_subcommand_from {name}'"
        lines += [f"complete -c onnxsmith {condition} {_words(each)}\n" for each in offers(command)]
    return "".join(lines)


def _words(offer: Offer) -> str:
    names = " ".join(
        f"-l {each.removeprefix('--')}" if each.startswith("--") else f"-s {each[1:]}" for each in offer.names
    )
    values = "" if offer.values == "none" else f" {_values(offer)}"
    needs = " -r" if offer.names and offer.values != "none" else ""
    return f"{names}{needs}{values} -d {_quoted(offer.help)}".strip()


def _values(offer: Offer) -> str:
    if offer.choices:
        return f"-f -a {_quoted(' '.join(offer.choices))}"
    kind = offer.completes
    if kind is None:
        return "-f"
    if kind == "array":
        return "-F"  # fish completes what stands after the = itself
    if kind == "folder":
        return "-f -a '(__fish_complete_directories (commandline -ct))'"
    if kind in ASKED_FOR:
        return f"-f -a '(onnxsmith {question(kind)} 2>/dev/null)'"
    suffixes = "; ".join(f"__fish_complete_suffix {each}" for each in ENDINGS[kind])
    return f"-f -a '({suffixes})'"


def _quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
