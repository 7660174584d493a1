"""The options of a universal function besides its inputs: `out`, `where`, `dtype`, `casting`, axes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, cast

import numpy as np

from onnxsmith.core.value import Value
from onnxsmith.diagnostics import described_type
from onnxsmith.errors import AttributeTypeError, AttributeValueError, CallError, InputTypeError
from onnxsmith.numpy import dtypes
from onnxsmith.numpy.array import Array
from onnxsmith.numpy.conversions import array_of
from onnxsmith.numpy.dtypes import NumpyDType
from onnxsmith.numpy.recorded import tensor_given
from onnxsmith.numpy.ufunc_types import TypeRules

Casting: TypeAlias = Literal["no", "equiv", "safe", "same_kind", "unsafe"]
#: For each input and output, where the dimensions that a product runs over stand.
Axes: TypeAlias = "tuple[tuple[int, ...], ...]"
_CASTINGS = ("no", "equiv", "safe", "same_kind", "unsafe")
#: What only says how numpy lays the result out in memory, or of which class it is.
_WITHOUT_MEANING = ("order", "subok")


@dataclass(frozen=True, slots=True)
class Options:
    """A call's options, read; None where nothing is said."""

    out: tuple[Array | None, ...] | None = None
    where: Array | None = None
    signature: tuple[NumpyDType | None, ...] | None = None
    casting: Casting = "same_kind"
    axes: Axes | None = None
    #: Whether a dimension that a product runs over is left, with size 1.
    keepdims: bool = False

    @property
    def is_plain(self) -> bool:
        """True if results are left as they are, in the element types that follow from the inputs."""
        return (
            self.out is None and self.where is None and self.signature is None and self.casting == "same_kind"
        )


def read_options(
    name: str, like: TypeRules, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], Options]:
    """The inputs of a call, and its options; numpy takes outputs behind the inputs, too."""
    if not like.nin <= len(args) <= like.nargs:
        raise CallError(
            f"{name} takes {like.nin} {'array' if like.nin == 1 else 'arrays'}, and was given {len(args)}",
        )
    kwargs = {key: each for key, each in kwargs.items() if key not in _WITHOUT_MEANING}
    inputs, outs = args[: like.nin], args[like.nin :]
    if outs:
        if "out" in kwargs:
            raise CallError(f"{name} was told twice where to write: behind its inputs, and as out=")
        kwargs["out"] = (*outs, *[None] * (like.nout - len(outs)))
    keepdims = _read_flag("keepdims", kwargs.get("keepdims", False))
    axes = _read_axes(name, like, kwargs)
    options = Options(
        out=read_out(name, kwargs.pop("out", None), like.nout),
        where=read_where(kwargs.pop("where", True)),
        signature=_read_signature(name, like, kwargs),
        casting=read_casting(kwargs.pop("casting", "same_kind")),
        axes=axes,
        keepdims=keepdims,
    )
    if kwargs:
        raise CallError(f"{name} has no option {next(iter(kwargs))!r}")
    return inputs, options


def read_out(name: str, out: Any, count: int) -> tuple[Array | None, ...] | None:
    """The arrays to write to."""
    if out is None:
        return None
    many = cast("tuple[Any, ...]", out) if isinstance(out, tuple) else (out,)
    if len(many) != count:
        raise CallError(f"{name} gives {count} arrays, and out= names {len(many)}")
    for each in many:
        if each is None or isinstance(each, Array):
            continue
        if isinstance(each, Value):
            raise tensor_given(each)
        raise InputTypeError(
            f"{name} writes to arrays of onnxsmith.numpy alone, and out= is {type(each).__name__}",
            help="out=xp.asarray(a) for a copy, or take the result: np.asarray(xp.add(x, y))",
        )
    return None if all(each is None for each in many) else many


