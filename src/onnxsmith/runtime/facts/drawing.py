"""Random numbers: what a seed means, operators without kernels, and a definition that draws the opposite.

A seed fixes what a node gives, in every run of every session. ONNX Runtime takes it for the state that a session begins
with, so that a second run gives other numbers; here they are a function of the seed and of their place in the result.
The first few thousand are those of numpy's `RandomState(seed)`, as in ONNX's own data, drawn when the session is made;
those that follow are made by a generator that counts.
"""

from __future__ import annotations

import math

import numpy as np

from onnxsmith.graphs.identity import DRAWING
from onnxsmith.graphs.rewriting.emitter import Emitter
from onnxsmith.graphs.rewriting.site import Array, Site
from onnxsmith.runtime.facts.fact import refusal, rewrite
from onnxsmith.types.dtypes import DType

#: How many numbers of a seed are drawn when the session is made, and kept in it.
_FIRST = 4096
_SEED_REASON = "a seed is the state that a session begins with, so that each run gives other numbers"
_LACK_REASON = "there is no kernel from opset 22 on"
#: The first opset with what numbers are made of a seed with: BitShift, Range, CumSum.
_CAN_MIX = 11


def _is_training(site: Site) -> bool:
    if not site.has(2):
        return False
    mode = site.constant(2)
    return mode is None or bool(mode.any())


def _has_seed(site: Site) -> bool:
    if site.node.op_type == "Dropout":
        return site.has_attribute("seed") and _is_training(site)
    # As in ONNX's reference, a seed that is no number is none.
    return site.has_attribute("seed") and not math.isnan(site.number("seed", 0.0))


def _seed(site: Site) -> int:
    """The seed as a number below 2**32, as numpy takes it; Dropout's is an integer, the others' are floats."""
    if site.node.op_type == "Dropout":
        return site.integer("seed", 0) % 2**32
    seed = site.number("seed", 0.0)
    return int(seed) % 2**32 if math.isfinite(seed) else 0  # no model with another one runs


def _left_to_the_runtime(site: Site) -> bool | None:
    """None where numbers are made here; else whether the node is changed: a seed that is none is left out."""
    if _has_seed(site) or site.emit.version >= 22:
        return None
    if not site.has_attribute("seed"):
        return False
    site.same_node(site.node.input, without=["seed"])
    return True


# No probe: as above; in these opsets there is nothing to make numbers with
@refusal(sorted(DRAWING), _SEED_REASON, until=_CAN_MIX - 1)
def seed_in_an_old_opset(site: Site) -> str | None:
    return None if not _has_seed(site) else "with a seed ONNX Runtime gives other numbers in each run"


@rewrite(
    ("RandomUniformLike", "RandomNormalLike"),
    f"{_SEED_REASON}; {_LACK_REASON}",
    probe="g (float[N] x) => (float[N] y) { y = RandomUniformLike <seed = 1.0> (x) }",
    given={"x": np.zeros(3, np.float32)},
    right=[np.random.RandomState(1).rand(3).astype(np.float32)],  # what ONNX's reference draws
)
def drawn_alike(site: Site) -> bool:
    left = _left_to_the_runtime(site)
    if left is not None:
        return left
    dtype = DType(site.integer("dtype", int(site.dtype(0) or DType.FLOAT)))
    return _drawn(site, site.emit.op("Shape", site.input(0)), dtype)


@rewrite(
    ("RandomNormal", "RandomUniform"),
    f"{_SEED_REASON}; {_LACK_REASON}",
    probe="g () => (float[N] y) { y = RandomNormal <shape = [3], seed = 1.0> () }",
    right=[np.random.RandomState(1).randn(3).astype(np.float32)],  # what ONNX's reference draws
)
def drawn_in_a_shape(site: Site) -> bool:
    left = _left_to_the_runtime(site)
    if left is not None:
        return left
    shape = np.array(site.integers("shape"), np.int64)
    return _drawn(site, site.emit.constant(shape), DType(site.integer("dtype", int(DType.FLOAT))))


def _drawn(site: Site, shape: str, dtype: DType) -> bool:
    emit = site.emit
    if "Normal" in site.node.op_type:
        numbers = _normal(site, shape)
        factor, offset = site.number("scale", 1.0), site.number("mean", 0.0)
    else:
        numbers = _uniform(site, shape)
        offset = site.number("low", 0.0)
        factor = site.number("high", 1.0) - offset
    scaled = emit.op("Mul", numbers, emit.constant(factor, DType.DOUBLE))
    emit.cast(emit.op("Add", scaled, emit.constant(offset, DType.DOUBLE)), dtype, into=site.output(0))
    return True


def _uniform(site: Site, shape: str) -> str:
    """Doubles from 0 up to 1, without 1, in a shape: of the node's seed, or new in each run."""
    emit = site.emit
    if not _has_seed(site):
        return _kept(emit, shape)
    count = emit.reduce("Prod", shape)
    later = _counted(emit, _after_the_first(emit, count), _seed(site), 0)
    return _shaped(emit, _generator(site).rand(_FIRST), later, count, shape)


