"""Checks that every import inside the package respects the layers of the design, and that none goes in a circle.

What is imported for type checkers alone, modules of ours that a string names (for `importlib`, or in a table), and
entries of lazy registries that a string names (`FUNCTIONS["where"]`) are dependencies too: they keep to the layers,
and where they close a ring of modules, the ring is measured. A table that a lower row reads and a higher one fills
stands in a list here. Reads syntax trees only: nothing is imported.
"""

from __future__ import annotations

import argparse
import ast
import io
import re
import sys
import tokenize
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # run as a file, from anywhere

from tools.shared_tables import Reader as TableReader
from tools.shared_tables import find_tables

PACKAGE = "onnxsmith"
DEFAULT_TREE = Path(__file__).resolve().parent.parent / "src" / PACKAGE

#: The rows of docs/explanation/design.md. A package imports from the rows before its own, and from itself.
ROWS: tuple[tuple[str, ...], ...] = (
    ("errors", "source", "diagnostics", "claims", "registry", "context"),
    ("types", "schema"),
    ("core",),
    ("opset",),
    ("graphs", "runtime"),
    ("scripting", "tracing"),
    ("algorithms",),
    (
        *("comparing", "costs", "decompiling", "diffing", "grad", "inspection", "migration", "numpy"),
        *("observing", "passes", "profiling", "sklearn", "testing", "torch", "training", "view"),
    ),
    ("scripting.dialects",),
    ("cli", "mypy_plugin"),
)

#: Imports between packages of one row that the design allows: importer -> imported.
NEIGHBOURS: dict[str, tuple[str, ...]] = {
    "claims": ("diagnostics", "errors", "source"),
    "diagnostics": ("source",),
    "errors": ("diagnostics", "source"),
    "schema": ("types",),
    "runtime": ("graphs",),
    "tracing": ("scripting",),
}

#: Libraries that packages do without: they know what graphs record, and not what else is made of it.
WITHOUT: dict[str, tuple[str, ...]] = {"scripting": ("onnx_ir",)}

#: In this row packages may use each other, but only what the other's `__init__` exports.
CAPABILITY_ROW = 7

#: Modules whose strings name what is plugged in from above: the methods that capabilities give `Model`, the target that
#: operators run on unless somebody says otherwise, the functions that operators and methods of an array call, and the
#: functions that make models of numpy code. Nowhere else may a string name a higher row.
SOCKETS = (
    "onnxsmith.graphs.capabilities",
    "onnxsmith.core.target",
    "onnxsmith.numpy.array",
    "onnxsmith.numpy.names",
)

#: How many modules may depend on each other in a ring, by package, with imports for type checkers and strings counted:
#: what there was when it was first measured. A number may fall, and never rise; 1 is for packages that have no ring.
LARGEST_RING = {"core": 3, "decompiling": 6, "graphs": 3, "torch": 2}

#: Tables that a lower row reads and a higher one fills: those of the modules that `registry.load_module` imports. The
#: list may only get shorter.
FILLED_FROM_ABOVE = (
    "onnxsmith.core.bodies:_registered",
    "onnxsmith.core.target:_make_default",
    "onnxsmith.graphs.version_converter:_registered",
)

#: Modules at the top of the package that belong to the row of another name.
ALIASES: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"opset\w*"), "opset"),
    (re.compile(r"__main__"), "cli"),
    # Other names for what there is, for code that comes from another library.
    (re.compile(r"values|evaluator|onnx_opset|onnx_types"), "migration"),
    (re.compile(r"rewriter"), "passes"),
)

ROW_OF = {package: number for number, row in enumerate(ROWS) for package in row}
# A module of ours in a string, and perhaps what is taken from it: "onnxsmith.decompiling:decompile".
_MODULE = re.compile(rf"(?P<module>{PACKAGE}(?:\.\w+)+)(?::(?P<name>\w+))?")
# A comment that only speaks to a checker gives no reason.
_PRAGMA = re.compile(r"#\s*(noqa|type:|pyright:|mypy:|ruff:|fmt:|pragma)")


