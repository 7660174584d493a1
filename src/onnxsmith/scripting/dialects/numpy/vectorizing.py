"""`vectorize`: functions of single numbers, with control flow, on arrays; and what `np.vectorize` objects mean.

`apply_along_axis` is here, too: a function of vectors, on all vectors along an axis.
"""

from __future__ import annotations

import ast
import functools
import inspect
import math
import re
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from onnxsmith.core.user_values import UserValue
from onnxsmith.errors import AttributeValueError, InputTypeError, ShapeError
from onnxsmith.numpy import dtypes
from onnxsmith.numpy.array import Array, ArrayLike
from onnxsmith.numpy.conversions import array_of
from onnxsmith.numpy.requirements import require_some
from onnxsmith.numpy.reshaping import broadcast_arrays, broadcast_shapes, broadcast_to, moveaxis
from onnxsmith.numpy.sizes import Size
from onnxsmith.scripting.dialects.numpy.callees import as_ours, holds_open
from onnxsmith.scripting.dialects.numpy.element_loops import Staged, over_elements

_CORE = re.compile(r"\(([^()]*)\)")


@dataclass(frozen=True)
class Vectorizing:
    """The options of a vectorized function."""

    function: Callable[..., Any]
    otypes: tuple[dtypes.NumpyDType, ...] | None = None
    excluded: frozenset[int | str] = frozenset()
    signature: str | None = None

    @classmethod
    def of_numpys(cls, made: np.vectorize) -> Vectorizing:
        """The options of a `np.vectorize` object."""
        types = [np.dtype(each) for each in made.otypes] if made.otypes is not None else None
        return cls(
            made.pyfunc, _known_types(types), frozenset(made.excluded), _signature_text(made.signature)
        )

    def call(
        self, stage: Callable[[Staged], Staged], args: Sequence[UserValue], kwargs: Mapping[str, UserValue]
    ) -> UserValue:
        """Record the function for all elements of its arguments."""
        names: list[int | str] = [*range(len(args)), *kwargs]
        given = dict(zip(names, [*args, *kwargs.values()], strict=True))
        taken = [each for each in names if each not in self.excluded]
        function = stage(self.function)

        def called(*elements: UserValue) -> UserValue:
            whole = {**given, **dict(zip(taken, elements, strict=True))}
            named = {name: each for name, each in whole.items() if isinstance(name, str)}
            return function(*[whole[place] for place in range(len(args))], **named)

        arrays = [array_of(given[each]) for each in taken]
        if not arrays:
            return called()
        if self.signature is not None:
            return self._by_signature(called, arrays)
        arrays = list(broadcast_arrays(*arrays))
        shape = arrays[0].shape
        flat = [each.reshape((-1,)) for each in arrays]
        found = over_elements(called, flat, self.otypes, written=self.function, as_python=True)
        self._check_types(found.arrays)
        results = tuple(each.reshape(shape) for each in found.arrays)
        return results if found.is_tuple else results[0]

    def _check_types(self, arrays: Sequence[Array]) -> None:
        """Refuse a function that gives an int here and a float there: numpy takes the type of the first element."""
        if (
            self.otypes is None
            and any(each.dtype.kind == "f" for each in arrays)
            and _returns_int(self.function)
        ):
            raise InputTypeError(
                f"'{_name(self.function)}' returns an int on one path and a float on another, "
                "and np.vectorize takes the type of what the first element gives for all",
                help="return 0.0 for 0, or say it: otypes=[float]",
            )

    def _by_signature(self, function: Staged, arrays: Sequence[Array]) -> Array | tuple[Array, ...]:
        cores = [_CORE.findall(side) for side in cast(str, self.signature).split("->")]
        if len(cores) != 2 or len(cores[0]) != len(arrays):
            raise AttributeValueError(
                f"the signature {self.signature!r} is not one of {len(arrays)} arguments",
                help='for each argument the names of its dimensions: "(n),(n)->()"',
            )
        ranks = [len([name for name in core.split(",") if name.strip()]) for core in cores[0]]
        for array, rank in zip(arrays, ranks, strict=True):
            if array.ndim < rank:
                raise ShapeError(
                    f"an argument has {array.ndim} dimensions, and {self.signature!r} takes {rank}"
                )
        leading = [each.shape[: each.ndim - rank] for each, rank in zip(arrays, ranks, strict=True)]
        shape = tuple(broadcast_shapes(*leading))
        flat = [
            broadcast_to(each, (*shape, *each.shape[each.ndim - rank :])).reshape(
                (_count(shape), *each.shape[each.ndim - rank :])
            )
            for each, rank in zip(arrays, ranks, strict=True)
        ]
        found = over_elements(function, flat, self.otypes, written=self.function, as_python=False)
        results = tuple(each.reshape((*shape, *each.shape[1:])) for each in found.arrays)
        return results if found.is_tuple or len(cores[1]) > 1 else results[0]