def _normal(site: Site, shape: str) -> str:
    """Doubles of mean 0 and variance 1, in a shape."""
    emit = site.emit
    if not _has_seed(site):
        return _turned(emit, _kept(emit, shape), _kept(emit, shape))
    count = emit.reduce("Prod", shape)
    rest = _after_the_first(emit, count)
    later = _turned(emit, *(_counted(emit, rest, _seed(site), stream) for stream in (1, 2)))
    return _shaped(emit, _generator(site).randn(_FIRST), later, count, shape)


def _turned(emit: Emitter, first: str, second: str) -> str:
    """Normal numbers of pairs of uniform ones, as points in the plane: Box and Muller's way."""
    length = emit.op("Sub", emit.constant(1.0, DType.DOUBLE), first)  # never 0
    length = emit.op("Sqrt", emit.op("Mul", emit.op("Log", length), emit.constant(-2.0, DType.DOUBLE)))
    angle = emit.op("Mul", second, emit.constant(2 * math.pi, DType.DOUBLE))
    # There is no Cos of doubles.
    return emit.op("Mul", length, emit.cast(emit.op("Cos", emit.cast(angle, DType.FLOAT)), DType.DOUBLE))


def _generator(site: Site) -> np.random.RandomState:  # the one that ONNX's data is drawn with
    return np.random.RandomState(_seed(site))


def _after_the_first(emit: Emitter, count: str) -> str:
    """How many numbers are needed beyond those that are drawn beforehand."""
    left = emit.op("Sub", count, emit.constant(_FIRST))
    is_some = emit.cast(emit.op("Greater", left, emit.constant(0)), DType.INT64)
    return emit.op("Mul", left, is_some)


def _shaped(emit: Emitter, first: Array, later: str, count: str, shape: str) -> str:
    numbers = emit.op("Concat", emit.constant(first, DType.DOUBLE), later, axis=0)
    taken = emit.op("Slice", numbers, emit.constant([0]), emit.unsqueeze(count, [0]))
    # A 0 in the shape is a dimension of nothing, and not the input's.
    return emit.op("Reshape", taken, shape, allowzero=1 if emit.version >= 14 else None)


def _kept(emit: Emitter, shape: str) -> str:
    """Numbers whose binary digits are each kept, or not, by a dropout, which has kernels in every opset."""
    digits = 24
    padded = emit.op("Concat", shape, emit.constant([digits]), axis=0)
    zeros = emit.cast(emit.op("ConstantOfShape", padded), DType.FLOAT)
    dropped, mask = emit.names.after("drop"), emit.names.after("drop")
    half, is_training = emit.constant(0.5, DType.FLOAT), emit.constant(1, DType.BOOL)
    emit.node("Dropout", [zeros, half, is_training], [dropped, mask])
    places = emit.constant(2.0 ** -np.arange(1, digits + 1), DType.DOUBLE)
    weighted = emit.op("Mul", emit.cast(mask, DType.DOUBLE), places)
    last = emit.op("Shape", shape)
    return emit.op("ReduceSum", weighted, last, keepdims=0)


def _counted(emit: Emitter, count: str, seed: int, stream: int) -> str:
    """Numbers that depend on nothing but a seed and their places: Widynski's "Squares", a generator that counts."""
    places = emit.op("Range", emit.constant(0), count, emit.constant(1))
    key = _word(emit, _key(seed, stream))
    first = emit.op("Mul", places, key)
    second = emit.op("Add", first, key)
    state = first
    for term in (first, second, first):
        state = _halves_exchanged(emit, emit.op("Add", emit.op("Mul", state, state), term))
    state = emit.op("Add", emit.op("Mul", state, state), second)
    # 24 bits are what a float holds.
    top = emit.cast(_shifted_right(emit, state, 40), DType.DOUBLE)
    return emit.op("Mul", top, emit.constant(2.0**-24, DType.DOUBLE))


def _halves_exchanged(emit: Emitter, state: str) -> str:
    return emit.op("Add", _shifted_right(emit, state, 32), emit.op("Mul", state, _word(emit, 1 << 32)))


def _shifted_right(emit: Emitter, state: str, count: int) -> str:
    """Words are int64, for which every ONNX Runtime can Add and Mul, modulo 2**64; only uint64 can be shifted."""
    places = emit.constant(np.array(count, np.uint64), DType.UINT64)
    shifted = emit.op("BitShift", emit.cast(state, DType.UINT64), places, direction="RIGHT")
    return emit.cast(shifted, DType.INT64)


def _key(seed: int, stream: int) -> int:
    """64 bits that look random, and are odd, of a seed: one step of Steele, Lea and Flood's SplitMix."""
    state = (seed * 3 + stream + 1) * 0x9E3779B97F4A7C15 % 2**64
    state = (state ^ state >> 30) * 0xBF58476D1CE4E5B9 % 2**64
    state = (state ^ state >> 27) * 0x94D049BB133111EB % 2**64
    return (state ^ state >> 31) | 1


def _word(emit: Emitter, number: int) -> str:
    return emit.constant(np.array(number, np.uint64).view(np.int64))


