"""torch.export's refusals in terms of what `export` was given, at the line of the module that led to them."""

from __future__ import annotations

import contextlib
import importlib
import os
from collections.abc import Callable, Generator, Sequence
from types import TracebackType
from typing import Any, NoReturn

import torch
from torch._functorch import eager_transforms
from torch._subclasses.fake_tensor import (
    DataDependentOutputException,
    DynamicOutputShapeException,
    UnsupportedFakeTensorException,
)
from torch.fx.experimental.symbolic_shapes import GuardOnDataDependentSymNode
from torch.utils import _pytree as pytree

from onnxsmith.errors import ExportError
from onnxsmith.source import PACKAGE_DIRECTORY, Span, is_from_user
from onnxsmith.torch.library.kinds import ModuleArgument, Named, Positional
from onnxsmith.torch.origins import is_torch_file

#: What torch's refusals to leave dimensions open have in them.
_ABOUT_SIZES = ("Constraints violated", "user-specified ranges", "specialized due to hint", "not in range [")
#: Words of torch's refusals, and what to write: the module runs on the example in these cases.
_REMEDIES = (
    (
        ".numpy() is not supported",
        "compute with torch's functions: numpy's see no tensor that only the model knows",
    ),
    (
        "no fake impl registered",
        "@operator.register_fake: a function that makes an empty tensor of the result's shape",
    ),
)
#: What those about containers that differ have in them.
_ABOUT_STRUCTURE = (
    "Node type mismatch",
    "Node arity mismatch",
    "Node keys mismatch",
    "Detected mismatch between",
)
#: What torch says where a tensor that it made, and did not record, is a constant of the program.
_LEAKED = "a fake tensor in the exported program constant's list"
#: The file of torch in which `torch.func.grad`, `vjp`, `jvp`, `jacrev`, `jacfwd` and `hessian` are.
_DERIVATIVES = os.path.join("_functorch", "eager_transforms.py")
_TRANSFORMS: Any = eager_transforms
_AUTOGRAD: Any = torch.autograd
_BINDINGS: Any = importlib.import_module("torch._C")
_FUNCTORCH: Any = getattr(_BINDINGS, "_functorch")  # noqa: B009  # private to torch
#: What a module can do in the place of a derivative that torch.export cannot trace.
DERIVATIVES_THAT_WORK = (
    "torch.autograd.functional.jacobian and hessian work, torch.autograd.grad under torch.enable_grad(), "
    "torch.func.jvp without vmap, and a formula for the derivative"
)


@contextlib.contextmanager
def refused_derivatives() -> Generator[None]:
    """Refuse `torch.func.grad`, `vjp` and `jacrev` where a module calls them.

    torch.export traces them, and puts tensors into the program that nothing can read afterwards.
    """
    held = _TRANSFORMS.grad_increment_nesting

    def refuse() -> NoReturn:
        raise _refused_derivative("")

    _TRANSFORMS.grad_increment_nesting = refuse
    try:
        yield
    finally:
        _TRANSFORMS.grad_increment_nesting = held


def check_derivatives(module: Callable[..., Any], args: Positional, kwargs: Named) -> None:
    """Raise at the line of a derivative that a module computes, which torch.export with `strict=True` cannot read.

    The module runs once. Dynamo says no line, and calls nothing that is replaced.
    """
    held = _TRANSFORMS.grad_increment_nesting, _TRANSFORMS.jvp_increment_nesting, _AUTOGRAD.grad

    def refuse(*_: object, **__: object) -> NoReturn:
        raise _refused_derivative("")

    def refuse_strict(*_: object, **__: object) -> NoReturn:
        raise ExportError(
            "torch.export cannot trace this derivative with strict=True", help="leave out strict=True"
        )

    _TRANSFORMS.grad_increment_nesting = _TRANSFORMS.jvp_increment_nesting = refuse
    _AUTOGRAD.grad = refuse_strict
    try:
        with torch.enable_grad():
            module(*pytree.tree_map(_copied, args), **pytree.tree_map(_copied, kwargs))
    except ExportError as error:
        raise error.locate(place_of(error.__traceback__)) from None
    except Exception:  # torch.export meets it, too, and says more
        return
    finally:
        _TRANSFORMS.grad_increment_nesting, _TRANSFORMS.jvp_increment_nesting, _AUTOGRAD.grad = held


def _copied(value: ModuleArgument) -> ModuleArgument:
    return value.detach().clone() if isinstance(value, torch.Tensor) else value


