"""Targets of operator calls: the two protocols of targets, and the target that is in force.

The targets themselves (a graph being built, a runtime) live above and register from outside.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol

import numpy as np

from onnxsmith.core.recording import FunctionHead, OpsetChoice, RecordedBody, RecordedFunction
from onnxsmith.errors import LeakedValueError
from onnxsmith.registry import load_module
from onnxsmith.schema.definition import OperatorDef
from onnxsmith.schema.foreign_arrays import ForeignArray
from onnxsmith.schema.inference.known import Known
from onnxsmith.schema.promote import Place as InputPlace
from onnxsmith.source import Place
from onnxsmith.types.value_types import AnyValueType

if TYPE_CHECKING:
    from onnxsmith.core.operator_protocols import AnyOperator, StandardOperators
    from onnxsmith.core.stored import Stored
    from onnxsmith.core.value import Operand, Value


class OperatorCall(NamedTuple):
    """A call as a target gets it: bound, promoted, and inferred where the target asks for that. Nothing changes one."""

    op: OperatorDef
    #: The opset asked of; None when Python's syntax chose the operator.
    version: int | None
    #: The inputs as the target takes them; None where one is left out.
    inputs: Sequence[Any]
    #: In normal form, as `schema.attributes` reads them. One may be an `AttributeReference`; a graph is what
    #: `finish_body` gave, a proto, or, on a target that runs, a function.
    attributes: Mapping[str, Any]
    output_count: int
    #: What is known of the outputs; empty unless the target `needs_inference`.
    outputs: Sequence[Known]


#: A call of its six parts. Every call of a model makes one, for which the class's own constructor takes twice as long.
new_call: Callable[
    [tuple[OperatorDef, int | None, Sequence[Any], Mapping[str, Any], int, Sequence[Known]]], OperatorCall
] = functools.partial(tuple.__new__, OperatorCall)  # pyright: ignore[reportUnknownMemberType]  # of any tuple


class Target(Protocol):
    """Where a bound, promoted call goes: something runs it, or records it.

    The pipeline (`core.call`) matches arguments with the schema, converts literals and works out types; a target gets
    what is left. Nothing of it need be repeated, and nothing of a target's is known elsewhere. To write one:

    - `constant`, `stored` and `sequence` turn what the user wrote (an array, a weight, a list) into inputs as `emit`
      takes them. Where calls are inferred every input is a `Value`, so that there is a `known`; else anything will do.
    - `emit` is the call. It gives as many outputs as it is asked for. A target that runs is given functions as the
      bodies of control flow; for one that records the pipeline makes bodies of them before.
    - `operators` are those that Python's `+`, indexing and the like are made of; `Operators(version)` will do.
    - `learn` may do nothing.

    A target is in force while it is set as `ACTIVE`; operators on a symbolic value go to the value's own. One that
    records a graph, so that scripts can be staged on it, is a `RecordingTarget`.
    """

    #: Whether dtype and shape are worked out before every `emit`. A runtime asks only for calls that are new or fail.
    needs_inference: ClassVar[bool]

    @property
    def is_exact(self) -> bool:
        """True if nodes are made as they are written, and no others: nothing is cast, folded or shared."""
        ...

    @property
    def mixes_dtypes(self) -> bool:
        """True if Python's operators take values of several element types, as numpy's arrays do."""
        ...

    @property
    def recording(self) -> RecordingTarget | None:
        """The target itself if it records a graph; None if it runs."""
        ...

    @property
    def operators(self) -> StandardOperators:
        """The standard operators that Python's own operators, indexing and methods are made of."""
        ...

    def constant(self, array: np.ndarray[Any, Any]) -> Any:
        """An array as an input of a call on this target."""
        ...

    def stored(self, value: Stored) -> Any:
        """A weight as an input of a call on this target."""
        ...

    def sequence(self, elements: Sequence[Any]) -> Any:
        """A Python list as an input that takes an ONNX sequence."""
        ...

    def emit(self, call: OperatorCall) -> tuple[Any, ...]:
        """Perform the call."""
        ...

    def learn(
        self, operator: AnyOperator, args: tuple[Any, ...], kwargs: dict[str, Any], call: OperatorCall
    ) -> None:
        """Told of arguments and their call after `emit` succeeded, to answer a call of the same form at once.

        Not of a call whose form the pipeline itself remembers, for all targets that record.
        """
        ...


