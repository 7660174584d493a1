"""Python objects that change on a path that only the model decides: refused, whatever holds them; arrays are followed."""

import collections
import datetime
import decimal
import functools
import heapq
import io
import itertools
import os
import pathlib
import queue
import random
import secrets
import sys
import threading
import time
import uuid

import numpy as np

from onnxsmith import FLOAT, INT64
from onnxsmith.errors import LastingChangeError, MutationError, UnseenStateError
from tests.scripting.corpus import integer, refused, runs, vector

W = np.zeros(3, np.float32)
BUFFER = io.StringIO("abc")
QUEUE = queue.SimpleQueue()
SEEN = []
NOWHERE = pathlib.Path("nowhere/at/all")
SYSTEM = random.SystemRandom()
LOCAL = threading.local()
LOCAL.n = 1


def now_by_helper():
    return time.time()


def write_by_helper():
    NOWHERE.write_text("a")


def set_local(value):
    LOCAL.n = value


def set_precision(digits):
    decimal.getcontext().prec = digits


@functools.singledispatch
def doubled(value):
    return value


@doubled.register
def _(value: float):
    return value * 2


class Meter:
    def __init__(self):
        self.n = 1
        self.items = []
        self.ids = itertools.count()

    def tick(self):
        self.n += 1
        return self.n

    def push(self, value):
        self.items.append(value)

    @property
    def counted(self):
        self.n += 1
        return self.n


class Counted:
    total = 0

    def add_total(self):
        Counted.total += 1


class Slotted:
    __slots__ = ("n",)

    def __init__(self):
        self.n = 1

    def tick(self):
        self.n += 1


def remember(value, seen=[]):  # noqa: B006  # a default that changes is what this is about
    seen.append(value)
    return len(seen)


METER = Meter()


@runs(vector(1, 2, 3))
@runs(vector(-1, -2, -3))
def array_element(x: FLOAT["N"]):
    w = np.zeros(3, np.float32)
    if x.sum() > 0:
        w[0] = 1
    return x + w


@runs(vector(1, 2, 3))
@runs(vector(-1, -2, -3))
def array_in_place(x: FLOAT["N"]):
    w = np.zeros(3, np.float32)
    if x.sum() > 0:
        w += 1
    return x + w


@refused(MutationError, "'w'")
def array_filled(x: FLOAT["N"]):
    w = np.zeros(3, np.float32)
    if x.sum() > 0:
        w.fill(3)  # here
    return x + w


@refused(MutationError, "'W'")
def array_outside(x: FLOAT["N"]):
    if x.sum() > 0:
        W[0] = 3  # here
    return x + W


@runs(vector(1, 2, 3))
@runs(vector(-1, -2, -3))
def view_of_array(x: FLOAT["N"]):
    w = np.zeros(4, np.float32)
    view = w[1:]
    if x.sum() > 0:
        view[0] = 3
    return x + w[1:]


@refused(UnseenStateError, "'g'")
def iterator_in_loop(x: FLOAT["N"], n: INT64):
    g = iter([1.0, 2.0, 3.0])
    for _ in range(n):
        x = x * next(g)  # here
    return x


@refused(UnseenStateError, "'g'")
def generator_in_loop(x: FLOAT["N"], n: INT64):
    g = (v * 2 for v in [1, 2, 3])
    for _ in range(n):
        x = x * next(g)  # here
    return x


@refused(MutationError, "'g'")
def deque_in_loop(x: FLOAT["N"], n: INT64):
    g = collections.deque([1.0, 2.0])
    for _ in range(n):
        x = x * g.popleft()  # here
    return x


@refused(MutationError, "'g'")
def random_in_loop(x: FLOAT["N"], n: INT64):
    g = random.Random(3)
    for _ in range(n):
        x = x * g.randint(1, 3)  # here
    return x


@refused(MutationError, "'m'")
def method_in_loop(x: FLOAT["N"]):
    m = Meter()
    for _ in x:
        m.tick()  # here
    return x * m.n


@refused(MutationError, "'m'")
def property_in_branch(x: FLOAT["N"]):
    m = Meter()
    if x.sum() > 0:
        x = x * m.counted
    return x * m.n


@refused(MutationError, "'s'")
def slot_in_branch(x: FLOAT["N"]):
    s = Slotted()
    if x.sum() > 0:
        s.tick()  # here
    return x * s.n


@refused(MutationError, "'Counted'")
def class_attribute_in_branch(x: FLOAT["N"]):
    m = Counted()
    if x.sum() > 0:
        m.add_total()
    return x * Counted.total


