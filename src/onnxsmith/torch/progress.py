"""A line on the terminal for exports that take long: what is being done, how far it is, for how many seconds."""

from __future__ import annotations

import sys
import threading
import time
from types import TracebackType
from typing import TextIO

from onnxsmith.diagnostics import is_notebook

#: Shorter exports say nothing.
_PATIENCE = 2.0
_INTERVAL = 0.25


class Progress:
    """Counts seconds per stage, and shows them where a person is looking.

    The line is written by a thread, since torch.export says nothing of itself while it works.
    """

    def __init__(self, stream: TextIO | None = None) -> None:
        self.stages: dict[str, float] = {}
        self.done = 0
        self.total = 0
        self._stage = ""
        self._began = self._stage_began = time.perf_counter()
        self._stream = sys.stderr if stream is None else stream
        self._over = threading.Event()
        self._thread: threading.Thread | None = None
        self._width = 0

    def __enter__(self) -> Progress:
        if self._stream.isatty() or is_notebook():
            self._thread = threading.Thread(target=self._show, daemon=True)
            self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stage("")
        self._over.set()
        if self._thread is not None:
            self._thread.join()
            if self._width:
                self._stream.write("\r" + " " * self._width + "\r")
                self._stream.flush()

    def stage(self, name: str) -> None:
        """Say what is done from now on."""
        now = time.perf_counter()
        if self._stage:
            self.stages[self._stage] = self.stages.get(self._stage, 0.0) + now - self._stage_began
        self._stage, self._stage_began = name, now
        self.done = self.total = 0

    def line(self) -> str:
        """The line that the terminal shows now."""
        share = f" {self.done} of {self.total}" if self.total else ""
        return f"onnxsmith: {self._stage}{share}, {time.perf_counter() - self._began:.0f} s"

    def _show(self) -> None:
        if self._over.wait(_PATIENCE):
            return
        while True:
            text = self.line()
            self._stream.write("\r" + text.ljust(self._width))
            self._stream.flush()
            self._width = max(self._width, len(text))
            if self._over.wait(_INTERVAL):
                return
