"""Inner functions that yield."""

from onnxsmith import FLOAT
from onnxsmith.errors import MutationError, UnseenStateError, UnsupportedSyntaxError
from tests.scripting.corpus import refused, runs, vector


@runs(vector(-1, 2, 3))
@runs(vector(1, 2))
def yields(x: FLOAT["N"]):
    def layers(k):
        h = x
        for i in range(k):
            if i % 2 == 0:
                h = h * 2
            else:
                h = h + 1
            yield h
        yield from [x, x]

    out = list(layers(3))
    s = sum(layers(2))
    for i, h in enumerate(layers(3)):
        s = s + h * i
    a, b, *c = layers(1)
    return s + out[-1], a + b


@runs(vector(-1, 2, 3))
@runs(vector(1, 2))
def yields_without_end(x: FLOAT["N"]):
    def count():
        n = 0
        while True:
            yield n
            n += 1

    s = x
    for k in count():
        if k > 4:
            break
        s = s + k
    return s


@runs(vector(-1, 2, 3))
@runs(vector(1, 2))
def left_before_its_end(x: FLOAT["N"]):
    def g():
        for k in range(4):
            yield x + k

    s = x
    for v in g():
        if v.sum() > 8:
            break
        s = s + v
    return s


@runs(vector(-1, 2, 3))
@runs(vector(1, 2))
def in_a_loop(x: FLOAT["N"]):
    def g(v):
        yield v
        yield v * 2

    s = 0.0
    for v in x:
        for w in g(v):
            s = s + w
    it = g(x)
    a = next(it)
    if x.sum() > 0:
        a = a + 1
    return a + next(it) + s


@refused(UnsupportedSyntaxError, "a generator yields when the model is made")
def decided_by_the_model(x: FLOAT["N"]):
    def g():
        if x.sum() > 0:  # here
            yield x
        yield x * 2

    return sum(g())


@refused(MutationError, "'log' is changed inside this")
def changes_a_list(x: FLOAT["N"]):
    log = []

    def g():
        for k in range(4):
            log.append(k)  # here
            yield x + k

    s = x
    for v in g():
        if v.sum() > 8:
            break
        s = s + v
    return s + len(log)


@refused(MutationError, "'n' is changed by what gives the next item")
def changes_a_variable(x: FLOAT["N"]):
    n = 0

    def bump():
        nonlocal n
        n += 1

    def g():
        for k in range(4):
            bump()
            yield x + k

    s = x
    for v in g():  # here
        if v.sum() > 8:
            break
        s = s + v
    return s + n


@refused(UnseenStateError, "'it' is a generator")
def moves_on_in_a_branch(x: FLOAT["N"]):
    def g():
        yield x
        yield x * 2

    it = g()
    a = next(it)
    if x.sum() > 0:
        a = a + next(it)  # here
    return a


@refused(UnsupportedSyntaxError, "a generator of a script cannot assign 'n'")
def assigns_around_it(x: FLOAT["N"]):
    n = 0

    def g():
        nonlocal n  # here
        n += 1
        yield x

    return sum(g()) + n


@refused(UnsupportedSyntaxError, "inside an expression")
def yields_in_an_expression(x: FLOAT["N"]):
    def g():
        y = (yield x) if True else x  # here
        yield y

    return sum(g())


@refused(UnsupportedSyntaxError, "cannot contain ':='")
def walrus(x: FLOAT["N"]):
    def g():
        if (k := 3) > 2:  # here
            yield x * k

    return sum(g())
