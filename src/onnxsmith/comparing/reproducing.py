"""A folder with the node that two runs part at: models of one node, the values that they take, and what they give."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from onnxsmith.comparing.result import Comparison
from onnxsmith.comparing.search import Parting
from onnxsmith.comparing.sides import Side
from onnxsmith.errors import ModelWriteError
from onnxsmith.graphs.existing_files import refuse
from onnxsmith.graphs.run_values import Array

_SCRIPT = '''"""Runs the node that two models part at, on its own. Needs numpy and onnxruntime."""

from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime

here = Path(__file__).parent
inputs = dict(np.load(here / "inputs.npz"))
expected = np.load(here / "expected.npy")
session = onnxruntime.InferenceSession(here / "node.onnx")
(found,) = session.run(None, inputs)
print("this node gives", found.reshape(-1)[:8], "...")
print("the other gave ", expected.reshape(-1)[:8], "...")
if found.dtype.kind in "fc" and found.size == expected.size:
    print("largest difference", np.abs(found.reshape(expected.shape) - expected).max())
'''


_FILES = ("node.onnx", "other.onnx", "inputs.npz", "expected.npy", "run.py", "report.txt")


def write_reproduction(
    place: Path,
    left: Side,
    right: Side,
    parting: Parting,
    expected: Array,
    result: Comparison,
    *,
    overwrite: bool,
) -> tuple[Path, ...]:
    """Write the node of the first model with its inputs, and what the second gives on the same; return the files.

    The folder is made. One that holds something is refused, and left as it is, unless `overwrite` is True.
    """
    if os.path.exists(place) and not os.path.isdir(place):
        raise ModelWriteError(f"cannot write to {str(place)!r}: it is no folder", help="name a new folder")
    if not overwrite and os.path.isdir(place) and any(place.iterdir()):
        raise refuse(place, "is not empty", "name a new folder")
    region = parting.left_region
    made = {id(each) for each in region}
    outside = {
        actual
        for step in region
        for each in left.line.taken(step)
        if (actual := left.line.actual(each)) in left.signatures
        and (actual not in left.by_value or id(left.by_value[actual]) not in made)
    }
    given = {each: left.array(each) for each in outside}
    model, taken = left.part([parting.left], given)
    try:
        place.mkdir(parents=True, exist_ok=True)
        arrays: dict[str, Any] = {each.name or "": np.asarray(left.array(each)) for each in taken}
        np.savez(place / "inputs.npz", **arrays)
        np.save(place / "expected.npy", expected)
        (place / "run.py").write_text(_SCRIPT, encoding="utf-8")
        (place / "report.txt").write_text(f"{result}\n", encoding="utf-8")
    except OSError as error:
        raise ModelWriteError(f"cannot write to {str(place)!r}: {error.strerror or error}") from None
    model.save(place / "node.onnx", overwrite=overwrite)
    others = {
        actual
        for step in parting.right_region
        for each in right.line.taken(step)
        if (actual := right.line.actual(each)) in right.signatures
    }
    inside = {value for step in parting.right_region for value in step.run.outputs}
    held = {each: right.array(each) for each in others - inside}
    right.part([parting.right], held)[0].save(place / "other.onnx", overwrite=overwrite)
    return tuple(place / each for each in _FILES)
