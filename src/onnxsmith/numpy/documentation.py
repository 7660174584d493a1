"""Documentation of functions that are made of a rule: a sentence, a call and its result.

Universal functions, transforms and special functions have no `def` that a docstring could stand under.
"""

from __future__ import annotations

from typing import Protocol

#: Name -> what it computes, the arguments of a call (or the expression that has it), and what that gives.
EXAMPLES: dict[str, tuple[str, str, str]] = {
    "abs": ("The distance from zero.", "[-1, 2]", "Array([1, 2])"),
    "acos": ("The angle whose cosine is x.", "[1.0, 0.0]", "Array([0.        , 1.57079633])"),
    "acosh": ("The number whose hyperbolic cosine is x.", "[1.0]", "Array([0.])"),
    "add": ("The sum.", "[1, 2], 10", "Array([11, 12])"),
    "asin": ("The angle whose sine is x.", "[0.0, 1.0]", "Array([0.        , 1.57079633])"),
    "asinh": ("The number whose hyperbolic sine is x.", "[0.0]", "Array([0.])"),
    "atan": ("The angle whose tangent is x.", "[0.0, 1.0]", "Array([0.        , 0.78539816])"),
    "atan2": (
        "The angle of the point (x2, x1), in all four quadrants.",
        "[1.0], [-1.0]",
        "Array([2.35619449])",
    ),
    "atanh": ("The number whose hyperbolic tangent is x.", "[0.0, 0.5]", "Array([0.        , 0.54930614])"),
    "bitwise_and": ("The bits that both have.", "[6], 3", "Array([2])"),
    "bitwise_count": (
        "How many bits of the distance from zero are 1.",
        "[7, 8]",
        "Array([3, 1], dtype=uint8)",
    ),
    "bitwise_invert": ("All bits the other way round.", "[0, 5]", "Array([-1, -6])"),
    "bitwise_left_shift": ("The bits moved up.", "[1, 3], 2", "Array([ 4, 12])"),
    "bitwise_or": ("The bits that either has.", "[6], 3", "Array([7])"),
    "bitwise_right_shift": ("The bits moved down.", "[12], 2", "Array([3])"),
    "bitwise_xor": ("The bits that only one of both has.", "[6], 3", "Array([5])"),
    "cbrt": ("The cube root.", "[8.0, 27.0]", "Array([2., 3.])"),
    "ceil": ("The next whole number upwards.", "[1.2, -1.2]", "Array([ 2., -1.])"),
    "conj": ("The complex conjugate.", "[1 + 2j]", "Array([1.-2.j])"),
    "copysign": ("The first with the sign of the second.", "[1.0, 2.0], -1.0", "Array([-1., -2.])"),
    "cos": ("The cosine of an angle in radians.", "[0.0, xp.pi]", "Array([ 1., -1.])"),
    "cosh": ("The hyperbolic cosine.", "[0.0]", "Array([1.])"),
    "deg2rad": ("Radians of degrees.", "[180.0]", "Array([3.14159265])"),
    "degrees": ("Degrees of radians.", "[xp.pi]", "Array([180.])"),
    "divide": ("The quotient; of integers it is a float.", "[1, 2], 2", "Array([0.5, 1. ])"),
    "divmod": ("The quotient rounded down, and the remainder.", "[7], 3", "(Array([2]), Array([1]))"),
    "equal": ("Where both are equal.", "[1, 2], [1, 3]", "Array([ True, False])"),
    "exp": ("The exponential.", "[0.0, 1.0]", "Array([1.        , 2.71828183])"),
    "exp2": ("Two to the power of x.", "[3.0]", "Array([8.])"),
    "expm1": ("The exponential less 1, precise where x is small.", "[0.0, 1e-10]", "Array([0.e+00, 1.e-10])"),
    "fabs": ("The distance from zero, as a float.", "[-1, 2]", "Array([1., 2.])"),
    "float_power": ("A power, in double precision.", "[2], -1", "Array([0.5])"),
    "floor": ("The next whole number downwards.", "[1.8, -1.2]", "Array([ 1., -2.])"),
    "floor_divide": ("The quotient rounded down.", "[7, -7], 2", "Array([ 3, -4])"),
    "fmax": ("The larger; a number rather than nan.", "[1.0, xp.nan], 0.5", "Array([1. , 0.5])"),
    "fmin": ("The smaller; a number rather than nan.", "[1.0, xp.nan], 2.0", "Array([1., 2.])"),
    "fmod": ("The remainder with the sign of the first, as C has it.", "[7, -7], 3", "Array([ 1, -1])"),
    "frexp": (
        "A fraction from 0.5, and the power of two that it is multiplied by.",
        "[6.0]",
        "(Array([0.75]), Array([3], dtype=int32))",
    ),
    "gcd": ("The greatest common divisor.", "[12, 18], 8", "Array([4, 2])"),
    "greater": ("Where the first is greater.", "[1, 3], 2", "Array([False,  True])"),
    "greater_equal": ("Where the first is greater or both are equal.", "[1, 2], 2", "Array([False,  True])"),
    "heaviside": (
        "0 below zero, 1 above, and the second at zero.",
        "[-1.0, 0.0, 2.0], 0.5",
        "Array([0. , 0.5, 1. ])",
    ),
    "hypot": ("The hypotenuse of a right triangle with these legs.", "[3.0], [4.0]", "Array([5.])"),
    "invert": (
        "All bits the other way round; of truth values, the other one.",
        "[True, False]",
        "Array([False,  True])",
    ),
    "isfinite": (
        "Where it is neither nan nor infinite.",
        "[1.0, xp.inf, xp.nan]",
        "Array([ True, False, False])",
    ),
    "isinf": ("Where it is infinite.", "[1.0, xp.inf]", "Array([False,  True])"),
    "isnan": ("Where it is nan.", "[1.0, xp.nan]", "Array([False,  True])"),
    "lcm": ("The least common multiple.", "[4, 6], 10", "Array([20, 30])"),
    "ldexp": ("The first times two to the power of the second.", "[0.75], 3", "Array([6.])"),
    "less": ("Where the first is less.", "[1, 3], 2", "Array([ True, False])"),
    "less_equal": ("Where the first is less or both are equal.", "[2, 3], 2", "Array([ True, False])"),
    "log": ("The natural logarithm.", "[1.0, xp.e]", "Array([0., 1.])"),
    "log10": ("The logarithm to base 10.", "[1000.0]", "Array([3.])"),
    "log1p": ("The logarithm of 1 + x, precise where x is small.", "[0.0, 1e-10]", "Array([0.e+00, 1.e-10])"),
    "log2": ("The logarithm to base 2.", "[8.0]", "Array([3.])"),
    "logaddexp": ("The logarithm of a sum of exponentials.", "[0.0], 0.0", "Array([0.69314718])"),
    "logaddexp2": ("The same to base 2.", "[0.0], 0.0", "Array([1.])"),
    "logical_and": ("Where both are true.", "[True, True], [True, False]", "Array([ True, False])"),
    "logical_not": ("Where it is false.", "[True, False]", "Array([False,  True])"),
    "logical_or": ("Where either is true.", "[False, True], False", "Array([False,  True])"),
    "logical_xor": ("Where one of both is true.", "[True, True], [True, False]", "Array([False,  True])"),
    "matmul": ("The product of matrices: `a @ b`.", "[[1, 2]], [[3], [4]]", "Array([[11]])"),
    "matvec": ("The product of a matrix and a vector.", "[[1, 2], [3, 4]], [1, 1]", "Array([3, 7])"),
    "maximum": ("The larger; nan where one is nan.", "[1, 5], 3", "Array([3, 5])"),
    "minimum": ("The smaller; nan where one is nan.", "[1, 5], 3", "Array([1, 3])"),
    "mod": ("The remainder with the sign of the second, as Python has it.", "[7, -7], 3", "Array([1, 2])"),
    "modf": (
        "The fraction and the whole part.",
        "[1.5, -2.25]",
        "(Array([ 0.5 , -0.25]), Array([ 1., -2.]))",
    ),
    "multiply": ("The product.", "[1, 2], 10", "Array([10, 20])"),
    "negative": ("The same with the other sign.", "[1, -2]", "Array([-1,  2])"),
    "nextafter": (
        "The float next to the first, towards the second.",
        "xp.nextafter([1.0], 2.0) > 1",
        "Array([ True])",
    ),
    "not_equal": ("Where both differ.", "[1, 2], [1, 3]", "Array([False,  True])"),
    "positive": ("The same.", "[1, -2]", "Array([ 1, -2])"),
    "pow": ("The first to the power of the second.", "[2, 3], 2", "Array([4, 9])"),
    "rad2deg": ("Degrees of radians.", "[xp.pi]", "Array([180.])"),
    "radians": ("Radians of degrees.", "[180.0]", "Array([3.14159265])"),
    "reciprocal": ("One divided by x.", "[2.0, 4.0]", "Array([0.5 , 0.25])"),
    "remainder": (
        "The remainder with the sign of the second; `mod` is another name of it.",
        "[7, -7], 3",
        "Array([1, 2])",
    ),
    "rint": ("The nearest whole number; a half goes to the even one.", "[0.5, 1.5]", "Array([0., 2.])"),
    "sign": ("-1, 0 or 1.", "[-3, 0, 5]", "Array([-1,  0,  1])"),
    "signbit": ("Where the sign is a minus, also that of -0.0.", "[-0.0, 1.0]", "Array([ True, False])"),
    "sin": ("The sine of an angle in radians.", "[0.0, xp.pi / 2]", "Array([0., 1.])"),
    "sinh": ("The hyperbolic sine.", "[0.0]", "Array([0.])"),
    "spacing": ("The distance to the next float.", "[1.0]", "Array([2.22044605e-16])"),
    "sqrt": ("The square root.", "[4.0, 9.0]", "Array([2., 3.])"),
    "square": ("The product with itself.", "[2, 3]", "Array([4, 9])"),
    "subtract": ("The difference.", "[5, 6], 1", "Array([4, 5])"),
    "tan": ("The tangent of an angle in radians.", "[0.0]", "Array([0.])"),
    "tanh": ("The hyperbolic tangent.", "[0.0, 1.0]", "Array([0.        , 0.76159416])"),
    "true_divide": ("The quotient; numpy's name of `divide`.", "[1, 2], 2", "Array([0.5, 1. ])"),
    "trunc": ("The whole part.", "[1.7, -1.7]", "Array([ 1., -1.])"),
    "vecdot": ("The sum of products along an axis; the first is conjugated.", "[1, 2], [3, 4]", "Array(11)"),
    "vecmat": (
        "The product of a vector and a matrix; the vector is conjugated.",
        "[1, 1], [[1, 2], [3, 4]]",
        "Array([4, 6])",
    ),
    "fft.fft": (
        "The discrete Fourier transform along an axis.",
        "[1.0, 0.0, 0.0, 0.0]",
        "Array([1.+0.j, 1.+0.j, 1.+0.j, 1.+0.j])",
    ),
    "fft.ifft": ("The inverse of `fft`.", "[4.0, 0.0, 0.0, 0.0]", "Array([1.+0.j, 1.+0.j, 1.+0.j, 1.+0.j])"),
    "fft.rfft": (
        "The transform of real numbers: its first half, which says the other.",
        "[1.0, 0.0, 0.0, 0.0]",
        "Array([1.+0.j, 1.+0.j, 1.+0.j])",
    ),
    "fft.irfft": ("The inverse of `rfft`.", "[4.0, 0.0, 0.0]", "Array([1., 1., 1., 1.])"),
    "fft.hfft": (
        "The transform of a signal whose second half is the conjugate of the first: real numbers.",
        "[1.0, 0.0, 0.0]",
        "Array([1., 1., 1., 1.])",
    ),
    "fft.ihfft": ("The inverse of `hfft`.", "[4.0, 0.0, 0.0, 0.0]", "Array([1.+0.j, 1.+0.j, 1.+0.j])"),
    "fft.fft2": (
        "The transform over two axes, the last two by default.",
        "[[1.0, 0.0], [0.0, 0.0]]",
        "Array([[1.+0.j, 1.+0.j],\n       [1.+0.j, 1.+0.j]])",
    ),
    "fft.ifft2": (
        "The inverse of `fft2`.",
        "[[4.0, 0.0], [0.0, 0.0]]",
        "Array([[1.+0.j, 1.+0.j],\n       [1.+0.j, 1.+0.j]])",
    ),
    "fft.rfft2": (
        "The transform of real numbers over two axes.",
        "[[1.0, 0.0], [0.0, 0.0]]",
        "Array([[1.+0.j, 1.+0.j],\n       [1.+0.j, 1.+0.j]])",
    ),
    "fft.irfft2": (
        "The inverse of `rfft2`.",
        "[[4.0, 0.0], [0.0, 0.0]]",
        "Array([[1., 1.],\n       [1., 1.]])",
    ),
    "fft.fftn": (
        "The transform over several axes, all by default.",
        "[[1.0, 0.0], [0.0, 0.0]]",
        "Array([[1.+0.j, 1.+0.j],\n       [1.+0.j, 1.+0.j]])",
    ),
    "fft.ifftn": (
        "The inverse of `fftn`.",
        "[[4.0, 0.0], [0.0, 0.0]]",
        "Array([[1.+0.j, 1.+0.j],\n       [1.+0.j, 1.+0.j]])",
    ),
    "fft.rfftn": (
        "The transform of real numbers over several axes.",
        "[[1.0, 0.0], [0.0, 0.0]]",
        "Array([[1.+0.j, 1.+0.j],\n       [1.+0.j, 1.+0.j]])",
    ),
    "fft.irfftn": (
        "The inverse of `rfftn`.",
        "[[4.0, 0.0], [0.0, 0.0]]",
        "Array([[1., 1.],\n       [1., 1.]])",
    ),
    "special.erf": ("The error function.", "[0.0, 1.0]", "Array([0.        , 0.84270079])"),
    "special.erfc": (
        "1 less the error function, precise where that is small.",
        "[0.0, 5.0]",
        "Array([1.00000000e+00, 1.53745979e-12])",
    ),
    "special.erfinv": ("The inverse of the error function.", "[0.0, 0.5]", "Array([0.        , 0.47693628])"),
    "special.expit": (
        "The logistic function, 1 / (1 + exp(-x)).",
        "[0.0, 2.0]",
        "Array([0.5       , 0.88079708])",
    ),
    "special.logit": (
        "The inverse of the logistic function.",
        "[0.5, 0.9]",
        "Array([0.        , 2.19722458])",
    ),
    "special.entr": (
        "-x log(x): what a probability adds to an entropy.",
        "[0.5, 1.0]",
        "Array([ 0.34657359, -0.        ])",
    ),
    "special.ndtr": (
        "The normal distribution's probability of less than x.",
        "[0.0, 1.96]",
        "Array([0.5      , 0.9750021])",
    ),
    "special.ndtri": ("The inverse of `ndtr`.", "[0.5, 0.975]", "Array([0.        , 1.95996398])"),
    "special.log_ndtr": ("The logarithm of `ndtr`.", "[0.0]", "Array([-0.69314718])"),
    "special.i0": (
        "The modified Bessel function of order 0.",
        "[0.0, 1.0]",
        "Array([1.        , 1.26606588])",
    ),
    "special.i0e": (
        "The modified Bessel function of order 0, times exp(-abs(x)).",
        "[0.0, 1.0]",
        "Array([1.        , 0.46575961])",
    ),
    "special.i1": ("The modified Bessel function of order 1.", "[0.0, 1.0]", "Array([0.       , 0.5651591])"),
    "special.i1e": (
        "The modified Bessel function of order 1, times exp(-abs(x)).",
        "[0.0, 1.0]",
        "Array([0.        , 0.20791042])",
    ),
}
#: Names that numpy had before the standard, and other names of these.
_NUMPYS = {
    "arccos": "acos",
    "arccosh": "acosh",
    "arcsin": "asin",
    "arcsinh": "asinh",
    "arctan": "atan",
    "arctan2": "atan2",
    "arctanh": "atanh",
    "left_shift": "bitwise_left_shift",
    "power": "pow",
    "right_shift": "bitwise_right_shift",
}
_OTHERS = {"absolute": "abs", "bitwise_not": "bitwise_invert", "conjugate": "conj"}


