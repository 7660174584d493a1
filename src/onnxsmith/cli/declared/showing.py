"""The commands that show what is in models, and what is known of operators, errors and shells."""

from __future__ import annotations

from onnxsmith.cli.declaration import Command, argument, repeated, switch, valued
from onnxsmith.cli.declared import shared
from onnxsmith.cli.numbers import whole

SHELLS = ("bash", "zsh", "fish")

INFO = Command(
    "show what is in a model",
    "Models are only read:\n"
    "  onnxsmith info net.onnx --weights\n"
    "  onnxsmith info net.onnx --nodes --dim N=8\n"
    "  onnxsmith info net.onnx --provider cuda\n"
    "  onnxsmith info a.onnx b.onnx --json\n"
    "  onnxsmith info - < net.onnx",
    (
        shared.MODELS,
        switch("--weights", "list every weight, the largest first"),
        switch("--nodes", "list every node, with the types of its results"),
        repeated("--dim", "NAME=SIZE", "the size of a named dimension, for shapes and counts"),
        valued(
            "--provider",
            "NAME",
            "an execution provider: the nodes that it leaves to the CPU, and copies between devices",
            action="append",
        ),
    ),
    takes_several=True,
    reads_stream=True,
)

VIEW = Command(
    "show a model as a page to click through, or as a picture",
    "A model is only read; a Python file is run. The page is one file that needs no network:\n"
    "  onnxsmith view net.onnx\n"
    "  onnxsmith view net.onnx -o page.html --statistics full\n"
    "  onnxsmith view net.onnx -o net.svg\n"
    "  onnxsmith view net.py:forward",
    (
        shared.MODEL_OR_SCRIPT,
        valued(
            ("-o", "--output"),
            "FILE",
            "a page (.html) or a picture (.svg, .png); without it a page is opened in the browser",
            completes="page",
        ),
        argument(
            "--statistics",
            choices=("sample", "full", "none"),
            default="sample",
            help="of weights: from a sample of each, from all elements, or none; sample by default",
        ),
        switch("--no-source", "leave out what the model says of the source it was made from"),
        shared.FORCE_PICTURE,
    ),
    reads_stream=True,
    writes_files=True,
)

DIFF = Command(
    "show what differs between two models",
    "Models are only read, Python files are run. The exit code is 1 where they differ:\n"
    "  onnxsmith diff a.onnx b.onnx\n"
    "  onnxsmith diff a.onnx b.onnx -o page.html\n"
    "  onnxsmith diff net.onnx net.py:forward\n"
    "  onnxsmith diff - b.onnx < a.onnx",
    (
        shared.MODEL_OR_SCRIPT,
        valued("other", "OTHER", "another one", completes="program"),
        switch("--names", "names of nodes, weights and values inside count, too"),
        valued(
            "--limit",
            "N",
            "how many changes of each kind are shown; 40 by default, 0 for all",
            type=whole(0),
            default=40,
        ),
        valued(
            ("-o", "--output"),
            "FILE",
            "also write a page (.html) or a picture (.svg, .png) with both models side by side",
            completes="page",
        ),
        shared.FORCE_PICTURE,
    ),
    reads_stream=True,
    writes_files=True,
)

OPS = Command(
    "list operators, or show what one takes and gives",
    "Names are those of ONNX; * stands for any letters:\n"
    "  onnxsmith ops Conv\n"
    "  onnxsmith ops '*Pool*' --opset 21\n"
    "  onnxsmith ops --domain com.microsoft",
    (
        valued(
            "names",
            "NAME",
            "operators, Conv, or patterns, 'Reduce*'; none lists all",
            nargs="*",
            completes="operators",
        ),
        valued(
            "--domain",
            "NAME",
            "of this domain alone, ai.onnx for ONNX's own; all by default",
            completes="domains",
        ),
        valued(
            "--opset",
            "N",
            "the version of the domain; by default what scripts use, and the newest of other domains",
            type=whole(1),
        ),
    ),
    takes_several=True,
)

EXPLAIN = Command(
    "show the page of an error code",
    "By code or by class:\n  onnxsmith explain C401\n  onnxsmith explain MixedDTypesError C402",
    (
        valued(
            "codes",
            "CODE",
            "codes, C401, or classes, MixedDTypesError; none lists all",
            nargs="*",
            completes="errors",
        ),
    ),
    takes_several=True,
)

COMPLETION = Command(
    "print a script that lets a shell complete our words",
    "Put the line of your shell into its start-up file:\n"
    '  bash, in .bashrc:     eval "$(onnxsmith completion bash)"\n'
    '  zsh, in .zshrc:       eval "$(onnxsmith completion zsh)"\n'
    "  fish, in config.fish: onnxsmith completion fish | source\n"
    "Or look at it first:\n"
    "  onnxsmith completion bash",
    (
        valued("shell", "SHELL", "bash, zsh or fish", choices=SHELLS),
        argument(
            "--names",
            choices=("operators", "domains", "errors"),
            help="print these names instead; the script asks for them",
        ),
    ),
)
