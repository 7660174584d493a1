"""A third target: it records nothing but how many nodes and bytes a model would have.

Written from the docstrings of `Target` and `RecordingTarget`; there is no graph behind its values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import onnx_ir as ir

from onnxsmith.core.operator import Operators
from onnxsmith.core.recording import FunctionHead, OpsetChoice, RecordedBody, RecordedFunction
from onnxsmith.core.semantics.number import number
from onnxsmith.core.sequence import TensorSequence
from onnxsmith.core.target import ACTIVE, OperatorCall, recorded
from onnxsmith.core.tensor import Tensor
from onnxsmith.core.value import Value
from onnxsmith.graphs.function import FunctionBody
from onnxsmith.graphs.opsets import OpsetVersions
from onnxsmith.graphs.program import is_harmless
from onnxsmith.schema.inference.known import Known
from onnxsmith.source import Place
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import TensorType
from tests.core.counting import Count, count_nodes, size_of, total


@dataclass(eq=False)
class Origin:
    """Where a value is from: the same for all Python objects that stand for it."""

    scope: CountingTarget
    is_given: bool


class CountedTensor(Tensor):
    """A tensor of which there is nothing but what is known."""

    __slots__ = ("_known", "name", "origin", "span")
    is_symbolic: ClassVar[bool] = True

    def __init__(self, known: Known, origin: Origin) -> None:
        self._known, self.origin = known, origin
        self.name, self.span = "counted", None

    @property
    def known(self) -> Known:
        return self._known

    @property
    def target(self) -> CountingTarget:
        return self.origin.scope.home

    def as_number(self) -> Any:
        return number(self)

    def as_shape(self) -> CountedShape:
        return CountedShape(self._known, self.origin)


class CountedShape(CountedTensor):
    """A vector whose elements are numbers."""

    __slots__ = ()

    def __getitem__(self, index: Any) -> Any:
        part: Any = super().__getitem__(index)
        return part.as_number() if part.type.rank == 0 else part.as_shape() if part.type.rank == 1 else part


class CountedSequence(TensorSequence):
    """A sequence or optional of which there is nothing but what is known."""

    __slots__ = ("_known", "name", "origin", "span")
    is_symbolic: ClassVar[bool] = True

    def __init__(self, known: Known, origin: Origin) -> None:
        self._known, self.origin = known, origin
        self.name, self.span = "counted", None

    @property
    def known(self) -> Known:
        return self._known

    @property
    def target(self) -> CountingTarget:
        return self.origin.scope.home


@dataclass(eq=False)
class CountedBody(RecordedBody):
    """A finished subgraph."""

    outputs: tuple[Known, ...]
    count: Count

    def add_unused_input(self, kind: Any) -> None:
        """An input is no node."""

    def discard(self) -> None:
        """Whoever has not been given it has not counted it."""


@dataclass(eq=False)
class CountedFunction:
    """A finished function, with those that it calls and the weights that its callers must hold."""

    attribute_names: tuple[str, ...]
    output_count: int
    count: Count
    held: Held
    head: FunctionHead


@dataclass
class Held:
    """What all graphs of one model, or of one function, hold together."""

    opsets: OpsetVersions
    shared: dict[Any, Any]
    is_function: bool
    is_exact: bool
    is_lenient: bool
    mixes_dtypes: bool = False
    #: Arrays, tensors and weights by content or identity, kept alive, with their bytes.
    constants: dict[Any, tuple[Any, int]] = field(default_factory=dict)
    functions: dict[Any, Count] = field(default_factory=dict)

    def hold(self, what: Any, array: Callable[[], Any]) -> None:
        """Hold something once, however often it is used."""
        if ("identity", id(what)) not in self.constants:
            self.constants["identity", id(what)] = (what, size_of(array()))


class CountingTarget:
    """Counts the nodes and bytes that a graph would have."""

    needs_inference: ClassVar[bool] = True

    def __init__(self, held: Held, parent: CountingTarget | None = None) -> None:
        self.held = held
        self.parent = parent
        self.depth = 0 if parent is None else parent.depth + 1
        self.count = Count()
        self.is_harmless = parent is not None
        self.home = self
        self.caller: Place | None = None
        self._dimensions: list[str] = []
        #: Constants of a function are nodes, one for equal ones that can be seen.
        self._constants: dict[Any, CountedTensor] = {}

    @classmethod
    def for_model(
        cls, opset: OpsetChoice, *, is_exact: bool = False, is_lenient: bool = False
    ) -> CountingTarget:
        """The outermost graph of a model."""
        return cls(Held(_versions(opset), {}, is_function=False, is_exact=is_exact, is_lenient=is_lenient))

    def counted(self) -> Count:
        """What the model has, if this is its outermost graph."""
        weights = Count(0, sum(size for _, size in self.held.constants.values()))
        return self.count + weights + total(self.held.functions.values())

    # -- any target ------------------------------------------------------------------------------------

    @property
    def is_exact(self) -> bool:
        return self.held.is_exact

    @property
    def mixes_dtypes(self) -> bool:
        return self.held.mixes_dtypes

    @property
    def is_lenient(self) -> bool:
        return self.held.is_lenient

    @property
    def recording(self) -> CountingTarget:
        return self

    @property
    def operators(self) -> Operators:
        return Operators(self.held.opsets.version(""))

    def constant(self, array: np.ndarray[Any, Any]) -> CountedTensor:
        known = Known(TensorType(DType.from_numpy(array.dtype), array.shape), array)
        key = None if array.dtype == object else (array.dtype, array.shape, array.tobytes())
        if self.held.is_function:
            return self._constant_node(known, key, size_of(array))
        if key is None:
            self.held.hold(array, lambda: array)
        elif ("identity", id(array)) not in self.held.constants:
            self.held.constants.setdefault(key, (array, size_of(array)))
        return CountedTensor(known, Origin(self._root, is_given=True))

    def stored(self, value: Any) -> CountedTensor:
        if self.held.is_function:
            return self._constant_node(value.known, None, size_of(np.asarray(value)))
        self.held.hold(value, lambda: np.asarray(value))
        return CountedTensor(value.known, Origin(self._root, is_given=True))

    def sequence(self, elements: Sequence[Any]) -> Any:
        return self.operators.SequenceConstruct(*elements)

    def emit(self, call: OperatorCall) -> tuple[Any, ...]:
        op, version, inputs, attributes, _, outputs = call
        self.held.opsets.use(op, version)
        self.count += Count(1)
        self.is_harmless = self.is_harmless and is_harmless(op, inputs, outputs)
        for value in attributes.values():
            if isinstance(value, CountedBody):
                self.count += value.count
            elif isinstance(value, np.ndarray) or op.name == "Constant":
                self.count += Count(0, size_of(value))
        return self._values(outputs)

    def learn(self, operator: Any, args: tuple[Any, ...], kwargs: dict[str, Any], call: OperatorCall) -> None:
        """Every call counts."""

    # -- one that records ------------------------------------------------------------------------------

    @property
    def opset(self) -> OpsetChoice:
        return self.held.opsets.choice

    @property
    def shared(self) -> dict[Any, Any]:
        return self.held.shared

    @property
    def dimensions(self) -> list[str]:
        return self._root._dimensions

    def input(self, name: str, kind: Any, span: Any = None, *, is_declared: bool = True) -> Value:
        self._dimensions += [each for each in getattr(kind, "shape", None) or () if isinstance(each, str)]
        return _value(Known(kind), Origin(self, is_given=True))

    def lift(self, value: Any) -> Value:
        if isinstance(value, Value):
            return value if value.is_symbolic else self.constant(np.asarray(value))
        if hasattr(value, "known"):
            return self.stored(value)
        return self.sequence(value) if isinstance(value, list) else self.constant(np.asarray(value))

    def owns(self, value: Value) -> bool:
        return _origin(value).scope.home is self

    def sees(self, value: Value) -> bool:
        return any(_origin(value).scope.home is each.home for each in self._chain())

    def is_given(self, value: Value) -> bool:
        return _origin(value).is_given

    def subgraph(self) -> CountingTarget:
        return CountingTarget(self.held, self)

    @property
    def is_empty(self) -> bool:
        return not self.count.nodes

    def draft(self) -> CountingTarget:
        result = self.subgraph()
        result.depth = self.depth
        return result

    def keep(self) -> None:
        assert self.parent is not None
        self.home = self.parent.home
        self.home.count += self.count
        self.home._constants |= self._constants
        self.home.is_harmless = self.home.is_harmless and self.is_harmless

    def discard(self) -> None:
        self.count = Count()

    def checkpoint(self) -> Callable[[], None]:
        opsets, constants = self.held.opsets.copy(), dict(self.held.constants)
        functions = dict(self.held.functions)

        def roll_back() -> None:
            self.held.opsets, self.held.constants, self.held.functions = opsets, constants, functions

        return roll_back

    def outputs_of(self, values: Sequence[Value]) -> list[Value]:
        outputs: list[Value] = []
        for value in values:
            origin = _origin(value)
            is_own = origin.scope.home is self and not origin.is_given
            is_new = all(_origin(each) is not origin for each in outputs)
            outputs.append(value if is_own and is_new else self.operators.Identity(value))
        return outputs

    def refined(self, value: Value, kind: Any) -> Value:
        return _value(Known(kind), _origin(value))

    def finish_body(self, values: Sequence[Any], title: str, declared: Any = None) -> CountedBody:
        token = ACTIVE.set(self)
        try:
            outputs = self.outputs_of([self.lift(each) for each in values])
        finally:
            ACTIVE.reset(token)
        return CountedBody(tuple(each.known for each in outputs), self.count)

    def suggest_name(self, value: Value, wish: str) -> None:
        """A name is neither a node nor a weight."""

    def hand_name_on(self, value: Value, to: Value, suffix: str) -> None:
        """Nor is a name that another has."""

    def name_results(self, outputs: Any, wishes: Any, bodies: Sequence[tuple[RecordedBody, str]]) -> None:
        """Nor are the names of results."""

    def function(
        self, opset: OpsetChoice, *, is_exact: bool, is_lenient: bool, mixes_dtypes: bool = False
    ) -> CountingTarget:
        return CountingTarget(
            Held(
                _versions(opset),
                self.shared,
                is_function=True,
                is_exact=is_exact,
                is_lenient=is_lenient,
                mixes_dtypes=mixes_dtypes,
            )
        )

    def finish_function(self, outputs: Sequence[Value], head: FunctionHead) -> CountedFunction:
        names = tuple(each.name for each in head.attributes)
        return CountedFunction(names, len(outputs), self.count, self.held, head)

    def call_function(
        self,
        function: RecordedFunction,
        inputs: Sequence[Value | None],
        attributes: Mapping[str, Any],
        outputs: Sequence[Known],
    ) -> tuple[Any, ...]:
        self.is_harmless = False
        if isinstance(function, FunctionBody):
            for called in (*function.called.values(), function.function):
                self.held.functions[called.identifier()] = count_nodes(ir.to_proto(called).node)
            for _, tensor in function.weights:
                raw = getattr(tensor, "raw", None)
                self.held.hold(raw if isinstance(raw, np.ndarray) else tensor, tensor.numpy)
            opsets = function.opsets
        else:
            assert isinstance(function, CountedFunction)
            self.held.functions.update(function.held.functions)
            self.held.functions[function.head.domain, function.head.name] = function.count
            self.held.constants = {**function.held.constants, **self.held.constants}
            opsets = function.held.opsets
        self.held.opsets.include(opsets)
        given = [each for each in attributes.values() if isinstance(each, np.ndarray)]
        self.count += Count(1, sum(map(size_of, given)))
        return self._values(outputs)

    # -- its own ---------------------------------------------------------------------------------------

    @property
    def _root(self) -> CountingTarget:
        return list(self._chain())[-1]

    def _chain(self) -> Iterator[CountingTarget]:
        here: CountingTarget | None = self
        while here is not None:
            yield here
            here = here.parent

    def _values(self, outputs: Sequence[Known]) -> tuple[Any, ...]:
        return tuple(_value(each, Origin(self, is_given=False)) for each in outputs)

    def _constant_node(self, known: Known, key: Any, size: int) -> CountedTensor:
        for each in self._chain() if key is not None else ():
            if key in each._constants:
                return each._constants[key]
        self.count += Count(1, size)
        self.held.opsets.use(self.operators.Constant.definition, None)
        result = CountedTensor(known, Origin(self, is_given=False))
        if key is not None:
            self._constants[key] = result
        return result


def _versions(opset: OpsetChoice) -> OpsetVersions:
    return OpsetVersions(opset.version, is_fixed=opset.is_fixed, is_named=opset.is_named)


def _value(known: Known, origin: Origin) -> CountedTensor | CountedSequence:
    kind = CountedTensor if isinstance(known.type, TensorType) else CountedSequence
    return kind(known, origin)


def _origin(value: Value) -> Origin:
    made = recorded(value)
    assert isinstance(made, CountedTensor | CountedSequence), made
    return made.origin
