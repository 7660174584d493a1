# pyright: basic
"""`export`: a PyTorch module as a model, through torch.export."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch

from onnxsmith.errors import ExportError, boundary
from onnxsmith.graphs.model import Model
from onnxsmith.torch.signature import with_torch_dims
from onnxsmith.torch.translating import translate


@boundary
def export(
    module: torch.nn.Module | torch.export.ExportedProgram,
    args: tuple[Any, ...] = (),
    kwargs: dict[str, Any] | None = None,
    *,
    dynamic_shapes: Any = None,
    opset_version: int | None = None,
    input_names: Sequence[str] | None = None,
    output_names: Sequence[str] | None = None,
    translations: Mapping[Any, Any] | None = None,
    metadata: bool = True,
    strict: bool = False,
) -> Model:
    """The model of a PyTorch module, traced on example arguments.

    `dynamic_shapes` says which dimensions stay open, as for torch.export; a name in quotes is enough. The module is
    exported as it is: call `eval()` first for dropout and batch normalisation as they are in use.
    """
    if isinstance(module, torch.export.ExportedProgram):
        program = module
    elif isinstance(module, torch.nn.Module):
        given = args if isinstance(args, tuple) else (args,)
        with torch.no_grad():
            program = torch.export.export(
                module, given, kwargs, dynamic_shapes=with_torch_dims(dynamic_shapes), strict=strict
            )
    else:
        raise ExportError(
            f"export takes a torch.nn.Module or an ExportedProgram, not {type(module).__name__}",
            help="put a function into the forward of a module",
        )
    return translate(
        program,
        dynamic_shapes=dynamic_shapes,
        opset_version=opset_version,
        input_names=input_names,
        output_names=output_names,
        translations=translations,
        metadata=metadata,
        name=type(module).__name__ if isinstance(module, torch.nn.Module) else None,
    )
