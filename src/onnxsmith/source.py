"""Where something stands in the user's source: spans in real file coordinates.

Knows files, lines, columns and Python frames; knows nothing of tensors, operators or how a message is rendered.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import itertools
import linecache
import opcode
import os
import sys
from collections.abc import Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from types import CodeType, FrameType, TracebackType
from typing import TypeAlias

#: Frames whose file starts with this are ours and never shown to a user.
PACKAGE_DIRECTORY = os.path.dirname(os.path.abspath(__file__)) + os.sep

#: What `co_positions` gives for an instruction: line, last line, column, last column.
_Position: TypeAlias = tuple[int | None, int | None, int | None, int | None]


_UNKNOWN: _Position = (None, None, None, None)


class _PositionsCache:
    """The positions of the instructions of code objects that were asked for, up to about 20 MB of them."""

    _MOST_INSTRUCTIONS = 200_000

    def __init__(self) -> None:
        # id(code) -> (code, positions). The code object is kept alive by the entry, so its id cannot be reused while
        # it is here. Keyed by id because hashing a code object hashes its constants and bytecode.
        self._entries: dict[int, tuple[CodeType, list[_Position]]] = {}
        self._instructions = 0

    def of(self, code: CodeType) -> list[_Position]:
        """The position of each instruction."""
        entry = self._entries.get(id(code))
        if entry is None:
            entry = (code, list(code.co_positions()))
            self._instructions += len(entry[1])
            if self._instructions > self._MOST_INSTRUCTIONS:
                self._entries.clear()
                self._instructions = len(entry[1])
            self._entries[id(code)] = entry
        return entry[1]


_positions_cache = _PositionsCache()


@dataclass(frozen=True, slots=True)
class Span:
    """A range of source text: 1-based lines, 0-based columns in UTF-8 bytes as the interpreter counts them.

    The end is exclusive.

    >>> str(Span("model.py", 3, 4, 3, 9, "encode"))
    'model.py:3:5'
    """

    file: str
    line: int
    column: int
    end_line: int
    end_column: int
    function: str = "<module>"
    #: Who says so, where it is not code of this process but a file: `m.onnx`. Such a place is a name, and nothing
    #: of it is ever read.
    claimed_by: str = ""

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column + 1}"

    @property
    def stored(self) -> str:
        """The span as text that `claims.claimed_span` reads, for a model's metadata: `model.py:3:5-3:10`."""
        start, end = f"{self.line}:{self.column + 1}", f"{self.end_line}:{self.end_column + 1}"
        return f"{_file_to_store(self.file)}:{start}-{end}"


@functools.lru_cache(maxsize=1024)
def _file_to_store(file: str) -> str:
    """A file as a model names it: from the working directory on, so as not to tell whose machine made the model."""
    try:
        relative = os.path.relpath(file) if os.path.isabs(file) else file
    except (ValueError, OSError):  # another drive, or the working directory is gone
        return file
    return file if relative.startswith("..") else relative


def line_of(span: Span, number: int) -> str:
    """A line of the file that a span stands in; empty where it cannot be read, or where nobody but a file names it."""
    return "" if span.claimed_by else linecache.getline(span.file, number)


@functools.cache
def _library_folders() -> tuple[str, ...]:
    import sysconfig  # heavy: reads how Python was built, which only an error asks for

    paths = {sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")}
    return tuple(os.path.join(path, "") for path in sorted(paths))


@functools.lru_cache(maxsize=4096)
def is_library(file: str) -> bool:
    """True if a file belongs to this package, Python itself or something installed, and not to the user's program."""
    is_installed = (
        file.startswith((PACKAGE_DIRECTORY, *_library_folders())) or f"{os.sep}site-packages{os.sep}" in file
    )
    return is_installed or file.startswith("<frozen ")


def is_from_user(traceback: TracebackType | None) -> bool:
    """True if the line that raised is of the user's own program, and of no library."""
    while traceback is not None and traceback.tb_next is not None:
        traceback = traceback.tb_next
    return traceback is not None and not is_library(traceback.tb_frame.f_code.co_filename)


@functools.lru_cache(maxsize=4096)
def _is_python_itself(file: str) -> bool:
    """True if a file belongs to Python's standard library or to numpy: an error of the user's is never there."""
    installed = f"{os.sep}site-packages{os.sep}"
    if installed in file:
        return f"{installed}numpy{os.sep}" in file
    return file.startswith(("<frozen ", *_library_folders()))


def can_be_shown(code: CodeType) -> bool:
    """True if code can be pointed at: it is no part of Python itself, and its source can be read."""
    file = code.co_filename
    return not _is_python_itself(file) and has_source(file)


def has_source(file: str) -> bool:
    """True if the lines of a file can be read; `<string>` is the name of any text, such as what a dataclass makes."""
    return not file.startswith("<") or (file != "<string>" and bool(linecache.getlines(file)))


def is_ours(frame: FrameType) -> bool:
    """True if a frame runs code of this package."""
    return frame.f_code.co_filename.startswith(PACKAGE_DIRECTORY)


def caller_frame() -> FrameType | None:
    """The innermost frame that is not of this package."""
    frame: FrameType | None = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]  # the documented way to read the stack cheaply
    while frame is not None and frame.f_code.co_filename.startswith(PACKAGE_DIRECTORY):
        frame = frame.f_back
    return frame


