"""Arrays in branches and loops that the model performs: replaced by others, written to in place, shared, refused."""

from __future__ import annotations

import dataclasses
import inspect
import linecache
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import onnxsmith.numpy as xp
from onnxsmith import BOOL, DOUBLE, FLOAT, INT64, script
from onnxsmith import opset21 as op
from onnxsmith.errors import (
    BranchTypeError,
    LoopTypeError,
    MutationError,
    OnnxsmithError,
    TensorAssignmentError,
    TracedValueError,
)

SIZES = (4, 1, 7)


@dataclasses.dataclass
class Box:
    weights: Any
    total: Any


# -- programs that plain numpy runs as well ------------------------------------------------------------------


def replaced_in_a_branch(x):
    y = x * 2
    if x.sum() > 2:
        y = y + 1
    else:
        y = -y
    return y


def one_of_two(x):
    return x * 2 if x[0] > 0.5 else x[::-1]


def number_that_meets_elements(x):
    total = 0
    for i in range(len(x)):
        total = total + x[i]
    return total


def largest_and_where(x):
    best, at = -np.inf, -1
    for i in range(len(x)):
        if x[i] > best:
            best, at = x[i], i
    return best, at


def halved_until_small(x):
    y = x * 8
    while y.max() > 1:
        y = y / 2
    return y


def written_one_by_one(x):
    y = np.zeros(len(x))
    y[0] = x[0]
    for i in range(1, len(x)):
        y[i] = 0.5 * y[i - 1] + x[i]
    return y


def written_through_a_view(x):
    a = x * 1
    b = a[::-1]
    for i in range(len(x)):
        b[i] = i
        if a[0] > 2:
            a += 1
    return a, b


def seen_by_a_view_from_before(x):
    a = x * 1
    part = a[1:]
    if x[0] > 0.5:
        a[...] = 7
        part = part * 2
    return a, part


def rows_in_place(x):
    d = np.stack([x, x * 2], 1)
    for row in d:
        row *= 3
        row[0] = row[1]
    return d


def written_with_out(x):
    a, b = x * 1, x * 2
    for _ in range(3):
        np.add(a, b, out=a)
    if a[0] > 3:
        np.multiply(a, 2, out=b)
    return a, b


def seen_by_aliases(x):
    a = x * 1
    other = a
    held = {"a": a, "b": [a, x]}
    for _ in range(2):
        a += 1
    if x[0] > 0.5:
        held["a"] *= 2
        held["b"][0][0] = 5
    return a, other, held["a"], held["b"][0]


def in_a_dataclass(x):
    box = Box(x * 1, 0.0)
    for i in range(len(x)):
        box = Box(box.weights + 1, box.total + x[i])
    for i in range(len(x)):
        box.weights[i] = i
    return box.weights, box.total


def by_inner_functions(x):
    a = np.zeros(len(x))
    total = x[0]
    b = x * 1

    def put(i, value):
        nonlocal total, b
        a[i] = value
        b = b + 1
        total = total + value

    for i in range(len(x)):
        put(i, x[i] * 2)
    return a, total, b


def known_elements(x):
    a = np.array([1.0, 2.0, 3.0])
    weights = np.ones(3)
    for i in range(3):
        a[i] = x[0] * weights[i]
    if x[0] > 0.5:
        weights[1] = 7
    return a, weights


def truth_values(x):
    found = np.zeros(len(x), bool)
    for i in range(len(x)):
        if x[i] > 0.5:
            found[i] = True
    return found, x[found]


def whole_numbers(x):
    counts = np.zeros(10, dtype=np.int64)
    for value in x:
        counts[int(value * 10)] += 1
    return counts


def complex_numbers(x):
    z = x + 1j
    for _ in range(3):
        z = z * z
        z[0] = 2
    if x[0] > 0.5:
        z.imag = 0
    return z.real, z.imag


def two_rows_in_turn(x):
    before, now = np.zeros(len(x) + 1), np.zeros(len(x) + 1)
    for i in range(1, len(x) + 1):
        for j in range(1, len(x) + 1):
            now[j] = before[j - 1] + 1 if x[i - 1] == x[j - 1] else max(before[j], now[j - 1])
        before, now = now, before
    return before


