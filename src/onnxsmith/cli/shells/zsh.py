"""The completion script for zsh."""

from __future__ import annotations

from onnxsmith.cli.declaration import Command
from onnxsmith.cli.declared import COMMANDS
from onnxsmith.cli.shells.offers import ASKED_FOR, ENDINGS, Offer, options, positionals, question

_HEAD = """\
#compdef onnxsmith
# Completion of onnxsmith for zsh. In .zshrc, after compinit: eval "$(onnxsmith completion zsh)"
_onnxsmith_asked() {
    local -a names
    names=(${(f)"$(onnxsmith ${=1} 2>/dev/null)"})
    compadd -a names
}

_onnxsmith_array() {
    compset -P '*='
    _files -g '*.npy *.npz'
}

_onnxsmith() {
    local curcontext="$curcontext" state line
    local -a commands
    typeset -A opt_args
    _arguments -C '(- *)'{-h,--help}'[show this help message and exit]' \\
        '(- *)--version[show the version and exit]' '1: :->command' '*:: :->words'
    case $state in
        command)
            commands=(
"""
_MIDDLE = """\
            )
            _describe command commands
            ;;
        words)
            case $words[1] in
"""
_TAIL = """\
            esac
            ;;
    esac
}

if (( $+functions[compdef] )); then
    compdef _onnxsmith onnxsmith
fi
"""


def script() -> str:
    """The script."""
    lines = [_HEAD]
    lines += [
        f"                {_quoted(f'{name}:{command.summary}')}\n" for name, command in COMMANDS.items()
    ]
    lines += [_MIDDLE]
    for name, command in COMMANDS.items():
        specs = " \\\n                        ".join(_specs(command))
        lines += [
            f"                {name})\n                    _arguments {specs}\n                    ;;\n"
        ]
    return "".join([*lines, _TAIL])


def _specs(command: Command) -> list[str]:
    specs = [_option(each) for each in options(command)]
    for number, each in enumerate(positionals(command), 1):
        place = "*" if each.values == "many" else str(number)
        specs.append(_quoted(f"{place}:{_plain(each.metavar)}:{_action(each)}"))
    return specs


def _option(offer: Offer) -> str:
    value = ""
    if offer.values != "none":
        many = "*-*:" if offer.values == "many" else ""
        value = f":{many}{_plain(offer.metavar)}:{_action(offer)}"
    star = "*" if offer.is_repeated else ""
    described = f"[{_plain(offer.help)}]{value}"
    if len(offer.names) == 1:
        return _quoted(f"{star}{offer.names[0]}{described}")
    return f"'({' '.join(offer.names)})'{{{','.join(offer.names)}}}{_quoted(described)}"


def _action(offer: Offer) -> str:
    if offer.choices:
        return f"({' '.join(offer.choices)})"
    kind = offer.completes
    if kind is None:
        return " "
    if kind == "array":
        return "_onnxsmith_array"
    if kind == "folder":
        return "_files -/"
    if kind in ASKED_FOR:
        return f'_onnxsmith_asked "{question(kind)}"'
    return f'_files -g "{" ".join(f"*{each}" for each in ENDINGS[kind])}"'


def _plain(text: str) -> str:
    """A text without what `_arguments` reads as its own."""
    return text.replace("\\", "\\\\").replace(":", "\\:").replace("[", "\\[").replace("]", "\\]")


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"
