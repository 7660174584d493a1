"""How a mistake is shown: source excerpts with carets, and tracebacks without our own frames.

Renders what it is given; it decides nothing about what is wrong.
"""

from __future__ import annotations

import builtins
import difflib
import os
import sys
import types
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from onnxsmith.source import PACKAGE_DIRECTORY, Span, is_library, line_of

#: Set to "full" to see this package's own frames in tracebacks.
TRACEBACK_VARIABLE = "ONNXSMITH_TRACEBACK"

_MAXIMUM_LINE_WIDTH = 160

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Label:
    """A span with a few words about it; the first label of an error is where the mistake stands."""

    span: Span
    text: str = ""


#: Said of a place that only a model's file names.
_UNSEEN = "the line is shown within onnxsmith.source_root(folder), where the source lies below that folder"


def render(summary: str, labels: Sequence[Label], help_text: str | None) -> str:
    """The text of an error: summary, place, source lines with the ranges underlined, help."""
    if not labels:
        return summary if help_text is None else f"{summary}\n  = help: {_indent_rest(help_text, 10)}"
    width = len(str(max(label.span.line for label in labels)))
    gutter = " " * width
    primary = labels[0].span
    out = [summary, f"{gutter} --> {_place(primary)}"]
    previous_file = primary.file
    for (file, line), group in _group_by_line(labels):
        if file != previous_file:
            out.append(f"{gutter} ::: {display_path(file)}:{line}")
            previous_file = file
        out.extend(_excerpt(line, group, labels[0], width))
    if help_text is not None:
        out.append(f"{gutter} = help: {_indent_rest(help_text, width + 9)}")
    if primary.claimed_by:
        out.append(f"{gutter} = note: {_UNSEEN}")
    return "\n".join(out)


def _place(span: Span) -> str:
    if span.claimed_by:
        return f"{span}, as {span.claimed_by} says"
    return f"{display_path(span.file)}:{span.line}:{span.column + 1} in {span.function}"


def printable(text: str) -> str:
    r"""Text whose control characters cannot move a cursor: names in a stranger's model are data.

    >>> print(printable("a\x1b[2Jb"))
    a\x1b[2Jb
    """
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() or each in "\n\t" else ascii(each)[1:-1] for each in text)


def clipped(text: str, most: int) -> str:
    """Text of at most about so many characters: of one that is longer, its ends.

    >>> clipped("a" * 5000, 20)
    'aaaaaaaaaa… (4980 more characters) …aaaaaaaaaa'
    """
    if len(text) <= most:
        return text
    half = most // 2
    return f"{text[:half]}… ({len(text) - 2 * half} more characters) …{text[-half:]}"


def root_cause(error: BaseException) -> BaseException:
    """The first cause of an exception."""
    while error.__cause__ is not None:
        error = error.__cause__
    return error


def described_cause(error: BaseException) -> str:
    """The same in one line for people."""
    cause = root_cause(error)
    text = " ".join(str(cause).split())
    if isinstance(cause, KeyError):
        return f"there is no {text}"
    return clipped(text, 500) or type(cause).__name__


def _indent_rest(text: str, by: int) -> str:
    return text.replace("\n", "\n" + " " * by)


def _group_by_line(labels: Iterable[Label]) -> Iterable[tuple[tuple[str, int], list[Label]]]:
    groups: dict[tuple[str, int], list[Label]] = {}
    for label in labels:
        groups.setdefault((label.span.file, label.span.line), []).append(label)
    return groups.items()


def _excerpt(line: int, labels: Sequence[Label], primary: Label, width: int) -> list[str]:
    """One source line and the marks below it; nothing when the file cannot be read."""
    text = line_of(labels[0].span, line).rstrip("\n")
    if not text:
        return []
    # Marks share a line as long as it is clear whose the words are.
    groups = [[each] for each in labels] if sum(bool(each.text) for each in labels) > 1 else [list(labels)]
    rows = [(_marks(text, group, primary), group[0].text or group[-1].text) for group in groups]
    start, stop = _window(text, rows[0][0])
    head, tail = ("… " if start else ""), (" …" if stop < len(text) else "")
    out = [f"{line:>{width}} | {head}{text[start:stop]}{tail}"]
    for marks, words in rows:
        shown = (" " * len(head) + marks[start:stop]).rstrip()
        if shown or words:
            out.append(f"{' ' * width} | {shown} {words}".rstrip())
    return out


