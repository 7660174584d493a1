"""Never silently wrong: what a model gives beside what its pipeline gives, on rows that are worth it.

Where the pipeline itself refuses rows, nothing is compared. `discrepancies` explains single rows.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np

from onnxsmith.errors import OnnxsmithError, VerificationError
from onnxsmith.graphs.agreement import CONVERTED, Tolerance, disagreeing, gap, largest_of
from onnxsmith.graphs.batches import row_count, rows_at
from onnxsmith.graphs.model import Model, ModelLike, model_of
from onnxsmith.graphs.model_boundary import model_boundary
from onnxsmith.runtime.frames import Json
from onnxsmith.sklearn.frames.signature import read_signature
from onnxsmith.sklearn.rows import Elements, Rows, array_in, variants
from onnxsmith.sklearn.thresholds import rows_at_thresholds
from onnxsmith.sklearn.values import Estimator, Fitted
from onnxsmith.types.dtypes import DType


@dataclass(frozen=True, slots=True)
class Check:
    """One output of the model beside what the pipeline gives, on some rows."""

    rows: str
    method: str
    #: The largest difference, as a part of the largest number; of labels the share that differs.
    difference: float

    def __str__(self) -> str:
        return f"{self.rows}: {self.method} differs by {self.difference:.3g}"


@dataclass(slots=True)
class ConversionReport:
    """On what a model was compared with its pipeline, and how near it is.

    >>> import numpy as np
    >>> import onnxsmith
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), [0, 0, 1, 1]
    >>> model = onnxsmith.sklearn.convert(LogisticRegression().fit(X, y), X)
    >>> model.report.largest < 1e-5
    True
    """

    checks: list[Check] = field(default_factory=list[Check])
    #: What was not compared, and why.
    notes: list[str] = field(default_factory=list[str])

    @property
    def largest(self) -> float:
        """The largest difference of all."""
        return max((each.difference for each in self.checks), default=0.0)

    def __str__(self) -> str:
        head = "not compared with the pipeline" if not self.checks else "compared with the pipeline"
        return "\n".join([head, *(f"  {each}" for each in (*self.checks, *self.notes))])

    def __repr__(self) -> str:
        return str(self)


@dataclass(frozen=True, slots=True)
class Discrepancy:
    """A row for which a model gives something else than its pipeline.

    >>> import numpy as np
    >>> import onnxsmith
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), [0, 0, 1, 1]
    >>> model = onnxsmith.sklearn.convert(LogisticRegression().fit(X, y), X)
    >>> wrong = LogisticRegression().fit(X, [1, 0, 0, 0])
    >>> onnxsmith.sklearn.discrepancies(wrong, model, X)[0].row
    2
    """

    row: int
    method: str
    expected: Json
    found: Json
    #: What is known of the reason.
    reason: str

    def __str__(self) -> str:
        return f"row {self.row}: {self.method} gives {self.found}, and the pipeline {self.expected}; {self.reason}"


# -- running both ------------------------------------------------------------------------------------------


def as_array(value: Rows) -> Elements:
    """The result of an estimator as one array: sparse matrices filled up, frames without their names."""
    for name in ("toarray", "to_numpy"):
        if hasattr(value, name):
            value = cast(Rows, getattr(value, name)())
    return np.asarray(value)


def given_by_model(model: Model, methods: Sequence[str], data: Rows) -> dict[str, Elements]:
    """The results of the model for data, by method."""
    results: Any = model(*read_signature(model).feeds(data))
    every = cast("Sequence[Elements]", results if len(methods) > 1 else (results,))
    return dict(zip(methods, every, strict=True))


def _given_by_pipeline(estimator: Fitted, method: str, data: Rows) -> Elements | str:
    """The result of the pipeline; the reason, where it refuses the rows."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return as_array(getattr(estimator, method)(data))
    except Exception as error:  # whatever an estimator says of rows that it does not take
        return f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"


def as_shaped(found: Elements, wanted: Elements) -> Elements | None:
    """The wanted elements in the shape of the found ones; None where the shapes differ."""
    if found.shape[:1] == (1,) and wanted.shape == found.shape[1:]:
        return wanted.reshape(found.shape)  # some estimators drop the dimension of a single row
    return wanted if found.shape == wanted.shape else None


def is_of_numbers(wanted: Elements) -> bool:
    """True for results that are rounded; labels and counts are right or wrong."""
    return wanted.dtype.kind in "fc"


def allowed_for(found: Elements, data: Rows, tolerance: float | None) -> Tolerance:
    """How far a result may be off: results in double that were computed from float32 are no nearer than that."""
    if tolerance is not None:
        return Tolerance.part(tolerance)
    array = array_in(data)
    kinds = [found.dtype] if array is None else [found.dtype, array.dtype]
    return CONVERTED.through(each for kind in kinds if (each := DType.from_numpy(kind)) is not None)


# -- verifying ---------------------------------------------------------------------------------------------