@dataclass(frozen=True)
class Import:
    """One imported thing: who imports it, from where, and how the import stands in the file."""

    importer: str
    written: str  # the module as the statement names it, made absolute
    name: str | None  # what is taken from it; None for a plain `import`
    target: str  # the module that is loaded for it
    line: int
    in_function: bool
    explained: bool
    kind: Literal["import", "typing", "string"] = "import"
    alias: str | None = None  # the name that it has in the importer, where that is another

    @property
    def is_ours(self) -> bool:
        """Whether it imports a module of this package."""
        return self.target == PACKAGE or self.target.startswith(PACKAGE + ".")


# ---- reading ----


def find_modules(tree: Path) -> dict[str, Path]:
    """Every module below the package's folder, by dotted name."""
    modules: dict[str, Path] = {}
    for path in sorted(tree.rglob("*.py")):
        parts = [PACKAGE, *path.relative_to(tree).with_suffix("").parts]
        if parts[-1] == "__init__":
            parts.pop()
        modules[".".join(parts)] = path
    return modules


@dataclass(frozen=True)
class Fill:
    """One entry into a table of another module, made while a module is imported."""

    filler: str
    owner: str  # the module that defines the table
    table: str
    line: int


def read_tree(tree: Path) -> tuple[list[Import], list[Fill]]:
    """The imports of every module, with what strings name, and the tables of others that each fills."""
    paths = find_modules(tree)
    texts = {module: path.read_text(encoding="utf-8") for module, path in paths.items()}
    trees = {module: ast.parse(text, str(paths[module])) for module, text in texts.items()}
    tables = find_tables(trees)
    imports: list[Import] = []
    fills: list[Fill] = []
    for module, path in paths.items():
        is_package = path.name == "__init__.py"
        reader = _Reader(module, is_package, frozenset(paths), _reason_lines(texts[module]))
        reader.visit(trees[module])
        imports += reader.imports
        taken = {(one.alias or one.name or ""): (one.written, one.name or "") for one in reader.imports}
        shared = TableReader(module, trees[module], tables, taken)
        fills += [Fill(module, owner, table, line) for line, owner, table in shared.fills()]
        if module not in SOCKETS:
            for line, key, target in shared.entries():
                if target != module:
                    imports.append(Import(module, target, str(key), target, line, False, True, "string"))
    return imports, fills


def _reason_lines(text: str) -> frozenset[int]:
    """The lines that carry a comment a person can learn something from."""
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    comments = (token for token in tokens if token.type == tokenize.COMMENT)
    return frozenset(token.start[0] for token in comments if not _PRAGMA.match(token.string))


class _Reader(ast.NodeVisitor):
    """Collects imports and strings that name modules, aware of functions and of `if TYPE_CHECKING`."""

    def __init__(
        self, module: str, is_package: bool, modules: frozenset[str], reasons: frozenset[int]
    ) -> None:
        self.module = module
        self.package = module if is_package else module.rpartition(".")[0]
        self.modules = modules
        self.reasons = reasons
        self.depth = 0
        self.is_typing = False
        self.imports: list[Import] = []

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> None:
        self.depth += 1
        self.generic_visit(node)
        self.depth -= 1

    visit_AsyncFunctionDef = visit_Lambda = visit_FunctionDef

    def visit_If(self, node: ast.If) -> None:
        condition = node.test.attr if isinstance(node.test, ast.Attribute) else getattr(node.test, "id", None)
        if condition == "TYPE_CHECKING":
            self.is_typing = True
            for child in node.body:
                self.visit(child)
            self.is_typing = False
        for child in node.orelse if condition == "TYPE_CHECKING" else ast.iter_child_nodes(node):
            self.visit(child)

    def visit_Expr(self, node: ast.Expr) -> None:
        if not isinstance(node.value, ast.Constant):  # a docstring speaks of modules, and needs none
            self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        named = _MODULE.fullmatch(node.value) if isinstance(node.value, str) else None
        # Its own package is there already when a module names it.
        is_other = named is not None and not f"{self.module}.".startswith(f"{named['module']}.")
        if named and is_other and named["module"] in self.modules and self.module not in SOCKETS:
            self.imports.append(
                Import(
                    self.module,
                    named["module"],
                    named["name"],
                    named["module"],
                    node.lineno,
                    False,
                    True,
                    "string",
                )
            )

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            self._add(node, alias.name, None)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        written = node.module or ""
        if node.level:
            anchor = self.package.split(".")
            anchor = anchor[: len(anchor) - (node.level - 1)]
            written = ".".join([*anchor, written] if written else anchor)
        for alias in node.names:
            self._add(node, written, alias.name, alias.asname)

    def _add(self, node: ast.stmt, written: str, name: str | None, alias: str | None = None) -> None:
        target = f"{written}.{name}" if f"{written}.{name}" in self.modules else written
        near = range(node.lineno - 1, (node.end_lineno or node.lineno) + 1)
        explained = not self.reasons.isdisjoint(near)
        self.imports.append(
            Import(
                self.module,
                written,
                name,
                target,
                node.lineno,
                self.depth > 0,
                explained,
                "typing" if self.is_typing else "import",
                alias,
            )
        )


