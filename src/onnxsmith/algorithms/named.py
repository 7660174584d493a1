"""`@algorithm`: a function on tensors that is recorded as a call of an ONNX function of its name.

Gradients, the decompiler and the viewer read the name. A form of a function (element types, ranks, and all arguments
that are no tensors) is defined once in a model, for sizes that are open; a function whose nodes depend on sizes says
so. Where a model is to have no functions (`inline_algorithms`), the nodes stand in the place of the call.
"""

from __future__ import annotations

import functools
import hashlib
import inspect
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ParamSpec, TypeVar, cast, overload

from onnxsmith.algorithms.arguments import Leaf, Unnamed, filled_in, taken_apart
from onnxsmith.algorithms.values import SIZE_READER
from onnxsmith.context import setting
from onnxsmith.core.recording import FunctionHead, OpsetChoice, RecordedFunction
from onnxsmith.core.semantics.dimensions import dimension
from onnxsmith.core.target import ACTIVE, RecordingTarget, current_graph, recorded
from onnxsmith.core.value import Value
from onnxsmith.graphs.function import FORM_SEPARATOR, body_of
from onnxsmith.graphs.named_functions import is_same, named_functions
from onnxsmith.graphs.records import FunctionRecord
from onnxsmith.graphs.value import SymbolicTensor
from onnxsmith.schema.inference import symbolic
from onnxsmith.schema.inference.known import Known
from onnxsmith.types.value_types import Dimension, TensorType

P = ParamSpec("P")
R = TypeVar("R")

#: The domain of the functions.
DOMAIN = "onnxsmith.algorithms"
#: Static arguments whose text is longer than this are named by a digest.
_LONGEST = 48

#: Under which the shared memory of a model says that algorithms are inlined in it.
_INLINED = "algorithms are inlined"
#: What it says of which: all, or those whose gradient is that of their nodes.
_ALL, _FOR_TRAINING = "all", "for training"
#: Under which it has what was made of algorithms: functions by form, and what comes out of them by types.
_MADE = "algorithms"
#: Under which that has the names that are taken.
_NAMES = "names"


def inline_algorithms(scope: RecordingTarget, *, is_training: bool = False) -> None:
    """Say that a model that is being recorded shall have the nodes of algorithms in the places of their calls.

    In a model that is to be trained, those with a gradient of their own keep their names, by which it is found.
    """
    scope.shared[_INLINED] = _FOR_TRAINING if is_training else _ALL


def algorithm_of(domain: str, name: str) -> str | None:
    """The name of the algorithm that an ONNX function is a form of; None for all other functions."""
    return name.partition(FORM_SEPARATOR)[0] if domain == DOMAIN else None


@overload
def algorithm(function: Callable[P, R], /) -> Callable[P, R]: ...
@overload
def algorithm(
    *, name: str | None = None, by_size: bool = False, has_gradient: bool = False
) -> Callable[[Callable[P, R]], Callable[P, R]]: ...
def algorithm(
    function: Callable[..., Any] | None = None,
    /,
    *,
    name: str | None = None,
    by_size: bool = False,
    has_gradient: bool = False,
) -> Any:
    """Make a function of tensors one that is recorded by its name.

    `by_size` says that its nodes depend on the sizes of its arguments where they are known. `has_gradient` says that
    there is a rule for it: its nodes come near a result by steps, or choose between formulas, so that a gradient
    through them is not always that of the function. Or such a gradient goes over tensors more often than it has to.
    A call with an argument that is neither a tensor nor has a text (a function, say) is inlined.
    """
    if function is None:
        return functools.partial(algorithm, name=name, by_size=by_size, has_gradient=has_gradient)
    made = _Algorithm(function, name or function.__name__, inspect.signature(function), by_size)

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        scope = current_graph()
        inlined = scope.shared.get(_INLINED)
        if inlined == _ALL or (inlined == _FOR_TRAINING and not has_gradient):
            return function(*args, **kwargs)
        return made.call(scope, args, kwargs)

    return call


