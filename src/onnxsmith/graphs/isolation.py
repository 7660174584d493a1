"""How a model is run in a process of its own: how long it may take, and how much memory. Starts no process."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from onnxsmith.core.target import ACTIVE
from onnxsmith.diagnostics import did_you_mean
from onnxsmith.errors import AttributeTypeError, AttributeValueError, ModelInputError

_UNITS = {"": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "kib": 2**10, "mib": 2**20, "gib": 2**30}
_AMOUNT = re.compile(r"(?P<number>\d+(?:\.\d+)?)\s*(?P<unit>[a-z]*)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Isolation:
    """The limits of a run: seconds and bytes, None where there is none."""

    timeout: float | None = None
    memory: int | None = None


def isolation(*, isolated: bool, timeout: float | None, memory: int | str | None) -> Isolation | None:
    """The options of a run in a process of its own, checked; None for a run in this process."""
    if not isolated:
        for name, value in (("timeout", timeout), ("memory", memory)):
            if value is not None:
                raise AttributeValueError(
                    f"{name} limits a process of its own, and the model runs in this one",
                    help=f"isolated=True, {name}={value!r}",
                    culprit=name,
                )
        return None
    return Isolation(_seconds(timeout), _bytes(memory))


def check_outside_graphs() -> None:
    """Refuse an isolated run where a graph is being made."""
    active = ACTIVE.get()
    if active is not None and active.recording is not None:
        raise AttributeValueError(
            "a model that is called where a graph is made becomes part of it, and has no process of its own",
            help="leave isolated out",
            culprit="isolated",
        )


def check_options(named: Iterable[str], inputs: Sequence[str]) -> None:
    """Refuse a misspelt option of a run, which Python takes for an input."""
    for name in named:
        meant = did_you_mean(name, ("isolated", "timeout", "memory"))
        if name not in inputs and meant is not None and did_you_mean(name, inputs) is None:
            raise ModelInputError(
                f"run has no option '{name}', and the model no such input", help=meant, culprit=name
            )


def _seconds(timeout: float | None) -> float | None:
    if timeout is None:
        return None
    if isinstance(timeout, bool) or not isinstance(timeout, int | float):  # pyright: ignore[reportUnnecessaryIsInstance]  # a user's value
        raise AttributeTypeError(f"timeout is a number of seconds, not {timeout!r}", culprit="timeout")
    if not timeout > 0 or math.isinf(timeout):
        raise AttributeValueError(
            f"timeout is a positive number of seconds, not {timeout!r}", culprit="timeout"
        )
    return float(timeout)


def _bytes(memory: int | str | None) -> int | None:
    if memory is None:
        return None
    amount = memory_amount(memory) if isinstance(memory, str) else memory
    if amount is None or isinstance(amount, bool) or not isinstance(amount, int):  # pyright: ignore[reportUnnecessaryIsInstance]  # a user's value
        raise AttributeTypeError(
            f"memory is a number of bytes or a text such as '2 GB', not {memory!r}", culprit="memory"
        )
    if amount < 1:
        raise AttributeValueError(f"memory is a positive number of bytes, not {memory!r}", culprit="memory")
    return amount


def memory_amount(text: str) -> int | None:
    """The bytes that a text such as '512 MB' means; None when it means nothing.

    >>> memory_amount("1.5 GB"), memory_amount("2GiB"), memory_amount("much")
    (1500000000, 2147483648, None)
    """
    found = _AMOUNT.fullmatch(text.strip())
    if found is None or found["unit"].lower() not in _UNITS:
        return None
    return int(float(found["number"]) * _UNITS[found["unit"].lower()])


def told_amount(amount: int) -> str:
    """Bytes for people.

    >>> told_amount(1_500_000_000), told_amount(2_000)
    ('1.5 GB', '2 KB')
    """
    for unit, size in (("GB", 10**9), ("MB", 10**6), ("KB", 10**3)):
        if amount >= size:
            return f"{amount / size:.3g} {unit}"
    return f"{amount} bytes"
