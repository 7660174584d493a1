"""Reads the equation of `Einsum`: once for inference, for checks, and for questions to onnx.

Says nothing of whether an equation fits the inputs.
"""

from __future__ import annotations

import re
from typing import NamedTuple

# Letters, with at most one ellipsis among them. There is one way to match a text, so that none takes long.
_TERM = r"[A-Za-z]*(?:\.\.\.[A-Za-z]*)?"
_EQUATION = re.compile(rf"(?P<inputs>{_TERM}(?:,{_TERM})*)(?:->(?P<output>{_TERM}))?")


class EinsumEquation(NamedTuple):
    """The terms of an equation, without spaces. `output` is None where the equation leaves it open."""

    inputs: tuple[str, ...]
    output: str | None

    @property
    def result(self) -> str:
        """The term of the output. One that is left open has the letters that stand once, in order, behind the dots."""
        if self.output is not None:
            return self.output
        letters = "".join(self.inputs).replace("...", "")
        dots = "..." if any("..." in term for term in self.inputs) else ""
        return dots + "".join(sorted(each for each in letters if letters.count(each) == 1))


def read_equation(text: str) -> EinsumEquation | None:
    """The terms of an equation; None for what is no equation.

    >>> read_equation("...ij, jk -> ...ik")
    EinsumEquation(inputs=('...ij', 'jk'), output='...ik')
    >>> read_equation("ii")
    EinsumEquation(inputs=('ii',), output=None)
    >>> read_equation("....->")
    >>> read_equation("a-b")
    """
    found = _EQUATION.fullmatch(text.replace(" ", ""))
    return None if found is None else EinsumEquation(tuple(found["inputs"].split(",")), found["output"])