class RecordingTarget(Target, Protocol):
    """A graph being recorded: the outermost one, one inside it, or the body of a function.

    To write one, write a `Target` whose `needs_inference` is true and whose `recording` is itself, and then what stands
    here. There is one target per graph: `subgraph` makes the one of a branch or a loop's body, which sees the values of
    the graphs around it; `function` makes one that sees nothing. Whoever makes a graph puts it in force (`ACTIVE`),
    calls operators, and ends it: with `finish_body`, `finish_function`, or, for the outermost, as its class likes.

    Its values are subclasses of `Tensor` and `TensorSequence` with `is_symbolic = True`, and have besides `known` and
    `target` a `name` and a `span`, the place in the user's source or None. A tensor's `as_number` is
    `semantics.number.number(self)`; its `as_shape` is a vector whose elements are numbers. Where a value comes in, it
    may also be a number or an attribute of a function: `recorded(value)` is the target's own behind it.

    Work may be taken back. A draft's calls count when it is kept, and not when it is discarded; a graph that is
    discarded, or dropped without being finished, leaves nothing. What is held for all graphs together (constants,
    names, functions) goes back to where it was when what `checkpoint` gave is called.
    """

    #: The place in the user's code of the next call, where the front end knows it; None for the stack to be read.
    caller: Place | None

    @property
    def depth(self) -> int:
        """How many graphs are around it; a draft is as deep as its graph."""
        ...

    @property
    def opset(self) -> OpsetChoice:
        """The opset that this graph, or its function, started from; a function that names none starts from it."""
        ...

    @property
    def shared(self) -> dict[Hashable, Any]:
        """The memory of front ends while one model is made: the same for all its graphs and functions."""
        ...

    @property
    def dimensions(self) -> Iterable[str]:
        """The names of dimensions that the inputs of the outermost graph have."""
        ...

    @property
    def is_lenient(self) -> bool:
        """True if a given model is taken as it is: a call that cannot work is made all the same, with a warning."""
        ...

    def input(
        self, name: str, kind: AnyValueType, place: Place | None = None, *, is_declared: bool = True
    ) -> Value:
        """A new input, and where it comes from; an exact graph may leave undeclared what type it has."""
        ...

    def lift(self, value: Operand | None) -> Value:
        """Anything a user may return or pass, as a value of this graph; what is symbolic stays as it is."""
        ...

    def owns(self, value: Value) -> bool:
        """True if the value was made in this very graph."""
        ...

    def sees(self, value: Value) -> bool:
        """True if the value can be used here: it was made in this graph or in one around it."""
        ...

    def is_given(self, value: Value) -> bool:
        """True if no call made the value: an input, a constant or a weight."""
        ...

    def subgraph(self) -> RecordingTarget:
        """A graph inside this one."""
        ...

    @property
    def is_empty(self) -> bool:
        """True if no call was made in this very graph."""
        ...

    @property
    def is_harmless(self) -> bool:
        """True if all calls made in this very graph are harmless, as `core.harmless` has it."""
        ...

    def draft(self) -> RecordingTarget:
        """Calls for this graph that are not certain yet: until `keep` or `discard`."""
        ...

    def keep(self) -> None:
        """Make the calls of this draft, and its values, those of the graph that it is a draft of."""
        ...

    def discard(self) -> None:
        """Forget the calls of this graph."""
        ...

    def checkpoint(self) -> Callable[[], None]:
        """Remember what is held for all graphs; the function returned brings it back, for an attempt that failed."""
        ...

    def outputs_of(self, values: Sequence[Value]) -> list[Value]:
        """Values as outputs of the outermost graph: one that is given, or comes twice, gets an `Identity`."""
        ...

    def refined(self, value: Value, kind: AnyValueType) -> Value:
        """An output with a type that says more than what is known of it."""
        ...

    def finish_body(
        self,
        values: Sequence[Operand | None],
        title: str,
        declared: Sequence[AnyValueType | None] | None = None,
    ) -> RecordedBody:
        """This subgraph as a body. A value that was not made in it, or comes twice, gets an `Identity`.

        `declared` are the types that an exact body says its outputs have, None where it says nothing.
        """
        ...

    def suggest_name(self, value: Value, wish: str) -> None:
        """Call a value of this graph as the user's variable is called; the first wish counts."""
        ...

    def hand_name_on(self, value: Value, to: Value, suffix: str) -> None:
        """Call what stands for a value in the outputs as the value is called, which gets a suffix."""
        ...

    def name_results(
        self, outputs: Sequence[Value], wishes: Sequence[str], bodies: Sequence[tuple[RecordedBody, str]]
    ) -> None:
        """Call outputs of control flow as the user's variables; what the bodies called so gets a suffix."""
        ...

    def function(
        self, opset: OpsetChoice, *, is_exact: bool, is_lenient: bool, mixes_dtypes: bool = False
    ) -> RecordingTarget:
        """The body of a new function of the same model, which shares `shared`; constants belong to the body."""
        ...

    def finish_function(self, outputs: Sequence[Value], head: FunctionHead) -> RecordedFunction:
        """This body as a function. Nothing holds it yet: it may never be called."""
        ...

    def call_function(
        self,
        function: RecordedFunction,
        inputs: Sequence[Value | None],
        attributes: Mapping[str, Any],
        outputs: Sequence[Known],
    ) -> tuple[Value, ...]:
        """Call a function, which the model then holds with those that it calls itself.

        It is one that this class of target finished, or, for a finished model that is called, a
        `graphs.function.FunctionBody`.
        """
        ...


