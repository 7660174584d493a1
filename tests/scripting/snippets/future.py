"""Annotations that are text, as `from __future__ import annotations` makes them."""

from __future__ import annotations

from onnxsmith import FLOAT, Dim, script
from onnxsmith import opset18 as op
from tests.scripting.corpus import runs, vector

K = Dim("K")


@runs(vector(1, 2))
def text_annotations(x: FLOAT["N"]) -> FLOAT["N"]:
    return op.Relu(x) * 2


@runs(vector(1, 2), k=3)
@runs(vector(1, 2))
def text_attributes(x: FLOAT["N"], k: int = 2, flags: list[bool] | None = None):
    y: FLOAT["N"] = x * k
    return y


@runs(vector(1, 2))
@runs(vector(1, 2), vector(3, 4))
def text_optional(x: FLOAT["N"], bias: FLOAT["N"] | None = None) -> FLOAT["N"]:
    return x if bias is None else x + bias


@runs(vector(1, 2))
def text_dimension(x: FLOAT[K]) -> FLOAT[K]:
    return x * 2


def make(length):
    @script
    def inner(x: FLOAT[length]):
        return x + length

    return inner


annotation_from_closure = runs(vector(1, 2))(make(2))


@runs(vector(1, 2))
def calls_what_is_defined_below(x: FLOAT["N"]):
    return defined_below(x) + 1


@script
def defined_below(x: FLOAT["N"]):
    return x * 5
