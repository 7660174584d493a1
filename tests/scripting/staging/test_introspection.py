"""The law of introspection: what Python tells of a number or tensor of the model is eager's answer, or is refused."""

from __future__ import annotations

import collections.abc
import copy
import enum
import linecache
import math
import numbers
import operator
import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import onnxsmith
from onnxsmith import FLOAT, INT64, script
from onnxsmith import opset18 as op
from onnxsmith.errors import OnnxsmithError

#: Asked of `n`, an int, `half`, a float, and `found`, a bool, which only the model knows.
OF_NUMBERS = """
hasattr(n, "real")  hasattr(n, "shape")  hasattr(n, "bit_length")  hasattr(n, "__len__")  hasattr(n, "__iter__")
hasattr(n, "__index__")  hasattr(n, "__array__")  hasattr(n, "dtype")  hasattr(n, "tensor")  hasattr(half, "is_integer")
hasattr(found, "real")  getattr(n, "real", 7)  getattr(n, "zzz", 7)  getattr(n, "shape", 7)  getattr(n, "tensor", 7)
np.isscalar(n)  np.isscalar(half)  np.isscalar(found)  id(n)  id(n) == id(n)  vars(n)  dir(n)  callable(n)  hash(n)
isinstance(n, int)  isinstance(n, float)  isinstance(n, bool)  isinstance(found, bool)  isinstance(found, int)
isinstance(n, (str, int))  isinstance(n, numbers.Integral)  isinstance(half, numbers.Real)  isinstance(n, np.ndarray)
isinstance(n, collections.abc.Hashable)  isinstance(n, collections.abc.Iterable)  isinstance(n, onnxsmith.Tensor)
type(n) is int  type(half) is float  type(found) is bool  type(n) in (int, float)  issubclass(type(n), int)
type(n).__name__  n.__class__ is int  n.__class__.__name__  half.__class__ is float  found.__class__ is bool
n is n  n is 4  n is not 4  n is None  n is not None  found is True  found is not False  operator.is_(n, 4)
operator.is_(found, True)  operator.is_not(n, None)  n == None  n != None  n == "a"
n.real  n.imag  n.numerator  n.bit_length()  n.conjugate()  n.to_bytes(2, "big")  half.is_integer()  half.hex()
n.shape  n.dtype  n.ndim  n.size  n.T  n.sum()  n.astype(FLOAT)  n.reshape(1)  n.at  half.dtype  found.any()
copy.copy(n)  copy.deepcopy(n)  copy.copy(n) is n  copy.deepcopy([n])[0]  repr(n)  str(n)  operator.index(n)
n in {3: 1, 4: 2}  n in [1, 4]  n in (n, 1)  [1, 4].index(n)  [4, 1].count(n)  {3: 10, 4: 20}[n]  len({n, 4})
np.ndim(n)  np.shape(n)  np.size(n)  np.asarray(n)  np.zeros(n)  np.ones((n, 2))  np.arange(n)  np.full(n, 2.0)
bool(n)  not n  math.isclose(n, 4)  math.isqrt(n)  math.gcd(n, 6)  complex(n)  hex(n)  chr(n)  round(half)
"""
#: Asked of `x` and `y`, tensors, of `merged`, which is one of the two, and of `row`, a sequence.
OF_TENSORS = """
hasattr(x, "shape")  hasattr(x, "sum")  hasattr(x, "real")  hasattr(x, "numpy")  hasattr(x, "array")
hasattr(x, "record")  getattr(x, "ndim", 0)  getattr(x, "zzz", 7)  getattr(x, "record", 7)  getattr(x, "array", 7)
np.isscalar(x)  id(x)  isinstance(x, np.ndarray)  isinstance(x, onnxsmith.Tensor)  isinstance(x, (list, tuple))
isinstance(x, (int, float))  isinstance(x, collections.abc.Sized)  isinstance(x, collections.abc.Iterable)
isinstance(x, collections.abc.Sequence)  type(x).__name__  type(x) is np.ndarray  type(x) is type(y)
x.__class__ is y.__class__  x.__class__.__name__  callable(x)  x is x  x is not x  x is y  x is not y  x is None
merged is x  merged is not x  merged is merged  x is x[:1]  x is (x > 0)  operator.is_(x, x)  operator.is_(merged, x)
x in [x]  x in (y, x)  [x, y].index(x)  copy.copy(x) is x  copy.deepcopy(x) is x  copy.deepcopy([x])[0].sum()
isinstance(x.shape, tuple)  len(x.shape)  isinstance(x.shape[0], int)  vars(x)  dir(x)  hash(x)  repr(x)
x.dtype == np.float32  str(x.dtype)  x.itemsize  x.nbytes  x.device  isinstance(row, list)  isinstance(row, tuple)
type(row) is list  row.__class__ is list  hasattr(row, "append")  hasattr(row, "shape")
isinstance(row, collections.abc.Sequence)  row is row  row is None  len(row)  bool(row)
"""
_PROGRAM = """
def asked(x: FLOAT["N"], y: FLOAT["N"], m: INT64):
    n, half, found = len(x), len(x) / 2, len(x) > 3
    merged = x if x.sum() > 0 else y
    row = []
    for _ in range(m):
        row.append(x)
    answer = {0}
    if isinstance(answer, bool):
        answer = int(answer)
    if isinstance(answer, str):
        answer = len(answer)
    return x[:1] * 0 + answer
"""
#: Asked of attributes of a function that another one calls: texts, numbers and lists of them.
OF_ATTRIBUTES = """
t in {"a", "b"}  t in {"a": 1}  t in ("a", "b")  t in ["b"]  t in "abc"  "a" in t  {"a": 2, "b": 3}[t]
{"a": 2}.get(t, 3)  isinstance(t, str)  isinstance(t, list)  type(t) is str  t.__class__ is str  hasattr(t, "upper")
hasattr(t, "reference")  getattr(t, "zzz", 7)  Mode(t).name  Mode(t) is Mode.B  t == "b"  t != "b"  t is None
t is not None  len(t)  t.upper() == "B"  t[0] == "b"  f"{t}!" == "b!"  t + "c" == "bc"  hash(t) == hash("b")  not t
bool(t)  sorted({t, "a"})[0] == "a"  str(t) == "b"  isinstance(ts, list)  isinstance(ts, str)  len(ts)  "a" in ts
ts[0] == "a"  type(ts) is list  tuple(ts) == ("a", "b")  isinstance(k, int)  isinstance(k, bool)  type(k) is int
k.__class__ is int  k in {3, 4}  k in (3, 4)  {3: 1, 4: 2}[k]  hasattr(k, "reference")  np.isscalar(k)  k is None
k == 3  range(k)[-1]  [1, 2, 3, 4][k]  len("ab" * k)  Number(k).name  isinstance(f, float)  type(f) is float
f == 0.5  isinstance(b, bool)  b is True  b is not False  type(b) is bool  not b  isinstance(ks, list)
isinstance(ks, (list, tuple))  type(ks) is list  len(ks)  3 in ks  ks[0]  sum(ks)  max(ks)  ks == [3, 4]
hasattr(ks, "append")  hasattr(ks, "shape")  np.isscalar(ks)  isinstance(fs, list)  len(fs)  hash(tuple(ks))
getattr(op, t, None) is None  int(t, 16)  ord(t)  ",".join([t, "c"])  math.factorial(k)  chr(k)  "{:d}".format(k)
dict(b=5)[t]  max(t, "a")  [0] * k  list(map(str.upper, ts))[0]  "abc".index(t)  float("1" * k)  divmod(k, 2)[1]
t.encode()[0]  complex(k).real  slice(k).stop  "%s" % t
ks[0] + ks[1]  ks[-1] * 2  fs[0] + fs[-1]  ks[0] + fs[0]  max(ks[0], k)  ks[0] > 2  k - f  int(sum(ks[:1]))
sum(fs[::-1])  isinstance(ks[0], int)  type(ks[0]) is int  isinstance(fs[0], float)  isinstance(ks[:1], list)
hasattr(ks[0], "shape")  type(ks[:1]) is list  hasattr(ks[:1], "shape")  len(ks[:1])  int(ks[::-1][0])  3 in ks[:1]
[v for v in fs[:1]][0]  len(ks + ks)  (fs + fs)[0]  len(ks * 2)  len(fs * k)  len(2 * ks)  len(ks[:1] + ks)
int((ks[1:] * 2)[0])  len(ks + [5])  len([5] + ks)  ks < [5]  ks[:1] == [3]  ks == [3, 4]  ks != ks[:1]
(ks == 3) is False  bool(ks)  bool(ks[:0])  not ks  1 if ks else 2  1 if ks[:0] else 2  int((x[:2] * ks)[0])
(np.array([1, 1]) + ks)[0] * 1.0  (ks * np.array([1, 1]))[0] * 1.0  (fs * x)[0]  (x == fs)[0]  (x > fs[:1])[0]
(x ** fs)[0]  (fs[:1] - x)[0]  op.Cast(k, to=1)  op.Cast(op.Size(ks), to=1)  op.ReduceSum(fs)[0]  b & True  b + 1  -k
abs(-f)  k // 2  k % 2  2 ** k  f ** 2  1.0 if b else 0.0  k and f  float(k)  int(f)  round(f)  bool(k)  [ks[0], k][1]
sorted(ks)[0]  ks.index(4)  ks.count(3)  list(reversed(ks))[0]  [*ks, 5][2]
"""
_CALLED = """
@script
def asked(x: FLOAT["N"], t: str, ts: list[str], k: int, f: float, b: bool, ks: list[int], fs: list[float]):
    answer = {0}
    if isinstance(answer, bool):
        answer = int(answer)
    if isinstance(answer, str):
        answer = len(answer)
    return x[:1] * 0 + answer

@script
def calls(x: FLOAT["N"]):
    return asked(x, t="b", ts=["a", "b"], k=3, f=0.5, b=True, ks=[3, 4], fs=[0.5])
"""
_PATTERNS = """
def asked(x: FLOAT["N"], y: FLOAT["N"], m: INT64):
    n, half, found = len(x), len(x) / 2, len(x) > 3
    row = []
    for _ in range(m):
        row.append(x)
    answer = 0
    match {0}:
        case {1}:
            answer = 1
    return x[:1] * 0 + answer
"""
PATTERNS = [
    *(("n", each) for each in ("int()", "float()", "int(k)", "_", "k", "4", "None", "str() | int()")),
    *(("found", each) for each in ("True", "bool()", "None")),
    *(("(n, 1)", each) for each in ("(int(), 1)", "(k, 1)", "[a, b]")),
    *(("x", each) for each in ("onnxsmith.Tensor()", "np.ndarray()", "[a, *_]", "list()")),
    *(("row", each) for each in ("[a, b]", "[*_]", "list()", "_", "None")),
    *(("{'a': n}", each) for each in ("{'a': int()}", "{'a': k}")),
]


