"""What a jitted function reads: everything around it that has changed is noticed in the next call."""

from __future__ import annotations

import abc
import contextvars
import copy
import dataclasses
import decimal
import enum
import functools
import operator
import os
import string
import types
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import onnxsmith
from onnxsmith import DOUBLE, FLOAT, script
from onnxsmith import numpy as xp
from onnxsmith.errors import MutationError, UnseenStateError, UnsupportedSyntaxError
from onnxsmith.grad import grad
from onnxsmith.scripting.staging.outside import Outside
from tests.laws.named import law

X = np.ones(2, np.float32)
FACTOR: Any = 2.0
OBJECTS = np.array([1.0, 2.0], object)


def scaled(x):
    return x * FACTOR


class Settings:
    k: Any = 2.0

    @property
    def doubled(self):
        return self.k * 2.0


class Others(Settings):
    k = 7.0


class Pointed:
    k: Any

    def __len__(self):
        return 0


def matched_by_name(value):
    match value:
        case object(k=held):
            return held


class Kind(type):
    @property
    def asked(cls):
        return cls.held  # type: ignore[attr-defined]


class Asked(metaclass=Kind):
    held: Any = 2.0


SETTINGS = Settings()
POINTED = Pointed()
POINTED.k = 2.0
FUNCTIONS = [scaled]
LONG = [1.0] * 100
VARIABLE: contextvars.ContextVar[Any] = contextvars.ContextVar("VARIABLE")
VARIABLE.set([1.0])
DEEP = types.SimpleNamespace(sub={"a": [types.SimpleNamespace(w=np.ones(2, np.float32))]})


@functools.lru_cache
def cached():
    return FACTOR


@script
def inner(x: FLOAT["N"]):
    return x * FACTOR


vectorized = np.vectorize(scaled)
ours = xp.vectorize(scaled)
fast_inner = xp.jit(scaled)
slope = grad(lambda x: (x * x * FACTOR).sum())


def _other_code() -> None:
    scaled.__code__ = (lambda x: x * FACTOR * 5.0).__code__


def _fresh_cache() -> None:
    globals()["FACTOR"] = 4.0
    cached.cache_clear()


def _set(name: str, value: Any) -> Callable[[], None]:
    return lambda: globals().__setitem__(name, value)


#: A function, a change of what it reads, and whether it is for scripts, for numpy code, or for both.
WAYS: dict[str, tuple[Callable[[Any], Any], Callable[[], Any], str]] = {
    "an item of the environment": (
        lambda x: x * float(os.environ["READ"]),
        lambda: os.environ.__setitem__("READ", "3"),
        "both",
    ),
    "getenv": (
        lambda x: x * float(os.getenv("READ", "1")),
        lambda: os.environ.__setitem__("READ", "4"),
        "both",
    ),
    "a script that is called": (lambda x: inner(x), _set("FACTOR", 3.0), "script"),
    "numpy code that jit has": (lambda x: fast_inner(x), _set("FACTOR", 3.0), "numpy"),
    "np.vectorize": (lambda x: vectorized(x), _set("FACTOR", 3.0), "numpy"),
    "our vectorize": (lambda x: ours(x), _set("FACTOR", 3.0), "numpy"),
    "a gradient": (lambda x: slope(x), _set("FACTOR", 3.0), "numpy"),
    "an item of a long list": (lambda x: x * sum(LONG), lambda: LONG.__setitem__(70, 5.0), "both"),
    "the class of an object": (
        lambda x: x * SETTINGS.k,
        lambda: setattr(SETTINGS, "__class__", Others),
        "both",
    ),
    "a property": (
        lambda x: x * SETTINGS.doubled,
        lambda: setattr(Settings, "doubled", property(lambda self: 9.0)),
        "both",
    ),
    "an attribute of a metaclass's class": (
        lambda x: x * Asked.asked,
        lambda: setattr(Asked, "held", 8.0),
        "both",
    ),
    "a cached helper": (lambda x: x * cached(), _fresh_cache, "both"),
    "an attribute in a class pattern": (
        lambda x: x * matched_by_name(POINTED),
        lambda: setattr(POINTED, "k", 5.0),
        "both",
    ),
    "an attribute in a text with fields": (
        lambda x: x * float("{of.k}".format(of=POINTED)),  # noqa: UP032
        lambda: setattr(POINTED, "k", 5.0),
        "both",
    ),
    "a special method that a class gets": (
        lambda x: x * (1.0 if POINTED else 3.0),
        lambda: setattr(Pointed, "__bool__", lambda self: True),
        "both",
    ),
    "the code of a helper": (lambda x: scaled(x), _other_code, "both"),
    "a function in a list": (lambda x: FUNCTIONS[0](x), lambda: FUNCTIONS.__setitem__(0, abs), "both"),
    "an element in an array of objects": (
        lambda x: x * OBJECTS[0],
        lambda: OBJECTS.__setitem__(0, 9.0),
        "script",
    ),
    "the value of a context variable": (
        lambda x: x * VARIABLE.get()[0],
        lambda: VARIABLE.get().insert(0, 3.0),
        "both",
    ),
    "the depths of an object": (
        lambda x: x * DEEP.sub["a"][0].w,
        lambda: DEEP.sub["a"][0].w.fill(4.0),
        "both",
    ),
    "the precision of decimal": (
        lambda x: x * float(decimal.Decimal(1) / decimal.Decimal(7) * 10**5),
        lambda: setattr(decimal.getcontext(), "prec", 2),
        "both",
    ),
    "a builtin": (lambda x: x * float(max(1.0, 2.0)), _set("max", lambda *_: 5.0), "both"),
}


