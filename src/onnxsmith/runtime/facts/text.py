"""Text: tables in attributes that are taken on trust."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from onnxsmith.graphs.rewriting.site import Site
from onnxsmith.runtime.facts.fact import Check, Family, Probe, Requirement

FAMILY = Family()

_MOST_WORDS = 1 << 16
_MOST_COLUMNS = 1 << 30


@FAMILY.fact(
    "TfIdfVectorizer",
    met_by=Check,
    reason="it counts up to its attributes, and reads the pool where they say, without a look at either",
    probe=Probe(
        "g (int32[N] x) => (float[M] y) { y = TfIdfVectorizer <max_gram_length = 2, max_skip_count = 0,"
        ' min_gram_length = 2, mode = "TF", ngram_counts = [0, 4], ngram_indexes = [0, 1, 2, 3, 4, 5],'
        " pool_int64s = [2, 3, 5, 4, 5, 6, 7, 8, 6, 7]> (x) }",
        {"x": np.arange(12, dtype=np.int32)},
    ),
)
def pool_is_whole(site: Site) -> Iterator[Requirement]:
    for name in ("max_skip_count", "max_gram_length", "min_gram_length"):
        value = site.integer(name, 0)
        yield Requirement(0 <= value <= _MOST_WORDS, f"{name} is {value}, not a small number")
    pool = site.integers("pool_int64s") or site.texts("pool_strings")
    starts = site.integers("ngram_counts")
    are_positions = list(starts) == sorted(starts) and all(0 <= each <= len(pool) for each in starts)
    yield Requirement(are_positions, f"ngram_counts must be ascending positions in the pool of {len(pool)}")
    columns = site.integers("ngram_indexes")
    yield Requirement(
        all(0 <= each <= _MOST_COLUMNS for each in columns), "ngram_indexes must not be negative, nor huge"
    )
    if not are_positions:
        return
    lengths = [end - start for start, end in zip(starts, (*starts[1:], len(pool)), strict=False)]
    are_whole = not any(length % size for size, length in enumerate(lengths, 1))
    yield Requirement(are_whole, "ngram_counts must leave whole n-grams")
    count = sum(length // size for size, length in enumerate(lengths, 1))
    yield Requirement(count == len(columns), "ngram_indexes must have one entry for each n-gram in the pool")
