"""The report of an export: the operators that it translated and how, its time, and the result of a verification."""

from __future__ import annotations

import html
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from onnxsmith.graphs.edits import Edit
from onnxsmith.graphs.model import Model

Way = Literal["translation", "decomposition", "custom"]


@dataclass(slots=True)
class OperatorRow:
    """One operator of the module."""

    overload: str
    #: How it was translated: by onnxsmith's library, by torch's own decomposition, or by what the user gave.
    way: Way
    calls: int = 0
    nodes: int = 0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class OutputRow:
    """One output of the model on one set of inputs, beside what the module gives."""

    #: The inputs: `"example"`, or the sizes that the dynamic dimensions had.
    inputs: str
    output: str
    #: The largest absolute difference, and the same as a part of the largest number there is in the output.
    difference: float
    relative: float
    is_close: bool


@dataclass
class ExportReport:
    """How a model came about; `print` it, or show it in a notebook.

    >>> import torch
    >>> import onnxsmith
    >>> model = onnxsmith.torch.export(torch.nn.ReLU().eval(), (torch.ones(2, 3),))
    >>> type(model.export_report).__name__
    'ExportReport'
    """

    opset_version: int = 0
    #: What was done -> seconds.
    stages: dict[str, float] = field(default_factory=dict[str, float])
    operators: list[OperatorRow] = field(default_factory=list[OperatorRow])
    nodes: int = 0
    functions: int = 0
    weight_bytes: int = 0
    verification: list[OutputRow] = field(default_factory=list[OutputRow])
    #: What was changed because ONNX Runtime would get it wrong or has no kernel for it.
    runtime_changes: tuple[Edit, ...] = ()
    #: What the user should know: dimensions that are fixed, outputs that were not compared.
    notes: list[str] = field(default_factory=list[str])

    @property
    def seconds(self) -> float:
        """How long it all took."""
        return sum(self.stages.values())

    def operators_by(self, way: Way) -> list[OperatorRow]:
        """The operators that were translated one way, the most called first."""
        return sorted((each for each in self.operators if each.way == way), key=lambda each: -each.calls)

    def _summary(self) -> str:
        calls = sum(each.calls for each in self.operators)
        functions = f" and {self.functions} functions" if self.functions else ""
        return (
            f"{calls} calls of {len(self.operators)} operators became {self.nodes} nodes{functions} of opset "
            f"{self.opset_version} with {_bytes(self.weight_bytes)} of weights in {self.seconds:.2f} s"
        )

    def _rows(self) -> Iterable[Sequence[str]]:
        for way in ("translation", "decomposition", "custom"):
            for each in self.operators_by(way):
                milliseconds = f"{each.seconds * 1000:.1f}"
                yield (each.overload, each.way, str(each.calls), str(each.nodes), milliseconds)

    def _verified(self) -> Iterable[Sequence[str]]:
        for each in self.verification:
            verdict = "agrees" if each.is_close else "DEVIATES"
            yield (each.inputs, each.output, f"{each.difference:.2g}", f"{each.relative:.2g}", verdict)

    def _changed(self) -> Iterable[str]:
        """The changes for ONNX Runtime: a line for each operator and reason."""
        counts = Counter((each.operator, each.reason) for each in self.runtime_changes)
        for (operator, reason), count in counts.items():
            yield f"{operator}{f' ({count} nodes)' if count > 1 else ''}: {reason}"

    def __str__(self) -> str:
        lines = [self._summary(), ""]
        lines += [f"{stage:<16}{seconds:8.2f} s" for stage, seconds in self.stages.items()]
        lines += ["", *_table(_OPERATOR_HEAD, list(self._rows()))]
        if self.verification:
            lines += ["", *_table(_OUTPUT_HEAD, list(self._verified()))]
        notes = [*self._changed(), *self.notes]
        lines += ["", *notes] if notes else []
        return "\n".join(lines)

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        stages = ", ".join(f"{stage} {seconds:.2f} s" for stage, seconds in self.stages.items())
        parts = [f"<p>{html.escape(self._summary())}</p>", f"<p>{html.escape(stages)}</p>"]
        parts.append(_html_table(_OPERATOR_HEAD, self._rows()))
        if self.verification:
            parts.append(_html_table(_OUTPUT_HEAD, self._verified()))
        parts += [f"<p>{html.escape(each)}</p>" for each in (*self._changed(), *self.notes)]
        return "".join(parts)


_OPERATOR_HEAD = ("operator", "way", "calls", "nodes", "ms")
_OUTPUT_HEAD = ("inputs", "output", "difference", "relative", "")


class ExportedModel(Model):
    """A model that came from PyTorch: a `Model` with a report of how it came about.

    >>> import torch
    >>> import onnxsmith
    >>> model = onnxsmith.torch.export(torch.nn.ReLU().eval(), (torch.ones(2, 3),))
    >>> type(model).__name__
    'ExportedModel'
    """

    #: What was translated how, in how much time, and what a verification found.
    export_report: ExportReport


def _bytes(count: float) -> str:
    for unit in ("bytes", "kB", "MB"):
        if count < 1000:
            return f"{count:.3g} {unit}"
        count = round(count / 1000) if count >= 10_000 else count / 1000
    return f"{count:.3g} GB"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(len(row[k]) for row in (head, *rows)) for k in range(len(head))]
    lines: list[str] = []
    for row in (head, *rows):
        cells = [
            each.ljust(width) if k < 2 else each.rjust(width)
            for k, (each, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    return lines


def _html_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    top = "".join(f"<th>{html.escape(each)}</th>" for each in head)
    body = "".join(
        "<tr>" + "".join(f"<td>{html.escape(each)}</td>" for each in row) + "</tr>" for row in rows
    )
    return f"<table><tr>{top}</tr>{body}</table>"
