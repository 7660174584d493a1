"""The weights to be trained, in a model's metadata: written when a model for training is made.

The metadata of a model is data: the names may be of nothing, and whoever uses them looks.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, MutableMapping
from typing import cast

#: A list of names of initializers as JSON.
PARAMETERS_KEY = "onnxsmith.parameters"


def read(metadata: Mapping[str, str]) -> tuple[str, ...] | None:
    """The names of the weights to be trained; None where a model does not say."""
    text = metadata.get(PARAMETERS_KEY)
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


def rename(metadata: MutableMapping[str, str], new: Mapping[str, str]) -> None:
    """Say it of weights that have other names now."""
    names = read(metadata)
    if names is not None:
        note(metadata, [new.get(each, each) for each in names])


def limit(metadata: MutableMapping[str, str], held: Iterable[str]) -> None:
    """Say it of those weights only that a part of the model still holds."""
    names = read(metadata)
    if names is not None:
        left = set(held)
        note(metadata, [each for each in names if each in left])


def join(ours: MutableMapping[str, str], theirs: Mapping[str, str]) -> None:
    """Say it of two models that are one now; where only one of them says so, nothing is known of the whole."""
    here, there = read(ours), read(theirs)
    if here is None or there is None:
        ours.pop(PARAMETERS_KEY, None)
    else:
        note(ours, dict.fromkeys((*here, *there)))
