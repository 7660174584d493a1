"""Where two runs part: the first node that gives something else on the same values.

A run is made a straight line of steps, values of two runs are matched, and each node that may be the cause is run again
on the values of the other run.
"""

from onnxsmith.comparing.compare import compare as compare
from onnxsmith.comparing.result import ComparedNode as ComparedNode
from onnxsmith.comparing.result import Comparison as Comparison
from onnxsmith.graphs.agreement import Difference as Difference

__all__ = [
    "ComparedNode",
    "Comparison",
    "Difference",
    "compare",
]


def __dir__() -> list[str]:
    return list(__all__)
