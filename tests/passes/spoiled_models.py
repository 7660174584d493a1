"""A program that runs every pass and every method of surgery on spoiled models, and tells what is no error of ours.

Run as `python -m tests.passes.spoiled_models FIRST LAST [SECONDS]`: the numbers are those of models, each drawn from
its own. Prints a JSON list of what was raised raw or took longer; the process stays alone, since a model may end it.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import numpy as np
import onnx

import onnxsmith
from onnxsmith import FLOAT, Model, Rule, Tensor, compose, trace
from onnxsmith import opset13 as op
from onnxsmith.errors import OnnxsmithError
from tests.passes.spoiling import damaged, models

#: So long may one operation take, in seconds of this process.
PATIENCE = 10.0


class TooLongError(BaseException):
    """An operation that does not end; no `except Exception` of ours may take it for something else."""


def _names(model: Model) -> list[str]:
    graph = model.ir.graph
    values = [*graph.inputs, *graph.initializers.values(), *(each for node in graph for each in node.outputs)]
    return [each.name or "" for each in values] or ["x"]


def _softmax(a: Tensor, *, axis: int) -> Tensor:
    return op.Softmax(a, axis=axis)


def _by_logarithm(a: Tensor, *, axis: int) -> Tensor:
    return op.Exp(op.LogSoftmax(a, axis=axis))


RULES = [
    Rule(lambda a, b: op.Mul(a, b), lambda a, b: op.Mul(b, op.Identity(a)), name="product"),
    Rule(lambda a, b: op.Relu(op.Add(a, b)), lambda a, b: op.Max(op.Add(a, b), 0.0), name="relu"),
    Rule(_softmax, _by_logarithm),
]
OTHER = trace(lambda a: op.Relu(a), FLOAT)

Operation = Callable[[Model, random.Random], object]

OPERATIONS: dict[str, Operation] = {
    "optimize": lambda model, rng: model.optimize(),
    "optimize as it is": lambda model, rng: model.optimize(opset="keep", inline=False),
    "optimize and verify": lambda model, rng: model.optimize(verify=True),
    "rewrite": lambda model, rng: model.rewrite(RULES),
    "down": lambda model, rng: model.convert_version(rng.choice((5, 9, 13))),
    "up": lambda model, rng: model.convert_version(rng.choice((18, 21, 26))),
    "domain": lambda model, rng: model.convert_version({"ai.onnx.ml": 1, "": 21}),
    "extract": lambda model, rng: model.extract(outputs=rng.choice(_names(model))),
    "extract between": lambda model, rng: model.extract([rng.choice(_names(model))]),
    "split": lambda model, rng: model.split(rng.choice(_names(model))),
    "then": lambda model, rng: model.then(OTHER),
    "then itself": lambda model, rng: model.then(model.rename(prefix="p.")),
    "compose": lambda model, rng: compose(OTHER, model),
    "rename": lambda model, rng: model.rename({rng.choice(_names(model)): "other"}),
    "prefix": lambda model, rng: model.rename(prefix="p."),
    "with_shapes": lambda model, rng: model.with_shapes(N=rng.choice((3, "M"))),
    "with_shapes of an input": lambda model, rng: model.with_shapes({rng.choice(_names(model)): (2, 4)}),
    "with_outputs": lambda model, rng: model.with_outputs(rng.choice(_names(model))),
    "replace_weights": lambda model, rng: model.replace_weights(lambda name, array: array * 2),
    "bind_inputs": lambda model, rng: model.bind_inputs(
        {rng.choice(_names(model)): np.ones((2, 4), np.float32)}
    ),
    "for_runtime": lambda model, rng: model.for_runtime(),
    "check": lambda model, rng: model.check(),
    "explain_match": lambda model, rng: onnxsmith.explain_match(
        model, rng.choice(_names(model)), rng.choice(RULES)
    ),
}


def _alarm(number: int, frame: FrameType | None) -> None:
    raise TooLongError


def spoiled(number: int) -> onnx.ModelProto | None:
    """The model of a number."""
    rng = random.Random(number)
    bases = models()
    return damaged(bases[number % len(bases)], rng)


def trouble(proto: onnx.ModelProto, number: int, patience: float) -> list[str]:
    """What the operations do to a model that they must not."""
    found: list[str] = []
    try:
        model = Model.from_proto(proto)
    except OnnxsmithError:
        return []
    before = proto.SerializeToString(deterministic=True)
    for name, operation in OPERATIONS.items():
        signal.setitimer(signal.ITIMER_VIRTUAL, patience)
        try:
            result = operation(model, random.Random(number))
            for each in result if isinstance(result, tuple | list) else [result]:
                repr(each)
                if isinstance(each, Model):
                    _ = each.proto
        except OnnxsmithError as error:
            str(error)
        except TooLongError as error:
            found.append(f"{number} {name}: no end, at {_place(error)}")
        except Exception as error:
            found.append(f"{number} {name}: {type(error).__name__}: {str(error)[:150]} ({_place(error)})")
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    if proto.SerializeToString(deterministic=True) != before:
        found.append(f"{number}: the model was changed")
    return found


def _place(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    ours = [each for each in frames if "/src/onnxsmith/" in each.filename][-1:]
    return ", ".join(f"{Path(each.filename).name}:{each.lineno}" for each in (*ours, frames[-1]))


def main(first: int, last: int, patience: float) -> None:
    """All operations on all models of these numbers."""
    signal.signal(signal.SIGVTALRM, _alarm)
    warnings.simplefilter("ignore")
    os.environ["ONNXSMITH_TRACEBACK"] = "full"
    found: list[str] = []
    for number in range(first, last):
        proto = spoiled(number)
        if proto is not None:
            print(number, file=sys.stderr, flush=True)
            found += trouble(proto, number, patience)
    json.dump(found, sys.stdout)
    sys.stdout.flush()
    os._exit(0)  # what a damaged model left behind in a runtime is not our business


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]) if len(sys.argv) > 3 else PATIENCE)