def apply_along_axis(
    stage: Callable[[Staged], Staged],
    func1d: Staged,
    axis: int,
    arr: ArrayLike,
    *args: UserValue,
    **kwargs: UserValue,
) -> Array:
    """`np.apply_along_axis` of arrays that record."""
    x = array_of(arr)
    if not -x.ndim <= axis < x.ndim:
        raise AttributeValueError(f"axis {axis} is out of bounds for an array of {x.ndim} dimensions")
    function = stage(func1d)
    moved = moveaxis(x, axis, -1)
    shape, length = moved.shape[:-1], moved.shape[-1]
    require_some(
        moved,
        range(len(shape)),
        ValueError("Cannot apply_along_axis when any iteration dimensions are 0"),
    )
    rows = moved.reshape((_count(shape), length))

    def applied(row: Array) -> UserValue:
        return function(row, *args, **kwargs)

    found = over_elements(applied, [rows], None, written=func1d, as_python=False)
    if found.is_tuple:
        raise InputTypeError(
            "the function that is applied along an axis gives a tuple", help="np.stack makes an array of it"
        )
    made = found.arrays[0].reshape((*shape, *found.arrays[0].shape[1:]))
    places = range(len(shape), made.ndim)
    start = axis % x.ndim
    return moveaxis(made, tuple(places), tuple(range(start, start + len(places)))) if places else made


def element_loop(function: Staged, stage: Callable[[Staged], Staged]) -> Staged | None:
    """The function called in the place of a vectorized one or of `apply_along_axis`; None for all others."""
    if isinstance(function, np.vectorize):
        asked = Vectorizing.of_numpys(function)

        def call(*args: UserValue, **kwargs: UserValue) -> UserValue:
            if any(map(holds_open, args)) or any(map(holds_open, kwargs.values())):
                return asked.call(stage, args, kwargs)
            return as_ours(np.vectorize.__call__(function, *args, **kwargs))

        return call
    return functools.partial(apply_along_axis, stage) if function is np.apply_along_axis else None


def _count(shape: Iterable[Size]) -> Size:
    return math.prod(shape)


def _name(function: Callable[..., Any]) -> str:
    return getattr(function, "__name__", None) or repr(function)


def _known_types(types: Sequence[np.dtype[Any]] | None) -> tuple[dtypes.NumpyDType, ...] | None:
    if types is None:
        return None
    for each in types:
        if each not in dtypes.DTYPES:
            raise AttributeValueError(f"otypes has {each}, and a model computes with numbers")
    return tuple(types)


def _signature_text(signature: object) -> str | None:
    """A signature as users write it; numpy keeps it taken apart."""
    return signature if signature is None or isinstance(signature, str) else repr(signature)


@functools.lru_cache(maxsize=256)
def _returns_int(function: Callable[..., Any]) -> bool:
    """True if a function returns an integer literal on one of its paths."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    except (OSError, TypeError, SyntaxError):
        return False
    for node in ast.walk(tree):
        if isinstance(node, ast.Return | ast.Lambda):
            result = node.value if isinstance(node, ast.Return) else node.body
            if result is not None and any(map(_is_int, _ends(result))):
                return True
    return False


def _ends(node: ast.expr) -> Iterable[ast.expr]:
    """The expressions that an expression may come to."""
    if isinstance(node, ast.IfExp):
        return [*_ends(node.body), *_ends(node.orelse)]
    if isinstance(node, ast.Tuple):
        return [end for each in node.elts for end in _ends(each)]
    return [node]


def _is_int(node: ast.expr) -> bool:
    if isinstance(node, ast.UnaryOp):
        return _is_int(node.operand)
    return isinstance(node, ast.Constant) and type(node.value) is int
