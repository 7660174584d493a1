"""Numbers on the command line: those that make no sense are wrong usage, before anything is read."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable


def whole(least: int, most: int | None = None) -> Callable[[str], int]:
    """For argparse: an int from `least` to `most`."""

    def number(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            value = None
        if value is None or value < least or (most is not None and value > most):
            end = "" if most is None else f" and {most} at the most"
            raise argparse.ArgumentTypeError(f"it is a whole number, {least} at the least{end}, not {text!r}")
        return value

    return number


def tolerance(text: str) -> float:
    """For argparse: how far numbers may be apart."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 <= value < math.inf:
        raise argparse.ArgumentTypeError(f"it is a number such as 1e-3 that is not negative, not {text!r}")
    return value
