"""Torch's primitive operators, each against itself."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("onnxruntime")

from tests.torch.library.together import agree  # noqa: E402  # torch may be missing

X = torch.tensor([[0.5, -0.25, 0.75], [0.125, 0.9, -0.6]])
WHOLE = torch.tensor([[6, 3, 5], [1, 12, 10]])
TRUTH = torch.tensor([[True, False, True], [False, False, True]])
prims = torch.ops.prims

UNARY: dict[str, Any] = {
    **{
        name: lambda x, n, t, name=name: getattr(prims, name)(x)
        for name in (
            *("abs", "acos", "asin", "asinh", "atan", "atanh", "ceil", "cos", "cosh", "erf", "exp", "floor"),
            *(
                "neg",
                "reciprocal",
                "round",
                "sign",
                "sin",
                "sinh",
                "tan",
                "tanh",
                "isfinite",
                "cbrt",
                "trunc",
            ),
        )
    },
    **{
        name: lambda x, n, t, name=name: getattr(prims, name)(x.abs() + 1)
        for name in (
            "acosh",
            "log",
            "sqrt",
            "rsqrt",
            "log1p",
            "log2",
            "log10",
            "lgamma",
            "exp2",
            "expm1",
            "digamma",
        )
    },
    "isfinite of none": lambda x, n, t: prims.isfinite((x - x) / (x - x)),
    "isfinite of integers": lambda x, n, t: prims.isfinite(n),
    "abs of integers": lambda x, n, t: prims.abs(-n),
    "bitwise_not": lambda x, n, t: [prims.bitwise_not(n), prims.bitwise_not(t)],
}
BINARY: dict[str, Any] = {
    **{
        name: lambda x, n, t, name=name: [
            getattr(prims, name)(x, x.flip(1)),
            getattr(prims, name)(n, n.flip(1)),
        ]
        for name in ("add", "sub", "mul", "maximum", "minimum", "eq", "ge", "gt", "le", "lt", "ne")
    },
    "div": lambda x, n, t: prims.div(x, x.flip(0)),
    "pow": lambda x, n, t: prims.pow(x.abs(), x),
    "atan2": lambda x, n, t: prims.atan2(x, x.flip(0)),
    "fmax": lambda x, n, t: prims.fmax(x, x.flip(0)),
    "hypot": lambda x, n, t: prims.hypot(x, x.flip(0)),
    "add of truth": lambda x, n, t: prims.add(t, t.flip(0)),
    "mul of truth": lambda x, n, t: prims.mul(t, t.flip(0)),
    "maximum of truth": lambda x, n, t: prims.maximum(t, t.flip(0)),
    **{
        name: lambda x, n, t, name=name: [
            getattr(prims, name)(n, n.flip(1)),
            getattr(prims, name)(t, t.flip(1)),
        ]
        for name in ("bitwise_and", "bitwise_or", "bitwise_xor")
    },
    "gcd": lambda x, n, t: prims.gcd(n, n.flip(1)),
    "shift_left": lambda x, n, t: prims.shift_left(n, n.flip(1) % 4),
    "shift_right": lambda x, n, t: prims.shift_right_arithmetic(n, n.flip(1) % 3),
    "where": lambda x, n, t: prims.where(t, x, x.flip(0)),
}
SHAPES: dict[str, Any] = {
    **{
        name: lambda x, n, t, name=name: getattr(prims, name)(x, [1])
        for name in ("amax", "amin", "sum", "prod")
    },
    "sum of all": lambda x, n, t: prims.sum(x, [0, 1]),
    "broadcast_in_dim": lambda x, n, t: prims.broadcast_in_dim(x, [4, 2, 5, 3], [1, 3]),
    "broadcast, same rank": lambda x, n, t: prims.broadcast_in_dim(x[:1], [2, 3], [0, 1]),
    "reshape": lambda x, n, t: prims.reshape(x, [3, 2]),
    "collapse": lambda x, n, t: prims.collapse(x, 0, 1),
    "split_dim": lambda x, n, t: prims.split_dim(x.T, 0, 3),
    "squeeze": lambda x, n, t: prims.squeeze(x[:, None], [1]),
    "transpose": lambda x, n, t: prims.transpose(x, [1, 0]),
    "cat": lambda x, n, t: prims.cat([x, x + 1], 1),
    "cat of one": lambda x, n, t: prims.cat([x], 0),
    "iota": lambda x, n, t: (
        n + prims.iota(3, start=2, step=5, dtype=torch.int64, device=x.device, requires_grad=False)
    ),
    "convert_element_type": lambda x, n, t: prims.convert_element_type(x, torch.float64),
}


@pytest.mark.parametrize("functions", [UNARY, BINARY, SHAPES])
def test_functions_are_those_of_torch(functions: dict[str, Any]) -> None:
    agree(functions, X, WHOLE, TRUTH)
