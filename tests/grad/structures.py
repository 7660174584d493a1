"""The law of structures: a gradient by nested lists, tuples, dicts and dataclasses is that by their arrays, one by one.

Every structure is one that `onnxsmith.numpy.jit` runs, and gradients of gradients have its form. Derivatives of
derivatives of what is linear are exact zeros.
"""

from __future__ import annotations

import itertools
import random
import warnings
from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

import onnxsmith.numpy as xp
from onnxsmith import opset21 as op
from onnxsmith.errors import ModelWarning
from onnxsmith.grad import grad, jvp, value_and_grad, vjp
from tests.laws.named import Law, Verdict


@dataclass
class Pair:
    """A dataclass of a user's."""

    first: Any
    second: Any


def drawn(draw: random.Random, depth: int) -> Any:
    """A structure: arrays mostly, some numbers and options, containers of these."""
    kind = draw.random()
    if depth and kind < 0.6:
        parts = [drawn(draw, depth - 1) for _ in range(draw.randint(1, 3))]
        form = draw.choice(("list", "tuple", "dict", "OrderedDict", "dataclass"))
        if form in {"dict", "OrderedDict"}:
            keys = [draw.choice(("w", "b", "my key", 3)), "k1", "k2"]
            return (dict if form == "dict" else OrderedDict)(zip(keys, parts, strict=False))
        if form == "dataclass":
            return Pair(parts[0], parts[-1] if len(parts) > 1 else draw.choice((2, None)))
        return parts if form == "list" else tuple(parts)
    if kind < 0.9 or not depth:
        shape = draw.choice(((), (2,), (2, 3), (1,)))
        return np.array(np.random.default_rng(draw.randrange(10**6)).integers(-4, 5, shape), np.float32)
    return draw.choice((2, True, "text", None))


def leaves(value: Any) -> Iterator[np.ndarray]:
    """The arrays of a structure in order."""
    if isinstance(value, list | tuple):
        for each in value:
            yield from leaves(each)
    elif isinstance(value, dict):
        for each in value.values():
            yield from leaves(each)
    elif isinstance(value, Pair):
        yield from leaves(value.first)
        yield from leaves(value.second)
    elif not isinstance(value, int | str | type(None)):
        yield value


def mapped(function: Callable[[Any], Any], value: Any) -> Any:
    """The same structure with other arrays; None in the place of what is none."""
    if isinstance(value, list | tuple):
        return type(value)(mapped(function, each) for each in value)
    if isinstance(value, dict):
        return type(value)((key, mapped(function, each)) for key, each in value.items())
    if isinstance(value, Pair):
        return Pair(mapped(function, value.first), mapped(function, value.second))
    return function(value) if isinstance(value, np.ndarray) else None


def _loss(structure: Any) -> Any:
    """The sum of all squares, each with a factor, times one of the arrays before."""
    total: Any = 0.0
    for position, each in enumerate(leaves(structure)):
        total = total + (each * each * (position + 1.0)).sum()
    return total


def _flat_loss(*arrays: Any) -> Any:
    return _loss(list(arrays))


def _same(one: Any, other: Any) -> bool:
    if one is None or other is None:  # a container of what is no number is none, as a whole or part by part
        return not [*leaves(one), *leaves(other)]
    if type(one) is not type(other):
        return False
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(_same, one, other))
    if isinstance(one, dict):
        return list(one) == list(other) and all(_same(one[key], other[key]) for key in one)
    if isinstance(one, Pair):
        return _same(one.first, other.first) and _same(one.second, other.second)
    return bool(np.array_equal(one, other)) and np.shape(one) == np.shape(other)


#: Containers that a function gives.
PACKINGS: tuple[Callable[[list[Any]], Any], ...] = (
    list,
    lambda arrays: {"first": arrays[0], "rest": tuple(arrays[1:])},
    lambda arrays: OrderedDict(all=[arrays]),
    lambda arrays: Pair(arrays[0], {"k": arrays[1:]}),
)
#: A derivative of a derivative, by the same structure.
NESTED = (
    "jvp(grad)",
    "vjp(grad)",
    "jvp(value_and_grad)",
    "vjp(value_and_grad)",
    "grad(jvp)",
    "grad(vjp)",
    "jvp(vjp)",
)


def nested(mode: str, function: Any, structure: Any, value: Any, gradient: Any) -> tuple[Any, Any]:
    """What a derivative of a derivative gives, and what it should: the loss is a sum of squares, so that its Hessian
    times the structure is the gradient.
    """
    arrays = mapped(lambda each: each, structure)
    twice = mapped(lambda each: np.asarray(2 * each), gradient)
    one = np.float32(1)
    if mode == "jvp(grad)":
        return jvp(grad(function))(structure, tangent=structure), (gradient, gradient)
    if mode == "vjp(grad)":
        return vjp(grad(function))(structure, cotangent=arrays), (gradient, gradient)
    if mode == "jvp(value_and_grad)":
        found = jvp(value_and_grad(function))(structure, tangent=structure)
        return _with_numbers(found), ((value, gradient), (np.float32(2 * value), gradient))
    if mode == "vjp(value_and_grad)":
        found = vjp(value_and_grad(function))(structure, cotangent=(one, arrays))
        return (_with_numbers([found[0]])[0], found[1]), ((value, gradient), twice)
    if mode == "grad(jvp)":
        return grad(lambda given: jvp(function)(given, tangent=structure)[1])(structure), gradient
    if mode == "grad(vjp)":
        return grad(lambda given: _loss(vjp(function)(given, cotangent=one)[1]))(structure), _third(structure)
    return jvp(lambda given: vjp(function)(given, cotangent=one)[1])(structure, tangent=structure), (
        gradient,
    ) * 2


