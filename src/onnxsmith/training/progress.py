"""The progress of a fit: tqdm's bar where it is installed, and else a line that is written over."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from importlib.util import find_spec
from types import TracebackType
from typing import Any

from onnxsmith.errors.arguments import check_flags
from onnxsmith.training.position import Position

#: Seconds between two pictures.
_PAUSE = 0.2


class Progress:
    """A bar or line on a terminal while a fit runs; nothing unless somebody looks."""

    def __init__(self, wanted: bool | None) -> None:
        if wanted is not None:
            check_flags(progress=wanted)
        is_terminal = sys.stderr is not None and sys.stderr.isatty()  # pyright: ignore[reportUnnecessaryComparison]  # without a console it is None
        self.is_shown = is_terminal if wanted is None else bool(wanted)
        #: The step at which the next picture is due: the loop only compares numbers.
        self.due: float = 0 if self.is_shown else float("inf")
        self._bar: Any = None
        self._head = ""
        self._batches: int | None = None
        self._last = (0, 0.0)

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self.is_shown:
            self._close()

    def begin(self, epoch: int, epochs: int, batches: int | None) -> None:
        """An epoch begins."""
        if not self.is_shown:
            return
        self._head, self._batches = f"epoch {epoch}/{epochs}", batches
        self._close()
        if find_spec("tqdm") is not None:
            from tqdm.auto import tqdm  # optional

            self._bar = tqdm(total=batches, desc=self._head, unit="batch", file=sys.stderr)

    def show(self, position: Position, loss: float) -> None:
        """Show how far the epoch is, and say at which step to come again."""
        now, (step, before) = time.monotonic(), self._last
        pace = (now - before) / max(position.step - step, 1) if step else 0.01
        self._last = (position.step, now)
        self.due = position.step + max(int(_PAUSE / max(pace, 1e-7)), 1)
        mean = position.loss_sum / max(position.rows, 1)
        if self._bar is not None:
            self._bar.update(position.batch - self._bar.n)
            self._bar.set_postfix_str(f"loss {mean:.4g}")
        else:
            of = "" if self._batches is None else f"/{self._batches}"
            sys.stderr.write(f"\r{self._head}: batch {position.batch}{of}, loss {mean:.4g}\x1b[K")
            sys.stderr.flush()

    def end(self, record: Mapping[str, float]) -> None:
        """An epoch is done."""
        if not self.is_shown:
            return
        left = ("epoch", "step", "seconds")
        text = ", ".join(f"{name} {each:.4g}" for name, each in record.items() if name not in left)
        if self._bar is not None:
            if self._batches is not None:
                self._bar.update(self._batches - self._bar.n)
            self._bar.set_postfix_str(text)
            self._close()
        else:
            sys.stderr.write(f"\r{self._head}: {text}\x1b[K\n")
            sys.stderr.flush()

    def _close(self) -> None:
        if self._bar is not None:
            self._bar.close()
            self._bar = None
