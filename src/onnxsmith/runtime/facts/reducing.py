"""How a node reduces: over which axes, and whether they are kept; to be written again on other values."""

from __future__ import annotations

import numpy as np

from onnxsmith.graphs.rewriting.emitter import Emitter
from onnxsmith.graphs.rewriting.site import Site
from onnxsmith.runtime.facts.empty import may_be_empty
from onnxsmith.types.dtypes import DType


def counted_from_the_front(site: Site) -> str | None:
    """The axes that an input gives, none of them negative; None where they are so as they are."""
    emit, rank, content = site.emit, site.rank(0), site.constant(1)
    axes = None if content is None else content.astype(np.int64)
    if axes is not None and not (axes < 0).any():
        return None
    if rank is not None:
        places = emit.constant(np.arange(max(rank, 1)))
    else:
        last = emit.op("Max", emit.rank(site.input(0)), emit.constant(1))
        places = emit.op("Range", emit.constant(0), last, emit.constant(1))
    # Gather counts negative indices from the end, and fails beyond, as the reduction should.
    return emit.op("Gather", places, site.input(1), axis=0)


class Reduction:
    """A node's way to reduce."""

    def __init__(self, site: Site) -> None:
        self._keepdims = site.integer("keepdims", 1)
        self._noop = site.integer("noop_with_empty_axes", 0)
        self._listed, rank = site.integers("axes"), site.rank(0)
        self._input = site.input(1)
        if may_be_empty(site):  # see the fact `axes_from_the_front`
            if self._input:
                self._input = counted_from_the_front(site) or self._input
            elif rank is not None:
                self._listed = tuple(each + rank if each < 0 else each for each in self._listed)

    def of(
        self,
        emit: Emitter,
        operator: str,
        value: str,
        *,
        into: str | None = None,
        keeps_axes: bool | None = None,
    ) -> str:
        """The reduction of a value by an operator, which may have its axes as an attribute yet.

        `keeps_axes` where that is not as in the node.
        """
        keepdims = self._keepdims if keeps_axes is None else int(keeps_axes)
        noop = self._noop or None
        if emit.version < (13 if operator == "ReduceSum" else 18):
            return emit.op(operator, value, into=into, axes=self._listed or None, keepdims=keepdims)
        axes = emit.constant(self._listed) if self._listed else self._input
        inputs = [each for each in (value, axes) if each]
        return emit.op(operator, *inputs, into=into, keepdims=keepdims, noop_with_empty_axes=noop)

    def axes(self, emit: Emitter, value: str) -> str:
        """The axes as a vector; where none are given, all of them, or none if the node says so."""
        if self._listed:
            return emit.constant(self._listed)
        if self._noop:
            return self._input or emit.constant(np.zeros(0, np.int64))
        rank, zero, one = emit.rank(value), emit.constant(0), emit.constant(1)
        if not self._input:
            return emit.op("Range", zero, rank, one)
        has_none = emit.cast(emit.op("Equal", emit.size(self._input), zero), DType.INT64)
        others = emit.op("Range", zero, emit.op("Mul", rank, has_none), one)
        return emit.op("Concat", self._input, others, axis=0)
