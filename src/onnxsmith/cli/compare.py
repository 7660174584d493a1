"""`onnxsmith compare a.onnx --against b.onnx`: the first node where two runs part."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from typing import Any, cast

from onnxsmith.cli.exit_codes import FINDINGS, GOOD
from onnxsmith.cli.inputs import add_input_arguments, read_inputs
from onnxsmith.cli.numbers import tolerance
from onnxsmith.cli.program import find_object, is_program, load_program, model_or_script, taken_apart
from onnxsmith.cli.report import Report, Usage
from onnxsmith.cli.streams import check_words, load_model
from onnxsmith.cli.terminal import progress
from onnxsmith.comparing import ComparedNode, Comparison, Difference, compare
from onnxsmith.graphs.isolation import memory_amount
from onnxsmith.graphs.model import Model
from onnxsmith.scripting.functions.function import ScriptFunction

_TORCH = "torch:"
_WAYS = ("reference", "unoptimized")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What can be said after `compare`."""
    parser.epilog = (
        "Exit code 1 where they part. Inputs are made up unless some are given. Of file.py:script and of\n"
        "torch:package.module:factory the code is run; a factory gives a module, or a module and its arguments.\n"
        "  onnxsmith compare net.onnx --against small.onnx --input x=x.npy\n"
        "  onnxsmith compare net.onnx --against reference --reproduce found\n"
        "  onnxsmith compare net.py:forward --against net.onnx"
    )
    parser.add_argument("model", metavar="MODEL", help="a model file, or file.py:script; - is standard input")
    parser.add_argument(
        "--against",
        metavar="OTHER",
        help="a model file, reference, unoptimized, file.py:script, or torch:package.module:factory",
    )
    parser.add_argument(
        "--levels", action="store_true", help="the same as --against unoptimized: the runtime's optimisations"
    )
    parser.add_argument(
        "--provider",
        action="append",
        metavar="NAME",
        help="an execution provider for the second run; with no --against, of the same model",
    )
    add_input_arguments(parser)
    parser.add_argument("--rtol", type=tolerance, help="how far results may be apart, as a part of them")
    parser.add_argument("--atol", type=tolerance, help="how far results may be apart")
    parser.add_argument("--memory", metavar="AMOUNT", help="how much of the values is held, such as 500MB")
    parser.add_argument(
        "--reproduce", metavar="FOLDER", help="write the node there, with its inputs and results"
    )


def run(options: argparse.Namespace, report: Report) -> int:
    """Compare, and say where they part."""
    against = _against(options)
    check_words([options.model, against])
    memory = 1 << 30 if options.memory is None else memory_amount(options.memory)
    if not memory:
        raise Usage(f"--memory is an amount such as 512MB or 2GB, and {options.memory!r} is none")
    first = _read(options.model)
    second = first if against == options.model else against if against in _WAYS else _read(against)
    inputs = None
    if options.input or options.dim or options.seed:
        known = first if isinstance(first, Model) else first.to_model()
        inputs = read_inputs(known.inputs, known.optional_inputs, options, is_made_up=True)
    with progress(f"comparing {options.model} and {against}"):
        found = compare(
            first,
            second,  # type: ignore[arg-type]
            inputs,
            rtol=options.rtol,
            atol=options.atol,
            providers=options.provider,
            memory=memory,
            reproduce=options.reproduce,
        )
    report.result(content_of(found, options.model, against), str(found))
    return GOOD if found else FINDINGS


def _against(options: argparse.Namespace) -> str:
    if options.levels and options.against is not None:
        raise Usage("--levels compares with the same model, and --against names another: say one of them")
    if options.levels:
        return "unoptimized"
    if options.against is None and options.provider is None:
        raise Usage(
            "say what to compare with: --against b.onnx, --against reference, --levels, or --provider"
        )
    return options.model if options.against is None else options.against


def _read(word: str) -> Model | ScriptFunction:
    if word.startswith(_TORCH):
        return _exported(word.removeprefix(_TORCH))
    return model_or_script(word) if is_program(word) else load_model(word)


def _exported(word: str) -> Model:
    """The model of a PyTorch module that a function of the user's makes."""
    file, name = taken_apart(word, "a factory")
    if name is None:
        raise Usage(f"--against torch:package.module:factory, and {word!r} names no factory")
    from onnxsmith.torch import export  # heavy: PyTorch

    made: Any = find_object(load_program(file), name, file)()
    parts: tuple[Any, ...] = cast("tuple[Any, ...]", made) if isinstance(made, tuple) else (made,)
    exported: Any = export(parts[0], parts[1] if len(parts) > 1 else ())
    return cast(Model, exported)


def content_of(found: Comparison, model: str, against: str) -> dict[str, Any]:
    """The result for JSON."""
    return {
        "file": model,
        "against": against,
        "equal": bool(found),
        "matched": found.matched,
        "differing": found.differing,
        "inputs": found.inputs,
        "node": _node(found.node),
        "other": _node(found.other),
        "region": [_node(each) for each in found.region],
        "other_region": [_node(each) for each in found.other_region],
        "value": found.value,
        "difference": _difference(found.difference),
        "explains": found.explains,
        "is_weight": found.is_weight,
        "held": list(found.held),
        "outputs": {name: _difference(each) for name, each in found.outputs.items()},
        "notes": list(found.notes),
    }


def _node(found: ComparedNode | None) -> dict[str, Any] | None:
    if found is None:
        return None
    return {
        "address": found.address,
        "operator": found.node.operator,
        "name": found.node.name,
        "turns": list(found.turns),
        "until": found.until,
        "source": None if found.source is None else str(found.source),
    }


def _difference(found: Difference | None) -> dict[str, Any] | None:
    if found is None:
        return None
    content = asdict(found)
    for key in ("absolute", "relative", "units"):
        content[key] = content[key] if content[key] == content[key] else None  # JSON has no NaN
    for key in ("left", "right"):
        content[key] = None if content[key] is None else str(content[key])
    return content
