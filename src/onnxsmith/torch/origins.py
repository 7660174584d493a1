"""Where in the user's model a node of torch's graph comes from: the line of source and the module."""

from __future__ import annotations

import os
import re
from contextlib import AbstractContextManager
from contextvars import ContextVar
from typing import Any

import torch

from onnxsmith.claims import is_live
from onnxsmith.context import setting
from onnxsmith.diagnostics import clipped, printable
from onnxsmith.source import Span

_FRAME = re.compile(r'File "(?P<file>[^"]+)", line (?P<line>\d{1,9}), in (?P<function>\S+)')
_TORCH = os.path.dirname(os.path.abspath(torch.__file__)) + os.sep
_SITE = f"site-packages{os.sep}"
#: Stack traces of equal text are equal places; emptied when it has grown past any one model.
_spans: dict[tuple[str, bool], Span | None] = {}
_MOST_SPANS = 20_000


def span_of(node: torch.fx.Node) -> Span | None:
    """The line of the model that made a node: the innermost one outside torch."""
    trace = node.meta.get("stack_trace")
    if not trace:
        return None
    key = (trace, _traced_here.get())
    try:
        return _spans[key]
    except KeyError:
        if len(_spans) > _MOST_SPANS:
            _spans.clear()
        found = _spans[key] = _read(*key)
        return found


#: Whether the program was traced in this process. One that is given may come from a file, and its stack traces with it.
_traced_here: ContextVar[bool] = ContextVar("onnxsmith_torch_traced_here", default=False)


def traced_here(is_so: bool) -> AbstractContextManager[object]:
    """Say whether the stack traces of the program at hand are of this process, and not what a file claims."""
    return setting(_traced_here, is_so)


def _read(trace: str, is_traced_here: bool) -> Span | None:
    found = None
    for match in _FRAME.finditer(trace):
        file = match["file"]
        if not is_torch_file(file):
            line = int(match["line"])
            claimed_by = "" if is_traced_here or is_live(file, line) else "the program"
            name = match["function"]
            found = Span(clipped(printable(file), 200), line, 0, line, 0, printable(name), claimed_by)
    return found


def is_torch_file(file: str) -> bool:
    """True if a file is one of torch's own."""
    return file.startswith((_TORCH, "torch/"))


def stored(span: Span | None) -> str:
    """The place as metadata has it; of an installed package, without where it is installed."""
    if span is None:
        return ""
    text = span.stored
    return text.partition(_SITE)[2] or text


def module_scope(node: torch.fx.Node) -> str:
    """The path of the module that a node was made in, with a slash behind; empty at the top."""
    stack: Any = node.meta.get("nn_module_stack")
    if not stack:
        return ""
    path = next(reversed(stack.values()))[0]
    return f"{path}/" if path and not path.startswith("_empty") else ""
