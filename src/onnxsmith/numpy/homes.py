"""Where each function of the namespace lives, so that a program loads only those that it calls.

A name that is missing here costs time and nothing else: all modules are loaded to look for it.
"""

from __future__ import annotations

import importlib

from onnxsmith.core.late_imports import load_module

#: Module of this package -> the names that it enters in the tables of `registry`.
HOMES: dict[str, str] = {
    "applying": "apply_along_axis apply_over_axes",
    "carrying": "_adopted _truth",
    "growing": "_adopted_list _grown _has_elements _listed _longer _stacked _with_element",
    "choosing": "choose compress extract piecewise select where",
    "conversions": "_as_tensor _item _to_list",
    "covariances": "corrcoef cov",
    "creation": "_dlpack _on_device array asarray copy from_dlpack",
    "cumulative": "cumprod cumsum cumulative_prod cumulative_sum nancumprod nancumsum",
    "differences": "diff ediff1d gradient trapezoid unwrap",
    "dispatch": "_array_function",
    "drawing": "random.integers random.key random.normal random.permutation random.split random.uniform",
    "element_types": (
        "__array_namespace_info__ astype can_cast common_type finfo iinfo isdtype issubdtype min_scalar_type "
        "promote_types result_type"
    ),
    "elementwise": (
        "allclose angle around array_equal array_equiv clip fix i0 isclose iscomplex iscomplexobj isneginf "
        "isposinf isreal isrealobj nan_to_num ndim round shape sinc size"
    ),
    "filling": (
        "empty empty_like eye full full_like identity meshgrid ones ones_like tri tril triu zeros zeros_like"
    ),
    "fourier": (
        "fft.fft fft.fft2 fft.fftfreq fft.fftn fft.fftshift fft.hfft fft.ifft fft.ifft2 fft.ifftn "
        "fft.ifftshift fft.ihfft fft.irfft fft.irfft2 fft.irfftn fft.rfft fft.rfft2 fft.rfftfreq fft.rfftn"
    ),
    "histograms": "bincount histogram histogram2d histogram_bin_edges histogramdd",
    "indexing": "_fill _getitem _setitem",
    "inserting": (
        "copyto diag_indices_from einsum fill_diagonal insert ix_ place putmask resize tril_indices_from "
        "triu_indices_from"
    ),
    "joining": (
        "append array_split block column_stack concat concatenate dsplit dstack hsplit hstack repeat split "
        "stack tile unstack vsplit vstack"
    ),
    "layout": "_flags _memory_view _strides",
    "matrices.contractions": (
        "cross dot inner kron linalg.cross linalg.matmul linalg.multi_dot linalg.outer linalg.tensordot "
        "linalg.trace linalg.vecdot outer tensordot trace vdot"
    ),
    "matrices.factors": (
        "linalg.cholesky linalg.eig linalg.eigh linalg.eigvals linalg.eigvalsh linalg.qr linalg.svd "
        "linalg.svdvals"
    ),
    "matrices.norms": "linalg.cond linalg.matrix_norm linalg.norm linalg.vector_norm",
    "matrices.solving": (
        "linalg.det linalg.inv linalg.lstsq linalg.matrix_power linalg.matrix_rank linalg.pinv linalg.slogdet "
        "linalg.solve linalg.tensorinv linalg.tensorsolve"
    ),
    "packing": "packbits unpackbits",
    "padding": "pad",
    "polynomials": "polyadd polyder polydiv polyfit polyint polymul polysub polyval vander",
    "positions": "ravel_multi_index unravel_index",
    "quantiles": "median nanmedian nanpercentile nanquantile percentile quantile",
    "ranges": "arange geomspace linspace logspace",
    "rearranging": "delete diag diagflat diagonal flip fliplr flipud linalg.diagonal roll rot90",
    "reductions": "all amax amin any count_nonzero max min prod ptp sum",
    "reshaping": (
        "_flat atleast_1d atleast_2d atleast_3d broadcast_arrays broadcast_shapes broadcast_to expand_dims imag "
        "linalg.matrix_transpose matrix_transpose moveaxis permute_dims ravel real reshape rollaxis squeeze "
        "swapaxes transpose"
    ),
    "searching": "argmax argmin argwhere flatnonzero nanargmax nanargmin nonzero",
    "sets": (
        "intersect1d isin setdiff1d setxor1d union1d unique unique_all unique_counts unique_inverse "
        "unique_values"
    ),
    "signals": "convolve correlate interp",
    "sorting": "argpartition argsort digitize lexsort partition searchsorted sort sort_complex",
    "special_functions": (
        "special.entr special.erf special.erfc special.erfinv special.expit special.i0 special.i0e special.i1 "
        "special.i1e special.log_ndtr special.logit special.ndtr special.ndtri"
    ),
    "staging.inside": "stage",
    "staging.jit": "jit",
    "staging.models": "to_model",
    "staging.vectorize": "vectorize",
    "statistics": "average mean std var",
    "taking": "put put_along_axis take take_along_axis",
    "ufuncs.arithmetic": (
        "abs absolute add conj conjugate divide fabs multiply negative positive reciprocal sign square "
        "subtract true_divide"
    ),
    "ufuncs.bits": (
        "bitwise_and bitwise_count bitwise_invert bitwise_left_shift bitwise_not bitwise_or "
        "bitwise_right_shift bitwise_xor invert left_shift right_shift"
    ),
    "ufuncs.comparisons": "equal fmax fmin greater greater_equal less less_equal maximum minimum not_equal",
    "ufuncs.division": "divmod floor_divide fmod mod remainder",
    "ufuncs.exponentials": "exp exp2 expm1 log log10 log1p log2 logaddexp logaddexp2",
    "ufuncs.floating": "copysign frexp heaviside isfinite isinf isnan ldexp modf nextafter signbit spacing",
    "ufuncs.integers": "gcd lcm",
    "ufuncs.logic": "logical_and logical_not logical_or logical_xor",
    "ufuncs.powers": "cbrt float_power pow power sqrt",
    "ufuncs.products": "matmul matvec vecdot vecmat",
    "ufuncs.rounding": "ceil floor rint trunc",
    "ufuncs.trigonometry": (
        "acos acosh arccos arccosh arcsin arcsinh arctan arctan2 arctanh asin asinh atan atan2 atanh cos cosh "
        "deg2rad degrees hypot rad2deg radians sin sinh tan tanh"
    ),
    "trimming": "trim_zeros",
    "without_nan": "nanmax nanmean nanmin nanprod nanstd nansum nanvar",
}

_HOME_OF = {name: home for home, names in HOMES.items() for name in names.split()}


def is_listed(name: str) -> bool:
    """True if the module of a name is known."""
    return name in _HOME_OF


def load(name: str) -> None:
    """Import the module that enters a name; all of them for a name that is not listed."""
    home = _HOME_OF.get(name)
    if home is None:
        load_all()
    else:
        importlib.import_module(f"onnxsmith.numpy.{home}")


def load_all() -> None:
    """Import every module that enters names."""
    load_module("array functions")
