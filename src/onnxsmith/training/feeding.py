"""From a user's data to batches in the order of a step's inputs: what is in memory, and what is streamed."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from onnxsmith.core.value import Array
from onnxsmith.diagnostics import described_type
from onnxsmith.errors import ModelInputError, TrainingDataError
from onnxsmith.errors.wrong_kinds import Given
from onnxsmith.graphs import model_inputs
from onnxsmith.graphs.batches import Batches, GivenRows
from onnxsmith.graphs.model_inputs import Port
from onnxsmith.training.shuffling import BUFFER_ROWS, order_of, rebatched, shuffled
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import TensorType

#: A batch, in the order of the inputs of a step.
Batch = tuple[Array, ...]


@dataclass(frozen=True, slots=True)
class BatchPlan:
    """The parts of a batch: the inputs of the model, and behind them the target and the weights of examples."""

    ports: tuple[Port, ...]
    #: How many of them are inputs of the model.
    inputs: int
    has_target: bool
    is_weighted: bool
    #: How many classes there are, where targets are numbers of classes, and the label that does not count.
    classes: int | None = None
    ignored: int | None = None

    #: The rows of a batch, where the model takes batches of one size only.
    fixed_rows: int | None = None

    @property
    def names(self) -> list[str]:
        """The names of what a batch has."""
        return [each.name for each in self.ports]


class Feed(Protocol):
    """Data for epochs."""

    #: How many rows and batches an epoch has; None where only its end says it.
    rows: int | None
    batches: int | None
    #: True if there can be one epoch only.
    is_once: bool

    def epoch(self, seed: int, epoch: int, skipped: int = 0) -> Iterator[Batch]:
        """The batches of an epoch, but for the first."""
        ...


# -- data in memory ------------------------------------------------------------------------------------------------


class ArrayFeed:
    """Arrays in memory: batches are slices of them, or of a permutation."""

    is_once = False

    def __init__(
        self, columns: Sequence[Array], batch_size: int, *, shuffle: bool, is_whole: bool = False
    ) -> None:
        self.columns = [np.ascontiguousarray(each) for each in columns]
        self.rows: int | None = len(self.columns[0])
        #: With `is_whole` a last smaller batch is left out.
        self._end = self.rows // batch_size * batch_size if is_whole else self.rows
        self.batches: int | None = -(-self._end // batch_size)
        self._size, self._shuffle, self._is_whole = batch_size, shuffle, is_whole

    def epoch(self, seed: int, epoch: int, skipped: int = 0) -> Iterator[Batch]:
        size, columns = self._size, self.columns
        starts = range(skipped * size, self._end, size)
        if not self._shuffle:
            for begin in starts:
                end = begin + size
                yield tuple([each[begin:end] for each in columns])
            return
        order = order_of(len(columns[0]), seed, epoch)
        for begin in starts:
            chosen = order[begin : begin + size]
            yield tuple([each.take(chosen, 0) for each in columns])

    def taken(self, rows: NDArray[np.int64], *, shuffle: bool | None = None) -> ArrayFeed:
        """The same of some rows."""
        return ArrayFeed(
            [each[rows] for each in self.columns],
            self._size,
            shuffle=self._shuffle if shuffle is None else shuffle,
            is_whole=self._is_whole,
        )


# -- data that is streamed -----------------------------------------------------------------------------------------


class StreamFeed:
    """Files, loaders, readers and generators: read anew in each epoch, never in memory as a whole."""

    def __init__(
        self,
        data: GivenRows,
        plan: BatchPlan,
        target: str | None,
        sample_weight: str | None,
        batch_size: int,
        *,
        shuffle: bool,
    ) -> None:
        self._data, self._plan, self._target, self._weight = data, plan, target, sample_weight
        self._size, self._shuffle = batch_size, shuffle
        #: Loaders and generators have batches of their own; of files and datasets rows are read.
        self._has_batches = _is_loader(data) or hasattr(data, "__next__") or _is_maker(data)
        self.is_once = hasattr(data, "__next__") or type(data).__name__ == "RecordBatchReader"
        self.rows: int | None = None
        self.batches: int | None = _length(data) if _is_loader(data) else None
        if not self._has_batches:
            self.rows = Batches(data, 1).rows
            self.batches = None if self.rows is None else -(-self.rows // batch_size)

    def epoch(self, seed: int, epoch: int, skipped: int = 0) -> Iterator[Batch]:
        found = self._own() if self._has_batches else self._of_file(seed, epoch)
        for number, batch in enumerate(found):
            if number >= skipped:
                yield batch

    def _own(self) -> Iterator[Batch]:
        data = self._data() if _is_maker(self._data) else self._data
        names, known = self._plan.names, None
        has_names = self._target is None and self._weight is None
        for piece in Batches(data, self._size).pieces(names):
            if has_names and type(piece) is dict and list(cast("dict[str, GivenRows]", piece)) == names:
                found = [np.asarray(each) for each in cast("dict[str, GivenRows]", piece).values()]
            else:
                found = self._columns(piece)
            # Arrays of the form of the last batch, which was checked, fit as it did.
            form = [(each.dtype, each.shape[1:], each.ndim) for each in found]
            if form != known:
                for port, each in zip(self._plan.ports, found, strict=True):
                    _check_kind(port, each)
                known = form
            _check_rows(self._plan, found)
            check_labels(self._plan, found)
            yield tuple(found)

    def _of_file(self, seed: int, epoch: int) -> Iterator[Batch]:
        block = max(BUFFER_ROWS // 4, self._size)
        blocks = self._blocks(Batches(self._data, block))
        if self._shuffle:
            return shuffled(blocks, self._size, seed, epoch)
        return rebatched(blocks, self._size)

    def _blocks(self, batches: Batches) -> Iterator[list[Array]]:
        for piece in batches.pieces(self._plan.names):
            found = zip(self._plan.ports, self._columns(piece), strict=True)
            columns = [_converted(port, each) for port, each in found]
            check_labels(self._plan, columns)
            yield columns

    def _columns(self, piece: GivenRows) -> list[Array]:
        return [np.asarray(each) for each in columns_of(piece, self._plan, self._target, self._weight)]


def _is_file(data: Given) -> bool:
    return isinstance(data, str | os.PathLike)


def _is_loader(data: Given) -> bool:
    return hasattr(data, "batch_sampler") or hasattr(data, "batch_size")


def _is_maker(data: Given) -> bool:
    """True for a function that makes batches anew."""
    return callable(data) and not any(hasattr(data, each) for each in ("__array__", "__len__", "__iter__"))


def _length(data: GivenRows) -> int | None:
    try:
        return len(data)
    except TypeError:  # a loader of a stream
        return None


def _is_streamed(data: GivenRows) -> bool:
    """True for what is not in memory, or has batches of its own."""
    if _is_file(data) or hasattr(data, "__next__") or _is_maker(data):
        return True
    homes = {each.__module__.partition(".")[0] for each in type(data).__mro__}
    if "torch" in homes:
        return not hasattr(data, "detach")
    if "datasets" in homes:
        return hasattr(data, "iter")
    return "pyarrow" in homes and type(data).__name__ not in ("Table", "RecordBatch")


# -- columns -------------------------------------------------------------------------------------------------------


def feed_of(
    data: GivenRows,
    target: GivenRows,
    sample_weight: GivenRows,
    plan: BatchPlan,
    batch_size: int,
    *,
    shuffle: bool,
) -> ArrayFeed | StreamFeed:
    """The batches of a user's data; refused where it does not fit the model."""
    if isinstance(data, tuple) and target is None and plan.has_target:
        data, target, sample_weight = _parted(cast("tuple[Any, ...]", data), sample_weight)
    if plan.fixed_rows not in (None, batch_size):
        raise TrainingDataError(
            f"the model takes batches of {plan.fixed_rows} rows, and batch_size is {batch_size}",
            help=f"batch_size={plan.fixed_rows}; or make the model for any number: "
            'FLOAT["N", …], export(…, dynamic_shapes=({0: "N"},))',
        )
    if _is_streamed(data):
        for name, each in (("target", target), ("sample_weight", sample_weight)):
            if each is not None and not isinstance(each, str):
                raise TrainingDataError(
                    f"{name} is an array, and the data is read batch by batch",
                    help=f"give the name of a column, or batches that have it: (x, {name})",
                )
        return StreamFeed(data, plan, target, sample_weight, batch_size, shuffle=shuffle)
    pieces: list[Any] = list(Batches(data).pieces(plan.names)) if _has_pieces(data) else [data]
    if len(pieces) != 1:
        parts = [columns_of(each, plan, target, sample_weight) for each in pieces]
        found: list[Any] = [np.concatenate(each) for each in zip(*parts, strict=True)]
    else:
        found = columns_of(pieces[0], plan, target, sample_weight)
    columns = [_converted(port, each) for port, each in zip(plan.ports, found, strict=True)]
    _check_rows(plan, columns)
    check_labels(plan, columns)
    return ArrayFeed(columns, batch_size, shuffle=shuffle, is_whole=plan.fixed_rows is not None)


