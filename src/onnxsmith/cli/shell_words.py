"""Help that speaks Python, in the words of a shell: an error is the same everywhere, what to do about it is not."""

from __future__ import annotations

import re

#: What Python code would write, and what stands for it on a command line; the first that fits a place counts.
_WORDS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"os\.makedirs\(('.*'|\".*\")\)"), r"mkdir -p \1"),
    (
        re.compile(r"pass overwrite=True to replace it \(--force on the command line\)"),
        "say --force to replace it",
    ),
    (re.compile(r"overwrite=True"), "--force"),
    (re.compile(r"save it with external_data=True"), "say --external-data"),
    (re.compile(r"\binputs=\{'(.+?)': (FLOAT\[\.\.\.\])\}"), r"--inputs '\1=\2'"),
    (re.compile(r"\bmap=\{'(.+?)': '(.+?)'(?:, …)?\}"), r"--map \1=\2"),
    (re.compile(r"weights=([\"'])(\w+)\1"), r"--weights \2"),
    (re.compile(r"\bwith (timeout|memory)\b"), r"with --\1"),
    (re.compile(r"\bleave memory out; timeout works"), "leave --memory out; --timeout works"),
)


def in_shell_words(help_text: str) -> str:
    """Help for somebody at a command line.

    >>> in_shell_words("make it first: os.makedirs('out')")
    "make it first: mkdir -p 'out'"
    """
    for pattern, words in _WORDS:
        help_text = pattern.sub(words, help_text)
    return help_text
