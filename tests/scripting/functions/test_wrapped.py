"""Decorators, methods of all kinds and partials: inside a script, around one, and as one."""

from __future__ import annotations

import functools
import sys
from typing import Any

import numpy as np
import pytest

from onnxsmith import FLOAT, script
from onnxsmith import opset21 as op
from onnxsmith.errors import CallError


def doubled(function: Any) -> Any:
    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs) * 2

    return wrapper


def times(factor: float) -> Any:
    def decorate(function: Any) -> Any:
        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            return function(*args, **kwargs) * factor

        return wrapper

    return decorate


@times(3.0)
@doubled
def helper(a, b=1.0):
    if a.sum() > 100:
        return a
    return op.Relu(a) + b


@script
def calls_a_decorated_helper(x: FLOAT["N"]):
    return helper(x, b=2.0)


@script
@doubled
def script_over_a_decorator(x: FLOAT["N"], alpha: float = 1.0):
    if x.sum() > 100:
        return x
    return op.Relu(x) + alpha


@doubled
@script
def decorator_over_a_script(x: FLOAT["N"]):
    return op.Relu(x) + 1


@script
def calls_a_decorated_script(x: FLOAT["N"]):
    return decorator_over_a_script(x) + 1


def with_options(x: FLOAT["N"], y: FLOAT["N"], *, alpha: float = 1.0):
    return op.Relu(x) * alpha + y


from_a_partial = script(functools.partial(with_options, alpha=0.5))
from_a_bound_partial = script(functools.partial(with_options, np.float32([1, 2, 3])))


class Layer:
    scale = 2.0

    def __init__(self, bias: float) -> None:
        self.bias = bias

    def plain(self, x: FLOAT["N"]):
        return op.Relu(x) + self.bias

    @script
    @classmethod
    def script_of_classmethod(cls, x: FLOAT["N"]):
        return x * cls.scale

    @classmethod
    @script
    def classmethod_of_script(cls, x: FLOAT["N"]):
        return x * cls.scale

    @script
    @staticmethod
    def script_of_staticmethod(x: FLOAT["N"]):
        return x + 1

    @staticmethod
    @script
    def staticmethod_of_script(x: FLOAT["N"]):
        return x + 1

    @script
    @doubled
    def decorated(self, x: FLOAT["N"]):
        return x + self.bias


class Wider(Layer):
    scale = 5.0


layer = Layer(1.5)
_X = np.float32([-1, 2, 3])
_RELU = np.maximum(_X, 0)


#: From Python 3.13 on a class method of a script is a bound method like any other, which does not ask the script.
_IS_CHAINED = sys.version_info < (3, 13)
_CLASS_METHODS = [
    (layer.classmethod_of_script, [_X], _X * 2),
    (Wider.classmethod_of_script, [_X], _X * 5),
] * _IS_CHAINED


@pytest.mark.parametrize(
    ("written", "arguments", "expected"),
    [
        (calls_a_decorated_helper, [_X], (_RELU + 2) * 6),
        (script_over_a_decorator, [_X], (_RELU + 1) * 2),
        (calls_a_decorated_script, [_X], (_RELU + 1) * 2 + 1),
        (from_a_partial, [_X, _X], _RELU * 0.5 + _X),
        (from_a_bound_partial, [_X], np.float32([1, 2, 3]) + _X),
        (script(layer.plain), [_X], _RELU + 1.5),
        (Layer.script_of_classmethod, [_X], _X * 2),
        (Wider.script_of_classmethod, [_X], _X * 5),
        *_CLASS_METHODS,
        (layer.script_of_staticmethod, [_X], _X + 1),
        (Layer.staticmethod_of_script, [_X], _X + 1),
        (layer.decorated, [_X], (_X + 1.5) * 2),
    ],
)
def test_eager_and_model(written: Any, arguments: list[Any], expected: Any) -> None:
    for result in (written(*arguments), written.to_model()(*arguments)):
        np.testing.assert_allclose(np.asarray(result), expected, rtol=1e-6)


def test_a_decorated_script_called_eagerly() -> None:
    np.testing.assert_allclose(np.asarray(decorator_over_a_script(_X)), (_RELU + 1) * 2)


def test_names_and_attributes_stay() -> None:
    assert script_over_a_decorator.name == "script_over_a_decorator"
    assert [each.name for each in script_over_a_decorator.to_model_proto().graph.input] == ["x"]
    np.testing.assert_allclose(script_over_a_decorator(_X, alpha=3.0), (_RELU + 3) * 2)


@pytest.mark.parametrize("owner", [layer, Wider])
def test_a_class_method_of_a_script(owner: Any) -> None:
    written = owner.classmethod_of_script
    np.testing.assert_allclose(np.asarray(written(_X)), _X * owner.scale)
    if not _IS_CHAINED:
        with pytest.raises(CallError, match="write @script above @classmethod"):
            written.to_model()
