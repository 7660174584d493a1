"""ONNX back to Python: any model as a module that reads as if a person wrote it, and that gives the model back."""

from __future__ import annotations

import os
import textwrap
from pathlib import Path
from typing import Any, Literal

import onnx_ir as ir

from onnxsmith.context import collection_paused
from onnxsmith.decompiling.module_writer import ModuleWriter
from onnxsmith.decompiling.pieces import decompile_piece, is_piece
from onnxsmith.decompiling.reading import Given, read
from onnxsmith.decompiling.verifying import difference
from onnxsmith.decompiling.weight_files import external_name, in_text, safetensors_name, write_safetensors
from onnxsmith.errors import AttributeValueError, DecompileError, ModelWriteError, boundary
from onnxsmith.graphs import existing_files, files, soundness
from onnxsmith.graphs.given_paths import path_of
from onnxsmith.graphs.identifiers import readable
from onnxsmith.passes import outlining

WeightsPlace = Literal["inline", "external", "safetensors"]


@boundary
def decompile(
    model: Any,
    *,
    weights: Literal["inline", "external"] = "inline",
    group: bool = False,
    verify: bool = True,
) -> str:
    """A model as the text of a Python module; imported, the module's `model` is the model again.

    `model` is a path, a ModelProto, an onnx-ir model or one of ours; a function or a node alone gives the text of that,
    in which `function` is the FunctionProto again. Weights stand in the text, or with
    `weights="external"` are left in the file that the model was read from. `decompile_to` writes them to a file.
    With `group=True`, segments that repeat (the layers of a transformer) are one function that is called for each.
    The model that the text makes is compared with the given one before the text is returned. This takes about three
    times as long as writing the text; `verify=False` leaves it out.

    >>> from onnxsmith import FLOAT, decompile, opset21 as op, trace
    >>> model = trace(lambda a, b: op.Relu(a @ b + 1.0), FLOAT["N", 4], FLOAT[4, 8])
    >>> print(decompile(model).partition("model = ")[0])
    from onnxsmith import FLOAT, rebuild, script
    from onnxsmith import opset21 as op
    <BLANKLINE>
    <BLANKLINE>
    @script(default_opset=op, exact=True)
    def traced(a: FLOAT["N", 4], b: FLOAT[4, 8]) -> FLOAT["N", 8]:
        mat_mul = a @ b
        add = mat_mul + 1.0
        relu = op.Relu(add)
        return relu
    <BLANKLINE>
    """
    if weights not in ("inline", "external"):
        raise AttributeValueError(
            f"decompile gives text, and weights={weights!r} does not fit into it",
            help='weights="inline" or weights="external"; decompile_to writes files',
        )
    if is_piece(model):
        return decompile_piece(model)
    with collection_paused():
        given, writer, body = _written(model, group=group, verify=verify)
        held = external_name(given) if weights == "external" else None
        return _joined(writer, body, in_text(writer, held))


@boundary
def decompile_to(
    model: Any,
    folder: str | os.PathLike[str],
    *,
    weights: WeightsPlace = "safetensors",
    name: str | None = None,
    group: bool = False,
    overwrite: bool = False,
    verify: bool = True,
) -> Path:
    """Write a model as a Python module into a folder, its weights beside it, and give the module's path.

    `weights` says where they go: to a safetensors file (`"safetensors"`), into the text (`"inline"`), or nowhere:
    they are left where the model has them (`"external"`), and the module refers to that file. `group` and `verify`
    are as for `decompile`. A module or a file of weights that is there already and holds something else, another
    program's or one that was edited, is left alone, unless `overwrite` is True.

    >>> import pathlib, tempfile
    >>> import onnxsmith
    >>> from onnxsmith import FLOAT, trace
    >>> model = trace(lambda x: x + 1.0, FLOAT["N"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     module = onnxsmith.decompile_to(model, folder, weights="inline")
    ...     pathlib.Path(module).suffix
    '.py'
    """
    if weights not in ("inline", "external", "safetensors"):
        raise AttributeValueError(
            f"weights={weights!r} is not known", help="it is one of 'safetensors', 'inline', 'external'"
        )
    place = path_of(folder)
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ModelWriteError(f"cannot make the folder {str(place)!r}: {error.strerror or error}") from None
    with collection_paused():
        given, writer, body = _written(model, group=group, verify=verify)
        stem = name or _stem(given)
        if Path(stem).name != stem or not stem.isidentifier():
            raise AttributeValueError(
                f"name={name!r} is no name of a module",
                help="it is a Python identifier, without a path and an ending",
            )
        module, data = place / f"{stem}.py", place / f"{stem}.safetensors"
        if weights == "safetensors":
            held = safetensors_name(writer, data)
        else:
            held = external_name(given, place) if weights == "external" else None
        text = _joined(writer, body, in_text(writer, held)).encode()
        if not overwrite and os.path.exists(module) and module.read_bytes() != text:
            raise existing_files.refuse(module, "says something else", "write to another folder")
        try:
            with files.replacing(module) as temporary:
                temporary.write_bytes(text)
                if weights == "safetensors" and held is not None:
                    write_safetensors(writer, data, overwrite=overwrite)
        except OSError as error:
            if isinstance(error, ModelWriteError):
                raise
            raise ModelWriteError(f"cannot write {str(module)!r}: {error.strerror or error}") from None
    return module


def node_statements(model: ir.Model) -> dict[ir.Node, str]:
    """The statement of each node of a model and its functions, as `decompile` writes it.

    A constant that stands where it is used has none. Raises DecompileError where the model cannot be decompiled.
    """
    with collection_paused(), soundness.blaming(model):
        writer = ModuleWriter(Given(model))
        writer.statements = {}
        writer.write()
    texts = (
        (node, textwrap.dedent("\n".join(lines)).strip("\n")) for node, lines in writer.statements.items()
    )
    return {node: text for node, text in texts if text}


def _written(model: Any, *, group: bool, verify: bool) -> tuple[Given, ModuleWriter, list[str]]:
    """The module of a model; the first of the forms that makes the model again, if that is verified."""
    given = read(model)
    with soundness.blaming(given.model):
        if group:
            given.model = outlining.group_repeated(given.model)
        found: str | None = None
        for has_statements in (True, False):
            writer = ModuleWriter(given, has_statements=has_statements)
            body = writer.write()
            found = difference(writer, body) if verify else None
            if found is None:
                return given, writer, body
        raise DecompileError(
            f"the model cannot be written as Python that makes it again: {found}",
            help="that is a mistake of ours, please report it; verify=False gives the text as it is",
        )


def _stem(given: Given) -> str:
    if given.place is not None:
        return readable(given.place.stem, "model")
    return readable(given.model.graph.name or "model", "model")


def _joined(writer: ModuleWriter, body: list[str], weights: list[str]) -> str:
    return "\n".join([*writer.header(weights), *body]) + "\n"