#: Set while we act for a statement that has no code of its own to point at, such as `x += y` in a staged function.
STATEMENT: ContextVar[Span | None] = ContextVar("onnxsmith_statement", default=None)


def caller_span() -> Span | None:
    """The expression of the user's that is being evaluated now, or None when no user code is on the stack."""
    statement = STATEMENT.get()
    if statement is not None:
        return statement
    frame = caller_frame()
    return None if frame is None else position_span(frame.f_code, frame.f_lasti, frame.f_lineno)


#: Where the user's code is at a moment: a span, or the code and the instruction that one is made of when it is read.
Place: TypeAlias = Span | tuple[CodeType, int]
#: In the place of an instruction: where the function is defined.
DEFINITION = -1


def caller_place() -> Place | None:
    """The place that `caller_span` makes a span of. For frequent calls: a span costs more than a node."""
    statement = STATEMENT.get()
    if statement is not None:
        return statement
    frame: FrameType | None = sys._getframe(2)  # pyright: ignore[reportPrivateUsage]  # as above; the caller is ours
    while frame is not None and frame.f_code.co_filename.startswith(PACKAGE_DIRECTORY):
        frame = frame.f_back
    return None if frame is None else (frame.f_code, frame.f_lasti)


def span_at(place: Place | None) -> Span | None:
    """The span of a place."""
    if place is None or isinstance(place, Span):
        return place
    code, instruction = place
    if instruction == DEFINITION:
        return code_span(code)
    return position_span(code, instruction, code.co_firstlineno)


class PlaceTexts:
    """The texts of `Span.stored` for the places of a whole model; each text is made once."""

    __slots__ = ("_codes",)

    def __init__(self) -> None:
        # By id, since hashing a code object hashes its constants; the entry keeps it alive.
        self._codes: dict[int, _CodeTexts] = {}

    def of(self, place: Place) -> str:
        """The text of a place."""
        if isinstance(place, Span):
            return place.stored
        code, instruction = place
        texts = self._codes.get(id(code))
        if texts is None:
            texts = self._codes[id(code)] = _CodeTexts(code)
        return texts.at(instruction)


class _CodeTexts:
    """The texts of places in one code object.

    Python tells the positions of instructions one after the other, and a graph has most of its nodes in that order. So
    what is passed is not kept, until somebody goes back: a list of all positions is some thirty tuples for a statement,
    which took a quarter of the time of writing a model.
    """

    __slots__ = ("_code", "_every", "_file", "_passed", "_rest", "_texts")

    def __init__(self, code: CodeType) -> None:
        self._code = code
        self._file = _file_to_store(code.co_filename)
        self._texts: dict[int, str] = {}
        self._rest: Iterator[_Position] = iter(code.co_positions())
        self._passed = 0
        self._every: list[_Position] | None = None

    def at(self, instruction: int) -> str:
        """The text for an instruction, by its offset."""
        found = self._texts.get(instruction)
        if found is None:
            index = instruction // 2
            if self._every is None and index >= self._passed:
                position = next(itertools.islice(self._rest, index - self._passed, None), _UNKNOWN)
                self._passed = index + 1
            else:
                if self._every is None:
                    self._every = list(self._code.co_positions())
                position = self._every[index] if 0 <= index < len(self._every) else _UNKNOWN
            line, end_line, column, end_column = position
            if line is None or end_line is None or column is None or end_column is None:
                found = position_span(self._code, instruction, self._code.co_firstlineno).stored
            else:
                found = f"{self._file}:{line}:{column + 1}-{end_line}:{end_column + 1}"
            self._texts[instruction] = found
        return found


