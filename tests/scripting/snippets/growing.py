"""`out.append(v)` in loops that the model performs."""

from onnxsmith import FLOAT, INT64, script
from onnxsmith import opset18 as op
from onnxsmith.errors import MutationError, TensorAssignmentError, TracedValueError
from tests.scripting.corpus import integer, ints, refused, runs, skips, vector


@runs(vector(1, 2, 3))
@skips(plain="an operator takes no list of numpy scalars")
def collected(x: FLOAT["N"]):
    out = []
    for v in x:
        out.append(v * 2)
    return op.ConcatFromSequence(out, axis=0, new_axis=1)


@runs(vector(1, -2, 3))
@runs(vector(-1))
def collected_in_branch(x: FLOAT["N"]):
    out = []
    for v in x:
        if v > 0:
            out.append(v * 2)
    return len(out), x


@runs(vector(1, 2), integer(3))
@runs(vector(1, 2), integer(0))
def reads_its_last(x: FLOAT["N"], n: INT64):
    out = [x]
    for _ in range(n):
        out.append(out[-1] * 2.0)
    return out[-1], out[0], len(out)


@runs(vector(1, 2, 3))
def looped_over_afterwards(x: FLOAT["N"]):
    out = []
    for v in x:
        out.append(v + 1.0)
    total = x.sum()
    for each in out:
        total = total + each
    out.append(total)
    return total, out[0], len(out)


@runs(vector(1, 3, 2))
def two_loops_deep(x: FLOAT["N"]):
    out = []
    for v in x:
        for w in x:
            if v > w:
                out.append(v + w)
    return len(out) + x


@runs(vector(1, 3, 2))
@runs(vector(1, 1))
def left_by_break(x: FLOAT["N"]):
    out = []
    i = 0
    while i < len(x):
        out.append(x[i])
        if x[i] > 2.0:
            break
        i = i + 1
    return len(out) + x


@runs(vector(1, 3, 2))
def passed_over_by_continue(x: FLOAT["N"]):
    first, second = [], []
    for v in x:
        if v > 2.0:
            continue
        first.append(v)
        second.append(v > 1.0)
    return len(first) + x, len(second)


@runs(vector(1, 2, 3))
def known_range_stays_a_list(x: FLOAT["N"]):
    out = []
    for i in range(3):
        out.append(x * i)
    return sum(out), len(out)


@runs(vector(1, 3, 2, 4))
@runs(vector(-1, -3, -2, -4))
def in_a_known_range(x: FLOAT[4]):
    out = []
    for i in range(4):
        if x[i] > 1.0:
            out.append(x[i])
    return len(out) + x


@runs(vector(1, 3, 2, 4))
@runs(vector(9, 9, 9, 9))
def in_a_known_range_until_break(x: FLOAT[4]):
    out = [x]
    for i in range(4):
        if out[-1].sum() > 20.0:
            break
        out.append(out[-1] * 2.0)
    return len(out), out[-1]


@runs(vector(1, 3, 2, 4))
def in_a_long_known_range(x: FLOAT[4]):
    out, seen = [], []
    for i in range(300):
        if x[i % 4] > 2.0:
            out.append(x)
        seen.append(i > 3)
    return len(out), len(seen), x


@runs(vector(1, 3, 2))
@runs(vector(-1, 0, 2))
def of_a_python_list(x: FLOAT[3]):
    out, names = [], []
    for name, each in [("a", x), ("b", x * 2.0), ("c", -x)]:
        names.append(name)
        if each.sum() > 4.0:
            out.append(each)
    return len(out), len(names), x


@runs(vector(1, 3, 2))
@runs(vector(2))
def length_is_read_first(x: FLOAT["N"]):
    out = []
    for v in x:
        if len(out) > 0:
            out.append(out[-1] + v)
        else:
            out.append(v)
    return len(out), out[-1]


