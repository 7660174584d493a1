"""The completion script for bash."""

from __future__ import annotations

from collections.abc import Iterator

from onnxsmith.cli.declared import COMMANDS
from onnxsmith.cli.shells.offers import ASKED_FOR, ENDINGS, Offer, options, positionals, question

_HEAD = """\
# Completion of onnxsmith for bash. In .bashrc: eval "$(onnxsmith completion bash)"
_onnxsmith_files() {
    local ending
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen -d -- "$word"; for ending in "$@"; do compgen -f -X "!*$ending" -- "$word"; done)
}

_onnxsmith_words() {
    mapfile -t COMPREPLY < <(compgen -W "$*" -- "$word")
}

_onnxsmith() {
    local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} command= last= kind= index
    COMPREPLY=()
    for ((index = 1; index < COMP_CWORD; index++)); do
        case ${COMP_WORDS[index]} in
            -) ;;
            -*) last=${COMP_WORDS[index]} ;;
            *) command=${command:-${COMP_WORDS[index]}} ;;
        esac
    done
    if [[ -z $command ]]; then
        _onnxsmith_words @COMMANDS@ --help --version
        return
    fi
    # Words end at "=", too: --input x=x.npy is four of them.
    if [[ $word == "=" ]]; then
        word=
        previous="="
    fi
    if [[ $previous == "=" ]]; then
        previous=$last
    fi
    case $command:$previous in
"""
_MIDDLE = """\
    esac
    if [[ -z $kind ]]; then
        case $command:$last in
"""
_OPTIONS = """\
        esac
    fi
    if [[ $word == -* ]]; then
        case $command in
"""
_POSITIONALS = """\
        esac
        return
    fi
    if [[ -z $kind ]]; then
        case $command in
"""
_TAIL = """\
        esac
    fi
    case $kind in
@KINDS@
    esac
}

complete -F _onnxsmith onnxsmith
"""


def script() -> str:
    """The script."""
    lines = [_HEAD.replace("@COMMANDS@", " ".join(COMMANDS))]
    lines += [f"        {line}\n" for line in _values("one")]
    lines += [_MIDDLE]
    lines += [f"            {line}\n" for line in _values("many")]
    lines += [_OPTIONS]
    for name, command in COMMANDS.items():
        words = " ".join(word for each in options(command) for word in each.names)
        lines += [f"            {name}) _onnxsmith_words {words} ;;\n"]
    lines += [_POSITIONALS]
    for name, command in COMMANDS.items():
        # The last positional argument is the one that may be repeated, and the others are like it.
        kinds = [kind for each in positionals(command) if (kind := _kind(each))]
        lines += [f"            {name}) kind={kinds[-1]!r} ;;\n"] if kinds else []
    lines += [_TAIL.replace("@KINDS@", "\n".join(_actions()))]
    return "".join(lines)


def _values(values: str) -> Iterator[str]:
    """The cases of options that take one value, or several."""
    for name, command in COMMANDS.items():
        for each in options(command):
            if each.values == values:
                pattern = "|".join(f"{name}:{word}" for word in each.names)
                yield f"{pattern}) kind={_kind(each) or 'anything'!r} ;;"


def _kind(offer: Offer) -> str | None:
    return f"words:{' '.join(offer.choices)}" if offer.choices else offer.completes


def _actions() -> Iterator[str]:
    """The cases of the kinds of values."""
    yield "        words:*) _onnxsmith_words ${kind#words:} ;;"
    yield '        folder) compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -d -- "$word") ;;'
    for kind, endings in ENDINGS.items():
        yield f"        {kind}) _onnxsmith_files {' '.join(endings)} ;;"
    for kind in ASKED_FOR:
        yield f'        {kind}) _onnxsmith_words "$("${{COMP_WORDS[0]}}" {question(kind)} 2>/dev/null)" ;;'
