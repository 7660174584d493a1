"""The page of an operator, and the page of a family: Markdown of what the schemas, the cases and the runtimes say."""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from onnxsmith.core.operator import signature
from onnxsmith.schema import registry
from onnxsmith.schema.bind import layout
from onnxsmith.schema.definition import Attribute, OperatorDef, Parameter
from onnxsmith.types.dtypes import DType
from tools.reference import schema_text
from tools.reference.changes import changes, element_name
from tools.reference.examples import Example, module_of, version_for
from tools.reference.families import Family
from tools.reference.runtimes import kernel_types, runtime_version

_WIDTH = 88
_STANDARD = "ai.onnx"


@dataclass(frozen=True, slots=True)
class Entry:
    """An operator with all that its page says."""

    definition: OperatorDef
    family: Family
    example: Example | None

    @property
    def page(self) -> str:
        """The page's name, from the folder of the operators."""
        return page_name(self.definition.domain, self.definition.name)


def page_name(domain: str, name: str) -> str:
    """The name of an operator's page; other domains have folders of their own."""
    return f"{domain}/{name}" if domain else name


def operator_page(entry: Entry, siblings: Sequence[Entry]) -> str:
    """The Markdown of one operator."""
    op = entry.definition
    up = "../" if op.domain else ""
    parts = [
        "---\norphan: true\n---",
        f"(operator-{op.domain or _STANDARD}-{op.name})=\n# {op.name}".replace(
            "(operator-ai.onnx-", "(operator-"
        ),
        f"[Operators]({up}../operators.md) › [{entry.family.title}]({up}{entry.family.slug}.md) · "
        f"{_since(op)}",
        f"```python\n{python_signature(op)}\n```",
        _standing(op),
        schema_text.block(op.doc),
        *_example(entry),
        *_ports("Inputs", op.inputs, op),
        *_attributes(op),
        *_ports("Outputs", op.outputs, op),
        *_type_variables(op),
        *_runtimes(entry),
        *_versions(op),
        _others(entry, siblings, up),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


# ---- the parts of a page ----


def _since(op: OperatorDef) -> str:
    versions = registry.versions(op.domain, op.name)
    changed = f", changed in {_enumerated(versions[1:])}" if versions[1:] else ""
    return f"`{op.domain or _STANDARD}`, since version {versions[0]}{changed}"


def _enumerated(versions: Sequence[int]) -> str:
    words = [str(each) for each in versions]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def _standing(op: OperatorDef) -> str:
    """What a reader has to know before anything else."""
    _, until = registry.valid_range(op)
    if until is not None:
        return (
            f":::{{note}}\nIt was removed in version {until}. The last one that has it is {until - 1}.\n:::"
        )
    return ""


def python_signature(op: OperatorDef) -> str:
    """The call as Python, in as many lines as it takes, with the names of the results."""
    parameters = [_parameter(each) for each in signature(op).parameters.values()]
    kinds = [each.kind for each in signature(op).parameters.values()]
    if inspect.Parameter.KEYWORD_ONLY in kinds and inspect.Parameter.VAR_POSITIONAL not in kinds:
        parameters.insert(kinds.index(inspect.Parameter.KEYWORD_ONLY), "*")
    results = [each.name if each.option != "variadic" else f"*{each.name}" for each in op.outputs]
    gives = f" -> {', '.join(results)}" if results else ""
    one_line = f"op.{op.name}({', '.join(parameters)}){gives}"
    if len(one_line) <= _WIDTH:
        return one_line
    inside = "".join(f"    {each},\n" for each in parameters)
    return f"op.{op.name}(\n{inside}){gives}"


def _parameter(parameter: inspect.Parameter) -> str:
    stars = "*" if parameter.kind is parameter.VAR_POSITIONAL else ""
    default = "" if parameter.default is parameter.empty else f"={_value(parameter.default)}"
    return stars + parameter.name + default


def _value(value: object) -> str:
    return f"[{', '.join(map(_value, value))}]" if isinstance(value, tuple) else repr(value)


def _example(entry: Entry) -> list[str]:
    example = entry.example
    if example is None:
        return [
            "## Example",
            "ONNX has no node case of this operator, so there is no example that could be held against one.",
        ]
    return [
        "## Example",
        f"```python\n{example.program}\n```",
        f"```text\n{example.output}\n```",
        example.source,
    ]


def _ports(title: str, parameters: Sequence[Parameter], op: OperatorDef) -> list[str]:
    if not parameters:
        return []
    names = [*layout(op).input_positions, ""] if title == "Inputs" else [each.name for each in parameters]
    items: list[str] = []
    for position, each in enumerate(parameters):
        is_variadic = each.option == "variadic"
        name = each.name if is_variadic or position >= len(names) or not names[position] else names[position]
        kind = f"`{each.type_name}`" if each.type_name else "anything"
        more = {"single": "", "optional": ", optional", "variadic": ", any number"}[each.option]
        items.append(_item(f"`{'*' if is_variadic else ''}{name}` · {kind}{more}", each.doc))
    return [f"## {title}", "\n\n".join(items)]


def _attributes(op: OperatorDef) -> list[str]:
    named = layout(op).attribute_names
    if not named:
        return []
    return [
        "## Attributes",
        "\n\n".join(_item(f"`{name}` · {_attribute_kind(each)}", each.doc) for name, each in named.items()),
    ]


def _attribute_kind(attribute: Attribute) -> str:
    kind = attribute.type.name.lower()
    if attribute.choices:
        kind += ", one of " + ", ".join(f"`{each!r}`" for each in attribute.choices)
    if attribute.is_required:
        return f"{kind}, required"
    return kind if attribute.default is None else f"{kind}, `{_value(attribute.default)}` by default"


def _item(head: str, text: str) -> str:
    """An entry of a definition list, which is readable on a narrow screen; a table of long texts is not."""
    body = schema_text.block(text) or "The schema says no more of it."
    return f"{head}\n: " + body.replace("\n", "\n  ")


def _type_variables(op: OperatorDef) -> list[str]:
    found: dict[str, frozenset[str]] = {}
    for each in (*op.inputs, *op.outputs):
        if each.types and "(" not in each.type_name:
            found[each.type_name] = found.get(each.type_name, frozenset()) | each.types
    if not found:
        return []
    return ["## Types", "\n\n".join(f"`{name}`\n: {_type_words(kinds)}" for name, kinds in found.items())]


def _type_words(kinds: Iterable[str]) -> str:
    """Element types, then what is made of them; sequences and optionals of all the same types are said in a word."""
    known = set(kinds)
    plain = sorted(element_name(each) for each in known if each.startswith("tensor("))
    words = [f"`{each}`" for each in plain]
    tensors = {each for each in known if each.startswith("tensor(")}
    others = known - tensors
    for template, phrase in (
        ("seq({})", "sequences"),
        ("optional({})", "optionals"),
        ("optional(seq({}))", "optional sequences"),
    ):
        made = {template.format(f"tensor({each})") for each in _ELEMENT_NAMES}
        present = others & made
        if present:
            inner = sorted(each for each in _ELEMENT_NAMES if template.format(f"tensor({each})") in present)
            is_same = inner == plain
            words.append(f"{phrase} of {'these' if is_same else ', '.join(f'`{each}`' for each in inner)}")
            others -= made
    return ", ".join([*words, *(f"`{each}`" for each in sorted(others))])


_ELEMENT_NAMES = tuple(each.onnx_name for each in DType)


def _runtimes(entry: Entry) -> list[str]:
    op = entry.definition
    types = kernel_types(op)
    name = f"ONNX Runtime {runtime_version()}, CPU"
    if types is None and op.has_function:
        told = "It has no kernel of its own: the function that defines the operator runs in its place."
    elif types is None:
        told = "It has no kernel for this version."
    elif not types:
        told = "It has a kernel; it says nothing of types."
    else:
        told = "\n\n  ".join(
            f"`{variable}`: {_type_words(kinds)}" for variable, kinds in sorted(types.items())
        )
    items = [f"{name}\n: {told}"]
    if entry.example is not None:
        verdict = (
            "It gives what the example above gives."
            if entry.example.runs_on_reference
            else ("It does not run the example above.")
        )
        items.append(f"onnx's reference evaluator\n: {verdict}")
    return ["## Where it runs", "\n\n".join(items)]


def _versions(op: OperatorDef) -> list[str]:
    numbers = registry.versions(op.domain, op.name)
    if len(numbers) < 2:
        return []
    lines = ["## Versions", "| version | what changed |\n| --- | --- |"]
    rows: list[str] = []
    for old, new in reversed(list(itertools.pairwise(numbers))):
        before, after = registry.lookup(op.domain, op.name, old), registry.lookup(op.domain, op.name, new)
        rows.append(f"| {new} | {'; '.join(changes(before, after)).replace('|', chr(92) + '|')} |")
    rows.append(f"| {numbers[0]} | the first |")
    return [lines[0], "\n".join([lines[1], *rows])]


def _others(entry: Entry, siblings: Sequence[Entry], up: str) -> str:
    names = [f"[{each.definition.name}]({up}{each.page}.md)" for each in siblings if each is not entry]
    if not names:
        return ""
    return f"## {entry.family.title}\n\n{' · '.join(names)}"


# ---- the pages above them ----


def family_page(family: Family, entries: Sequence[Entry]) -> str:
    """The page of a family: its operators in one table."""
    rows = [
        f"| [{each.definition.name}]({each.page}.md) | {schema_text.first_sentence(each.definition.doc) or '–'} "
        f"| {_short_versions(each.definition)} |"
        for each in entries
    ]
    module = module_of(entries[0].definition.domain, version_for(entries[0].definition))
    imported = f"from onnxsmith import {module} as op"
    return "\n".join(
        [
            f"# {family.title}",
            "",
            family.about,
            "",
            f"```python\n{imported}\n```",
            "",
            "| operator | what it does | versions |",
            "| --- | --- | --- |",
            *rows,
            "",
        ]
    )


def _short_versions(op: OperatorDef) -> str:
    versions = ", ".join(map(str, registry.versions(op.domain, op.name)))
    _, until = registry.valid_range(op)
    return versions if until is None else f"{versions}; removed in {until}"


def count_table(entries: Sequence[Entry]) -> str:
    """How many operators each domain has, how many have an example that ran, and which have none."""
    rows: list[str] = []
    for domain in dict.fromkeys(each.definition.domain for each in entries):
        of_domain = [each for each in entries if each.definition.domain == domain]
        shown = [each for each in of_domain if each.example is not None]
        lacking = [
            f"[{each.definition.name}](operators/{each.page}.md)"
            for each in of_domain
            if each.example is None
        ]
        words = (
            ", ".join(lacking)
            if len(lacking) <= 5
            else f"{len(lacking)}: ONNX has no node cases of the domain"
        )
        rows.append(f"| `{domain or _STANDARD}` | {len(of_domain)} | {len(shown)} | {words or 'none'} |")
    head = ["| domain | operators | with an example that ran | without |", "| --- | --- | --- | --- |"]
    return "\n".join([*head, *rows])
