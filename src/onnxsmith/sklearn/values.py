"""The values that go from step to step: arrays, text, and the columns of a data frame."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Protocol, TypeAlias, cast

import numpy as np

from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.core.target import recorded
from onnxsmith.core.value import Value
from onnxsmith.numpy import Array, array, asarray, concatenate, take, where


class Estimator(Protocol):
    """An estimator that users give: one of scikit-learn or of their own. Checkers know no more of it than this."""

    def get_params(self, deep: bool = True) -> Mapping[str, Any]:
        """The parameters that it was made with, by name."""
        ...


class Inner(Protocol):
    """An object inside an estimator: a tree, a loss, a calibrator. scikit-learn declares no types of its attributes."""

    def __getattr__(self, name: str) -> Any: ...


class Fitted(Estimator, Inner, Protocol):
    """An estimator that was fitted, whose attributes are looked at."""


#: Numbers are arrays; text, which numpy's arrays of ours do not hold, is the tensor itself.
Part: TypeAlias = "Array | Tensor"
#: How columns are chosen: by one name or place, several, a slice of them, or a mask.
Choice: TypeAlias = "str | int | slice[Any, Any, Any] | Sequence[str | int | bool] | np.ndarray[Any, Any]"
#: What functions of numpy take for an array.
ArrayLike: TypeAlias = "Array | np.ndarray[Any, Any] | bool | int | float"


class Columns(dict[str, Part]):
    """The columns of a data frame by name, in their order: one dimension each."""

    def matrix(self) -> Array:
        """All columns next to each other, where they are numbers."""
        parts = [each for each in self.values() if isinstance(each, Array)]
        if len(parts) != len(self):
            names = [name for name, each in self.items() if not isinstance(each, Array)]
            raise NotImplementedError(f"columns of text are no matrix: {', '.join(names)}")
        return concatenate([each[:, None] for each in parts], axis=1)

    def chosen(self, columns: Choice) -> Columns | Part:
        """Some of them: by names, places, a slice or a mask; one name or place gives the column itself."""
        names = list(self)
        if isinstance(columns, str):
            return self[columns]
        given: np.ndarray[Any, Any] = np.asarray(columns)
        if not given.ndim and given.dtype.kind in "iu":
            return self[names[int(given)]]
        if isinstance(columns, slice):
            part = cast(Any, columns)
            if isinstance(part.start or part.stop, str):
                start = 0 if part.start is None else names.index(part.start)
                stop = len(names) if part.stop is None else names.index(part.stop) + 1
                part = slice(start, stop)
            return Columns((name, self[name]) for name in names[part])
        if given.dtype.kind not in "OUT":
            given = np.array(names, dtype=object)[given]
        return Columns((str(name), self[str(name)]) for name in given.tolist())


class Structured(ABC):
    """A matrix that several tensors stand for, such as the counts of words: only some steps take it as it is."""

    __slots__ = ()

    @abstractmethod
    def parts(self) -> Sequence[Part]:
        """The parts that it is made of, in order."""

    @abstractmethod
    def with_parts(self, parts: Sequence[Part]) -> Structured:
        """One like it that is made of other parts."""

    @abstractmethod
    def dense(self) -> Array:
        """The matrix as one array."""


#: What a step is given.
Given: TypeAlias = "Array | Tensor | Columns | Structured"
#: What a step gives: one array, mostly.
Result: TypeAlias = "Array | Tensor | Columns | Structured | tuple[Array | Tensor, ...]"


def tensors_in(value: Given | Result) -> list[Value]:
    """The tensors that a value is made of, in order."""
    if isinstance(value, Columns):
        return [recorded(_tensor(each)) for each in value.values()]
    if isinstance(value, Structured):
        return [recorded(_tensor(each)) for each in value.parts()]
    if isinstance(value, tuple):
        return [recorded(_tensor(each)) for each in value]
    return [recorded(_tensor(value))]


def rebuild_like(value: Given | Result) -> Callable[[Sequence[Value]], Any]:
    """A function that puts other tensors together as those of a value are."""

    def rebuild(tensors: Sequence[Value]) -> Given | Result:
        given = iter(tensors)
        if isinstance(value, Columns):
            return Columns((name, _part(each, given)) for name, each in value.items())
        if isinstance(value, Structured):
            return value.with_parts([_part(each, given) for each in value.parts()])
        if isinstance(value, tuple):
            return tuple(_part(each, given) for each in value)
        return _part(value, given)

    return rebuild


def array_of(tensor: Value) -> Array:
    """An array that holds a tensor of the graph, and may be written to, as what a method gives may be."""
    return array(cast(Any, tensor))  # it takes tensors, which numpy does not call like an array


def _tensor(part: Part) -> Tensor:
    return part.tensor if isinstance(part, Array) else part


def _part(like: Part, tensors: Iterator[Value]) -> Part:
    found = next(tensors)
    return array_of(found) if isinstance(like, Array) else cast(Tensor, found)


def either(condition: ArrayLike, yes: ArrayLike, no: ArrayLike) -> Array:
    """One of two arrays, element by element; `where` with one argument gives places instead."""
    return cast(Array, where(condition, yes, no))


def text_classes(estimator: Fitted) -> np.ndarray[Any, Any] | None:
    """The classes of a classifier of one target whose labels are texts; None for others.

    Only classes that it holds itself: those that a property takes from another estimator are that one's.
    """
    held: Any = vars(estimator).get("classes_")
    if not isinstance(held, np.ndarray):
        return None
    found = cast("np.ndarray[Any, Any]", held)
    return found if found.ndim == 1 and found.dtype.kind in "OUST" else None


def labels(classes: np.ndarray[Any, Any], index: Array) -> Part:
    """The classes at places: text where the classes are text."""
    if classes.dtype.kind in "OUST":
        texts = np.array([str(each) for each in classes.tolist()], dtype=object)
        return op.Gather(texts, index.tensor)
    return take(asarray(classes), index)
