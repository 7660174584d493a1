"""The commands that make a model of another model."""

from __future__ import annotations

from onnxsmith.cli.declaration import Argument, Command, argument, repeated, switch, valued
from onnxsmith.cli.declared import shared
from onnxsmith.cli.numbers import whole

#: What `rename` gives other names to, and how help calls it.
RENAMED = {
    "values": "values, which may be weights, inputs or outputs",
    "inputs": "inputs",
    "outputs": "outputs",
    "nodes": "nodes",
}


def _change(summary: str, epilog: str, arguments: tuple[Argument, ...], default: str) -> Command:
    """A command that reads models and writes one."""
    return Command(
        summary,
        epilog,
        (*arguments, *shared.output(default)),
        reads_stream=True,
        writes_stream=True,
        writes_files=True,
    )


CONVERT = _change(
    "convert a model to another opset version",
    "Up and down. A model that cannot be said in the version that is wanted is an error that names the nodes.\n"
    "  onnxsmith convert net.onnx --opset 21 -o newer.onnx --verify\n"
    "  onnxsmith convert net.onnx --opset 17 --opset ai.onnx.ml=3 -o older.onnx",
    (
        shared.MODEL,
        valued(
            "--opset",
            "VERSION",
            "the version that is wanted: a number, newest (that onnx has) or runtime (the newest that ONNX "
            "Runtime loads); DOMAIN=VERSION for another domain; may be repeated",
            action="append",
            required=True,
        ),
        shared.VERIFY,
    ),
    "<model>_opset<version>.onnx",
)

OPTIMIZE = _change(
    "make the same model with fewer nodes",
    "The model is only read; the new one computes the same.\n"
    "  onnxsmith optimize net.onnx -o small.onnx --verify",
    (
        shared.MODEL,
        switch("--keep-functions", "do not dissolve the model's functions"),
        valued(
            "--opset",
            "N",
            "runtime, keep, or a version; runtime, which raises it where that is of use, by default",
        ),
        valued(
            "--unroll",
            "N",
            "write out the turns of loops that have at most N, if their number is known",
            type=whole(0),
            default=0,
        ),
        repeated(
            "--domain",
            "NAME",
            "let fusions use operators of com.microsoft, for a model that ONNX Runtime alone runs",
            completes="domains",
        ),
        shared.VERIFY,
    ),
    "<model>_optimized.onnx",
)

OUTLINE = _change(
    "make functions of what repeats in a model, or of its modules",
    "The model is only read; the new one computes the same.\n"
    "  onnxsmith outline net.onnx -o layered.onnx --by scopes",
    (
        shared.MODEL,
        argument(
            "--by",
            choices=("repeats", "scopes"),
            default="repeats",
            help="what becomes a function: what repeats, or each module that names tell of; repeats by default",
        ),
    ),
    "<model>_outlined.onnx",
)

EXTRACT = _change(
    "cut a part out of a model, between some of its values",
    "Values are called what the model calls them; onnxsmith decompile shows it.\n"
    "  onnxsmith extract net.onnx --outputs hidden -o encoder.onnx\n"
    "  onnxsmith extract net.onnx --inputs 'hidden=FLOAT[N, 8]' mask -o head.onnx",
    (
        shared.MODEL,
        valued(
            "--inputs",
            "NAME",
            "values that are given, name or name=type; by default the model's inputs that are needed",
            nargs="+",
        ),
        valued("--outputs", "NAME", "values that are computed; by default the model's outputs", nargs="+"),
    ),
    "<model>_part.onnx",
)

JOIN = _change(
    "make one model of several, each taking what the one before gives",
    "What a model gives goes to the inputs of the next that have the same names, else in order.\n"
    "  onnxsmith join encoder.onnx head.onnx -o net.onnx\n"
    "  onnxsmith join resize.onnx net.onnx --map small=image -o whole.onnx",
    (
        valued("models", "MODEL", "model files, in order; - is standard input", nargs="+", completes="model"),
        repeated("--map", "OUTPUT=INPUT", "what goes where, between two models; may be repeated"),
    ),
    "joined.onnx",
)

RENAME = _change(
    "give values, inputs, outputs and nodes of a model other names",
    "A star stands for any text, in quotes so that the shell leaves it alone.\n"
    "  onnxsmith rename net.onnx --inputs input.1=image --outputs 495=scores -o net2.onnx\n"
    "  onnxsmith rename net.onnx --values 'encoder.*=enc.*' -o net2.onnx",
    (
        shared.MODEL,
        *(
            valued(f"--{kind}", "OLD=NEW", f"other names for {called}", nargs="+", default=[])
            for kind, called in RENAMED.items()
        ),
        valued("--prefix", "TEXT", "goes in front of all names that get no other"),
    ),
    "<model>_renamed.onnx",
)

REWRITE = _change(
    "apply the rewrite rules of a Python file to a model",
    "The file of rules is run, as Python runs it. It has a list called rules, or else every Rule in it counts.\n"
    "  onnxsmith rewrite net.onnx --rules rules.py -o fewer.onnx\n"
    "  onnxsmith rewrite net.onnx --rules rules.py:gelu fusions.py -o fewer.onnx",
    (
        shared.MODEL,
        valued(
            "--rules",
            "FILE",
            "Python files with rules, or file.py:name for one rule or list; in the order that they are tried in",
            nargs="+",
            required=True,
            completes="python",
        ),
        shared.VERIFY,
    ),
    "<model>_rewritten.onnx",
)

SET_SHAPES = _change(
    "give dimensions and inputs of a model other sizes",
    "A dimension gets a size or a name; an input or output a shape, with commas, where _ leaves one as it is.\n"
    "  onnxsmith set-shapes net.onnx batch=1 -o fixed.onnx\n"
    "  onnxsmith set-shapes net.onnx image=N,3,_,_ mask=N, -o open.onnx",
    (
        shared.MODEL,
        valued("shapes", "NAME=SHAPE", "batch=1, batch=N, or image=1,3,H,W; one size as mask=N,", nargs="*"),
    ),
    "<model>_shaped.onnx",
)
