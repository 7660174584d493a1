"""Arguments that several commands have: the model, where results go, the inputs of a run."""

from __future__ import annotations

from onnxsmith.cli.declaration import Argument, argument, switch
from onnxsmith.cli.numbers import whole

MODEL = argument("model", metavar="MODEL", help="a model file; - is standard input", completes="model")
MODELS = argument(
    "models", nargs="+", metavar="MODEL", help="model files; - is standard input", completes="model"
)
MODEL_OR_SCRIPT = argument(
    "model",
    metavar="MODEL",
    help="a model file, or file.py:script; - is standard input",
    completes="program",
)
OPSET = argument("--opset", type=whole(1), metavar="N", help="the opset version of the model")
VERIFY = switch("--verify", "run both models on made-up inputs and compare what they give")
FORCE_PICTURE = switch("--force", "replace a file that is no page or picture of a model")

#: The inputs of a run.
INPUTS: tuple[Argument, ...] = (
    argument(
        "--input",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a value for an input",
        completes="array",
    ),
    argument(
        "--dim",
        action="append",
        default=[],
        metavar="NAME=SIZE",
        help="the size of a dimension of made-up inputs",
    ),
    argument("--seed", type=whole(0), default=0, metavar="N", help="for random inputs; 0 by default"),
)


def output(default: str) -> tuple[Argument, ...]:
    """The options of every command that writes one model."""
    return (
        argument(
            *("-o", "--output"),
            metavar="FILE",
            help=f"the model's file; {default} by default; - is standard output",
            completes="model",
        ),
        switch("--external-data", "put the weights in a file beside the model"),
        switch("--force", "replace a file that is there already and is not the model's"),
    )
