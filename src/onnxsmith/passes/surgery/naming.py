"""Names of values and nodes: finding them, giving them others, and finding free ones.

Names are given to all values of a scope that have the old one, in nested graphs too. As long as different names stay
different, everything then reads what it read before, also where a name inside hides one outside.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import TypeAlias, TypeVar, cast

import onnx_ir as ir

from onnxsmith.diagnostics import described_type, did_you_mean
from onnxsmith.errors import CallError, DuplicateNameError, UnknownNameError
from onnxsmith.graphs.ir_types import array_to_ir
from onnxsmith.graphs.named_tensors import rename_value
from onnxsmith.graphs.notes import QUANTIZATION_KEY, notes_of
from onnxsmith.graphs.rewriting.scopes import bodies_of, described_node, graphs_of, own_values
from onnxsmith.passes.surgery.holding import values_by_name
from onnxsmith.passes.values import Array

T = TypeVar("T")

#: New names: by the old ones (`*` stands for any text), or made of them by a function.
NewNames: TypeAlias = Mapping[str, str] | Callable[[str], str]

#: Tensors of fewer bytes are copied where they need a name of their own.
_SMALL_BYTES = 1024
#: How many names a message lists.
_SHOWN = 12


def names_of(given: object, argument: str) -> list[str]:
    """One name, or several, as they were given; raises CallError for anything else."""
    if isinstance(given, str):
        return [given]
    names = list(cast("Iterable[object]", given)) if isinstance(given, Iterable) else [given]
    for each in names:
        if not isinstance(each, str):
            raise CallError(
                f"{argument} takes the names of values, not {described_type(type(each))}", culprit=argument
            )
    return cast("list[str]", names)


def by_name(given: Mapping[str, T] | None, named: Mapping[str, T], called: str) -> dict[str, T]:
    """The arguments of a mapping and by keyword, together; raises CallError for one that is no mapping by name."""
    wrong: object = given
    if isinstance(given, Mapping) or given is None:  # pyright: ignore[reportUnnecessaryIsInstance]  # user input
        together = {**(given or {}), **named}
        keys: list[object] = [each for each in together if not isinstance(each, str)]  # pyright: ignore[reportUnnecessaryIsInstance]  # user input
        if not keys:
            return together
        wrong = keys[0]
    raise CallError(f"{called} takes values by name, not {described_type(type(wrong))}", culprit=0)


def called_with(function: Callable[..., T], arguments: tuple[object, ...], called: str) -> T:
    """The result of a user's function; CallError where one refuses the arguments and no line of the user's says so."""
    try:
        return function(*arguments)
    except (TypeError, ValueError) as error:
        if error.__traceback__ is None or error.__traceback__.tb_next is not None:
            raise  # the traceback shows where
        name = getattr(function, "__name__", None) or repr(function)
        kinds = " and ".join(described_type(type(each)) for each in arguments)
        raise CallError(
            f"{called} calls {name} with {kinds}, which it refuses: {error}",
            help=f"give a function that takes {kinds}",
        ) from None


def value_names(graph: ir.Graph) -> set[str]:
    """The names of all values of a graph and of those inside it."""
    return {value.name for each in graphs_of(graph) for value in own_values(each) if value.name}


def node_names(graph: ir.Graph) -> set[str]:
    """The names of all nodes of a graph and of those inside it."""
    return {node.name for node in graph.all_nodes() if node.name}


def find_value(graph: ir.Graph, known: Mapping[str, ir.Value], name: str, argument: str) -> ir.Value:
    """The value of a name; `known` are those of the graph, `argument` is where it was given."""
    found = known.get(name)
    if found is not None:
        return found
    raise unknown("value", name, known, argument, _inside(graph, name))


def unknown(
    kind: str, name: object, known: Iterable[str], argument: str, why: str | None = None
) -> UnknownNameError:
    """The error for a name that there is not."""
    names = sorted(known)
    meant = did_you_mean(name, names) if isinstance(name, str) else "names are strings"
    listed = ", ".join(repr(each) for each in names[:_SHOWN]) + ", …" * (len(names) > _SHOWN)
    return UnknownNameError(
        f"the model has no {kind} {name!r}" + (f": {why}" if why else ""),
        help=meant or (f"the model has {listed}" if names else f"the model has no {kind}s"),
        culprit=argument,
    )


def _inside(graph: ir.Graph, name: object) -> str | None:
    """Where a value of that name is made inside a node, in words."""
    for node in graph:
        for inner in bodies_of(node):
            if any(name in values_by_name(each) for each in graphs_of(inner)):
                return f"it is inside {described_node(node)}, and a body may run many times, or never"
    return None


# -- new names for old ones ----------------------------------------------------------------------------------


def new_names(given: NewNames, names: Collection[str], kind: str, argument: str) -> dict[str, str]:
    """The new names by the old ones; raises UnknownNameError for an old name that does not exist."""
    if callable(given):
        made = {name: called_with(given, (name,), argument) for name in sorted(names)}
        return {name: _checked(new, name, argument) for name, new in made.items()}
    if not isinstance(given, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]  # user input
        raise UnknownNameError(
            f"new {kind} names are a mapping from old names, or a function, not {type(given).__name__}",
            help=f'{argument}={{"old": "new"}}',
            culprit=argument,
        )
    found: dict[str, str] = {}
    known = names if isinstance(names, set | frozenset) else set(names)
    for old, new in given.items():
        if old in known:
            found[old] = _checked(new, old, argument)
        elif not isinstance(old, str) or "*" not in old:  # pyright: ignore[reportUnnecessaryIsInstance]  # user input
            raise unknown(kind, old, known, argument)
    for old, new in given.items():  # what is named in full comes first
        if old not in known:
            matched = matches(old, known)
            if not matched:
                raise unknown(kind, old, known, argument, "nothing matches")
            for name, parts in matched.items():
                found.setdefault(name, _filled(_checked(new, old, argument), parts))
    return found


def matches(pattern: str, names: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """The names that a pattern matches, with what each `*` stands for.

    >>> matches("layer.*.w", ["layer.0.w", "layer.1.b"])
    {'layer.0.w': ('0',)}
    """
    compiled = re.compile("(.*)".join(re.escape(each) for each in pattern.split("*")), re.DOTALL)
    found = ((name, compiled.fullmatch(name)) for name in sorted(names))
    return {name: match.groups() for name, match in found if match is not None}


def _filled(new: str, parts: tuple[str, ...]) -> str:
    """A new name, each `*` in it replaced by what the one of the old name stands for."""
    waiting = list(parts)
    return re.sub(r"\*", lambda _: waiting.pop(0) if waiting else "*", new)


def _checked(new: object, old: str, argument: str) -> str:
    if isinstance(new, str) and new:
        return new
    raise UnknownNameError(
        f"the new name of '{old}' is {new!r}, and names are strings that are not empty", culprit=argument
    )


def check_unique(names: Iterable[str], new: Mapping[str, str], kind: str) -> None:
    """Refuse new names that make one of two."""
    bearers: dict[str, str] = {}
    for name in sorted(names):
        other = bearers.setdefault(new.get(name, name), name)
        if other != name:
            raise DuplicateNameError(
                f"two {kind}s would be called '{new.get(name, name)}': '{other}' and '{name}'",
                help="give one of them another name in the same call",
            )


# -- giving them ---------------------------------------------------------------------------------------------


def rename_values(graph: ir.Graph, new: Mapping[str, str]) -> None:
    """Give values their new names, in the graph and all inside it; in place. Different names must stay different."""
    if not new:
        return
    for each in graphs_of(graph):
        initializers = list(each.initializers.values())
        each.initializers.clear()
        for value in dict.fromkeys((*initializers, *own_values(each))):
            _rename_value(value, new)
        for value in initializers:  # in their order
            each.initializers.add(value)


def _rename_value(value: ir.Value, new: Mapping[str, str]) -> None:
    notes = notes_of(value)
    quantised = cast("dict[str, str] | None", notes.get(QUANTIZATION_KEY))
    if quantised:
        notes[QUANTIZATION_KEY] = {key: new.get(name, name) for key, name in quantised.items()}
    name = new.get(value.name or "")
    if name is None:
        return
    rename_value(value, name)


def tensor_of(array: Array, name: str) -> ir.TensorProtocol:
    """An array that the user gave as a tensor: a small one is copied, as they may change it; a large one is not."""
    return array_to_ir(array.copy() if array.nbytes <= _SMALL_BYTES else array, name)


def rename_nodes(graph: ir.Graph, new: Mapping[str, str]) -> None:
    """Give nodes their new names, in the graph and all inside it; in place."""
    for node in graph.all_nodes() if new else ():
        node.name = new.get(node.name or "", node.name)
