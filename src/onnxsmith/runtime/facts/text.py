"""Text: tables in attributes that are taken on trust, and what loops collect."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import onnx

from onnxsmith.graphs.rewriting.emitter import Emitter
from onnxsmith.graphs.rewriting.scopes import inner_graphs
from onnxsmith.graphs.rewriting.site import Site
from onnxsmith.runtime.facts.collecting import give_sizes, shapes_of_nothing
from onnxsmith.runtime.facts.fact import Requirement, check, refusal, rewrite
from onnxsmith.types.dtypes import DType

_MOST_WORDS = 1 << 16
_MOST_COLUMNS = 1 << 30
#: The opset that brought Where.
_WHERE = 9


@check(
    "TfIdfVectorizer",
    "it counts up to its attributes, and reads the pool where they say, without a look at either",
    probe="g (int32[N] x) => (float[M] y) { y = TfIdfVectorizer <max_gram_length = 2, max_skip_count = 0,"
    ' min_gram_length = 2, mode = "TF", ngram_counts = [0, 4], ngram_indexes = [0, 1, 2, 3, 4, 5],'
    " pool_int64s = [2, 3, 5, 4, 5, 6, 7, 8, 6, 7]> (x) }",
    given={"x": np.arange(12, dtype=np.int32)},
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


@refusal(
    "Loop",
    "a loop that collects text ends the process",
    probe="g (string[N] x, int64 n, bool go) => (string[K, N] y) { y = Loop (n, go) <body = b (int64 i, bool on)"
    " => (bool on_out, string[N] one) { on_out = Identity(on) one = Where(on, x, x) }> }",
    given={"x": np.array(["a", "b"], object), "n": np.array(2), "go": np.array(True)},
    right=[np.array([["a", "b"], ["a", "b"]], object)],
    since=11,
    last="1.27",
)
def collects_text(site: Site) -> str | None:
    if any(map(_collected_text, inner_graphs(site.node))):
        return "a loop that collects text ends the process of ONNX Runtime before 1.28"
    return None


@rewrite(
    "Loop",
    "the text that a loop collects is taken out of its place, and empty there in the next turn",
    since=11,
    first="1.28",
    is_ordinary=True,
    # No probe: earlier versions show it too, and worse: there such a loop is refused,
)
def collects_copies(site: Site) -> bool:
    # By what the body declares: to infer types would cost every model with a body.
    if site.emit.version < _WHERE or not any(map(_collected_text, inner_graphs(site.node))):
        return False
    shapes = shapes_of_nothing(site)
    node = site.same_node(site.node.input)
    for body in inner_graphs(node):
        for each in _collected_text(body):
            inner: Emitter = site.emit.inner()
            # What Where gives is never the place of what it was given.
            inner.where(
                inner.constant(1, DType.BOOL), each.name, each.name, into=site.emit.names.after(each.name)
            )
            body.node.extend(inner.nodes)
            each.name = inner.nodes[-1].output[0]
    give_sizes(site, node, shapes)
    return True


def _collected_text(body: onnx.GraphProto) -> list[onnx.ValueInfoProto]:
    """The outputs of a body that a loop collects, as far as they are text."""
    collected = body.output[len(body.input) - 1 :]
    return [each for each in collected if each.type.tensor_type.elem_type == DType.STRING]
