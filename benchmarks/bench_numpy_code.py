"""How many functions of installed packages become models unchanged, of a list that a rule made.

numpy's own Python code, and functions of scipy, scikit-image and scikit-learn. `--set part="held out"` asks for those
that are not on the list, `--set only=numpy` for those whose names begin so. Packages that are not there are left out.
"""

from __future__ import annotations

import importlib.util

from benchmarks.contest import Context
from benchmarks.numpy_code import run as asking
from benchmarks.rows import Row, at_most

NAME = "numpy_code"
DESCRIPTION = (
    "functions of installed packages that nobody wrote for ONNX, as models for all sizes and two types"
)

_MODULES = {"numpy": "numpy", "scipy": "scipy", "scikit-image": "skimage", "scikit-learn": "sklearn"}


def run(context: Context) -> list[Row]:
    """What is not equal, what is wrong, and what fails with an error that is not ours."""
    entries = [
        each
        for each in asking.listed(context.settings.get("part", "functions"))
        if importlib.util.find_spec(_MODULES[each["package"]]) is not None
        and each["name"].startswith(context.settings.get("only", ""))
    ]
    found = list(asking.outcomes(entries))
    print(asking.reasons(found))
    print(asking.table(found))
    counts = {verdict: sum(each.verdict == verdict for each in found) for verdict in asking.ORDER}
    unequal = len(found) - counts["equal"]
    return [
        Row("refused, failed or wrong", unequal, "functions", "all", len(found), at_most(0.4 * len(found))),
        Row("wrong", counts["wrong"], "functions", bar=at_most(0)),
        Row("an error that is not ours", counts["raw"], "functions", bar=at_most(0)),
    ]
