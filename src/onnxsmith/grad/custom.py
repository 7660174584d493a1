"""`stop_gradient`, `custom_gradient`, `checkpoint`, `in_training`: what a program says of its gradient and its use.

In a model each is a call of a function of the domain `onnxsmith.grad`, whose name says which it is, so that it survives
saving. The backward function of a custom gradient is another function of the model. Rules for them are in
`rules.marks`; where operators run at once, nothing is said. Functions of numpy code get arrays and give arrays: they
are called as they are, and not staged, so that no branch or loop of the model stands in them.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from onnxsmith.algorithms.named import unused
from onnxsmith.context import setting
from onnxsmith.core.demands import noting
from onnxsmith.core.operands import in_numpy_code
from onnxsmith.core.recording import FunctionHead, OpsetChoice
from onnxsmith.core.semantics.number import Number
from onnxsmith.core.target import ACTIVE, RecordingTarget, recorded
from onnxsmith.core.value import TensorValue, Value
from onnxsmith.core.value_containers import MOMENTS, Carried, Carrier, Wall
from onnxsmith.diagnostics import described_type
from onnxsmith.errors import CallError, boundary
from onnxsmith.errors.arguments import takes
from onnxsmith.grad.binding import Bound, bind
from onnxsmith.grad.target import DOMAIN
from onnxsmith.graphs.builder import GraphTarget
from onnxsmith.graphs.captured import Captures
from onnxsmith.graphs.function import BACKWARD_OF, IN_USE_OF, TRAINING_DOMAIN, FunctionBody, body_of
from onnxsmith.graphs.value import made_value
from onnxsmith.schema.inference.broadcasting import contradict
from onnxsmith.scripting.staging.structure import parts, rebuilt
from onnxsmith.tracing.trace import definition_span

#: Under which a model remembers the names of its functions that say something.
_NAMES = "functions of gradients"


@boundary
def stop_gradient(x: Any) -> Any:
    """The value itself, as a constant for all gradients: none goes through it.

    >>> import numpy as np
    >>> from onnxsmith.grad import grad, stop_gradient
    >>> grad(lambda x: (x * stop_gradient(x)).sum())(np.float32([2, 3]))
    array([2., 3.], dtype=float32)
    """
    scope = _graph()
    if scope is None or not holds_open(x):
        return x
    inner = parts(x)
    if inner is not None:
        return rebuilt(x, [stop_gradient(each) for _, each in inner])
    return _call(scope, "stop_gradient", _same, [x])


def _same(value: object) -> object:
    return value


@boundary
def checkpoint(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, whose values are computed again on the way back instead of being kept: less memory, more time.

    >>> import numpy as np
    >>> from onnxsmith.grad import checkpoint, grad
    >>> block = checkpoint(lambda x: (x * x) * x)
    >>> grad(lambda x: block(x).sum())(np.float32([1, 2]))
    array([ 3., 12.], dtype=float32)
    """
    _check(function, "checkpoint")

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        scope = _graph_of(args, kwargs)
        if scope is None:
            return function(*args, **kwargs)
        bound = bind(function, args, kwargs)
        return _call(scope, "checkpoint", _positional(function, bound), bound.values)

    return call


