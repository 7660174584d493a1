"""Writes `src/onnxsmith/algorithms/special/approximations.py`: polynomials for functions that ONNX has no operator for.

Each is the interpolation of a smooth function at Chebyshev's points, computed with forty digits, cut where it is good
to double precision, and written as coefficients of powers of `t` in [-1, 1], the highest first (for Horner's rule).

    python tools/generate_approximations.py
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import mpmath as mp

TARGET = Path(__file__).parents[1] / "src/onnxsmith/algorithms/special/approximations.py"
HEADER = '''"""Polynomials for functions that ONNX has no operator for.

Coefficients of powers of `t` in [-1, 1], highest first. Written by `tools/generate_approximations.py`, which
says what each is of; not edited by hand.
"""

# fmt: off
'''
POINTS = 64
#: Where a series is cut, relative to its largest coefficient.
PRECISION = 2e-17


def _hankel(order: int, x: Any) -> Any:
    """What is left of a Hankel function when its wave is taken off: P + iQ."""
    wave = mp.exp(1j * (x - (2 * order + 1) * mp.pi / 4)) * mp.sqrt(2 / (mp.pi * x))
    return mp.hankel1(order, x) / wave


def _airy_wave(z: Any) -> Any:
    """Ai(-x) and Bi(-x), with z = 1/zeta and zeta = 2/3 x^(3/2), as an amplitude beside a wave."""
    zeta = 1 / z
    x = (3 * zeta / 2) ** (mp.mpf(2) / 3)
    wave = mp.exp(1j * (zeta + mp.pi / 4)) / (mp.sqrt(mp.pi) * mp.root(x, 4))
    return (mp.airybi(-x) + 1j * mp.airyai(-x)) / wave


def _airy_tail(z: Any) -> Any:
    zeta = 1 / z
    x = (3 * zeta / 2) ** (mp.mpf(2) / 3)
    return mp.airyai(x) * 2 * mp.sqrt(mp.pi) * mp.root(x, 4) * mp.exp(zeta)


def _erfcx(x: Any) -> Any:
    return mp.exp(x * x) * mp.erfc(x)


def _inverse_erfc(w: Any) -> Any:
    """y / x with x = erf(y), as a function of w = -log(1 - x^2)."""
    tail = mp.exp(-w)
    rest = tail / (1 + mp.sqrt(1 - tail))  # 1 - x
    guess = mp.sqrt(mp.log(1 / rest)) if rest < 0.1 else mp.mpf(0.5)
    y = mp.findroot(lambda y: mp.log(mp.erfc(y)) - mp.log(rest), guess) if rest < 0.9 else mp.erfinv(1 - rest)
    return y / (1 - rest)


ZETA_OF_4 = mp.mpf(16) / 3

#: name -> (function, from, to); the comment in the code that uses a polynomial says what its variable is.
APPROXIMATED: dict[str, tuple[Callable[[Any], Any], Any, Any]] = {
    "I0_NEAR": (lambda x: mp.exp(-x) * mp.besseli(0, x), 0, 8),
    "I0_FAR": (lambda z: mp.sqrt(1 / z) * mp.exp(-1 / z) * mp.besseli(0, 1 / z), 0, mp.mpf(1) / 8),
    "I1_NEAR": (lambda x: mp.exp(-x) * mp.besseli(1, x) / x, 0, 8),
    "I1_FAR": (lambda z: mp.sqrt(1 / z) * mp.exp(-1 / z) * mp.besseli(1, 1 / z), 0, mp.mpf(1) / 8),
    "K0_NEAR": (
        lambda s: mp.besselk(0, mp.sqrt(s)) + mp.log(mp.sqrt(s) / 2) * mp.besseli(0, mp.sqrt(s)),
        0,
        4,
    ),
    "K0_FAR": (lambda z: mp.sqrt(1 / z) * mp.exp(1 / z) * mp.besselk(0, 1 / z), 0, mp.mpf(1) / 2),
    "K1_NEAR": (
        lambda s: (
            mp.sqrt(s) * (mp.besselk(1, mp.sqrt(s)) - mp.log(mp.sqrt(s) / 2) * mp.besseli(1, mp.sqrt(s)))
        ),
        0,
        4,
    ),
    "K1_FAR": (lambda z: mp.sqrt(1 / z) * mp.exp(1 / z) * mp.besselk(1, 1 / z), 0, mp.mpf(1) / 2),
    "J0_NEAR": (lambda s: mp.besselj(0, mp.sqrt(s)), 0, 64),
    "J1_NEAR": (lambda s: mp.besselj(1, mp.sqrt(s)) / mp.sqrt(s), 0, 64),
    "Y0_NEAR": (
        lambda s: mp.bessely(0, mp.sqrt(s)) - mp.log(s) / mp.pi * mp.besselj(0, mp.sqrt(s)),
        0,
        64,
    ),
    "Y1_NEAR": (
        lambda s: (
            (
                mp.bessely(1, mp.sqrt(s))
                - mp.log(s) / mp.pi * mp.besselj(1, mp.sqrt(s))
                + 2 / (mp.pi * mp.sqrt(s))
            )
            / mp.sqrt(s)
        ),
        0,
        64,
    ),
    "P0_FAR": (lambda z: mp.re(_hankel(0, 1 / mp.sqrt(z))), 0, mp.mpf(1) / 64),
    "Q0_FAR": (lambda z: mp.im(_hankel(0, 1 / mp.sqrt(z))) / mp.sqrt(z), 0, mp.mpf(1) / 64),
    "P1_FAR": (lambda z: mp.re(_hankel(1, 1 / mp.sqrt(z))), 0, mp.mpf(1) / 64),
    "Q1_FAR": (lambda z: mp.im(_hankel(1, 1 / mp.sqrt(z))) / mp.sqrt(z), 0, mp.mpf(1) / 64),
    "AIRY_NEAR": (mp.airyai, -4, 4),
    "AIRY_FAR": (_airy_tail, 0, 1 / ZETA_OF_4),
    "AIRY_COSINE": (lambda z: mp.im(_airy_wave(mp.sqrt(z))) / mp.sqrt(z), 0, 1 / ZETA_OF_4**2),
    "AIRY_SINE": (lambda z: mp.re(_airy_wave(mp.sqrt(z))), 0, 1 / ZETA_OF_4**2),
    "ERF_NEAR": (lambda s: mp.erf(mp.sqrt(s)) / mp.sqrt(s), 0, 1),
    "ERFCX": (lambda t: _erfcx(3.75 * (1 + t) / (1 - t)) * (1 + 2 * 3.75 * (1 + t) / (1 - t)), -1, 1),
    "ERFINV_NEAR": (_inverse_erfc, 0, 6.25),
    "ERFINV_FAR": (lambda s: _inverse_erfc(s * s), 2.5, 5),
    "ERFINV_FARTHEST": (lambda z: _inverse_erfc(1 / z**2) * z, mp.mpf(1) / 28, mp.mpf(1) / 5),
    "ATAN": (lambda s: mp.atan(mp.sqrt(s)) / mp.sqrt(s), 0, 1),
}


def _interpolated(function: Callable[[Any], Any], low: Any, high: Any) -> list[Any]:
    """The Chebyshev coefficients of a function on an interval, cut where they are small."""
    angles = [mp.pi * (k + mp.mpf(1) / 2) / POINTS for k in range(POINTS)]
    values = [function(low + (high - low) * (1 + mp.cos(angle)) / 2) for angle in angles]
    series = [
        2 * sum(v * mp.cos(j * a) for v, a in zip(values, angles, strict=True)) / POINTS
        for j in range(POINTS)
    ]
    series[0] /= 2
    limit = max(abs(each) for each in series) * PRECISION
    last = max(j for j, each in enumerate(series) if abs(each) > limit)
    return series[: last + 1]


def _powers(series: list[Any]) -> list[Any]:
    """The coefficients of powers, lowest first, of a sum of Chebyshev polynomials."""
    total = [mp.mpf(0)] * len(series)
    before, current = [mp.mpf(1)], [mp.mpf(0), mp.mpf(1)]
    for j, coefficient in enumerate(series):
        polynomial = before if j == 0 else current
        for k, each in enumerate(polynomial):
            total[k] += coefficient * each
        if j:
            following = [mp.mpf(0), *(2 * each for each in current)]
            for k, each in enumerate(before):
                following[k] -= each
            before, current = current, following
    return total


def main() -> None:
    mp.mp.dps = 40
    lines = [HEADER]
    for name, (function, low, high) in APPROXIMATED.items():
        coefficients = [float(each) for each in reversed(_powers(_interpolated(function, low, high)))]
        print(name, len(coefficients), max(abs(each) for each in coefficients))
        rows = [", ".join(map(repr, coefficients[k : k + 4])) for k in range(0, len(coefficients), 4)]
        lines.append(f"{name} = (\n" + "".join(f"    {row},\n" for row in rows) + ")\n")
    TARGET.write_text("".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
