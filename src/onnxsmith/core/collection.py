"""Pausing the collection of garbage while something is made whose many parts all live on."""

from __future__ import annotations

import gc
from collections.abc import Generator
from contextlib import contextmanager


@contextmanager
def collection_paused() -> Generator[None]:
    """Within the block nothing is collected; only for code of ours that runs none of the user's.

    Python looks through all objects there are again and again while many are made, which can take as long as the work.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
