"""Names of values in a function: the word that all its calls have for them, or else by the node that makes them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from onnxsmith.graphs.names import snake_case
from onnxsmith.passes.outlining.part import Scope

#: Names that exporters count up.
_SAYS_NOTHING = frozenset({"", "val", "value", "tensor", "output", "node", "onnx", "t", "v", "x", "y"})


def value_name(given: Sequence[str | None], scope: Scope, operator: str) -> str:
    """A variable for what a node makes: the word that all repetitions have for it, or else module and operator.

    >>> value_name(["scores_1", "scores_2"], ("attn",), "MatMul"), value_name(["7", "9"], ("attn",), "MatMul")
    ('scores', 'attn_mat_mul')
    """
    stems = {re.sub(r"(?:_?[0-9]+)+$", "", each or "") for each in given}
    stem = stems.pop() if len(stems) == 1 else ""
    if re.fullmatch(r"[A-Za-z][A-Za-z0-9_]{2,30}", stem) and stem.lower() not in _SAYS_NOTHING:
        return snake_words((stem,))
    words = [part for part in scope if not part.isdigit()]
    return snake_words((*words[-1:], operator))


def snake_words(parts: Sequence[str]) -> str:
    """Words of any kind as one identifier.

    >>> snake_words(["attn.0", "qProj", "weight"])
    'attn_0_q_proj_weight'
    """
    words = [snake_case(re.sub(r"[^A-Za-z0-9]+", "_", part).strip("_")) for part in parts]
    text = "_".join(word for word in words if word).lstrip("0123456789_")
    return text or "value"
