"""Models with nodes that Python functions compute; what is between them runs in sessions.

A graph becomes a line of steps. Whatever needs no kernel is joined into segments. Each segment is a model of its own,
with sessions for the element types and ranks that come along: what a kernel gives is known at a run alone. An `If` or a
`Loop` with a kernel in its body is run here, and its body is such a line; functions with kernels are dissolved.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol, TypeAlias, cast

import numpy as np
import onnx
from onnx import helper, numpy_helper

from onnxsmith.core.call_cache import CallCache
from onnxsmith.errors import KernelError, NotRunnableError, OnnxsmithError, OperatorFailedError
from onnxsmith.graphs import raw
from onnxsmith.graphs.handover import SessionModel
from onnxsmith.graphs.model_runtime import FindNode
from onnxsmith.graphs.rewriting.copies import copied
from onnxsmith.graphs.rewriting.dissolving import without_functions
from onnxsmith.graphs.rewriting.scopes import (
    all_nodes,
    inner_graphs,
    operator_key,
    outer_names,
    plain_domain,
)
from onnxsmith.graphs.run_values import Run, RunValue
from onnxsmith.runtime.failure import FailedNode
from onnxsmith.runtime.kernels_in_python import Kernel, KernelKey, failed_kernel, kernel_of
from onnxsmith.runtime.single_node import dense_array, type_proto
from onnxsmith.source import caller_span
from onnxsmith.types.annotations import type_of_example
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import AnyValueType, TensorType

#: The values of a graph by name.
Values: TypeAlias = dict[str, RunValue]
#: Makes a session of a model without kernels.
Load: TypeAlias = Callable[[SessionModel], Run]

#: How many combinations of element types and ranks a segment has sessions for.
_MOST_FORMS = 16
_FOREVER = 2**63 - 1


class Step(Protocol):
    """A part of a line: reads values, and enters those that it makes."""

    def run(self, values: Values) -> None:
        """Run it."""
        ...


class KernelModel:
    """A model with kernels, as a line of steps."""

    def __init__(
        self, model: SessionModel, keys: frozenset[KernelKey], load: Load, find_node: FindNode | None
    ) -> None:
        self._given = SessionModel(_dissolved(model.proto, keys), model.weights)
        self.keys = keys
        self.load = load
        self.find_node = find_node
        graph = self._given.proto.graph
        held = raw.initializer_names(self._given.proto)
        self.input_names = [each.name for each in graph.input if each.name not in held]
        self.output_names = [each.name for each in graph.output]
        self._line = Line(self, graph, self.output_names)
        self._constants: Values = {
            name: self._constant(name) for name in held if name in self._line.read_by_steps
        }

    def run(self, inputs: Sequence[RunValue]) -> list[RunValue]:
        """The outputs for inputs in the order of `input_names`."""
        values = {**self._constants, **dict(zip(self.input_names, inputs, strict=True))}
        self._line.run(values)
        return [self._own(name, values[name]) for name in self.output_names]

    def _own(self, name: str, value: RunValue) -> RunValue:
        """An output; a copy where it is an input or a weight, which belong to others."""
        is_shared = name in self.input_names or name in self._constants
        return value.copy() if is_shared and isinstance(value, np.ndarray) else value

    def _constant(self, name: str) -> RunValue:
        graph = self._given.proto.graph
        for sparse in graph.sparse_initializer:
            if sparse.values.name == name:
                return dense_array(sparse)
        tensor = next(each for each in graph.initializer if each.name == name)
        if tensor.data_location == onnx.TensorProto.EXTERNAL and name in self._given.weights:
            whole = onnx.TensorProto(data_type=tensor.data_type, dims=tensor.dims)
            whole.raw_data = self._given.weights[name].read().tobytes()
            tensor = whole
        return numpy_helper.to_array(tensor)

    def part(self, nodes: Sequence[onnx.NodeProto], inputs: Iterable[onnx.ValueInfoProto]) -> onnx.ModelProto:
        """A model of some nodes, with the functions and weights that they need, and without outputs."""
        proto = self._given.proto
        graph = onnx.GraphProto(name=proto.graph.name, node=nodes, input=inputs)
        read = read_by(nodes)
        graph.initializer.extend(each for each in proto.graph.initializer if each.name in read)
        graph.sparse_initializer.extend(
            each for each in proto.graph.sparse_initializer if each.values.name in read
        )
        return onnx.ModelProto(
            ir_version=proto.ir_version,
            opset_import=proto.opset_import,
            functions=proto.functions,
            graph=graph,
            producer_name=proto.producer_name,
        )

    @property
    def held(self) -> set[str]:
        """The names of weights."""
        return raw.initializer_names(self._given.proto)

    def session(self, proto: onnx.ModelProto) -> Run:
        """A session of a part."""
        return self.load(SessionModel(proto, self._given.weights))

    def located(self, error: OnnxsmithError, node: onnx.NodeProto) -> OnnxsmithError:
        """An error at the line that made a node, where it is known."""
        origin = None if self.find_node is None else self.find_node(node.name)
        if origin is not None:
            error.locate(origin).also(caller_span(), "the model is run here")
        return error


def _dissolved(proto: onnx.ModelProto, keys: frozenset[KernelKey]) -> onnx.ModelProto:
    """The model without the bodies of functions that have kernels, and with those that call them in their places."""
    copy = copied(proto)
    kept = [each for each in copy.functions if (plain_domain(each.domain), each.name) not in keys]
    del copy.functions[:]
    copy.functions.extend(kept)
    if not any(operator_key(node) in keys for each in kept for node in all_nodes(each.node)):
        return copy
    flat = without_functions(copy)
    if flat is None:
        names = ", ".join(sorted(each.name for each in kept))
        raise NotRunnableError(
            f"a kernel in Python is called in functions that cannot be written out: {names}",
            help="using(kernels=False) runs bodies instead of kernels",
        )
    return flat


def read_by(nodes: Iterable[onnx.NodeProto]) -> set[str]:
    """The names that nodes and their bodies read."""
    found: set[str] = set()
    for node in nodes:
        found.update(each for each in node.input if each)
        for inner in inner_graphs(node):
            found |= outer_names(inner)
    return found


class Line:
    """The steps of one graph."""

    def __init__(self, model: KernelModel, graph: onnx.GraphProto, wanted: Iterable[str]) -> None:
        declared = {
            each.name: raw.read_type(each.type)
            for each in (*graph.value_info, *graph.output)
            if each.type.WhichOneof("value")
        }
        groups: list[list[onnx.NodeProto]] = []
        is_open = False
        for node in graph.node:
            is_own = _needs_step(node, model.keys)
            if is_own or not is_open:
                groups.append([])
            groups[-1].append(node)
            is_open = not is_own
        needed = set(wanted)
        #: What steps read that are no segments: these have no weights of their own.
        self.read_by_steps: set[str] = set(needed)
        steps: list[Step] = []
        for nodes in reversed(groups):
            if _needs_step(nodes[0], model.keys):
                step, reads = _own_step(model, nodes[0], declared), read_by(nodes)
                self.read_by_steps |= reads
            else:
                step, reads = Segment(model, nodes, needed), read_by(nodes)
            steps.append(step)
            needed |= reads
        self._steps = steps[::-1]

    def run(self, values: Values) -> None:
        """Run all steps."""
        for step in self._steps:
            step.run(values)


def _needs_step(node: onnx.NodeProto, keys: frozenset[KernelKey]) -> bool:
    return operator_key(node) in keys or any(
        _needs_step(each, keys) for inner in inner_graphs(node) for each in inner.node
    )


def _own_step(model: KernelModel, node: onnx.NodeProto, declared: Mapping[str, AnyValueType]) -> Step:
    found = kernel_of(node.domain, node.op_type)
    if operator_key(node) in model.keys and found is not None:
        return KernelStep(model, node, found, [declared.get(name) for name in node.output])
    if operator_key(node) == ("", "If"):
        return IfStep(model, node)
    if operator_key(node) == ("", "Loop"):
        return LoopStep(model, node)
    inside = ", ".join(
        sorted(
            {".".join(operator_key(each)) for each in all_nodes([node]) if operator_key(each) in model.keys}
        )
    )
    raise model.located(
        NotRunnableError(
            f"the kernel of {inside} is in the body of {node.op_type}, where no function of Python runs",
            help="a kernel may stand in the bodies of If and Loop; using(kernels=False) runs the body of the function",
        ),
        node,
    )


class Segment:
    """Nodes without kernels; a session for each combination of element types and ranks."""

    def __init__(self, model: KernelModel, nodes: Sequence[onnx.NodeProto], needed: set[str]) -> None:
        self._model = model
        self._nodes = nodes
        made = [name for node in nodes for name in node.output if name]
        held = model.held
        self._outputs = [name for name in made if name in needed]
        self._inputs = sorted(read_by(nodes) - set(made) - held)
        self._sessions: CallCache[Run] = CallCache(_MOST_FORMS)

    def run(self, values: Values) -> None:
        """Run the session for what comes along."""
        if not self._outputs:
            return
        given = [values[name] for name in self._inputs]
        form = tuple(map(_form_of, given))
        run = self._sessions.get_or_make(form, lambda: self._make(form))
        values.update(zip(self._outputs, run(given), strict=True))

    def _make(self, form: Sequence[tuple[DType | AnyValueType, int | None]]) -> Run:
        inputs = [
            onnx.ValueInfoProto(name=name, type=type_proto(kind, rank))
            for name, (kind, rank) in zip(self._inputs, form, strict=True)
        ]
        proto = self._model.part(self._nodes, inputs)
        proto.graph.output.extend(onnx.ValueInfoProto(name=name) for name in self._outputs)
        return self._model.session(proto)


def _form_of(value: RunValue) -> tuple[DType | AnyValueType, int | None]:
    if isinstance(value, np.ndarray):
        dtype = DType.from_numpy(value.dtype)
        if dtype is not None:
            return dtype, value.ndim
    return type_of_example(cast(Any, value)), None


class KernelStep:
    """A node that a Python function computes."""

    def __init__(
        self,
        model: KernelModel,
        node: onnx.NodeProto,
        kernel: Kernel,
        declared: Sequence[AnyValueType | None],
    ) -> None:
        self._model = model
        self._node = node
        self._kernel = kernel
        self._declared = declared
        self._attributes = {each.name: helper.get_attribute_value(each) for each in node.attribute}

    def run(self, values: Values) -> None:
        """Call the function, and check what it gives."""
        inputs = [values[name] if name else None for name in self._node.input]
        try:
            results = self._kernel.run(inputs, self._attributes, len(self._node.output))
            for number, (value, kind) in enumerate(zip(results, self._declared, strict=True)):
                self._kernel.check(number, value, kind, "the model declares")
        except KernelError as error:
            raise self._model.located(error, self._node) from error.__cause__
        except Exception as error:
            raise failed_kernel(self._kernel, inputs, error, self._located_node) from error
        values.update((name, value) for name, value in zip(self._node.output, results, strict=True) if name)

    def _located_node(self, error: OperatorFailedError) -> None:
        error.node = FailedNode(self._node.op_type, self._node.name)
        self._model.located(error, self._node)


class _Body:
    """The graph of an attribute, as a line; it reads values around it."""

    def __init__(self, model: KernelModel, graph: onnx.GraphProto) -> None:
        self.inputs = [each.name for each in graph.input]
        self.outputs = [each.name for each in graph.output]
        self.types = [
            raw.read_type(each.type) if each.type.WhichOneof("value") else None for each in graph.output
        ]
        # Weights of a body become constants of its line, which segments read as they read values around it.
        self._constants: Values = {each.name: numpy_helper.to_array(each) for each in graph.initializer}
        self._line = Line(model, graph, self.outputs)

    def run(self, around: Values, given: Sequence[RunValue]) -> list[RunValue]:
        """The outputs for values of its inputs."""
        values = {**around, **self._constants, **dict(zip(self.inputs, given, strict=False))}
        self._line.run(values)
        return [values[name] for name in self.outputs]


def _body(model: KernelModel, node: onnx.NodeProto, name: str) -> _Body:
    return _Body(model, next(each.g for each in node.attribute if each.name == name))


class IfStep:
    """An `If` with a kernel in a branch."""

    def __init__(self, model: KernelModel, node: onnx.NodeProto) -> None:
        self._node = node
        self._branches = {True: _body(model, node, "then_branch"), False: _body(model, node, "else_branch")}

    def run(self, values: Values) -> None:
        """Run the branch that the condition chooses."""
        condition = bool(np.asarray(values[self._node.input[0]]).reshape(()))
        values.update(zip(self._node.output, self._branches[condition].run(values, ()), strict=True))


class LoopStep:
    """A `Loop` with a kernel in its body."""

    def __init__(self, model: KernelModel, node: onnx.NodeProto) -> None:
        self._node = node
        self._body = _body(model, node, "body")
        self._inputs = [*node.input, "", ""][: max(2, len(node.input))]

    def run(self, values: Values) -> None:
        """Run the body until the condition or the count ends it."""
        count, condition, *state = [values[name] if name else None for name in self._inputs]
        most = _FOREVER if count is None else int(np.asarray(count).reshape(()))
        goes_on = condition is None or bool(np.asarray(condition).reshape(()))
        scanned: list[list[RunValue]] = [[] for _ in self._body.outputs[1 + len(state) :]]
        for number in itertools.count():
            if number >= most or not goes_on:
                break
            goes, *results = self._body.run(values, [np.array(number, np.int64), np.array(goes_on), *state])
            goes_on = bool(np.asarray(goes).reshape(()))
            state = results[: len(state)]
            for rows, row in zip(scanned, results[len(state) :], strict=True):
                rows.append(row)
        kinds = self._body.types[1 + len(state) :]
        stacked = [_stacked(rows, kind) for rows, kind in zip(scanned, kinds, strict=True)]
        values.update(
            (name, value) for name, value in zip(self._node.output, [*state, *stacked], strict=False) if name
        )


def _stacked(rows: Sequence[RunValue], kind: AnyValueType | None) -> RunValue:
    if rows:
        return np.stack([np.asarray(each) for each in rows])
    dtype = kind.dtype if isinstance(kind, TensorType) else None
    sizes = (kind.shape if isinstance(kind, TensorType) else None) or ()
    shape = [each if isinstance(each, int) else 0 for each in sizes]
    return np.zeros((0, *shape), np.float32 if dtype is None else dtype.numpy)
