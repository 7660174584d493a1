"""All names of the namespace. Importing this module loads every function there is."""

from __future__ import annotations

from typing import Any

from onnxsmith.numpy import applying as applying
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
from onnxsmith.numpy import growing as growing
from onnxsmith.numpy import histograms as histograms
from onnxsmith.numpy import indexing as indexing
from onnxsmith.numpy import inserting as inserting
from onnxsmith.numpy import joining as joining
from onnxsmith.numpy import layout as layout
from onnxsmith.numpy import packing as packing
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
from onnxsmith.numpy import trimming as trimming
from onnxsmith.numpy import without_nan as without_nan
from onnxsmith.numpy.matrices import contractions as contractions
from onnxsmith.numpy.matrices import factors as factors
from onnxsmith.numpy.matrices import norms as norms
from onnxsmith.numpy.matrices import solving as solving
from onnxsmith.numpy.names import is_public, plain_names
from onnxsmith.numpy.names import part as part
from onnxsmith.numpy.registry import FUNCTIONS, UFUNCS
from onnxsmith.numpy.staging import inside as inside
from onnxsmith.numpy.staging import jit as jit
from onnxsmith.numpy.staging import models as models
from onnxsmith.numpy.staging import vectorize as vectorize
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

#: What `onnxsmith.numpy` has, by name.
NAMES: dict[str, Any] = {
    **plain_names(),
    **UFUNCS,
    **{name: each for name, each in FUNCTIONS.items() if is_public(name)},
}
