"""All names of the namespace. Importing this module loads every function there is."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from onnxsmith.errors import AttributeValueError
from onnxsmith.numpy import carrying as carrying
from onnxsmith.numpy import choosing as choosing
from onnxsmith.numpy import covariances as covariances
from onnxsmith.numpy import creation as creation
from onnxsmith.numpy import cumulative as cumulative
from onnxsmith.numpy import differences as differences
from onnxsmith.numpy import dispatch as dispatch
from onnxsmith.numpy import drawing as drawing
from onnxsmith.numpy import element_types as element_types
from onnxsmith.numpy import elementwise as elementwise
from onnxsmith.numpy import filling as filling
from onnxsmith.numpy import fourier as fourier
from onnxsmith.numpy import histograms as histograms
from onnxsmith.numpy import indexing as indexing
from onnxsmith.numpy import inserting as inserting
from onnxsmith.numpy import joining as joining
from onnxsmith.numpy import layout as layout
from onnxsmith.numpy import padding as padding
from onnxsmith.numpy import polynomials as polynomials
from onnxsmith.numpy import positions as positions
from onnxsmith.numpy import quantiles as quantiles
from onnxsmith.numpy import ranges as ranges
from onnxsmith.numpy import rearranging as rearranging
from onnxsmith.numpy import reductions as reductions
from onnxsmith.numpy import reshaping as reshaping
from onnxsmith.numpy import searching as searching
from onnxsmith.numpy import sets as sets
from onnxsmith.numpy import signals as signals
from onnxsmith.numpy import sorting as sorting
from onnxsmith.numpy import special_functions as special_functions
from onnxsmith.numpy import statistics as statistics
from onnxsmith.numpy import taking as taking
from onnxsmith.numpy import without_nan as without_nan
from onnxsmith.numpy.array import Array
from onnxsmith.numpy.dtypes import DTYPES
from onnxsmith.numpy.matrices import contractions as contractions
from onnxsmith.numpy.matrices import factors as factors
from onnxsmith.numpy.matrices import norms as norms
from onnxsmith.numpy.matrices import solving as solving
from onnxsmith.numpy.registry import FUNCTIONS, UFUNCS, public
from onnxsmith.numpy.staging import jit as jit
from onnxsmith.numpy.staging import models as models
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

#: The versions of the standard whose names are there.
VERSIONS = ("2021.12", "2022.12", "2023.12", "2024.12")

_CONSTANTS: dict[str, Any] = {
    "e": np.e,
    "inf": np.inf,
    "nan": np.nan,
    "newaxis": None,
    "pi": np.pi,
    "euler_gamma": np.euler_gamma,
}


@public("_namespace")
def namespace(api_version: str | None) -> ModuleType:
    """The module that arrays belong to."""
    if api_version not in (None, *VERSIONS):
        raise AttributeValueError(f"the Array API is there in {', '.join(VERSIONS)}, not in {api_version!r}")
    return importlib.import_module("onnxsmith.numpy")


def _is_public(name: str) -> bool:
    return "." not in name and (not name.startswith("_") or name.startswith("__"))


def part(name: str) -> dict[str, Callable[..., object]]:
    """The functions of a part of the namespace, by name."""
    found = [(full.partition("."), each) for full, each in FUNCTIONS.items()]
    return {short: each for (prefix, _, short), each in found if prefix == name and short}


#: What `onnxsmith.numpy` has, by name.
NAMES: dict[str, Any] = {
    "Array": Array,
    **_CONSTANTS,
    **{each.name: each.type for each in DTYPES},
    **UFUNCS,
    "__array_api_version__": VERSIONS[-1],
    **{name: each for name, each in FUNCTIONS.items() if _is_public(name)},
}