@pytest.fixture(autouse=True)
def as_they_were(monkeypatch: pytest.MonkeyPatch):
    """Puts back what a test changes of this module."""
    for name in ("FACTOR", "FUNCTIONS", "LONG", "OBJECTS", "SETTINGS", "DEEP"):
        monkeypatch.setitem(globals(), name, globals()[name])
    monkeypatch.setenv("READ", "2")
    code, held, asked, property_ = scaled.__code__, LONG[:], Asked.held, Settings.doubled
    with decimal.localcontext():
        yield
    globals().pop("max", None)
    scaled.__code__, Asked.held, Settings.doubled, LONG[:] = code, asked, property_, held  # type: ignore[method-assign]
    SETTINGS.__class__, FUNCTIONS[0], OBJECTS[0], VARIABLE.get()[:] = Settings, scaled, 1.0, [1.0]
    DEEP.sub["a"][0].w.fill(1.0)
    cached.cache_clear()
    POINTED.k = 2.0
    if "__bool__" in vars(Pointed):
        del Pointed.__bool__  # pyright: ignore[reportAttributeAccessIssue]  # a test has given it


@pytest.mark.parametrize("name", [each for each, way in WAYS.items() if way[2] != "numpy"])
def test_a_jitted_script_gives_what_the_script_gives(name: str):
    function, change, _ = WAYS[name]
    plain = script(function)
    fast = onnxsmith.jit(plain)
    first = fast(X)
    np.testing.assert_array_equal(first, plain(X))
    change()
    assert not np.array_equal(first, plain(X))
    np.testing.assert_array_equal(fast(X), plain(X))


@pytest.mark.parametrize("name", [each for each, way in WAYS.items() if way[2] != "script"])
def test_jitted_numpy_code_gives_what_the_code_gives(name: str):
    function, change, _ = WAYS[name]
    fast = xp.jit(function)
    first = fast(X)
    np.testing.assert_allclose(first, function(X))
    change()
    assert not np.allclose(first, function(X))
    np.testing.assert_allclose(fast(X), function(X))


@script
def of_global(x: FLOAT["N"]) -> FLOAT["N"]:
    return x * FACTOR


def test_nothing_is_made_anew_without_a_change(monkeypatch: pytest.MonkeyPatch):
    fast: Any = onnxsmith.jit(of_global)
    fast(X)
    (made,) = fast._made._entries.values()
    monkeypatch.setitem(globals(), "another", 1)
    fast(X)
    assert list(fast._made._entries.values()) == [made]


def test_nan_is_itself():
    held = np.array([np.nan, 1.0], np.float32)
    outside = Outside(lambda x: x * held)
    assert outside.changed() is None
    held[1] = 2.0
    assert outside.changed() == "'held'"


def test_zero_has_a_sign():
    held = np.array([0.0], np.float32)
    outside = Outside(lambda x: x / held)
    held[0] = -0.0
    assert outside.changed() == "'held'"


