"""A part of the law of aliases; `python3 dev.py laws aliases` draws more."""

from __future__ import annotations

import types
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from onnxsmith import FLOAT, INT64, jit, script, tensor
from onnxsmith.errors import MutationError, TensorAssignmentError
from tests.scripting.alias_law import LAW
from tests.scripting.alias_programs import OTHER_NAMES

_SHARED = np.zeros(3, np.float32)


def test_aliases_are_followed_or_refused() -> None:
    assert LAW.wrong(seed=1, draws=25) == []


def _under_another_name(x: FLOAT[3], n: INT64) -> Any:
    w = np.zeros(3, np.float32)
    v = w
    for _ in range(n):
        w += 1
    return x + v


def _in_a_list(x: FLOAT[3], n: INT64) -> Any:
    w = np.zeros(3, np.float32)
    held = [w]
    for _ in range(n):
        w += 1
    return x + held[0]


def _in_a_view(x: FLOAT[3], n: INT64) -> Any:
    w = np.zeros((2, 3), np.float32)
    v = w[0]
    i = 0
    while i < n:
        w += 1
        i = i + 1
    return x + v


def _outside(x: FLOAT[3], n: INT64) -> Any:
    w = _SHARED
    for _ in range(n):
        w += 1
    return x + w


def _made_in_the_loop(x: FLOAT[3], n: INT64) -> Any:
    w = np.zeros(3, np.float32)
    for _ in range(n):
        v = w
        w += 1
        x = x + v
    return x


def _made_after_the_loop(x: FLOAT[3], n: INT64) -> Any:
    w = np.zeros(3, np.float32)
    for _ in range(n):
        w = w + 1
    v = w
    v += 1
    return x + w


def _changed_after_the_loop(x: FLOAT[3], n: INT64) -> Any:
    w = np.zeros((2, 3), np.float32)
    v = w[0]
    for _ in range(n):
        v = v * 2
    v += 1
    return x + v + w[0]


def _in_a_tuple_in_a_dict(x: FLOAT[3], n: INT64) -> Any:
    w = np.zeros((2, 3), np.float32)
    held = [w, {"a": (w.T, 1)}, w[1]]
    for i in range(n):
        held[1]["a"][0][...] += i
        held[2][1:] = 5
    return x + w[0] + held[2]


def _at_a_place_of_the_model(x: FLOAT[3], n: INT64) -> Any:
    w = np.zeros((2, 3), np.float32)
    v = w.T
    for i in range(n):
        w[i % 2] += i
    return x + v[:, 0] + v[0, 1]


def _in_a_branch(x: FLOAT[3], n: INT64) -> Any:
    w = np.zeros(3, np.float32)
    v = w[1:]
    if n > 1:
        v *= 2
        v[0] = 7
    w += 1
    return x + w + v[0]


def _before_a_return(x: FLOAT[3], n: INT64) -> Any:
    w = np.ones(3, np.float32)
    v = w
    if n > 1:
        v[0] = 3
        return x + w
    w += 1
    return x + v * 2


def _by_rows(x: FLOAT[3], n: INT64) -> Any:
    w = np.ones((2, 3), np.float32)
    v = w.reshape(3, 2)
    for i in range(n):
        for row in v:
            row += i
    return x + w[0] + w[1]


def _in_a_copy_of_columns(x: FLOAT[3], n: INT64) -> Any:
    w = np.arange(6, dtype=np.float32).reshape(2, 3)
    f = np.asfortranarray(w)
    view, copy = f[:, 1:], f.reshape(-1)
    for _ in range(n):
        view += 1
    later = f.reshape(-1)
    return x + f[0] + copy[0] + w[1] + later[1]


def _in_a_function(x: FLOAT[3], n: INT64) -> Any:
    def add(a: Any) -> Any:
        a += 1
        return a

    w = np.zeros(3, np.float32)
    v = w
    for _ in range(n):
        k = add(v)
        v += k.sum()
    return x + w


def _computed_and_shared(x: FLOAT[3], n: INT64) -> Any:
    w = np.zeros(3, np.float32)
    for _ in range(n):
        w += 1
    made = w + 1
    v = made
    v += 1
    return x + made


