"""`onnxsmith run m.onnx --input x=x.npy`: a model on arrays from files, from literals, or made up."""

from __future__ import annotations

import argparse
import math
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any, TypedDict, cast

import numpy as np

from onnxsmith.cli.arrays import OutputFolder, make_input, readable, shown
from onnxsmith.cli.report import Report, Usage
from onnxsmith.cli.streams import check_words, load_model
from onnxsmith.cli.streams import shown as shown_file
from onnxsmith.cli.terminal import progress
from onnxsmith.cli.type_text import split_assignment
from onnxsmith.diagnostics import did_you_mean, printable
from onnxsmith.errors import ModelInputError
from onnxsmith.graphs.isolation import memory_amount
from onnxsmith.graphs.model import Port
from onnxsmith.graphs.model_inputs import described
from onnxsmith.runtime.settings import using
from onnxsmith.types.value_types import TensorType


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What can be said after `run`."""
    parser.epilog = (
        "An input is a file, x=x.npy or x=data.npz:key, x=- is an .npy file from standard input; made up, x=random,\n"
        "x=zeros, x=ones; or a literal, 'x=[1,2]':\n"
        "  onnxsmith run net.onnx --input x=x.npy --input mask=ones --dim N=4"
    )
    parser.add_argument("model", metavar="MODEL", help="a model file; - is standard input")
    add_input_arguments(parser)
    parser.add_argument("--output-dir", metavar="FOLDER", help="write each output there, as <name>.npy")
    parser.add_argument(
        "--force", action="store_true", help="replace files in that folder that hold something else"
    )
    parser.add_argument("--runtime", choices=["onnxruntime", "reference"], help="what runs the model")
    parser.add_argument(
        "--isolated",
        action="store_true",
        help="run it in a process of its own, for a model that you do not trust",
    )
    parser.add_argument(
        "--timeout", type=float, metavar="SECONDS", help="with --isolated: how long it may take"
    )
    parser.add_argument(
        "--memory", metavar="AMOUNT", help="with --isolated: how much memory it may take, such as 2GB (Linux)"
    )


def add_input_arguments(parser: argparse.ArgumentParser) -> None:
    """How the inputs of a model are given."""
    parser.add_argument(
        "--input", action="append", default=[], metavar="NAME=VALUE", help="a value for an input"
    )
    parser.add_argument("--random", action="store_true", help="make up the inputs that are not given")
    parser.add_argument(
        "--dim",
        action="append",
        default=[],
        metavar="NAME=SIZE",
        help="the size of a dimension of made-up inputs",
    )
    parser.add_argument("--seed", type=int, default=0, help="for random inputs; 0 by default")


def run(options: argparse.Namespace, report: Report) -> int:
    """Run the model, print its outputs."""
    limits = _limits(options)
    check_words([options.model, *(word.partition("=")[2].strip() for word in options.input)])
    with progress(f"reading {shown_file(options.model)}"):
        model = load_model(options.model)
    inputs = inputs_from_words(model.inputs, model.optional_inputs, options)
    with (
        using(runtime=options.runtime) if options.runtime else nullcontext(),
        progress(f"running {shown_file(options.model)}"),
    ):
        results = model.run(inputs, **limits)
    values: Sequence[Any] = cast("tuple[Any, ...]", results) if len(model.outputs) > 1 else [results]
    written: list[str] = []
    if options.output_dir is not None:
        folder = OutputFolder(Path(options.output_dir), overwrite=options.force)
        for port, value in zip(model.outputs, values, strict=True):
            written += [str(each) for each in folder.save(port.name, value)]
    outputs = [
        {"name": port.name, **readable(value)} for port, value in zip(model.outputs, values, strict=True)
    ]
    text = "\n".join(
        [shown(port.name, value) for port, value in zip(model.outputs, values, strict=True)]
        + [f"wrote {each}" for each in written]
    )
    report.result({"file": options.model, "outputs": outputs, "written": written}, printable(text))
    return 0


class Limits(TypedDict):
    """The options of `Model.run`."""

    isolated: bool
    timeout: float | None
    memory: int | None


def _limits(options: argparse.Namespace) -> Limits:
    """What the words say about a process of its own."""
    for name in ("timeout", "memory"):
        if getattr(options, name) is not None and not options.isolated:
            raise Usage(f"--{name} limits a process of its own; say --isolated, too")
    if options.timeout is not None and not 0 < options.timeout < math.inf:
        raise Usage(f"--timeout is a positive number of seconds, and {options.timeout:g} is not")
    memory = None if options.memory is None else memory_amount(options.memory)
    if options.memory is not None and not memory:
        raise Usage(f"--memory is an amount such as 512MB or 2GB, and {options.memory!r} is none")
    return {"isolated": options.isolated, "timeout": options.timeout, "memory": memory}


def inputs_from_words(
    required: Sequence[Port], optional: Sequence[Port], options: argparse.Namespace
) -> dict[str, Any]:
    """The inputs that `--input`, `--random`, `--dim` and `--seed` say."""
    ports = (*required, *optional)
    names = [port.name for port in ports]
    given: dict[str, str] = {}
    for word in options.input:
        name, text = split_assignment(word, "--input", "name=value")
        if name not in names:
            hint = did_you_mean(name, names) or f"its inputs are {', '.join(names) or 'none'}"
            raise Usage(f"the model has no input {name!r}; {hint}")
        given[name] = text
    sizes = dict(_size(word) for word in options.dim)
    _check_dimensions(ports, sizes)
    generator = np.random.default_rng(options.seed)
    inputs: dict[str, Any] = {}
    for port in ports:
        is_drawn = options.random and port in required  # a default is what the model was made with
        text = given.get(port.name, "random" if is_drawn else None)
        if text is not None:
            inputs[port.name] = make_input(port, text, sizes, generator)
    missing = [port.name for port in required if port.name not in inputs]
    if missing:
        form = ", ".join(described(required, optional))
        raise ModelInputError(
            f"input '{missing[0]}' is missing",
            help=f"give it with --input {missing[0]}=FILE.npy, or say --random; the model takes {form}",
        )
    return inputs


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
