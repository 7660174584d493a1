"""`export`: a PyTorch module as a model, through torch.export."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import torch

from onnxsmith.diagnostics import described_type
from onnxsmith.errors import ExportError, TrainingModeWarning, boundary
from onnxsmith.torch.capturing import TracedAs, captured, without_traces
from onnxsmith.torch.checking import Given
from onnxsmith.torch.dynamic_shape_spec import DynamicShapes, as_wish
from onnxsmith.torch.library.kinds import schema_of
from onnxsmith.torch.origins import span_of, traced_here
from onnxsmith.torch.ports import ExampleRefused
from onnxsmith.torch.progress import Progress
from onnxsmith.torch.reporting import ExportedModel
from onnxsmith.torch.translating import Functions, Options, Translator
from onnxsmith.torch.verifying import is_idle


@boundary
def export(
    module: torch.nn.Module | torch.export.ExportedProgram,
    args: tuple[Any, ...] = (),
    kwargs: dict[str, Any] | None = None,
    *,
    dynamic_shapes: DynamicShapes = None,
    opset_version: int | None = None,
    functions: Functions | None = None,
    input_names: Sequence[str] | None = None,
    output_names: Sequence[str] | None = None,
    translations: Mapping[Any, Callable[..., Any]] | None = None,
    verify: bool | float = False,
    fallback_dtype: torch.dtype | None = None,
    keep_mutations: bool = False,
    metadata: bool = True,
    runtime: Literal["onnxruntime"] | None = "onnxruntime",
    strict: bool = False,
) -> ExportedModel:
    """The model of a PyTorch module, traced on example arguments.

    The module is exported as it is: call `eval()` first for dropout and batch normalisation as they are in use. The
    model of a module in training has all weights by their names, to be trained; of others some are folded.

    - `dynamic_shapes` says which dimensions stay open, as for torch.export; a name in quotes is enough.
    - `opset_version`: by default the newest that the installed ONNX Runtime runs.
    - `functions="modules"` makes each class of modules an ONNX function, `"algorithms"` each of the functions that
      translations are made of (a sort, a decomposition), a tuple of both words both; without it the graph is flat.
    - `input_names`, `output_names`: in the place of those from the signature and from what `forward` returns.
    - `translations` maps operators of torch to scripts, operators of a custom domain, or functions on tensors.
    - `verify` runs the model and the module, on the example and on other sizes of dynamic dimensions, and raises
      where they differ; a number is the relative difference that is allowed.
    - `fallback_dtype` is what the model computes in where torch has float16 or bfloat16.
    - `keep_mutations` makes the buffers and inputs that the module writes to outputs of the model, running
      statistics in training among them.
    - `metadata=False` leaves out where in the module each node comes from.
    - `runtime="onnxruntime"` makes a model that ONNX Runtime gets right: with casts where it has no kernel for an
      element type, and other nodes in the place of those that it computes wrongly. None leaves both out.
    - `strict` is torch.export's.

    >>> import torch
    >>> import onnxsmith
    >>> model = onnxsmith.torch.export(torch.nn.ReLU().eval(), (torch.ones(2, 3),))
    >>> [node.op_type for node in model.nodes]
    ['Relu']
    """
    with Progress() as progress:
        options = Options(
            as_wish(dynamic_shapes), opset_version, functions, input_names, output_names, translations, verify,
            fallback_dtype, keep_mutations, metadata, runtime,
        )  # fmt: skip
        if isinstance(module, torch.export.ExportedProgram):
            with traced_here(False):
                return Translator(module, options, progress).model()
        if isinstance(module, torch.jit.ScriptModule):
            raise ExportError(
                "export takes a torch.nn.Module, and was given one that torch.jit has compiled",
                help="export the module that it was made of",
            )
        if not isinstance(module, torch.nn.Module):  # pyright: ignore[reportUnnecessaryIsInstance]  # users may give anything
            made = f"make one of the class: {module.__name__}(…)" if isinstance(module, type) else None
            raise ExportError(
                f"export takes a torch.nn.Module or an ExportedProgram, not {described_type(type(module))}",
                help=made or "put a function into the forward of a module",
            )
        given = Given(module, args, kwargs, options.dynamic_shapes)
        options = replace(
            options,
            dynamic_shapes=given.dynamic_shapes,
            name=type(module).__name__,
            is_training=module.training,
        )
        for traced_as in TracedAs:
            progress.stage("torch.export")
            program = captured(module, given, strict, is_training=module.training, traced_as=traced_as)
            options = replace(options, decided_at=given.decided_at, decided=frozenset(given.decided))
            example = (given.args, given.kwargs or {})
            notes = _in_training(module, program, keep_mutations=keep_mutations)
            # A model that keeps what the module writes is meant for training.
            if notes and not keep_mutations and traced_as is TracedAs.ANY:
                warnings.warn(notes[0], TrainingModeWarning, stacklevel=3)
            with traced_here(True):
                translator = Translator(program, options, progress, without_traces(module), example)
                translator.report.notes += notes
                try:
                    return translator.model()
                except ExampleRefused as refused:
                    given.decided_at = given.decided_at or refused.places
                    continue
        raise ExportError(
            "the model would refuse the example that it is made of, by whose sizes the module decides",
            help="give an example with two rows",
        )


def _in_training(
    module: torch.nn.Module, program: torch.export.ExportedProgram, *, keep_mutations: bool
) -> list[str]:
    """A sentence on what a module that is in training computes otherwise than in use, if anything."""
    if not module.training:
        return []
    found: dict[str, None] = {}
    for node in program.graph.nodes:
        schema = schema_of(node.target)
        if node.op != "call_function" or schema is None:
            continue
        given = dict(zip([each.name for each in schema.arguments], node.args, strict=False)) | node.kwargs
        if any(given.get(each) is True for each in ("train", "training")) and not is_idle(node):
            span = span_of(node)
            place = f" at {str(span).rpartition(':')[0]}" if span is not None else ""
            found[schema.name.removeprefix("aten::") + place] = None
    if not found:
        return []
    verb = "computes" if len(found) == 1 else "compute"
    what = f"{', '.join(found)} {verb} something else than in use"
    advice = "" if keep_mutations else "; call module.eval() first"
    return [f"the module is in training, and so is the model: {what}{advice}"]
