"""Subscripts of every form, as templates: some parts are given when the program is written, some as its inputs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays_of


@dataclass
class Subscript:
    """Parts of an index. A part (or a bound of a slice) that is an `Input` stands for an input of the program."""

    parts: tuple[Any, ...]
    inputs: list[np.ndarray[Any, Any]]
    is_bare: bool  # x[i] and not x[(i,)]

    def fill(self, values: Any) -> Any:
        """The index, with these values for its inputs."""

        def value(part: Any) -> Any:
            if isinstance(part, Input):
                return values[part.number]
            if isinstance(part, slice):
                return slice(value(part.start), value(part.stop), value(part.step))
            return part

        filled = tuple(value(each) for each in self.parts)
        return filled[0] if self.is_bare and len(filled) == 1 else filled

    def __repr__(self) -> str:
        return repr(self.fill(self.inputs))


@dataclass(frozen=True)
class Input:
    """A place in a template."""

    number: int


def integers(size: int) -> st.SearchStrategy[int]:
    """Places in a dimension, from both ends."""
    return st.integers(-size, size - 1)


def slices(size: int) -> st.SearchStrategy[slice]:
    """Slices with bounds inside and outside, and steps of both signs."""
    bound = st.none() | st.integers(-size - 3, size + 3) | st.sampled_from([-100, 100])
    step = st.none() | st.sampled_from([1, 2, 3, 100, -1, -2, -3, -100])
    return st.builds(slice, bound, bound, step)


@st.composite
def subscripts(draw: Any, shape: tuple[int, ...], dynamic: bool, arrays: bool = True) -> Subscript:
    """An index that numpy accepts on an array of this shape (nearly always)."""
    inputs: list[np.ndarray[Any, Any]] = []

    def maybe_input(value: Any, dtype: Any = np.int64) -> Any:
        if not dynamic or not draw(st.booleans()):
            return value
        inputs.append(np.asarray(value, dtype))
        return Input(len(inputs) - 1)

    together = draw(arrays_of.array_shapes(min_dims=1, max_dims=2, min_side=0, max_side=3))
    length = draw(st.integers(0, 3))  # how many places a mask that is combined with others names
    has_mask = False
    parts: list[Any] = []
    axis = 0
    has_rest = False
    while axis < len(shape) or draw(st.integers(0, 5)) == 0:
        kinds = ["stop", "newaxis"] if axis >= len(shape) else ["int", "slice", "full", "newaxis", "stop"]
        if not has_rest:
            kinds.append("rest")
        if arrays:
            kinds.append("truth")
            if axis < len(shape):
                kinds += ["array", "array", "mask"]
        kind = draw(st.sampled_from(kinds))
        size = shape[axis] if axis < len(shape) else 0
        if kind == "stop":
            break
        if kind == "newaxis":
            parts.append(None)
        elif kind == "rest":
            has_rest = True
            parts.append(...)
            axis += draw(st.integers(0, len(shape) - axis))
        elif kind == "truth":
            parts.append(maybe_input(draw(st.booleans()), bool))
        elif kind == "int":
            if size == 0:
                continue
            parts.append(maybe_input(draw(integers(size)), draw(st.sampled_from(["int64", "int32", "int8"]))))
            axis += 1
        elif kind == "full":
            parts.append(slice(None))
            axis += 1
        elif kind == "slice":
            part = draw(slices(size))
            start, stop = (each if each is None else maybe_input(each) for each in (part.start, part.stop))
            parts.append(slice(start, stop, part.step))
            axis += 1
        elif kind == "array":
            if size == 0 and 0 not in together:
                continue
            own = together if has_mask is False else (length,)
            own = tuple(1 if size and draw(st.integers(0, 4)) == 0 else each for each in own)
            own = own[draw(st.integers(0, len(own) - 1)) :]
            if size == 0 and 0 not in own:
                continue
            array = draw(arrays_of.arrays(np.int64, own, elements=integers(size) if size else st.just(0)))
            choice = maybe_input(array)
            parts.append(array.tolist() if choice is array and array.size and draw(st.booleans()) else choice)
            axis += 1
        else:
            covered = draw(st.integers(1, len(shape) - axis))
            mask_shape = shape[axis : axis + covered]
            mask = draw(arrays_of.arrays(bool, mask_shape))
            parts.append(maybe_input(mask, bool))
            has_mask = True
            length = int(mask.sum())
            axis += covered
    if has_rest:  # what is left is not for `...` to take: the masks above were made for other dimensions
        parts += [slice(None)] * (len(shape) - axis)
    return Subscript(
        tuple(parts), inputs, draw(st.booleans()) and not isinstance(parts[0] if parts else None, list)
    )