def _has_pieces(data: GivenRows) -> bool:
    homes = {each.__module__.partition(".")[0] for each in type(data).__mro__}
    return "pyarrow" in homes or hasattr(data, "detach") or ("polars" in homes and hasattr(data, "collect"))


def _parted(data: tuple[Any, ...], sample_weight: GivenRows) -> tuple[Any, Any, Any]:
    if len(data) == 2:
        return (*data, sample_weight)
    if len(data) == 3:
        return data
    raise TrainingDataError(
        f"data is given as {len(data)} arrays", help="(X, y), or (X, y, sample_weight), or X and y apart"
    )


def columns_of(piece: GivenRows, plan: BatchPlan, target: GivenRows, sample_weight: GivenRows) -> list[Any]:
    """The columns of a piece of data, one for each input of a step."""
    inputs = list(plan.names[: plan.inputs])
    extra: dict[str, Any] = {}
    if plan.has_target:
        extra["target"] = target
    if plan.is_weighted:
        extra["sample_weight"] = sample_weight
    is_frame = isinstance(piece, Mapping) or (hasattr(piece, "columns") and hasattr(piece, "shape"))
    columns = (
        list(cast(Any, piece).keys() if isinstance(piece, Mapping) else piece.columns) if is_frame else []
    )
    found: dict[str, Any] = {}
    taken: list[str] = []
    for name, each in extra.items():
        column = name if each is None else each
        if isinstance(column, str):
            if column in columns:
                found[name] = piece[column]
                taken.append(column)
                continue
            if name == "sample_weight" and each is None:
                found[name] = None
                continue
            raise TrainingDataError(
                f"the data has no {'column ' + repr(column) if columns or each is not None else name}",
                help=f"its columns are {', '.join(map(str, columns))}"
                if columns
                else f"fit(X, y), or data with a {name}",
            )
        found[name] = each
    if not is_frame:
        found.update(_in_order(piece, inputs))
    elif all(each in columns for each in inputs):
        found.update({each: piece[each] for each in inputs})
    else:
        found[inputs[0]] = _matrix(piece, [each for each in columns if each not in taken], inputs)
    if plan.is_weighted and found["sample_weight"] is None:
        kind = cast(TensorType, plan.ports[-1].type)
        dtype = DType.FLOAT if kind.dtype is None else kind.dtype
        found["sample_weight"] = np.ones(len(found[inputs[0]]), dtype.numpy)
    return [found[name] for name in plan.names]


