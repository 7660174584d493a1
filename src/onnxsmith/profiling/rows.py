"""Kernels in groups: those of a line, a node, an operator or a call, with the time of all together."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from onnxsmith.profiling.kernel import (
    Kernel,
    ProfiledNode,
    SourceLine,
    described_lines,
    described_nodes,
    lines_of,
)
from onnxsmith.profiling.quantities import Times

#: What kernels may be put together by.
ProfileGrouping: TypeAlias = Literal["line", "node", "operator", "call"]
GROUPINGS: tuple[ProfileGrouping, ...] = ("line", "node", "operator", "call")

_NO_LINE = "no line known"
_INSERTED = "inserted by the runtime"
_NO_CALL = "not in a function"


@dataclass(frozen=True, slots=True)
class ProfileRow:
    """Kernels that are told together: those of a line, of a node, of an operator, or of a call of a function.

    >>> import numpy as np
    >>> from onnxsmith import FLOAT, opset21 as op, trace
    >>> model = trace(lambda a: op.Relu(op.Exp(a)), FLOAT["N"])
    >>> profile = model.profile([np.ones(64, np.float32)], runs=3)
    >>> [row.calls for row in profile.by("operator")]
    [1.0, 1.0]
    """

    #: What they have in common, the same in every profile of the model: lines, addresses, or an operator.
    key: Hashable
    label: str
    kernels: tuple[Kernel, ...]

    @property
    def times(self) -> Times:
        """The time of all of them, without that of kernels inside control flow which are not among them."""
        return total_of(self.kernels)

    @property
    def calls(self) -> float:
        """How many kernels ran for it in each run."""
        return sum(each.calls for each in self.kernels)

    @property
    def output_bytes(self) -> int:
        """Bytes of the results of all its kernels, one execution of each."""
        return sum(each.output_bytes for each in self.kernels)

    @property
    def nodes(self) -> tuple[ProfiledNode, ...]:
        """The nodes that they stand for."""
        return tuple(dict.fromkeys(node for each in self.kernels for node in each.nodes))

    @property
    def lines(self) -> tuple[SourceLine, ...]:
        """The lines that they stand for."""
        return lines_of(self.nodes)


def grouped(kernels: Iterable[Kernel], by: ProfileGrouping) -> tuple[ProfileRow, ...]:
    """Kernels in groups, the most expensive first."""
    key, label = _GROUPINGS[by]
    groups: dict[Hashable, list[Kernel]] = {}
    for kernel in kernels:
        groups.setdefault(key(kernel), []).append(kernel)
    rows = [ProfileRow(each, label(kernels[0]), tuple(kernels)) for each, kernels in groups.items()]
    return tuple(sorted(rows, key=lambda row: -row.times.mean))


def total_of(kernels: Iterable[Kernel]) -> Times:
    """The time of several kernels together."""
    columns = zip(*(each.times.per_run for each in kernels), strict=True)
    return Times(tuple(sum(column) for column in columns))


def _node_key(kernel: Kernel) -> Hashable:
    return tuple(sorted({each.address for each in kernel.nodes}))


def _call_label(kernel: Kernel) -> str:
    return " / ".join(map(str, kernel.calls_around)) or (_NO_CALL if kernel.nodes else _INSERTED)


def _node_label(kernel: Kernel) -> str:
    return described_nodes(kernel.nodes) or _INSERTED


def _line_label(kernel: Kernel) -> str:
    if kernel.lines:
        return described_lines(kernel.lines)
    return _NO_LINE if kernel.nodes else _INSERTED


def _line_key(kernel: Kernel) -> Hashable:
    return tuple((each.file, each.number) for each in kernel.lines) or _line_label(kernel)


_KeyAndLabel: TypeAlias = tuple[Callable[[Kernel], Hashable], Callable[[Kernel], str]]
_GROUPINGS: dict[ProfileGrouping, _KeyAndLabel] = {
    "line": (_line_key, _line_label),
    "node": (_node_key, _node_label),
    "operator": (lambda kernel: kernel.operator, lambda kernel: kernel.operator),
    "call": (
        lambda kernel: tuple(each.address for each in kernel.calls_around) or bool(kernel.nodes),
        _call_label,
    ),
}
