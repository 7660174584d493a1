"""The result of `model.profile`: the kernels of a model with their times, and views of them."""

from __future__ import annotations

import html
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from onnxsmith.diagnostics import described_type
from onnxsmith.errors import AttributeTypeError, AttributeValueError, boundary
from onnxsmith.profiling.comparison import ComparedRow, ProfileComparison, best_grouping, compared
from onnxsmith.profiling.heat import heat
from onnxsmith.profiling.kernel import Kernel
from onnxsmith.profiling.listing import listing
from onnxsmith.profiling.quantities import (
    Times,
    columns,
    described_seconds,
    described_size,
)
from onnxsmith.profiling.rows import GROUPINGS, ProfileGrouping, ProfileRow, grouped, total_of
from onnxsmith.runtime.assigned_nodes import COPIES
from onnxsmith.runtime.providers import CPU
from onnxsmith.view import Overlay

#: How many rows a table has unless somebody asks for more.
_SHOWN = 20
_SHOWN_OPERATORS = 8


@dataclass(frozen=True, slots=True)
class Circumstances:
    """How a profile was taken.

    >>> import numpy as np
    >>> from onnxsmith import FLOAT, opset21 as op, trace
    >>> model = trace(lambda a: op.Relu(op.Exp(a)), FLOAT["N"])
    >>> profile = model.profile([np.ones(64, np.float32)], runs=3)
    >>> profile.circumstances.runs
    3
    """

    #: What the model is called: its file's name, else its graph's, or "the model".
    called: str
    #: The runtime and its version, "ONNX Runtime 1.22".
    runtime: str
    #: Execution providers, in order of preference.
    providers: tuple[str, ...]
    threads: int
    runs: int
    warm_up: int
    #: Names of the inputs with their types and shapes.
    inputs: tuple[tuple[str, str], ...]
    #: Whether the inputs are not the user's.
    are_made_up: bool
    #: What is worth a word besides.
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, repr=False)
class Profile:
    """How long each kernel of a model took, and which nodes and lines of Python it ran for.

    The time of a kernel is its own: control flow is told without the kernels in its bodies, so that all kernels add up
    to what was spent in kernels. A group of lines or nodes that ONNX Runtime fused into one kernel is told together.

    >>> import numpy as np
    >>> from onnxsmith import FLOAT, opset21 as op, trace
    >>> model = trace(lambda a: op.Relu(op.Exp(a)), FLOAT["N"])
    >>> profile = model.profile([np.ones(64, np.float32)], runs=3)
    >>> [kernel.operator for kernel in profile.kernels]
    ['Exp', 'Relu']
    """

    #: In the order in which they first ran.
    kernels: tuple[Kernel, ...]
    #: Whole runs, without the profile.
    plain: Times
    #: Whole runs while they were profiled, which costs time itself.
    profiled: Times
    circumstances: Circumstances

    @property
    def total(self) -> Times:
        """All kernels together."""
        return self._time_of(self.kernels)

    @property
    def inserted(self) -> Times:
        """The kernels that ONNX Runtime inserted for no node that is known: no line has their time."""
        return self._time_of([each for each in self.kernels if not each.nodes])

    @property
    def moving(self) -> Times:
        """The kernels that ONNX Runtime added around nodes, to change a layout or an element type.

        They count with the nodes and lines that they were added for.
        """
        return self._time_of([each for each in self.kernels if each.is_inserted and each.nodes])

    def _time_of(self, kernels: Sequence[Kernel]) -> Times:
        return total_of(kernels) if kernels else Times((0.0,) * len(self.profiled.per_run))

    @boundary
    def by(self, what: ProfileGrouping) -> tuple[ProfileRow, ...]:
        """The kernels in groups by "line", "node", "operator" or "call", the most expensive first.

        Calls are those of the model's functions: all that ran in one is a group, and so is what ran in none.

        >>> from onnxsmith import FLOAT, opset21 as op, trace
        >>> model = trace(lambda a: op.Exp(op.Relu(op.Exp(a))), FLOAT[1000])
        >>> sorted(row.label for row in model.profile(runs=1).by("operator"))
        ['Exp', 'Relu']
        """
        return grouped(self.kernels, _checked(what))

    @property
    def best_grouping(self) -> ProfileGrouping:
        """By line where most of the time has lines, else by node."""
        known = [each for each in self.kernels if each.lines]
        return "line" if known and total_of(known).median > self.total.median / 2 else "node"

    @boundary
    def table(self, by: ProfileGrouping | None = None, limit: int | None = _SHOWN) -> str:
        """A table as text, by what has the most to say unless `by` says it; `limit` None or 0 shows all of it.

        The columns are the share of the time in kernels, the median, standard deviation and minimum of the runs,
        the number of kernels in a run, and the bytes of their results. Shares are of the mean of the runs, so
        that they add up.
        """
        what = by or self.best_grouping
        return "\n".join(text_table(self.by(what), what, self.total, limit))

    def listing(self) -> str:
        """The source of the model with share and time of each line beside it.

        Lines that were fused into one kernel have their time at the line that gives its result; the others say at which
        line that is.
        """
        return listing(self.kernels, self.total)

    def overlay(self) -> Overlay:
        """The times for the viewer, which colours the nodes by them: `model.show(overlay=profile.overlay())`.

        >>> from onnxsmith import FLOAT, opset21 as op, trace
        >>> model = trace(lambda a: op.Relu(op.Exp(a)), FLOAT[1000])
        >>> sorted(model.profile(runs=1).overlay().notes)
        ['0', '1']
        """
        return heat(self.kernels, self.total, self.circumstances.called)

    def summary(self) -> str:
        """How the profile was taken, and how long runs took."""
        return "\n".join(self._summary())

    @boundary
    def compare(self, after: Profile, by: ProfileGrouping | None = None) -> ProfileComparison:
        """This profile and a later one beside each other, the largest difference first.

        By line where most of the time is at lines that both have, else by node where the nodes of one are found in the
        other, else by operator, unless `by` says it. Nodes are found by their names and by what they give. What is
        fused in one of the models is told together in both, and a node that only one has with what reads it.

        >>> from onnxsmith import FLOAT, opset21 as op, trace
        >>> model = trace(lambda a: op.Exp(op.Relu(a)), FLOAT[1000])
        >>> before, after = model.profile(runs=2), model.profile(runs=2)
        >>> sorted(row.label for row in before.compare(after, by="operator").rows)
        ['Exp', 'Relu']
        """
        if not isinstance(after, Profile):  # pyright: ignore[reportUnnecessaryIsInstance]  # users may give anything
            raise AttributeTypeError(
                f"a profile is compared with another one, not with {described_type(type(after))}", culprit=0
            )
        what = _checked(by) if by is not None else best_grouping(self.kernels, after.kernels)
        rows = compared(self.kernels, after.kernels, what)
        total = ComparedRow("all kernels", self.total, after.total)
        plain = ComparedRow("a run without the profile", self.plain, after.plain)
        called = (self.circumstances.called, after.circumstances.called)
        if called[0] == called[1]:  # before and after an optimisation, or two versions of a script
            called = (
                f"{called[0]} ({len(self.kernels)} kernels)",
                f"{called[1]} ({len(after.kernels)} kernels)",
            )
        return ProfileComparison(what, rows, total, plain, called)

    def _summary(self) -> list[str]:
        told = self.circumstances
        inputs = ", ".join(f"{name}: {kind}" for name, kind in told.inputs)
        how = "made-up inputs " if told.are_made_up else ""
        threads = f"{told.threads} thread{'s' * (told.threads != 1)}"
        kernels = self.total
        lines = [
            f"profile of {told.called} on {how}({inputs})",
            f"{told.runtime}, {', '.join(told.providers)}, {threads}; {told.runs} runs after {told.warm_up} to warm up",
            f"a run takes {_spread(self.plain)}, and {_spread(self.profiled)} while it is profiled",
            f"kernels take {_spread(kernels)} of that",
        ]
        for times, what in ((self.moving, "added around nodes"), (self.inserted, "inserted, for no node")):
            if times.mean:
                share = times.share_of(kernels)
                lines[-1] += f", {share} in kernels that the runtime {what}"
        return [*lines, *self._elsewhere(), *told.notes]

    def _elsewhere(self) -> list[str]:
        """The kernels that ran on the CPU where another provider was chosen, and the copies between devices."""
        if CPU in self.circumstances.providers:
            return []
        copies = [each for each in self.kernels if each.operator in COPIES]
        left = [each for each in self.kernels if each.provider == CPU and each not in copies]
        lines: list[str] = []
        for found, what in ((left, "on the CPU"), (copies, "copies between devices")):
            if found:
                names = Counter(each.operator for each in found)
                shown = ", ".join(f"{name} ({count})" for name, count in names.most_common(_SHOWN_OPERATORS))
                share = self._time_of(found).share_of(self.total)
                lines.append(f"{what}: {shown}, {share} of the time in kernels")
        return lines

    def __repr__(self) -> str:
        return (
            f"<{self._summary()[0]}: {described_seconds(self.total.median)} in {len(self.kernels)} kernels>"
        )

    def described(self, limit: int = _SHOWN) -> str:
        """The text that `print` shows: the summary, the lines or nodes that take the most time, and the operators."""
        operators = self.table("operator", min(limit, _SHOWN_OPERATORS))
        return "\n\n".join([self.summary(), self.table(None, limit), operators])

    def __str__(self) -> str:
        return self.described()

    def _repr_html_(self) -> str:
        lines = "<br>".join(html.escape(each) for each in self._summary())
        by = self.best_grouping
        tables = html_table(self.by(by), by, self.total, _SHOWN)
        operators = html_table(self.by("operator"), "operator", self.total, _SHOWN_OPERATORS)
        return f"<p>{lines}</p>{tables}{operators}"

    def as_dict(self) -> dict[str, Any]:
        """All of it as plain values, for JSON; times are in seconds."""
        told = self.circumstances
        return {
            "runtime": told.runtime,
            "providers": list(told.providers),
            "threads": told.threads,
            "runs": told.runs,
            "warm_up": told.warm_up,
            "inputs": [{"name": name, "type": kind} for name, kind in told.inputs],
            "made_up": told.are_made_up,
            "notes": list(told.notes),
            "plain": self.plain.as_dict(),
            "profiled": self.profiled.as_dict(),
            "total": self.total.as_dict(),
            "inserted": self.inserted.as_dict(),
            "moving": self.moving.as_dict(),
            "kernels": [_kernel_as_dict(each) for each in self.kernels],
        }


