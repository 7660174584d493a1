"""The signature of a universal function, as `inspect.signature` shows it: the parameters that numpy documents.

The call itself takes what it is given; `ufunc_options` reads it.
"""

from __future__ import annotations

from inspect import Parameter, Signature
from typing import Protocol

_COMMON = {"casting": "same_kind", "order": "K", "dtype": None, "subok": True, "signature": None}


class _Counted(Protocol):
    """A universal function, as far as its signature needs it."""

    @property
    def nin(self) -> int: ...

    @property
    def nout(self) -> int: ...

    @property
    def signature(self) -> str | None: ...


class SignatureOf:
    """The attribute that `inspect.signature` asks a universal function for; its class has none."""

    def __get__(self, instance: _Counted | None, owner: type) -> Signature:
        if instance is None:
            raise AttributeError("__signature__")
        return signature_of(instance)


def signature_of(ufunc: _Counted) -> Signature:
    """The parameters of a universal function: a product has axes, one of single elements a mask."""
    names = ["x"] if ufunc.nin == 1 else [f"x{number + 1}" for number in range(ufunc.nin)]
    out = None if ufunc.nout == 1 else (None,) * ufunc.nout
    options: dict[str, object] = (
        {"where": True} if ufunc.signature is None else {"axes": None, "axis": None, "keepdims": False}
    )
    return Signature(
        [
            *[Parameter(name, Parameter.POSITIONAL_ONLY) for name in names],
            Parameter("out", Parameter.POSITIONAL_OR_KEYWORD, default=out),
            *[
                Parameter(name, Parameter.KEYWORD_ONLY, default=default)
                for name, default in {**options, **_COMMON}.items()
            ],
        ]
    )