# ---- rules ----


def package_of(module: str) -> str | None:
    """The entry of the layer table that a module belongs to; None for the top of the package."""
    if module == PACKAGE:
        return None
    first, *room = module.split(".")[1:3]
    if ".".join([first, *room]) in ROW_OF:
        return ".".join([first, *room])  # a room that stands in another row than its package
    return next((owner for pattern, owner in ALIASES if pattern.fullmatch(first)), first)


def why_forbidden(one: Import) -> str | None:
    """What an import of ours does against the layers, or None."""
    importer, imported = package_of(one.importer), package_of(one.target)
    if importer is None or importer == imported:
        return None
    if imported is None and importer in ROWS[-1]:
        return None  # doors from outside come in through the front, as a user does
    if imported is None:
        return f"imports {PACKAGE} itself, which is above every layer; import from the module that defines it"
    for package in (importer, imported):
        if package not in ROW_OF:
            return f"{package!r} is in no row of the layer table in tools/check_layers.py"
    mine, theirs = ROW_OF[importer], ROW_OF[imported]
    if theirs < mine or imported in NEIGHBOURS.get(importer, ()):
        return None
    if theirs > mine:
        return (
            f"{importer} (row {mine}) imports {one.target} (row {theirs}): only rows below {mine} are allowed"
        )
    if mine != CAPABILITY_ROW:
        return f"{importer} imports {one.target}, a neighbour in row {mine}; NEIGHBOURS does not allow that"
    is_public = one.written == f"{PACKAGE}.{imported}" and not (one.name or "").startswith("_")
    return None if is_public else f"{importer} imports internals of {imported}; use what its __init__ exports"


def why_without(one: Import) -> str | None:
    """Why a package may not import a library, or None."""
    package, library = package_of(one.importer) or "", one.target.partition(".")[0]
    if library not in WITHOUT.get(package, ()):
        return None
    return f"{package} imports {library}, which it does without; what it needs of it belongs into graphs"


def why_filled(one: Fill) -> str | None:
    """Why a module may not fill a table of another, or None."""
    filler, owner = package_of(one.filler), package_of(one.owner)
    if filler is None or owner is None or ROW_OF.get(filler, 0) <= ROW_OF.get(owner, 0):
        return None
    if f"{one.owner}:{one.table}" in FILLED_FROM_ABOVE:
        return None
    return (
        f"{filler} (row {ROW_OF[filler]}) fills {one.table} of {one.owner} (row {ROW_OF[owner]}), "
        "which reads it: pass what it needs, or let it be asked of the caller"
    )


def rings(imports: Iterable[Import]) -> list[list[str]]:
    """The sets of modules that all depend on each other, whatever the kind of dependency; Tarjan's algorithm."""
    outgoing: dict[str, list[str]] = {}
    for one in imports:
        # The top is above all rows, and names everything by strings.
        if one.is_ours and PACKAGE not in (one.importer, one.target):
            outgoing.setdefault(one.importer, []).append(one.target)
    order: dict[str, int] = {}
    lowest: dict[str, int] = {}
    open_modules: list[str] = []
    found: list[list[str]] = []

    def visit(module: str) -> None:
        order[module] = lowest[module] = len(order)
        open_modules.append(module)
        for target in outgoing.get(module, ()):
            if target not in order:
                visit(target)
            if target in open_modules:
                lowest[module] = min(lowest[module], lowest[target])
        if lowest[module] == order[module]:
            start = open_modules.index(module)
            found.append(sorted(open_modules[start:]))
            del open_modules[start:]

    for module in sorted(outgoing):
        if module not in order:
            visit(module)
    return [ring for ring in found if len(ring) > 1]