def _third(structure: Any) -> Any:
    """The gradient of the loss of the gradient: factors of each array by its position, three times."""
    counted = itertools.count(1)
    return mapped(lambda each: np.asarray(8 * next(counted) ** 3 * each, np.float32), structure)


def _with_numbers(pairs: Any) -> tuple[Any, ...]:
    return tuple((np.float32(value), rest) for value, rest in pairs)


def structured(seed: int) -> Verdict:
    """One structure through one of the modes, against the arrays one by one and against numpy."""
    draw = random.Random(seed)
    structure = drawn(draw, 3)
    arrays = list(leaves(structure))
    if not arrays or isinstance(structure, np.ndarray):
        return Verdict("refused", "no container of arrays")
    counted = itertools.count(1)
    expected = mapped(lambda each: np.asarray(2 * next(counted) * each, np.float32), structure)
    is_numpys = draw.random() < 0.4
    function = xp.jit(_loss) if is_numpys else _loss
    mode = draw.choice(("grad", "value_and_grad", "vjp", "jvp", "aux", "result", *NESTED))
    value = np.float32(sum((k + 1) * (each * each).sum() for k, each in enumerate(arrays)))
    every = list(range(len(arrays)))
    if mode in NESTED:
        found, wanted = nested(mode, function, structure, value, expected)
    elif mode == "grad":
        found, wanted = grad(function)(structure), expected
        flat = grad(_flat_loss, wrt=every)(*arrays)
        if not _same(list(leaves(found)), [np.asarray(each) for each in flat]):
            return Verdict(
                "wrong", f"seed {seed}: grad by {structure!r} is {found!r}, and by arrays {flat!r}"
            )
    elif mode == "value_and_grad":
        found, wanted = value_and_grad(function)(structure), (value, expected)
    elif mode == "vjp":
        found = vjp(function)(structure, cotangent=np.float32(2))
        wanted = (value, mapped(lambda each: np.asarray(2 * each), expected))
    elif mode == "jvp":
        found = jvp(function)(structure, tangent=structure)
        wanted = (value, np.float32(2 * value))
    elif mode == "result":
        pack = draw.choice(PACKINGS)
        doubled = lambda given: pack([each * 2.0 for each in leaves(given)])  # noqa: E731
        function, twice = xp.jit(doubled) if is_numpys else doubled, [np.asarray(2 * each) for each in arrays]
        back = dict(zip(map(id, arrays), twice, strict=True))
        found = vjp(function)(structure, cotangent=pack(arrays)), jvp(function)(structure, tangent=structure)
        wanted = (pack(twice), mapped(lambda each: back[id(each)], structure)), (pack(twice), pack(twice))
    else:  # an argument that the gradient is not by
        given = np.float32([1, 2])
        other = (lambda x, rest: _loss(x) + 0.0 * _loss(rest)) if not is_numpys else xp.jit(_of_two)
        found, wanted = grad(other)(given, structure), 2 * given
    if mode in ("value_and_grad", "vjp"):
        found = (np.float32(found[0]), found[1])
    elif mode == "jvp":
        found = (np.float32(found[0]), np.float32(found[1]))
    if not _same(found, wanted):
        return Verdict("wrong", f"seed {seed}: {mode} by {structure!r} gives {found!r}, not {wanted!r}")
    return Verdict("equal")


def _of_two(x: Any, rest: Any) -> Any:
    return _loss(x) + 0.0 * _loss(rest)


def linear(seed: int) -> Verdict:
    """A derivative of a derivative of a linear or constant function, by drawn modes: zeros."""
    draw = random.Random(seed)
    size = draw.randint(1, 3)
    matrix = np.float32([[draw.randint(-2, 2) for _ in range(size)] for _ in range(size)])
    forms: tuple[Callable[[Any], Any], ...] = (
        lambda x: op.MatMul(x, matrix),
        lambda x: x * 3.0,
        lambda x: x * 0.0 + matrix[0],
        lambda x: op.Add(op.Sub(x, x), np.float32(1)),
        lambda x: -x + x * matrix[0],
    )
    inner = draw.choice(forms)
    x = np.float32([draw.randint(-3, 3) for _ in range(size)])
    ones = np.ones(size, np.float32)

    def derivative(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
        kind = draw.choice(("grad", "vjp", "jvp"))
        if kind == "grad":
            return grad(lambda y: op.ReduceSum(function(y), keepdims=0))
        if kind == "vjp":
            return lambda y: vjp(function)(y, cotangent=ones)[1]
        return lambda y: jvp(function)(y, tangent=ones)[1]

    first = derivative(inner)
    second = derivative(derivative(first)) if draw.random() < 0.3 else derivative(first)
    found = second(x)
    if not np.array_equal(found, np.zeros(size)):
        return Verdict("wrong", f"linear, seed {seed}: {found!r}")
    return Verdict("equal")


def _verdicts(seed: int) -> Iterator[Verdict]:
    for number in itertools.count(seed * 1_000_003):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ModelWarning)  # the gradient of a constant is told
            try:
                verdict = structured(number) if number % 3 else linear(number)
            except Exception as error:
                verdict = Verdict("wrong", f"seed {number}: {type(error).__name__}: {error}")
        if verdict.kind != "refused":
            yield verdict


LAW = Law(
    "a gradient by structures is that by their arrays; second derivatives of lines are 0", 600, _verdicts
)
