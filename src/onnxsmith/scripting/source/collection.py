"""Pausing the collection of garbage while trees are made, all of which live on."""

from __future__ import annotations

import gc
from collections.abc import Generator
from contextlib import contextmanager


@contextmanager
def collection_paused() -> Generator[None]:
    """Within the block nothing is collected; only for code of ours that makes many objects and runs none of the user's.

    A tree of two thousand statements is a hundred thousand objects. Python looks through all objects there are again
    and again while as many are made, which took as long as compiling the function.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
