"""Functions of the given model that are differentiated once, and called: on the way forward and on the way back.

A function is recorded for the types that it is called with: its *form*. The way back of a form is another function.
What it reads of the way forward, the function has as further outputs, which calls have from then on. So a model of many
equal layers has one way back for all of them. A function that is called once is dissolved, and never comes here.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

import numpy as np
import onnx_ir as ir

from onnxsmith.algorithms.named import DOMAIN as ALGORITHMS
from onnxsmith.context import setting
from onnxsmith.core.recording import FunctionHead
from onnxsmith.core.target import ACTIVE
from onnxsmith.core.value import Value
from onnxsmith.grad.frames import Frame
from onnxsmith.grad.inner_graphs import Recorder
from onnxsmith.grad.reverse import Reverse
from onnxsmith.grad.steps import Step, is_real
from onnxsmith.grad.target import BackwardTarget, GradientTarget
from onnxsmith.graphs.function import FunctionBody, body_of
from onnxsmith.graphs.identity import array_key
from onnxsmith.graphs.opsets import OpsetVersions
from onnxsmith.graphs.program import Program
from onnxsmith.graphs.records import FunctionRecord, NodeRecord, ValueRecord
from onnxsmith.graphs.value import made_value, wrap
from onnxsmith.schema.inference.known import Data, Known
from onnxsmith.types.value_types import Dimension, TensorType

#: Floating-point constants up to this size may decide what a rule gives (an exponent, scales), larger ones are weights.
_FEW_NUMBERS = 4


@dataclass(frozen=True, slots=True)
class Backward:
    """The way back of a form."""

    body: FunctionBody
    #: What it is given behind the cotangents: values of the form.
    taken: tuple[Value, ...]
    #: The inputs of the form that it has cotangents of.
    positions: tuple[int, ...]
    known: tuple[Known, ...]


@dataclass(eq=False)
class Form:
    """A function, recorded for the types of a call."""

    target: GradientTarget
    function: FunctionRecord
    body: FunctionBody
    #: What stands for its inputs, None for those that are left out; what its nodes give; and that as its outputs.
    inputs: tuple[Value | None, ...]
    results: tuple[Value, ...]
    outputs: tuple[Value, ...]
    active: tuple[bool, ...]
    steps: list[Step]
    active_results: tuple[bool, ...]
    #: The names of sizes that its inputs have.
    sizes: frozenset[str]
    #: Makes a name for a way back.
    new_name: Callable[[], str]
    backwards: dict[Hashable, Backward] = field(default_factory=dict[Hashable, Backward])

    def __post_init__(self) -> None:
        self._places: dict[ValueRecord, int] = {
            record: k for k, record in enumerate(self.function.graph.outputs)
        }

    def backward(self, given: tuple[bool, ...], is_masked: bool) -> Backward:
        """The way back, for cotangents of some of its outputs, which may have passed a mask."""
        key = given, is_masked
        found = self.backwards.get(key)
        if found is None:
            found = self.backwards[key] = self._way_back(given, is_masked)
        return found

    def _way_back(self, given: tuple[bool, ...], is_masked: bool) -> Backward:
        versions = OpsetVersions(self.target.operators.version, is_fixed=True)
        target = BackwardTarget(Program("function", versions, self.target.shared), self.target)
        reverse = Reverse(target, self.steps, f"a result of {self.function.name}")
        with setting(ACTIVE, target):
            for k, result in enumerate(self.results):
                if given[k]:
                    seed = target.input(f"cotangent_{k}", result.known.type)
                    reverse.seed(result, seed, is_masked=is_masked)
            reverse.run()
            target.origin.set(None, is_backward=True)
            found = [
                (k, cotangent)
                for k, value in enumerate(self.inputs)
                if value is not None and self.active[k] and (cotangent := reverse.of(value)) is not None
            ]
            outputs = target.outputs_of([cotangent for _, cotangent in found])
        head = FunctionHead(self.function.domain, self.new_name())
        return Backward(
            body_of(target.finish_function(outputs, head)),
            tuple(value for value, _ in target.taken.values()),
            tuple(k for k, _ in found),
            tuple(self.outside(each.known) for each in outputs),
        )

    def position(self, record: ValueRecord) -> int:
        """The position of a value of the function among its outputs; it becomes one."""
        place = self._places.get(record)
        if place is None:
            outputs = self.function.graph.outputs
            place = self._places[record] = len(outputs)
            outputs.append(record)
            record.is_output = True
        return place

    def outside(self, known: Known) -> Known:
        """The facts of a value where the function is called: without names of sizes that its inputs do not have."""
        kind, data = known.type, known.data
        if isinstance(kind, TensorType) and kind.shape is not None:
            kind = TensorType(kind.dtype, tuple([self._size(each) for each in kind.shape]))
        if isinstance(data, tuple):
            data = tuple([self._size(each) for each in data])
        elif isinstance(data, str):
            data = self._size(data)
        return Known(kind, data)

    def _size(self, size: Dimension) -> Dimension:
        return size if not isinstance(size, str) or _names_in(size) <= self.sizes else None


@dataclass(slots=True, eq=False)
class Call:
    """A call of a form, which may get further outputs."""

    form: Form
    node: NodeRecord
    inputs: tuple[Value | None, ...]
    outputs: tuple[Value, ...]
    _further: dict[int, Value] = field(default_factory=dict[int, Value])

    def actual(self, value: Value) -> Value:
        """The value of this call for a value of the form."""
        for formal, given in zip(self.form.inputs, self.inputs, strict=True):
            if (
                formal is not None
                and given is not None
                and made_value(formal).record is made_value(value).record
            ):
                return given
        position = self.form.position(made_value(value).record)
        if position < len(self.outputs):
            return self.outputs[position]
        if position not in self._further:
            self._further[position] = self._output(
                position, self.form.outside(value.known), made_value(value).record
            )
        return self._further[position]

    def _output(self, position: int, known: Known, inner: ValueRecord) -> Value:
        scope = made_value(self.outputs[0]).scope
        held = list(self.node.outputs)
        while len(held) <= position:
            further = scope.new_value(inner.name, known)
            further.producer = self.node
            held.append(further)
        self.node.outputs = held
        record = held[position]
        if scope.program.kind != "function":
            record.type = known.type
        return wrap(record, known, scope, None)


class Forms:
    """The forms of a model's functions that were recorded."""

    def __init__(self, model: ir.Model) -> None:
        self._found: dict[Hashable, Form | None] = {}
        self._names: set[tuple[str, str]] = {(domain, name) for domain, name, _ in model.functions}
        self._used: set[tuple[str, str]] = set()
        calls: Counter[ir.OperatorIdentifier] = Counter()
        if model.functions:
            for graph in (model.graph, *model.functions.values()):
                calls.update(node.op_identifier() for node in graph.all_nodes())
        self._calls = calls

    def is_called_again(self, function: ir.Function) -> bool:
        """True if a model calls a function at several places."""
        return self._calls[function.identifier()] > 1

    def name(self, domain: str, wish: str, *, is_own: bool = False) -> str:
        """A name that no function of the domain has; a function's own is its own once."""
        key = domain, wish
        count = 1
        while key in self._used or (key in self._names and not (is_own and count == 1)):
            count += 1
            key = domain, f"{wish}_{count}"
        self._used.add(key)
        return key[1]

    def find(
        self,
        recorder: Recorder,
        target: GradientTarget,
        function: ir.Function,
        inputs: tuple[Value | None, ...],
        active: tuple[bool, ...],
        attributes: Mapping[str, ir.Attr],
    ) -> Form | None:
        """The form for a call; None where the function has to be dissolved."""
        if any(not _is_plain(each) for each in attributes.values()):
            return None
        known = tuple(
            [
                None if each is None else _decisive(each, is_active)
                for each, is_active in zip(inputs, active, strict=True)
            ]
        )
        key = (
            function.identifier(),
            active,
            tuple([None if each is None else (each.type, _key_of(each.data)) for each in known]),
            tuple([(name, repr(each.value)) for name, each in sorted(attributes.items())]),
        )
        if key not in self._found:
            self._found[key] = self._recorded(recorder, target, function, known, active, attributes)
        return self._found[key]

    def _recorded(
        self,
        recorder: Recorder,
        outside: GradientTarget,
        function: ir.Function,
        known: Sequence[Known | None],
        active: tuple[bool, ...],
        attributes: Mapping[str, ir.Attr],
    ) -> Form | None:
        target = outside.function(outside.opset, is_exact=False, is_lenient=False)
        target.program.names.reserve(value.name for node in function for value in node.outputs if value.name)
        target.program.node_names.reserve(node.name for node in function if node.name)
        frame = Frame(attributes=attributes, is_named=True)
        formals: list[Value | None] = []
        for formal, each in zip(function.inputs, known, strict=False):
            if each is None:
                formals.append(None)
                continue
            record = made_value(target.input(formal.name or "input", each.type)).record
            frame.values[formal] = made = wrap(record, each, target, None)
            formals.append(made)
        begun = [
            each for each, is_active in zip(formals, active, strict=True) if each is not None and is_active
        ]
        with setting(ACTIVE, target):
            inner = recorder.inside(begun, is_backward=False)
            results = inner.graph(function.graph, frame)
            if inner.has_bits:
                return None  # whole numbers that are bits would lose their gradients on the way out
            target.origin.set(None, is_backward=False)
            outputs = target.outputs_of(results)
        # The name of an algorithm is that of one definition: rules call it, and this one may get further outputs.
        name = self.name(function.domain, function.name, is_own=function.domain != ALGORITHMS)
        body = body_of(target.finish_function(outputs, FunctionHead(function.domain, name)))
        return Form(
            target,
            cast(FunctionRecord, body.function),
            body,
            tuple(formals),
            tuple(results),
            tuple(outputs),
            active,
            inner.steps,
            tuple([is_real(each) and inner.is_active(each) for each in results]),
            _sizes(known),
            lambda: self.name(function.domain, f"{name}_backward"),
        )

    def call(self, target: GradientTarget, form: Form, inputs: tuple[Value | None, ...]) -> Call:
        """Call a form."""
        present = [each for each in inputs if each is not None]
        outputs = target.call_function(
            form.body, present, {}, [form.outside(each.known) for each in form.outputs]
        )
        return Call(form, target.nodes[-1], inputs, tuple(outputs))