@refused(MutationError, "'h'")
def attribute_by_name(x: FLOAT["N"]):
    h = Slotted()
    if x.sum() > 0:
        setattr(h, "n", 5)  # here  # noqa: B010
    return x * h.n


@refused(MutationError, "'box.items'")
def pushed_in_branch(x: FLOAT["N"]):
    box = Meter()
    if x.sum() > 0:
        box.push(x)
    return x * len(box.items)


@refused(MutationError, """'t["a"]'""")
def dict_in_dict(x: FLOAT["N"]):
    t = {"a": {"n": 1}}
    if x.sum() > 0:
        t["a"]["n"] = 5  # here
    return x * t["a"]["n"]


@refused(MutationError, "'items'")
def operand_of_and(x: FLOAT["N"]):
    items = []
    ok = (x.sum() > 0) and (items.append(1) is None)  # here
    return x * len(items), ok


@refused(MutationError, "'items'")
def operand_of_comparison(x: FLOAT["N"]):
    items = [1.0, 2.0]
    ok = 0 < x.sum() < items.pop()  # here
    return x * len(items), ok


@refused(MutationError, "'h'")
def heap_in_branch(x: FLOAT["N"]):
    h = [1, 2, 3]
    if x.sum() > 0:
        x = x + heapq.heappop(h)  # here
    return x * len(h)


@refused(MutationError, "'BUFFER'")
def text_in_branch(x: FLOAT["N"]):
    if x.sum() > 0:
        x = x + len(BUFFER.read(1))  # here
    return x


@refused(MutationError, "'QUEUE'")
def queue_in_branch(x: FLOAT["N"]):
    if x.sum() > 0:
        QUEUE.put(1)  # here
        x = x + 1
    return x


@refused(MutationError, "'os.environ'")
def environment_in_branch(x: FLOAT["N"]):
    if x.sum() > 0:
        os.environ["ONNXSMITH_TEST"] = "1"  # here
    return x


@refused(MutationError, "'globals()'")
def globals_in_branch(x: FLOAT["N"]):
    if x.sum() > 0:
        globals()["SEEN"] = 2.0  # here
    return x


@refused(MutationError, "'sys.path'")
def path_of_python_in_branch(x: FLOAT["N"]):
    if x.sum() > 0:
        sys.path.append("nowhere")  # here
    return x


@refused(MutationError, "'LOCAL'")
def thread_local_in_branch(x: FLOAT["N"]):
    if x.sum() > 0:
        set_local(5)
    return x * LOCAL.n


@refused(MutationError, "'decimal'")
def decimal_context_in_branch(x: FLOAT["N"]):
    if x.sum() > 0:
        set_precision(5)
    return x


@runs(vector(1, 2, 3))
def singledispatch_keeps_a_cache(x: FLOAT["N"]):
    return x * doubled(2.0) + os.environ.get("ONNXSMITH_TEST", "").count("1")


@refused(LastingChangeError, "'os.urandom' gives something else each time")
def bytes_of_the_system(x: FLOAT["N"]):
    return x * os.urandom(1)[0]  # here


@refused(LastingChangeError, "'secrets.randbelow' gives something else each time")
def secret_number(x: FLOAT["N"]):
    return x * secrets.randbelow(9)  # here


@refused(LastingChangeError, "'time.time' gives something else each time")
def clock(x: FLOAT["N"]):
    return x * time.time()  # here


@refused(LastingChangeError, "'time.perf_counter_ns' gives something else each time")
def counter_of_nanoseconds(x: FLOAT["N"]):
    return x * time.perf_counter_ns()  # here


@refused(LastingChangeError, "'datetime.now' gives something else each time")
def date_of_today(x: FLOAT["N"]):
    return x * datetime.datetime.now().second  # here


@refused(LastingChangeError, "'uuid.uuid4' gives something else each time")
def new_identifier(x: FLOAT["N"]):
    return x * (uuid.uuid4().int % 7)  # here


@refused(LastingChangeError, "'SystemRandom.randint' gives something else each time")
def random_of_the_system(x: FLOAT["N"]):
    return x * SYSTEM.randint(1, 3)  # here


@refused(LastingChangeError, "'time.time' gives something else each time")
def clock_in_helper(x: FLOAT["N"]):
    return x * now_by_helper()


@refused(UnseenStateError, "'Path.write_text'")
def path_written_in_branch(x: FLOAT["N"]):
    if x.sum() > 0:
        NOWHERE.write_text("a")  # here
    return x


