"""Elementwise models on large arrays, block by block: what one node gives is still in the cache when the next reads it.

A chain of elementwise nodes on arrays that are larger than the cache waits for memory at every node. Blocks also share
the work between threads once for the whole chain, instead of once for every node. Knows which models are elementwise
and how to cut arrays; what runs a block is handed in.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import cast

import numpy as np
import onnx

from onnxsmith.graphs.run_values import Array, Run, RunValue
from onnxsmith.runtime.settings import usable_cores
from onnxsmith.schema.elementwise_operators import ELEMENTWISE

#: Bytes of the largest input in a block: a few of them fit into the second level of a cache.
_BLOCK_BYTES = 1 << 19
#: Fewer nodes gain less than cutting costs.
_FEWEST_NODES = 3


class Chain:
    """A model of elementwise nodes: the names of its inputs, and of which of them each output is made, by position."""

    def __init__(self, inputs: list[str], sources: Sequence[frozenset[int]]) -> None:
        self.inputs = inputs
        self._sources = sources

    def blocked(self, run: Run, threads: int) -> Run:
        """Run it as `run` does, on large arrays block by block, in so many threads."""

        def run_blocked(inputs: Sequence[RunValue]) -> list[RunValue]:
            least = 2 * _BLOCK_BYTES
            for each in inputs:  # small ones are most calls
                if getattr(each, "nbytes", 0) >= least:
                    break
            else:
                return run(inputs)
            cut = self._cut(inputs)
            if cut is None:
                return run(inputs)
            try:
                return _in_blocks(run, *cut, threads)
            except Exception:  # whatever it is, the whole tells it of the arrays that the user gave
                return run(inputs)

        return run_blocked

    def _cut(self, inputs: Sequence[RunValue]) -> tuple[list[Array], tuple[int, ...], int] | None:
        """The inputs, the shape that they are cut in, and the length of a block; None where they are taken whole."""
        largest = 0
        shape: tuple[int, ...] = ()
        for each in inputs:
            if each.__class__ is not np.ndarray:
                return None
            array = cast(Array, each)
            if array.nbytes > largest:
                largest, shape = array.nbytes, array.shape
        arrays = cast("list[Array]", list(inputs))
        is_whole = [each.shape == shape for each in arrays]
        if not all(
            each.flags.c_contiguous if whole else each.size == 1 and each.ndim <= len(shape)
            for each, whole in zip(arrays, is_whole, strict=True)
        ):
            return None
        if not all(any(is_whole[place] for place in sources) for sources in self._sources):
            return None  # an output of one element
        return arrays, shape, max(1, _BLOCK_BYTES * int(np.prod(shape)) // largest)


def elementwise_chain(model: onnx.ModelProto) -> Chain | None:
    """The chain that a model is; None where it is anything else."""
    graph = model.graph
    computing = sum(each.op_type != "Constant" for each in graph.node)
    if model.functions or computing < _FEWEST_NODES or not graph.input or graph.sparse_initializer:
        return None
    if any(int(np.prod(each.dims)) != 1 for each in graph.initializer):
        return None
    known = {each.name: frozenset[int]() for each in graph.initializer}
    for place, each in enumerate(graph.input):
        tensor = each.type.tensor_type
        if not each.type.HasField("tensor_type") or not tensor.HasField("shape") or each.name in known:
            return None
        if any(dim.HasField("dim_value") and dim.dim_value != 1 for dim in tensor.shape.dim):
            return None
        known[each.name] = frozenset((place,))
    for node in graph.node:
        if node.domain not in ("", "ai.onnx") or not (node.op_type in ELEMENTWISE or _is_number(node)):
            return None
        known[node.output[0]] = frozenset[int]().union(*(known.get(name, frozenset()) for name in node.input))
    return Chain([each.name for each in graph.input], [known[each.name] for each in graph.output])


def _is_number(node: onnx.NodeProto) -> bool:
    """True if a node is a constant of one element."""
    return node.op_type == "Constant" and all(
        int(np.prod(each.t.dims)) == 1 if each.name == "value" else each.name in ("value_float", "value_int")
        for each in node.attribute
    )


def _in_blocks(
    run: Run, arrays: list[Array], shape: tuple[int, ...], length: int, threads: int
) -> list[RunValue]:
    size = int(np.prod(shape))
    flat = [each.reshape(-1) if each.shape == shape else None for each in arrays]
    form = (1,) * (len(shape) - 1) + (-1,)

    def block(start: int) -> list[Array]:
        stop = start + length
        given = [
            whole if part is None else part[start:stop].reshape(form)
            for whole, part in zip(arrays, flat, strict=True)
        ]
        return cast("list[Array]", run(given))

    first = block(0)
    results = [np.empty(size, each.dtype) for each in first]

    def put(start: int, parts: list[Array]) -> None:
        for whole, part in zip(results, parts, strict=True):
            whole[start : start + length] = part.reshape(-1)

    def work(starts: range) -> None:
        for start in starts:
            put(start, block(start))

    put(0, first)
    starts = range(length, size, length)
    share = -(-len(starts) // max(1, threads))
    others = [_workers().submit(work, starts[k : k + share]) for k in range(share, len(starts), share)]
    work(starts[:share])
    for each in others:
        each.result()
    return [each.reshape(shape) for each in results]


@functools.cache
def _workers() -> ThreadPoolExecutor:
    """The threads that take a share of the blocks; they live as long as the process."""
    return ThreadPoolExecutor(max(1, usable_cores() - 1), thread_name_prefix="onnxsmith-blocks")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_workers.cache_clear)  # a forked process has none of the threads
