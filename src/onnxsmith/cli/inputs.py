"""The inputs of a model from the words of a command: `--input x=x.npy`, `--random`, `--dim N=4`, `--seed 1`."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from typing import Any

from onnxsmith.cli.arrays import make_input
from onnxsmith.cli.report import Usage
from onnxsmith.cli.type_text import split_assignment
from onnxsmith.diagnostics import did_you_mean
from onnxsmith.errors import ModelInputError
from onnxsmith.graphs.model import Port
from onnxsmith.graphs.model_inputs import described
from onnxsmith.graphs.trial_inputs import Draw
from onnxsmith.types.value_types import TensorType


def read_inputs(
    required: Sequence[Port],
    optional: Sequence[Port],
    options: argparse.Namespace,
    *,
    is_made_up: bool,
) -> dict[str, Any]:
    """The inputs by name; `is_made_up` says whether those that are not given are drawn."""
    ports = (*required, *optional)
    names = [port.name for port in ports]
    given: dict[str, str] = {}
    for word in options.input:
        name, text = split_assignment(word, "--input", "name=value")
        if name not in names:
            hint = did_you_mean(name, names) or f"its inputs are {', '.join(names) or 'none'}"
            raise Usage(f"the model has no input {name!r}; {hint}")
        given[name] = text
    sizes = read_sizes(ports, options.dim)
    draw = Draw(options.seed)
    inputs: dict[str, Any] = {}
    for port in ports:
        is_drawn = is_made_up and port in required  # a default is what the model was made with
        text = given.get(port.name, "random" if is_drawn else None)
        if text is not None:
            inputs[port.name] = make_input(port, text, sizes, draw)
    missing = [port.name for port in required if port.name not in inputs]
    if missing:
        form = ", ".join(described(required, optional))
        raise ModelInputError(
            f"input '{missing[0]}' is missing",
            help=f"give it with --input {missing[0]}=FILE.npy, or say --random; the model takes {form}",
        )
    return inputs


def read_sizes(ports: Sequence[Port], words: Sequence[str]) -> dict[str, int]:
    """The sizes of dimensions that `--dim NAME=SIZE` names; each is one of an input."""
    sizes = dict(_size(word) for word in words)
    _check_dimensions(ports, sizes)
    return sizes


def _check_dimensions(ports: Sequence[Port], sizes: Mapping[str, int]) -> None:
    """Refuse the size of a dimension that no input has."""
    shapes = [port.type.shape or () for port in ports if isinstance(port.type, TensorType)]
    known = dict.fromkeys("?" if each is None else each for shape in shapes for each in shape)
    names = [each for each in known if isinstance(each, str)]
    for name in sizes:
        if name not in names:
            hint = did_you_mean(name, names) or f"their open dimensions are {', '.join(names) or 'none'}"
            raise Usage(f"--dim {name}: no input has such a dimension; {hint}")


def _size(word: str) -> tuple[str, int]:
    name, text = split_assignment(word, "--dim", "name=size")
    if not text.isdigit():
        raise Usage(f"--dim is name=size, and {text!r} is no size")
    return name, int(text)
