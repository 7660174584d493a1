"""`onnxsmith compare a.onnx --against b.onnx`: the first node where two runs part."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from typing import Any, cast

from onnxsmith.cli.exit_codes import FINDINGS, GOOD
from onnxsmith.cli.inputs import read_inputs
from onnxsmith.cli.program import find_object, is_program, load_program, model_or_script, taken_apart
from onnxsmith.cli.reading import load_model
from onnxsmith.cli.report import Report, Usage
from onnxsmith.cli.streams import check_words
from onnxsmith.cli.terminal import progress
from onnxsmith.comparing import ComparedNode, Comparison, Difference, compare
from onnxsmith.graphs.isolation import memory_amount
from onnxsmith.graphs.model import Model
from onnxsmith.scripting.functions.function import ScriptFunction

_TORCH = "torch:"
_WAYS = ("reference", "unoptimized")


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
            overwrite=options.force,
        )
    text = "\n".join([str(found), *(f"wrote {each}" for each in found.written)])
    report.result(content_of(found, options.model, against), text)
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
        "written": [str(each) for each in found.written],
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