def _checked(by: ProfileGrouping) -> ProfileGrouping:
    if by not in GROUPINGS:
        raise AttributeValueError(
            f"kernels are grouped by line, node, operator or call, not by {by!r}", culprit="by"
        )
    return by


def _spread(times: Times) -> str:
    return f"{described_seconds(times.median)} ± {described_seconds(times.deviation)}"


def _kernel_as_dict(kernel: Kernel) -> dict[str, Any]:
    return {
        "operator": kernel.operator,
        "provider": kernel.provider,
        "inserted": kernel.is_inserted,
        "calls": kernel.calls,
        "depth": kernel.depth,
        "time": kernel.times.as_dict(),
        "output_bytes": kernel.output_bytes,
        "parameter_bytes": kernel.parameter_bytes,
        "output_types": list(kernel.output_types),
        "nodes": [
            {
                "address": each.address,
                "operator": each.operator,
                "name": each.name,
                "calls": [call.address for call in each.calls],
                "source": None if each.source is None else each.source.stored,
                "claimed_by": None if each.source is None else each.source.claimed_by or None,
            }
            for each in kernel.nodes
        ],
    }


# -- tables ----------------------------------------------------------------------------------------------------
# Tables of a profile for a terminal or a notebook.


_HEAD = ("share", "median", "± ", "least", "calls", "results")
_TITLES: dict[ProfileGrouping, str] = {"line": "line", "node": "node", "operator": "kernel", "call": "call"}
#: Inserted kernels are marked so in tables.
_MARK = " (+ inserted)"


