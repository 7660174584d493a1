"""`export`: a PyTorch module as a model, through torch.export."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import torch

from onnxsmith.errors import ExportError, TrainingModeWarning, boundary
from onnxsmith.torch.capturing import captured, without_traces
from onnxsmith.torch.checking import Given
from onnxsmith.torch.library.kinds import Example, schema_of
from onnxsmith.torch.origins import span_of, traced_here
from onnxsmith.torch.progress import Progress
from onnxsmith.torch.reporting import ExportedModel
from onnxsmith.torch.translating import Functions, Options, Translator
from onnxsmith.torch.verifying import is_idle
from onnxsmith.torch.wishes import DynamicShapes, as_wish


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
        name = "main_graph"
        reference: Callable[..., Any] | None = None
        example: Example | None = None
        wishes = as_wish(dynamic_shapes)
        notes: list[str] = []
        decided_at: tuple[str, ...] = ()
        decided: frozenset[tuple[int, int]] = frozenset()
        is_training = False
        if isinstance(module, torch.export.ExportedProgram):
            program = module
        elif isinstance(module, torch.jit.ScriptModule):
            raise ExportError(
                "export takes a torch.nn.Module, and was given one that torch.jit has compiled",
                help="export the module that it was made of",
            )
        elif isinstance(module, torch.nn.Module):  # pyright: ignore[reportUnnecessaryIsInstance]  # users may give anything
            name = type(module).__name__
            reference = without_traces(module)
            given = Given(module, args, kwargs, wishes)
            wishes = given.dynamic_shapes
            progress.stage("torch.export")
            program = captured(module, given, strict, is_training=module.training)
            decided_at, decided = given.decided_at, frozenset(given.decided)
            notes = _in_training(module, program)
            is_training = module.training
            example = (given.args, given.kwargs or {})
        else:
            raise ExportError(
                f"export takes a torch.nn.Module or an ExportedProgram, not {type(module).__name__}",
                help="put a function into the forward of a module",
            )
        options = Options(
            wishes, opset_version, functions, input_names, output_names, translations, verify,
            fallback_dtype, keep_mutations, metadata, runtime, name, decided_at, decided,
            is_training,
        )  # fmt: skip
        with traced_here(isinstance(module, torch.nn.Module)):
            translator = Translator(program, options, progress, reference, example)
            translator.report.notes += notes
            return translator.model()


def _in_training(module: torch.nn.Module, program: torch.export.ExportedProgram) -> list[str]:
    """The warnings for a module that was left in training, where that makes a difference."""
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
    text = (
        f"the module is in training, and so is the model: {', '.join(found)} "
        "compute something else than in use; call module.eval() first"
    )
    warnings.warn(text, TrainingModeWarning, stacklevel=4)
    return [text]