def _is_plain(attribute: ir.Attr) -> bool:
    return attribute.type in (
        ir.AttributeType.INT,
        ir.AttributeType.INTS,
        ir.AttributeType.FLOAT,
        ir.AttributeType.FLOATS,
        ir.AttributeType.STRING,
        ir.AttributeType.STRINGS,
    )


def _decisive(value: Value, is_active: bool) -> Known:
    """The facts of an input, without the content of weights: they differ from call to call."""
    known = value.known
    data = known.data
    is_weight = isinstance(data, np.ndarray) and data.dtype.kind not in "iub" and data.size > _FEW_NUMBERS
    return Known(known.type) if is_active or is_weight else known


def _key_of(data: Data) -> Hashable:
    return array_key(data) if isinstance(data, np.ndarray) else data


#: What stands in expressions of sizes and is no size.
_FUNCTIONS = frozenset({"max", "min", "floor", "ceil"})


def _names_in(size: str) -> set[str]:
    return set(re.findall(r"[^\W\d]\w*", size)) - _FUNCTIONS


def _sizes(known: Sequence[Known | None]) -> frozenset[str]:
    shapes = [each.type.shape for each in known if each is not None and isinstance(each.type, TensorType)]
    return frozenset(
        name for shape in shapes for size in shape or () if isinstance(size, str) for name in _names_in(size)
    )
