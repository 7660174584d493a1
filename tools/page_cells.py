"""Runs the code cells of a page of the documentation, one after the other, as a notebook does.

`python tools/page_cells.py PAGE` in an empty folder is what a reader does who copies every cell. The documentation's
build runs the cells as well, in a notebook's kernel; this needs nothing but the standard library.
"""

from __future__ import annotations

import ast
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

_CELL = re.compile(r"^```\{code-cell\}[^\n]*\n(.*?)^```", re.DOTALL | re.MULTILINE)
_OPTION = re.compile(r"^:(\w+): *(.*)\n", re.MULTILINE)


class Cell(NamedTuple):
    """The code of a cell, and what the page says of it."""

    code: str
    tags: str

    @property
    def raises(self) -> bool:
        """Whether the page says that it raises."""
        return "raises-exception" in self.tags


def cells(page: str) -> Iterator[Cell]:
    """The cells of a page's text, in order."""
    for found in _CELL.finditer(page):
        options = dict(_OPTION.findall(found[1]))
        yield Cell(_OPTION.sub("", found[1]).strip("\n") + "\n", options.get("tags", ""))


def steps(page: Path, folder: Path) -> Iterator[tuple[Cell, object]]:
    """Run the cells of a page in one namespace; what each gives. Scripts read their text in `folder`."""
    names: dict[str, object] = {"__name__": "__main__"}
    for number, cell in enumerate(cells(page.read_text(encoding="utf-8"))):
        file = folder / f"{page.stem}_{number}.py"
        file.write_text(cell.code, encoding="utf-8")
        # The cells are no part of this module: its `from __future__` is not theirs.
        tree = ast.parse(cell.code, str(file))
        last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
        value = None
        try:
            exec(compile(tree, file, "exec", dont_inherit=True), names)
            if isinstance(last, ast.Expr):
                value = eval(compile(ast.Expression(last.value), file, "eval", dont_inherit=True), names)
        except Exception:
            if not cell.raises:
                raise
        else:
            if cell.raises:
                raise SystemExit(f"{page}: cell {number} should raise, and does not:\n{cell.code}")
        yield cell, value


def run(page: Path, folder: Path) -> None:
    """Run the cells of a page, and print what a notebook shows below them: it is part of what the reader sees."""
    for _, value in steps(page, folder):
        if value is not None:
            print(repr(value))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="onnxsmith-cells-") as place:
        for name in sys.argv[1:]:
            run(Path(name), Path(place))
