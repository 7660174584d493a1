"""Counts the hand-written code below a folder, by package: lines that hold code, and tokens.

Docstrings, comments, blank lines and generated files do not count. Layout (newlines, indents) is no token. A line that
only closes brackets counts as a line: the formatter decides on it, the same way everywhere.
"""

from __future__ import annotations

import argparse
import ast
import io
import sys
import tokenize
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tools.check_sizes import is_generated, python_files

ROOT = Path(__file__).resolve().parent.parent
#: Tokens that are no code.
LAYOUT = frozenset(
    {
        tokenize.COMMENT,
        tokenize.NL,
        tokenize.NEWLINE,
        tokenize.INDENT,
        tokenize.DEDENT,
        tokenize.ENCODING,
        tokenize.ENDMARKER,
    }
)


@dataclass
class Count:
    """How much code there is."""

    files: int = 0
    lines: int = 0
    tokens: int = 0

    def add(self, other: Count) -> None:
        """Count what another counted, too."""
        self.files += other.files
        self.lines += other.lines
        self.tokens += other.tokens


def docstring_starts(source: str) -> set[tuple[int, int]]:
    """Where docstrings begin: their line, and their column in bytes."""
    found: set[tuple[int, int]] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and node.body:
            match node.body[0]:
                case ast.Expr(value=ast.Constant(value=str())) as first:
                    found.add((first.lineno, first.col_offset))
                case _:
                    pass
    return found


def count_source(source: str) -> Count:
    """What one file holds."""
    docstrings = docstring_starts(source)
    lines: set[int] = set()
    tokens = 0
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type in LAYOUT or token.start in docstrings:
            continue
        tokens += 1
        lines.update(range(token.start[0], token.end[0] + 1))
    return Count(1, len(lines), tokens)


def count(root: Path) -> dict[str, Count]:
    """What each package below a folder holds; single modules at its top are one together."""
    counts: dict[str, Count] = {}
    for path in python_files(root):
        if path.suffix == ".py" and not is_generated(path):
            relative = path.relative_to(root)
            package = relative.parts[0] if len(relative.parts) > 1 else "top"
            counts.setdefault(package, Count()).add(count_source(path.read_text(encoding="utf-8")))
    return counts


def main(arguments: list[str] | None = None) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "root", nargs="?", type=Path, default=ROOT / "src" / "onnxsmith", help="the folder to look through"
    )
    counts = count(parser.parse_args(arguments).root.resolve())
    whole = Count()
    for package, counted in sorted(counts.items()):
        whole.add(counted)
        print(f"{package:12} {counted.files:5} files {counted.lines:8,} lines {counted.tokens:10,} tokens")
    print(f"{'all':12} {whole.files:5} files {whole.lines:8,} lines {whole.tokens:10,} tokens")
    return 0


if __name__ == "__main__":
    sys.exit(main())
