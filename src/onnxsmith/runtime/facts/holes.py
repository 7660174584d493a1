"""Inputs that are left out among others of which there may be any number, which ONNX does not allow."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from onnxsmith.graphs.rewriting.site import Site
from onnxsmith.runtime.facts.fact import Requirement, check


@check(
    ("Sum", "Einsum", "Max", "Mean", "Min"),
    "it reads an input that is left out, which ends the process",
    probe="g (float[N] x) => (float[N] y) { y = Sum(x, , x) }",
    given={"x": np.ones(3, np.float32)},
)
def no_holes(site: Site) -> Iterator[Requirement]:
    places = [place for place, name in enumerate(site.node.input) if not name]
    yield Requirement(not places, f"input {places[0]} is left out" if places else "")