def read_where(where: Any) -> Array | None:
    """The truth values that say what is computed; None for all."""
    if (
        where is True or type(where).__name__ == "_NoValueType"
    ):  # as numpy's own code says that nothing is said
        return None
    mask = array_of(where)
    if mask.dtype.kind != "b":
        raise InputTypeError(f"where= is of truth values, not of {mask.dtype.name}")
    return mask


def _read_flag(name: str, value: object) -> bool:
    """A truth value, as numpy takes one."""
    try:
        return bool(value)
    except ValueError:
        raise AttributeTypeError(
            f"{name}= is True or False, not {described_type(type(value))}", culprit=("attribute", name)
        ) from None


def read_casting(casting: object) -> Casting:
    """A rule for conversions."""
    if not isinstance(casting, str) or casting not in _CASTINGS:
        raise AttributeValueError(
            f"there is no casting rule {casting!r}",
            help=f"there are {', '.join(_CASTINGS)}",
            culprit=("attribute", "casting"),
        )
    return casting


def _read_signature(
    name: str, like: TypeRules, kwargs: dict[str, Any]
) -> tuple[NumpyDType | None, ...] | None:
    dtype = kwargs.pop("dtype", None)
    given = kwargs.pop("signature", kwargs.pop("sig", None))
    if dtype is not None:
        if given is not None:
            raise CallError(f"{name} was told its element types twice: as dtype= and as signature=")
        return (*[None] * like.nin, *[dtypes.read(dtype)] * like.nout)
    if given is None:
        return None
    if isinstance(given, str):
        codes = given.replace("->", "")
        if len(codes) != like.nargs:
            raise AttributeValueError(
                f"the signature {given!r} is not one of {name}, which has {like.nin} inputs and {like.nout} outputs",
                culprit=("attribute", "signature"),
            )
        return tuple(np.dtype(each) for each in codes)
    if not isinstance(given, list | tuple) or len(cast("Sequence[Any]", given)) != like.nargs:
        raise AttributeValueError(
            f"a signature of {name} has {like.nin} inputs and {like.nout} outputs",
            culprit=("attribute", "signature"),
        )
    return tuple(None if each is None else dtypes.read(each) for each in cast("Sequence[Any]", given))


def _read_axes(name: str, like: TypeRules, kwargs: dict[str, Any]) -> Axes | None:
    """Where the dimensions of a product stand: all in `axes`, or the one that there is in `axis`."""
    axis, axes, keepdims = kwargs.pop("axis", None), kwargs.pop("axes", None), kwargs.pop("keepdims", False)
    if axis is None and axes is None and not keepdims:
        return None
    if like.signature is None:
        raise CallError(f"{name} runs over single elements and has no axis")
    core = [len([name for name in part.split(",") if name]) for part in _parts(like.signature)]
    if keepdims and core[-1]:
        raise CallError(f"{name} gives a dimension, and keepdims is for products that give none")
    if axis is not None:
        if core[: like.nin] != [1] * like.nin:
            raise CallError(f"{name} runs over more than one dimension: say axes=")
        out = (axis,) if keepdims else ()
        return (*[(axis,)] * like.nin, out)
    if axes is None:
        return (*[tuple(range(-count, 0)) for count in core[: like.nin]], (-1,))
    if not isinstance(axes, list | tuple):
        what = type(cast(object, axes))
        raise AttributeTypeError(
            f"axes= is a list of dimensions, not {described_type(what)}", culprit=("attribute", "axes")
        )
    given = cast("Sequence[int | tuple[int, ...]]", axes)
    made = [each if isinstance(each, tuple) else (each,) for each in given]
    if len(made) == like.nin and core[-1] == 0:
        made.append(())
    if [len(each) for each in made] != core:
        raise AttributeValueError(
            f"axes= has to name the dimensions of {like.signature}, for inputs and output",
            culprit=("attribute", "axes"),
        )
    return tuple(made)


def _parts(signature: str) -> list[str]:
    """The dimensions of each input and output: `(n?,k),(k,m?)->(n?,m?)` has three."""
    return [part.split(")")[0] for part in signature.split("(")[1:]]