@dataclass(frozen=True, slots=True, eq=False)
class _Algorithm:
    """A function and what it is recorded as."""

    function: Callable[..., Any]
    name: str
    signature: inspect.Signature
    by_size: bool

    def call(self, scope: RecordingTarget, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        """The result of a call: outputs of a node that calls the function."""
        bound = self.signature.bind(*args, **kwargs)
        bound.apply_defaults()
        leaves: list[Leaf] = []
        try:
            form = {key: taken_apart(value, key, leaves) for key, value in bound.arguments.items()}
        except Unnamed:
            return self.function(*args, **kwargs)
        kinds = [each.value.known.type for each in leaves]
        if not leaves or not all(map(_is_plain, kinds)):
            return self.function(*args, **kwargs)
        made: dict[Hashable, Any] = scope.shared.setdefault(_MADE, {})
        opened = [self._opened(each, kind) for each, kind in zip(leaves, kinds, strict=True)]
        version = scope.operators.version
        key = (self, version, tuple(map(repr, opened)), tuple((key, each.text) for key, each in form.items()))
        found: _Form | None = made.get(key)
        if found is None:
            found = made[key] = self._form(scope, leaves, opened, form, made.setdefault(_NAMES, set[str]()))
        exactly = (key, tuple(repr(each.value.known) for each in leaves))
        outputs: tuple[Known, ...] | None = made.get(exactly)
        if outputs is None:
            outputs = made[exactly] = self._outputs(scope, leaves, form, found)
        inputs = [recorded(each.value) for each in leaves]
        results = scope.call_function(found.function, inputs, {}, outputs)
        return filled_in(found.result, iter(results))

    def _opened(self, leaf: Leaf, kind: Any) -> TensorType:
        """The type that a body is recorded for: sizes are open, but that of nothing is not."""
        shape: tuple[Dimension, ...] = kind.shape
        return TensorType(
            kind.dtype,
            tuple(
                size if size == 0 or (self.by_size and isinstance(size, int)) else f"{leaf.name}_{axis}"
                for axis, size in enumerate(shape)
            ),
        )

    def _named(self, types: Sequence[TensorType], texts: dict[str, str]) -> str:
        """The name with its form, which tells it from others: `sort__float_2d__axis_1`."""
        parameters = self.signature.parameters
        static = [
            f"{key}_{text}" if text else ""
            for key, text in texts.items()
            if text and text != _default_text(parameters[key])
        ]
        settings = "_".join(static)
        if len(settings) > _LONGEST:
            settings = hashlib.sha256(settings.encode()).hexdigest()[:12]
        parts = [self.name, "_".join(map(_type_text, types)), settings]
        return FORM_SEPARATOR.join(filter(None, parts))

    def _form(
        self,
        scope: RecordingTarget,
        leaves: Sequence[Leaf],
        types: Sequence[TensorType],
        form: dict[str, Any],
        taken: set[str],
    ) -> _Form:
        """The function for a form, under a name that no other definition has in the model."""
        held = named_functions(scope)
        while True:
            # Only an opset that became another one on the way makes two forms of one name.
            name = unused(self._named(types, {key: each.text for key, each in form.items()}), taken)
            found = self._recorded(scope, leaves, types, form, name)
            body = body_of(found.function)
            same = held.setdefault(body.function.identifier(), body.function)
            if same is body.function:
                return found
            if is_same(same, body.function):  # a model that is called has it, too
                return replace(found, function=replace(body, function=same))

    def _recorded(
        self,
        scope: RecordingTarget,
        leaves: Sequence[Leaf],
        types: Sequence[TensorType],
        form: dict[str, Any],
        name: str,
    ) -> _Form:
        """The body for types, as a function."""
        body, inputs = _begun(scope, leaves, types)
        # Its dimensions have names of their own: what a program declares is not said of them.
        with setting(symbolic.DECLARED, None):
            result, values = self._run(body, inputs, form)
        with setting(ACTIVE, body):  # an input that is given back gets a node
            outputs = body.outputs_of(values)
        function = body.finish_function(outputs, FunctionHead(DOMAIN, name))
        record = body_of(function).function
        assert isinstance(record, FunctionRecord)  # what a graph has recorded
        for node in record.graph.all_nodes():
            node.place = None  # it is called from many places
        return _Form(function, result, tuple(each.known for each in outputs))

    def _outputs(
        self, scope: RecordingTarget, leaves: Sequence[Leaf], form: dict[str, Any], found: _Form
    ) -> tuple[Known, ...]:
        """The facts of the outputs for these very inputs; found by recording a body that is then forgotten."""
        knowns = [each.value.known for each in leaves]
        if all(each.data is None and cast(TensorType, each.type).shape == () for each in knowns):
            return found.outputs
        body, inputs = _begun(scope, leaves, [cast(TensorType, each.type) for each in knowns])
        informed = [
            SymbolicTensor(each.record, known, each.scope, None)
            for each, known in zip(cast("list[SymbolicTensor]", inputs), knowns, strict=True)
        ]
        _, values = self._run(body, informed, form)
        body.discard()
        return tuple(each.known for each in values)

    def _run(
        self, body: RecordingTarget, inputs: Sequence[Value], form: dict[str, Any]
    ) -> tuple[Any, list[Value]]:
        """The result of the function on inputs of a body, taken apart."""
        active, reader = ACTIVE.set(body), SIZE_READER.set(dimension)
        try:
            given = iter(inputs)
            arguments = inspect.BoundArguments(
                self.signature,
                cast(Any, {key: filled_in(each, given) for key, each in form.items()}),
            )
            result = self.function(*arguments.args, **arguments.kwargs)
            leaves: list[Leaf] = []
            parts = taken_apart(result, "result", leaves)
            return parts, [recorded(each.value) for each in leaves]
        finally:
            SIZE_READER.reset(reader)
            ACTIVE.reset(active)


@dataclass(frozen=True, slots=True)
class _Form:
    """A function that was recorded, how its results are put together, and what is known of them for open sizes."""

    function: RecordedFunction
    result: Any
    outputs: tuple[Known, ...]


def _begun(
    scope: RecordingTarget, leaves: Sequence[Leaf], types: Sequence[TensorType]
) -> tuple[RecordingTarget, list[Value]]:
    """A new body and its inputs."""
    choice = scope.opset
    opset = OpsetChoice(scope.operators.version, is_fixed=choice.is_fixed, is_named=choice.is_named)
    body = scope.function(opset, is_exact=False, is_lenient=False)
    return body, [body.input(leaf.name, kind) for leaf, kind in zip(leaves, types, strict=True)]


def unused(name: str, taken: set[str]) -> str:
    """A name that is not taken yet, and is from now on: with a number behind it if it has to be.

    >>> taken = set()
    >>> unused("sort", taken), unused("sort", taken)
    ('sort', 'sort__2')
    """
    found, number = name, 1
    while found in taken:
        number += 1
        found = f"{name}{FORM_SEPARATOR}{number}"
    taken.add(found)
    return found


def _is_plain(kind: object) -> bool:
    return isinstance(kind, TensorType) and kind.dtype is not None and kind.shape is not None


def _type_text(kind: TensorType) -> str:
    assert kind.dtype is not None
    assert kind.shape is not None
    name = kind.dtype.name.lower()
    if any(isinstance(each, int) for each in kind.shape):
        return f"{name}_{'x'.join(str(each) if isinstance(each, int) else 'n' for each in kind.shape)}"
    return f"{name}_{len(kind.shape)}d"


def _default_text(parameter: inspect.Parameter) -> str | None:
    if parameter.default is inspect.Parameter.empty:
        return None
    return taken_apart(parameter.default, parameter.name, []).text
