"""`Signature`: which columns a model takes, of which element types, and what its outputs are; JSON in its metadata.

It is read from the file again, as data that may say anything: what does not fit is refused.
"""

from __future__ import annotations

import json
from collections.abc import Container, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, cast

import numpy as np

from onnxsmith.errors import PipelineError
from onnxsmith.graphs.model import Model
from onnxsmith.graphs.model_inputs import COLUMNS_KEY
from onnxsmith.sklearn.frames.reading import (
    Frame,
    array_elements,
    as_array,
    column_elements,
    columns_of_frame,
    is_frame,
    refuse_twice,
)
from onnxsmith.sklearn.frames.refused import found_in
from onnxsmith.sklearn.rows import Elements, Rows
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import TensorType

#: Under which the metadata of a model has its signature.
KEY = COLUMNS_KEY
Layout = Literal["columns", "matrix", "texts", "array"]
_TEXT = "str"
#: What outputs are called, by method.
OUTPUT_NAMES = {
    "predict": "prediction",
    "predict_proba": "probabilities",
    "predict_log_proba": "log_probabilities",
    "decision_function": "scores",
    "transform": "transformed",
}


@dataclass(frozen=True, slots=True)
class Signature:
    """The inputs and outputs of a model.

    >>> import numpy as np
    >>> import onnxsmith
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), [0, 0, 1, 1]
    >>> model = onnxsmith.sklearn.convert(LogisticRegression().fit(X, y), X)
    >>> type(onnxsmith.sklearn.signature(model)).__name__
    'Signature'
    """

    #: One input for each column, one for all, one text for each row, or one array of another rank.
    layout: Layout
    #: The names of columns, where they have some, and the element type of each.
    columns: tuple[tuple[str | None, str], ...]
    #: By method, the output that has its result.
    outputs: tuple[tuple[str, str], ...] = ()
    #: The names of what `transform` gives, where it says them.
    feature_names: tuple[str, ...] = ()
    #: What stands in each row of an array that is no matrix: nothing for a number, the shape of an image.
    row_shape: tuple[int, ...] = ()
    #: Kinds of values that the pipeline refuses, each with the places of the columns, or None for all of them.
    refused: tuple[tuple[str, tuple[int, ...] | None], ...] = ()

    @property
    def names(self) -> list[str]:
        """The names of the model's inputs."""
        if self.layout == "columns":
            return [str(name) for name, _ in self.columns]
        return ["X"]

    @property
    def types(self) -> list[TensorType]:
        """The types of inputs, with rows that are open."""
        if self.layout == "columns":
            return [TensorType(dtype_of(kind), ("N",)) for _, kind in self.columns]
        kind = self.columns[0][1]
        if self.layout == "array":
            return [TensorType(dtype_of(kind), ("N", *self.row_shape))]
        return [TensorType(dtype_of(kind), ("N",) if self.layout == "texts" else ("N", len(self.columns)))]

    def feeds(self, data: Rows) -> list[Elements]:
        """Data as the inputs of the model, in order; says what does not fit, by the column's name."""
        made = self._arrays(data)
        for kind, places in self.refused:
            wrong = self._column_with(kind, places, made)
            if wrong is not None:
                name = self.columns[wrong][0]
                raise PipelineError(
                    f"{f'column {wrong} of X' if self.layout == 'matrix' else 'X'} holds {kind}"
                    if name is None
                    else f"column {name!r} holds {kind}",
                    help="the pipeline refuses that, too: fill it in, or leave the row out",
                ).locate_at_caller()
        return made

    def holds(self, kind: str, places: tuple[int, ...] | None, data: Rows) -> bool:
        """True if some of these columns of data has a value of a kind; None stands for all columns."""
        return self._column_with(kind, places, self._arrays(data)) is not None

    def _column_with(
        self, kind: str, places: tuple[int, ...] | None, arrays: Sequence[Elements]
    ) -> int | None:
        for place, each in enumerate(arrays):
            held = found_in(each, kind)
            if self.layout == "matrix":
                held = held.any(axis=0)
                wrong = next((k for k in np.flatnonzero(held) if places is None or k in places), None)
            else:
                wrong = place if held.any() and (places is None or place in places) else None
            if wrong is not None:
                return int(wrong)
        return None

    def _arrays(self, data: Rows) -> list[Elements]:
        if self.layout == "texts":
            return [self._checked(text_elements(data), "X", _TEXT)]
        if self.layout == "array":
            array = as_array(data)
            if array.shape[1:] != self.row_shape or not array.ndim:
                raise PipelineError(
                    f"X has the shape {array.shape}, and the model takes rows of the shape {self.row_shape}",
                    help="give an array with one row more or less than those that the model was made for",
                ).locate_at_caller()
            return [self._checked(array_elements(array, "X"), "X", self.columns[0][1])]
        if not is_frame(data):
            return self._feeds_of_matrix(data)
        if self.columns and self.columns[0][0] is None:
            data = self._unnamed(data)
            return [self._matrix(data)]
        given = list(data if isinstance(data, Mapping) else data.columns)
        held, wanted = set(given), [name for name, _ in self.columns]
        missing = [name for name in wanted if name not in held]
        if missing:
            raise PipelineError(
                f"column {missing[0]!r} is not there"
                + (f", nor {', '.join(map(repr, missing[1:4]))}" if len(missing) > 1 else ""),
                help=f"the model takes {_listed([str(name) for name, _ in self.columns])}",
            ).locate_at_caller()
        if len(held) != len(given):
            refuse_twice(wanted, given)
        found = [
            self._checked(column_elements(data[cast(str, name)], str(name)), f"column {name!r}", kind)
            for name, kind in self.columns
        ]
        return found if self.layout == "columns" else [np.stack(found, axis=1)]

    def _unnamed(self, data: Frame | Mapping[str, Rows]) -> list[Elements]:
        return list(columns_of_frame(data).values())

    def _matrix(self, columns: Sequence[Elements]) -> Elements:
        if len(columns) != len(self.columns):
            raise self._wrong_width(len(columns))
        pairs = zip(columns, self.columns, strict=True)
        return np.stack([self._checked(each, "X", kind) for each, (_, kind) in pairs], axis=1)

    def _feeds_of_matrix(self, data: Rows) -> list[Elements]:
        array = as_array(data)
        if array.ndim != 2:
            raise PipelineError(
                f"X has {array.ndim} dimensions, and the model takes rows of {len(self.columns)} columns",
                help="give a data frame, or an array of two dimensions: X.reshape(1, -1) for one row",
            ).locate_at_caller()
        if array.shape[1] != len(self.columns):
            raise self._wrong_width(array.shape[1])
        if self.layout == "matrix":
            return [self._checked(array_elements(array, "X"), "X", self.columns[0][1])]
        return [
            self._checked(array_elements(array[:, place], f"column {name!r}"), f"column {name!r}", kind)
            for place, (name, kind) in enumerate(self.columns)
        ]

    def _wrong_width(self, count: int) -> PipelineError:
        return PipelineError(
            f"X has {count} columns, and the model takes {len(self.columns)}",
            help=f"give {_listed(self.names)}, in this order"
            if self.layout == "columns"
            else "give the columns that the pipeline was fitted on, in their order",
        ).locate_at_caller()

    def _checked(self, elements: Elements, what: str, kind: str) -> Elements:
        """Elements in the type that the model takes; refused where that would change them."""
        is_text = elements.dtype == object
        if is_text != (kind == _TEXT):
            if is_text and _is_all_missing(elements) and np.dtype(kind).kind == "f":
                return np.full(elements.shape, np.nan, kind)
            held = "text" if is_text else str(elements.dtype)
            wanted = "text" if kind == _TEXT else kind
            raise PipelineError(
                f"{what} holds {held}, and the model was made for {wanted}",
                help="convert the column, or convert the pipeline for data like this",
            ).locate_at_caller()
        if is_text or elements.dtype == kind:
            return elements
        wanted = np.dtype(kind)
        if np.can_cast(elements.dtype, wanted, "same_kind"):
            with np.errstate(all="ignore"):
                made = elements.astype(wanted)
                if elements.dtype.kind in "iu":
                    # A number that wraps comes back whole, with another sign: uint8 200 as int8.
                    changed = (made.astype(elements.dtype) != elements) | ((made < 0) != (elements < 0))
                else:
                    changed = np.isinf(made) & ~np.isinf(elements)
            if changed.any():
                raise self._changed(elements, what, kind)
            return made
        raise self._changed(elements, what, kind)

    def _changed(self, elements: Elements, what: str, kind: str) -> PipelineError:
        remedy = "convert the pipeline for data with this element type: convert(pipeline, X)"
        if elements.dtype.kind == "f" and np.dtype(kind).kind in "iu":
            with np.errstate(all="ignore"):
                is_whole = bool((elements.astype(kind) == elements).all())
            if is_whole:
                remedy = f"all of these are whole numbers: give it as .astype('{kind}')"
        return PipelineError(
            f"{what} holds {elements.dtype}, and the model was made for {kind}, which does not hold it",
            help=remedy,
        ).locate_at_caller()

    def to_json(self) -> str:
        """As text for the metadata of a model."""
        return json.dumps(asdict(self), ensure_ascii=False)


