"""The process that takes a case along a road: reads cases and names of roads, writes what came of each.

Run as `python -m tests.laws.worker`. It may die or hang; `pool` starts another one then.
"""

from __future__ import annotations

import os
import pickle
import resource
import struct
import sys
import warnings
from dataclasses import replace
from typing import Any, BinaryIO

from onnxsmith.errors import OnnxsmithError
from tests.laws.case import Case
from tests.laws.contexts import Inexpressible
from tests.laws.outcome import Outcome, difference
from tests.laws.roads import ROADS, WITNESSES

MEMORY = 6 << 30


def take(case: Case, road: str) -> Outcome:
    """What comes of a case on a road."""
    given = pickle.loads(pickle.dumps(case.inputs))  # a road that writes into them must not disturb the next
    try:
        values = tuple(map(_plain, {**ROADS, **WITNESSES}[road](replace(case, inputs=given))))
    except Inexpressible as reason:
        return Outcome("inexpressible", text=str(reason))
    except OnnxsmithError as error:
        return Outcome("error", name=f"{type(error).__name__} {error.code}", text=error.message)
    except Exception as error:  # what is not one of ours is a finding
        return Outcome("raw error", name=type(error).__name__, text=str(error))
    if difference(given, case.inputs) is not None:
        return Outcome("overwritten", values, text="the arrays that were given have other values afterwards")
    return Outcome("values", values)


def _plain(value: Any) -> Any:
    return getattr(value, "array", value)


def receive(stream: BinaryIO) -> Any:
    """The next message; raises EOFError when there is none."""
    header = stream.read(8)
    if len(header) < 8:
        raise EOFError
    return pickle.loads(stream.read(struct.unpack("<Q", header)[0]))


def send(stream: BinaryIO, message: Any) -> None:
    """Write one message."""
    data = pickle.dumps(message)
    stream.write(struct.pack("<Q", len(data)) + data)
    stream.flush()


def main() -> None:
    """Answer until there is nothing more to read."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    warnings.simplefilter("ignore")
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what libraries print must not mix with the answers
    questions = sys.stdin.buffer
    send(answers, "ready")
    while True:
        try:
            case, roads = receive(questions)
        except EOFError:
            return
        for road in roads:
            send(answers, take(case, road))


if __name__ == "__main__":
    main()
