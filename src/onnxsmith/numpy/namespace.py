"""All names of the namespace. Importing this module loads every function there is."""

from __future__ import annotations

from typing import Any

import numpy as np

from onnxsmith.numpy import creation as creation
from onnxsmith.numpy import indexing as indexing
from onnxsmith.numpy.array import Array
from onnxsmith.numpy.dtypes import DTYPES
from onnxsmith.numpy.registry import FUNCTIONS, UFUNCS
from onnxsmith.numpy.ufuncs import arithmetic as arithmetic
from onnxsmith.numpy.ufuncs import bits as bits
from onnxsmith.numpy.ufuncs import comparisons as comparisons
from onnxsmith.numpy.ufuncs import division as division
from onnxsmith.numpy.ufuncs import exponentials as exponentials
from onnxsmith.numpy.ufuncs import floating as floating
from onnxsmith.numpy.ufuncs import integers as integers
from onnxsmith.numpy.ufuncs import logic as logic
from onnxsmith.numpy.ufuncs import powers as powers
from onnxsmith.numpy.ufuncs import products as products
from onnxsmith.numpy.ufuncs import rounding as rounding
from onnxsmith.numpy.ufuncs import trigonometry as trigonometry

_CONSTANTS: dict[str, Any] = {
    "e": np.e,
    "inf": np.inf,
    "nan": np.nan,
    "newaxis": None,
    "pi": np.pi,
    "euler_gamma": np.euler_gamma,
}

#: What `onnxsmith.numpy` has, by name.
NAMES: dict[str, Any] = {
    "Array": Array,
    **_CONSTANTS,
    **{each.name: each.type for each in DTYPES},
    **UFUNCS,
    **{name: each for name, each in FUNCTIONS.items() if not name.startswith("_") and "." not in name},
}