@refused(UnseenStateError, "'Path.write_text'")
def path_written_by_helper(x: FLOAT["N"]):
    if x.sum() > 0:
        write_by_helper()
    return x


@refused(UnseenStateError, "'io.open'")
def file_written_in_branch(x: FLOAT["N"]):
    if x.sum() > 0:
        open(NOWHERE, "w").write("a")  # here  # noqa: SIM115
    return x


@refused(UnseenStateError, "'numpy.save'")
def array_saved_in_branch(x: FLOAT["N"]):
    if x.sum() > 0:
        np.save(NOWHERE, W)  # here
    return x


@refused(UnseenStateError, "'os.mkdir'")
def folder_made_in_branch(x: FLOAT["N"]):
    if x.sum() > 0:
        os.mkdir(NOWHERE)  # here
    return x


@refused(LastingChangeError, "'seen'")
def default_outlives_call(x: FLOAT["N"]):
    return x * remember(1)


@refused(LastingChangeError, "'METER'")
def attribute_outlives_call(x: FLOAT["N"]):
    return x * METER.tick()  # here


@refused(LastingChangeError, "op.RandomUniform(shape=[1])")
def random_numbers(x: FLOAT["N"]):
    return x * random.randint(1, 3)  # here


@refused(LastingChangeError, "'METER.ids'")
def iterator_outlives_call(x: FLOAT["N"]):
    return x * next(METER.ids)


@runs(vector(1, 2, 3))
@runs(vector(-1, -2, -3))
def attribute_that_nobody_names_may_be_an_iterator(x: FLOAT["N"]):
    if x.sum() > 0:
        x = x * METER.n
    return x


@runs(vector(1, 2, 3))
def changes_where_python_decides(x: FLOAT["N"]):
    meter, items, g = Meter(), [1.0], iter([2.0, 3.0, 4.0])
    for i in range(3):
        meter.tick()
        items.append(next(g) * i)
    if x.sum() > 0:
        x = x * meter.n + sum(items)
    return x


@runs(vector(1, 2, 3))
def array_changed_between_uses(x: FLOAT["N"]):
    w = np.zeros(3, np.float32)
    y = x + w
    w[0] = 1
    return y, x + w


@refused(MutationError, "after it was used")
def large_array_changed_between_uses(x: FLOAT["N"]):
    w = np.zeros(3000, np.float32)
    y = x[0] + w
    w[0] = 1  # here
    return y, x[0] + w


@runs(vector(1, 2, 3), integer(2))
@runs(vector(-1, 2, 3), integer(0))
def fresh_objects_in_branch(x: FLOAT["N"], n: INT64):
    if x[0] > 0:
        parts = [x]
        parts.append(x + 1)
        x = parts[-1]
    for _ in range(n):
        meter = Meter()
        meter.tick()
        x = x * meter.n
    return x


@runs(vector(1, 2, 3))
@runs(vector(-1, -2, -3))
def list_shared_in_both_branches(x: FLOAT["N"]):
    if x.sum() > 0:
        a = [x, x]
        b = a
    else:
        a = [x + 1, x]
        b = a
    b[0] = x * 5
    b.append(x)
    return a[0] * len(a)


@runs(vector(1, 2, 3))
@runs(vector(-1, -2, -3))
def list_of_before_in_both_branches(x: FLOAT["N"]):
    a = [x, x]
    if x.sum() > 0:
        b, x = a, x + 1
    else:
        b = a
    b.append(x * 3)
    return a[-1]


@refused(MutationError, "the same object")
def list_shared_in_one_branch(x: FLOAT["N"]):
    if x.sum() > 0:
        a = [x, x]
        b = a
    else:
        a, b = [x + 1, x], [x, x]
    b[0] = x * 5  # here
    return a[0]


@refused(MutationError, "the same object")
def list_that_may_be_another(x: FLOAT["N"]):
    a = [x, x]
    b = a
    if x.sum() > 0:
        b = [x + 1, x]
    a[0] = x * 5  # here
    return b[0]


@refused(MutationError, "the same object")
def one_of_two_lists(x: FLOAT["N"]):
    a, b = [x, x], [x, x + 1]
    c = a if x.sum() > 0 else b
    c.append(x * 5)  # here
    return a[0] * len(a)


@refused(MutationError, "the same object")
def list_that_a_loop_may_replace(x: FLOAT["N"]):
    a = [x, x]
    b = a
    for v in x:
        a = [x + v, x]
    b[0] = x * 5  # here
    return a[0]
