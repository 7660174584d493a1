"""What a profile is made of: nodes of the model with their places, and the kernels that ran for them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from onnxsmith.diagnostics import clipped, display_path, printable
from onnxsmith.profiling.quantities import Times
from onnxsmith.source import Span

_LONGEST_NAME = 60
_SHOWN = 4


@dataclass(frozen=True, slots=True)
class ProfiledNode:
    """A node of the model that was profiled."""

    #: Where it stands in the model: `model.nodes[address]`.
    address: str
    operator: str
    name: str
    #: Where it was written; what only the model's file says is a claim, and nothing of it is read.
    source: Span | None

    def __str__(self) -> str:
        return printable(f"{self.operator} '{clipped(self.name or self.address, _LONGEST_NAME)}'")


@dataclass(frozen=True, slots=True)
class SourceLine:
    """A line of Python that nodes were written in."""

    file: str
    number: int
    function: str
    #: The model that says so, where no code of this process does.
    claimed_by: str

    def __str__(self) -> str:
        return f"{self.file if self.claimed_by else display_path(self.file)}:{self.number}"


@dataclass(frozen=True, slots=True)
class Kernel:
    """What ONNX Runtime ran for one node of its own graph, in all its executions.

    It stands for one node of the model, or for several that ONNX Runtime fused. A kernel that it inserted, to change a
    layout or an element type, stands for none: `nodes` are then the ones that it was inserted for.
    """

    #: The operator as ONNX Runtime has it, which of fused nodes is one of its own.
    operator: str
    provider: str
    #: The first is the one whose result it gives.
    nodes: tuple[ProfiledNode, ...]
    is_inserted: bool
    #: The time of all executions of a run together. Of control flow it is what the kernels inside did not take.
    times: Times
    #: How often it ran in each run, on average.
    calls: float
    #: Bytes of the results of one execution, the largest if they differ.
    output_bytes: int
    #: Bytes of the weights that it reads.
    parameter_bytes: int
    #: Types and shapes of the results, as ONNX Runtime writes them.
    output_types: tuple[str, ...]
    #: How many bodies it stands in.
    depth: int
    #: Whether others ran inside it.
    has_bodies: bool

    @property
    def lines(self) -> tuple[SourceLine, ...]:
        """The lines of Python that it stands for, in order."""
        return lines_of(self.nodes)


def lines_of(nodes: Iterable[ProfiledNode]) -> tuple[SourceLine, ...]:
    """The lines that nodes were written in, each once, in the order of files and lines."""
    spans = [each.source for each in nodes if each.source is not None]
    lines = {SourceLine(each.file, each.line, each.function, each.claimed_by) for each in spans}
    return tuple(sorted(lines, key=lambda each: (each.file, each.number, each.function)))


def described_nodes(nodes: Iterable[ProfiledNode]) -> str:
    """A few nodes in words."""
    texts = [str(each) for each in reversed(tuple(nodes))]  # the one that gives the result comes first
    more = len(texts) - _SHOWN
    return " + ".join([*texts[:_SHOWN], f"{more} more"] if more > 0 else texts)


def described_lines(lines: Iterable[SourceLine]) -> str:
    """Lines in words; those of one file under its name once."""
    by_file: dict[str, list[int]] = {}
    for each in lines:
        place, _, _ = str(each).rpartition(":")
        by_file.setdefault(place, []).append(each.number)
    return printable(
        ", ".join(
            f"{clipped(file, _LONGEST_NAME)}:{', '.join(map(str, dict.fromkeys(numbers)))}"
            for file, numbers in by_file.items()
        )
    )
