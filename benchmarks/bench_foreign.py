"""Models of other exporters: loaded, run, optimised, decompiled and converted to opset 21, beside their own framework.

Each step is *right* (the framework's results, or those of a bare session where the exporter wrote another program),
*refused* (an error of ours, which names the node), or *wrong*. The models are those that `python -m benchmarks.foreign
FOLDER` wrote, in the environments of the exporters. The variable `ONNXSMITH_FOREIGN_MODELS` names the folder; without
it there is nothing to measure.
"""

from __future__ import annotations

import os
import warnings
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.contest import Context
from benchmarks.foreign.making import Made, read
from benchmarks.rows import NOT_INSTALLED, Row, at_most

NAME = "foreign"
DESCRIPTION = (
    "models of tf2onnx, Keras, onnxmltools, jax2onnx and paddle2onnx; steps that are wrong, and refused"
)

#: As a part of the largest element: the frameworks sum in other orders.
_TOLERANCE = 2e-3
_OPSET = 21


def run(context: Context) -> list[Row]:
    """Two rows for each step: how many models it is wrong on, and how many it refuses."""
    folder = os.environ.get("ONNXSMITH_FOREIGN_MODELS")
    places = sorted(Path(folder).rglob("*.onnx")) if folder else []
    counts: dict[str, Counter[str]] = {name: Counter() for name in STEPS}
    for place in places:
        for step, told in verdicts(read(place), place):
            counts[step][told.partition(":")[0]] += 1
            if told != "right":
                print(f"  {place.stem}, {step}: {told}", flush=True)
    most = len(places) * 0.15
    return [
        Row(f"{len(places)} models, {step}, {kind}", float(found[kind]), "models", "none", NOT_INSTALLED, bar)
        for step, found in counts.items()
        for kind, bar in (("wrong", at_most(0)), ("refused", at_most(most)))
    ]


def _decompiled(model: Any) -> Any:
    import onnxsmith

    return onnxsmith.recompile(onnxsmith.decompile(model))


#: What is done to a model before it runs.
STEPS: dict[str, Callable[[Any], Any]] = {
    "run": lambda model: model,
    "optimize": lambda model: model.optimize(),
    "decompile": _decompiled,
    f"convert to opset {_OPSET}": lambda model: model.convert_version(_OPSET),
}


def verdicts(made: Made, place: Path) -> Iterable[tuple[str, str]]:
    """What each step does to a model: right, refused with the reason, or wrong with the difference."""
    import onnxsmith
    from onnxsmith.errors import OnnxsmithError

    for step, change in STEPS.items():
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                changed = change(onnxsmith.load(place))
                names = [port.name for port in changed.inputs]
                result = changed.run(dict(zip(names, made.inputs, strict=True)))
        except OnnxsmithError as error:
            yield step, f"refused: {type(error).__name__}: {error.message[:200]}"
            continue
        except Exception as error:
            yield step, f"wrong: {type(error).__name__}: {str(error)[:200]}"
            continue
        found = result if isinstance(result, tuple) else (result,)
        difference = _difference(made.outputs, found)
        if difference is not None and _difference(_bare_results(place, made), found) is None:
            difference = None  # the exporter wrote another program, and that is what the file says
        yield step, "right" if difference is None else f"wrong: {difference}"


def _bare_results(place: Path, made: Made) -> list[Any]:
    """The results of the file as it is, on ONNX Runtime without us."""
    import onnxruntime

    session = onnxruntime.InferenceSession(str(place), providers=["CPUExecutionProvider"])
    names = [each.name for each in session.get_inputs()]
    return session.run(None, dict(zip(names, made.inputs, strict=True)))


def _difference(wanted: Iterable[Any], found: Iterable[Any]) -> str | None:
    pairs = list(zip(wanted, found, strict=False))
    for left, right in pairs:
        one, other = np.asarray(left, np.float64).ravel(), _numbers(right).ravel()
        if one.shape != other.shape:
            return f"{one.size} elements became {other.size}"
        error = np.abs(one - other).max(initial=0)
        if not error <= _TOLERANCE * max(1e-3, np.abs(one).max(initial=0)):
            return f"by {error:.3g}"
    return None if pairs else "there are no results"


def _numbers(result: Any) -> Any:
    """A result as an array; probabilities may be a map for each row, by class."""
    if isinstance(result, list) and result and isinstance(result[0], dict):
        result = [[row[key] for key in sorted(row)] for row in result]
    return np.asarray(result, np.float64)
