"""Functions of numbers that keep a size symbolic while torch.export runs a module's code.

Python's `math`, numpy and some functions of torch take a number and nothing else, so that torch puts the example's
size in its place and fixes the dimension. While a module is traced, these compute the same of a symbolic number.
What Python itself converts, `float(n)`, `len(x)`, stays out of reach here: `strict=True` reads the code instead.
"""

from __future__ import annotations

import contextlib
import functools
import math
import operator
from collections.abc import Callable, Generator, Sequence
from typing import Any, TypeAlias

import torch
from torch._C import DispatchKey
from torch._export.verifier import Verifier
from torch.nn import functional

from onnxsmith.torch.library.kinds import SYMBOLIC_NUMBERS, SymbolicNumber

#: Functions whose signatures are those of what they stand for.
_Function: TypeAlias = Callable[..., Any]
#: A number, symbolic or not, or a tensor made of one: torch leaves the arithmetic of these without types.
_Value: TypeAlias = Any
_NUMBERS = (torch.SymInt, torch.SymFloat)
_SYM: dict[str, _Function] = {
    name: getattr(torch, name) for name in ("sym_float", "sym_max", "sym_ite", "_sym_log2")
}
_OPERATORS: dict[str, _Function] = {name: getattr(operator, name) for name in ("floordiv", "mod")}
_arange: _Function = torch.arange
_where: _Function = torch.where


@contextlib.contextmanager
def open_numbers() -> Generator[None]:
    """Have these functions take symbolic numbers as they are."""
    with contextlib.ExitStack() as stack:
        for name, symbolic in _OF_ONE_NUMBER.items():
            if hasattr(math, name):
                stack.enter_context(_replaced(math, name, _choosing(getattr(math, name), symbolic)))
            for kind in _NUMBERS:
                # numpy calls a method of this name on what it has no loop for.
                stack.enter_context(_replaced(kind, name, symbolic))
        stack.enter_context(_replaced(torch.SymInt, "__divmod__", _divmod))
        stack.enter_context(_replaced(torch.SymInt, "__rdivmod__", _reversed_divmod))
        stack.enter_context(_replaced(math, "pow", _choosing(math.pow, _power)))
        for owner, name, symbolic in _OF_TORCH:
            inner: _Function = getattr(owner, name)
            stack.enter_context(_replaced(owner, name, _choosing(inner, functools.partial(symbolic, inner))))
        stack.enter_context(_replaced(Verifier, "allowed_op_types", _allowing(Verifier.allowed_op_types)))
        stack.enter_context(_own_kernel(torch.ops.aten.tensor_split.sections, _tensor_split))
        yield


@contextlib.contextmanager
def _own_kernel(overload: Any, kernel: _Function) -> Generator[None]:
    """Have an operator that torch composes of others call a kernel instead.

    An operator remembers the kernels that it has called. So it forgets them before, to call this one, and after, to
    call its own again in traces of others.
    """
    kernels, called = overload.py_kernels, getattr(overload, "_dispatch_cache")  # noqa: B009  # private to torch
    kernels[DispatchKey.CompositeImplicitAutograd] = kernel
    called.clear()
    try:
        yield
    finally:
        kernels.pop(DispatchKey.CompositeImplicitAutograd, None)
        called.clear()


def _allowing(types: _Function) -> _Function:
    """The classes of operators that torch expects in a program, with one more."""

    def allowed(verifier: Verifier) -> tuple[type, ...]:
        return (*types(verifier), _OfOneNumber)

    return allowed


@contextlib.contextmanager
def _replaced(owner: object, name: str, function: _Function) -> Generator[None]:
    members: dict[str, _Value] = dict(vars(owner))
    held = members.get(name)
    setattr(owner, name, function)
    try:
        yield
    finally:
        if held is None:
            delattr(owner, name)
        else:
            setattr(owner, name, held)


def _choosing(known: _Function, symbolic: _Function) -> _Function:
    """A function that is called on what is known, or another one where an argument is a symbolic number."""

    @functools.wraps(known)
    def call(*args: object, **kwargs: object) -> object:
        is_symbolic = any(isinstance(each, SYMBOLIC_NUMBERS) for each in (*args, *kwargs.values()))
        return (symbolic if is_symbolic else known)(*args, **kwargs)

    return call


# -- of one number -----------------------------------------------------------------------------------------


class _Membership(type):
    """The class of a class whose instances are a set of functions."""

    def __instancecheck__(cls, instance: object) -> bool:
        return instance in _KNOWN