def _transposed_between_two_loops(x: FLOAT[3], n: INT64) -> Any:
    w = np.ones((2, 3), np.float32)
    v = w.T
    for _ in range(n):
        w = w * 2
    for _ in range(n):
        v = v * 2
        v *= 3
    return x + w[0] + v[:, 0]


def _beside_a_tensor(x: FLOAT[3], n: INT64) -> Any:
    w = np.ones((2, 3), np.float32)
    v = w
    total = 0.0
    for _ in range(n):
        total = total + w.sum()
        w *= x
    return x + v[0] * total


def _chosen_alone(x: FLOAT[3], n: INT64) -> Any:
    w = np.ones((2, 3), np.float32)
    if n > 1:
        w = w * 2
    v = w.T
    v += 1
    w -= 3
    return x + w[0] + v[:, 1]


def _chosen_beside_a_tensor(x: FLOAT[3], n: INT64) -> Any:
    w = np.zeros(3, np.float32)
    if n > 1:
        w = w + x
    w += x
    return w


def _chosen_in_place(x: FLOAT[3], n: INT64) -> Any:
    w = np.zeros(3, np.float32)
    w = w + x if n > 1 else w
    w += x
    return w


def _plus_one(a: Any) -> Any:
    a += 1
    return a


def _scaled_total(a: Any, k: Any) -> Any:
    a *= k
    return a.sum()


def _in_a_helper(x: FLOAT[3], n: INT64) -> Any:
    w = np.ones(3, np.float32)
    v = w
    for _ in range(n):
        w = _plus_one(w)
    return x * v + w


def _in_a_helper_after_another_array(x: FLOAT[3], n: INT64) -> Any:
    w = np.ones(3, np.float32)
    for _ in range(n):
        w = w * 2
        _plus_one(w)
    return x * w


def _in_a_helper_that_is_given_a_tensor(x: FLOAT[3], n: INT64) -> Any:
    w = np.ones(3, np.float32)
    total = x[0] * 0
    for _ in range(n):
        w = w + 1
        total = total + _scaled_total(w, x[1])
    return x * w + total


def _in_an_inner_function(x: FLOAT[3], n: INT64) -> Any:
    w = np.ones(3, np.float32)
    v = w[1:]

    def change(a):
        a += x[0]

    for _ in range(n):
        change(w)
    return x * v.sum()


def _by_elements_of_the_model(x: FLOAT[3], n: INT64) -> Any:
    w = np.zeros(3, np.float32)
    v = w[1:]
    w[0] = x[0]
    w[1] += x[2]
    v[1] = len(x)
    w[n - 1] = 7.0
    return x * w.sum() + v[1]


@pytest.mark.parametrize(
    "program",
    [
        *OTHER_NAMES,
        _in_a_helper,
        _in_a_helper_after_another_array,
        _in_a_helper_that_is_given_a_tensor,
        _in_an_inner_function,
        _by_elements_of_the_model,
        _chosen_alone,
        _chosen_beside_a_tensor,
        _chosen_in_place,
        _under_another_name,
        _in_a_list,
        _in_a_view,
        _made_in_the_loop,
        _made_after_the_loop,
        _in_a_tuple_in_a_dict,
        _at_a_place_of_the_model,
        _in_a_branch,
        _before_a_return,
        _by_rows,
        _in_a_copy_of_columns,
        _in_a_function,
        _computed_and_shared,
        _beside_a_tensor,
        _transposed_between_two_loops,
    ],
)
def test_a_shared_array_is_followed(program: Any) -> None:
    made = script(program)
    model = made.to_model()
    for n in (0, 1, 2, 3):
        x = np.float32([1, 2, 3])
        assert_allclose(model(x, np.int64(n)), program(x.copy(), n))
        assert_allclose(made(x, np.int64(n)), program(x.copy(), n))


def _added_in_a_loop(x: FLOAT[3], n: INT64) -> Any:
    w = np.zeros(3, np.float32)
    v = w
    for _ in range(n):
        w += x[0]
    w *= x
    return w + v