def _renamed(own: str, said: str) -> tuple[str, str, str]:
    meaning, arguments, result = EXAMPLES[own]
    return f"{meaning[:-1]}; {said}.", arguments, result


EXAMPLES.update({name: _renamed(own, f"numpy's name of `{own}`") for name, own in _NUMPYS.items()})
EXAMPLES.update({name: _renamed(own, f"`{own}` is another name of it") for name, own in _OTHERS.items()})


def documented(name: str) -> str:
    """The docstring of a function; one that is not in the table has none to show."""
    if name not in EXAMPLES:
        return ""
    meaning, arguments, result = EXAMPLES[name]
    call = arguments if arguments.startswith(f"xp.{name}(") else f"xp.{name}({arguments})"
    return f"{meaning}\n\n>>> import onnxsmith.numpy as xp\n>>> {call}\n{result}\n"


class _Named(Protocol):
    """A universal function, as far as its documentation needs it."""

    @property
    def __name__(self) -> str: ...


class DocumentationOf:
    """The attribute that `help` asks a universal function for, made when it is asked; its class has its own."""

    def __init__(self, of_class: str) -> None:
        self._of_class = of_class

    def __get__(self, instance: _Named | None, owner: type) -> str:
        return self._of_class if instance is None else documented(instance.__name__)
