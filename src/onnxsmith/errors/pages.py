"""The manual page of each error, read from its docstring.

`onnxsmith explain`, the index in the documentation and the tests of the examples all read the same pages.
"""

from __future__ import annotations

import inspect
import textwrap
from dataclasses import dataclass

from onnxsmith import errors
from onnxsmith.errors.base import OnnxsmithError

#: What the examples of all pages begin with.
PRELUDE = """\
import numpy as np
import onnxsmith
from onnxsmith import FLOAT, INT64, opset21 as op, script, trace

x = np.ones((2, 3), np.float32)
"""

#: The first two characters of a code, and what the mistakes under it have in common.
AREAS: dict[str, str] = {
    "C1": "Source and syntax",
    "C2": "Names",
    "C3": "Operator calls",
    "C4": "Types, shapes and literals",
    "C5": "Values that only the model has",
    "C6": "Functions and models",
    "C7": "PyTorch",
    "C8": "scikit-learn",
    "R1": "Running",
    "F1": "Files",
}


@dataclass(frozen=True, slots=True)
class Page:
    """One error: its code and classes, what happened, an example that is wrong, and the same made right."""

    code: str
    name: str
    builtins: tuple[str, ...]
    summary: str
    explanation: str
    wrong: str
    right: str

    @property
    def is_shell(self) -> bool:
        """True if the examples are commands for a shell, not Python."""
        return self.wrong.startswith("$ ")


def error_classes() -> list[type[OnnxsmithError]]:
    """Every kind of error there is, in the order of the codes."""
    classes = [
        each for each in vars(errors).values() if inspect.isclass(each) and issubclass(each, OnnxsmithError)
    ]
    return sorted((each for each in classes if each is not OnnxsmithError), key=lambda each: each.code)


def page_of(error: type[OnnxsmithError]) -> Page:
    """The page of an error class."""
    text, _, examples = inspect.cleandoc(error.__doc__ or "").partition("\n\nWrong:\n")
    summary, _, explanation = text.partition("\n\n")
    wrong, _, right = examples.partition("\n\nRight:\n")
    builtins = tuple(base.__name__ for base in error.__bases__ if base is not OnnxsmithError)
    return Page(error.code, error.__name__, builtins, summary, explanation, _code(wrong), _code(right))


def _code(block: str) -> str:
    return textwrap.dedent(block).strip() + "\n"


def pages() -> list[Page]:
    """All pages, in the order of the codes."""
    return [page_of(each) for each in error_classes()]


def find_page(name: str) -> Page | None:
    """The page of a code, `C401`, or of a class, `MixedDTypesError`; None when there is none."""
    wanted = name.strip().strip("[]").lower()
    return next((page for page in pages() if wanted in (page.code.lower(), page.name.lower())), None)
