"""Two profiles beside each other: what became faster, slower, or is only in one of them."""

from __future__ import annotations

import html
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from onnxsmith.profiling.kernel import Kernel, ProfiledNode, described_lines, described_nodes, lines_of
from onnxsmith.profiling.quantities import Times, columns, described_seconds
from onnxsmith.profiling.rows import ProfileGrouping, grouped, total_of

#: How many rows a table has unless somebody asks for more.
_SHOWN = 20
_HEAD = ("before", "after", "difference", "ratio")


@dataclass(frozen=True, slots=True)
class ComparedRow:
    """A line, a node or an operator in two profiles; None where a profile does not have it.

    >>> import numpy as np
    >>> from onnxsmith import FLOAT, opset21 as op, trace
    >>> model = trace(lambda a: op.Relu(op.Exp(a)), FLOAT["N"])
    >>> profile = model.profile([np.ones(64, np.float32)], runs=3)
    >>> profile.compare(profile).rows[0].ratio
    1.0
    """

    label: str
    before: Times | None
    after: Times | None

    @property
    def difference(self) -> float:
        """By how many seconds the mean of the runs rose: the differences of all rows add up to that of all kernels."""
        return _mean(self.after) - _mean(self.before)

    @property
    def ratio(self) -> float | None:
        """The mean after, as a multiple of that before; None where one is not there."""
        if self.before is None or self.after is None or not self.before.mean:
            return None
        return self.after.mean / self.before.mean

    @property
    def is_clear(self) -> bool:
        """True if the difference is larger than the spread of the runs, so that it is likely more than noise."""
        spread = sum(0.0 if each is None else 2 * each.deviation for each in (self.before, self.after))
        return abs(self.difference) > spread


@dataclass(frozen=True, slots=True, repr=False)
class ProfileComparison:
    """Two profiles beside each other, by line, node or operator; the largest difference comes first.

    >>> import numpy as np
    >>> from onnxsmith import FLOAT, opset21 as op, trace
    >>> model = trace(lambda a: op.Relu(op.Exp(a)), FLOAT["N"])
    >>> profile = model.profile([np.ones(64, np.float32)], runs=3)
    >>> len(profile.compare(profile).rows)
    1
    """

    by: ProfileGrouping
    rows: tuple[ComparedRow, ...]
    #: All kernels.
    total: ComparedRow
    #: Whole runs without the profile.
    plain: ComparedRow
    called: tuple[str, str]

    def table(self, limit: int | None = _SHOWN) -> str:
        """A table as text; a difference that is not larger than the spread of the runs has a `?`.

        Times are means of the runs; `limit` None or 0 shows all rows.
        """
        shown = self.rows[:limit] if limit else self.rows
        rows = [(*_numbers(each), each.label) for each in (*shown, self.total, self.plain)]
        lines = columns((*_HEAD, self.by), rows, (">", ">", ">", ">", "<"))
        more = len(self.rows) - len(shown)
        rest = [f"and {more} more"] if more else []
        return "\n".join([*lines[:-2], *rest, "", *lines[-2:]])

    def __repr__(self) -> str:
        ratio = self.total.ratio
        told = "" if ratio is None else f": kernels take {ratio:.2f} times as long"
        return f"<{self.called[1]} compared with {self.called[0]}{told}>"

    def __str__(self) -> str:
        head = f"before: {self.called[0]}, after: {self.called[1]}; ? is within the spread of the runs"
        return f"{head}\n\n{self.table()}"

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>"

    def as_dict(self) -> dict[str, Any]:
        """All of it as plain values, for JSON; times are in seconds."""
        return {
            "by": self.by,
            "rows": [_as_dict(each) for each in self.rows],
            "total": _as_dict(self.total),
            "plain": _as_dict(self.plain),
        }


