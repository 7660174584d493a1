"""Arguments that several commands have: the model, where results go, the inputs of a run."""

from __future__ import annotations

from onnxsmith.cli.declaration import Argument, repeated, switch, valued
from onnxsmith.cli.numbers import whole

MODEL = valued("model", "MODEL", "a model file; - is standard input", completes="model")
MODELS = valued("models", "MODEL", "model files; - is standard input", nargs="+", completes="model")
MODEL_OR_SCRIPT = valued(
    "model", "MODEL", "a model file, or file.py:script; - is standard input", completes="program"
)
OPSET = valued("--opset", "N", "the opset version of the model", type=whole(1))
VERIFY = switch("--verify", "run both models on made-up inputs and compare what they give")
FORCE_PICTURE = switch("--force", "replace a file that is no page or picture of a model")

#: The inputs of a run.
INPUTS: tuple[Argument, ...] = (
    repeated("--input", "NAME=VALUE", "a value for an input", completes="array"),
    repeated("--dim", "NAME=SIZE", "the size of a dimension of made-up inputs"),
    valued("--seed", "N", "for random inputs; 0 by default", type=whole(0), default=0),
)


def output(default: str) -> tuple[Argument, ...]:
    """The options of every command that writes one model."""
    return (
        valued(
            ("-o", "--output"),
            "FILE",
            f"the model's file; {default} by default; - is standard output",
            completes="model",
        ),
        switch("--external-data", "put the weights in a file beside the model"),
        switch("--force", "replace a file that is there already and is not the model's"),
    )