def exchanged(x):
    a, b = x * 1, x * 2
    if x[0] > 0.5:
        a, b = b, a
    a[0] = 9
    return a, b


def sorted_by_hand(x):
    x = x.copy()
    for i in range(len(x)):
        for j in range(len(x) - i - 1):
            if x[j] > x[j + 1]:
                x[j], x[j + 1] = x[j + 1], x[j]
    return x


def left_early(x):
    y = x * 2
    for i in range(len(x)):
        if x[i] > 0.8:
            y[i] = 0
            return y
        if x[i] < 0.1:
            continue
        y[i] = 1
        if y.sum() > 3:
            break
    else:
        y += 1
    return y


def written_after_a_branch_gave_a_new_one(x):
    y = x * 1
    if x[0] > 0.5:
        y = y - y.mean()
    y /= 2
    y[0] = 5
    return y


def written_after_a_loop_gave_a_new_one(x):
    y = np.zeros(len(x))
    for i in range(len(x)):
        y[0] = i
        y = y + x[i]
    y[-1] = 3
    return y


def state_in_a_dict(x):
    state = {"mean": np.zeros(len(x)), "scale": np.ones(len(x)), "steps": 0}
    for _ in range(5):
        state["mean"] = 0.5 * state["mean"] + x
        state["scale"] *= 2
        state["steps"] += 1
    return state["mean"], state["scale"], state["steps"]


def printed(x):
    a = x * 1

    def doubled():
        a[...] = a * 2
        return 1

    print(doubled())
    return a


def numbers_in_a_list(x):
    out, places = [], []
    for i in range(len(x)):
        if x[i] > 0.5:
            out.append(x[i] * 2)
            places.append(i)
    return np.array(out), len(out), sum(out), np.array(places) * 1.0, out


def a_list_that_is_read_where_it_grows(x):
    out = [x[0]]
    while len(out) < 9 and out[-1] < 40:
        out.append(out[-1] * 2 + 0.1)
    return np.array(out), out[1], max(out)


def arrays_in_a_list(x):
    out, rows = [], []
    place = np.zeros(2)
    for value in x:
        place = place + value
        out.append(place)
        rows.append(x + value)
    total = 0.0
    for each in out:
        total = total + each[0]
    if out:
        total = total + 1
    return np.array(out), np.stack(out, axis=1), np.vstack(out), np.concatenate(rows), np.hstack(rows), total


def pairs_in_a_list(x):
    out = []
    for i in range(len(x)):
        for j in range(i):
            if x[i] == 0.25:
                return np.array(out)
            out.append(x[i] * x[j])
    return np.array(out)


def a_part_that_may_be_new_and_is_put_back(x):
    y = np.array([x, x * 3, -x])
    for i in range(3):
        row = y[i]
        if row[0] < 0:
            row = -row
        if row.max() > 1:
            row = row / row.max()
        y[i] = row
    return y


def read_before_what_it_may_be_is_written_to(x):
    y = x * 1
    z = x * 2
    chosen = y if x[0] > 0.5 else z
    total = chosen.sum()
    y[0] = 1
    return total, y


def an_open_size_beside_a_known_one(x):
    turned = np.array([1.0, 0.5, 0.0, 0.25])
    for value in x:
        turned = np.concatenate([turned[:1], np.cross(turned[1:], np.array([value, 1.0, 2.0]))])
    one, other = np.broadcast_arrays(turned[1:], np.zeros((2, 3)))
    return turned, one + other


PROGRAMS: list[Callable[..., Any]] = [
    each
    for each in list(globals().values())
    if inspect.isfunction(each) and list(inspect.signature(each).parameters) == ["x"]
]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda each: each.__name__)
def test_programs_give_what_numpy_gives(program: Callable[..., Any]) -> None:
    model = xp.to_model(program, DOUBLE["N"])
    for size in SIZES:
        x = np.random.default_rng(size).uniform(0, 1, size)
        wanted, got = program(x.copy()), model(x)
        pairs = zip(wanted, got, strict=True) if isinstance(wanted, tuple) else [(wanted, got)]
        for theirs, ours in pairs:
            np.testing.assert_allclose(ours, theirs, rtol=1e-12)


