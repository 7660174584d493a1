"""The stack that PyTorch's exporter notes for a node: which of its lines is the user's.

It is text that a file holds. Nothing is opened for it.
"""

from __future__ import annotations

import re
from typing import NamedTuple

#: Where the exporter writes it.
STACK_KEY = "pkg.torch.onnx.stack_trace"
#: The innermost frames stand last, and a stack may be long.
_READ = 8000
_INSTALLED = re.compile(r'(?<=")[^"]*[\\/](?:site|dist)-packages[\\/]')
_FRAME = re.compile(r'File "(?P<file>[^"\n]+)", line (?P<line>\d{1,9})')


class StackFrame(NamedTuple):
    """One frame: its file without where things were installed, the line, and the frame as the stack has it."""

    file: str
    line: int
    text: str


def innermost_frame(stack: str) -> StackFrame | None:
    """The innermost frame that is none of torch's own; None where the text is no stack.

    >>> innermost_frame('File "/lib/site-packages/net/layers.py", line 7, in forward')
    StackFrame(file='net/layers.py', line=7, text='File "net/layers.py", line 7, in forward')
    """
    lines = [_INSTALLED.sub("", each.strip()) for each in stack[-_READ:].splitlines() if each.strip()]
    frames = [(place, found) for place, each in enumerate(lines) if (found := _FRAME.match(each))]
    theirs = [each for each in frames if not each[1]["file"].startswith("torch/")] or frames
    if not theirs:
        return None
    place, found = theirs[-1]
    return StackFrame(found["file"], int(found["line"]), "\n".join(lines[place : place + 2]))
