"""Inputs that may be absent when the model runs: Python syntax on them gives what the eager run gives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import onnxsmith
from onnxsmith import BOOL, FLOAT, INT64, Model, jit, script
from onnxsmith import opset21 as op
from onnxsmith.errors import (
    BranchTypeError,
    InputTypeError,
    OnnxsmithError,
    TracedValueError,
    UnknownMethodError,
)

X = np.float32([1, 2, 3])


@script
def added(x: FLOAT["N"], b: FLOAT["N"] | None = None):
    return x if b is None else x + b


@script
def untyped(x, b=None):
    return x if b is None else x + b


@script
def plus_one(x: FLOAT["N"]):
    return x + 1.0


one_more = plus_one.to_model()


def truth(x: FLOAT["N"], s: FLOAT | None):
    a = 1.0 if s else 2.0
    b = 10.0 if not s else 20.0
    c = 100.0 if (s and x[0] > 0.0) else 200.0
    d = 1000.0 if (s is None or s > 1.0) else 2000.0
    k = 0
    while s and k < 3:
        k += 1
    return x + a + b + c + d + k


def flag(x: FLOAT["N"], s: BOOL | None):
    if s:
        return x * 2.0
    return x if s is None else -x


def compared(x: FLOAT["N"], s: FLOAT | None):
    if s is None or s == 0.0:
        return x
    if 1.0 < s <= 3.0 or s != s:
        return x * 2.0 * s + (s - 1.0) / s
    return x - s if 5.0 >= s else s - x


def elements(x: FLOAT["N"], b: FLOAT["N"] | None):
    y = x
    if b is not None and b.sum() > 1.0:
        y = y + b.max() - b[0] + len(b) + b.shape[0] - (-b)
        for v in b:
            y = y + v
    return y


def whole_number(x: FLOAT["N"], n: INT64 | None):
    if n is not None:
        for i in range(n):
            x = x + i
        return x[:n].sum() + x[n] + int(n) + float(n) + op.Cast(max(n, 2) + n % 2, to=1)
    return x[0]


def by_default(x: FLOAT["N"], b: FLOAT["N"] | None):
    b = b if b is not None else x * 2.0
    return x + b


def filled(x: FLOAT["N"], n: INT64 | None):
    if n is None:
        n = 2
    for i in range(n):
        x = x + i
    return x, n


def exchanged(x: FLOAT["N"], b: FLOAT["N"] | None, c: FLOAT["N"] | None):
    if b is None:
        b, c = c, b
    if b is None:
        return x
    return x + b if c is None else x + b * c


def handed_on(x: FLOAT["N"], b: FLOAT["N"] | None):
    y = added(x, b) + added(x, x) + added(x) + untyped(x, b) + untyped(x, x)
    if b is not None:
        y = y + plus_one(b) + one_more(b)
    return y


def from_inside(x: FLOAT["N"], b: FLOAT["N"] | None):
    def body(i, c, s):
        return c, s + (b if b is not None else x)

    return op.Loop(3, True, x, body=body)


def rows(x: FLOAT["N"], b: list[FLOAT["N"]] | None):
    if not b:
        return x
    for v in b:
        x = x + v
    return x + b[0] * len(b)


def emptiness(x: FLOAT["N"], b: list[FLOAT["N"]]):
    return x if b == [] else b[0] * (2.0 if b != [] else 3.0)


def taken_away(x: FLOAT["N"], b: FLOAT["N"] | None):
    if x[0] > 0.0:
        b = None
    return x + (b.sum() if b is not None else 5.0)


def kept(x: FLOAT["N"], b: FLOAT["N"] | None):
    if x[0] < 0.0:
        b = None
    return x + (b.sum() if b is not None else 5.0)


def kept_or_left(x: FLOAT["N"], b: FLOAT["N"] | None):
    if x[0] < 0.0:
        b = None
    elif x[0] > 5.0:
        return x
    return x * 2.0 if b is None or b.sum() > 2.0 else x


def taken_away_by_turns(x: FLOAT["N"], b: FLOAT["N"] | None, n: INT64):
    y = x
    for i in range(n):
        y = y + (b.sum() if b is not None else 5.0)
        if i > 0:
            b = None
    return y + (b.sum() if b is not None else 7.0)


PROGRAMS: list[tuple[Any, list[tuple[Any, ...]]]] = [
    (truth, [(None,), (0.0,), (1.0,), (2.0,)]),
    (flag, [(None,), (np.True_,), (np.False_,)]),
    (compared, [(None,), (0.0,), (2.0,), (4.0,), (7.0,)]),
    (elements, [(None,), (X,), (-X,)]),
    (whole_number, [(None,), (np.int64(1),), (np.int64(2),)]),
    (by_default, [(None,), (X,)]),
    (filled, [(None,), (np.int64(0),), (np.int64(3),)]),
    (exchanged, [(None, None), (X, None), (None, X), (X, X)]),
    (handed_on, [(None,), (X,)]),
    (from_inside, [(None,), (X,)]),
    (rows, [(None,), ([],), ([X, X * 2],)]),
    (emptiness, [([],), ([X],)]),
    (taken_away, [(None,), (X,)]),
    (kept, [(None,), (X,)]),
    (kept_or_left, [(None,), (X,), (-X,)]),
    (taken_away_by_turns, [(None, np.int64(n)) for n in (0, 3)] + [(X, np.int64(n)) for n in (0, 1, 3)]),
]


@pytest.mark.parametrize(("function", "inputs"), PROGRAMS, ids=lambda each: getattr(each, "__name__", ""))
def test_each_form_gives_what_the_eager_run_gives(function: Any, inputs: list[tuple[Any, ...]]):
    program = script(function)
    model = program.to_model()
    written = onnxsmith.recompile(onnxsmith.decompile(model))
    assert isinstance(written, Model)
    for given in inputs:
        expected = program(X, *given)
        for run in (jit(program), model, written, model.optimize()):
            np.testing.assert_equal(run(X, *given), expected)


def of_sequence(x: FLOAT["N"], b: list[FLOAT["N"]]):
    return plus_one(b)


def of_tensor(x: FLOAT["N"], b: FLOAT["N", "M"]):
    return first(b)


def of_scalars(x: FLOAT["N"], b: FLOAT):
    return first([b, b])


def of_scalars_to_a_model(x: FLOAT["N"], b: FLOAT):
    return first_of_model([b, b])


def two_tensors(x: FLOAT["N"], b: FLOAT["N"]):
    return plus_one([x, b])


def equal_sequences(x: FLOAT["N"], b: list[FLOAT]):
    return x if b == [x[0]] else x + 1.0


def held(x: FLOAT["N"], b: list[FLOAT]):
    return x if x[0] in b else x + 1.0


def counted(x: FLOAT["N"], b: list[FLOAT]):
    return x + b.count(1.0)


def of_one_path(x: FLOAT["N"], b: FLOAT["N"] | None):
    y = b if x[0] > 0 else x
    return x if y is None else y


@script
def first(values: list[FLOAT["N"]]):
    return values[0]


first_of_model = first.to_model()


@pytest.mark.parametrize(
    ("function", "error", "text"),
    [
        (of_sequence, InputTypeError, "takes float32 of shape (N,) as 'x', not sequence"),
        (of_tensor, InputTypeError, "takes a sequence of float32 of shape (N,) as 'values', not float32"),
        (of_scalars, OnnxsmithError, "takes shape (N,) as 'values[i]', not ()"),
        (of_scalars_to_a_model, OnnxsmithError, "input 'values[i]' has shape"),
        (two_tensors, InputTypeError, "takes one tensor as 'x', and was given a list of tensors"),
        (equal_sequences, TracedValueError, "whether two sequences are equal"),
        (held, TracedValueError, "whether a sequence holds a value"),
        (counted, UnknownMethodError, "a sequence in a graph has no method 'count'"),
        (of_one_path, BranchTypeError, "optional float32"),
    ],
)
def test_refused_at_the_line(function: Any, error: type[OnnxsmithError], text: str):
    with pytest.raises(error) as caught:
        script(function).to_model()
    assert text in str(caught.value)
    assert caught.value.span is not None
    assert caught.value.span.file == __file__


@script
def of_vector(x: FLOAT["N"], n: INT64):
    return plus_one([x[0], len(x), 2]) + one_more((x[1], 2.5, 1))


def test_a_list_of_scalars_is_a_vector_for_scripts_and_models():
    for run in (of_vector, of_vector.to_model(), of_vector.jit):
        np.testing.assert_array_equal(run(X, np.int64(1)), [5, 7.5, 5])


def test_elements_of_a_sequence_have_the_annotated_rank_in_each_form():
    for run in (first, first.jit, first_of_model):
        with pytest.raises(OnnxsmithError, match=r"'(values|values\[0\])'"):
            run([1.0, 2.0])
