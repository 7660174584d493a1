"""The arguments that functions of the list are tried with: a fixed pool in a fixed order, from names of parameters.

An argument is told by a short text, so that the list is a data file: `vector:0` is the first vector,
`[vector:0, vector:1]` a list of two, `=2` the number 2 itself, `size:0` a whole number that the model takes. What kinds
hold depends on the size and the slot alone.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

Arrays = np.ndarray[Any, np.dtype[Any]]

#: Kind -> its dimensions for a size of N; names that repeat are equal.
DIMENSIONS: dict[str, tuple[str | int, ...]] = {
    "vector": ("N",),
    "matrix": ("N", 3),
    "square": ("N", "N"),
    "image": ("N", "M"),
    "rgb": ("N", "M", 3),
    "rising": ("N",),
    "positive": ("N",),
    "probabilities": ("N",),
    "binary": ("N",),
    "labels": ("N",),
    "regions": ("N", "M"),
    "mask": ("N", "M"),
    "points": ("N", 2),
    "size": (),
}
#: Kinds that have elements of their own type, whichever type floats have.
WHOLE = ("binary", "labels", "regions", "size")


#: Where the draw of each kind begins.
_SEEDS = {kind: place for place, kind in enumerate(sorted(set(DIMENSIONS) - {"rising"}))} | {"rising": 99}


def _draw(kind: str, slot: int, size: int) -> np.random.Generator:
    return np.random.default_rng([_SEEDS[kind], slot, size])


def array(kind: str, slot: int, size: int) -> Arrays:
    """What a kind is at a size: the same at every call, in float64 where it has no type of its own."""
    draw = _draw(kind, slot, size)
    lengths = {"N": size, "M": size + 1}
    shape = tuple(lengths[each] if isinstance(each, str) else each for each in DIMENSIONS[kind])
    if kind == "size":
        return np.array(size)
    if kind == "binary":
        return (np.arange(size) + slot + draw.integers(0, 2, size) * (np.arange(size) > 1)) % 2
    if kind == "labels":
        return (np.arange(size) + slot * draw.integers(0, 2, size)) % 3
    if kind == "regions":
        return draw.integers(0, 3, shape)
    if kind == "mask":
        return draw.random(shape) < 0.6
    values = np.round(draw.random(shape), 6)
    if kind in ("image", "rgb", "probabilities"):
        return values
    if kind == "positive":
        return values + 0.25
    if kind == "rising":
        return np.sort(values)
    if kind == "square":
        return values + values.T + 2 * max(size, 1) * np.eye(size)
    return 4 * values - 1.5


#: Parameters without a default that are numbers or words in every package, and what they are given.
NAMED: dict[str, object] = {
    "a_max": 1.0,
    "a_min": 0.0,
    "alpha": 0.5,
    "angle": 0.5,
    "axes": (0,),
    "axis": 0,
    "beta": 0.5,
    "bins": 4,
    "block_shape": 2,
    "block_size": 3,
    "confidence": 0.9,
    "copy": True,
    "decimals": 2,
    "deg": 1,
    "degree": 1,
    "delta": 1.0,
    "destination": 0,
    "dtype": float,
    "factor": 2,
    "frequency": 0.3,
    "fs": 10.0,
    "indices_or_sections": 1,
    "k": 1,
    "kth": 1,
    "level": 0.5,
    "lmbda": 0.5,
    "max_distance": 2,
    "mode": "reflect",
    "n": 3,
    "num": 5,
    "order": 1,
    "out_range": (0.0, 1.0),
    "output_shape": (4, 4),
    "pad_width": 1,
    "percent": 0.5,
    "proportiontocut": 0.1,
    "q": 0.5,
    "radius": 1,
    "rank": 2,
    "repeats": 2,
    "reps": 2,
    "rotation": 0.5,
    "scale": 2.0,
    "shape": (2, 3),
    "shift": 1,
    "sigma": 1.0,
    "size": 3,
    "source": 0,
    "start": 0.0,
    "std": 1.0,
    "step_size": 1,
    "stop": 1.0,
    "sym": True,
    "threshold": 0.5,
    "window_length": 5,
    "window_shape": 3,
    "window_size": 3,
}
#: Parameters that take several arrays at once.
SEVERAL = ("arrays", "arr_list", "choicelist", "condlist", "matrices", "seq", "sequences", "tup")
#: Parameters that are the length of what comes out.
LENGTHS = ("M", "N", "Nx", "numtaps")

#: Parameters that the documentation wants in rising order, and does not check: what others give has no meaning.
RISING = {"numpy.interp": ("xp",), "numpy.searchsorted": ("a",)}

#: The kinds of the data parameters, in the order of trial; the last one stands for all that follow.
POOL: tuple[tuple[str, ...], ...] = (
    ("vector",),
    ("matrix",),
    ("square",),
    ("image",),
    ("rgb",),
    ("positive",),
    ("probabilities",),
    ("binary",),
    ("labels",),
    ("points",),
    ("regions",),
    ("mask",),
    ("binary", "probabilities"),
    ("probabilities", "binary"),
    ("matrix", "labels"),
    ("matrix", "vector"),
    ("vector", "matrix"),
    ("square", "vector"),
    ("square", "matrix"),
    ("vector", "labels"),
    ("labels", "vector"),
    ("mask", "image"),
    ("image", "mask"),
    ("image", "regions"),
    ("regions", "image"),
    ("image", "vector"),
    ("vector", "=2"),
    ("matrix", "=2"),
    ("image", "=2"),
    ("vector", "=0.5"),
    ("image", "=0.5"),
    ("=2", "vector"),
    ("vector", "vector", "=2"),
    ("vector", "vector", "=0.5"),
    ("image", "image", "=2"),
    ("positive", "=2", "=1"),
)


def _required(function: Callable[..., object]) -> list[inspect.Parameter]:
    found = list(inspect.signature(function).parameters.values())
    empty = inspect.Parameter.empty
    needed = [each for each in found if each.default is empty and each.kind is not each.VAR_KEYWORD]
    plain = [each for each in needed if each.kind is not each.VAR_POSITIONAL]
    if plain or needed:
        return plain or needed
    # Where all have defaults, the first is the data.
    return [each for each in found if each.kind is not each.VAR_KEYWORD][:1]


def _told(parameter: inspect.Parameter, kinds: Sequence[str], slot: int) -> str:
    kind = kinds[min(slot, len(kinds) - 1)]
    if kind.startswith("="):
        return kind
    if parameter.kind is parameter.VAR_POSITIONAL or parameter.name in SEVERAL:
        return f"[{kind}:0, {kind}:1]"
    return f"{kind}:{slot}"


def candidates(function: Callable[..., object], uses_names: bool = True) -> Iterator[dict[str, str]]:
    """What a function is tried with, by name of parameter, in order; nothing twice.

    `uses_names=False` is for functions that take none of these: numbers with a name that is known are data, too.
    """
    needed = _required(function)
    firm = {name for name, each in NAMED.items() if name == "axis" or not isinstance(each, int | float)}
    fixed = NAMED.keys() if uses_names else firm
    has_data = any(each.name not in fixed and each.name not in LENGTHS for each in needed)
    seen: set[tuple[tuple[str, str], ...]] = set()
    for kinds in POOL:
        told: dict[str, str] = {}
        slot = 0
        for each in needed:
            is_whole = isinstance(NAMED.get(each.name), int)
            # Where there is no data, the first whole number is the length of what comes out.
            if each.name in LENGTHS or (not has_data and is_whole and "size:0" not in told.values()):
                told[each.name] = "size:0"
            elif each.name in fixed:
                told[each.name] = "=float" if each.name == "dtype" else f"={NAMED[each.name]!r}"
            else:
                told[each.name] = _told(each, kinds, slot)
                slot += 1
        key = tuple(told.items())
        # Numbers alone make no model.
        if key in seen or all(text.startswith("=") for text in told.values()):
            continue
        seen.add(key)
        yield told


def value(text: str, size: int, dtype: type[np.floating[Any]] = np.float64) -> Any:
    """What a told argument is, for a size and a type of floats."""
    if text.startswith("="):
        return float if text == "=float" else eval(text[1:], {})
    if text.startswith("["):
        return [value(each, size, dtype) for each in text[1:-1].split(", ")]
    kind, _, slot = text.partition(":")
    made = array(kind, int(slot), size)
    if kind == "size":
        return int(made)
    return made.astype(dtype) if made.dtype.kind == "f" else made


def called(
    function: Callable[..., Any], told: dict[str, str], size: int, dtype: type[np.floating[Any]] = np.float64
) -> Any:
    """The function on what was told of its arguments."""
    positional, named = bound(function, {name: value(text, size, dtype) for name, text in told.items()})
    return function(*positional, **named)


def bound(function: Callable[..., Any], given: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
    """Arguments by name as a call passes them."""
    parameters = inspect.signature(function).parameters
    positional: list[Any] = []
    named: dict[str, Any] = {}
    for name, each in given.items():
        kind = parameters[name].kind
        if kind is inspect.Parameter.VAR_POSITIONAL:
            positional += each
        elif kind is inspect.Parameter.KEYWORD_ONLY or len(positional) != list(parameters).index(name):
            named[name] = each
        else:
            positional.append(each)
    return positional, named