def dtype_of(kind: str) -> DType:
    """The element type of a model for one of a signature."""
    found = DType.STRING if kind == _TEXT else DType.from_numpy(np.dtype(kind))
    if found is None:
        raise PipelineError(f"{kind} is no element type of a model", help="use float64")
    return found


def kind_of(dtype: DType) -> str:
    """How a signature calls the element type of a model."""
    return _TEXT if dtype is DType.STRING else str(dtype.numpy)


def _kind_of(elements: Elements) -> str:
    return _TEXT if elements.dtype == object else str(elements.dtype)


def _is_all_missing(elements: Elements) -> bool:
    # A column that has nothing but missing values says nothing of its element type.
    return all(str(each).startswith("\ufdd0") for each in elements.reshape(-1).tolist())


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(map(repr, names[:8]))
    return shown if len(names) <= 8 else f"{shown} and {len(names) - 8} more"


def text_elements(data: Rows) -> Elements:
    """Texts in a row: of a list, an array, or a column."""
    if is_frame(data):
        (only,) = columns_of_frame(data).values()
        return only
    if hasattr(data, "dtype") and not isinstance(data, np.ndarray):
        return column_elements(data, "X")
    if isinstance(data, str):
        raise PipelineError(
            "X is one text, and the model takes a list of them", help="[text]"
        ).locate_at_caller()
    array = np.asarray(data, dtype=object)
    return array_elements(array.reshape(-1) if array.ndim != 1 else array, "X")


