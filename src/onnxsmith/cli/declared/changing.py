"""The commands that make a model of another model."""

from __future__ import annotations

from onnxsmith.cli.declaration import Argument, Command, argument, switch
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
        argument(
            "--opset",
            action="append",
            required=True,
            metavar="VERSION",
            help="the version that is wanted: a number, newest (that onnx has) or runtime (the newest that ONNX "
            "Runtime loads); DOMAIN=VERSION for another domain; may be repeated",
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
        argument(
            "--opset",
            metavar="N",
            help="runtime, keep, or a version; runtime, which raises it where that is of use, by default",
        ),
        argument(
            "--unroll",
            metavar="N",
            type=whole(0),
            default=0,
            help="write out the turns of loops that have at most N, if their number is known",
        ),
        argument(
            "--domain",
            metavar="NAME",
            action="append",
            default=[],
            help="let fusions use operators of com.microsoft, for a model that ONNX Runtime alone runs",
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
        argument(
            "--inputs",
            nargs="+",
            metavar="NAME",
            help="values that are given, name or name=type; by default the model's inputs that are needed",
        ),
        argument(
            "--outputs",
            nargs="+",
            metavar="NAME",
            help="values that are computed; by default the model's outputs",
        ),
    ),
    "<model>_part.onnx",
)

JOIN = _change(
    "make one model of several, each taking what the one before gives",
    "What a model gives goes to the inputs of the next that have the same names, else in order.\n"
    "  onnxsmith join encoder.onnx head.onnx -o net.onnx\n"
    "  onnxsmith join resize.onnx net.onnx --map small=image -o whole.onnx",
    (
        argument(
            "models",
            nargs="+",
            metavar="MODEL",
            help="model files, in order; - is standard input",
            completes="model",
        ),
        argument(
            "--map",
            action="append",
            default=[],
            metavar="OUTPUT=INPUT",
            help="what goes where, between two models; may be repeated",
        ),
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
            argument(f"--{kind}", nargs="+", default=[], metavar="OLD=NEW", help=f"other names for {called}")
            for kind, called in RENAMED.items()
        ),
        argument("--prefix", metavar="TEXT", help="goes in front of all names that get no other"),
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
        argument(
            "--rules",
            nargs="+",
            required=True,
            metavar="FILE",
            help="Python files with rules, or file.py:name for one rule or list; in the order that they are tried in",
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
        argument(
            "shapes",
            nargs="*",
            metavar="NAME=SHAPE",
            help="batch=1, batch=N, or image=1,3,H,W; one size as mask=N,",
        ),
    ),
    "<model>_shaped.onnx",
)