def _added_in_a_branch(x: FLOAT[3], n: INT64) -> Any:
    rows = [np.ones(3, np.float32)]
    if n > 1:
        rows[0] -= x[0]
    return rows[0] * x


@pytest.mark.parametrize("program", [_added_in_a_loop, _added_in_a_branch])
def test_a_tensor_is_added_to_an_array_in_place(program: Any) -> None:
    made = script(program)
    for n in (0, 1, 2, 3):
        x = np.float32([1, 2, 3])
        for way in (made, jit(made), made.to_model()):
            assert_allclose(way(x, np.int64(n)), program(x.copy(), n))


def test_an_array_takes_no_tensor_of_another_shape_in_place() -> None:
    w = np.zeros(3, np.float32)
    with pytest.raises(TensorAssignmentError, match=r"FLOAT\[3\], and FLOAT\[2, 3\] cannot be written"):
        w += tensor(np.ones((2, 3), np.float32))
    w += tensor(np.ones(3, np.float32))
    assert_allclose(w, np.ones(3))


def _shared_with_a_rebound_one(x: FLOAT[3], n: INT64) -> Any:
    w = np.zeros(3, np.float32)
    held = [w]
    for _ in range(n):
        w = w * 2
    held[0] += 1
    return x + w


def _shared_with_a_merged_one(x: FLOAT[3], n: INT64) -> Any:
    w = np.zeros(3, np.float32)
    held = w[1:]
    if n > 1:
        w = w + x
    held.fill(1)
    return x + w


def _perhaps_a_tensor(x: FLOAT[3], n: INT64) -> Any:
    w = np.zeros(3, np.float32)
    for _ in range(n):
        w = w + x
    v = w
    v += 1
    return x + w


def _add_ones(a: Any, n: Any) -> Any:
    for _ in range(n):
        a += 1
    return a


def _of_the_caller(x: FLOAT[3], n: INT64) -> Any:
    w = np.zeros(3, np.float32)
    _add_ones(w, n)
    return x + w


def _in_an_iterator(x: FLOAT[3], n: INT64) -> Any:
    w = np.zeros(3, np.float32)
    held = iter([w])
    v = w
    for _ in range(n):
        v += 1
    return x + next(held)


def _in_an_object(x: FLOAT[3], n: INT64) -> Any:
    w = np.zeros(3, np.float32)
    held = types.SimpleNamespace(a=w)
    for _ in range(n):
        w += 1
    return x + held.a


def _chosen_by_a_branch(x: FLOAT[3], n: INT64) -> Any:
    w, u = np.zeros(3, np.float32), np.ones(3, np.float32)
    if n > 1:
        v = w
    else:
        v = u
    v += 1
    return x + w + u + v


def _chosen_by_an_expression(x: FLOAT[3], n: INT64) -> Any:
    w, u = np.zeros(3, np.float32), np.ones(3, np.float32)
    v = w if n > 1 else u
    v += 1
    return x + w + u + v


def _pick(a: Any, b: Any, n: Any) -> Any:
    return a if n > 1 else b


def _chosen_by_a_helper(x: FLOAT[3], n: INT64) -> Any:
    w, u = np.zeros(3, np.float32), np.ones(3, np.float32)
    v = _pick(w, u, n)
    v += 1
    return x + w + u + v


def _chosen_in_a_list(x: FLOAT[3], n: INT64) -> Any:
    w, u = np.zeros(3, np.float32), np.ones(3, np.float32)
    held = [u, w]
    if n > 1:
        held = [w, u]
    held[0] += 1
    return x + w + held[0]


def _chosen_and_changed_in_a_loop(x: FLOAT[3], n: INT64) -> Any:
    w, u = np.zeros(3, np.float32), np.ones(3, np.float32)
    v = w if n > 1 else u
    for _ in range(n):
        w *= 3
        w[0] += 1
    return x + w + v


def _seen_by_a_view(x: FLOAT[3], n: INT64) -> Any:
    w = np.ones((2, 3), np.float32)
    v = w[0]
    if n > 1:
        w = w * 2
    v *= 3
    return x + w[0] + v


