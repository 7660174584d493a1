"""Where gradients end or change: calls of `stop_gradient` and `custom_gradient` in a model that is to be trained."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar, cast

from onnxsmith.algorithms.complex_numbers.pair import Complex
from onnxsmith.algorithms.operators import Tensor, TensorOrArray, op
from onnxsmith.grad import custom_gradient, stop_gradient
from onnxsmith.grad import in_training as marked_as_in_training
from onnxsmith.torch.library.call import Call
from onnxsmith.torch.library.kinds import Given, Translated
from onnxsmith.torch.library.registry import translates_both
from onnxsmith.torch.target import TorchTarget, active_target

_T = TypeVar("_T")


def _training() -> TorchTarget | None:
    """The graph that is translated into, if it is one that gradients are asked of."""
    active = active_target()
    return active if isinstance(active, TorchTarget) and active.keeps_weights else None


def is_training() -> bool:
    """True if the model that is being made is to be trained."""
    return _training() is not None


def in_training(function: Callable[..., _T], in_use: Callable[..., _T], *given: Tensor | None) -> _T:
    """The results of a layer in training, of those tensors that are given, with those in use beside them."""
    scope = _training()
    if scope is None:
        return function(*given)
    there = [each for each in given if each is not None]

    def of_all(called: Callable[..., _T]) -> Callable[..., _T]:
        def call(*tensors: Tensor) -> _T:
            left = iter(tensors)
            return called(*(None if each is None else next(left) for each in given))

        return call

    with scope.recording_formulas():
        return cast(_T, marked_as_in_training(of_all(function), of_all(in_use), *there))


def stopped(value: _T) -> _T:
    """A value, or each of several, as a constant for gradients."""
    if _training() is None:
        return value
    if isinstance(value, Complex):
        return cast(_T, Complex(stopped(value.real), stopped(value.imag)))
    if isinstance(value, list | tuple):
        return cast(_T, [stopped(each) for each in cast("Sequence[object]", value)])
    if isinstance(value, Tensor) and value.dtype is not None and value.dtype.kind in ("float", "complex"):
        return cast(_T, stop_gradient(value))
    return value


def constant_where(condition: Tensor, x: Tensor) -> Tensor:
    """A value whose elements are constants for gradients where a condition is true."""
    return x if _training() is None else op.Where(condition, stopped(x), x)


def at_least(x: Tensor, low: TensorOrArray) -> Tensor:
    """The larger of two values; in training the gradient goes to the first where they are equal, as torch has it."""
    larger = op.Max(x, low)
    return op.Where(x >= low, x, larger) if is_training() else larger


def at_most(x: Tensor, high: TensorOrArray) -> Tensor:
    """The smaller of two values; in training the gradient goes to the first where they are equal."""
    smaller = op.Min(x, high)
    return op.Where(x <= high, x, smaller) if is_training() else smaller


def with_gradient_of(old: Given, new: Given) -> Given:
    """A new value that was written over an old one while autograd was off: gradients go to the old one."""
    if _training() is None or isinstance(new, Complex) or isinstance(old, Complex):
        return new
    if new.dtype is None or new.dtype.kind != "float":
        return new
    return with_formula([new], [old], _unchanged)[0]


def _unchanged(cotangent: Tensor) -> list[Tensor]:
    return [cotangent]


def with_formula(
    results: Sequence[Tensor],
    arguments: Sequence[Tensor],
    formula: Callable[..., Sequence[Tensor | None]],
) -> list[Tensor]:
    """Results whose gradients with respect to the arguments are a function of their cotangents."""
    count = len(arguments)

    def forward(*values: Tensor) -> tuple[Tensor, ...]:
        return values[count:]

    def backward(*values: Tensor) -> tuple[Tensor | None, ...]:
        return (*formula(*values[: len(results)]), *[None] * len(results))

    scope = _training()
    if scope is None:
        return list(results)
    with scope.recording_formulas():
        return list(custom_gradient(forward)(backward)(*arguments, *results))


@translates_both("aten.detach.default", "aten.detach_.default", "onnxsmith_grad.stop.default")
def detached(call: Call, x: Given) -> Translated:
    return x if call.is_inside_decomposition else stopped(x)
