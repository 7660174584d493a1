"""Writes the pages of all operators of the installed onnx and ONNX Runtime."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from onnxsmith.schema import registry
from onnxsmith.schema.definition import OperatorDef
from onnxsmith.schema.registry import default_opset_version
from tools.reference.examples import Example, WrongExample, example_of
from tools.reference.families import OTHER_DOMAINS, STANDARD, family_of
from tools.reference.operator_pages import Entry, count_table, family_page, operator_page

DOMAINS = ("", *OTHER_DOMAINS)


def entries() -> Iterator[Entry]:
    """Every operator, in its newest version, with its example."""
    for domain in DOMAINS:
        for name in registry.all_names(domain):
            newest = registry.versions(domain, name)[-1]
            definition = registry.lookup(domain, name, newest)
            yield Entry(definition, family_of(domain, name), _example(definition))


def _example(definition: OperatorDef) -> Example | None:
    """The example of an operator, in an opset that the installed ONNX Runtime loads if one can be made there."""
    loaded = registry.find(definition.domain, definition.name, default_opset_version())
    if not definition.domain and loaded is not None and loaded is not definition and not loaded.is_deprecated:
        with contextlib.suppress(WrongExample):
            found = example_of(loaded)
            if found is not None:
                return found
    return example_of(definition)


def write(folder: Path) -> None:
    """Write the pages into the folder `operators`, and what the page above them includes."""
    found = list(entries())
    pages = folder / "operators"
    for family in (*STANDARD, *OTHER_DOMAINS.values()):
        members = [each for each in found if each.family is family]
        if not members:
            continue
        for entry in members:
            _write(pages / f"{entry.page}.md", operator_page(entry, members))
        _write(pages / f"{family.slug}.md", family_page(family, members))
    _write(pages / "counts.txt", count_table(found) + "\n")
    listed = "\n".join(f"operators/{each.slug}" for each in (*STANDARD, *OTHER_DOMAINS.values()))
    _write(pages / "families.txt", f"```{{toctree}}\n:maxdepth: 1\n\n{listed}\n```\n")


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