class _OfOneNumber(metaclass=_Membership):
    """torch's functions of one number, all but one of which torch itself does not expect in a program."""


def _divmod(a: SymbolicNumber, b: SymbolicNumber) -> tuple[SymbolicNumber, SymbolicNumber]:
    return _OPERATORS["floordiv"](a, b), _OPERATORS["mod"](a, b)


def _reversed_divmod(b: SymbolicNumber, a: SymbolicNumber) -> tuple[SymbolicNumber, SymbolicNumber]:
    return _divmod(a, b)


def _power(base: SymbolicNumber, exponent: SymbolicNumber) -> SymbolicNumber:
    return _SYM["sym_float"](base) ** exponent


def _logarithm(x: SymbolicNumber, base: float = math.e) -> SymbolicNumber:
    return _SYM["_sym_log2"](x) / math.log2(base)


def _log2(x: SymbolicNumber) -> SymbolicNumber:
    return _SYM["_sym_log2"](x)


def _log10(x: SymbolicNumber) -> SymbolicNumber:
    return _logarithm(x, 10.0)


def _log1p(x: SymbolicNumber) -> SymbolicNumber:
    return _logarithm(_SYM["sym_float"](x) + 1.0)


def _exp(x: SymbolicNumber) -> SymbolicNumber:
    return math.e ** _SYM["sym_float"](x)


def _fabs(x: SymbolicNumber) -> SymbolicNumber:
    return abs(_SYM["sym_float"](x))


_KNOWN = [each for name, each in vars(torch).items() if name.startswith("_sym_") and callable(each)]
#: By the names that `math` and numpy have for them.
_OF_ONE_NUMBER: dict[str, _Function] = {
    **{
        name: getattr(torch, f"_sym_{name}")
        for name in ("sqrt", "sin", "cos", "tan", "sinh", "cosh", "tanh", "asin", "acos", "atan")
        if hasattr(torch, f"_sym_{name}")
    },
    "log": _logarithm,
    "log2": _log2,
    "log10": _log10,
    "log1p": _log1p,
    "exp": _exp,
    "fabs": _fabs,
}


# -- of torch ----------------------------------------------------------------------------------------------


def _linspace(
    inner: _Function,
    start: float | torch.Tensor,
    end: float | torch.Tensor,
    steps: torch.SymInt | int,
    *,
    dtype: torch.dtype | None = None,
    **options: object,
) -> torch.Tensor:
    if isinstance(start, torch.Tensor) or isinstance(end, torch.Tensor) or isinstance(steps, int):
        return inner(start, end, steps, dtype=dtype, **options)
    count: _Value = steps
    index = _arange(count, dtype=torch.float64)
    step: _Value = (end - start) / _SYM["sym_max"](count - 1, 1)
    # From both ends, as torch computes it.
    values = _where(index < count / 2, start + index * step, end - (count - 1 - index) * step)
    return values.to(dtype or torch.get_default_dtype())


def _one_hot(inner: _Function, tensor: torch.Tensor, num_classes: torch.SymInt | int = -1) -> torch.Tensor:
    classes: _Value = _arange(num_classes)
    return (tensor.unsqueeze(-1) == classes).to(torch.int64)


def _attention(
    inner: _Function,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attn_mask: torch.Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: torch.SymBool | bool = False,
    **options: object,
) -> torch.Tensor:
    """Attention that is causal where a comparison of sizes says so: the mask lets all pass where it does not."""
    if not isinstance(is_causal, torch.SymBool):
        return inner(query, key, value, attn_mask, dropout_p, is_causal, **options)
    if attn_mask is not None:
        return inner(query, key, value, attn_mask, dropout_p, bool(is_causal), **options)
    count, length = query.shape[-2], key.shape[-2]
    further: _Value = _SYM["sym_ite"](is_causal, 0, 1) * length
    mask = _arange(length) <= _arange(count)[:, None] + further
    return inner(query, key, value, mask, dropout_p, False, **options)


_OF_TORCH: Sequence[tuple[_Value, str, _Function]] = (
    (torch, "linspace", _linspace),
    (functional, "one_hot", _one_hot),
    (functional, "scaled_dot_product_attention", _attention),
)


def _tensor_split(x: torch.Tensor, sections: int, dim: int = 0) -> tuple[torch.Tensor, ...]:
    """The pieces by the formula of their sizes; torch's own decides by the remainder."""
    size = x.shape[dim]
    return torch.split(x, [(size + sections - 1 - k) // sections for k in range(sections)], dim)