def _in_order(piece: GivenRows, inputs: Sequence[str]) -> dict[str, Any]:
    if len(inputs) == 1:
        return {inputs[0]: piece}
    if isinstance(piece, list | tuple) and len(cast("Sequence[Any]", piece)) == len(inputs):
        return dict(zip(inputs, cast("Sequence[Any]", piece), strict=True))
    raise TrainingDataError(
        f"the model has {len(inputs)} inputs, and the data is {described_type(cast(object, piece).__class__)}",
        help="give a dict of arrays by name: {" + ", ".join(f"{each!r}: …" for each in inputs) + "}",
    )


def _matrix(piece: GivenRows, columns: Sequence[str], inputs: Sequence[str]) -> Any:
    """Columns side by side, for a model with one input."""
    if len(inputs) != 1 or not columns:
        missing = next((each for each in inputs if each not in columns), inputs[0])
        raise TrainingDataError(
            f"the data has no column '{missing}'", help=f"its columns are {', '.join(map(str, columns))}"
        )
    return np.column_stack([np.asarray(piece[each]) for each in columns])


def _converted(port: Port, value: GivenRows) -> Array:
    """A column as an array of the input's element type; whole numbers become floating-point ones, not the reverse."""
    kind = cast(TensorType, port.type)
    array = np.asarray(value.detach().cpu().numpy() if hasattr(value, "detach") else value)
    if kind.dtype is not None and array.dtype != kind.dtype.numpy:
        wanted = kind.dtype.numpy
        given = array.dtype.kind
        if (given in "fiub" and _is_floating(kind.dtype)) or (given in "iub" and wanted.kind == "i"):
            array = array.astype(wanted)
    return _check_kind(port, _in_rank(port, array))


