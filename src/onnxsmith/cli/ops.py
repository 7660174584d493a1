"""`onnxsmith ops Conv`: the operators of a version, and what each takes and gives."""

from __future__ import annotations

import argparse
import fnmatch
import shutil
import textwrap
from collections.abc import Iterator, Sequence
from typing import Any

from onnxsmith.cli import terminal
from onnxsmith.cli.exit_codes import GOOD
from onnxsmith.cli.lookup import look_up
from onnxsmith.cli.report import Report, Usage
from onnxsmith.cli.standard_output import results
from onnxsmith.core.operator import signature
from onnxsmith.diagnostics import did_you_mean
from onnxsmith.schema import registry
from onnxsmith.schema.definition import Attribute, OperatorDef, Parameter
from onnxsmith.schema.registry import default_opset_version

#: What the standard domain, whose name is empty, is called.
_STANDARD = "ai.onnx"
#: Domains that ONNX Runtime uses inside, with operators of ONNX's names; shown where they are asked for.
_INSIDE = frozenset({"com.microsoft.nchwc", "com.ms.internal.nhwc"})
_PATTERN_LETTERS = frozenset("*?[")
_WIDEST = 100


def run(options: argparse.Namespace, report: Report) -> int:
    """Print operators, or the list of all."""
    domains = _domains(options)
    if not options.names:
        known = {domain: registry.names(domain, _version(domain, options)) for domain in domains}
        entries = [{"name": name, "domain": domain} for domain, names in known.items() for name in names]
        report.result(entries, _index(known, options))
        return GOOD
    return look_up(
        options.names,
        report,
        find=lambda word: list(_found(word, domains, options)),
        entry=_entry,
        text=_text,
        missing=lambda word: f"there is no operator {word!r}{_where(word, domains, options)}",
    )


def _domains(options: argparse.Namespace) -> Sequence[str]:
    known = registry.domains()
    if options.domain is None:
        if options.opset is not None:
            return [""]  # versions of one domain say nothing of another
        return shown_domains()
    domain = "" if options.domain == _STANDARD else options.domain
    if domain not in known:
        names = [_called(each) for each in known]
        hint = did_you_mean(options.domain, names) or f"there are {', '.join(names)}"
        raise Usage(f"nothing is known of a domain {options.domain!r}; {hint}")
    return [domain]


def shown_domains() -> Sequence[str]:
    """The domains whose operators are listed unless one is asked for."""
    return [each for each in registry.domains() if each not in _INSIDE]


def _version(domain: str, options: argparse.Namespace) -> int:
    newest = registry.latest_version(domain)
    if options.opset is None:
        return newest if domain else default_opset_version()
    if options.opset > newest:
        raise Usage(f"--opset {options.opset}: the newest version of {_called(domain)} here is {newest}")
    return options.opset


def _found(word: str, domains: Sequence[str], options: argparse.Namespace) -> Iterator[OperatorDef]:
    """Operators with this name or pattern, in all domains. Case matters only if two names differ by it."""
    for domain in domains:
        version = _version(domain, options)
        names = registry.names(domain, version)
        if _PATTERN_LETTERS & set(word):
            chosen = [name for name in names if fnmatch.fnmatchcase(name.lower(), word.lower())]
        else:
            chosen = [name for name in names if name == word] or [
                name for name in names if name.lower() == word.lower()
            ]
        for name in chosen:
            yield registry.lookup(domain, name, version)


def _where(word: str, domains: Sequence[str], options: argparse.Namespace) -> str:
    """Where it was looked for, and what may be meant."""
    place = f" in {_called(domains[0])}, version {_version(domains[0], options)}" if len(domains) == 1 else ""
    if _PATTERN_LETTERS & set(word):
        return place
    since = [each for domain in domains for each in registry.versions(domain, word)]
    if since:
        return f"{place}; it is there in version {since[-1]}, {_called(domains[0])}: --opset {since[-1]}"
    names = [name for domain in domains for name in registry.names(domain, _version(domain, options))]
    return f"{place}; {did_you_mean(word, names) or 'onnxsmith ops lists all'}"