def _marks(text: str, labels: Sequence[Label], primary: Label) -> str:
    """The line below a source line: carets under the primary span, dashes under others."""
    marks = [" "] * (len(text) + 1)
    # Secondary marks first, so that the primary caret wins where two overlap.
    for label in sorted(labels, key=lambda each: each is primary):
        start = _character_column(text, label.span.column)
        on_one_line = label.span.end_line == label.span.line
        end = _character_column(text, label.span.end_column) if on_one_line else len(text)
        if end <= start and label.span.column == 0 and label.span.end_column == 0:
            continue  # the interpreter kept no columns; the line itself is all we know
        for column in range(start, min(max(end, start + 1), len(marks))):
            marks[column] = "^" if label is primary else "-"
    # A tab in the source is kept in the mark line, so that carets stay under what they mark.
    return "".join("\t" if c == "\t" and m == " " else m for c, m in zip(text + " ", marks, strict=True))


def _character_column(text: str, byte_column: int) -> int:
    """The interpreter counts columns in UTF-8 bytes; people count characters."""
    if text.isascii():
        return min(byte_column, len(text))
    return len(text.encode()[:byte_column].decode(errors="ignore"))


def _window(text: str, marks: str) -> tuple[int, int]:
    """The part of a line that is shown: all of it, or of a very long one the part around the marks."""
    if len(text) <= _MAXIMUM_LINE_WIDTH:
        return 0, max(len(text), len(marks))
    first = len(marks) - len(marks.lstrip())
    start = max(0, min(first - 40, len(text) - _MAXIMUM_LINE_WIDTH))
    return start, start + _MAXIMUM_LINE_WIDTH


def display_path(path: str) -> str:
    """A path as its reader would type it: relative when it lies below the working directory; a cell by its number."""
    cell = _notebook_cell(path)
    if cell is not None:
        return cell
    if not os.path.isabs(path):
        return path
    try:
        relative = os.path.relpath(path)
    except (ValueError, OSError):  # another drive, or the working directory is gone
        return path
    return path if relative.startswith("..") else relative


def _notebook_cell(path: str) -> str | None:
    """`Cell In[3]` for the made-up file that IPython compiles a cell under, else None."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None and hasattr(ipython, "get_ipython") else None
    name_of = getattr(getattr(shell, "compile", None), "format_code_name", None)
    parts = name_of(path) if name_of is not None else None
    return None if parts is None else " ".join(parts)


def is_notebook() -> bool:
    """True if this runs in a notebook, and not at a prompt in a terminal."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None and hasattr(ipython, "get_ipython") else None
    return shell is not None and hasattr(shell, "kernel")


#: No longer name is taken for one that is misspelt.
_LONGEST_MISSPELT = 200

#: Marks an exception of the user's code that no frame of that code raises.
_RAISED_FOR_USER = "_onnxsmith_raised_for_user"


def did_you_mean(name: str, candidates: Iterable[str]) -> str | None:
    """A suggestion for a misspelt name, or None."""
    pool = list(candidates)
    by_lower = {candidate.lower(): candidate for candidate in pool}
    if name.lower() in by_lower:
        return f"did you mean '{by_lower[name.lower()]}'?"
    if len(name) > _LONGEST_MISSPELT:
        return None  # comparing takes the product of the lengths, and no one misspells a text
    near = difflib.get_close_matches(name, pool, n=3, cutoff=0.7)
    if not near:
        near = [
            by_lower[match] for match in difflib.get_close_matches(name.lower(), by_lower, n=3, cutoff=0.7)
        ]
    if not near:
        return None
    return "did you mean " + " or ".join(f"'{each}'" for each in near) + "?"


def shown_as(name: str) -> Callable[[type[T]], type[T]]:
    """Give a class of ours the name that users know its objects by.

    It is what errors say, ours and Python's own: "unsupported operand type(s) for +: 'Tensor' and 'dict'".
    """

    def rename(kind: type[T]) -> type[T]:
        kind.__name__ = name  # pickle looks for `__qualname__`, which stays
        return kind

    return rename