def verify(
    estimator: Fitted, model: Model, data: Rows, methods: Sequence[str], tolerance: float | None
) -> ConversionReport:
    """Compare a model with its pipeline; raises where they differ by more than is allowed."""
    report = ConversionReport()
    #: By method, what stands in each row of what the pipeline gives for X, which comes first, and its largest number.
    shapes: dict[str, tuple[int, ...]] = {}
    scales: dict[str, float] = {}
    for label, rows in _compared(estimator, model, data):
        wanted = {method: _given_by_pipeline(estimator, method, rows) for method in methods}
        if all(isinstance(each, str) for each in wanted.values()):
            report.notes.append(f"{label}: the pipeline refuses them ({next(iter(wanted.values()))})")
            continue
        try:
            found = given_by_model(model, methods, rows)
        except OnnxsmithError as error:
            raise VerificationError(
                f"on {label}, the model fails, and the pipeline does not: {error.message}",
                help="verify=False makes the model all the same",
            ) from None
        for method, want in wanted.items():
            if isinstance(want, str):
                report.notes.append(f"{label}: {method} refuses them ({want})")
                continue
            shape = shapes.setdefault(method, want.shape[1:])
            if not len(want) and want.shape[1:] != shape:
                # Some predictors answer no rows in a shape of their own; a model has one shape for all.
                report.notes.append(
                    f"{label}: {method} gives {want.shape}, and rows of the shape {shape} else"
                )
                continue
            if is_of_numbers(want):
                scales[method] = max(scales.get(method, 0.0), largest_of(want))
            limit = allowed_for(found[method], data, tolerance)
            scale = scales.get(method, 0.0)
            report.checks.append(_check(estimator, label, method, found[method], want, limit, scale))
    return report


def _compared(estimator: Fitted, model: Model, data: Rows) -> Iterator[tuple[str, Rows]]:
    yield from variants(data)
    at_thresholds = rows_at_thresholds(estimator, model, data)
    if at_thresholds is not None:
        yield "thresholds exactly hit", at_thresholds


def _check(
    estimator: Fitted,
    label: str,
    method: str,
    found: Elements,
    given: Elements,
    tolerance: Tolerance,
    scale: float,
) -> Check:
    wanted = as_shaped(found, given)
    name = f"{type(estimator).__name__}.{method}"
    if wanted is None:
        raise VerificationError(
            f"on {label}, {name} gives an array of shape {given.shape}, and the model one of {found.shape}"
        )
    far = disagreeing(wanted, found, tolerance, scale=scale)
    is_number = is_of_numbers(wanted)
    share = float(far.mean()) if far.size else 0.0
    largest = gap(wanted, found).relative if is_number else share
    if far.any() if is_number else share > (tolerance.own or 0.0):
        wrong = np.flatnonzero(far.reshape(len(far), -1).any(axis=1)).tolist()
        shown = ", ".join(map(str, wrong[:5])) + (", …" if len(wrong) > 5 else "")
        how_far = f"by up to {largest:.3g} of the largest number" if is_number else f"in {len(wrong)} labels"
        raise VerificationError(
            f"on {label}, the model differs from {name} {how_far}, in rows {shown} of {len(far)}",
            help=_help(largest),
        )
    return Check(label, method, largest)


def _help(largest: float) -> str:
    explained = "discrepancies(pipeline, model, X) explains rows, of a model that is made with verify=False"
    return f"tolerance={largest * 1.1:.2g} allows that; {explained}" if np.isfinite(largest) else explained


# -- single rows -------------------------------------------------------------------------------------------


@model_boundary
def discrepancies(
    pipeline: Estimator, model: ModelLike, X: Rows, *, tolerance: float | None = None
) -> list[Discrepancy]:
    """The rows of `X` for which a model gives something else than its pipeline, with what is known of the reason.

    >>> import numpy as np
    >>> import onnxsmith
    >>> from sklearn.linear_model import LinearRegression
    >>> X = np.arange(6.0).reshape(3, 2)
    >>> fitted = LinearRegression().fit(X, [0.0, 1.0, 2.0])
    >>> onnxsmith.sklearn.discrepancies(fitted, onnxsmith.sklearn.convert(fitted, X), X)
    []
    """
    fitted, model = cast(Fitted, pipeline), model_of(model, "discrepancies", 1)
    methods = [method for method, _ in read_signature(model).outputs]
    found = given_by_model(model, methods, X)
    made: list[Discrepancy] = []
    for method in methods:
        wanted = _given_by_pipeline(fitted, method, X)
        if isinstance(wanted, str):
            raise VerificationError(f"the pipeline refuses these rows: {wanted}").locate_at_caller()
        shaped = as_shaped(found[method], wanted)
        if shaped is None:
            raise VerificationError(
                f"{method} has the shape {wanted.shape} in the pipeline and {found[method].shape} in the model"
            ).locate_at_caller()
        far = disagreeing(shaped, found[method], allowed_for(found[method], X, tolerance))
        for row in np.flatnonzero(far.reshape(len(far), -1).any(axis=1)).tolist():
            want, have = shaped[row], found[method][row]
            reason = _reason(fitted, X, row, want, have)
            made.append(Discrepancy(row, method, want.tolist(), have.tolist(), reason))
    return made


def _reason(pipeline: Fitted, data: Rows, row: int, wanted: Elements, found: Elements) -> str:
    """How near the pipeline itself was to another label, or how far the numbers are apart."""
    if is_of_numbers(np.asarray(wanted)):
        return f"they are {gap(np.asarray(wanted), np.asarray(found)).absolute:.3g} apart"
    one = rows_at(data, [row])
    for method in ("decision_function", "predict_proba"):
        scores = _given_by_pipeline(pipeline, method, one) if hasattr(pipeline, method) else ""
        if isinstance(scores, str) or row_count(scores) != 1:
            continue
        flat = np.sort(scores.ravel().astype(np.float64))
        margin = float(flat[-1] - flat[-2]) if flat.size > 1 else float(abs(flat[0]))
        return f"by {method}, the two best labels are {margin:.3g} apart"
    return "the labels differ"