def text_table(rows: Sequence[ProfileRow], by: ProfileGrouping, total: Times, limit: int | None) -> list[str]:
    """Lines of a table; of more rows than `limit`, the rest in one line. None and 0 show all."""
    shown, rest = _cut(rows, limit)
    cells = [(*_numbers(row, total), _label(row, by)) for row in shown]
    lines = columns((*_HEAD, _TITLES[by]), cells, (">",) * len(_HEAD) + ("<",))
    return [*lines, *([] if not rest else [_rest(rest, total)])]


def html_table(rows: Sequence[ProfileRow], by: ProfileGrouping, total: Times, limit: int | None) -> str:
    """The same as HTML."""
    shown, rest = _cut(rows, limit)
    head = "".join(f"<th>{each}</th>" for each in (*_HEAD, _TITLES[by]))
    lines = [
        "<tr>"
        + "".join(f'<td style="text-align:right">{each}</td>' for each in _numbers(row, total))
        + f'<td style="text-align:left"><code>{html.escape(_label(row, by))}</code></td></tr>'
        for row in shown
    ]
    more = f"<p>{html.escape(_rest(rest, total).strip())}</p>" if rest else ""
    return f"<table><tr>{head}</tr>{''.join(lines)}</table>{more}"


def _cut(rows: Sequence[ProfileRow], limit: int | None) -> tuple[Sequence[ProfileRow], Sequence[ProfileRow]]:
    return (rows[:limit], rows[limit:]) if limit and len(rows) > limit + 1 else (rows, ())


def _rest(rows: Sequence[ProfileRow], total: Times) -> str:
    share = total_of(each for row in rows for each in row.kernels).share_of(total)
    return f"and {len(rows)} more, {share}"


def _numbers(row: ProfileRow, total: Times) -> tuple[str, ...]:
    times = row.times
    return (
        times.share_of(total),
        described_seconds(times.median),
        described_seconds(times.deviation),
        described_seconds(times.minimum),
        f"{row.calls:g}" if row.calls == int(row.calls) else f"{row.calls:.1f}",
        described_size(row.output_bytes),
    )


def _label(row: ProfileRow, by: ProfileGrouping) -> str:
    kernels = [each for each in row.kernels if not each.is_inserted]
    is_marked = len(kernels) < len(row.kernels) and by in ("line", "node") and row.nodes
    mark = _MARK if is_marked else ""
    operators = list(dict.fromkeys(each.operator for each in kernels or row.kernels))
    if by in ("line", "call"):
        return f"{row.label}  {', '.join(operators[:4])}{', …' * (len(operators) > 4)}{mark}"
    if by == "node" and len(row.nodes) > 1:
        return f"{row.label}  as {', '.join(operators)}{mark}"
    return f"{row.label}{mark}"
