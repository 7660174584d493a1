"""The arguments of a formula for a gradient, as autograd gives them: a context, and gradients in the shapes of results.

Knows nothing of where formulas come from; what a model cannot hold is refused at the user's line.
"""

from __future__ import annotations

import inspect

import torch

from onnxsmith.errors import ExportError
from onnxsmith.source import PACKAGE_DIRECTORY, Span
from onnxsmith.torch.library.kinds import ModuleArgument
from onnxsmith.torch.operator_formulas import Needed
from onnxsmith.torch.origins import is_torch_file


def user_line() -> Span | None:
    """The innermost line of the stack that is neither torch's nor ours."""
    frame = inspect.currentframe()
    while frame is not None:
        file = frame.f_code.co_filename
        if not is_torch_file(file) and not file.startswith((PACKAGE_DIRECTORY, "<")):
            return Span(file, frame.f_lineno, 0, frame.f_lineno, 0, frame.f_code.co_name)
        frame = frame.f_back
    return None


def refused(what: str, help: str) -> ExportError:
    """The error for a gradient that a model cannot have, at the user's line."""
    return ExportError(f"the gradient of a model cannot have {what}", help=help).locate(user_line())


class Context:
    """The `ctx` of a function: what its forward keeps for its backward."""

    def __init__(self, needs_input_grad: tuple[Needed, ...]) -> None:
        self.needs_input_grad = needs_input_grad
        self.fills = True
        self._saved: tuple[torch.Tensor | None, ...] = ()
        self._constant: set[int] = set()

    def save_for_backward(self, *tensors: torch.Tensor | None) -> None:
        self._saved = tensors

    def save_for_forward(self, *tensors: torch.Tensor | None) -> None:
        """Only forward derivatives need these."""

    @property
    def saved_tensors(self) -> tuple[torch.Tensor | None, ...]:
        return self._saved

    def mark_non_differentiable(self, *tensors: torch.Tensor) -> None:
        self._constant.update(map(id, tensors))

    def mark_dirty(self, *tensors: torch.Tensor) -> None:
        raise refused(
            "a torch.autograd.Function that writes to its input",
            "return a new tensor in its forward, and leave out ctx.mark_dirty",
        )

    def set_materialize_grads(self, value: bool) -> None:
        self.fills = value

    def has_gradient(self, result: ModuleArgument) -> bool:
        """True if a result of the forward has a cotangent."""
        if not isinstance(result, torch.Tensor) or id(result) in self._constant:
            return False
        return result.dtype.is_floating_point or result.dtype.is_complex


def shaped_like(gradient: torch.Tensor, argument: torch.Tensor) -> torch.Tensor:
    """A gradient with the shape and element type of its argument, as torch makes it one."""
    if gradient.shape != argument.shape:
        gradient = gradient.sum_to_size(argument.shape)
    return gradient if gradient.dtype == argument.dtype else gradient.to(argument.dtype)
