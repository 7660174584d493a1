"""Fourier transforms: too inexact in single precision, and frames without samples, which end the process."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from onnxsmith.graphs.rewriting.site import Site
from onnxsmith.graphs.rewriting.terms import Term, Terms
from onnxsmith.runtime.facts.fact import Requirement, check, rewrite
from onnxsmith.types.dtypes import DType

_WAVE = np.sin(np.arange(10_007) ** 1.5).astype(np.float32)
_SPECTRUM = np.fft.fft(_WAVE.astype(np.float64))


@rewrite(
    ("DFT", "STFT"),
    "lengths that are no powers of two are off by 1.4 at 10,007 points in float32; in float64 by 1e-5",
    probe="g (float[N, L, K] x) => (float[N, L, M] y) { y = DFT(x) }",
    given={"x": _WAVE.reshape(1, -1, 1)},
    right=[np.stack([_SPECTRUM.real, _SPECTRUM.imag], -1)[None].astype(np.float32)],
    dtypes=[DType.FLOAT, DType.FLOAT16, DType.BFLOAT16],
    since=17,
    is_ordinary=True,
)
def in_double(site: Site) -> bool:
    dtype = site.dtype(0)
    if dtype is None or _is_power_of_two(site):
        return False
    emit = site.emit
    inputs = list(site.node.input)
    inputs[0] = emit.cast(inputs[0], DType.DOUBLE)
    if site.node.op_type == "STFT" and site.has(2):  # the window has the signal's element type
        inputs[2] = emit.cast(inputs[2], DType.DOUBLE)
    wide = emit.names.after(site.output(0))
    site.same_node(inputs, [wide])
    emit.cast(wide, dtype, into=site.output(0))
    return True


def _is_power_of_two(site: Site) -> bool:
    """True if a transform certainly has one of the lengths that single precision is good enough for."""
    shape = site.shape(0)
    if site.node.op_type != "DFT" or shape is None or site.has(1):
        return False
    axis: int | None = site.integer("axis", 1) if site.version < 20 else -2
    if site.has(2):
        given = site.constant(2)
        axis = None if given is None or given.size != 1 else int(given.astype(np.int64).reshape(()))
    if axis is None or not -len(shape) <= axis < len(shape):
        return False
    length = shape[axis]
    return length is not None and length > 0 and length & (length - 1) == 0


@check(
    "STFT",
    "it divides by the length of a frame, and a frame without samples ends the process",
    probe="g (float[N, L, K] x, int64 step, int64 length) => (float[N, F, B, M] y) { y = STFT(x, step, , length) }",
    given={"x": np.ones((1, 16, 1), np.float32), "step": np.array(4), "length": np.array(0)},
    since=17,
)
def frames_have_samples(site: Site) -> Iterator[Requirement]:
    terms = Terms(site)
    if site.has(2):
        yield Requirement(terms.has_elements(2), "the window has no elements")
    if site.has(3):
        given = site.constant(3)
        if given is None:
            length: Term = site.emit.cast(site.emit.reduce("Min", site.input(3)), DType.INT64)
        else:
            length = int(given.min(initial=1))
        yield Requirement(terms.is_positive(length), "frame_length is not positive")
