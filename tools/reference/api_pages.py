"""The pages of public names: signature as the stub has it, meaning and example of the docstring, errors."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from onnxsmith import DType
from onnxsmith.numpy.documentation import EXAMPLES, documented
from tools.reference import docstrings, stub_reader
from tools.reference.groups import (
    CONSTANTS,
    COVERED,
    DTYPES,
    ELEMENT_TYPES,
    ELSEWHERE,
    GROUPS,
    MAIN,
    NUMPY,
    Group,
)
from tools.reference.raised import errors_of
from tools.reference.stub_reader import Declaration

_TO_ERRORS = "../errors.md"
#: More overloads than these say nothing more to a reader.
_MOST_OVERLOADS = 3


class IncompleteReference(Exception):
    """Public names without an entry, a text or an example."""


@dataclass(frozen=True, slots=True)
class Name:
    """A public name, or a method of a public class, with all that its entry says."""

    module: str
    name: str
    declared: Declaration
    value: Any
    docstring: str
    members: tuple[Name, ...] = field(default=())
    owner: str = ""

    @property
    def full(self) -> str:
        """The dotted name."""
        return f"{self.module}.{self.owner}.{self.name}" if self.owner else f"{self.module}.{self.name}"

    @property
    def shown(self) -> str:
        """The name with its class."""
        return f"{self.owner}.{self.name}" if self.owner else self.name


def read(module: str, name: str) -> Name:
    """All that is known of a public name."""
    value = getattr(importlib.import_module(module), name)
    declared = stub_reader.declaration(_stub_module(module, name), name)
    made = f"{module.removeprefix('onnxsmith.numpy.')}.{name}" if module.count(".") > 1 else name
    if module.startswith("onnxsmith.numpy") and made in EXAMPLES:
        text = documented(made)
    elif declared.kind == "variable":
        text = ""
    else:
        text = inspect.getdoc(value) or declared.stub_docstring
    members: tuple[Name, ...] = ()
    if declared.kind == "class" and inspect.isclass(value):
        members = tuple(_member(module, name, value, each) for each in stub_reader.members(declared))
    return Name(module, name, declared, value, text, members)


def _stub_module(module: str, name: str) -> str:
    """The module whose stub tells checkers of a class that a method returns."""
    if module in COVERED:
        return module
    for stub in ("model", "comparing"):
        place = f"onnxsmith.opset._stubs.{stub}"
        if name in stub_reader.exported(place) and not (stub == "model" and module == "onnxsmith.comparing"):
            return place
    return module


def _member(module: str, owner: str, cls: type, declared: Declaration) -> Name:
    value = inspect.getattr_static(cls, declared.name, None)
    reached = None if value is None else getattr(cls, declared.name, None)
    text = "" if declared.kind == "variable" else inspect.getdoc(reached) or inspect.getdoc(value) or ""
    if not text:
        text = declared.stub_docstring
    behind = getattr(value, "function", None) or getattr(value, "fget", None) or value
    return Name(module, declared.name, declared, behind, text, owner=owner)


# ---- what is missing ----

#: Classes whose methods users call: each method and property has an example of its own. Others are shown by one.
_BY_MEMBER = frozenset({"Model", "Tensor", "OnnxFunction", "Array", "DType", "Rule", "Opset", "Weights"})
#: What is shown by the example of its class.
_SHOWN_BY_CLASS = frozenset({"Tensor.numpy"})


def problems(names: Sequence[Name]) -> list[str]:
    """What the reference would lack."""
    found: list[str] = []
    entered = {(each.module, each.name) for each in names}
    for module in COVERED:
        for name in stub_reader.exported(module):
            is_module = (
                stub_reader.is_module(f"{module}.{name}")
                and stub_reader.declaration(module, name).kind == "module"
            )
            if (module, name) not in entered and name not in ELSEWHERE and not is_module:
                found.append(f"{module}.{name} is on no page: enter it in tools/reference/groups.py")
    for each in names:
        if each.declared.kind == "variable" and not each.docstring:
            continue  # constants, in a table of their values
        found += _lacks(each, needs_example=True)
        for member in each.members:
            is_shown = each.name not in _BY_MEMBER or member.declared.kind == "variable"
            if member.declared.kind != "variable" and member.shown not in _SHOWN_BY_CLASS:
                found += _lacks(member, needs_example=not is_shown)
    return found


def _lacks(name: Name, *, needs_example: bool) -> list[str]:
    if not name.docstring:
        return [f"{name.full} has no docstring"]
    if needs_example and not docstrings.has_example(name.docstring):
        return [f"{name.full} has no example in its docstring"]
    return []


# ---- entries ----


def _directive(kind: str, full: str) -> str:
    """An entry of the index and the search, and the target of links; the signature is shown below it."""
    return f"```{{py:{kind}}} {full}\n:no-typesetting:\n```"


def _entry(name: Name, group: Group) -> str:
    level = "###" if name.owner else "##"
    kind = {"class": "class", "function": "function", "method": "method", "property": "property"}.get(
        name.declared.kind, "data"
    )
    if name.owner and kind == "data":
        kind = "attribute"
    parts = [
        f"{level} {name.shown}",
        _directive(kind, name.full),
        _signatures(name, group),
        docstrings.markdown(name.docstring, to_errors=_TO_ERRORS),
        _raises(name),
        _fields(name),
    ]
    parts += [_entry(each, group) for each in name.members if each.declared.kind != "variable"]
    parts += [_delegated(name)]
    return "\n\n".join(part for part in parts if part)


def _signatures(name: Name, group: Group) -> str:
    declared = name.declared
    shown = f"{group.prefix}{name.name}" if not name.owner else f"{_variable(name.owner)}.{name.name}"
    if declared.kind == "variable":  # a universal function
        lines = [f"{shown}{inspect.signature(name.value)}".replace("(None, None)", "None")]
    elif declared.kind == "class":
        made = stub_reader.constructor(declared)
        lines = [
            stub_reader.signature(each, shown, is_method=True)
            for each in made
            if len(each.args.args) > 1 or each.args.vararg
        ]
    elif declared.kind == "property":
        returned = declared.functions[0].returns
        lines = [f"{shown}: {stub_reader.annotation(returned)}" if returned else shown]
    else:
        is_method = declared.kind == "method"
        if is_method and stub_reader.is_static(declared.functions[0]):
            shown = f"{name.owner}.{name.name}"
        lines = [stub_reader.signature(each, shown, is_method=is_method) for each in declared.functions]
    if not lines:
        return ""
    more = len(lines) - _MOST_OVERLOADS
    if more > 0:
        lines = [lines[0], f"# and {len(lines) - 1} more forms, by the types of the arguments"]
    body = "\n".join(lines)
    return f"```python\n{body}\n```"


def _variable(owner: str) -> str:
    """What an object of a class is called in signatures."""
    return {"OnnxFunction": "script", "Array": "x", "Tensor": "x", "DType": "dtype"}.get(owner, owner.lower())


def _raises(name: Name) -> str:
    found = errors_of(name.value)
    if not found:
        return ""
    return "Raises " + ", ".join(docstrings.error_link(each, _TO_ERRORS) for each in found) + "."


def _fields(name: Name) -> str:
    """The fields of a class of data, which have names and types alone."""
    fields = [each for each in name.members if each.declared.kind == "variable"]
    if not fields or name.name in ("DType",):
        return ""
    notes = stub_reader.field_comments(name.value)
    told = [(each, notes.get(each.name, "")) for each in fields]
    lines = [
        f"- `{each.name}: {each.declared.annotation}`{f': {note}' if note else ''}" for each, note in told
    ]
    return "It holds:\n\n" + "\n".join(lines)


def _delegated(name: Name) -> str:
    """The methods of `Array` that are functions of the namespace."""
    if name.name != "Array":
        return ""
    methods = sorted(
        method
        for method, value in vars(name.value).items()
        if (inspect.getdoc(value) or "").startswith("`xp.")
    )
    pages = {one: group.slug for group in NUMPY for _, one in group.names if group.prefix == "xp."}
    links = [f"[`{each}`]({pages[each]}.md#{_slug(each)})" for each in methods if each in pages]
    return f"### Functions as methods\n\n`x.sum(axis=0)` is `xp.sum(x, axis=0)`; so are {', '.join(links)}."


# ---- pages ----


def page(group: Group, names: Sequence[Name]) -> str:
    """The Markdown of a group."""
    entries = [each for each in names if each.docstring and each.name not in ELEMENT_TYPES.split()]
    index = [
        f"| [`{each.name}`](#{_slug(each.name)}) | {docstrings.summary(each.docstring)} |" for each in entries
    ]
    parts = [
        f"# {group.title}",
        group.about,
        f"```python\n{group.imported}\n```",
        "\n".join(["| name | what it is |", "| --- | --- |", *index]) if len(index) > 1 else "",
        *(_entry(each, group) for each in entries),
        _element_types(names),
        _constants(group),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _slug(name: str) -> str:
    """The anchor of a heading, as MyST makes it."""
    return name.lower()


def _element_types(names: Sequence[Name]) -> str:
    """The annotations of element types in one table: what is said of one holds for all."""
    found = [each for each in names if each.module == "onnxsmith" and each.name in ELEMENT_TYPES.split()]
    if not found:
        return ""
    rows = [
        f"| `{each.name}` | {DType[each.name].bits or '–'} | `{DType[each.name].numpy}` |" for each in found
    ]
    targets = "\n\n".join(_directive("data", each.full) for each in found)
    text = docstrings.markdown(found[0].docstring, to_errors=_TO_ERRORS)
    table = "\n".join(["| annotation | bits | numpy's dtype |", "| --- | --- | --- |", *rows])
    return f"## Element types\n\n{targets}\n\n{text}\n\n{table}"


def _constants(group: Group) -> str:
    if group.slug != "numpy-types":
        return ""
    module = importlib.import_module("onnxsmith.numpy")
    rows = [f"| `xp.{name}` | `{getattr(module, name)!r}` |" for name in CONSTANTS.split()]
    rows += [f"| `xp.{name}` | numpy's `{name}` |" for name in DTYPES.split()]
    targets = "\n\n".join(
        _directive("data", f"onnxsmith.numpy.{name}") for name in (*CONSTANTS.split(), *DTYPES.split())
    )
    return f"## Constants and dtypes\n\n{targets}\n\n" + "\n".join(
        ["| name | value |", "| --- | --- |", *rows]
    )


def all_names() -> Iterator[tuple[Group, list[Name]]]:
    """Every group with its names."""
    for group in GROUPS:
        yield group, [read(module, name) for module, name in group.names]


def write(folder: Path) -> None:
    """Write the pages into the folder `api`; an error names everything that is missing."""
    read_groups = list(all_names())
    lacking = problems([each for _, names in read_groups for each in names])
    if lacking:
        raise IncompleteReference(f"{len(lacking)} public names lack something:\n" + "\n".join(lacking))
    pages = folder / "api"
    pages.mkdir(parents=True, exist_ok=True)
    for group, names in read_groups:
        (pages / f"{group.slug}.md").write_text(page(group, names), encoding="utf-8")
    for title, groups in (("main", MAIN), ("numpy", NUMPY)):
        listed = "\n".join(f"api/{each.slug}" for each in groups)
        (pages / f"{title}.txt").write_text(
            f"```{{toctree}}\n:maxdepth: 1\n\n{listed}\n```\n", encoding="utf-8"
        )
