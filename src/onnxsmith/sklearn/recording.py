"""The recorded road: the Python code of a method, scikit-learn's or the user's, recorded by the numpy front end.

What the code calls of other estimators (`self.estimator_.predict(x)`) goes by `call`, as all calls do. Helpers of the
library that ask for classes of arrays are replaced (`stand_ins`).
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from typing import Any, cast

import numpy as np

from onnxsmith.core.tensor import Tensor
from onnxsmith.core.user_values import UserValue
from onnxsmith.core.value import Value
from onnxsmith.diagnostics import described_type
from onnxsmith.errors import OnnxsmithError, UnconvertedStepError
from onnxsmith.numpy import Array, array, asarray, special, stage
from onnxsmith.scripting.staging.dialect import Calls, Dialect
from onnxsmith.scripting.staging.script_values import Function
from onnxsmith.sklearn import stand_ins
from onnxsmith.sklearn.table import NotCovered
from onnxsmith.sklearn.values import Fitted, Given, Result
from onnxsmith.source import PACKAGE_DIRECTORY, Span, is_library, position_span, traceback_span

#: The methods that one estimator calls of another.
METHODS = frozenset(
    [
        *("predict", "predict_proba", "predict_log_proba", "predict_joint_log_proba", "decision_function"),
        *("transform", "inverse_transform", "score_samples"),
    ]
)

#: Calls a method of an estimator: of it, the method, what that is given, and the class whose `super()` is meant.
Caller = Callable[[Fitted, str, Given, type | None], Result]


class SklearnDialect(Dialect):
    """The dialect of estimators' code: methods of estimators are called as all are, and helpers are replaced."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def is_staged(self, function: types.FunctionType) -> bool | None:
        return True if function.__code__.co_filename == stand_ins.__file__ else None

    def callee(self, function: Function, usual: Function | None, calls: Calls) -> Function | None:
        """A method of an estimator, which is called as all are; a function of scipy, which computes what is known."""
        home: object = getattr(function, "__module__", None)
        name: object = getattr(function, "__name__", None)
        is_named = isinstance(home, str) and isinstance(name, str)
        instead = stand_ins.STAND_INS.get(cast("tuple[str, str]", (home, name))) if is_named else None
        if isinstance(function, types.MethodType) and function.__name__ in METHODS:
            owner: Any = function.__self__
            if not isinstance(owner, type) and hasattr(owner, "get_params"):
                return functools.partial(self._method, function, owner)
        if isinstance(function, types.FunctionType) and function.__module__ == "scipy.special":
            ours = getattr(special, function.__name__, None)
            if (
                ours is not None
            ):  # scipy wraps its functions where it is asked to take other libraries' arrays
                return functools.partial(_known_or, function, ours)
        if isinstance(function, types.FunctionType) and str(function.__module__).startswith("scipy."):
            return functools.partial(_known_or, function, calls.staged(instead or function))
        if isinstance(function, np.ufunc) and getattr(np, function.__name__, None) is not function:
            # One of scipy's, which staging does not know: scikit-learn calls expit so up to 1.8.
            return functools.partial(_into, function, getattr(special, function.__name__, None))
        return None if instead is None else calls.staged(instead)

    def _method(
        self, function: types.MethodType, owner: Fitted, *args: UserValue, **kwargs: UserValue
    ) -> UserValue | Result:
        given = [*args, *kwargs.values()]
        if not any(isinstance(each, Array | Tensor) for each in given):
            return function(*args, **kwargs)
        if len(given) > 1 and any(each is not None for each in given[1:]):
            raise NotCovered(f"{function.__name__} is called with more than one argument")
        return self._caller(
            owner, function.__name__, cast(Given, given[0]), class_before(function, type(owner))
        )


def _known_or(
    function: Callable[..., UserValue],
    otherwise: Callable[..., UserValue] | None,
    *args: UserValue,
    **kwargs: UserValue,
) -> UserValue:
    """The result of a function on numbers that are known now; `otherwise` is called where one is the model's."""
    given = [*args, *kwargs.values()]
    if any(_is_open(each) for each in given):
        return function(*args, **kwargs) if otherwise is None else otherwise(*args, **kwargs)
    found = function(*map(_numpys, args), **{key: _numpys(each) for key, each in kwargs.items()})
    if isinstance(found, tuple):
        return tuple(map(_ours, found))
    return _ours(found)


