"""Convolutions and windows: weights without elements, and padding that no kernel looks at."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from onnxsmith.graphs.rewriting.site import Site
from onnxsmith.graphs.rewriting.terms import Condition, Terms
from onnxsmith.graphs.run_values import Array as RunArray
from onnxsmith.runtime.facts.fact import CheckAtOnce, Requirement, check

_NO_WEIGHTS = "there is nothing to convolve with: W has no elements"
#: How many dimensions weights may have: a window of three, with output and input channels.
_MOST_AXES = 5


def _convolves_with_nothing(position: int) -> CheckAtOnce:
    """`something_to_convolve_with`, for a call on arrays."""

    def check(attributes: Mapping[str, int], inputs: Sequence[RunArray]) -> str | None:
        return _NO_WEIGHTS if 0 in inputs[position].shape[1:] else None

    return check


def _has_weights(site: Site, position: int) -> Condition:
    """True if weights have elements, or no outputs to give: an axis that is not there has the length -1."""
    terms = Terms(site)
    rank = site.rank(position)
    axes = range(1, _MOST_AXES if rank is None else rank)
    return terms.all([terms.negated(terms.equal(terms.dimension(position, axis), 0)) for axis in axes])


@check(
    ("Conv", "ConvInteger", "DeformConv"),
    "with weights without elements it gives what memory held, or does not come back",
    probe="g (float[N, C, H, W] x, float[M, D, A, B] w) => (float[E, F, G, I] y) { y = Conv(x, w) }",
    given={"x": np.ones((1, 0, 3, 3), np.float32), "w": np.ones((1, 0, 2, 2), np.float32)},
    at_once=_convolves_with_nothing(1),
)
def something_to_convolve_with(site: Site) -> Iterator[Requirement]:
    yield Requirement(_has_weights(site, 1), _NO_WEIGHTS)


@check(
    "QLinearConv",
    "with weights without elements it gives what memory held",
    probe="g (uint8[N, C, H, W] x, float s, uint8 z, uint8[M, D, A, B] w) => (uint8[E, F, G, I] y)"
    " { y = QLinearConv(x, s, z, w, s, z, s, z) }",
    given={
        "x": np.ones((1, 1, 7, 7), np.uint8),
        "s": np.array(0.5, np.float32),
        "z": np.array(100, np.uint8),
        "w": np.ones((1, 1, 1, 0), np.uint8),
    },
    at_once=_convolves_with_nothing(3),
)
def something_to_convolve_quantized(site: Site) -> Iterator[Requirement]:
    yield Requirement(_has_weights(site, 3), _NO_WEIGHTS)


@check(
    (
        "Conv",
        "AveragePool",
        "ConvInteger",
        "ConvTranspose",
        "DeformConv",
        "LpPool",
        "MaxPool",
        "MaxUnpool",
        "QLinearConv",
    ),
    "attributes of the window are looked at where the shape of the window is known, and else taken as they are",
    probe="g (float[N, C, H, W] x, float[M, D, A, B] w) => (float[E, F, G, I] y)"
    " { y = Conv <pads = [-1, 0, 0, 0]> (x, w) }",
    given={"x": np.ones((1, 1, 5, 5), np.float32), "w": np.ones((1, 1, 3, 3), np.float32)},
)
def attributes_of_a_window(site: Site) -> Iterator[Requirement]:
    rank = site.rank(0)
    axes = None if rank is None else rank - 2
    for name in ("strides", "dilations", "pads"):
        if not site.has_attribute(name):
            continue
        given = site.integers(name)
        wanted = None if axes is None else 2 * axes if name == "pads" else axes
        yield Requirement(
            len(given) == wanted if wanted is not None else bool(given),
            f"{name} must have {'entries' if wanted is None else f'{wanted} entries'}, not {given}",
        )
        if name == "pads":
            yield Requirement(min(given, default=0) >= 0, f"pads must not be negative, but are {given}")