class Mode(enum.Enum):
    """What a text may stand for."""

    A = "a"
    B = "b"


class Number(enum.Enum):
    """What a number may stand for."""

    THREE = 3


_NAMES = {
    "script": script,
    "Mode": Mode,
    "Number": Number,
    "np": np,
    "op": op,
    "FLOAT": FLOAT,
    "INT64": INT64,
    "onnxsmith": onnxsmith,
    "numbers": numbers,
    "operator": operator,
    "math": math,
    "copy": copy,
    "collections": collections,
}


def _questions(text: str) -> list[str]:
    return [each.strip() for line in text.splitlines() for each in line.split("  ") if each.strip()]


def _loaded(source: str) -> dict[str, Any]:
    file = f"<asked {source}>"
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    names: dict[str, Any] = {**_NAMES, "__name__": "asked"}
    exec(compile(source, file, "exec"), names)
    return names


#: The questions that are refused, each with the codes of its errors: all others are answered. A line may only go.
REFUSED = {
    question: codes.split()
    for question, _, codes in (
        line.rpartition(": ")
        for line in Path(__file__).with_name("refused_questions.txt").read_text().splitlines()
    )
}


def _refused(question: str, error: OnnxsmithError) -> None:
    assert error.code in REFUSED.get(question, ()), f"{question!r} is refused: {error}"