# -- what is refused -----------------------------------------------------------------------------------------


def writes_to_one_of_two(x: DOUBLE["N"]):
    a = xp.asarray(x) * 1
    b = xp.asarray(x) * 2
    y = a if a[0] > 0 else b
    y[0] = 1  # here
    return y, a


def writes_to_what_may_be_held(x: DOUBLE["N"]):
    a = xp.asarray(x) * 1
    y = a
    if a[0] > 0:
        y = a + 1
    a[0] = 1  # here
    return y, a


def writes_in_a_loop_to_what_another_holds(x: DOUBLE["N"]):
    a = xp.asarray(x) * 1
    y = a[:]
    for i in range(a.shape[0]):
        a[i] = 1  # here
        y = y + 1
    return y, a


def writes_to_what_the_iteration_before_held(x: DOUBLE["N"]):
    a = xp.asarray(x) * 1
    y = a
    for i in range(a.shape[0]):
        y[i] = 1  # here
        y = y + 1
    return y, a


def writes_to_what_a_loop_took(x: DOUBLE["N"]):
    a = xp.asarray(x) * 1
    y = a + 1
    for _ in range(a.shape[0]):
        y = a[::-1]
    a[0] = 5  # here
    return y, a


def changes_its_element_type(x: FLOAT["N"]):
    y = xp.asarray(x)
    for _ in range(y.shape[0]):  # here
        y = y.astype(xp.float64)
    return y


def changes_its_rank(x: FLOAT["N"]):
    y = xp.asarray(x)
    if y.sum() > 0:  # here
        y = y[None]
    return y


def changes_its_rank_in_a_loop(x: FLOAT["N"]):
    y = xp.asarray(x)
    for _ in range(y.shape[0]):  # here
        y = y[None]
    return y


def writes_to_what_was_appended(x: DOUBLE["N"]):
    out = []
    place = xp.zeros(2)
    for value in xp.asarray(x):
        place += value  # here
        out.append(place)
    return xp.stack(out)


def appends_on_one_path(x: DOUBLE["N"]):
    out = [xp.asarray(x)[0]]
    if out[0] > 0:  # here
        for value in xp.asarray(x):
            out.append(value * 2)
    return xp.stack(out)


def appends_tensors_on_one_path(x: FLOAT["N"]):
    out = [x]
    if op.ReduceMax(x, keepdims=0) > 0:  # here
        for i in range(x.shape[0]):
            out.append(x[i : i + 1])
    return op.ConcatFromSequence(out, axis=0)


def appends_behind_a_return(x: DOUBLE["N"]):
    a, out = xp.asarray(x), []
    if a[0] > 0:  # here
        a = a + 1
    else:
        if a[1] > 0:
            return xp.asarray(out)
        for value in a:
            out.append(value + 1)
    return xp.asarray(out)


def appends_on_the_other_side_of_a_return(x: FLOAT["N"]):
    out = [x]
    if x[0] > 0:  # here
        x = x + 1
    elif x[1] > 0:
        return x
    else:
        for i in range(x.shape[0]):
            out.append(x[i : i + 1])
    return op.ConcatFromSequence(out, axis=0)


def appends_unless_it_goes_on(x: DOUBLE["N"]):
    a, out, turn = xp.asarray(x), [], 0
    while turn < 2:  # here
        turn += 1
        if a[0] > 2:
            continue
        for value in a:
            out.append(value + 1)
    return xp.asarray(out)


def writes_from_a_body(x: FLOAT["N"]):
    y = xp.array(x)

    def body(i: INT64, go_on: BOOL, z: FLOAT["N"]):
        y[0] = 1  # here
        return go_on, z

    return op.Loop(3, None, x, body=body)


def writes_to_what_a_view_may_be_of(x: DOUBLE["N"]):
    a = xp.asarray(x) * 1
    y = a[1:]
    if a[0] > 0:
        y = y + 1
    rest = y[1:]
    a[0] = 1  # here
    return rest


