"""Reports on models of numpy code: how near the model is to the code, and on what data."""

from __future__ import annotations

from dataclasses import dataclass, field

from onnxsmith.graphs.model import Model


@dataclass(frozen=True, slots=True)
class Comparison:
    """One output of the model beside what the function gives, on one set of arguments."""

    #: What the arguments were: the sizes of dimensions, or "data".
    label: str
    output: str
    #: The largest difference, and that as a part of the largest number that the function gives.
    difference: float
    relative: float

    def __str__(self) -> str:
        far = f"{self.difference:.3g}, {self.relative:.3g} of the largest number" if self.difference else "0"
        return f"{self.label}: {self.output} differs by {far}"


@dataclass(slots=True)
class ModelReport:
    """On what a model was compared with the function that it was made of."""

    rows: list[Comparison] = field(default_factory=list[Comparison])
    #: What was left out, and why.
    notes: list[str] = field(default_factory=list[str])

    @property
    def largest(self) -> float:
        """The largest difference of all, as a part of the largest number that the function gives."""
        return max((each.relative for each in self.rows), default=0.0)

    def __str__(self) -> str:
        labels = list(dict.fromkeys(each.label for each in self.rows))
        head = f"compared on {'; '.join(labels)}" if labels else "not compared with the function"
        return "\n".join([head, *(f"  {each}" for each in (*self.rows, *self.notes))])

    def __repr__(self) -> str:
        return str(self)


class CodeModel(Model):
    """A model that came from numpy code: a `Model` with a report of how near it is to the code."""

    #: On what it was compared with the function, and what was left out.
    report: ModelReport