@boundary
def custom_gradient(function: Callable[..., Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A function with a gradient of its own: `custom_gradient(function)(backward)`.

    `backward` is called with the cotangents of the results and then with the arguments, and returns a cotangent for
    each argument, of its shape and element type; None for zero.

    >>> import numpy as np
    >>> from onnxsmith import opset21 as op
    >>> from onnxsmith.grad import custom_gradient, grad
    >>> rounded = custom_gradient(lambda x: op.Round(x))(lambda g, x: g)
    >>> grad(lambda x: (rounded(x) * x).sum())(np.float32([1.25]))
    array([2.25], dtype=float32)
    """
    _check(function, "custom_gradient")

    def with_backward(backward: Callable[..., Any]) -> Callable[..., Any]:
        _check(backward, "custom_gradient(function)")

        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            scope = _graph_of(args, kwargs)
            if scope is None:
                return function(*args, **kwargs)
            bound = bind(function, args, kwargs)
            for each in (*args, *kwargs.values()):
                if holds_open(each) and not is_open(each):
                    raise CallError(
                        f"a function with a gradient of its own is given a {type(each).__name__} of values",
                        help="give each as an argument of its own: f(*parts)",
                    )
            return _call(scope, "custom", _positional(function, bound), bound.values, backward)

        return call

    return with_backward


@boundary
def in_training(function: Callable[..., Any], in_use: Callable[..., Any], *args: Any) -> Any:
    """The result of a function of the arguments, which is that of another function when training is over.

    Both take the same arguments and give as many results. `onnxsmith.training.model_in_use`, and so `Trainer.model`,
    puts the second in the place of the first. On arrays the first is called.

    >>> import numpy as np
    >>> from onnxsmith import FLOAT, trace
    >>> from onnxsmith.grad import in_training
    >>> from onnxsmith.training import model_in_use
    >>> model = trace(lambda x: in_training(lambda v: v - v.mean(), lambda v: v - 2.0, x), FLOAT["N"])
    >>> x = np.float32([1, 3, 5])
    >>> model(x), model_in_use(model)(x)
    (array([-2.,  0.,  2.], dtype=float32), array([-1.,  1.,  3.], dtype=float32))
    """
    _check(function, "in_training")
    _check(in_use, "in_training(function, in_use)")
    scope = _graph_of(args, {})
    if scope is None:
        return function(*args)
    return _call(scope, "in_training", function, args, in_use=in_use)


def _positional(function: Callable[..., Any], bound: Bound) -> Callable[..., Any]:
    """The function of all its arguments by position, however they were given."""

    @functools.wraps(function)
    def call(*values: Any) -> Any:
        args, kwargs = bound.handed(values)
        return function(*args, **kwargs)

    return call


def _check(function: object, name: str) -> None:
    if not callable(function):
        raise CallError(f"{name} needs a function, not {described_type(type(function))}")


def _graph() -> GraphTarget | None:
    """The graph that is being recorded; None where operators run."""
    active = ACTIVE.get()
    graph = None if active is None else active.recording
    assert graph is None or isinstance(graph, GraphTarget)  # what records models
    return graph


def _graph_of(args: Sequence[Any], kwargs: Mapping[str, Any]) -> GraphTarget | None:
    """The graph that a call is recorded in; None where it has no values of it, or operators run."""
    scope = _graph()
    return scope if scope is not None and any(map(holds_open, (*args, *kwargs.values()))) else None


def _call(
    scope: GraphTarget,
    kind: str,
    function: Callable[..., Any],
    args: Sequence[Any],
    backward: Callable[..., Any] | None = None,
    in_use: Callable[..., Any] | None = None,
) -> Any:
    """A node that calls the function, as one of the domain, on those arguments that only the model has."""
    domain = DOMAIN if in_use is None else TRAINING_DOMAIN
    given = [argument(each, scope) for each in args]
    flat = [value for each in given for value in each.values]
    name = unused(kind, scope.shared.setdefault(_NAMES, set[str]()))
    body, results, is_single = _body(scope, given, function, [f"input_{k}" for k in range(len(flat))])
    found = [_needed(each) for each in results]
    values = [value for each in found for value in each.values]
    back = None if backward is None else _recorded_backward(scope, body, backward, found, given)
    use = None if in_use is None else _recorded_use(scope, body, in_use, given)
    made = _finished(body, values, name, domain)
    read = _captures(body).values
    if use is not None:
        found_in_use = [value for each in use[1] for value in each.values]
        if len(found_in_use) != len(values):
            raise CallError(
                f"the function for training gives {len(values)} results, and that in use {len(found_in_use)}",
                help="in_training(function, in_use, x): both take the same arguments and give as many results",
            )
        _keep(scope, _finished(use[0], found_in_use, f"{IN_USE_OF}{name}", domain))
    outputs = iter(scope.call_function(made, [*flat, *read], {}, [each.known for each in values]))
    if backward is not None and back is not None:
        _keep(scope, _backward(backward, back, given, name))
    whole = tuple(each.made_of(outputs) for each in found)
    return whole[0] if is_single else whole


def _recorded_use(
    scope: GraphTarget, forward: GraphTarget, in_use: Callable[..., Any], given: Sequence[Flattened]
) -> tuple[GraphTarget, list[Flattened]]:
    """The body of a function in use; what either body reads from around it is an input of both, in one order."""
    scope.program.opsets.include(forward.program.opsets)
    read = list(_captures(forward).values)
    names = [f"input_{k}" for k in range(sum(len(each.values) for each in given))]
    body, found, _ = _body(scope, given, in_use, names, read)
    for each in _captures(body).values[len(read) :]:
        forward.own(each)
    return body, [_needed(each) for each in found]


def _captures(body: GraphTarget) -> Captures:
    assert body.program.captures is not None  # `_body` has made it with them
    return body.program.captures


def _needed(result: Flattened | None) -> Flattened:
    if result is None:
        raise CallError(
            "a function that says something about its gradient gives arrays or tensors, and not None"
        )
    return result


@dataclass(frozen=True, slots=True)
class _Backward:
    """The body of a backward function, and what it gives for each argument."""

    body: GraphTarget
    cotangents: list[Flattened | None]


def _recorded_backward(
    scope: GraphTarget,
    forward: GraphTarget,
    backward: Callable[..., Any],
    results: Sequence[Flattened],
    given: Sequence[Flattened],
) -> _Backward:
    """The backward function of a custom gradient. It is called with all that the function itself has read.

    So what either of them reads from around it is an input of both, in one order.
    """
    wanted = len(results) + len(given)
    if not takes(backward, wanted):
        raise CallError(
            f"the backward function is called with {wanted} arguments, and does not take so many",
            help=f"it takes the cotangents of {len(results)} results, then the {len(given)} arguments of the function",
        ).also(definition_span(backward), "the backward function")
    # It is of the opset that the graph has with a call of the function.
    scope.program.opsets.include(forward.program.opsets)
    counts = [sum(len(each.values) for each in part) for part in (results, given)]
    read = list(_captures(forward).values)
    names = [
        *(f"cotangent_{k}" for k in range(counts[0])),
        *(f"input_{k}" for k in range(counts[1])),
    ]
    body, found, _ = _body(scope, [*results, *given], backward, names, read)
    for each in _captures(body).values[len(read) :]:
        forward.own(each)
    return _Backward(body, found)


def _backward(
    backward: Callable[..., Any], recorded: _Backward, given: Sequence[Flattened], name: str
) -> FunctionBody:
    """The backward function, finished; its outputs are called by the inputs that they are for."""
    body, found = recorded.body, recorded.cotangents
    if len(found) != len(given):
        raise CallError(
            f"the backward function returns {len(found)} cotangents, and the function has {len(given)} arguments"
        )
    place, places, outputs = 0, list[int](), list[Value]()
    for number, (one, cotangent) in enumerate(zip(given, found, strict=True)):
        if cotangent is not None and one.values:  # what is known has no gradient
            _check_cotangent(backward, number, one, cotangent)
            places += range(place, place + len(one.values))
            outputs += cotangent.values
        place += len(one.values)
    made = _finished(body, outputs, f"{BACKWARD_OF}{name}")
    for k, value in zip(places, made.function.outputs, strict=True):
        value.name = f"cotangent_of_{k}"
    return made


def _check_cotangent(
    backward: Callable[..., Any], number: int, argument_: Flattened, cotangent: Flattened
) -> None:
    """Refuse a cotangent that is known to be no tensor like its argument."""
    wanted, found = ([value.known.type for value in each.values] for each in (argument_, cotangent))
    if len(wanted) == len(found) and not any(contradict(*pair) for pair in zip(wanted, found, strict=True)):
        return
    shown = [" and ".join(map(repr, each)) for each in (found, wanted)]
    raise CallError(
        f"the backward function gives a cotangent of {shown[0]} for argument {number}, which is {shown[1]}",
        help="a cotangent has the shape and the element type of its argument: sum over what was broadcast, "
        "fill or cast to what the argument has; None is for zero",
    ).also(definition_span(backward), "the backward function")


def _body(
    scope: GraphTarget,
    given: Sequence[Flattened],
    function: Callable[..., Any],
    names: Sequence[str],
    read: Sequence[Value] = (),
) -> tuple[GraphTarget, list[Flattened | None], bool]:
    """A function's body that was recorded, what it gives, and whether that is one result.

    `read` are values from around it that it has an input for in any case.
    """
    choice = scope.opset
    opset = OpsetChoice(scope.operators.version, is_fixed=choice.is_fixed, is_named=choice.is_named)
    body = scope.function(opset, is_exact=False, is_lenient=False, mixes_dtypes=scope.mixes_dtypes)
    body.program.captures = Captures(scope.reaches)
    values = [value for each in given for value in each.values]
    inputs = iter([body.input(name, each.known.type) for name, each in zip(names, values, strict=True)])
    for each in read:
        body.own(each)
    with setting(ACTIVE, body):
        # What numpy would raise for some values is noted outside of the body, where these are not to be seen.
        with Wall(), noting(None):
            args = [each.made_of(inputs) for each in given]
            begin = next(MOMENTS)
            whole = function(*args)
            is_single = not isinstance(whole, tuple | list)
            many = [whole] if is_single else list(cast("Sequence[Any]", whole))
            found = [None if each is None else result(each, body, begin) for each in many]
        outputs = iter(
            body.outputs_of([value for each in found if each is not None for value in each.values])
        )
        return (
            body,
            [
                None if each is None else Flattened([next(outputs) for _ in each.values], each.made)
                for each in found
            ],
            is_single,
        )


def _finished(body: GraphTarget, values: Sequence[Value], name: str, domain: str = DOMAIN) -> FunctionBody:
    return body_of(body.finish_function([made_value(each) for each in values], FunctionHead(domain, name)))


def _keep(scope: GraphTarget, made: FunctionBody) -> None:
    """Let the model hold a function that none of its nodes calls."""
    functions = scope.program.functions
    for identifier, each in (*made.called.items(), (made.function.identifier(), made.function)):
        functions.setdefault(identifier, each)
    scope.program.opsets.include(made.opsets)


# -- arguments and results of users' functions -----------------------------------------------------------

# In scripts and traces they are tensors and numbers; in numpy code arrays that hold tensors, and functions
# get such arrays and give them. Arrays are known by what a `Carrier` can be asked: which class they are is
# no matter here.

_SHARED = "it may be an array from around a function that says something about its gradient"


@dataclass(frozen=True, slots=True)
class Flattened:
    """An argument or a result of a function: the values in it, and a function that rebuilds it of other values."""

    values: list[Value]
    made: Callable[[Sequence[Value]], object]

    def made_of(self, values: Iterator[Value]) -> object:
        """The like of the next values."""
        return self.made([next(values) for _ in self.values])


def is_open(value: object) -> bool:
    """True if only the model has a value."""
    return value.is_symbolic if isinstance(value, Carrier) else isinstance(value, Value)


def holds_open(value: object) -> bool:
    """True if a value, or one in a container, is one that only the model has."""
    inner = parts(cast(Any, value))
    return is_open(value) if inner is None else any(holds_open(each) for _, each in inner)


def argument(value: object, graph: RecordingTarget) -> Flattened:
    """The values in an argument; known values stay as they are, also within lists, tuples and dicts."""
    if not holds_open(value):
        return Flattened([], lambda given: value)
    inner = parts(cast(Any, value))
    if inner is None:
        return _flattened(value, graph, is_shared=True)
    items = [argument(each, graph) for _, each in inner]

    def made(given: Sequence[Value]) -> object:
        left = iter(given)
        return rebuilt(cast(Any, value), [cast(Any, each.made_of(left)) for each in items])

    return Flattened([each for item in items for each in item.values], made)


def result(value: object, graph: RecordingTarget, begin: int) -> Flattened:
    """The values in a result of a function that began at a moment: older ones came from its arguments."""
    value = in_numpy_code(value)
    return _flattened(value, graph, is_shared=isinstance(value, Carrier) and value.owner.born < begin)


def _flattened(value: object, graph: RecordingTarget, *, is_shared: bool) -> Flattened:
    if isinstance(value, Carrier):
        return _of_carrier(value, graph, is_shared=is_shared)
    if isinstance(value, Number):
        kind = value.kind
        return Flattened([recorded(value)], lambda given: Number(cast(TensorValue, given[0]), kind))
    if value is None or parts(cast(Any, value)) is not None:
        raise CallError(
            "a function that says something about its gradient gives arrays or tensors, or a tuple of them, and not "
            f"{value!r}"
        )
    return Flattened([recorded(graph.lift(cast(Any, value)))], lambda given: given[0])


def _of_carrier(carrier: Carrier, graph: RecordingTarget, *, is_shared: bool) -> Flattened:
    held, traits, kind = carrier.carried, carrier.traits, type(carrier)
    names = tuple(held)

    def made(given: Sequence[Value]) -> object:
        found = kind.made_of(traits, cast("dict[str, Carried]", dict(zip(names, given, strict=True))))
        if is_shared:  # Python hands on the same array: what is written to this one would be missing there
            found.keep_unchanged(_SHARED)
        return found

    return Flattened([recorded(graph.lift(cast(Any, each))) for each in held.values()], made)