def has_wrapped_tensors(program: torch.export.ExportedProgram) -> bool:
    """True if a program has tensors of `torch.func.grad`, `vjp` or `jacrev`, which nothing can read afterwards."""
    constants = [each for each in program.constants.values() if isinstance(each, torch.Tensor)]
    return any(map(_FUNCTORCH.is_functorch_wrapped_tensor, constants))


def _refused_derivative(reason: str) -> ExportError:
    return ExportError(
        f"torch.export cannot trace this derivative of torch.func{reason}", help=DERIVATIVES_THAT_WORK
    )


def is_of_derivative(error: Exception) -> bool:
    """True if an error was raised inside a derivative of torch.func."""
    traceback = error.__traceback__
    while traceback is not None:
        if traceback.tb_frame.f_code.co_filename.endswith(_DERIVATIVES):
            return True
        traceback = traceback.tb_next
    return False


def explained(error: Exception, small: Sequence[str]) -> ExportError | None:
    """torch's error in terms of what was given; None for one that the module's own code raises.

    `small` names the dimensions that were asked to be open and are 0 or 1 in the example.
    """
    if isinstance(error, GuardOnDataDependentSymNode):
        return ExportError(
            "what the module does here depends on the values in a tensor, which only a run of the model has",
            help="torch.cond(condition, if_true, if_false, operands) puts both ways into the model; "
            "torch._check(…) tells torch what is always so",
        ).locate(place_of(error.__traceback__))
    if isinstance(
        error, UnsupportedFakeTensorException | DynamicOutputShapeException | DataDependentOutputException
    ):
        return ExportError(
            f"torch.export cannot trace this call: {error} has no result that can be known without running it",
            help="keep it out of the module, or write it with other operators",
        ).locate(place_of(error.__traceback__))
    text = str(error)
    if any(each in text for each in _ABOUT_STRUCTURE):
        return ExportError(
            f"dynamic_shapes is not built like the arguments: {text.splitlines()[0]}",
            help="a tuple, list or dict of tensors has its like; of other containers, what torch flattens them to",
        )
    if not any(each in text for each in _ABOUT_SIZES):
        if is_from_user(error.__traceback__):
            return None
        if is_of_derivative(error):
            # An AttributeError is about what torch itself is written in.
            reason = "" if isinstance(error, AttributeError) else f": {_first_paragraph(text)}"
            return _refused_derivative(reason).locate(place_of(error.__traceback__))
        if _LEAKED in text:
            return ExportError(
                "torch.export cannot trace a derivative here: it reads a tensor that torch did not record, as "
                "torch.autograd.grad through nn.Linear, tanh or softmax does",
                help="export the value alone, and take its gradient from the model: "
                'model.gradient(of="energy", wrt=["positions"])',
            )
        return ExportError(
            f"torch.export cannot trace the module: {_first_paragraph(text) or type(error).__name__}",
            help=next(
                (told for words, told in _REMEDIES if words in text),
                "see that the module runs on the example; ONNXSMITH_TRACEBACK=full shows where torch stopped",
            ),
        ).locate(place_of(error.__traceback__))
    if small:
        return ExportError(
            f"{'; '.join(small)} in the example, and torch takes sizes of 0 and 1 for fixed",
            help="give an example of size 2 or more for each dimension that stays open",
        )
    reasons = [each.strip(" -") for each in text.splitlines() if each.startswith(("  - ", "- "))]
    fixes = [each.strip() for each in text.partition("Suggested fixes:")[2].splitlines() if " = " in each]
    return ExportError(
        f"torch cannot keep the dimensions open: {' '.join(reasons) or text.splitlines()[0]}",
        help=f"torch suggests {'; '.join(fixes)}"
        if fixes
        else "a name in quotes takes the sizes that are possible",
    )


def place_of(traceback: TracebackType | None) -> Span | None:
    """The innermost line of what was raised that is neither torch's nor ours."""
    found = None
    while traceback is not None:
        code = traceback.tb_frame.f_code
        # torch runs text of its own, too, which has no file.
        is_torch = is_torch_file(code.co_filename) or code.co_filename.startswith(
            ("<string>", "<eval_with_key>")
        )
        if not is_torch and not code.co_filename.startswith(PACKAGE_DIRECTORY):
            line = traceback.tb_lineno
            found = Span(code.co_filename, line, 0, line, 0, code.co_name)
        traceback = traceback.tb_next
    return found


def _first_paragraph(text: str) -> str:
    """The first paragraph of torch's text, on one line."""
    return " ".join(text.strip().partition("\n\n")[0].split())