@runs(vector(1, 3, 2))
@runs(vector(3, 2, 1))
def last_is_read_first(x: FLOAT["N"]):
    out, places = [], []
    for i, v in enumerate(x):
        if not out or out[-1] < v:
            out.append(v)
            places.append(x[: len(places)].sum())
    return len(out), out[-1], places[-1]


@runs(vector(1, 3, 2), ints(4, 5, 6))
def two_lists_of_two_types_are_read_first(x: FLOAT["N"], k: INT64["N"]):
    values, keys = [], []
    for v, i in zip(x, k):
        last = keys[-1] if keys else i - 1
        before = values[-1] if values else v
        keys.append(last + i)
        values.append(before * v)
    return keys[-1], values[-1]


@script
def collects(x: FLOAT["N"]):
    out = []
    for v in x:
        out.append(v + 1.0)
    return out


@runs(vector(1, 2))
@skips(plain="what a script returns is no list of numpy's")
def from_another_script(x: FLOAT["N"]):
    found = collects(x)
    return len(found), found[0]


@refused(MutationError, "only one variable holds")
def held_twice(x: FLOAT["N"]):
    out = []
    other = out
    for v in x:
        out.append(v)  # here
    return len(other) + x


@refused(MutationError, "something else that holds the same list")
def held_twice_afterwards(x: FLOAT["N"]):
    out = []
    for v in x:
        out.append(v)
    other = out
    out.append(x[0])  # here
    return len(other) + x


def _extended(out, x):
    out.append(x[0])
    return len(out)


@refused(MutationError, "something else that holds the same list")
def grown_by_helper(x: FLOAT["N"]):
    out = []
    for v in x:
        out.append(v)
    return _extended(out, x) + len(out) + x


@refused(MutationError, "SequenceInsert")
def numbers(x: FLOAT["N"]):
    out = []
    for _ in x:
        out.append(1.0)  # here
    return len(out) + x


@refused(MutationError)
def two_element_types(x: FLOAT["N"]):
    out = []
    for v in x:
        out.append(v)  # here
        out.append(v > 0.0)
    return len(out) + x


@runs(vector(-1, 5, 7))
def collected_in_a_long_row(x: FLOAT["N"]):
    out = []
    for v in x:
        if v > 20.0:
            out.append(v + 0.0)
        elif v > 19.0:
            out.append(v + 1.0)
        elif v > 18.0:
            out.append(v + 2.0)
        elif v > 17.0:
            out.append(v + 3.0)
        elif v > 16.0:
            out.append(v + 4.0)
        elif v > 15.0:
            out.append(v + 5.0)
        elif v > 14.0:
            out.append(v + 6.0)
        elif v > 13.0:
            out.append(v + 7.0)
        elif v > 12.0:
            out.append(v + 8.0)
        elif v > 11.0:
            out.append(v + 9.0)
        elif v > 10.0:
            out.append(v + 10.0)
        elif v > 9.0:
            out.append(v + 11.0)
        elif v > 8.0:
            out.append(v + 12.0)
        elif v > 7.0:
            out.append(v + 13.0)
        elif v > 6.0:
            out.append(v + 14.0)
        elif v > 5.0:
            out.append(v + 15.0)
        elif v > 4.0:
            out.append(v + 16.0)
        elif v > 3.0:
            out.append(v + 17.0)
        elif v > 2.0:
            out.append(v + 18.0)
        elif v > 1.0:
            out.append(v + 19.0)
    return len(out), x


@refused(TensorAssignmentError, "out = op.SequenceInsert(op.SequenceErase(out, 0), x[0], 0)")
def an_element_is_set(x: FLOAT["N"]):
    out = []
    for v in x:
        out.append(v)
    out[0] = x[0]  # here
    return out[0]


@refused(TracedValueError, "insert one element after the other: s = op.SequenceInsert(s, v)")
def another_list_is_added(x: FLOAT["N"]):
    out = []
    for v in x:
        out.append(v)
    out += [x[0]]  # here
    return len(out) + x