def _answers_as_eagerly_or_refuses(question: str, source: str) -> None:
    function: types.FunctionType = _loaded(source)["asked"]
    x = np.array([1, 2, 3, 4], np.float32)
    try:
        made = script(function)
        model = made.to_model()
    except OnnxsmithError as error:  # a raw error of Python's fails the test
        _refused(question, error)
        return
    given = (x, x + 1, np.array(2))
    np.testing.assert_array_equal(model(*given), made(*given))


@pytest.mark.filterwarnings('ignore:"is" with:SyntaxWarning', 'ignore:"is not" with:SyntaxWarning')
@pytest.mark.parametrize("question", [*_questions(OF_NUMBERS), *_questions(OF_TENSORS)])
def test_an_answer_is_that_of_an_eager_run_or_refused(question: str) -> None:
    _answers_as_eagerly_or_refuses(question, _PROGRAM.format(question))


@pytest.mark.parametrize(("subject", "pattern"), PATTERNS)
def test_a_pattern_matches_as_in_an_eager_run_or_is_refused(subject: str, pattern: str) -> None:
    _answers_as_eagerly_or_refuses(f"{subject} as {pattern}", _PATTERNS.format(subject, pattern))


@pytest.mark.filterwarnings('ignore:"is" with:SyntaxWarning', 'ignore:"is not" with:SyntaxWarning')
@pytest.mark.parametrize("question", _questions(OF_ATTRIBUTES))
def test_an_answer_about_an_attribute_is_that_of_an_eager_run_or_refused(question: str) -> None:
    x = np.array([1, 2], np.float32)
    try:
        calls = _loaded(_CALLED.format(question))["calls"]
        model = calls.to_model()
    except OnnxsmithError as error:
        _refused(question, error)
        return
    np.testing.assert_array_equal(model(x), calls(x))