def writes_in_a_loop_to_what_may_be_held(x: DOUBLE["N"]):
    a = xp.asarray(x) * 1
    y = a[:1]
    if a[0] > 0:
        y = y + 1
    for i in range(a.shape[0]):
        a[i] = y[0]  # here
    return a


REFUSED: list[tuple[Callable[..., Any], type[OnnxsmithError], str]] = [
    (writes_to_one_of_two, TensorAssignmentError, "whether another variable holds the same elements"),
    (writes_to_what_may_be_held, TensorAssignmentError, "whether another variable holds the same elements"),
    (writes_to_what_a_view_may_be_of, TensorAssignmentError, "and that is read afterwards"),
    (writes_in_a_loop_to_what_may_be_held, TensorAssignmentError, "and that is read afterwards"),
    (writes_in_a_loop_to_what_another_holds, TensorAssignmentError, "a variable of a loop holds it"),
    (writes_to_what_the_iteration_before_held, TensorAssignmentError, "may be one from before the loop"),
    (writes_to_what_a_loop_took, TensorAssignmentError, "a variable of a loop holds it"),
    (changes_its_element_type, LoopTypeError, "'y' is float32 before an iteration and float64 after it"),
    (
        changes_its_rank,
        BranchTypeError,
        "'y' has 2 dimensions when the condition is true and 1 when it is not",
    ),
    (changes_its_rank_in_a_loop, LoopTypeError, "another number of dimensions"),
    (writes_from_a_body, TensorAssignmentError, "made outside the function"),
    (writes_to_what_was_appended, TensorAssignmentError, "it was appended to a list"),
    (appends_on_one_path, MutationError, "'out' is changed inside this"),
    (appends_tensors_on_one_path, MutationError, "'out' is changed inside this"),
    (appends_unless_it_goes_on, MutationError, "'out' is changed inside this"),
    (appends_behind_a_return, MutationError, "'out' is changed inside this"),
    (appends_on_the_other_side_of_a_return, MutationError, "'out' is changed inside this"),
]


@pytest.mark.parametrize(("function", "kind", "said"), REFUSED, ids=[each[0].__name__ for each in REFUSED])
def test_what_only_the_model_knows_is_refused_where_it_stands(
    function: Callable[..., Any], kind: type[OnnxsmithError], said: str
) -> None:
    with pytest.raises(kind, match=said) as caught:
        script(function)
    span = caught.value.span
    assert span is not None
    assert linecache.getline(span.file, span.line).rstrip().endswith("# here")


def test_a_complex_number_of_pythons_is_carried_and_becomes_an_array() -> None:
    def transformed(x: Any, k: int = 1) -> Any:
        total = 0j
        for i in range(len(x)):
            total += x[i] * np.exp(np.complex128(-2j) * np.pi * k * i / len(x))
        return total

    x = np.array([1.0, -2.0, 0.5])
    np.testing.assert_allclose(xp.jit(transformed)(x), transformed(x))


def test_a_complex_number_of_pythons_beside_one_of_the_model_is_refused() -> None:
    def turned(x: Any) -> Any:
        return x * (2j * len(x))

    with pytest.raises(TracedValueError, match=r"complex number 2j .*\n(.*\n)+.*np\.complex128\(2j\)"):
        xp.jit(turned)(np.ones(3))


def test_an_array_that_a_refused_path_wrote_to_is_as_it_was() -> None:
    @script
    def tried(x: DOUBLE["N"]):
        a = xp.asarray(x) * 1
        for k in range(2):  # which needs k now, and so runs now after it was tried as a Loop
            a[0] = a[0] + 1
            a = a.reshape(-1) + [0.5, 1.5][k]
        return a

    np.testing.assert_array_equal(tried.to_model()(np.zeros(2)), [4.0, 2.0])


def test_a_list_grows_behind_a_return_in_a_loop_of_few_turns() -> None:
    def grown(a):
        out = []
        for place in range(2):
            if a[place] > 2:
                return np.asarray(out)
            for value in a:
                out.append(value + place)
        return np.asarray(out)

    fast = xp.jit(grown)
    for given in ([1.0, 2.0], [1.0, 3.0], [3.0, 1.0]):
        np.testing.assert_array_equal(fast(np.array(given)), grown(np.array(given)))
