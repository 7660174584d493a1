"""Tensors of strings."""

import numpy as np

from onnxsmith import BOOL, INT64, STRING
from onnxsmith import opset20 as op


def words(text: STRING["N"]) -> tuple[STRING, INT64]:
    lower: STRING = op.StringNormalizer(
        text, case_change_action="LOWER", is_case_sensitive=0, stopwords=["the"]
    )
    pieces, counts = op.StringSplit(op.StringConcat(lower, "!"), delimiter=" ", maxsplit=3)
    return pieces, counts


def matches(text: STRING["N"]) -> BOOL["N"]:
    return op.RegexFullMatch(text, pattern="a.*") | (text == "b")


print(op.StringConcat(np.array(["a", "b"]), np.array(["c", "d"])).tolist(), words, matches)
