"""scikit-learn's own helpers, written again for plain arrays: staged in the places of the library's.

They ask what they are given for classes of data frames, sparse matrices and array libraries, in ways that cannot be
staged. Of arrays the answers are known. A model does not look for NaN and infinity either, as our converters do not.
This module is code for numpy, as a user's is: it is not called, but staged.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import DTypeLike

from onnxsmith.core.user_values import UserValue
from onnxsmith.sklearn.values import Fitted

Numbers: TypeAlias = np.ndarray[Any, Any]
Axes: TypeAlias = int | tuple[int, ...] | None

#: What scikit-learn's own has where no array is given.
_ABSENT: Any = "no_validation"


def _check_array(
    array: Numbers,
    accept_sparse: bool | str | Sequence[str] = False,
    *,
    accept_large_sparse: bool = True,
    dtype: str | type | Sequence[type] | None = "numeric",
    order: str | None = None,
    copy: bool = False,
    force_writeable: bool = False,
    ensure_all_finite: bool | str = True,
    ensure_non_negative: bool = False,
    ensure_2d: bool = True,
    allow_nd: bool = False,
    ensure_min_samples: int = 1,
    ensure_min_features: int = 1,
    estimator: Fitted | str | None = None,
    input_name: str = "",
) -> Numbers:
    given = np.asarray(array)
    wanted: Any = dtype
    if isinstance(dtype, str) and dtype == "numeric":
        wanted = None
    if isinstance(dtype, list | tuple):
        wanted = None if given.dtype in [np.dtype(each) for each in dtype] else dtype[0]
    checked = given if wanted is None else given.astype(np.dtype(wanted), copy=False)
    if ensure_2d and checked.ndim < 2:
        raise ValueError(f"Expected 2D array, got {checked.ndim}D array instead")
    return np.array(checked) if copy or force_writeable else checked


def _validate_data(
    _estimator: Fitted,
    /,
    X: Numbers = _ABSENT,
    y: Numbers | None = _ABSENT,
    reset: bool = True,
    validate_separately: bool = False,
    skip_check_array: bool = False,
    **check_params: Any,
) -> Numbers:
    if skip_check_array:
        return X
    return _check_array(X, **check_params)


def _as_float_array(X: Numbers, *, copy: bool = True, ensure_all_finite: bool | str = True) -> Numbers:
    given = np.asarray(X)
    if given.dtype == np.float32 or given.dtype == np.float64:
        return np.array(given) if copy else given
    return given.astype(np.float32 if given.dtype.kind in "uib" and given.dtype.itemsize <= 4 else np.float64)


def _pairwise_arrays(
    X: Numbers,
    Y: Numbers | None,
    *,
    precomputed: bool = False,
    dtype: DTypeLike | None = "infer_float",
    accept_sparse: bool | str | Sequence[str] = "csr",
    ensure_all_finite: bool | str = True,
    ensure_2d: bool = True,
    copy: bool = False,
) -> tuple[Numbers, Numbers]:
    first = np.asarray(X)
    second = first if Y is None else np.asarray(Y)
    kind: Any = dtype
    if isinstance(dtype, str):
        kind = np.float32 if first.dtype == np.float32 and second.dtype == np.float32 else np.float64
    if kind is None:
        return first, second
    return first.astype(kind, copy=False), second.astype(kind, copy=False)


def _namespace(*arrays: UserValue, **options: UserValue) -> tuple[ModuleType, bool]:
    return np, False


def _namespace_and_device(*arrays: UserValue, **options: UserValue) -> tuple[ModuleType, bool, None]:
    return np, False, None


def _as_it_is(array: Numbers, *args: UserValue, **options: UserValue) -> Numbers:
    return array


def _with_order(
    array: Numbers,
    dtype: DTypeLike | None = None,
    order: str | None = None,
    copy: bool | None = None,
    **options: UserValue,
) -> Numbers:
    return np.array(array, dtype=dtype) if copy is True else np.asarray(array, dtype=dtype)


def _wrapped(method: str, data_to_wrap: Numbers, original_input: Numbers, estimator: Fitted) -> Numbers:
    return data_to_wrap


def _logsumexp(array: Numbers, axis: Axes = None, xp: ModuleType | None = None) -> Numbers:
    largest = np.max(array, axis=axis, keepdims=True)
    largest = np.where(np.isfinite(largest), largest, 0.0)
    return np.squeeze(largest, axis=axis) + np.log(np.sum(np.exp(array - largest), axis=axis))


def _logsumexp_of_scipy(
    a: Numbers,
    axis: Axes = None,
    b: Numbers | None = None,
    keepdims: bool = False,
    return_sign: bool = False,
) -> Numbers:
    largest = np.max(a, axis=axis, keepdims=True)
    largest = np.where(np.isfinite(largest), largest, 0.0)
    parts = np.exp(a - largest)
    if b is not None:
        parts = parts * b
    found = np.log(np.sum(parts, axis=axis, keepdims=True)) + largest
    return found if keepdims else np.squeeze(found, axis=axis)


def _softmax_of_scipy(x: Numbers, axis: Axes = None) -> Numbers:
    parts = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return parts / np.sum(parts, axis=axis, keepdims=True)


def _distances(XA: Numbers, XB: Numbers, metric: str = "euclidean", **options: UserValue) -> Numbers:
    first, second = XA[:, None, :], XB[None, :, :]
    if metric == "sqeuclidean":
        return np.sum((first - second) ** 2, axis=2)
    if metric == "euclidean":
        return np.sqrt(np.sum((first - second) ** 2, axis=2))
    if metric == "cityblock":
        return np.sum(np.abs(first - second), axis=2)
    if metric == "chebyshev":
        return np.max(np.abs(first - second), axis=2)
    raise NotImplementedError(f"cdist with metric={metric!r}")


def _nearest(
    X: Numbers,
    Y: Numbers,
    *,
    axis: int = 1,
    metric: str = "euclidean",
    metric_kwargs: Mapping[str, UserValue] | None = None,
) -> Numbers:
    if metric != "euclidean" or axis != 1:
        raise NotImplementedError(f"the nearest row with metric={metric!r}, axis={axis}")
    first, second = X.astype(np.float64), Y.astype(np.float64)
    return np.argmin(np.sum(second * second, axis=1) - 2 * (first @ second.T), axis=1)


def _squares_in_double(
    X: Numbers,
    XX: Numbers | None = None,
    Y: Numbers | None = None,
    YY: Numbers | None = None,
    batch_size: int | None = None,
) -> Numbers:
    first = X.astype(np.float64)
    second = first if Y is None else Y.astype(np.float64)
    squares = np.sum(first * first, axis=1)[:, None] + np.sum(second * second, axis=1)[None, :]
    return (squares - 2 * (first @ second.T)).astype(np.float32)


def _expit(x: Numbers, out: Numbers | None = None, xp: ModuleType | None = None) -> Numbers:
    return 1.0 / (1.0 + np.exp(-x))


def _solved(a: Numbers, b: Numbers, *args: UserValue, **options: UserValue) -> Numbers:
    # Where the matrix is known, its inverse is computed when the model is made.
    return np.linalg.inv(a) @ b


def _solved_triangular(
    a: Numbers, b: Numbers, trans: int | str = 0, lower: bool = False, *args: UserValue, **options: UserValue
) -> Numbers:
    part = np.tril(a) if lower else np.triu(a)
    inverse = np.linalg.inv(part)
    if trans in (1, 2, "T", "C"):
        inverse = inverse.T
    return inverse @ b


def _solved_by_factor(
    c_and_lower: tuple[Numbers, bool], b: Numbers, *args: UserValue, **options: UserValue
) -> Numbers:
    factor, is_lower = c_and_lower
    part = np.tril(factor) if is_lower else np.triu(factor).T
    inverse = np.linalg.inv(part)
    return inverse.T @ (inverse @ b)


def _inverted(a: Numbers, *args: UserValue, **options: UserValue) -> Numbers:
    return np.linalg.inv(a)


def _none(*args: UserValue, **options: UserValue) -> None:
    return None


def _false(*args: UserValue, **options: UserValue) -> bool:
    return False


def _true(*args: UserValue, **options: UserValue) -> bool:
    return True


#: By module and name.
STAND_INS: dict[tuple[str, str], Callable[..., object]] = {
    ("scipy.linalg._basic", "inv"): _inverted,
    ("scipy.linalg._basic", "solve"): _solved,
    ("scipy.linalg._basic", "solve_triangular"): _solved_triangular,
    ("scipy.linalg._decomp_cholesky", "cho_solve"): _solved_by_factor,
    ("scipy.sparse._base", "issparse"): _false,
    ("scipy.spatial.distance", "cdist"): _distances,
    ("scipy.special._logsumexp", "logsumexp"): _logsumexp_of_scipy,
    ("scipy.special._logsumexp", "softmax"): _softmax_of_scipy,
    ("sklearn.metrics.pairwise", "_euclidean_distances_upcast"): _squares_in_double,
    ("sklearn.metrics.pairwise", "check_pairwise_arrays"): _pairwise_arrays,
    ("sklearn.metrics.pairwise", "pairwise_distances_argmin"): _nearest,
    ("sklearn.utils._array_api", "_asarray_with_order"): _with_order,
    ("sklearn.utils._array_api", "_convert_to_numpy"): _as_it_is,
    ("sklearn.utils._array_api", "_expit"): _expit,
    ("sklearn.utils._array_api", "_is_numpy_namespace"): _true,
    ("sklearn.utils._array_api", "_logsumexp"): _logsumexp,
    ("sklearn.utils._array_api", "check_same_namespace"): _none,
    ("sklearn.utils._array_api", "device"): _none,
    ("sklearn.utils._array_api", "get_namespace"): _namespace,
    ("sklearn.utils._array_api", "get_namespace_and_device"): _namespace_and_device,
    ("sklearn.utils._set_output", "_wrap_data_with_container"): _wrapped,
    ("sklearn.utils.validation", "_check_feature_names"): _none,
    ("sklearn.utils.validation", "_check_n_features"): _none,
    ("sklearn.utils.validation", "_is_fitted"): _true,
    ("sklearn.utils.validation", "as_float_array"): _as_float_array,
    ("sklearn.utils.validation", "assert_all_finite"): _none,
    ("sklearn.utils.validation", "check_array"): _check_array,
    ("sklearn.utils.validation", "check_is_fitted"): _none,
    ("sklearn.utils.validation", "check_non_negative"): _none,
    ("sklearn.utils.validation", "validate_data"): _validate_data,
}