@pytest.mark.parametrize("make", [lambda: np.ones(9000), lambda: np.ones((300, 300))[::2, ::3]])
def test_a_large_weight_that_is_written_to_as_a_whole_is_noticed(make: Callable[[], Any]):
    held = make()
    outside = Outside(lambda x: x * held, most=1000)
    assert outside.changed() is None
    held -= 0.1
    assert outside.changed() == "'held'"


def test_a_number_of_another_kind_is_another_object(monkeypatch: pytest.MonkeyPatch):
    """`1 == 1.0 == True`, and code tells them apart."""
    watched = Outside(scaled)
    assert not watched.changed()
    for each in (1, 1.0, True, 2.0):
        monkeypatch.setitem(globals(), "FACTOR", each)
        assert watched.changed()
        watched = Outside(scaled)
        assert not watched.changed()


def test_attributes_of_self_and_variables_around_are_seen():
    class Layer:
        def __init__(self) -> None:
            self.factor = 2.0

        def helped(self, x):
            return x * self.factor

        @script
        def run(self, x: FLOAT["N"]) -> FLOAT["N"]:
            return self.helped(x)

    layer = Layer()
    fast = onnxsmith.jit(layer.run)
    assert fast(X)[0] == 2
    layer.factor = 3.0
    assert fast(X)[0] == 3

    offset = 1.0

    @script
    def shifted(x: FLOAT["N"]) -> FLOAT["N"]:
        return x + offset

    fast = onnxsmith.jit(shifted)
    assert fast(X)[0] == 2
    offset = 4.0
    assert fast(X)[0] == 5


def test_views_of_a_dict():
    owned = {"a": 2.0}
    view, values = types.MappingProxyType(owned), owned.values()

    @script
    def by_key(x: FLOAT["N"]) -> FLOAT["N"]:
        return x * view["a"]

    @script
    def by_value(x: FLOAT["N"]) -> FLOAT["N"]:
        return x * sum(values)

    made = [onnxsmith.jit(by_key), onnxsmith.jit(by_value), xp.jit(lambda x: x * view["a"])]
    assert [each(X)[0] for each in made] == [2, 2, 2]
    owned["a"] = 5.0
    assert [each(X)[0] for each in made] == [5, 5, 5]


class Scale(enum.Enum):
    A = [2.0]  # noqa: RUF012  # a member's value, which the tests change


class Level(enum.IntEnum):
    LOW = 2


class Half(float):
    k: Any


def test_members_of_an_enumeration():
    @script
    def scaled_by_member(x: FLOAT["N"]) -> FLOAT["N"]:
        return x * Scale.A.value[0]

    made = [onnxsmith.jit(scaled_by_member), xp.jit(lambda x: x * Scale.A.value[0])]
    made.append(xp.jit(lambda x: x * next(iter(Scale)).value[0]))
    assert [each(X)[0] for each in made] == [2, 2, 2]
    Scale.A.value[0] = 7.0
    assert [each(X)[0] for each in made] == [7, 7, 7]
    Scale.A._value_ = [3.0]
    assert [each(X)[0] for each in made] == [3, 3, 3]


def test_numbers_of_a_users_class_have_attributes():
    half = Half(0.5)
    half.k = [2.0]
    made = [xp.jit(lambda x: x * half.k[0]), xp.jit(lambda x: x * Level.LOW.value)]
    assert [each(X)[0] for each in made] == [2, 2]
    half.k[0] = 7.0
    Level.LOW._value_ = 7
    assert [each(X)[0] for each in made] == [7, 7]


def test_flags_join_into_a_cache_of_their_class():
    flags = enum.Flag("flags", "A B")
    assert xp.jit(lambda x: x * (flags.A | flags.B).value)(X)[0] == 3


def test_attributes_that_operator_reads():
    class Inside:
        _v = 2.0
        k = property(operator.attrgetter("_v"))

        def get(self, key):
            return self._v * key

    inside, read, call = Inside(), operator.attrgetter("_v"), operator.methodcaller("get", 1)
    made = [xp.jit(lambda x: x * inside.k), xp.jit(lambda x: x * read(inside))]
    made.append(xp.jit(lambda x: x * call(inside)))
    assert [each(X)[0] for each in made] == [2, 2, 2]
    inside._v = 7.0
    assert [each(X)[0] for each in made] == [7, 7, 7]


