"""Pausing the collection of garbage while something is made whose many parts all live on."""

from __future__ import annotations

import gc


class collection_paused:
    """Within the block nothing is collected; only for code of ours that runs none of the user's.

    Python looks through all objects there are again and again while many are made, which can take as long as the work.
    """

    __slots__ = ("_was_on",)

    def __enter__(self) -> None:
        self._was_on = gc.isenabled()
        gc.disable()

    def __exit__(self, *_: object) -> None:
        if self._was_on:
            gc.enable()
