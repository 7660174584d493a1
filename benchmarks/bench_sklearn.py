"""scikit-learn's estimators as models, before and after: optimised, in a newer opset, decompiled and built again.

Models run on ONNX Runtime alone, as they ship. The error is that against what the estimator itself gives in double
precision: it may be twice the original's at most, labels and other whole numbers stay equal, and all are loadable.
Needs scikit-learn, pandas and skl2onnx. `--set list=1` prints a line for each model.
"""

from __future__ import annotations

import importlib.util
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from benchmarks.contest import Context
from benchmarks.rows import Row, at_most

NAME = "sklearn"
DESCRIPTION = "scikit-learn's models after passes (--set list=1 for each, opset=15); models that are worse"

#: The opset that skl2onnx is asked for: old enough to have something to convert.
_OPSET = 15
#: Roundings of the largest number that are no error where the original happens to be exact.
_ROUNDED = 8
_NEEDED = ("sklearn", "skl2onnx", "pandas")


def run(context: Context) -> list[Row]:
    """A row for each way and type of float: how many models are worse, of how many."""
    missing = [each for each in _NEEDED if importlib.util.find_spec(each) is None]
    if missing:
        print(f"{', '.join(missing)}: not installed")
        return []
    import numpy as np

    from benchmarks.sklearn_models import Converted, converted_models

    rows: list[Row] = []
    for kind in (np.float32, np.float64):
        made = list(converted_models(kind, int(context.number("opset", _OPSET))))
        models: list[Any] = []
        for each in made:
            told = _reason(each) if isinstance(each, Converted) else each[1]
            if told is None:
                models.append(each)
            else:
                name = each.name if isinstance(each, Converted) else each[0]
                print(f"  no model of {name} in {kind.__name__}: {told[:160]}")
        for way, change in _WAYS.items():
            worse: list[str] = []
            for each in models:
                fault = _fault(each, change)
                if fault is not None:
                    worse.append(each.name)
                if fault is not None or context.number("list", 0):
                    print(f"  {kind.__name__}, {way}, {each.name}: {fault or 'as good'}")
            name = f"{len(models)} models of {kind.__name__}, {way}"
            rows.append(Row(name, float(len(worse)), "worse", bar=at_most(0), note=", ".join(worse)))
    return rows


def _optimised(model: Any) -> Any:
    return model.optimize()


def _newer(model: Any) -> Any:
    from onnxsmith.schema.registry import default_opset_version

    return model.convert_version(default_opset_version())


def _built_again(model: Any) -> Any:
    import onnxsmith

    return onnxsmith.recompile(model.decompile())


_WAYS: Mapping[str, Callable[[Any], Any]] = {
    "optimised": _optimised,
    "in a newer opset": _newer,
    "decompiled and built again": _built_again,
}


def _reason(case: Any) -> str | None:
    """Why ONNX Runtime does not take a model as skl2onnx made it."""
    try:
        _results(case.proto, case.inputs)
    except Exception as problem:  # ONNX Runtime has classes of its own, of which it names none
        return str(problem)
    return None


def _fault(case: Any, change: Callable[[Any], Any]) -> str | None:
    """What is wrong with a model after a change; None where nothing is."""
    from onnxsmith import Model

    before = _results(case.proto, case.inputs)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            after = _results(change(Model.from_proto(case.proto)).proto, case.inputs)
        except Exception as problem:  # ours, or ONNX Runtime's at loading or running it
            return f"{type(problem).__name__}: {problem}"
    told = (_difference(*pair, case.exact) for pair in zip(before, after, strict=True))
    return next((each for each in told if each is not None), None)


def _results(proto: Any, inputs: Mapping[str, Any]) -> Sequence[Any]:
    """What ONNX Runtime gives, with its own optimiser off."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(proto.SerializeToString(), options, ["CPUExecutionProvider"])
    return session.run(None, dict(inputs))


def _difference(before: Any, after: Any, exact: Sequence[Any]) -> str | None:
    import numpy as np

    if isinstance(before, list):
        if len(before) != len(after):
            return f"a sequence of {len(before)} became one of {len(after)}"
        told = (_difference(*pair, exact) for pair in zip(before, after, strict=True))
        return next((each for each in told if each is not None), None)
    if isinstance(before, dict):
        return None if before == after else "a map is not equal"
    if (before.shape, before.dtype) != (after.shape, after.dtype):
        return f"{before.dtype}{before.shape} became {after.dtype}{after.shape}"
    if before.dtype.kind != "f":
        return None if np.array_equal(before, after) else "labels are not equal"
    wide = before.astype(np.float64)
    largest = max(float(np.abs(wide[np.isfinite(wide)]).max(initial=0)), 1e-30)
    # The answer of the estimator that this output is: the nearest of its shape, where one is near at all.
    answers = [each.reshape(wide.shape).astype(np.float64) for each in exact if _is_like(each, wide)]
    errors = [float(np.nanmax(np.abs(each - wide), initial=0)) for each in answers]
    nearest = min(range(len(answers)), key=errors.__getitem__, default=None)
    if nearest is None or errors[nearest] > 1e-2 * largest:
        truth, own = wide, 0.0
    else:
        truth, own = answers[nearest], errors[nearest]
    found = after.astype(np.float64)
    if not np.array_equal(np.isfinite(found), np.isfinite(wide)):
        return "infinities or NaNs are in other places"
    error = float(np.nanmax(np.abs(found - truth), initial=0))
    allowed = max(2 * own, _ROUNDED * float(np.finfo(before.dtype).eps) * largest)
    return None if error <= allowed else f"the error is {error:.3g}, and was {own:.3g}"


def _is_like(answer: Any, wide: Any) -> bool:
    return answer.size == wide.size and answer.dtype.kind in "fiub"
