"""A run of a model that is observed: its steps, its values as they are asked for, and parts of it on other values.

No more values are held than a budget allows. What is looked for in the values is for others to say.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from numbers import Integral
from typing import Any, Literal, TypeAlias, cast

import numpy as np
import onnx_ir as ir

from onnxsmith.context import collection_paused
from onnxsmith.diagnostics import clipped
from onnxsmith.errors import AttributeValueError, OnnxsmithError
from onnxsmith.graphs.copying import Copier
from onnxsmith.graphs.elements import read_only
from onnxsmith.graphs.ir_types import dimensions_of, tensor_type_to_ir
from onnxsmith.graphs.isolation import memory_amount
from onnxsmith.graphs.model import Model
from onnxsmith.graphs.model_content import read
from onnxsmith.graphs.named_tensors import named_tensor
from onnxsmith.graphs.run_values import RunValue
from onnxsmith.inspection import nodes_of
from onnxsmith.observing.flattening import Step, Straight, outermost, straightened
from onnxsmith.runtime.settings import Provider, using
from onnxsmith.types.dtypes import DType

#: What runs a side: as models run here, without the runtime's own optimisations, onnx's reference evaluator, or each
#: node by itself, as operators that are called in Python run.
Engine: TypeAlias = Literal["default", "unoptimized", "reference", "bodies", "single"]

#: Takes a value of a run.
Take: TypeAlias = Callable[[ir.Value, RunValue], object]

#: So many bytes of values are held unless somebody says otherwise.
DEFAULT_MEMORY = 1 << 30
#: Values that are asked for in one run, at first.
_FIRST_CHUNK = 64
_LARGEST_CHUNK = 2000
_LONGEST_SHOWN = 80


class ObservedRun:
    """A run of a model on inputs."""

    def __init__(
        self,
        model: Model,
        inputs: Mapping[str, RunValue],
        *,
        engine: Engine = "default",
        providers: Provider | Sequence[Provider] | None = None,
        memory: int = DEFAULT_MEMORY,
        closer: Mapping[str, range] | None = None,
        is_nested: bool = True,
    ) -> None:
        """`closer` has turns of loops to be looked at more closely than others, by the address of the loop.

        Without `is_nested`, each node of the outermost graph is one step, whatever it calls and has inside.
        """
        self.model = model
        self._engine: Engine = engine
        self._providers = providers
        self._memory = memory
        self._inputs = inputs
        with collection_paused():
            nodes, held = nodes_of(model), read(model).ir
            self.line: Straight = (
                straightened(nodes, held, inputs, closer or {}, self._ask)
                if is_nested
                else outermost(nodes, held, inputs)
            )
        self.by_value: dict[ir.Value, Step] = {
            value: step for step in self.line.steps for value in step.run.outputs if value.name
        }
        self.order: dict[ir.Value, int] = {value: number for number, value in enumerate(self.by_value)}
        self._given: dict[ir.Value, RunValue] = {
            value: inputs[name] for name, value in self.line.inputs.items() if name in inputs
        }
        self._values: dict[ir.Value, RunValue] = {}
        #: Those of them that every runtime takes.
        self._handed: dict[ir.Value, None] = {}
        self._bytes = 0
        self._chunk = _FIRST_CHUNK

    # -- running ---------------------------------------------------------------------------------------

    def _scope(self) -> AbstractContextManager[object]:
        if self._engine == "reference":
            return using(runtime="reference")
        if self._engine == "unoptimized":
            return using(optimize=False)
        if self._engine == "bodies":
            return using(kernels=False)
        return nullcontext() if self._providers is None else using(providers=self._providers)

    def _ask(self, line: Straight, wanted: Sequence[ir.Value]) -> Sequence[RunValue]:
        """Values of a line that is being made."""
        if not wanted:
            return ()
        given = {value: self._inputs[name] for name, value in line.inputs.items() if name in self._inputs}
        return self._run(line, wanted, given)

    def computed(self, wanted: Sequence[ir.Value], given: Mapping[ir.Value, RunValue]) -> list[RunValue]:
        """Values of the run where some values are others; what the run was given still is."""
        return self._run(self.line, wanted, {**self._given, **given}, self.by_value)

    def _run(
        self,
        line: Straight,
        wanted: Sequence[ir.Value],
        given: Mapping[ir.Value, RunValue],
        makers: Mapping[ir.Value, Step] | None = None,
    ) -> list[RunValue]:
        resolved = [line.actual(each) for each in wanted]
        asked = list(
            dict.fromkeys(each for each in resolved if each not in given and each not in line.constants)
        )
        found: dict[ir.Value, RunValue] = {}
        if asked and self._engine == "single":
            found = self._single(line, asked, given)
        elif asked:
            with collection_paused():
                model, taken = part_of(line, asked, given, makers)
            with self._scope():
                results = _run(model, {each.name or "": given[each] for each in taken})
            found.update(zip(asked, results, strict=True))
        return [
            found[each]
            if each in found
            else given[each]
            if each in given
            else read_only(line.constants[each])
            for each in resolved
        ]

    def _single(
        self, line: Straight, asked: Sequence[ir.Value], given: Mapping[ir.Value, RunValue]
    ) -> dict[ir.Value, RunValue]:
        """The same, each step by itself."""
        needed = {id(step) for step in region_of(line, asked, given)}
        known = dict(given)
        for step in line.steps:
            outputs = [each for each in step.run.outputs if each.name and each not in known]
            if id(step) in needed and outputs:
                model, taken = part_of(line, outputs, known)
                results = _run(model, {each.name or "": known[each] for each in taken})
                known.update(zip(outputs, results, strict=True))
        return {each: known[each] for each in asked}

    # -- values ----------------------------------------------------------------------------------------

    def stream(
        self, values: Sequence[ir.Value], take: Take, *, left_out: Callable[[ir.Value], None] | None = None
    ) -> None:
        """Compute values, some at a time, and hand each on as soon as it is there.

        What the runtime does not give goes to `left_out`; without that, its error is raised.
        """
        start = 0
        while start < len(values):
            chunk = values[start : start + self._chunk]
            start += len(chunk)
            self._stream(chunk, take, left_out)

    def _stream(
        self, chunk: Sequence[ir.Value], take: Take, left_out: Callable[[ir.Value], None] | None
    ) -> None:
        try:
            # From what is known of the chunks before: from the inputs on, the cost would grow with their number.
            found = self.computed(chunk, {each: self._values[each] for each in self._handed})
        except OnnxsmithError:
            if left_out is None:
                raise
            # One of them is of a kind that the runtime does not give.
            if len(chunk) == 1:
                return left_out(chunk[0])
            middle = len(chunk) // 2
            self._stream(chunk[:middle], take, left_out)
            self._stream(chunk[middle:], take, left_out)
            return None
        size = sum(_bytes(each) for each in found)
        self._chunk = int(np.clip(len(chunk) * self._memory // (4 * max(size, 1)), 1, _LARGEST_CHUNK))
        for value, held in zip(chunk, found, strict=True):
            take(value, held)
            self._keep(value, held)
        return None

    def _keep(self, value: ir.Value, held: RunValue) -> None:
        if self._bytes + _bytes(held) <= self._memory:
            self._bytes += _bytes(held)
            self._values[value] = held
            if isinstance(held, np.ndarray) and held.dtype.kind in "fiub":
                self._handed[value] = None

    def outputs(self) -> dict[ir.Value, RunValue]:
        """The outputs of one run of the model: a runtime may fuse what is taken apart here, and round differently."""
        wanted = self.line.outputs
        if self._engine == "single":
            results = self.computed(wanted, {})
        else:
            with self._scope():
                results = _run(self.model, self._inputs)
        return dict(zip(wanted, results, strict=False))

    def region(self, value: ir.Value, known: Container[ir.Value]) -> list[Step]:
        """The steps that a value is made by, back to values that are known, in order."""
        return region_of(self.line, [value], known, self.by_value)

    def part(
        self, wanted: Sequence[ir.Value], given: Mapping[ir.Value, RunValue]
    ) -> tuple[Model, list[ir.Value]]:
        """A model of the steps between some values and others, with the values that it takes, in order."""
        return part_of(self.line, wanted, {**self._given, **given})


def region_of(
    line: Straight,
    wanted: Iterable[ir.Value],
    known: Container[ir.Value],
    makers: Mapping[ir.Value, Step] | None = None,
) -> list[Step]:
    """The steps that values are made by, back to known ones, in order."""
    if makers is None:
        makers = {value: step for step in line.steps for value in step.run.outputs}
    found: dict[int, Step] = {}
    waiting = list(wanted)
    while waiting:
        step = makers.get(waiting.pop())
        if step is None or id(step) in found:
            continue
        found[id(step)] = step
        for each in line.taken(step):
            actual = line.actual(each)
            if actual not in known:
                waiting.append(actual)
    return line.in_order(found)


def _run(model: Model, inputs: Mapping[str, RunValue]) -> Sequence[RunValue]:
    result = model.run(dict(inputs)) if inputs else model()
    return cast("tuple[RunValue, ...]", result) if len(model.outputs) > 1 else (result,)


def _bytes(value: RunValue) -> int:
    if isinstance(value, np.ndarray):
        return int(value.nbytes)
    return sum(map(_bytes, value)) if isinstance(value, list) else 64


def part_of(
    line: Straight,
    wanted: Sequence[ir.Value],
    given: Mapping[ir.Value, RunValue],
    makers: Mapping[ir.Value, Step] | None = None,
) -> tuple[Model, list[ir.Value]]:
    """The model that makes values of a line of given ones, and which of these it takes."""
    if makers is None:
        makers = {value: step for step in line.steps for value in step.run.outputs}
    needed: dict[int, Step] = {}
    taken: dict[ir.Value, None] = {}
    constants: dict[ir.Value, None] = {}
    waiting = list(wanted)
    seen: set[ir.Value] = set(waiting)
    while waiting:
        value = waiting.pop()
        if value in given:
            taken[value] = None
        elif value in line.constants:
            constants[value] = None
        elif value in makers:
            step = makers[value]
            needed[id(step)] = step
            for each in line.taken(step):
                actual = line.actual(each)
                if actual not in seen:
                    seen.add(actual)
                    waiting.append(actual)
    environment: dict[ir.Value, ir.Value | None] = {}
    inputs: list[ir.Value] = []
    for value in taken:
        kind, shape = _type_of(given[value])
        if isinstance(value.type, ir.OptionalType):  # nothing shows it of what is absent
            kind, shape = value.type, None
        inputs.append(ir.Value(name=value.name, type=kind, shape=shape))
        environment[value] = inputs[-1]
    initializers: list[ir.Value] = []
    for value in constants:
        tensor = line.constants[value]
        initializers.append(
            ir.Value(
                name=value.name,
                type=ir.TensorType(tensor.dtype),
                shape=ir.Shape(dimensions_of(tensor)),
                # The model that is run keeps the name of its own: onnx-ir writes this one into the tensor.
                const_value=named_tensor(tensor, value.name or ""),
            )
        )
        environment[value] = initializers[-1]
    nodes = [_copied(line, step, environment) for step in line.in_order(needed)]
    outputs = [cast(ir.Value, environment[each]) for each in wanted]
    graph = ir.Graph(inputs, outputs, nodes=nodes, initializers=initializers, name="part")
    graph.opset_imports.update(line.imports)
    functions = list(line.held.functions.values())
    return Model(ir.Model(graph, ir_version=line.held.ir_version, functions=functions)), list(taken)


def _copied(line: Straight, step: Step, environment: dict[ir.Value, ir.Value | None]) -> ir.Node:
    for each in line.taken(step):
        actual = line.actual(each)
        if actual in environment:
            environment[each] = environment[actual]
    node = Copier({}).node(step.run, environment)
    for old, new in zip(step.run.outputs, node.outputs, strict=True):
        new.name = old.name
        environment[old] = new
    return node


def _type_of(value: RunValue) -> tuple[ir.TypeProtocol | None, ir.Shape | None]:
    if isinstance(value, list):
        kind, _ = _type_of(value[0]) if value else (ir.TensorType(ir.DataType.FLOAT), None)
        return ir.SequenceType(cast(Any, kind)), None
    array = np.asarray(cast(Any, value))
    dtype = DType.from_numpy(array.dtype)
    return (None if dtype is None else tensor_type_to_ir(dtype)), ir.Shape(array.shape)


def memory_budget(memory: int | str) -> int:
    """The number of bytes that an amount says, such as "500 MB"; what is none is refused."""
    told = cast(object, memory)  # users may give anything
    amount: int | None = None
    if isinstance(told, str):
        amount = memory_amount(told)
    elif not isinstance(told, bool) and isinstance(told, Integral):
        amount = int(told)
    if amount is None or amount <= 0:
        raise AttributeValueError(
            f"memory is a number of bytes or an amount such as '500 MB', not {clipped(repr(told), _LONGEST_SHOWN)}",
            culprit="memory",
        )
    return amount