def signature_of(data: Rows, inputs: str | None, used: Container[str] | None = None) -> Signature:
    """The signature of a model for data like this. `inputs` is "columns" or "matrix" for a frame.

    Of columns that are not among the `used` there is no input; a matrix keeps all, as they are counted in it.
    """
    if inputs not in (None, "columns", "matrix"):
        raise PipelineError(
            f"inputs={inputs!r} is neither 'columns' nor 'matrix'",
            help="inputs='columns' has one input for each",
        ).locate_at_caller()
    if is_frame(data):
        columns = columns_of_frame(data, None if inputs == "matrix" else used)
        kinds = {name: _kind_of(each) for name, each in columns.items()}
        if inputs != "matrix":
            return Signature("columns", tuple(kinds.items()))
        return Signature("matrix", tuple((name, _common(kinds)) for name in kinds))
    dimensions = as_array(data).ndim
    if dimensions == 1:
        elements = text_elements(data)
        if elements.dtype == object:
            return Signature("texts", ((None, _TEXT),))
    if dimensions == 0:
        raise PipelineError(
            "X is a single value, and a pipeline takes rows",
            help="give an array of two dimensions, a data frame, or a list of texts",
        ).locate_at_caller()
    if dimensions != 2:
        elements = array_elements(as_array(data), "X")
        return Signature("array", ((None, _kind_of(elements)),), row_shape=elements.shape[1:])
    if inputs == "columns":
        raise PipelineError(
            "inputs='columns' takes the names of columns from a data frame, and X is an array",
            help="pandas.DataFrame(X, columns=[…])",
        ).locate_at_caller()
    elements = array_elements(as_array(data), "X")
    return Signature("matrix", ((None, _kind_of(elements)),) * elements.shape[1])


def _common(kinds: Mapping[str, str]) -> str:
    """One element type for all columns."""
    if _TEXT not in kinds.values():
        return str(np.result_type(*[np.dtype(each) for each in kinds.values()]))
    other = next((name for name, kind in kinds.items() if kind != _TEXT), None)
    if other is None:
        return _TEXT
    text = next(name for name, kind in kinds.items() if kind == _TEXT)
    raise PipelineError(
        f"column {text!r} is text and column {other!r} is not, so that no matrix holds both",
        help="inputs='columns' has one input for each column",
    ).locate_at_caller()


#: Under which what a model holds of itself has its signature, once it was read.
_HELD = "signature of its columns"


def read_signature(model: Model) -> Signature:
    """The signature of a model; refused where it has none, or none that fits its inputs and outputs."""
    held = vars(model)
    if _HELD not in held:
        held[_HELD] = _read_once(model)
    return held[_HELD]


def has_signature(model: Model) -> bool:
    """True if a model says which columns it takes."""
    return KEY in _metadata(model)


def _read_once(model: Model) -> Signature:
    text = _metadata(model).get(KEY)
    if text is None:
        raise PipelineError(
            "the model does not say which columns it takes: it was not made by onnxsmith.sklearn.convert",
            help="model(…) takes arrays, one for each input",
        ).locate_at_caller()
    try:
        found = _read(json.loads(text))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        found = None
    names = [each.name for each in model.inputs]
    if (
        found is None
        or found.names != names
        or not {name for _, name in found.outputs} <= {each.name for each in model.outputs}
    ):
        raise PipelineError(
            "what the model says of its columns does not fit its inputs and outputs",
            help="model(…) takes arrays, one for each input",
        ).locate_at_caller()
    return found


def _metadata(model: Model) -> Mapping[str, str]:
    return {each.key: each.value for each in model.proto.metadata_props}


def _read(said: dict[str, Any]) -> Signature:
    layout = said["layout"]
    if layout not in ("columns", "matrix", "texts", "array"):
        raise ValueError(layout)
    columns = tuple((None if name is None else str(name), str(kind)) for name, kind in said["columns"])
    for _, kind in columns:
        dtype_of(kind)
    outputs = tuple((str(method), str(name)) for method, name in said["outputs"])
    features = tuple(str(each) for each in said["feature_names"])
    row_shape = tuple(int(each) for each in said.get("row_shape", ()))
    refused = tuple(
        (str(kind), None if places is None else tuple(int(each) for each in places))
        for kind, places in said.get("refused", ())
    )
    if not columns:
        raise ValueError("no columns")
    return Signature(layout, columns, outputs, features, row_shape, refused)
