"""Fingerprints of a fit: digests by which a checkpoint knows its model, loss, optimiser and data again.

A digest is the same in every process, and does not depend on names of files or lines of a program.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Hashable, Mapping, Sequence

import onnx_ir as ir

from onnxsmith.core.value import Array
from onnxsmith.graphs.identity import Policy, array_key, sampled_key, tensor_key
from onnxsmith.graphs.ir_types import dimensions_of
from onnxsmith.graphs.model import Model
from onnxsmith.training.schedules import Schedule

#: Arrays up to this size are read as a whole; of larger ones a sample stands for all.
_READ_BYTES = 1 << 20
#: The steps at which the rate of a schedule is looked at, and of how many.
_STEPS, _TOTAL = (0, 1, 2, 5, 10, 33, 100, 333, 999, 5_000), 1_000


def of_model(model: Model, trained: Collection[str] = ()) -> str:
    """The digest of a graph with its functions and weights; of those that are trained the name and type alone."""
    graph = model.ir.graph
    moved = {
        id(value.const_value): name
        for name, value in graph.initializers.items()
        if name in trained and value.const_value is not None
    }

    def key(tensor: ir.TensorProtocol) -> Hashable:
        name = moved.get(id(tensor))
        if name is None:
            return tensor_key(tensor)
        return ("trained", name, int(tensor.dtype), dimensions_of(tensor))

    policy = Policy(key, types=True)
    functions = [
        (identifier, policy.function(function))
        for identifier, function in sorted(model.ir.functions.items(), key=lambda each: each[0])
    ]
    ports = [each.name for each in (*graph.inputs, *graph.outputs)]
    return _digest((tuple(ports), policy.graph(graph, versions=model.opset_imports), tuple(functions)))


def of_schedules(schedules: Mapping[str, Schedule]) -> str:
    """The digest of rates: of what schedules say for some steps, and of their plateaus."""
    said = [
        (name, *(each.rate(min(step, _TOTAL - 1), _TOTAL) for step in _STEPS), repr(each.plateau))
        for name, each in sorted(schedules.items())
    ]
    return _digest(tuple(said))


def of_arrays(arrays: Sequence[Array]) -> str:
    """The digest of data in memory: types, shapes and contents, of large arrays a sample."""
    keys = [
        (str(each.dtype), array_key(each) if each.nbytes <= _READ_BYTES else sampled_key(each))
        for each in arrays
    ]
    return _digest(tuple(keys))


def _digest(key: Hashable) -> str:
    return hashlib.blake2b(repr(key).encode(), digest_size=12).hexdigest()