@rewrite(
    "Bernoulli",
    "its definition, which is all that ONNX Runtime has, draws 1 where it should draw 0",
    probe="g (float[N] x) => (float[N] y) { y = Bernoulli(x) }",
    given={"x": np.zeros(8, np.float32)},
    right=[np.zeros(8, np.float32)],
    since=15,
    is_ordinary=True,
)
def below_the_probability(site: Site) -> bool:
    dtype = site.dtype(0)
    if dtype is None:
        return False
    emit = site.emit
    shape = emit.op("Shape", site.input(0))
    drawn = _uniform(site, shape)
    result = DType(site.integer("dtype", int(dtype)))
    happens = emit.op("Less", drawn, emit.cast(site.input(0), DType.DOUBLE))
    emit.cast(happens, result, into=site.output(0))
    return True


def _number(emit: Emitter, value: str) -> str:
    """One element as a scalar, of whatever shape: it must not decide the shape of a result."""
    return emit.op("Reshape", emit.cast(value, DType.DOUBLE), emit.constant(np.zeros(0, np.int64)))


@rewrite(
    "Dropout",
    "the ratio is looked at where nothing is dropped, unless the optimizer has taken the node out",
    since=12,
    # No probe: a session optimizes the node away, and then looks at nothing
)
def ratio_of_nothing(site: Site) -> bool:
    if _is_training(site) or not site.has(1):
        return False
    site.same_node([site.input(0)], without=["seed"])
    return True


@rewrite("Dropout", _SEED_REASON, since=12)
def dropped_by_seed(site: Site) -> bool:
    dtype = site.dtype(0)
    if dtype is None or not _has_seed(site):
        return False
    emit = site.emit
    ratio = _number(emit, site.input(1)) if site.has(1) else emit.constant(0.5, DType.DOUBLE)
    # Outside of training nothing is dropped.
    ratio = emit.op("Mul", ratio, _number(emit, site.input(2)))
    drawn = _uniform(site, emit.op("Shape", site.input(0)))
    stays = emit.op("Not", emit.op("Less", drawn, ratio))
    factor = emit.op(
        "Div", emit.cast(stays, DType.DOUBLE), emit.op("Sub", emit.constant(1.0, DType.DOUBLE), ratio)
    )
    kept = emit.op("Mul", site.input(0), emit.cast(factor, dtype))
    emit.where(stays, kept, emit.constant(0, dtype), into=site.output(0))
    if site.output(1):
        emit.op("Identity", stays, into=site.output(1))
    return True


@rewrite(
    "Dropout",
    "the optimizer takes out a node in training whose mask nothing reads, and then nothing is dropped",
    probe="""g (float[N] x) => (float y) {
            ratio = Constant<value = float {0.5}>() training = Constant<value = bool {1}>()
            n = Neg(x) d = Dropout(n, ratio, training) y = ReduceMax<keepdims = 0>(d)
        }""",
    given={"x": np.ones(64, np.float32)},
    right=[np.array(0, np.float32)],
    since=12,
    is_ordinary=True,
)
def dropped_in_training(site: Site) -> bool:
    dtype = site.dtype(0)
    if dtype is None or not _is_training(site) or _has_seed(site):
        return False
    if site.constant(2) is None and not site.scope.may_be_fixed(site.input(2)):
        return False  # the optimizer knows no more than this
    emit = site.emit
    dropped, stays = emit.names.after("drop"), site.output(1) or emit.names.after("drop")
    # The mask is read, which changes nothing: what it leaves out is zero already.
    emit.node("Dropout", list(site.node.input), [dropped, stays])
    emit.where(stays, dropped, emit.constant(0, dtype), into=site.output(0))
    return True


# No probe: as above
@rewrite("Multinomial", f"{_SEED_REASON}; {_LACK_REASON}", since=_CAN_MIX)
def chosen(site: Site) -> bool:
    left = _left_to_the_runtime(site)
    if left is not None:
        return left
    emit = site.emit
    count = site.integer("sample_size", 1)
    logits = emit.cast(site.input(0), DType.FLOAT)
    chances = emit.op("CumSum", emit.op("Softmax", logits, axis=1), emit.constant(1))
    rows = emit.unsqueeze(emit.dimension(site.input(0), 0), [0])
    drawn = _uniform(site, emit.op("Concat", rows, emit.constant([count]), axis=0))
    # How many classes end at or below the number that was drawn; rounding may leave all of them.
    ends = emit.unsqueeze(emit.cast(chances, DType.DOUBLE), [1])
    is_past = emit.op("Not", emit.op("Less", emit.unsqueeze(drawn, [2]), ends))
    passed = emit.reduce("Sum", emit.cast(is_past, DType.DOUBLE), [2])
    last = emit.op("Sub", emit.dimension(site.input(0), 1), emit.constant(1))
    limited = emit.op("Min", passed, emit.cast(last, DType.DOUBLE))
    emit.cast(limited, DType(site.integer("dtype", int(DType.INT32))), into=site.output(0))
    return True
