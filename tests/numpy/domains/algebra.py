"""Domains of products, linear algebra and Fourier transforms."""

from __future__ import annotations

from typing import Any

from tests.numpy.domains.samples import ABSENT, ANY, BOTH, FLOAT, INT, MATRICES, PAIRS, A, Given

_SEVERAL: dict[str, Any] = {
    "a": (A("complex128", (2, 3)), A(FLOAT, (3, 2, 2)), A(INT, (3,)), A(FLOAT, (0, 2)), A(FLOAT))
}

#: Function -> parameter -> values. `*` holds the positional arguments of a function that takes any number.
DOMAINS: dict[str, dict[str, Any]] = {
    # -- products
    **{
        name: {"a": (*PAIRS, 2), "b": (*PAIRS, A(FLOAT, (3, 2)), 3.5)}
        for name in ("dot", "inner", "outer", "kron", "vdot")
    },
    "linalg.outer": {"x1": PAIRS, "x2": PAIRS},
    "linalg.matmul": {"x1": PAIRS, "x2": (*PAIRS, A(FLOAT, (2, 3, 2)))},
    "linalg.vecdot": {"x1": PAIRS, "x2": PAIRS, "axis": (-1, 0, -2, 1)},
    "linalg.cross": {
        "x1": (A(FLOAT, (3,)), A(INT, (2, 3)), A(FLOAT, (2,)), A(FLOAT, (3, 3))),
        "x2": (A(FLOAT, (3,), "rising"), A(INT, (3, 3)), A(FLOAT, (2, 3))),
        "axis": (-1, 0, 1),
    },
    "cross": {
        "a": (A(FLOAT, (3,)), A(INT, (2, 3)), A(FLOAT, (3, 2)), A("complex64", (3, 3))),
        "b": (A(FLOAT, (3,), "rising"), A(INT, (3, 3)), A(FLOAT, (2, 3))),
        "axisa": (-1, 0),
        "axisb": (-1, 0, 1),
        "axisc": (-1, 0, 1),
        "axis": (None, 0, -1, 2),
    },
    "tensordot": {
        "a": (A(FLOAT, (2, 3)), A(INT, (3, 2, 2)), A(FLOAT, (3,))),
        "b": (A(FLOAT, (3, 2)), A(FLOAT, (2, 3)), A(INT, (3,)), A(FLOAT, (2, 2, 3))),
        "axes": (
            0,
            1,
            2,
            -1,
            ((0,), (0,)),
            ((1, 0), (0, 1)),
            (0, 1),
            ((-1,), (0,)),
            ((0, 1), (0,)),
            ((0, 0), (0, 0)),
        ),
    },
    "linalg.tensordot": {
        "x1": (A(FLOAT, (2, 3)), A(FLOAT, (3,))),
        "x2": (A(FLOAT, (3, 2)), A(FLOAT, (2, 3)), A(INT, (3,))),
        "axes": (0, 1, 2, ((0,), (0,)), ((1, 0), (0, 1))),
    },
    "linalg.multi_dot": {
        "arrays": (
            [A(FLOAT, (2, 3)), A(FLOAT, (3, 2))],
            [A(FLOAT, (3,)), A(FLOAT, (3, 2)), A(FLOAT, (2,))],
            [A(FLOAT, (2, 3)), A(INT, (3, 2)), A(FLOAT, (2, 2))],
            [A(FLOAT, (2, 2))],
            [A(FLOAT, (2, 3)), A(FLOAT, (2, 3))],
            [A(FLOAT, (3,)), A(FLOAT, (3,))],
        )
    },
    "einsum": {
        "*": tuple(
            (text, *given)
            for text in (
                "ii->i",
                "ii",
                "ij->ji",
                "ij",
                "ji",
                "i->",
                "ij,jk->ik",
                "ij,jk",
                "i,i",
                "i,j",
                "...i->...",
                "...ij->...ji",
                "ij->j",
                "ij,ij->i",
                "i...,i...",
                "",
                "ii->ii",
                "ijk->kj",
                "ij-> i",
                "i,",
                "ij->k",
                "i->ii",
                "j,ij->",
                "i...->...",
                "iji",
            )
            for given in (
                (A(FLOAT, (2, 2)),),
                (A(INT, (3,)),),
                (A(FLOAT, (2, 3)), A(FLOAT, (3, 2))),
                (A(FLOAT, (2, 3)), A(INT, (2, 3))),
                (A(FLOAT, (3,)), A(FLOAT, (3,), "rising")),
                (A("float32", (2, 3, 2)),),
                (A(FLOAT),),
                (A(FLOAT, (0, 2)),),
                (A(FLOAT, (2, 0)),),
                (A(FLOAT, (0,)), A(INT, (2, 0))),
                (A("float32", (2, 0, 2)),),
            )
        )
    },
    # -- linear algebra
    **{f"linalg.{each}": {"a": MATRICES} for each in ("det", "inv", "slogdet", "eigvals")},
    "linalg.cholesky": {
        "a": (
            *MATRICES,
            Given("[[4.0, 1.0], [1.0, 3.0]]"),
            Given("[[4.0, 1j], [-1j, 3.0]]"),
            Given("[[4, 9], [1, 3]]"),
        ),
        "upper": BOTH,
    },
    "linalg.eigvalsh": {"a": MATRICES},
    "linalg.svdvals": {"x": MATRICES},
    "linalg.matrix_rank": {"A": MATRICES, "tol": (None, 1.0), "hermitian": (False,)},
    "linalg.matrix_power": {"a": MATRICES, "n": (-2, -1, 0, 1, 2, 3, 5, 1.5)},
    "linalg.norm": {
        "x": (
            A(FLOAT, (3,)),
            A(INT, (2, 3)),
            A(FLOAT, (2, 2, 2)),
            A("complex64", (2, 2)),
            A(FLOAT, (0,)),
            A(FLOAT, (0, 2)),
            A(FLOAT),
        ),
        "ord": (None, 0, 1, -1, 2, -2, 3, float("inf"), float("-inf"), "fro", "nuc", 0.5, "odd"),
        "axis": (None, 0, -1, (0, 1), (-1, -2), (0,), 5, (0, 0)),
    },
    "linalg.matrix_norm": {"x": MATRICES, "ord": ("fro", "nuc", 1, -1, 2, -2, float("inf"), 3)},
    "linalg.vector_norm": {
        "x": (A(FLOAT, (3,)), A(INT, (2, 3)), A("complex64", (2, 2)), A(FLOAT, (0,)), A(FLOAT)),
        "axis": (None, 0, -1, (0, 1), 5),
        "ord": (0, 1, 2, 3, float("inf"), float("-inf"), 0.5, -1),
    },
    "linalg.cond": {"x": MATRICES, "p": (None, 1, -1, 2, -2, "fro", float("inf"), "odd")},
    "linalg.solve": {
        "a": MATRICES,
        "b": (
            A(FLOAT, (2,)),
            A(FLOAT, (2, 1)),
            A(INT, (3, 2)),
            A(FLOAT, (2, 2, 2)),
            A(FLOAT, (0,)),
            A("complex64", (2, 2)),
        ),
    },
    "linalg.pinv": {"a": MATRICES[:-2], "rcond": (ABSENT, 0.1)},
    "linalg.lstsq": {
        "a": MATRICES[:4],
        "b": (A(FLOAT, (2,)), A(FLOAT, (2, 1)), A(INT, (3, 2)), A(FLOAT, (0,))),
    },
    "linalg.tensorinv": {"a": (A(FLOAT, (2, 2)), A(FLOAT, (4, 2, 2)), A(FLOAT, (2, 3))), "ind": (1, 2, 0)},
    "linalg.tensorsolve": {
        "a": (A(FLOAT, (2, 2)), A(FLOAT, (2, 2, 4))),
        "b": (A(FLOAT, (2,)), A(FLOAT, (2, 2))),
    },
    # -- Fourier transforms
    **{
        f"fft.{each}": {
            "a": (
                A(FLOAT, (3,)),
                A("complex64", (2, 4)),
                A(INT, (1,)),
                A(FLOAT, (0,)),
                A("bool", (2, 2)),
                A(FLOAT),
            ),
            "n": (None, 1, 2, 5, 0, -1),
            "axis": (-1, 0, 1, 2),
        }
        for each in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
    },
    **{
        f"fft.{each}": {
            **_SEVERAL,
            "s": (ABSENT, (2, 2), (3,), (4, -1)),
            "axes": (ABSENT, (0, 1), (0,), (-1, 0), (0, 0), 0),
        }
        for each in ("fft2", "ifft2", "rfft2", "irfft2", "fftn", "ifftn", "rfftn", "irfftn")
    },
    **{
        f"fft.{each}": {"x": ANY, "axes": (ABSENT, None, 0, 1, -1, (0, 1), (), (0, 0), 3)}
        for each in ("fftshift", "ifftshift")
    },
    **{
        f"fft.{each}": {"n": (0, 1, 2, 5, 6, -1, 2.0), "d": (1.0, 0.5, 2)} for each in ("fftfreq", "rfftfreq")
    },
}
