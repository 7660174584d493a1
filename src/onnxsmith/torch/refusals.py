"""torch.export's refusals in terms of what `export` was given, at the line of the module that led to them."""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType

from torch._subclasses.fake_tensor import (
    DataDependentOutputException,
    DynamicOutputShapeException,
    UnsupportedFakeTensorException,
)
from torch.fx.experimental.symbolic_shapes import GuardOnDataDependentSymNode

from onnxsmith.errors import ExportError
from onnxsmith.source import PACKAGE_DIRECTORY, Span, is_library
from onnxsmith.torch.origins import is_torch_file

#: What torch's refusals to leave dimensions open have in them.
_ABOUT_SIZES = ("Constraints violated", "user-specified ranges", "specialized due to hint", "not in range [")
#: What those about containers that differ have in them.
_ABOUT_STRUCTURE = (
    "Node type mismatch",
    "Node arity mismatch",
    "Node keys mismatch",
    "Detected mismatch between",
)


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
        if _is_raised_by_user(error.__traceback__):
            return None
        return ExportError(
            f"torch.export cannot trace the module: {_first_paragraph(text) or type(error).__name__}",
            help="see that the module runs on the example; ONNXSMITH_TRACEBACK=full shows where torch stopped",
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


def _is_raised_by_user(traceback: TracebackType | None) -> bool:
    """True if the line that raised is neither torch's nor another library's."""
    while traceback is not None and traceback.tb_next is not None:
        traceback = traceback.tb_next
    return traceback is not None and not is_library(traceback.tb_frame.f_code.co_filename)


def _first_paragraph(text: str) -> str:
    """The first paragraph of torch's text, on one line."""
    return " ".join(text.strip().partition("\n\n")[0].split())
