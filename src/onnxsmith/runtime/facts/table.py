"""All facts in one table, and those that hold for an installed engine."""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Mapping, Sequence

from onnxsmith.runtime.facts import (
    activations,
    attention,
    collecting,
    convolution,
    definitions,
    drawing,
    empty,
    extremes,
    fusing,
    holes,
    integers,
    letter_case,
    narrow,
    normalization,
    pooling,
    reductions,
    scaling,
    shapes,
    signal,
    text,
    trees,
    trusted,
    vision,
)
from onnxsmith.runtime.facts.fact import Engine, Fact

_FAMILIES = (
    activations,
    attention,
    convolution,
    definitions,
    drawing,
    empty,
    extremes,
    fusing,
    holes,
    integers,
    letter_case,
    narrow,
    normalization,
    pooling,
    reductions,
    shapes,
    signal,
    text,
    scaling,
    trees,
    trusted,
    vision,
    collecting,  # last: the rewrite for text gives sizes, too
)

#: Every fact there is.
FACTS: tuple[Fact, ...] = tuple(fact for family in _FAMILIES for fact in family.FAMILY.facts)


@functools.cache
def facts_for(
    engine: Engine, version: tuple[int, ...], provider: str
) -> Mapping[tuple[str, str], Sequence[Fact]]:
    """The facts that a version of an engine shows on a provider, by domain and operator."""
    found: defaultdict[tuple[str, str], list[Fact]] = defaultdict(list)
    for fact in FACTS:
        if fact.engine == engine and fact.provider == provider and fact.holds_for(version):
            found[fact.domain, fact.operator].append(fact)
    return dict(found)
