"""The outside of a model as the user words it: names of inputs and outputs, a doc string, metadata.

Checks what is given and puts it on a finished graph; how the graph came about is not its business.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

from onnxsmith.diagnostics import described_type, did_you_mean
from onnxsmith.errors import OnnxsmithError
from onnxsmith.errors.base import Culprit
from onnxsmith.graphs.names import Names
from onnxsmith.graphs.records import GraphRecord, ModelRecord, ValueRecord

#: Names in order, or new names by the ones that there are.
GivenNames: TypeAlias = Sequence[str] | Mapping[str, str]


def refuse_unknown(
    called: str,
    given: Iterable[str],
    known: Sequence[str],
    error: type[OnnxsmithError],
    help: str | None = None,
) -> None:
    """Raise an error for an option that there is not: `help`, or the option that is meant."""
    for name in given:
        longer = [each for each in known if name in each.split("_")]
        meant = f"did you mean '{longer[0]}'?" if longer else did_you_mean(name, known)
        raise error(
            f"{called} has no option '{name}'",
            help=help or meant or f"its options are: {', '.join(known)}",
            culprit=name,
        )


def read_names(
    given: GivenNames, current: Sequence[str], option: str, error: type[OnnxsmithError]
) -> list[str]:
    """The name of each input or output, as `input_names` or `output_names` give them."""
    kind = option.removesuffix("_names") + "s"
    culprit: Culprit = ("attribute", option)
    if isinstance(given, str):
        raise error(
            f"{option} is a list of names, not the string {given!r}",
            help=f"{option}=[{given!r}]",
            culprit=culprit,
        )
    if isinstance(given, Mapping):
        unknown = [name for name in given if name not in current]
        if unknown:
            listed = f"the {kind} are: {', '.join(current) or 'none'}"
            raise error(
                f"{option} renames '{unknown[0]}', and there is none",
                help=did_you_mean(str(unknown[0]), current) or listed,
                culprit=culprit,
            )
        names = [given.get(name, name) for name in current]
    else:
        names = list(given)
    if len(names) != len(current):
        raise error(
            f"{option} has {_count(len(names), 'name')} for {_count(len(current), kind[:-1])}",
            culprit=culprit,
        )
    for position, name in enumerate(names):
        _check_text(name, f"a name in {option}", error, culprit)
        if not name:
            raise error(f"{option} has an empty name, which ONNX takes for an absent value", culprit=culprit)
        if name in names[:position]:
            raise error(f"{option} gives two {kind} the name '{name}'", culprit=culprit)
    return names


def rename(
    graph: GraphRecord,
    taken: Names,
    ports: Sequence[ValueRecord],
    names: Sequence[str],
    error: type[OnnxsmithError],
) -> None:
    """Give inputs or outputs of a finished graph their names; a value in between that has one of them makes way."""
    changed = [(port, name) for port, name in zip(ports, names, strict=True) if port.name != name]
    if not changed:
        return
    mine = {id(port) for port, _ in changed}
    holders = {value.name: value for value in _values(graph) if id(value) not in mine}
    outside = {id(value) for value in (*graph.inputs, *graph.outputs, *graph.initializers)}
    weights = {each.name for each in graph.initializers}
    for port, name in changed:
        holder = holders.get(name)
        if holder is not None and id(holder) in outside:
            what = "a weight" if name in weights else "another input or output"
            raise error(f"'{name}' is the name of {what} of the model already", help="choose another name")
        if holder is not None:
            holder.name = taken.unique(name)
        port.name = name
        if name not in taken:
            taken.unique(name)


def _values(graph: GraphRecord) -> Iterable[ValueRecord]:
    yield from (*graph.inputs, *graph.initializers)
    for node in graph.all_nodes():
        yield from node.outputs
        for inner in node.graphs():
            yield from inner.inputs


def describe(
    model: ModelRecord,
    doc_string: str | None,
    metadata: Mapping[str, str] | None,
    error: type[OnnxsmithError],
) -> None:
    """Put the doc string and the metadata on a model."""
    if doc_string is not None:
        _check_text(doc_string, "doc_string", error, ("attribute", "doc_string"))
        model.doc_string = doc_string
    if metadata is None:
        return
    culprit: Culprit = ("attribute", "metadata")
    if not isinstance(metadata, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]  # not every caller is checked
        raise error(f"metadata is a dict of strings, not {described_type(type(metadata))}", culprit=culprit)
    for key, value in metadata.items():
        _check_text(key, "a key of metadata", error, culprit)
        _check_text(value, f"metadata[{key!r}]", error, culprit)
    model.metadata_props.update(metadata)


def _check_text(value: object, what: str, error: type[OnnxsmithError], culprit: Culprit) -> None:
    if not isinstance(value, str):
        raise error(
            f"{what} is a string, not {described_type(type(value))}",
            help=f'"{value}"' if isinstance(value, int | float) else None,
            culprit=culprit,
        )


def _count(count: int, noun: str) -> str:
    return f"{count} {noun}{'s' * (count != 1)}"
