"""The weights to be trained and the state beside them, in the metadata of a model that may be trained.

A loss reads the outputs, and is told which of them are probabilities. State is what a model reads from an initializer
and writes anew, as running statistics are.

The metadata of a model is data: the names may be of nothing, and whoever uses them looks.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, MutableMapping
from typing import cast

#: A list of names of initializers as JSON.
PARAMETERS_KEY = "onnxsmith.parameters"
#: A table as JSON: the name of an initializer, and of the output with its new value; null where there is none.
STATE_KEY = "onnxsmith.state"
#: A list of names of outputs as JSON: those that are probabilities of classes.
PROBABILITIES_KEY = "onnxsmith.probabilities"


def read(metadata: Mapping[str, str]) -> tuple[str, ...] | None:
    """The names of the weights to be trained; None where a model does not say."""
    return _names(metadata.get(PARAMETERS_KEY))


def _names(text: str | None) -> tuple[str, ...] | None:
    """The names in a list as JSON; None for what is no list."""
    if text is None:
        return None
    try:
        entries: object = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(entries, list):
        return None
    names = [each for each in cast("list[object]", entries) if isinstance(each, str)]
    return tuple(dict.fromkeys(names))


def note(metadata: MutableMapping[str, str], names: Iterable[str]) -> None:
    """Say in a model's metadata which weights are to be trained."""
    metadata[PARAMETERS_KEY] = json.dumps(list(names))


def read_probabilities(metadata: Mapping[str, str]) -> tuple[str, ...]:
    """The outputs that are probabilities of classes, as far as a model says it."""
    return _names(metadata.get(PROBABILITIES_KEY)) or ()


def note_probabilities(metadata: MutableMapping[str, str], names: Iterable[str]) -> None:
    """Say in a model's metadata which outputs are probabilities of classes."""
    found = list(names)
    if found:
        metadata[PROBABILITIES_KEY] = json.dumps(found)
    else:
        metadata.pop(PROBABILITIES_KEY, None)


def read_state(metadata: Mapping[str, str]) -> dict[str, str | None]:
    """The initializers that a run of the model would write to, each with the output of its new value, if any."""
    try:
        entries: object = json.loads(metadata.get(STATE_KEY, "{}"))
    except (ValueError, RecursionError):
        return {}
    if not isinstance(entries, dict):
        return {}
    return {
        name: output
        for name, output in cast("dict[str, object]", entries).items()
        if output is None or isinstance(output, str)
    }


def note_state(metadata: MutableMapping[str, str], state: Mapping[str, str | None]) -> None:
    """Say in a model's metadata which initializers are state."""
    if state:
        metadata[STATE_KEY] = json.dumps(dict(state))
    else:
        metadata.pop(STATE_KEY, None)


def rename(metadata: MutableMapping[str, str], new: Mapping[str, str]) -> None:
    """Say it of weights that have other names now."""
    names = read(metadata)
    if names is not None:
        note(metadata, [new.get(each, each) for each in names])
    note_probabilities(metadata, [new.get(each, each) for each in read_probabilities(metadata)])
    state = read_state(metadata)
    note_state(
        metadata,
        {new.get(name, name): None if each is None else new.get(each, each) for name, each in state.items()},
    )


def limit(metadata: MutableMapping[str, str], held: Iterable[str], outputs: Iterable[str]) -> None:
    """Say it of those weights only that a part of the model still holds."""
    names = read(metadata)
    left, given = set(held), set(outputs)
    if names is not None:
        note(metadata, [each for each in names if each in left])
    note_probabilities(metadata, [each for each in read_probabilities(metadata) if each in given])
    state = read_state(metadata)
    note_state(
        metadata,
        {
            name: each if each in given else None
            for name, each in state.items()
            if name in left or each in given  # it may be written to and never read
        },
    )


def join(ours: MutableMapping[str, str], theirs: Mapping[str, str]) -> None:
    """Say it of two models that are one now; where only one of them says so, nothing is known of the whole."""
    here, there = read(ours), read(theirs)
    if here is None or there is None:
        ours.pop(PARAMETERS_KEY, None)
    else:
        note(ours, dict.fromkeys((*here, *there)))
    note_probabilities(ours, dict.fromkeys((*read_probabilities(ours), *read_probabilities(theirs))))
    note_state(ours, {**read_state(theirs), **read_state(ours)})