#: Python's own file that runs context managers: ours stand between one frame of ours and another.
_CONTEXTS = contextlib.contextmanager.__code__.co_filename


def traceback_span(traceback: TracebackType | None) -> Span | None:
    """The innermost expression of the user's that an exception passed through on its way up."""
    found: TracebackType | None = None
    while traceback is not None:
        if not is_ours(traceback.tb_frame) and traceback.tb_frame.f_code.co_filename != _CONTEXTS:
            found = traceback
        traceback = traceback.tb_next
    return None if found is None else position_span(found.tb_frame.f_code, found.tb_lasti, found.tb_lineno)


def users_span(span: Span, traceback: TracebackType | None) -> Span:
    """The user's own expression in the place of a span in Python itself that an exception passed through."""
    if not _is_python_itself(span.file) and has_source(span.file):
        return span
    found: TracebackType | None = None
    while traceback is not None:
        if not is_ours(traceback.tb_frame) and can_be_shown(traceback.tb_frame.f_code):
            found = traceback
        traceback = traceback.tb_next
    return span if found is None else position_span(found.tb_frame.f_code, found.tb_lasti, found.tb_lineno)


def position_span(code: CodeType, last_instruction: int, line_number: int) -> Span:
    """The expression that an instruction of a code object belongs to."""
    positions = _positions_cache.of(code)
    index = last_instruction // 2
    line, end_line, column, end_column = positions[index] if 0 <= index < len(positions) else _UNKNOWN
    line = line_number if line is None else line
    if column is None or end_column is None:  # python -X no_debug_ranges
        return Span(code.co_filename, line, 0, line, 0, _name_of(code))
    return Span(code.co_filename, line, column, end_line or line, end_column, _name_of(code))


def code_span(code: CodeType) -> Span:
    """Where a function is defined: `def name`, or `lambda`; its first line when the source cannot be read."""
    word = "lambda" if code.co_name == "<lambda>" else f"def {code.co_name}"
    for line in range(code.co_firstlineno, code.co_firstlineno + _MOST_DECORATOR_LINES):
        text = linecache.getline(code.co_filename, line)
        if not text:  # no such file, or no such line: an empty one has its end
            break
        column = text.find(word)
        if column >= 0:
            start = len(text[:column].encode())
            return Span(code.co_filename, line, start, line, start + len(word.encode()), _name_of(code))
    return Span(code.co_filename, code.co_firstlineno, 0, code.co_firstlineno, 0, _name_of(code))


#: A function's code begins at its first decorator.
_MOST_DECORATOR_LINES = 50


def _name_of(code: CodeType) -> str:
    """The function that a reader looks for: of a lambda or comprehension, the one it stands in."""
    if not code.co_name.startswith("<"):
        return code.co_name
    named = [part for part in code.co_qualname.split(".") if not part.startswith("<")]
    return named[-1] if named else code.co_name


_UNPACK = opcode.opmap["UNPACK_SEQUENCE"]
_CACHE = opcode.opmap.get("CACHE", -1)

_RETURN = opcode.opmap["RETURN_VALUE"]

#: The code of an expression that is being staged, and how many variables its value is assigned to.
UNPACKED: ContextVar[tuple[CodeType | None, int] | None] = ContextVar("onnxsmith_unpacked", default=None)

#: Stands for the call of an operator that staging makes for a statement: its result goes to one variable.
NOT_UNPACKED: tuple[CodeType | None, int] = (None, 1)


def unpack_count() -> int | None:
    """How many variables the user's code assigns the result of the current call to: 2 in `a, b = op.MaxPool(x)`.

    Read from the instruction after the call, so that it is the same for code that runs and code that is traced. A
    staged expression returns its value to the stager, which knows what is done with it.
    """
    staged, frame = UNPACKED.get(), caller_frame()
    if frame is None or staged is NOT_UNPACKED:
        return None
    code = frame.f_code.co_code
    position = frame.f_lasti + 2
    while position < len(code) and code[position] == _CACHE:
        position += 2
    if position >= len(code):
        return None
    if code[position] == _UNPACK:
        return code[position + 1]
    if staged is not None and staged[0] is frame.f_code and code[position] == _RETURN:
        return staged[1]
    return None


