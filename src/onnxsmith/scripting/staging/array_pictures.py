"""Pictures of numpy's arrays: their elements, compared as bytes, in which nan is itself and zero has a sign.

Of a large array some elements stand for all, where the caller says what large is. Comparing all elements of a weight in
each call can take longer than to compute with them.
"""

from __future__ import annotations

from typing import TypeAlias, cast

import numpy as np

from onnxsmith.core.captures import AnyArray
from onnxsmith.scripting.staging.snapshots import Picture

#: Up to this many bytes, copying the elements and comparing the copies is faster than a call of numpy.
_SHORT = 1 << 16
#: The number of elements that stand for a large array: each may be a miss of the cache.
_SPREAD = 16
#: Unsigned integers by their size, as which elements of other types are compared.
_WORDS = {each.itemsize: each for each in map(np.dtype, (np.uint8, np.uint16, np.uint32, np.uint64))}
#: The elements of an array: bytes, objects, or a copy of the array.
_Content: TypeAlias = "bytes | list[object] | AnyArray"


class ArrayPicture(Picture):
    """An array: its element type, its shape and its elements.

    Of an array of more than `most` bytes, some elements are compared that are spread over it. Such an array cannot be
    put back.
    """

    __slots__ = ("_compared", "_content", "_dtype", "_shape")

    def __init__(self, owner: AnyArray, most: int | None = None) -> None:
        super().__init__(owner)
        self._dtype, self._shape = owner.dtype, owner.shape
        is_large = most is not None and owner.nbytes > most and not owner.dtype.hasobject
        #: The array, or a view of some of its elements.
        self._compared = _spread(owner) if is_large else owner
        self._content = _content(self._compared)

    def is_changed(self) -> bool:
        """True if it has other elements, or these have another type or shape."""
        owner, content = cast("AnyArray", self.owner), self._content
        if owner.shape != self._shape or owner.dtype != self._dtype:
            return True
        if isinstance(content, bytes):
            return self._compared.tobytes() != content
        if isinstance(content, list):
            return any(a is not b for a, b in zip(_objects(self._compared), content, strict=True))
        return not np.array_equal(_words(self._compared), _words(content))

    def put_back(self) -> None:
        """All elements."""
        owner, content = cast("AnyArray", self.owner), self._content
        if isinstance(content, bytes):
            owner[...] = np.frombuffer(content, self._dtype).reshape(self._shape)
        elif isinstance(content, list):
            for place, each in enumerate(content):
                owner.flat[place] = each
        else:
            owner[...] = content


def _content(array: AnyArray) -> _Content:
    if array.dtype.hasobject:
        return _objects(array)
    return array.tobytes() if array.nbytes <= _SHORT or array.itemsize not in _WORDS else array.copy()


def _objects(array: AnyArray) -> list[object]:
    return cast("list[object]", array.ravel().tolist())


def _words(array: AnyArray) -> AnyArray:
    return array.view(_WORDS[array.itemsize])


def _spread(array: AnyArray) -> AnyArray:
    """A view of a few elements of a large array, spread over all of it."""
    if array.flags.forc:
        # An odd step meets all columns of a matrix whose rows are as long as a power of two.
        return array.ravel("K")[:: array.size // _SPREAD | 1]
    # Along each axis the same share: the steps multiply to at least what is to be left out.
    share = (array.size / _SPREAD) ** (1 / array.ndim)
    return array[tuple(slice(None, None, max(1, min(size, round(share)))) for size in array.shape)]