def _into(
    function: Callable[..., UserValue],
    otherwise: Callable[..., UserValue] | None,
    *args: UserValue,
    out: UserValue = None,
    **kwargs: UserValue,
) -> UserValue:
    """The same, written into `out` where that is given, as universal functions do."""
    found = _known_or(function, otherwise, *args, **kwargs)
    if out is None:
        return found
    cast(Any, out)[...] = found
    return out


def _is_open(value: UserValue) -> bool:
    if isinstance(value, Array):
        return value.is_symbolic
    if isinstance(value, list | tuple):
        return any(map(_is_open, value))
    return isinstance(value, Value)


def _numpys(value: UserValue) -> UserValue:
    if isinstance(value, Array):
        return np.array(value)
    if isinstance(value, list):
        return [_numpys(each) for each in value]
    if isinstance(value, tuple):
        return tuple(_numpys(each) for each in value)
    return value


def _ours(value: UserValue) -> UserValue:
    if isinstance(value, np.ndarray):
        return array(value) if value.dtype.kind in "fiub" else value
    return value


def class_before(method: types.MethodType, kind: type) -> type | None:
    """The class whose code said `super()`, for a method that is not the class's own; None where it is."""
    name, function = method.__name__, method.__func__
    defining = [each for each in kind.__mro__ if name in vars(each)]
    for before, each in zip([None, *defining], defining, strict=False):
        if function_of(vars(each)[name]) is function:
            return before
    return None


def function_of(held: Callable[..., Any]) -> Callable[..., Any]:
    """The function behind what a class holds under a name."""
    return getattr(held, "fn", held)  # of `available_if`


def recorded(estimator: Fitted, method: str, x: Given, after: type | None, caller: Caller) -> Result:
    """The result of a method's own code, recorded; raises `NotCovered` with line and reason where that fails."""
    kind = type(estimator)
    order = kind.__mro__ if after is None else kind.__mro__[kind.__mro__.index(after) + 1 :]
    function = next((function_of(vars(each)[method]) for each in order if method in vars(each)), None)
    while hasattr(function, "__wrapped__"):  # what only wraps results in data frames
        function = cast(Any, function).__wrapped__
    if not isinstance(function, types.FunctionType):
        raise NotCovered(f"{kind.__name__} has no method {method} that is written in Python")
    try:
        made = stage(types.MethodType(function, estimator), x, dialects=[SklearnDialect(caller)])
    except NotCovered:
        raise
    except UnconvertedStepError as error:
        raise NotCovered(f"it calls another: {error.message}", error.span) from error
    except OnnxsmithError as error:
        raise NotCovered(error.message, _own_line(error) or error.span) from error
    except Exception as error:  # whatever code says of an array that it does not know
        span = _own_line(error) or traceback_span(error.__traceback__)
        raise NotCovered(f"{type(error).__name__}: {error}", span) from error
    return _result(made, f"{kind.__name__}.{method}")


def _own_line(error: BaseException) -> Span | None:
    """The innermost line of code that belongs to no library, on the way that an error came."""
    found: Span | None = None
    place = error.__traceback__
    while place is not None:
        code = place.tb_frame.f_code
        file = code.co_filename
        if not is_library(file) and not file.startswith(PACKAGE_DIRECTORY):
            found = position_span(code, place.tb_lasti, place.tb_lineno)
        place = place.tb_next
    return found


def _result(made: UserValue, name: str) -> Result:
    if isinstance(made, Array | Tensor):
        return made
    if isinstance(made, np.ndarray):
        known = cast("np.ndarray[Any, Any]", made)
        if known.dtype.kind in "fiub":
            return asarray(known)
    if isinstance(made, tuple):
        parts = [_result(each, name) for each in made]
        return tuple(cast("list[Array | Tensor]", parts))
    raise NotCovered(f"{name} gives {described_type(type(made))}, which is no array")
