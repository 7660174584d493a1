"""`stop_gradient`, `custom_gradient`, `checkpoint`: what a program says about its own gradient.

In a model each is a call of a function of the domain `onnxsmith.grad`, whose name says which it is, so that it survives
saving. The backward function of a custom gradient is another function of the model. Rules for them are in
`rules.marks`; where operators run at once, nothing is said.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, cast

from onnxsmith.algorithms.named import unused
from onnxsmith.core.recording import FunctionHead, OpsetChoice
from onnxsmith.core.target import ACTIVE, RecordingTarget, recorded
from onnxsmith.core.value import Value
from onnxsmith.diagnostics import described_type
from onnxsmith.errors import CallError, boundary
from onnxsmith.grad.target import DOMAIN
from onnxsmith.graphs.builder import GraphTarget
from onnxsmith.graphs.function import FunctionBody, body_of
from onnxsmith.graphs.value import made_value

#: Under which a model remembers the names of its functions that say something.
_NAMES = "functions of gradients"


@boundary
def stop_gradient(x: Any) -> Any:
    """The value itself, as a constant for all gradients: none goes through it.

    >>> import numpy as np
    >>> from onnxsmith.grad import grad
    >>> grad(lambda x: (x * stop_gradient(x)).sum())(np.float32([2, 3]))
    array([2., 3.], dtype=float32)
    """
    scope = _graph()
    if scope is None or not isinstance(x, Value):
        return x
    (made,) = _call(scope, "stop_gradient", _same, [x])
    return made


def _same(value: Value) -> Value:
    return value


@boundary
def checkpoint(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, whose values are computed again on the way back instead of being kept: less memory, more time.

    >>> import numpy as np
    >>> from onnxsmith.grad import grad
    >>> block = checkpoint(lambda x: (x * x) * x)
    >>> grad(lambda x: block(x).sum())(np.float32([1, 2]))
    array([ 3., 12.], dtype=float32)
    """
    _check(function, "checkpoint")

    @functools.wraps(function)
    def call(*args: Any) -> Any:
        scope = _graph()
        if scope is None or not args or not all(isinstance(each, Value) for each in args):
            return function(*args)
        results = _call(scope, "checkpoint", function, args)
        return results[0] if len(results) == 1 else results

    return call


@boundary
def custom_gradient(function: Callable[..., Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A function with a gradient of its own: `custom_gradient(function)(backward)`.

    `backward` is called with the cotangents of the results and then with the arguments, and returns a cotangent for
    each argument, None for zero.

    >>> import numpy as np
    >>> from onnxsmith import opset21 as op
    >>> from onnxsmith.grad import grad
    >>> rounded = custom_gradient(lambda x: op.Round(x))(lambda g, x: g)
    >>> grad(lambda x: (rounded(x) * x).sum())(np.float32([1.25]))
    array([2.25], dtype=float32)
    """
    _check(function, "custom_gradient")

    def with_backward(backward: Callable[..., Any]) -> Callable[..., Any]:
        _check(backward, "custom_gradient(function)")

        @functools.wraps(function)
        def call(*args: Any) -> Any:
            scope = _graph()
            if scope is None or not args or not all(isinstance(each, Value) for each in args):
                return function(*args)
            results = _call(scope, "custom", function, args, backward)
            return results[0] if len(results) == 1 else results

        return call

    return with_backward


def _check(function: object, name: str) -> None:
    if not callable(function):
        raise CallError(f"{name} needs a function, not {described_type(type(function))}")


def _graph() -> RecordingTarget | None:
    """The graph that is being recorded; None where operators run."""
    active = ACTIVE.get()
    return None if active is None else active.recording


def _call(
    scope: RecordingTarget,
    kind: str,
    function: Callable[..., Any],
    args: Sequence[Value],
    backward: Callable[..., Any] | None = None,
) -> tuple[Value, ...]:
    """A node that calls the function, as one of the domain."""
    given = [recorded(each) for each in args]
    name = unused(kind, scope.shared.setdefault(_NAMES, set[str]()))
    body, values = _body(scope, given, function, [f"input_{k}" for k in range(len(given))])
    made = _finished(body, values, name)
    # The call comes first: the backward function is then of the opset that the graph has with it.
    results = scope.call_function(made, given, {}, [each.known for each in values])
    if backward is not None:
        _keep(scope, _backward(scope, backward, values, given, name))
    return results


def _backward(
    scope: RecordingTarget,
    backward: Callable[..., Any],
    values: Sequence[Value],
    given: Sequence[Value],
    name: str,
) -> FunctionBody:
    """The backward function of a custom gradient; its outputs are called by the arguments that they are for."""
    names = [*(f"cotangent_{k}" for k in range(len(values))), *(f"input_{k}" for k in range(len(given)))]
    body, found = _body(scope, [*values, *given], backward, names)
    if len(found) != len(given):
        raise CallError(
            f"the backward function returns {len(found)} cotangents, and the function has {len(given)} arguments"
        )
    made = _finished(body, [each for each in found if each is not None], f"backward_of_{name}")
    places = [k for k, each in enumerate(found) if each is not None]
    for place, value in zip(places, made.function.outputs, strict=True):
        value.name = f"cotangent_of_{place}"
    return made


def _body(
    scope: RecordingTarget, given: Sequence[Value | None], function: Callable[..., Any], names: Sequence[str]
) -> tuple[RecordingTarget, list[Any]]:
    """A function's body that was recorded, and what it gives."""
    choice = scope.opset
    opset = OpsetChoice(scope.operators.version, is_fixed=choice.is_fixed, is_named=choice.is_named)
    body = scope.function(opset, is_exact=False, is_lenient=False)
    inputs = [
        body.input(name, each.known.type) for name, each in zip(names, given, strict=True) if each is not None
    ]
    token = ACTIVE.set(body)
    try:
        result = function(*inputs)
        found = list(cast("Sequence[Any]", result)) if isinstance(result, tuple | list) else [result]
        present = [body.lift(each) for each in found if each is not None]
        outputs = iter(body.outputs_of([recorded(each) for each in present]))
        return body, [None if each is None else next(outputs) for each in found]
    finally:
        ACTIVE.reset(token)


def _finished(body: RecordingTarget, values: Sequence[Value], name: str) -> FunctionBody:
    return body_of(body.finish_function([made_value(each) for each in values], FunctionHead(DOMAIN, name)))


def _keep(scope: RecordingTarget, made: FunctionBody) -> None:
    """Let the model hold a function that none of its nodes calls."""
    assert isinstance(scope, GraphTarget)  # what records models
    functions = scope.program.functions
    for identifier, each in (*made.called.items(), (made.function.identifier(), made.function)):
        functions.setdefault(identifier, each)
    scope.program.opsets.include(made.opsets)