def compared(
    before: Sequence[Kernel], after: Sequence[Kernel], by: ProfileGrouping
) -> tuple[ComparedRow, ...]:
    """The kernels of two profiles side by side: a row has all that stand for the same in both."""
    rows: list[ComparedRow] = []
    for group in paired(before, after, by):
        label = _label(group, by)
        mine, theirs = (total_of(each) if each else None for each in group)
        rows.append(ComparedRow(label, mine, theirs))
    return tuple(sorted(rows, key=lambda row: -abs(row.difference)))


def _label(group: tuple[Sequence[Kernel], Sequence[Kernel]], by: ProfileGrouping) -> str:
    """The label of a row: all lines or nodes that the first model has for it."""
    shown = group[0] or group[1]
    if by == "operator":
        return " / ".join(dict.fromkeys(each.operator for side in group for each in side))
    (first, *_) = grouped(shown, by)
    if by == "line":
        return described_lines(lines_of(node for each in shown for node in each.nodes)) or first.label
    if by == "node":
        nodes = dict.fromkeys(node for each in shown for node in each.nodes)
        return described_nodes(nodes) or first.label
    return first.label


def best_grouping(before: Sequence[Kernel], after: Sequence[Kernel]) -> ProfileGrouping:
    """The finest grouping that two profiles have in common: lines, else nodes, else operators."""
    if _have_lines(before) and _have_lines(after) and _share_most(before, after, "line"):
        return "line"  # two versions of a file have other numbers for the same lines
    return "node" if _share_most(before, after, "node") else "operator"


def _share_most(before: Sequence[Kernel], after: Sequence[Kernel], by: ProfileGrouping) -> bool:
    both = [each for group in paired(before, after, by) if all(group) for side in group for each in side]
    return _seconds(both) > _seconds([*before, *after]) / 2


def _seconds(kernels: Iterable[Kernel]) -> float:
    return sum(each.times.median for each in kernels)


def _have_lines(kernels: Sequence[Kernel]) -> bool:
    return _seconds(each for each in kernels if each.lines) > _seconds(kernels) / 2


def _mean(times: Times | None) -> float:
    return 0.0 if times is None else times.mean


def _numbers(row: ComparedRow) -> tuple[str, str, str, str]:
    before, after = (
        "–" if each is None else described_seconds(each.mean) for each in (row.before, row.after)
    )
    sign = "+" if row.difference > 0 else ""
    ratio = "new" if row.before is None else "gone" if row.after is None else "–"
    if row.ratio is not None:
        ratio = f"{row.ratio:.2f}"
    doubt = "" if row.is_clear else "?"
    return before, after, f"{sign}{described_seconds(row.difference)}{doubt:1}", ratio


def _as_dict(row: ComparedRow) -> dict[str, Any]:
    return {
        "label": row.label,
        "before": None if row.before is None else row.before.as_dict(),
        "after": None if row.after is None else row.after.as_dict(),
        "difference": row.difference,
        "ratio": row.ratio,
        "clear": row.is_clear,
    }


# -- pairing ---------------------------------------------------------------------------------------------------
# Pairs the kernels of two profiles: those of the same lines, nodes, operators or calls.
#
# Two models that compute the same may have other nodes for it, and a runtime fuses them in other ways. So kernels of
# both are put together as soon as they have one line or node in common, and a node that the other model does not have
# any more with what reads it.


#: What ONNX Runtime puts before the name of an operator that does the work of the next one, too.
_FUSED = "Fused"
_NOTHING: Hashable = "nothing is known of it"


def paired(
    before: Sequence[Kernel], after: Sequence[Kernel], by: ProfileGrouping
) -> list[tuple[list[Kernel], list[Kernel]]]:
    """Groups of kernels of both profiles; one of the two is empty where only the other has such kernels."""
    is_one_model = _places(before) == _places(after)
    groups = _Groups()
    every = [(kernel, list(_marks(kernel, by, is_one_model))) for kernel in (*before, *after)]
    for _, marks in every:
        for mark in marks[1:]:
            groups.join(marks[0], mark)
    if by == "node" and not is_one_model:
        _join_readers(before, after, groups)
    found: dict[Hashable, tuple[list[Kernel], list[Kernel]]] = {}
    for number, (kernel, marks) in enumerate(every):
        found.setdefault(groups.of(marks[0]), ([], []))[number >= len(before)].append(kernel)
    return list(found.values())


