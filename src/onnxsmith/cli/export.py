"""`onnxsmith export net.py:model -o net.onnx`: the model of a PyTorch module in a Python file."""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import inspect
from collections.abc import Generator, Mapping, Sequence
from typing import Any, cast

from onnxsmith.cli.arrays import make_input
from onnxsmith.cli.declared.making import EXAMPLE_NAME
from onnxsmith.cli.inputs import read_sizes
from onnxsmith.cli.model_output import check_output, write_model
from onnxsmith.cli.program import find_object, load_program, taken_apart
from onnxsmith.cli.report import Report, Usage
from onnxsmith.cli.terminal import progress
from onnxsmith.cli.type_text import read_type, split_assignment
from onnxsmith.errors import ExportError, MissingDependencyError
from onnxsmith.graphs.model import Port
from onnxsmith.graphs.trial_inputs import Draw
from onnxsmith.types.value_types import TensorType

#: Open dimensions of made-up inputs begin here, each with a size of its own: torch takes 0 and 1, and equal sizes, for
#: what they will always be.
_FIRST_SIZE = 2

#: What to do about example arguments that do not fit.
_EXAMPLE_HELP = (
    "say the type of each with --input-types 'FLOAT[N, 4]' …, or name a tuple or dict of examples in the file with "
    f"--example NAME; without either it is {EXAMPLE_NAME}"
)


def run(options: argparse.Namespace, report: Report) -> int:
    """Export the module and write the model."""
    check_output(options, report)
    file, name = taken_apart(options.module, "a module")
    if name is None:
        raise Usage(f"say which module: {file}:name")
    if options.example is not None and options.input_types:
        raise Usage("--example and --input-types both say what the module is traced on; say one of them")
    if importlib.util.find_spec("torch") is None:
        raise MissingDependencyError(
            "onnxsmith export needs PyTorch, which is not installed", help="pip install onnxsmith[torch]"
        )
    with progress(f"running {file}"):
        program = load_program(file)
    module = _module(find_object(program, name, file), options)
    args, kwargs, dynamic = _arguments(program, file, options)
    from onnxsmith.torch import export  # torch takes seconds to import, and usage is checked before

    with progress(f"exporting {name}"), _help_here():
        model: Any = export(  # checkers see another class of models in the stubs
            module,
            args,
            kwargs,
            dynamic_shapes=dynamic,
            opset_version=options.opset,
            functions=tuple(options.functions) if options.functions else None,
            verify=options.verify,
        )
    told = str(model.export_report)
    return write_model(model, options, report, f"{name.rpartition('.')[2]}.onnx", {"report": told}, told)


@contextlib.contextmanager
def _help_here() -> Generator[None]:
    """Name the options where help speaks of the arguments of `export` in Python."""
    from onnxsmith.torch.checking import EXAMPLE_HELP  # torch takes seconds

    try:
        yield
    except ExportError as error:
        if error.help == EXAMPLE_HELP:
            error.help = _EXAMPLE_HELP
        raise


def _module(found: Any, options: argparse.Namespace) -> Any:
    """A module of torch, as it is in use unless training is asked for."""
    import torch  # takes seconds

    if isinstance(found, torch.export.ExportedProgram):
        return found
    if not isinstance(found, torch.nn.Module) and callable(found):
        needed = [
            each.name
            for each in inspect.signature(found).parameters.values()
            if each.default is each.empty and each.kind not in (each.VAR_POSITIONAL, each.VAR_KEYWORD)
        ]
        if needed:
            raise Usage(f"{options.module} needs {', '.join(needed)}; name a module that is there already")
        found = found()
    if not isinstance(found, torch.nn.Module):
        raise Usage(f"{options.module} is no torch.nn.Module but of type {type(found).__name__}")
    return found.train() if options.training else found.eval()


def _arguments(
    program: object, file: str, options: argparse.Namespace
) -> tuple[tuple[Any, ...], dict[str, Any], Any]:
    """The example arguments of the module, positional and by name, and the dimensions that stay open."""
    if options.input_types:
        return _made_up(options)
    if options.dim:
        raise Usage("--dim gives dimensions of --input-types a size, and there are none")
    wanted = options.example or EXAMPLE_NAME
    if not hasattr(program, wanted):
        if options.example is not None:
            raise Usage(f"{file} has no {wanted!r}")
        return (), {}, None  # a module that takes nothing; torch says what is missing
    example = getattr(program, wanted)
    if isinstance(example, Mapping):
        return (), dict(cast("Mapping[str, Any]", example)), None
    return (
        (tuple(cast("Sequence[Any]", example)) if isinstance(example, list | tuple) else (example,)),
        {},
        None,
    )


def _made_up(options: argparse.Namespace) -> tuple[tuple[Any, ...], dict[str, Any], Any]:
    import torch  # takes seconds

    words: list[str] = options.input_types
    is_named = "=" in words[0]
    ports: list[Port] = []
    for position, word in enumerate(words):
        name, text = f"input {position + 1}", word
        if is_named:
            name, text = split_assignment(word, "--input-types", "all types, or all name=type")
        ports.append(Port(name, read_type(text)))
    sizes = _sizes(ports, options.dim)
    draw = Draw()
    arrays = [make_input(each, "random", sizes, draw) for each in ports]
    tensors = [torch.as_tensor(each) for each in arrays]
    opened = [_open_dimensions(each) for each in ports]
    if is_named:
        names = [each.name for each in ports]
        return (), dict(zip(names, tensors, strict=True)), dict(zip(names, opened, strict=True))
    return tuple(tensors), {}, tuple(opened)


def _sizes(ports: Sequence[Port], words: Sequence[str]) -> dict[str, int]:
    """A size for each open dimension: what is said, or the next that no dimension has."""
    sizes = read_sizes(ports, words)
    shapes = [each.type.shape or () for each in ports if isinstance(each.type, TensorType)]
    every = [each for shape in shapes for each in shape]
    taken = {each for each in every if isinstance(each, int)} | set(sizes.values())
    for name in every:
        if isinstance(name, str) and name not in sizes:
            sizes[name] = next(k for k in range(_FIRST_SIZE, _FIRST_SIZE + len(taken) + 1) if k not in taken)
            taken.add(sizes[name])
    return sizes


def _open_dimensions(port: Port) -> dict[int, str]:
    shape = port.type.shape if isinstance(port.type, TensorType) else None
    return {axis: name for axis, name in enumerate(shape or ()) if isinstance(name, str)}