#: The instructions that go through a value one by one, as `for` does.
_LOOPS = frozenset(
    opcode.opmap[name] for name in ("GET_ITER", "FOR_ITER", "GET_YIELD_FROM_ITER") if name in opcode.opmap
)


def taken_apart() -> tuple[bool, int | None]:
    """The unpacking of a value by the user's code that goes on now, other than by a `for`, and into how many variables.

    Asked by a value that is iterated over: `a, b = x` and `f(*x)` are, `for row in x` is not.
    """
    frame = caller_frame()
    if frame is None or frame.f_lasti < 0:
        return False, None
    code = frame.f_code.co_code
    if code[frame.f_lasti] == _UNPACK:
        return True, code[frame.f_lasti + 1]
    return code[frame.f_lasti] not in _LOOPS, None


def parse(text: str) -> ast.Module:
    """The syntax tree of a text; the one way that texts are parsed here. Raises what `ast.parse` raises."""
    try:
        return ast.parse(text)
    except SystemError:
        # Python 3.11.7 and older count the depth of the tree for all parses at once (gh-106905). A garbage collection
        # in the middle of one may run code that parses, too; then the count is wrong at its end ("AST constructor
        # recursion depth mismatch"). The collection is over now, so that the same text can be parsed.
        return ast.parse(text)


def parse_expression(text: str) -> ast.expr:
    """The syntax tree of a text that is an expression. Raises what `ast.parse` raises."""
    try:
        return ast.parse(text, mode="eval").body
    except SystemError:  # as above
        return ast.parse(text, mode="eval").body


def text_of(span: Span) -> str | None:
    """The source text of a span, or None when the file cannot be read, or must not be."""
    lines = [line_of(span, number) for number in range(span.line, span.end_line + 1)]
    if not all(lines):
        return None
    lines[-1] = lines[-1].encode()[: span.end_column].decode(errors="ignore")
    lines[0] = lines[0].encode()[span.column :].decode(errors="ignore")
    return "".join(lines)


def iterated_span() -> Span | None:
    """The span that the user's code iterates over now; before Python 3.13 a `for` has only its whole span."""
    span = caller_span()
    text = None if span is None else text_of(span)
    if span is None or text is None or not text.startswith("for "):
        return span
    try:
        statement = parse(text).body[0]
    except (SyntaxError, ValueError):
        return span
    return _within(span, statement.iter) if isinstance(statement, ast.For) else span


def _within(span: Span, node: ast.expr | ast.keyword, shift: int = 0) -> Span:
    """The span of a node of the tree of a span's text, whose first line began `shift` columns early."""

    def column(line: int, offset: int) -> int:
        return span.column + offset - shift if line == 1 else offset

    last = node.end_lineno or node.lineno
    return Span(
        span.file,
        span.line + node.lineno - 1,
        column(node.lineno, node.col_offset),
        span.line + last - 1,
        column(last, node.end_col_offset or 0),
        span.function,
    )


def argument_span(call: Span, argument: int | str) -> Span | None:
    """The span of one argument, by position or keyword, of the call (or operands of the operator) at `call`."""
    text = text_of(call)
    if not text:
        return None
    try:
        expression = parse_expression(f"({text})")
    except (SyntaxError, ValueError):
        return None
    node = _argument(expression, argument)
    return None if node is None else _within(call, node, shift=1)  # the bracket put before it


def _argument(expression: ast.expr, argument: int | str) -> ast.expr | ast.keyword | None:
    match expression:
        case ast.Call(args=args, keywords=keywords):
            if isinstance(argument, str):
                return next((each for each in keywords if each.arg == argument), None)
            has_star = any(isinstance(each, ast.Starred) for each in args)
            return args[argument] if argument < len(args) and not has_star else None
        case ast.BinOp(left=left, right=right):
            return {0: left, 1: right}.get(argument) if isinstance(argument, int) else None
        case ast.Compare(left=left, comparators=[right]):
            return {0: left, 1: right}.get(argument) if isinstance(argument, int) else None
        case _:
            return None
