"""The source of a model with the time of each line beside it.

Shows only code of this process, or code below a folder that the user named. Of a place that only the model's file
names it shows the place, and no text.
"""

from __future__ import annotations

import ast
import linecache
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from onnxsmith.diagnostics import clipped, printable
from onnxsmith.profiling.kernel import Kernel, SourceLine, lines_of
from onnxsmith.profiling.quantities import Times, described_seconds
from onnxsmith.profiling.rows import ProfileRow, grouped, total_of
from onnxsmith.source import parse

_LONGEST_LINE = 160


@dataclass(slots=True)
class _Cost:
    """The cost of one line."""

    kernels: list[Kernel] = field(default_factory=list[Kernel])
    #: The lines that its kernels are told at, where it was fused with them.
    told_at: set[int] = field(default_factory=set[int])
    #: What ran in the functions that it calls, which is told at their lines.
    inside: dict[int, Kernel] = field(default_factory=dict[int, Kernel])


def listing(kernels: Sequence[Kernel], total: Times) -> str:
    """The functions whose lines took time, with share and time of each line."""
    by_file: dict[tuple[str, str], dict[int, _Cost]] = {}
    for row in grouped(kernels, "line"):
        if row.lines:
            _note(row, by_file)
    _note_calls(kernels, by_file)
    blocks = [
        block
        for (file, claimed_by), costs in by_file.items()
        for block in (_claimed(file, claimed_by, costs, total) if claimed_by else _read(file, costs, total))
    ]
    unknown = total_of(each for each in kernels if not each.lines)
    if unknown.per_run:
        blocks.append([_numbers(unknown, total) + "  of nodes whose line is not known"])
    return "\n\n".join("\n".join(block) for block in blocks)


def _note(row: ProfileRow, by_file: dict[tuple[str, str], dict[int, _Cost]]) -> None:
    """Tell a row at the line that gives its result, and say so at the others."""
    first = next(each.source for each in row.nodes if each.source is not None)
    for file, claimed_by, number in {(each.file, each.claimed_by, each.number) for each in row.lines}:
        cost = by_file.setdefault((file, claimed_by), {}).setdefault(number, _Cost())
        if (file, number) == (first.file, first.line):
            cost.kernels.extend(row.kernels)
        else:
            cost.told_at.add(first.line)


def _note_calls(kernels: Iterable[Kernel], by_file: dict[tuple[str, str], dict[int, _Cost]]) -> None:
    """Say at lines that call functions how long what they call took."""
    for kernel in kernels:
        for line in lines_of(kernel.calls_around):
            cost = by_file.setdefault((line.file, line.claimed_by), {}).setdefault(line.number, _Cost())
            cost.inside[id(kernel)] = kernel


def _claimed(file: str, claimed_by: str, costs: Mapping[int, _Cost], total: Times) -> Iterable[Sequence[str]]:
    lines = [f"{printable(file)}, as {claimed_by} says; onnxsmith.source_root(folder) shows its lines"]
    lines += (f"{_cost(costs[number], total)} {number:>5}" for number in sorted(costs))
    yield lines


def _read(file: str, costs: Mapping[int, _Cost], total: Times) -> Iterable[Sequence[str]]:
    text = linecache.getlines(file)
    for first, last in _blocks(text, sorted(costs)):
        line = SourceLine(file, first, "", "")
        lines = [str(line)]
        for number in range(first, last + 1):
            written = text[number - 1].rstrip() if number <= len(text) else ""
            cost = _cost(costs[number], total) if number in costs else " " * len(_cost(_Cost(), total))
            lines.append(f"{cost} {number:>5} | {printable(clipped(written, _LONGEST_LINE))}".rstrip())
        yield lines


def _blocks(text: Sequence[str], numbers: Sequence[int]) -> list[tuple[int, int]]:
    """From where to where the outermost functions go that have the lines; where none has, from first line to last."""
    try:
        tree = parse("".join(text))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return [(numbers[0], numbers[-1])]
    functions = [
        (min([each.lineno, *(mark.lineno for mark in each.decorator_list)]), each.end_lineno or each.lineno)
        for each in ast.walk(tree)  # breadth first: outer functions come before inner ones
        if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    found: dict[tuple[int, int], None] = {}
    for number in numbers:
        found[next((each for each in functions if each[0] <= number <= each[1]), (number, number))] = None
    return sorted(found)


def _cost(cost: _Cost, total: Times) -> str:
    if cost.kernels:
        return _numbers(total_of(cost.kernels), total)
    if cost.inside and not cost.told_at:
        times = total_of(cost.inside.values())
        share = f"({times.share_of(total)}"
        return f"{share:>7} {described_seconds(times.median) + ')':>10}"
    told_at = f"with {', '.join(map(str, sorted(cost.told_at)))}" if cost.told_at else ""
    return f"{told_at:>18}"


def _numbers(times: Times, total: Times) -> str:
    return f"{times.share_of(total):>7} {described_seconds(times.median):>10}"
