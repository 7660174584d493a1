"""The parts of a profile: nodes of the model with their places, and the kernels that ran for them."""

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
    """A node of the model that was profiled.

    >>> import numpy as np
    >>> from onnxsmith import FLOAT, opset21 as op, trace
    >>> model = trace(lambda a: op.Relu(op.Exp(a)), FLOAT["N"])
    >>> profile = model.profile([np.ones(64, np.float32)], runs=3)
    >>> profile.kernels[0].nodes[0].address
    '0'
    """

    #: Where it stands in the model: `model.nodes[address]`.
    address: str
    operator: str
    name: str
    #: Where it was written, all places of one that passes made of several nodes. What only the model's file says is a
    #: claim, and nothing of it is read.
    sources: tuple[Span, ...] = ()
    #: The calls of functions that it stands in, outermost first.
    calls: tuple[ProfiledNode, ...] = ()
    #: What it takes and gives, by name.
    inputs: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()

    @property
    def source(self) -> Span | None:
        """The first place that it was written at."""
        return self.sources[0] if self.sources else None

    def __str__(self) -> str:
        return printable(f"{self.operator} '{clipped(self.name or self.address, _LONGEST_NAME)}'")


@dataclass(frozen=True, slots=True)
class SourceLine:
    """A line of Python that nodes were written in.

    >>> import numpy as np
    >>> from onnxsmith import FLOAT, opset21 as op, trace
    >>> model = trace(lambda a: op.Relu(op.Exp(a)), FLOAT["N"])
    >>> profile = model.profile([np.ones(64, np.float32)], runs=3)
    >>> len(profile.kernels[0].lines)
    1
    """

    file: str
    number: int
    function: str
    #: The model that says so, where no code of this process does.
    claimed_by: str

    def __str__(self) -> str:
        return f"{self.file if self.claimed_by else display_path(self.file)}:{self.number}"


@dataclass(frozen=True, slots=True)
class Kernel:
    """All executions of one node of ONNX Runtime's own graph.

    It stands for one node of the model, or for several that ONNX Runtime fused. A kernel that it added, to change a
    layout or an element type, computes nothing of the model: `nodes` are then the ones that it was added for.

    >>> import numpy as np
    >>> from onnxsmith import FLOAT, opset21 as op, trace
    >>> model = trace(lambda a: op.Relu(op.Exp(a)), FLOAT["N"])
    >>> profile = model.profile([np.ones(64, np.float32)], runs=3)
    >>> profile.kernels[0].operator, profile.kernels[0].output_bytes
    ('Exp', 256)
    """

    #: The operator as ONNX Runtime has it, which of fused nodes is one of its own.
    operator: str
    provider: str
    #: The first is the one whose result it gives.
    nodes: tuple[ProfiledNode, ...]
    #: Whether ONNX Runtime added it.
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

    @property
    def calls_around(self) -> tuple[ProfiledNode, ...]:
        """The calls of functions that it ran in, outermost first: those that all its nodes stand in."""
        paths = [each.calls for each in self.nodes]
        common = 0
        while paths and all(len(path) > common and path[common] == paths[0][common] for path in paths):
            common += 1
        return paths[0][:common] if paths else ()


def lines_of(nodes: Iterable[ProfiledNode]) -> tuple[SourceLine, ...]:
    """The lines that nodes were written in, each once, in the order of files and lines."""
    spans = [span for each in nodes for span in each.sources]
    lines = {SourceLine(each.file, each.line, each.function, each.claimed_by) for each in spans}
    return tuple(sorted(lines, key=lambda each: (each.file, each.number, each.function)))


def described_nodes(nodes: Iterable[ProfiledNode]) -> str:
    """A few nodes in words."""
    texts = list(
        dict.fromkeys(str(each) for each in reversed(tuple(nodes)))
    )  # the one that gives the result comes first
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