def _given_in_a_loop(x: FLOAT[3], n: INT64) -> Any:
    w, v = np.zeros(3, np.float32), np.ones(3, np.float32)
    for _ in range(n):
        v = w
    v *= 2
    v += 1
    return x + w + v


def _seen_by_a_view_of_a_rebound_one(x: FLOAT[3], n: INT64) -> Any:
    w = np.ones((2, 3), np.float32)
    v = w[0]
    for _ in range(n):
        w = w * 2
    v -= 2
    return x + w[0] + v


def _chosen_beside_a_followed_one(x: FLOAT[3], n: INT64) -> Any:
    w, u = np.ones(3, np.float32), np.full(3, 5, np.float32)
    for _ in range(n):
        w -= 2
    held = [u]
    v = u if n > 1 else w
    held[0] *= 3
    return x + v + held[0]


def _held_beside_a_followed_one(x: FLOAT[3], n: INT64) -> Any:
    w, u = np.ones(3, np.float32), np.full(3, 5, np.float32)
    for _ in range(n):
        w -= 2
    held = [w]
    if n > 1:
        held = [u]
    u *= 3
    return x + held[0] + u


def _chosen_before_a_loop(x: FLOAT[3], n: INT64) -> Any:
    w = np.ones((3, 3), np.float32)
    v = w.T
    v = v if n > 1 else w
    for _ in range(3):
        w *= 3
    return x + v[0] + w[0]


def _chosen_twice(x: FLOAT[3], n: INT64) -> Any:
    w = np.ones((3, 3), np.float32)
    u = w
    for _ in range(n):
        u *= 2
    v = u + 1 if n > 1 else (u.T if n > 0 else u)
    v += 1
    return x + v[0] + w[0]


@pytest.mark.parametrize(
    ("program", "why"),
    [
        (_chosen_twice, "whether another variable holds the same elements"),
        (_chosen_before_a_loop, "whether another variable holds the same elements"),
        (_chosen_beside_a_followed_one, "changed after it was used"),
        (_held_beside_a_followed_one, "changed after it was used"),
        (_chosen_by_a_branch, "whether another variable holds the same elements"),
        (_chosen_by_an_expression, "whether another variable holds the same elements"),
        (_chosen_by_a_helper, "whether another variable holds the same elements"),
        (_chosen_in_a_list, "whether another variable holds the same elements"),
        (_chosen_and_changed_in_a_loop, "holds"),
        (_seen_by_a_view, "changed after it was used"),
        (_given_in_a_loop, "it may be a tensor"),
        (_seen_by_a_view_of_a_rebound_one, "a variable of a loop holds it"),
        (_of_the_caller, "the caller holds it"),
        (_in_an_iterator, "'held' holds it"),
        (_in_an_object, "'held' holds it"),
        (_outside, "holds it, too"),
        (_changed_after_the_loop, "a variable of a loop holds it"),
        (_shared_with_a_rebound_one, "a variable of a loop holds it"),
        (_shared_with_a_merged_one, "changed after it was used"),
        (_perhaps_a_tensor, "it may be a tensor"),
    ],
)
def test_what_only_the_model_knows_is_refused_at_the_change(program: Any, why: str) -> None:
    with pytest.raises((MutationError, TensorAssignmentError), match=why) as caught:
        script(program)
    assert caught.value.span is not None
    assert caught.value.span.file == __file__
    assert caught.value.span.function in (program.__name__, _add_ones.__name__)  # not where it is staged
    assert not _SHARED.any()


def _alone(x: FLOAT[3], n: INT64) -> Any:
    w = np.zeros(3, np.float32)
    v = w
    y = v + 1
    for _ in range(n):
        w += 1
    z = w
    return x + w + y + z


def test_an_array_that_nobody_else_reads_is_followed() -> None:
    made = script(_alone)
    x, n = np.float32([1, 2, 3]), np.int64(3)
    assert (made(x, n) == made.to_model()(x, n)).all()
    assert (made(x, n) == x + 7).all()