def largest_rings(imports: Iterable[Import]) -> dict[str, list[str]]:
    """The largest ring that each package has a module in."""
    found: dict[str, list[str]] = {}
    for ring in rings(imports):
        for package in {package_of(module) for module in ring}:
            if package is not None and len(ring) > len(found.get(package, ())):
                found[package] = ring
    return found


def find_cycles(imports: Iterable[Import]) -> Iterator[list[Import]]:
    """For each module that can reach itself, one shortest circle of imports; each circle once."""
    outgoing: dict[str, list[Import]] = {}
    for one in imports:
        if one.kind == "import" and one.is_ours and one.target != one.importer:
            outgoing.setdefault(one.importer, []).append(one)
    seen: set[str] = set()
    for start in sorted(outgoing):
        if start not in seen and (circle := _shortest_circle(start, outgoing)):
            seen.update(one.importer for one in circle)
            yield circle


def _shortest_circle(start: str, outgoing: dict[str, list[Import]]) -> list[Import] | None:
    arrived_by: dict[str, Import] = {}
    queue = deque([start])
    while queue:
        for one in outgoing.get(queue.popleft(), ()):
            if one.target not in arrived_by:
                arrived_by[one.target] = one
                queue.append(one.target)
    if start not in arrived_by:
        return None
    circle = [arrived_by[start]]
    while circle[-1].importer != start:
        circle.append(arrived_by[circle[-1].importer])
    return circle[::-1]


def problems(tree: Path) -> list[str]:
    """Everything wrong with the imports of a package, as `file:line: what` in the order of the files."""
    modules = find_modules(tree)
    imports, fills = read_tree(tree)
    # A folder without __init__.py imports too, but tools that look for a package's root stop there, and take the
    # modules below it for others than they are.
    inits = {path.parent / "__init__.py" for path in modules.values()}
    advice = "is missing: a folder with modules is a package"
    found = [(path, 1, advice) for path in inits if not path.exists()]
    for one in imports:
        path = modules[one.importer]
        if one.is_ours and (reason := why_forbidden(one)):
            found.append((path, one.line, reason))
        if reason := why_without(one):
            found.append((path, one.line, reason))
        if one.kind == "import" and one.in_function and not one.explained:
            advice = (
                "import inside a function without a comment that says why; move it to the top or explain it"
            )
            found.append((path, one.line, advice))
    found += [(modules[one.filler], one.line, reason) for one in fills if (reason := why_filled(one))]
    for circle in find_cycles(imports):
        names = " -> ".join([*(one.importer for one in circle), circle[0].importer])
        found.append((modules[circle[0].importer], circle[0].line, f"import cycle: {names}"))
    for package, ring in largest_rings(imports).items():
        allowed = LARGEST_RING.get(package, 1)
        if len(ring) > allowed:
            names = ", ".join(ring)
            what = f"{len(ring)} modules of {package} depend on each other, and {allowed} may: {names}"
            found.append((modules[ring[0]], 1, what))
    base = tree.parent.parent
    return [f"{path.relative_to(base)}:{line}: {what}" for path, line, what in dict.fromkeys(sorted(found))]


def main(arguments: list[str] | None = None) -> int:
    """Print the problems of a tree; return 1 if there are any."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tree", nargs="?", type=Path, default=DEFAULT_TREE, help="the package's folder")
    tree = parser.parse_args(arguments).tree.resolve()
    found = problems(tree)
    for problem in found:
        print(problem)
    count = len(find_modules(tree))
    if not count:
        print(f"layers: no modules in {tree}")
        return 1
    imports, fills = read_tree(tree)
    sizes = {package: len(ring) for package, ring in largest_rings(imports).items()}
    for package, allowed in LARGEST_RING.items() if tree == DEFAULT_TREE else ():
        if sizes.get(package, 1) < allowed:
            print(f"layers: LARGEST_RING[{package!r}] can fall from {allowed} to {sizes.get(package, 1)}")
    filled = {f"{one.owner}:{one.table}" for one in fills}
    for table in FILLED_FROM_ABOVE if tree == DEFAULT_TREE else ():
        if table not in filled:
            print(f"layers: FILLED_FROM_ABOVE no longer needs {table}")
    print(f"layers: {count} modules, {len(found) or 'no'} problem{'' if len(found) == 1 else 's'}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
