"""Arithmetic, parts and comparisons of complex numbers."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("onnxruntime")

from tests.torch.library.together import agree  # noqa: E402  # torch may be missing

A = torch.tensor([[1.5, -2.0, 0.0, 0.5], [0.25, 3.0, -1.0, 2.0]])
B = torch.tensor([[0.5, 1.0, -2.0, 0.0], [2.0, -0.75, 1.0, 2.0]])
aten, prims, real = torch.ops.aten, torch.ops.prims, torch.view_as_real


def of(function: Any) -> Any:
    """The function of two complex numbers, with real parts of its result."""

    def called(a: Any, b: Any) -> Any:
        found = function(torch.complex(a, b), torch.complex(b, a + 1))
        return real(found.resolve_conj().resolve_neg()) if found.is_complex() else found

    return called


PARTS: dict[str, Any] = {
    "complex": of(lambda x, y: x),
    "polar": lambda a, b: real(torch.polar(a.abs(), b)),
    "view_as_complex": lambda a, b: real(torch.view_as_complex(torch.stack([a, b], -1)) * 2),
    "real": of(lambda x, y: x.real),
    "imag": of(lambda x, y: y.imag),
    "real of real": lambda a, b: torch.real(a),
    "conj": of(lambda x, y: x.conj()),
    "conj_physical": of(lambda x, y: torch.conj_physical(y)),
    "conj of real": lambda a, b: a.conj(),
    "neg": of(lambda x, y: -x),
    "imaginary part of the conjugate": of(lambda x, y: x.conj().imag),
    "adjoint": of(lambda x, y: x.mH),
    "adjoint of real": lambda a, b: a.mH,
    "abs": of(lambda x, y: x.abs()),
    "angle": of(lambda x, y: x.angle()),
    "angle of real": lambda a, b: a.angle(),
    "sgn": of(lambda x, y: x.sgn()),
    "size": of(lambda x, y: x * x.numel()),
}
ARITHMETIC: dict[str, Any] = {
    "add": of(lambda x, y: x + y),
    "add, alpha": of(lambda x, y: torch.add(x, y, alpha=2)),
    "add a number": of(lambda x, y: x + (1 - 2j)),
    "add real": of(lambda x, y: x + y.real),
    "sub": of(lambda x, y: torch.sub(x, y, alpha=3)),
    "rsub": of(lambda x, y: torch.rsub(x, y, alpha=0.5)),
    "rsub a number": of(lambda x, y: 2j - x),
    "mul": of(lambda x, y: x * y),
    "mul by a number": of(lambda x, y: x * 3j),
    "mul by real": of(lambda x, y: x * y.imag),
    "div": of(lambda x, y: x / y),
    "div by a number": of(lambda x, y: x / (1 + 1j)),
    "div by real": of(lambda x, y: x / (y.imag + 5)),
    "real by complex": of(lambda x, y: x.real / y),
    "reciprocal": of(lambda x, y: y.reciprocal()),
    "square": of(lambda x, y: x.square()),
    "addcmul": of(lambda x, y: torch.addcmul(x, y, x, value=0.5)),
    "addcdiv": of(lambda x, y: torch.addcdiv(x, x, y, value=2)),
    "lerp": of(lambda x, y: torch.lerp(x, y, 0.25)),
    "lerp, tensor": of(lambda x, y: torch.lerp(x, y, x)),
    "prims": of(lambda x, y: prims.div(prims.mul(prims.add(x, y), prims.sub(x, y)), y)),
}
TRUTH: dict[str, Any] = {
    "eq": of(lambda x, y: x == x.conj()),
    "eq, a number": of(lambda x, y: x == (1.5 + 0.5j)),
    "ne": of(lambda x, y: x != x.conj()),
    "ne, a number": of(lambda x, y: x != (1.5 + 0.5j)),
    "isnan": of(lambda x, y: torch.isnan(torch.complex(x.real / 0, y.imag))),
    "isinf": of(lambda x, y: torch.isinf(x * float("inf"))),
    "isfinite": of(lambda x, y: torch.isfinite(x)),
    "isreal": of(lambda x, y: torch.isreal(x)),
    "logical_and": of(lambda x, y: torch.logical_and(x - x.real, y)),
    "logical_or": of(lambda x, y: torch.logical_or(x - x.conj(), x.real)),
    "logical_xor": of(lambda x, y: torch.logical_xor(x - x.conj(), y)),
    "logical_not": of(lambda x, y: torch.logical_not(x - x.conj())),
    "isclose": of(lambda x, y: torch.isclose(x, x + 1e-3, rtol=1e-3)),
    "nan_to_num": of(lambda x, y: torch.nan_to_num(torch.complex(x.real / 0, y.imag), 7, 8, 9)),
    "pow": of(lambda x, y: x**2),
    "pow, tensor": of(lambda x, y: y**x),
    "pow of a number": of(lambda x, y: torch.pow(2, x)),
    "sinc": of(lambda x, y: torch.sinc(x)),
    "where": of(lambda x, y: torch.where(x.real > 0, x, y)),
}


@pytest.mark.parametrize("functions", [PARTS, ARITHMETIC, TRUTH])
def test_functions_are_those_of_torch(functions: dict[str, Any]) -> None:
    agree(functions, A, B)
