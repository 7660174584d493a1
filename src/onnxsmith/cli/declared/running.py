"""The commands that run models, or load them into a runtime."""

from __future__ import annotations

from onnxsmith.cli.declaration import Command, argument, switch, valued
from onnxsmith.cli.declared import shared
from onnxsmith.cli.numbers import tolerance, whole

#: As many threads as `onnxsmith.runtime.settings` allows; a test compares the two.
MOST_THREADS = 1024

RUN = Command(
    "run a model on arrays, or on random inputs",
    "An input is a file, x=x.npy or x=data.npz:key, x=- is an .npy file from standard input; made up, x=random,\n"
    "x=zeros, x=ones; or a literal, 'x=[1,2]':\n"
    "  onnxsmith run net.onnx --input x=x.npy --input mask=ones --dim N=4",
    (
        shared.MODEL,
        *shared.INPUTS,
        switch("--random", "make up the inputs that are not given"),
        valued("--output-dir", "FOLDER", "write each output there, as <name>.npy", completes="folder"),
        switch("--force", "replace files in that folder that hold something else"),
        argument("--runtime", choices=("onnxruntime", "reference"), help="what runs the model"),
        switch("--isolated", "run it in a process of its own, for a model that you do not trust"),
        valued("--timeout", "SECONDS", "with --isolated: how long it may take", type=float),
        valued("--memory", "AMOUNT", "with --isolated: how much memory it may take, such as 2GB (Linux)"),
    ),
    reads_stream=True,
    writes_files=True,
)

CHECK = Command(
    "check a model, or all scripts of a Python file",
    "A Python file is run, as Python runs it, to find its scripts. A model file is only read.\n"
    "  onnxsmith check net.onnx net.py\n"
    "  onnxsmith check --runtime - < net.onnx",
    (
        valued(
            "files",
            "FILE",
            "model files, or Python files; - is a model from standard input",
            nargs="+",
            completes="program",
        ),
        switch("--runtime", "also load models in the installed runtime"),
    ),
    takes_several=True,
    reads_stream=True,
)

COMPARE = Command(
    "name the first node where two runs of models part",
    "Exit code 1 where they part. Inputs are made up unless some are given. Of file.py:script and of\n"
    "torch:package.module:factory the code is run; a factory gives a module, or a module and its arguments.\n"
    "  onnxsmith compare net.onnx --against small.onnx --input x=x.npy\n"
    "  onnxsmith compare net.onnx --against reference --reproduce found\n"
    "  onnxsmith compare net.py:forward --against net.onnx",
    (
        shared.MODEL_OR_SCRIPT,
        valued(
            "--against",
            "OTHER",
            "a model file, reference, unoptimized, file.py:script, or torch:package.module:factory",
            completes="program",
        ),
        switch("--levels", "the same as --against unoptimized: the runtime's optimisations"),
        valued(
            "--provider",
            "NAME",
            "an execution provider for the second run; with no --against, of the same model",
            action="append",
        ),
        *shared.INPUTS,
        valued("--rtol", "NUMBER", "how far results may be apart, as a part of them", type=tolerance),
        valued("--atol", "NUMBER", "how far results may be apart", type=tolerance),
        valued("--memory", "AMOUNT", "how much of the values is held, such as 500MB"),
        valued(
            "--reproduce", "FOLDER", "write the node there, with its inputs and results", completes="folder"
        ),
        switch("--force", "replace files in that folder that hold something else"),
    ),
    reads_stream=True,
    writes_files=True,
)

PROFILE = Command(
    "show where the time goes when a model runs",
    "Inputs that are not given are made up; say how large open dimensions are:\n"
    "  onnxsmith profile net.onnx --dim N=8 --runs 20\n"
    "  onnxsmith profile net.onnx --input x=x.npy --by node\n"
    "  onnxsmith profile net.py:forward --dim N=8 --listing\n"
    "  onnxsmith profile old.onnx --dim N=8 --against new.onnx\n"
    "  onnxsmith profile net.onnx --dim N=8 -o page.html",
    (
        shared.MODEL_OR_SCRIPT,
        *shared.INPUTS,
        valued("--runs", "N", "how many runs are measured; 10 by default", type=whole(1), default=10),
        valued("--warm-up", "N", "how many runs come before; 3 by default", type=whole(0), default=3),
        valued("--threads", "N", "how many threads a kernel may use", type=whole(1, MOST_THREADS)),
        valued("--provider", "NAME", "an execution provider; the CPU by default", action="append"),
        argument("--by", choices=("line", "node", "operator", "call"), help="what times are told by"),
        valued(
            "--limit", "N", "how many rows are shown; 20 by default, 0 for all", type=whole(0), default=20
        ),
        switch("--listing", "show the source with the time of each line"),
        valued(
            "--against",
            "OTHER",
            "profile another model, or file.py:script, on the same inputs, and compare",
            completes="program",
        ),
        valued(
            ("-o", "--output"),
            "FILE",
            "also write a page, or picture, of the model coloured by time",
            completes="page",
        ),
        shared.FORCE_PICTURE,
    ),
    reads_stream=True,
    writes_files=True,
)
