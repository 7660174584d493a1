"""How many of scikit-learn's estimators become models that give what they give, on which road; and skl2onnx beside it.

For float32 and float64 each estimator of `tests/sklearn/estimators.py` is fitted, converted without any check of ours,
and compared with itself on four numbers of rows: `python -m benchmarks.bench_sklearn_convert [names…]`. `--checked` is
for `convert` as users have it, which compares first: then nothing may be wrong that was not refused.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import sys
import time
import warnings
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import sklearn

import onnxsmith
from benchmarks.contest import Context
from benchmarks.rows import Row, at_most
from onnxsmith.errors import OnnxsmithError

NAME = "sklearn_convert"
DESCRIPTION = "estimators of scikit-learn that become models which agree with them; takes minutes"

_LIST = Path(__file__).resolve().parent.parent / "tests" / "sklearn" / "estimators.py"
_TOLERANCE = {"float32": 1e-4, "float64": 1e-9}


def load_list() -> Any:
    """The module that has the list of estimators."""
    spec = importlib.util.spec_from_file_location("sklearn_estimators", _LIST)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def dense(value: Any) -> Any:
    """What an estimator gives, as an array."""
    if hasattr(value, "toarray"):
        value = value.toarray()
    if isinstance(value, list):  # of probabilities, one array for each target
        return np.stack([np.asarray(each) for each in value]) if value else np.asarray(value)
    return np.asarray(value)


def difference(found: Any, wanted: Any) -> float:
    """The largest difference, as a part of the number where that is above 1; infinite for labels that differ."""
    found, wanted = dense(found), dense(wanted)
    if found.shape[:1] == (1,) and wanted.shape == found.shape[1:]:
        wanted = wanted.reshape(found.shape)  # some drop a dimension of one row
    if found.shape != wanted.shape:
        return float("inf")
    if wanted.dtype.kind not in "fiub":
        return 0.0 if found.astype(str).tolist() == wanted.astype(str).tolist() else float("inf")
    if not wanted.size:
        return 0.0
    first, second = found.astype(np.float64), wanted.astype(np.float64)
    is_same = (first == second) | (np.isnan(first) & np.isnan(second))
    with np.errstate(all="ignore"):
        apart = np.abs(first - second) / np.maximum(1.0, np.abs(second))
    return float(np.where(is_same, 0.0, np.nan_to_num(apart, nan=np.inf)).max())


def rows_for(estimator: Any, method: str, rows: Any) -> Any:
    """What a method is given: the way back is given what the way there gives."""
    if method != "inverse_transform":
        return rows
    made = dense(estimator.transform(rows))
    is_dropped = (
        made.ndim == 1 and len(rows) == 1 and np.ndim(rows) == 2
    )  # some drop the dimension of one row
    return made[None] if is_dropped else made


def outcome(listed: Any, case: Any, dtype: str, methods: Sequence[str], *, checked: bool) -> dict[str, Any]:
    """What becomes of one estimator: its state is that of the methods that the bar counts."""
    start = time.process_time()
    estimator, fitted_on = case.fitted(np.dtype(dtype))
    row: dict[str, Any] = {"name": case.name, "module": case.module, "dtype": dtype, "methods": {}}
    for method in methods:
        if not hasattr(estimator, method):
            continue
        x = rows_for(estimator, method, fitted_on)
        try:
            options: dict[str, Any] = {} if checked else {"verify": False}
            model = onnxsmith.sklearn.convert(estimator, x, outputs=[method], **options)
        except OnnxsmithError as error:
            row["methods"][method] = {"state": "refused", "why": str(error)}
            continue
        except Exception as error:  # ours, which nobody should see
            row["methods"][method] = {"state": "internal", "why": f"{type(error).__name__}: {error}"}
            continue
        road = model.roads[-1].road
        try:
            worst = 0.0
            for count in listed.BATCHES:
                given = rows_for(estimator, method, case.rows(count, np.dtype(dtype), seed=count))
                worst = max(worst, difference(model(given), getattr(estimator, method)(given)))
            state = "equal" if worst <= _TOLERANCE[dtype] else "wrong"
            row["methods"][method] = {"state": state, "road": road, "difference": worst}
        except Exception as error:  # whatever running the model raises
            row["methods"][method] = {
                "state": "fails",
                "road": road,
                "why": f"{type(error).__name__}: {error}",
            }
    states = [row["methods"][each]["state"] for each in listed.METHODS if each in row["methods"]]
    row["state"] = next(
        (each for each in ("internal", "wrong", "fails", "refused") if each in states), "equal"
    )
    row["seconds"] = round(time.process_time() - start, 2)
    return row


def by_skl2onnx(listed: Any, case: Any, dtype: str) -> str:
    """What becomes of one estimator with skl2onnx."""
    import onnxruntime
    import skl2onnx
    from skl2onnx.common import data_types

    estimator, x = case.fitted(np.dtype(dtype))
    kind = data_types.FloatTensorType if dtype == "float32" else data_types.DoubleTensorType
    try:
        options: Any = {id(estimator): {"zipmap": False}} if hasattr(estimator, "classes_") else None
        made = skl2onnx.convert_sklearn(
            estimator, initial_types=[("X", kind([None, np.asarray(x).shape[1]]))], options=options
        )
        session = onnxruntime.InferenceSession(made.SerializeToString(), providers=["CPUExecutionProvider"])
        worst = 0.0
        methods = [each for each in listed.METHODS if hasattr(estimator, each)]
        for count in listed.BATCHES:
            given = case.rows(count, np.dtype(dtype), seed=count)
            found = session.run(None, {"X": given})
            for method, each in zip(methods, found, strict=False):
                wanted = dense(getattr(estimator, method)(given))
                worst = max(worst, difference(np.asarray(each).reshape(wanted.shape), wanted))
    except Exception:  # a peer refuses in ways of its own, and counts as refusing
        return "refused"
    return "equal" if worst <= _TOLERANCE[dtype] else "wrong"


#: What the table has a column for.
_COLUMNS = ("predict", "predict_proba", "decision_function", "transform", "inverse_transform")
_HEAD = """\
<!-- Written by `python -m benchmarks.bench_sklearn_convert --all-methods --table`; do not edit. -->

