"""Where models of numpy code and numpy part at the edge of what a function takes, by name, with the reason."""

from __future__ import annotations

#: The model gives something where numpy raises an error.
GIVES = {
    **dict.fromkeys(
        ("dot", "inner", "matmul", "matvec", "vecmat", "vdot", "linalg.matmul"),
        "a product that has no elements: the runtime compares sizes only where there are some to multiply",
    ),
    **dict.fromkeys(
        ("divmod", "frexp", "modf", "matmul", "matvec", "vecmat", "vecdot"),
        "an out= of another size, for one of several results",
    ),
    **dict.fromkeys(
        ("isin", "broadcast_to", "unwrap", "linalg.pinv"),
        "an array where a flag or a single number belongs",
    ),
    **dict.fromkeys(
        ("quantile", "percentile", "nanquantile", "nanpercentile"), "a matrix of no fractions to ask for"
    ),
    "median": "no axes, of no elements",
    **dict.fromkeys(("tri", "tril", "triu"), "a diagonal that is no whole number"),
    "histogram2d": "edges of which there is one, where no points are",
    "pad": "a scalar, which has no side that something is put at",
    "unravel_index": "no places, in a shape that cannot be",
    "average": "no sums of weights, since the array has no columns",
}
#: The model raises an error where numpy gives something.
REFUSES = {
    **dict.fromkeys(
        ("partition", "argpartition", "repeat", "tile", "power", "pow", "where", "put", "putmask", "resize"),
        "numpy does not look at numbers that are out of range where there are no elements",
    ),
    **dict.fromkeys(
        ("bincount", "corrcoef", "cov", "histogram", "histogram2d", "histogramdd", "histogram_bin_edges"),
        "numpy does not look at lengths where there are no elements",
    ),
    **dict.fromkeys(("nanquantile", "nanpercentile"), "numpy gives NaN for no elements, whatever is asked"),
    **dict.fromkeys(
        ("cross", "linalg.cross"), "vectors of two elements, which numpy is about to refuse, too"
    ),
    **dict.fromkeys(("select", "choose", "piecewise"), "Python numbers past the element type"),
    "array_equiv": "sizes that do not broadcast are an error of the model",
    "arange": "a step without end",
    "fft.rfftfreq": "a size below 0",
    "linalg.tensorsolve": "a vector of no elements",
    "reshape": "numpy takes any size below 0 for -1",
    "tri": "a size below 0",
    "unravel_index": "no places, in a shape that has none",
}
#: Both give something, and not the same.
DIFFERS = {
    **dict.fromkeys(("empty", "empty_like"), "whatever is there"),
    **dict.fromkeys(("partition", "argpartition", "unique_values"), "an order that numpy leaves open"),
    **dict.fromkeys(("searchsorted", "interp", "digitize", "histogram", "histogram2d"), "edges not in order"),
    **dict.fromkeys(
        ("linalg.eig", "linalg.eigvals", "linalg.eigh", "linalg.svd", "linalg.qr", "linalg.slogdet"),
        "signs, phases and whether complex results are shown as real ones",
    ),
    **dict.fromkeys(
        ("linalg.cond", "linalg.lstsq", "linalg.matrix_rank", "linalg.pinv", "linalg.eigvalsh", "polyfit"),
        "what is left of a singular or infinite matrix is rounding",
    ),
    **dict.fromkeys(("dot", "inner"), "numpy's library leaves out what is multiplied by 0, NaN too"),
    **dict.fromkeys(("divmod", "frexp", "modf"), "an out= that is larger than what is computed"),
    "polyval": "no coefficients: numpy gives whole numbers",
    **dict.fromkeys(("nanquantile", "nanpercentile"), "numpy gives NaN for no elements, whatever is asked"),
    **dict.fromkeys(("tri", "tril", "triu"), "a diagonal that is no whole number"),
    **dict.fromkeys(("shape", "gradient"), "an empty tuple, and a model has an output"),
    "full_like": "a dimension that the shape has not",
    "geomspace": "complex numbers, if an end is below 0",
    "gradient": "distances of 0",
    "linalg.tensorsolve": "a system without dimensions",
    "logspace": "complex numbers",
    "union1d": "a Python number past the element type",
}
#: Those that ask for element types, or for functions.
LEFT_OUT = frozenset(
    (
        *("apply_along_axis", "apply_over_axes", "can_cast", "common_type", "finfo", "from_dlpack", "iinfo"),
        *(
            "isdtype",
            "issubdtype",
            "min_scalar_type",
            "piecewise",
            "promote_types",
            "result_type",
            "vectorize",
        ),
    )
)
#: Transforms spread what is infinite or NaN over all results, in an order of their own.
SPREADING = "fft."