def described_type(kind: type) -> str:
    """A Python type with an article: `an int`, `a dict`."""
    return f"{'an' if kind.__name__[:1].lower() in 'aeiou' else 'a'} {kind.__name__}"


def undefined_name_help(name: str, known: Iterable[str]) -> str | None:
    """Help for a name that is defined nowhere: the import that is missing, or a name that is spelt nearly so."""
    package = sys.modules.get("onnxsmith")
    if name in getattr(package, "__all__", ()):
        return f"add the import: from onnxsmith import {name}"
    if name in _USUAL_IMPORTS:
        return f"add the import: {_USUAL_IMPORTS[name]}"
    near = did_you_mean(name, set(known) - set(dir(builtins)))
    if near is None and name in sys.stdlib_module_names:
        return f"add the import: import {name}"
    # Nobody who misspells a name of their own means a builtin that looks a little like it.
    meant = difflib.get_close_matches(name, dir(builtins), n=1, cutoff=0.8)
    return near or (f"did you mean '{meant[0]}'?" if meant else None)


_USUAL_IMPORTS = {
    "np": "import numpy as np",
    "numpy": "import numpy",
    "op": "from onnxsmith import opset21 as op",
}


def wants_full_traceback() -> bool:
    """True if the user asked to see our frames."""
    return os.environ.get(TRACEBACK_VARIABLE) == "full"


def hide_own_frames(error: BaseException) -> None:
    """Remove this package's frames from the traceback that `error` carries so far, and what we caught on the way.

    To be called in an `except` block that ends in a bare `raise`: a bare raise adds no entry for the frame it
    stands in, so the traceback then ends at the user's own line.
    """
    if wants_full_traceback():
        return
    error.__traceback__ = _without_own_frames(error.__traceback__)
    context = error.__context__
    if context is not None and _was_caught_by_us(context):
        # What a library caught on its way to that, as `inspect` does, is as little the user's.
        while context is not None and _was_caught_by_us(context, or_by_library=True):
            context = context.__context__
    error.__cause__ = None
    error.__context__ = context
    error.__suppress_context__ = context is None


def raised_at(error: BaseException, span: Span | None) -> BaseException:
    """An exception that a run of a model raises for the user's code, with the line of that code as a note."""
    vars(error)[_RAISED_FOR_USER] = True
    if span is not None:
        _, _, place = render("", [Label(span, "")], None).partition("\n")
        error.__notes__ = [*getattr(error, "__notes__", ()), place]  # a copy has the list of its original
    return error


def hide_frames_between(error: BaseException) -> None:
    """The same for an exception of the user's own code that came through us; an error in our code keeps its frames."""
    if wants_full_traceback():
        return
    if is_from_user_code(error):
        error.__traceback__ = _without_own_frames(error.__traceback__)


def is_from_user_code(error: BaseException) -> bool:
    """True if an exception was raised by the user's own code that we ran, or by a library that this called."""
    if _RAISED_FOR_USER in vars(error):
        return True
    # Text that is no Python has no frame of its own.
    is_users = isinstance(error, SyntaxError) and not is_library(error.filename or PACKAGE_DIRECTORY)
    is_text = is_users
    traceback = error.__traceback__
    while traceback is not None:
        file = traceback.tb_frame.f_code.co_filename
        if file.startswith(PACKAGE_DIRECTORY):
            is_users = is_text
        elif not is_library(file):
            is_users = True
        traceback = traceback.tb_next
    return is_users


def _without_own_frames(traceback: types.TracebackType | None) -> types.TracebackType | None:
    kept: list[types.TracebackType] = []
    while traceback is not None:
        if not traceback.tb_frame.f_code.co_filename.startswith(PACKAGE_DIRECTORY):
            kept.append(traceback)
        traceback = traceback.tb_next
    result: types.TracebackType | None = None
    for entry in reversed(kept):
        result = types.TracebackType(result, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return result


def _was_caught_by_us(error: BaseException, *, or_by_library: bool = False) -> bool:
    """True if an exception ended in our code: a traceback begins at the frame that caught it."""
    traceback = error.__traceback__
    if traceback is None:
        return True
    file = traceback.tb_frame.f_code.co_filename
    return file.startswith(PACKAGE_DIRECTORY) or (or_by_library and is_library(file))
