"""Operators on text that the standard does not have, or types by attributes alone: as functions with types."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.opset_ai_onnx_ml4 import LabelEncoder
from onnxsmith.opset_com_microsoft1 import MurmurHash3, Tokenizer

# Their stubs say which arrays they take; here they are called on tensors of any kind.
_label_encoder: Any = LabelEncoder
_tokenizer: Any = Tokenizer
_murmur: Any = MurmurHash3


def numbers_of_text(texts: Tensor, table: Mapping[str, int], default: int) -> Tensor:
    """The number that a table has for each text."""
    return _label_encoder(
        texts, keys_strings=list(table), values_int64s=list(table.values()), default_int64=default
    )


def text_of_text(texts: Tensor, table: Mapping[str, str], default: str) -> Tensor:
    """The text that a table has for each text."""
    return _label_encoder(
        texts, keys_strings=list(table), values_strings=list(table.values()), default_string=default
    )


def numbers_of_numbers(numbers: Tensor, table: Mapping[int, int], default: int) -> Tensor:
    """The number that a table has for each number."""
    return _label_encoder(
        numbers, keys_int64s=list(table), values_int64s=list(table.values()), default_int64=default
    )


def tokens(texts: Tensor, *, pattern: str, fewest: int) -> Tensor:
    """The longest matches of a pattern in each text, in rows; empty texts where a row has no more."""
    found = _tokenizer(texts, mark=0, mincharnum=fewest, pad_value="", tokenexp=pattern)
    return of_rank(found, 2)


def single_characters(texts: Tensor) -> Tensor:
    """The characters of each text, in rows; empty texts where a row has no more."""
    return of_rank(_tokenizer(texts, mark=0, mincharnum=1, pad_value="", separators=[""]), 2)


def hashes(texts: Tensor) -> Tensor:
    """The signed MurmurHash3 of each text, in 32 bits."""
    return _murmur(texts, positive=0, seed=0)


def of_rank(texts: Tensor, rank: int) -> Tensor:
    """The same, of a rank that is known: nothing says what the runtime's own operators give."""
    return op.Reshape(texts, np.zeros(rank, np.int64))


def is_text(texts: Tensor, text: str) -> Tensor:
    """True where a text is equal to another."""
    return op.Equal(texts, np.array(text, object))
