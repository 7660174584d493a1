"""The commands that make a model of a Python program, or a Python program of a model."""

from __future__ import annotations

from onnxsmith.cli.declaration import Command, argument, repeated, switch, valued
from onnxsmith.cli.declared import shared

#: The name that a file gives the arguments that its module is traced on, unless told otherwise.
EXAMPLE_NAME = "example_inputs"

BUILD = Command(
    "make a model of a function in a Python file",
    "The file is run, as Python runs it, to find the function. Types as in annotations, names without quotes:\n"
    "  onnxsmith build net.py:forward -o net.onnx --input-types 'x=FLOAT[N, 4]' --attribute axis=1",
    (
        valued(
            "function",
            "FILE:FUNCTION",
            "file.py:function, or package.module:function; file.py alone takes its model, or its only script",
            completes="python",
        ),
        *shared.output("<function>.onnx"),
        valued("--input-types", "TYPE", "types in order, or name=type", nargs="+", default=[]),
        repeated("--attribute", "NAME=VALUE", "the value of an attribute parameter"),
        shared.OPSET,
        switch("--inline", "dissolve the functions that it calls"),
    ),
    writes_stream=True,
    writes_files=True,
)

EXPORT = Command(
    "make a model of a PyTorch module in a Python file",
    "The file is run, as Python runs it, to find the module, which is exported as it is in use (eval).\n"
    "A dimension that has a name stays open:\n"
    "  onnxsmith export net.py:model -o net.onnx --input-types 'FLOAT[N, 3, 32, 32]' --verify",
    (
        valued(
            "module",
            "FILE:MODULE",
            "file.py:module, or package.module:name: a torch.nn.Module, or what makes one without arguments",
            completes="python",
        ),
        valued(
            "--input-types",
            "TYPE",
            "types of the inputs, in order or as name=type; the module is traced on made-up inputs",
            nargs="+",
            default=[],
        ),
        valued(
            "--example",
            "NAME",
            "the file's name for the arguments to trace the module on, a tuple or a dict; "
            f"{EXAMPLE_NAME} by default",
        ),
        repeated("--dim", "NAME=SIZE", "the size of an open dimension while the module is traced"),
        shared.OPSET,
        argument(
            "--functions",
            choices=("modules", "algorithms"),
            action="append",
            help="make each class of modules, or each algorithm, an ONNX function",
        ),
        switch("--training", "export it as it is in training"),
        switch("--verify", "run model and module, and compare what they give"),
        *shared.output("<module>.onnx"),
    ),
    writes_stream=True,
    writes_files=True,
)

DECOMPILE = Command(
    "write a model as a Python module that gives it back",
    "The model is only read. The module gives it back: read it, change it, and make a model of it again.\n"
    "  onnxsmith decompile net.onnx -o net\n"
    "  onnxsmith build net/net.py -o changed.onnx",
    (
        shared.MODELS,
        valued(
            ("-o", "--output"),
            "FOLDER",
            "where the module goes; a folder with the name of the model by default; - prints it, and writes no "
            "files",
            completes="folder",
        ),
        argument(
            "--weights",
            choices=("safetensors", "inline", "external"),
            help="in a file beside the module, in its text, or where the model has them; "
            "safetensors by default, with -o - inline",
        ),
        switch("--force", "replace a module or weights that are there already and say something else"),
        switch("--group", "write what repeats, such as equal layers, once, as a function"),
    ),
    takes_several=True,
    reads_stream=True,
    writes_stream=True,
    writes_files=True,
)
