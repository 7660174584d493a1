"""Checks of arguments before anything begins: what is no name, flag, number or function of so many is refused."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from typing import cast

from onnxsmith.diagnostics import described_type
from onnxsmith.errors.operators import AttributeTypeError, AttributeValueError
from onnxsmith.errors.wrong_kinds import Given


def read_names(given: Given, name: str, example: str) -> list[str]:
    """One name or several as a list; AttributeTypeError for anything else, and for none at all."""
    found = [given] if isinstance(given, str) else given
    if not isinstance(found, Iterable) or isinstance(found, bytes):
        raise AttributeTypeError(
            f"{name} are names, not {described_type(type(given))}", help=example, culprit=name
        )
    names = list(cast("Iterable[object]", found))
    for each in names:
        if not isinstance(each, str):
            raise AttributeTypeError(
                f"{name} are names of inputs and weights, not {described_type(type(each))}", help=example
            )
    if not names:
        raise AttributeTypeError(f"{name} names nothing", help=example)
    return cast("list[str]", names)


def takes(function: Callable[..., object], count: int) -> bool:
    """True unless a function says that it cannot be called with so many arguments."""
    try:
        inspect.signature(function).bind(*range(count))
    except TypeError:
        return False
    except ValueError:  # builtins without a signature
        return True
    return True


def check_flags(**flags: Given) -> None:
    """Refuse what is neither True nor False."""
    for name, flag in flags.items():
        # A truth value of numpy is one, too; this package does not import numpy.
        if not isinstance(flag, bool) and str(getattr(flag, "dtype", "")) != "bool":
            raise AttributeTypeError(f"{name} is True or False, not {flag!r}", culprit=name)


def check_share(name: str, share: float) -> None:
    """Refuse what is no part of a mean that is kept from step to step: all of it, or more."""
    if share >= 1.0:
        raise AttributeValueError(
            f"{name} is how much is kept of the last step, less than 1, and not {share!r}", culprit=name
        )


def check_numbers(**numbers: Given) -> None:
    """Refuse what is no number from 0 on; None is for what is left open."""
    for name, number in numbers.items():
        if number is None:
            continue
        is_number = isinstance(number, int | float) or (
            hasattr(number, "__float__") and not getattr(number, "shape", ())
        )
        if isinstance(number, bool) or not is_number:
            raise AttributeTypeError(
                f"{name} is a number from 0 on, not {described_type(type(number))}", culprit=name
            )
        value = float(cast(float, number))
        if not 0.0 <= value < float("inf"):
            raise AttributeValueError(f"{name} is a number from 0 on, not {number!r}", culprit=name)


def check_counts(**counts: Given) -> None:
    """Refuse what is no whole number from 1 on; None is for what is left open."""
    for name, count in counts.items():
        if count is None:
            continue
        if isinstance(count, bool) or not hasattr(count, "__index__"):
            raise AttributeTypeError(
                f"{name} is a whole number from 1 on, not {described_type(type(count))}", culprit=name
            )
        if int(cast(int, count)) < 1:
            raise AttributeValueError(f"{name} is a whole number from 1 on, not {count!r}", culprit=name)