def _called(domain: str) -> str:
    return domain or _STANDARD


def _index(known: dict[str, tuple[str, ...]], options: argparse.Namespace) -> str:
    width = min(shutil.get_terminal_size().columns, _WIDEST)
    lines: list[str] = []
    for domain, names in known.items():
        title = f"{_called(domain)}, version {_version(domain, options)}: {len(names)} operators"
        wrapped = textwrap.fill(
            "  ".join(names), width, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False
        )
        lines += ["", terminal.styled(title, "bold", results()), wrapped]
    return "\n".join(lines[1:])


def _call(definition: OperatorDef) -> str:
    return f"op.{definition.name}{signature(definition)}"


def _entry(definition: OperatorDef) -> dict[str, Any]:
    """An operator as JSON."""
    return {
        "name": definition.name,
        "domain": _called(definition.domain),
        "since": definition.since_version,
        "versions": list(registry.versions(definition.domain, definition.name)),
        "deprecated": definition.is_deprecated,
        "function": definition.has_function,
        "signature": _call(definition),
        "inputs": [_port(each) for each in definition.inputs],
        "outputs": [_port(each) for each in definition.outputs],
        "attributes": [
            {
                "name": each.name,
                "type": each.type.name,
                "required": each.is_required,
                "default": each.default,
                "choices": list(each.choices) if each.choices else None,
                "doc": _one_line(each.doc),
            }
            for each in definition.attributes.values()
        ],
        "doc": definition.doc.strip(),
    }


def _port(parameter: Parameter) -> dict[str, Any]:
    return {
        "name": parameter.name,
        "option": parameter.option,
        "type": parameter.type_name,
        "types": sorted(parameter.types),
        "doc": _one_line(parameter.doc),
    }


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _text(definition: OperatorDef) -> str:
    """An operator for people."""
    width = min(shutil.get_terminal_size().columns, _WIDEST)
    since = registry.versions(definition.domain, definition.name)
    changed = f", changed in {', '.join(map(str, since[1:]))}" if since[1:] else ""
    title = f"{definition.name} of {_called(definition.domain)}"
    lines = [
        f"{terminal.styled(title, 'bold', results())}, since version {since[0]}{changed}",
        "",
        textwrap.fill(_call(definition), width, subsequent_indent="    ", break_on_hyphens=False),
        "",
        textwrap.dedent(definition.doc).strip(),
    ]
    if definition.is_deprecated:
        lines.insert(1, "it is deprecated")
    for heading, parameters in (("inputs", definition.inputs), ("outputs", definition.outputs)):
        lines += _section(heading, [(f"{each.name}: {_types(each)}", each.doc) for each in parameters], width)
    attributes = [(_attribute(each), each.doc) for each in definition.attributes.values()]
    lines += _section("attributes", attributes, width)
    return "\n".join(lines)


def _section(heading: str, items: Sequence[tuple[str, str]], width: int) -> list[str]:
    if not items:
        return []
    lines = ["", terminal.styled(heading, "bold", results())]
    for head, doc in items:
        lines.append(textwrap.fill(head, width, initial_indent="  ", subsequent_indent="      "))
        if _one_line(doc):
            lines.append(
                textwrap.fill(_one_line(doc), width, initial_indent="      ", subsequent_indent="      ")
            )
    return lines


def _types(parameter: Parameter) -> str:
    """The types of an input or output: `tensor(float)` says as much as `float`, and takes more room."""
    plain = sorted(each.removeprefix("tensor(").removesuffix(")") for each in parameter.types)
    words = ", ".join(plain) if plain else "anything"
    more = {"single": "", "optional": ", optional", "variadic": ", any number of them"}[parameter.option]
    return words + more


def _attribute(attribute: Attribute) -> str:
    kind = attribute.type.name.lower()
    if attribute.choices:
        kind = f"{kind}, one of {', '.join(attribute.choices)}"
    if attribute.is_required:
        return f"{attribute.name}: {kind}, required"
    default = "" if attribute.default is None else f", {attribute.default!r} by default"
    return f"{attribute.name}: {kind}{default}"