#: The target that an enclosing trace or script set; None where operators simply run.
ACTIVE: ContextVar[Target | None] = ContextVar("onnxsmith_active_target", default=None)

#: Where operators run unless somebody says otherwise; its module is imported on first use, and registers it.
_default: Target | None = None
_make_default: Callable[[], Target] | None = None
_adopt: Callable[[Any, InputPlace], Value] | None = None


def register_default(make: Callable[[], Target], adopt: Callable[[Any, InputPlace], Value]) -> None:
    """Say how the target of ordinary eager calls is made, on first use, and tensors of other libraries' arrays."""
    global _make_default, _adopt  # set once, by the package itself
    _make_default, _adopt = make, adopt


def adopted(value: ForeignArray, place: InputPlace) -> Value:
    """The running tensor over the memory of another library's array, on the device where it lies."""
    default_target()
    assert _adopt is not None, "the module of the default target registers it"
    return _adopt(value, place)


def default_target() -> Target:
    """The target of calls outside any trace or script."""
    global _default
    if _default is None:
        if _make_default is None:
            load_module("default target")
        assert _make_default is not None, "the module of the default target registers it"
        _default = _make_default()
    return _default


def target_of(values: Sequence[Any]) -> Target:
    """The target a call belongs to: the active one, that of a symbolic input, or the default."""
    active = ACTIVE.get()
    if active is not None:
        return active
    for value in values:
        if getattr(value, "is_symbolic", False):
            owner: Value = value
            return owner.target
    return default_target()


def current_graph() -> RecordingTarget:
    """The graph that is being recorded."""
    active = ACTIVE.get()
    recording = None if active is None else active.recording
    if recording is None:
        raise LeakedValueError(
            "no graph is being made here, and this belongs to one",
            help="what belongs to a function that is being recorded can be used only while it is; "
            "return what is needed outside of it",
        )
    return recording


def recorded(value: Value) -> Value:
    """The value that a target made, behind a number or an attribute of a function."""
    return getattr(value, "tensor", value)