def test_the_text_of_a_template():
    template = string.Template("ab")
    fast = xp.jit(lambda x: x * len(template.template))
    assert fast(X)[0] == 2
    template.template = "abc"
    assert fast(X)[0] == 3


class _OwnArray(np.ndarray[Any, Any]):
    k = 1.0


def test_attributes_of_an_array_of_a_users_class():
    w = np.ones(2).view(_OwnArray)
    w.k = 2.0
    fast = xp.jit(lambda x: x * w.k)
    assert fast(X)[0] == 2 * X[0]
    w.k = 5.0
    assert fast(X)[0] == 5 * X[0]


def test_globals_are_those_of_the_code(monkeypatch: pytest.MonkeyPatch):
    def read(x: Any) -> Any:
        found = globals().get("SHIFT", 1.0) + (1.0 if "_OwnArray" in globals() else 5.0)
        return x * found * globals()["SHIFT"]

    monkeypatch.setitem(globals(), "SHIFT", 2.0)
    fast, model = xp.jit(read), xp.to_model(read, DOUBLE["N"])
    given = np.ones(2)
    np.testing.assert_array_equal(fast(given), read(given))
    np.testing.assert_array_equal(model(given), read(given))
    monkeypatch.setitem(globals(), "SHIFT", 3.0)
    np.testing.assert_array_equal(fast(given), read(given))
    with pytest.raises(KeyError, match="MISSING"):
        xp.jit(lambda x: x * globals()["MISSING"])(given)


@dataclasses.dataclass
class _Copied:
    k: float = 2.0


COPIED = _Copied()


@script
def copying(x: FLOAT["N"]) -> FLOAT["N"]:
    return x * copy.deepcopy(COPIED).k


def test_a_cache_that_copyreg_keeps_in_a_class_is_no_change():
    if "__slotnames__" in vars(_Copied):
        del _Copied.__slotnames__  # pyright: ignore[reportAttributeAccessIssue]  # the cache of copyreg
    assert copying.to_model()(X)[0] == 2 * X[0]
    assert onnxsmith.jit(copying)(X)[0] == 2 * X[0]


@pytest.mark.parametrize("function", [lambda x: x * len(dir()), lambda x: x * len(vars())])
def test_names_of_variables_are_refused(function: Callable[[Any], Any]):
    with pytest.raises(UnsupportedSyntaxError, match="without an argument"):
        xp.jit(function)(np.ones(2))


class _Abstract(abc.ABC):
    factor = 1.0

    @abc.abstractmethod
    def scaled(self, x: Any) -> Any: ...


class _Concrete(_Abstract):
    calls = 0

    def scaled(self, x: Any) -> Any:
        return x * self.factor * _held[0]

    def count(self) -> None:
        type(self).calls += 1


_held = [1.0]
_concrete = _Concrete()


def test_classes_with_a_metaclass_of_python(monkeypatch: pytest.MonkeyPatch):
    @onnxsmith.script
    def f(x: FLOAT["N"]):
        return _concrete.scaled(x)

    fast, numpys = onnxsmith.jit(f), xp.jit(lambda x: _concrete.scaled(x))
    for change in (
        lambda: None,
        lambda: monkeypatch.setattr(_Abstract, "factor", 3.0),
        lambda: _held.__setitem__(0, 5.0),
    ):
        change()
        np.testing.assert_array_equal(fast(X), f(X))
        np.testing.assert_array_equal(numpys(X), f(X))

    def counts(x: FLOAT["N"]):
        for _ in x:
            _concrete.count()
        return x

    with pytest.raises(MutationError, match="_Concrete"):
        onnxsmith.script(counts).to_model()


def test_drawn_programs():
    assert law("jit-reads").wrong(seed=0, draws=60) == []


def test_arrays_of_other_libraries_are_refused_by_name():
    pandas = pytest.importorskip("pandas")
    series = pandas.Series([1.0, 2.0])

    def scaled(x):
        return x * float(series.iloc[0])

    with pytest.raises(UnseenStateError) as caught:
        xp.jit(scaled)(np.ones(2))
    assert (
        caught.value.message
        == "'series' is a Series of pandas, whose changes from call to call cannot be seen"
    )
    assert caught.value.help == "give the function its values: series.to_numpy()"