def _join_readers(before: Sequence[Kernel], after: Sequence[Kernel], groups: _Groups) -> None:
    """Put kernels that only one profile has together with the first that reads what they give."""
    sides: dict[Hashable, set[int]] = {}
    for side, kernels in enumerate((before, after)):
        for kernel in kernels:
            sides.setdefault(groups.of(_node_mark(kernel)), set()).add(side)
    for kernels in (before, after):
        readers: dict[Hashable, Kernel] = {}
        for kernel in reversed(kernels):  # what reads a result runs later
            own = groups.of(_node_mark(kernel))
            reading = (readers.get((_function(node), each)) for node in kernel.nodes for each in node.outputs)
            reader = next((each for each in reading if each is not None and each is not kernel), None)
            if reader is not None and len(sides[own]) == 1:
                other = groups.of(_node_mark(reader))
                groups.join(other, own)
                sides[other] = sides[other] | sides[own]
            for node in kernel.nodes:
                readers.update(((_function(node), each), kernel) for each in node.inputs)


def _node_mark(kernel: Kernel) -> Hashable:
    return next(_marks(kernel, "node", is_one_model=False))


def plain_operator(operator: str) -> str:
    """An operator as models call it: `FusedConv` and the `Conv` of another layout are a `Conv`.

    >>> plain_operator("com.microsoft.nchwc::Conv"), plain_operator("com.microsoft::FusedMatMul")
    ('Conv', 'MatMul')
    """
    return operator.rpartition("::")[2].removeprefix(_FUSED)


def _places(kernels: Sequence[Kernel]) -> set[tuple[str, str, str]]:
    return {(node.address, node.operator, node.name) for each in kernels for node in each.nodes}


def _marks(kernel: Kernel, by: ProfileGrouping, is_one_model: bool) -> Iterator[Hashable]:
    """Keys of a kernel that are the same in another profile of the same model."""
    if by == "operator":
        yield plain_operator(kernel.operator)
    elif by == "call":
        yield tuple(each.address if is_one_model else str(each) for each in kernel.calls_around)
    elif by == "line" and kernel.lines:
        # One of the models may come from a file, which does not say where its folder lies.
        yield from ((PurePath(each.file).name, each.number) for each in kernel.lines)
    elif by == "node" and kernel.nodes:
        for node in kernel.nodes:
            yield from [node.address] if is_one_model else _names(node)
    else:
        yield _NOTHING


def _names(node: ProfiledNode) -> Iterator[Hashable]:
    """The names of a node; in functions, with the name of the function."""
    function = _function(node)
    names = [("name", node.name)] if node.name else []
    names += (("value", each) for each in node.outputs)
    yield from ((function, *each) for each in names or [("address", node.address)])


def _function(node: ProfiledNode) -> str:
    """The function that a node stands in, in whose bodies values are known, too; none is an empty text."""
    return node.address.rpartition("/")[0]


class _Groups:
    """Marks that belong together, directly or by way of others."""

    def __init__(self) -> None:
        self._parents: dict[Hashable, Hashable] = {}

    def of(self, mark: Hashable) -> Hashable:
        """One mark that stands for all of the group."""
        path: list[Hashable] = []
        while (parent := self._parents.get(mark, mark)) != mark:
            path.append(mark)
            mark = parent
        for each in path:
            self._parents[each] = mark
        return mark

    def join(self, one: Hashable, other: Hashable) -> None:
        """Put two groups together."""
        self._parents[self.of(other)] = self.of(one)