# Estimators of scikit-learn as models

What `onnxsmith.sklearn.convert` does with each estimator of scikit-learn {version} that predicts or transforms, with
default parameters. *converter* is one of ours; *recorded* means that scikit-learn's own Python code was recorded, and
*skl2onnx* that its model was embedded. Each was compared with scikit-learn on 1, 7, 40 and 81 rows that it was not
fitted on. The number is the largest difference in double, as a part of the number where that is above 1. A dash is for
methods that the estimator does not have.

| estimator | predict | predict_proba | decision_function | transform | inverse_transform |
| --- | --- | --- | --- | --- | --- |
"""


def table(rows: Sequence[dict[str, Any]], version: str) -> str:
    """The page that says for each estimator and method which road is taken and what was verified."""
    lines: list[str] = []
    for row in sorted(rows, key=lambda each: each["name"]):
        cells = [_cell(row["methods"].get(method)) for method in _COLUMNS]
        lines.append(f"| `{row['module']}.{row['name']}` | {' | '.join(cells)} |")
    return _HEAD.format(version=version) + "\n".join(lines) + "\n"


def _cell(result: dict[str, Any] | None) -> str:
    if result is None:
        return "–"
    if result["state"] != "equal":
        return "refused" if result["state"] in ("refused", "internal") else "fails"
    return (
        f"{result['road']}, {result['difference']:.0e}"
        if result["difference"]
        else f"{result['road']}, equal"
    )


#: How many estimators agree, by element type; the bars are those without skl2onnx installed.
_BARS = {"float32": 125, "float64": 130}


def run(context: Context) -> list[Row]:
    """For each element type how many estimators agree, and how many are wrong, which none may be."""
    warnings.simplefilter("ignore")
    listed, made = load_list(), list[Row]()
    for dtype, bar in _BARS.items():
        rows = [outcome(listed, case, dtype, listed.METHODS, checked=False) for case in listed.CASES]
        wrong = [each["name"] for each in rows if each["state"] in ("wrong", "fails", "internal")]
        equal = sum(each["state"] == "equal" for each in rows)
        left = Row(
            f"{dtype}: do not become models, of {len(rows)}",
            float(len(rows) - equal),
            "estimators",
            bar=at_most(len(rows) - bar),
        )
        made.append(left)
        made.append(
            Row(f"{dtype}: wrong", float(len(wrong)), "estimators", bar=at_most(0), note=", ".join(wrong))
        )
    return made


def main() -> None:
    """Print what becomes of each, and how many."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--dtype", choices=[*_TOLERANCE], action="append")
    parser.add_argument("--checked", action="store_true")
    parser.add_argument(
        "--all-methods", action="store_true", help="those of the table, besides what the bar counts"
    )
    parser.add_argument("--table", type=Path, help="where the table is written, of the last element type")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    listed = load_list()
    has_peer = importlib.util.find_spec("skl2onnx") is not None
    methods = _COLUMNS if given.all_methods else listed.METHODS
    rows: list[dict[str, Any]] = []
    for dtype in given.dtype or _TOLERANCE:
        counts: Counter[str] = Counter()
        peers: Counter[str] = Counter()
        taken: Counter[str] = Counter()
        for case in listed.CASES:
            if given.names and case.name not in given.names:
                continue
            row = outcome(listed, case, dtype, methods, checked=given.checked)
            rows.append(row)
            counts[row["state"]] += 1
            if row["state"] == "equal":
                taken[next(iter(row["methods"].values()))["road"]] += 1
            if has_peer:
                peers[by_skl2onnx(listed, case, dtype)] += 1
            for method, each in row["methods"].items():
                if each["state"] != "equal" or given.names:
                    said = each.get("why") or each["difference"]
                    road = each.get("road", "")
                    print(f"{dtype} {case.name}.{method} {each['state']} {road}: {said}", flush=True)
        total = sum(counts.values())
        print(f"{dtype}: {counts['equal']} of {total} equal; {dict(counts)}; roads {dict(taken)}", flush=True)
        if has_peer:
            print(f"{dtype}: skl2onnx {peers['equal']} of {total} equal; {dict(peers)}", flush=True)
    if given.table is not None:
        last = [each for each in rows if each["dtype"] == rows[-1]["dtype"]]
        given.table.write_text(table(last, sklearn.__version__), encoding="utf-8")
    if given.json is not None:
        given.json.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
