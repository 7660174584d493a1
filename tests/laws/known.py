"""Calls that once took the process down, went on for ever, asked for terabytes, or gave nonsense, as cases.

They must be refused, or give what ONNX defines, on every road. The integers that doubles do not hold are among them.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tests.laws.case import Case, node_case
from tests.laws.integers import integer_cases
from tests.runtime.hostile import DEFINED, HOSTILE


def known_cases() -> Iterator[Case]:
    """All of them."""
    for number, (name, version, inputs, attributes, outputs) in enumerate(HOSTILE):
        yield node_case(f"hostile_{number}_{name}", name, version, inputs, attributes, outputs, None)
    for number, (name, version, inputs, attributes, expected) in enumerate(DEFINED):
        # A few expect a part of the result only.
        results = None if expected is None or name == "DFT" else (expected,)
        yield node_case(f"defined_{number}_{name}", name, version, inputs, attributes, 1, results)
    empty, window, state = (np.zeros((1, 1, length), np.float32) for length in (0, 4, 3))
    yield node_case("no_length", "CausalConvWithState", 27, [empty, window], {}, 2, (empty, state))
    yield from integer_cases()
