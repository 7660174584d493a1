"""Estimators of scikit-learn, fitted on small data and converted with skl2onnx.

Makes models and the numbers that the estimators themselves give, in double precision. Judges nothing.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.sklearn_cases import Case, Data, Target, cases

Array = NDArray[Any]

#: Some estimators have no model in an opset older than this.
_NEWER = 18
#: The version of ai.onnx.ml.
_LEARNING = 3
_ROWS = 120
_TRIED = 40


@dataclass(frozen=True)
class Converted:
    """A model of an estimator, inputs to run it on, and what the estimator gives for them in double precision."""

    name: str
    proto: Any
    inputs: Mapping[str, Array]
    exact: list[Array]


def converted_models(kind: type[np.floating[Any]], opset: int) -> Iterator[Converted | tuple[str, str]]:
    """The models for inputs of one type of float; a name with the reason where skl2onnx gives none."""
    for case in cases():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                yield _converted(case, kind, opset)
            except Exception as problem:  # whatever scikit-learn or skl2onnx say of it
                yield case.name, f"{type(problem).__name__}: {problem}".splitlines()[0]


def _converted(case: Case, kind: type[np.floating[Any]], opset: int) -> Converted:
    from skl2onnx import to_onnx
    from sklearn.feature_extraction import text

    table = _table(case.data, kind)
    model = case.make()
    target = _target(case.target)
    given = _as_given(table)
    model.fit(given) if target is None else model.fit(given, target)
    tried = {name: column[-_TRIED:] for name, column in table.items()}
    sample = {name: column[:1] for name, column in table.items()}
    has_map = hasattr(model, "classes_") and hasattr(model, "predict_proba") and case.target != "labels"
    # The vectorizers' own locale is not on every machine.
    options: dict[Any, Any] = {each: {"locale": "C"} for each in (text.CountVectorizer, text.TfidfVectorizer)}
    if has_map:
        options[id(model)] = {"zipmap": case.has_map}
    proto = None
    for version in (opset, max(opset, _NEWER)):
        try:
            proto = to_onnx(
                model,
                initial_types=_types(sample),
                options=options,
                target_opset={"": version, "ai.onnx.ml": _LEARNING},
            )
            break
        except (AssertionError, RuntimeError):
            if version == max(opset, _NEWER):
                raise
    exact = [np.asarray(each) for each in _answers(model, _in_double(tried))]
    return Converted(case.name, proto, tried, exact)


def _types(sample: Mapping[str, Array]) -> list[tuple[str, Any]]:
    from skl2onnx.common import data_types

    found: list[tuple[str, Any]] = []
    for name, column in sample.items():
        shape = [None, *column.shape[1:]]
        match column.dtype.kind, column.dtype.itemsize:
            case "f", 8:
                found.append((name, data_types.DoubleTensorType(shape)))
            case "f", _:
                found.append((name, data_types.FloatTensorType(shape)))
            case "i", _:
                found.append((name, data_types.Int64TensorType(shape)))
            case _:
                found.append((name, data_types.StringTensorType(shape)))
    return found


def _as_given(table: Mapping[str, Array]) -> Any:
    """What an estimator is fitted on: one array, or a table with named columns."""
    if len(table) == 1:
        (column,) = table.values()
        return (
            column[:, 0]
            if column.dtype == object and column.shape[1:] == (1,) and "text" in table
            else column
        )
    import pandas

    return pandas.DataFrame({name: column[:, 0] for name, column in table.items()})


def _in_double(table: Mapping[str, Array]) -> Any:
    wide = {name: each.astype(np.float64) if each.dtype.kind == "f" else each for name, each in table.items()}
    return _as_given(wide)


def _answers(model: Any, given: Any) -> Iterator[Any]:
    for name in (
        *("predict_proba", "decision_function", "score_samples", "transform", "predict", "predict_log_proba"),
    ):
        method = getattr(model, name, None)
        if method is None:
            continue
        try:
            answer = method(given)
        except Exception:  # not every method that is there works: voting by hand has no probabilities
            continue
        if isinstance(answer, list):
            yield from answer
        elif hasattr(answer, "toarray"):
            yield answer.toarray()
        else:
            yield answer


def _table(data: Data, kind: type[np.floating[Any]]) -> dict[str, Array]:
    rng = np.random.default_rng(7)
    numbers = rng.standard_normal((_ROWS, 4)) * [1, 2, 0.5, 4] + [0, 1, -2, 3]
    words = np.array(["red", "green", "blue"], object)
    match data:
        case "numbers":
            return {"X": numbers.astype(kind)}
        case "holes":
            numbers[rng.random(numbers.shape) < 0.2] = np.nan
            return {"X": numbers.astype(kind)}
        case "counts":
            return {"X": rng.integers(0, 6, (_ROWS, 4)).astype(kind)}
        case "codes":
            return {"X": rng.integers(0, 3, (_ROWS, 3)).astype(np.int64)}
        case "words":
            return {"X": words[rng.integers(0, 3, (_ROWS, 2))]}
        case "text":
            lines = [
                " ".join(rng.choice(["a cat", "The dog", "sat", "on a mat", "in Rome"], 4))
                for _ in range(_ROWS)
            ]
            return {"text": np.array(lines, object)[:, None]}
        case "table":
            return {
                "size": numbers[:, :1].astype(kind),
                "weight": numbers[:, 1:2].astype(kind),
                "colour": words[rng.integers(0, 3, (_ROWS, 1))],
            }


def _target(target: Target) -> Any:
    numbers = _table("numbers", np.float64)["X"]
    score = numbers @ [1, 0.5, 2, -0.25] + np.sin(3 * numbers[:, 0])
    three = np.digitize(score, np.quantile(score, [0.3, 0.7]))
    match target:
        case "three":
            return three
        case "two":
            return (three > 0).astype(np.int64)
        case "names":
            return np.array(["low", "middle", "high"])[three]
        case "number":
            return score
        case "numbers":
            return np.stack([score, score**2], 1)
        case "positive":
            return np.abs(score) + 0.1
        case "labels":
            return np.stack([three > 0, three > 1], 1).astype(np.int64)
        case "none":
            return None
