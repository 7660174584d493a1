"""The guards of a program of torch.export: where each was made, and for which sizes it does not hold.

`conditions` decides what becomes of one.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import sys
import traceback
from collections.abc import Callable, Generator, Iterator, Mapping
from types import FrameType
from typing import Any

import sympy  # pyright: ignore[reportMissingTypeStubs]
import torch
from torch.fx.experimental import symbolic_shapes

from onnxsmith.source import PACKAGE_DIRECTORY, Span
from onnxsmith.torch.origins import is_torch_file, span_of
from onnxsmith.torch.symbols import (
    Expression,
    Place,
    Range,
    Symbol,
    environment,
    in_order,
    integer,
    truth_of,
)

#: Sizes at which a guard is tried; and those around each number that it mentions.
_SAMPLE = (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 15, 16, 17, 31, 32, 33, 64, 100, 127, 128, 1000, 1024, 4096)
_MOST_TRIES = 5000
_SYMBOLIC_SHAPES: Any = symbolic_shapes
#: What stands before the path of a file in an installed package.
SITE = f"site-packages{os.sep}"
#: Functions of torch.nn.functional that raise an error for sizes, and do nothing else.
_VERIFYING = ("_verify_batch_size", "_verify_spatial_size")
#: The file whose frames stand between the module and the one who exports it.
_CAPTURING = os.path.join(PACKAGE_DIRECTORY, "torch", "capturing.py")


# -- where one was made ------------------------------------------------------------------------------------


@contextlib.contextmanager
def located_guards() -> Generator[None]:
    """While a module is traced, have torch note the line of the module that each of its guards comes from.

    torch notes its own line, and that of the module only if it runs the module's code itself (`strict`). It then cuts
    the path where it leaves that of torch, and one letter more where that is at the root.
    """
    environments, name = symbolic_shapes.ShapeEnv, "_get_sloc"
    shown = _SYMBOLIC_SHAPES.format_frame
    inner: Callable[..., Any] = getattr(environments, name)

    def located(self: symbolic_shapes.ShapeEnv, framework_loc: str | None = None) -> Any:
        frame = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]
        found = inner(self, framework_loc or _asking(frame))
        return found if found.maybe_user_loc else type(found)(found.framework_loc, _line_of_module(frame))

    setattr(environments, name, located)
    _SYMBOLIC_SHAPES.format_frame = _line_in_full
    try:
        yield
    finally:
        setattr(environments, name, inner)
        _SYMBOLIC_SHAPES.format_frame = shown


def _line_in_full(frame: traceback.FrameSummary, *, base: str | None = None, line: bool = False) -> str:
    """As torch writes a line, with the whole path of its file."""
    code = f"{frame.line}  # " if line else ""
    return f"{code}{frame.filename}:{frame.lineno} in {frame.name}"


def _asking(frame: FrameType | None) -> traceback.FrameSummary | None:
    """The innermost frame of code that asked about a size, as torch finds it."""
    passed_over = symbolic_shapes.uninteresting_files()
    while frame is not None:
        if frame.f_code.co_filename not in passed_over:
            return traceback.FrameSummary(frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name)
        frame = frame.f_back
    return None


def _line_of_module(frame: FrameType | None) -> str | None:
    """The innermost line that is neither torch's nor ours, as torch writes it."""
    while frame is not None and frame.f_code.co_filename != _CAPTURING:
        file = frame.f_code.co_filename
        if not (file.startswith((PACKAGE_DIRECTORY, "<eval_with_key", "<frozen")) or is_torch_file(file)):
            return f"# {file}:{frame.f_lineno} in {frame.f_code.co_name}"
        frame = frame.f_back
    return None


def place_in_module(sloc: Place) -> str | None:
    """The line of the module that decides by a size; None where that is torch's own doing."""
    frame = sloc.framework_loc
    if frame is None or frame.filename.startswith(PACKAGE_DIRECTORY):
        return None
    file = frame.filename
    if not is_torch_file(file):
        return f"{file.rpartition(SITE)[2]}:{frame.lineno}"
    if frame.name == "_call_impl":
        return "<string>"  # torch passes over code without a file, and shows who called it
    if os.path.join("_dynamo", "variables") in file and sloc.maybe_user_loc:
        return line_called(sloc)  # torch.export(strict=True) runs the module's code itself
    return None


