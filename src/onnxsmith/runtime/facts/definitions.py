"""Operators that are newer than the runtime, and run by their definitions, which take more than they should."""

from __future__ import annotations

from collections.abc import Iterator

from onnxsmith.graphs.rewriting.site import Site
from onnxsmith.graphs.rewriting.terms import Terms
from onnxsmith.runtime.facts.fact import Requirement, check
from onnxsmith.types.dtypes import DType


@check(
    "SwiGLU",
    "there is no kernel, and its definition broadcasts inputs that must have one shape",
    since=28,
    # No probe: the operator is newer than the runtime
)
def one_shape(site: Site) -> Iterator[Requirement]:
    terms, emit = Terms(site), site.emit
    reason = "the inputs must have one shape"
    yield Requirement(terms.equal(terms.rank(0), terms.rank(1)), reason)
    rank = site.rank(0)
    if rank is not None and rank == site.rank(1):
        for axis in range(rank):
            yield Requirement(terms.equal(terms.dimension(0, axis), terms.dimension(1, axis)), reason)
        return
    # Both shapes as long as the longer one, so that comparing never fails.
    shapes = [emit.op("Shape", site.input(position)) for position in (0, 1)]
    padding = [emit.cast(emit.op("ConstantOfShape", emit.op("Shape", each)), DType.INT64) for each in shapes]
    first = emit.op("Concat", shapes[0], padding[1], axis=0)
    second = emit.op("Concat", shapes[1], padding[0], axis=0)
    yield Requirement(emit.all(emit.op("Equal", first, second)), reason)


@check(
    "Range",
    "there is no kernel with stash_type, and its definition gives another dimension where an end is a vector",
    since=27,
    # No probe: the version is newer than the runtime
)
def ends_are_scalars(site: Site) -> Iterator[Requirement]:
    terms = Terms(site)
    if site.has_attribute("stash_type"):
        for position, name in enumerate(("start", "limit", "delta")):
            yield Requirement(terms.equal(terms.rank(position), 0), f"{name} must be a scalar")


@check(
    "SpaceToDepth",
    "there is no kernel for mode CRD, and without elements its definition takes sizes that are no whole blocks",
    since=28,
    # No probe: the version is newer than the runtime
)
def whole_blocks(site: Site) -> Iterator[Requirement]:
    terms, size = Terms(site), site.integer("blocksize", 1)
    if site.text("mode", "DCR") != "CRD" or size < 1:
        return
    for axis in (2, 3):
        rest = terms.remainder(terms.dimension(0, axis), size)
        yield Requirement(terms.equal(rest, 0), f"axis {axis} cannot be split into blocks of {size}")