def _in_rank(port: Port, array: Array) -> Array:
    """Targets as a column, where the model gives one."""
    shape = cast(TensorType, port.type).shape
    if port.name == "target" and shape is not None and len(shape) == 2 and array.ndim == 1 and shape[1] == 1:
        return array.reshape(-1, 1)
    return array


def _check_kind(port: Port, array: Array) -> Array:
    """Refuse an array of another element type or rank than the input's; how many rows there are is left open."""
    kind = cast(TensorType, port.type)
    free = kind if not kind.shape else TensorType(kind.dtype, (None, *kind.shape[1:]))
    try:
        return cast(Array, model_inputs.feed(Port(port.name, free), array))
    except ModelInputError as error:
        is_column = port.name == "target" and array.ndim == len(kind.shape or ()) + 1 and array.shape[-1] == 1
        advice = "labels have one dimension: y.ravel()" if is_column else error.help
        raise ModelInputError(_without_input(error.message), help=advice) from None


def _without_input(message: str) -> str:
    """The message about a column: a target is no input of the user's model."""
    return message.replace("input 'target'", "'target'").replace("input 'sample_weight'", "'sample_weight'")


def _check_rows(plan: BatchPlan, columns: Sequence[Array]) -> None:
    first = columns[0]
    for name, each in zip(plan.names, columns, strict=True):
        if not each.ndim or len(each) != len(first):
            count = len(each) if each.ndim else "no"
            raise TrainingDataError(
                f"'{plan.names[0]}' has {len(first)} rows, and '{name}' has {count}",
                help="each example has one row in each of them",
            )
    if not len(first):
        raise TrainingDataError("the data has no rows")


def check_labels(plan: BatchPlan, columns: Sequence[Array]) -> None:
    """Refuse labels that are no number of a class."""
    if plan.classes is None:
        return
    labels = columns[plan.inputs]
    # As numbers without a sign, those below 0 are greater than all classes.
    if labels.size and np.maximum.reduce(labels.view(f"u{labels.itemsize}"), axis=None) < plan.classes:
        return
    wrong = (labels < 0) | (labels >= plan.classes)
    if plan.ignored is not None:
        wrong &= labels != plan.ignored
    if wrong.any():
        place = np.argwhere(wrong)[0]
        label = int(labels[tuple(place)])
        raise TrainingDataError(
            f"the data has the label {label} in row {int(place[0])}, and the classes of the model are 0 to "
            f"{plan.classes - 1}",
            help="np.unique(y, return_inverse=True)[1] numbers the classes from 0 on",
        )


def _is_floating(dtype: DType) -> bool:
    return dtype in (DType.FLOAT, DType.DOUBLE, DType.FLOAT16, DType.BFLOAT16)