def raises_elsewhere(sloc: Place) -> bool:
    """True if the code of torch that made a guard raises an error where it does not hold."""
    return sloc.framework_loc is not None and sloc.framework_loc.name in _VERIFYING


def lines_of(node: torch.fx.Node) -> tuple[str, ...]:
    """The line of the module that a node of a program comes from, if it is known."""
    span = span_of(node)
    return () if span is None else (line_of(span),)


def line_of(span: Span) -> str:
    """A line of a file, which is shown from the folder of installed packages on."""
    return f"{span.file.rpartition(SITE)[2]}:{span.line}"


def line_called(sloc: Place) -> str | None:
    """The line of the module that torch was called from when it made a guard."""
    if not sloc.maybe_user_loc:
        return None
    return sloc.maybe_user_loc.rpartition("# ")[2].partition(" in ")[0].rpartition(SITE)[2]


def places_of_fixed_sizes(program: torch.export.ExportedProgram) -> tuple[str, ...]:
    """The lines of a module where torch has made sizes of inputs the numbers that they are in the example."""
    shape_env = environment(program)
    found: dict[str, None] = {}
    for guard in () if shape_env is None else shape_env.guards:
        place = place_in_module(guard.sloc) or line_called(guard.sloc)
        expression = replaced(guard.expr, shape_env.replacements) if shape_env is not None else guard.expr
        if place is not None and isinstance(guard.expr, sympy.Eq) and not expression.free_symbols:
            found[place] = None
    return tuple(found)


def fixes_by_reading(program: torch.export.ExportedProgram) -> bool:
    """True if torch made a size one number while it read the module's code, which may decide by any other number."""
    shape_env = environment(program)
    frames = [
        guard.sloc.framework_loc
        for guard in (() if shape_env is None else shape_env.guards)
        if isinstance(guard.expr, sympy.Eq)
    ]
    return any(each is not None and os.path.join("torch", "_dynamo") in each.filename for each in frames)


# -- what one says -----------------------------------------------------------------------------------------


def replaced(expression: Expression, replacements: Mapping[Symbol, Expression]) -> Expression:
    """The expression with the symbols that stayed."""
    for _ in range(10):
        found = expression.xreplace(replacements)
        if found == expression:
            break
        expression = found
    return expression


def failing_sizes(expression: Expression, ranges: Mapping[Symbol, Range]) -> Iterator[dict[Symbol, int]]:
    """Sizes in their ranges for which a guard does not hold; the small ones and those near its numbers are tried."""
    symbols = in_order(expression.free_symbols)
    numbers = {int(each) + step for each in expression.atoms(sympy.Integer) for step in (-1, 0, 1)}
    tried: list[list[int]] = []
    for symbol in symbols:
        low, high = ranges.get(symbol, (1, None))
        tried.append([n for n in sorted({*_SAMPLE, *numbers}) if low <= n and (high is None or n <= high)])
    for sizes in itertools.islice(itertools.product(*tried), _MOST_TRIES):
        chosen = dict(zip(symbols, sizes, strict=True))
        if truth_at(expression, chosen) is False:
            yield chosen


def fails_somewhere(expression: Expression, ranges: Mapping[Symbol, Range]) -> bool:
    """True if a guard does not hold for some sizes in their ranges."""
    return next(failing_sizes(expression, ranges), None) is not None


def truth_at(expression: Expression, sizes: Mapping[Symbol, int]) -> bool | None:
    """True if an expression holds for sizes; None where it has no value for them, or depends on others."""
    try:
        return truth_of(expression.xreplace({symbol: integer(size) for symbol, size in sizes.items()}))
    except (ZeroDivisionError, AssertionError):  # torch's remainder asserts that no part is negative
        return None
