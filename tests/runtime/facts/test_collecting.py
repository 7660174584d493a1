"""What loops without an iteration collect has the sizes of an iteration, in every way to run them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import parser

from onnxsmith import BOOL, FLOAT, INT64, STRING, Model, graph, jit, script, trace
from onnxsmith import opset21 as op
from onnxsmith.runtime.facts import collecting
from tests.laws.bare_session import run
from tests.runtime.facts.probing import wrong_probes

X = np.float32([2.5, 1, 1])
NONE, ONE = np.array(0), np.array(1)


@script
def state(x: FLOAT["N"], n: INT64):
    def body(i, c, s):
        return c, s + x, s

    _, b = op.Loop(n, True, x, body=graph(body), outputs=2)
    return op.Shape(b)


@script
def joined(x: FLOAT["N"], n: INT64):
    def body(i, c, s):
        return c, s + x, op.Concat(s, x, axis=0)

    _, b = op.Loop(n, True, x, body=graph(body), outputs=2)
    return op.Shape(b)


@script
def rows(x: FLOAT["M", "N"], n: INT64):
    def body(i, c):
        return c, op.Gather(x, i)

    return op.Shape(op.Loop(n, True, body=graph(body), outputs=1))


@script
def by_condition(x: FLOAT["N"], go: BOOL):
    def body(i, c, s):
        return op.Less(op.ReduceSum(s, keepdims=0), 9.0), s * 2.0, op.Unsqueeze(s, [0])

    _, b = op.Loop(None, go, x, body=graph(body), outputs=2)
    return op.Shape(b)


@script
def called(x: FLOAT["N"], y: FLOAT["M"], n: INT64):
    def body(i, c, s):
        return c, s, s * 2.0

    _, b = op.Loop(n, True, x, body=graph(body), outputs=2)
    return op.Shape(b)


@script
def calling(x: FLOAT["M"], y: FLOAT["N"], n: INT64):
    return called(x, y, n)


@script
def nested(x: FLOAT["N"], n: INT64):
    def body(i, c, s):
        def inner(j, d, t):
            return d, t, op.Concat(t, s, axis=0)

        _, v = op.Loop(i, True, s, body=graph(inner), outputs=2)
        return c, s, op.ReduceSum(v, [0], keepdims=0)

    _, b = op.Loop(n, True, x, body=graph(body), outputs=2)
    return op.Shape(b)


@script
def text(x: STRING["N"], n: INT64):
    def body(i, c, s):
        return c, s, s

    _, b = op.Loop(n, True, x, body=graph(body), outputs=2)
    return op.Shape(b)


@script
def of_a_row(x: FLOAT["M", "N"], n: INT64):
    def body(i, c):
        row = op.Gather(x, i)
        return c, op.Concat(op.Compress(row, row > 0.0), row, axis=0)

    return op.Shape(op.Loop(n, True, body=graph(body), outputs=1))


@script
def of_a_length(x: FLOAT["N"], lengths: INT64["K"], n: INT64):
    def body(i, c):
        return c, op.Slice(x, [0], op.GatherND(lengths, op.Reshape(i, [1, 1])))

    return op.Shape(op.Loop(n, True, body=graph(body), outputs=1))


@script
def of_a_written_table(x: FLOAT["M", "N"], n: INT64):
    def body(i, c):
        written = op.ScatterND(x, op.Reshape(i, [1, 1]), op.Unsqueeze(op.Gather(x, i), [0]))
        return c, op.Compress(written, [True], axis=0)

    return op.Shape(op.Loop(n, True, body=graph(body), outputs=1))


@script
def of_two_rows(x: FLOAT["M", "N"], n: INT64):
    def body(i, c):
        def inner(j, d):
            return d, op.Compress(op.Gather(x, i + j), op.Gather(x, i) > 0.0)

        pairs = op.Loop(op.Size(op.Gather(x, [i, i])) * 0 + 1, True, body=graph(inner), outputs=1)
        return c, op.Squeeze(pairs, [0])

    return op.Shape(op.Loop(n, True, body=graph(body), outputs=1))


@script
def row_of(x, i):
    return op.Gather(x, i) * 2.0


@script
def by_a_function(x: FLOAT["M", "N"], n: INT64):
    def body(i, c):
        return c, row_of(x, i)

    return op.Shape(op.Loop(n, True, body=graph(body), outputs=1))


@script
def of_a_sequence(x: FLOAT["M", "N"], n: INT64):
    parts = op.SplitToSequence(x, [1, 1], axis=0)

    def body(i, c):
        return c, op.SequenceAt(parts, i)

    return op.Shape(op.Loop(n, True, body=graph(body), outputs=1))


@script
def put_and_read(x: FLOAT["M", "N"], n: INT64):
    def body(i, c):
        return c, op.SequenceAt(op.SequenceInsert(op.SequenceEmpty(), op.Gather(x, i), i), i)

    return op.Shape(op.Loop(n, True, body=graph(body), outputs=1))


@script
def erased_and_read(x: FLOAT["M", "N"], n: INT64):
    def body(i, c):
        return c, op.SequenceAt(op.SequenceErase(op.SplitToSequence(x, [1, 1], axis=0), i), i)

    return op.Shape(op.Loop(n, True, body=graph(body), outputs=1))


TABLE = np.ones((2, 4), np.float32)
SIGNS = np.float32([[1, -1, 2, 3], [1, 1, -1, 2]])
CASES: dict[str, tuple[Any, list[Any], list[int]]] = {
    "state": (state, [X, NONE], [0, 3]),
    "state, once": (state, [X, ONE], [1, 3]),
    "no sizes at all": (state, [X[:0], NONE], [0, 0]),
    "joined": (joined, [X, NONE], [0, 6]),
    "joined, once": (joined, [X, ONE], [1, 6]),
    "rows": (rows, [TABLE, NONE], [0, 4]),
    "by a condition": (by_condition, [X, np.array(False)], [0, 1, 3]),
    "a function whose sizes have other names outside": (calling, [X, X[:2], NONE], [0, 3]),
    "nested": (nested, [X, NONE], [0, 6]),
    "nested, once": (nested, [X, ONE], [1, 6]),
    "what stands at an index, counted": (of_a_row, [SIGNS, NONE], [0, 7]),
    "what stands at an index, counted, once": (of_a_row, [SIGNS, ONE], [1, 7]),
    "a length at an index": (of_a_length, [X, np.array([2, 1]), NONE], [0, 2]),
    "a table that is written to": (of_a_written_table, [TABLE, NONE], [0, 1, 4]),
    "an index in a body inside": (of_two_rows, [SIGNS, NONE], [0, 3]),
    "an index in a body inside, once": (of_two_rows, [SIGNS, ONE], [1, 3]),
    "an index in a function": (by_a_function, [TABLE, NONE], [0, 4]),
    "a tensor of a sequence": (of_a_sequence, [TABLE, NONE], [0, 1, 4]),
    "a sequence without a rank": (put_and_read, [TABLE, NONE], [0, 4]),
    "a sequence that the body makes": (erased_and_read, [TABLE, NONE], [0, 1, 4]),
    "text": (text, [np.array(["a", "b"], object), NONE], [0, 2]),
}


@pytest.mark.parametrize("name", CASES)
def test_every_way_gives_the_sizes_of_an_iteration(name: str) -> None:
    function, inputs, shape = CASES[name]
    model: Model = function.to_model()
    assert function(*inputs).tolist() == shape
    assert jit(function)(*inputs).tolist() == shape
    assert model(*inputs).tolist() == shape
    assert model.optimize()(*inputs).tolist() == shape


@pytest.mark.parametrize("name", [each for each in CASES if each != "text"])
def test_the_shipped_model_does_so_too(name: str) -> None:
    function, inputs, shape = CASES[name]
    shipped = function.to_model().for_runtime().proto
    feeds = dict(zip((each.name for each in shipped.graph.input), inputs, strict=True))
    outcome = run(shipped.SerializeToString(), feeds)
    assert [each.tolist() for each in outcome.results.values()] == [shape]
    assert not outcome.text


def test_the_first_row_of_an_empty_table_is_not_read() -> None:
    empty = TABLE[:0]
    assert rows.to_model()(empty, NONE).tolist() == [0, 4]


@pytest.mark.parametrize(
    ("function", "inputs", "shape"),
    [
        (of_a_row, [TABLE[:0], NONE], [0, 4]),
        (of_a_length, [X, np.zeros(0, np.int64), NONE], [0, 0]),
        (of_two_rows, [TABLE[:0], NONE], [0, 0]),
        (by_a_function, [TABLE[:0], NONE], [0, 4]),
    ],
)
def test_an_index_into_nothing_does_not_fail(function: Any, inputs: list[Any], shape: list[int]) -> None:
    assert function.to_model()(*inputs).tolist() == shape


_CONSTANT = graph(lambda j, d, t: (d, t))
_ONE = graph(lambda: op.Constant(value_ints=[1]))
#: Operators that fail on no elements, or on a zero, between a row of whole numbers and a size.
PARTIAL: dict[str, Callable[[Any], Any]] = {
    "ArgMax": lambda row: op.ArgMax(row, keepdims=1),
    "ArgMin": lambda row: op.ArgMin(row, keepdims=1),
    "ReduceMax": lambda row: op.ReduceMax(row),
    "ReduceMin": lambda row: op.ReduceMin(row, [0]),
    "Div": lambda row: op.Div(12, row)[1:2],
    "Mod": lambda row: op.Mod(13, row)[1:2],
    "TopK": lambda row: op.TopK(row, op.Shape(row), outputs=2)[1][:1],
    "Split": lambda row: op.Split(row, num_outputs=2, outputs=2)[1][:1],
    "OneHot": lambda row: op.Shape(op.OneHot(row, op.ReduceSum(row, keepdims=0), [0, 1]))[1:],
    "Conv": lambda row: op.Cast(_windows(op.Cast(op.Unsqueeze(row, [0, 1]), to=1)), to=7)[0, 0, :1],
    "Loop": lambda row: op.Loop(op.ArgMax(row, keepdims=0), True, row[1:2], body=_CONSTANT, outputs=1),
    "If": lambda row: op.If(row[0] > 0, then_branch=graph(lambda: op.ArgMax(row)), else_branch=_ONE),
}


def _windows(x: Any) -> Any:
    return op.Conv(x, np.ones((1, 1, 2), np.float32))


def size_of_a_row(operator: str) -> Model:
    def body(x: Any, table: Any, n: Any) -> Any:
        def iteration(i: Any, c: Any) -> Any:
            return c, op.Slice(x, [0], PARTIAL[operator](op.Gather(table, i)))

        return op.Shape(op.Loop(n, True, body=graph(iteration), outputs=1))

    return trace(body, FLOAT["N"], INT64["R", "C"], INT64)


@pytest.mark.parametrize("operator", PARTIAL)
def test_a_size_behind_an_operator_that_fails_on_nothing(operator: str) -> None:
    """As many elements as one iteration collects; and none are needed where there is no row to read."""
    model = size_of_a_row(operator)
    shipped = model.for_runtime().proto.SerializeToString()
    x, rows = np.arange(9, dtype=np.float32), np.array([[2, 3, 1], [1, 1, 1]])
    wanted = model(x, rows, ONE)[1]
    assert wanted in range(1, 9)
    assert model(x, rows, NONE).tolist() == [0, wanted]
    names = [each.name for each in model.proto.graph.input]
    outcome = run(shipped, dict(zip(names, (x, rows, NONE), strict=True)))
    assert [each.tolist() for each in outcome.results.values()] == [[0, wanted]]
    for nothing in (rows[:0], rows * 0):
        assert model(x, nothing, NONE)[0] == 0
    if operator in {"ArgMax", "ArgMin", "ReduceMax", "ReduceMin"}:
        assert model(x, rows[:, :0], NONE)[0] == 0


@pytest.mark.parametrize("length", [0, 2])
def test_a_scan_over_nothing_collects_sizes(length: int) -> None:
    @script
    def scan(x: FLOAT["N"], y: FLOAT["T", "M"]):
        def body(s, e):
            return s + x, op.Concat(s, e, axis=0)

        _, b = op.Scan(x, y, body=graph(body), num_scan_inputs=1, outputs=2)
        return op.Shape(b)

    y = np.zeros((length, 4), np.float32)
    for way in (scan, jit(scan), scan.to_model()):
        assert way(X, y).tolist() == [length, 7]


def carried(n, x):
    return op.Loop(n, True, x, body=graph(lambda i, c, s: (c, s + x)), outputs=1)


def counted(n, x):
    return op.Loop(3, True, x, body=graph(lambda i, c, s: (c, s + x, s)), outputs=2)[1]


def static(n, x):
    return op.Loop(n, True, x, body=graph(lambda i, c, s: (c, s + x, s[:2])), outputs=2)[1]


def numbers(n, x):
    return op.Loop(n, True, x, body=graph(lambda i, c, s: (c, s + x, i)), outputs=2)[1]


@pytest.mark.parametrize("make", [carried, counted, numbers])
def test_other_loops_do_not_grow(make: Callable[..., Any]) -> None:
    model = trace(make, INT64, FLOAT["N"])
    assert not model.for_runtime().report.edits


def test_sizes_that_the_runtime_knows_need_no_nodes() -> None:
    assert not trace(static, INT64, FLOAT[4]).for_runtime().report.edits


_BODIES = {
    "Loop": (
        "(n, , x) <body = b (int64 i, bool on, float[N] now) => (bool on_out, float[N] next, float[N] one)"
        " { on_out = Identity(on) next = Add(now, x) one = Identity(now) }>"
    ),
    "If": (
        "(is) <then_branch = t () => (float[N] a, float[N] b) { a = Neg(x) b = Abs(x) },"
        " else_branch = e () => (float[N] c, float[N] d) { c = Abs(x) d = Neg(x) }>"
    ),
    "Scan": (
        "<num_scan_inputs = 1, body = b (float s, float e) => (float t, float u)"
        " { t = Add(s, e) u = Neg(e) }> (zero, x)"
    ),
}


@pytest.mark.parametrize("operator", list(_BODIES))
@pytest.mark.parametrize("outputs", [["y"], ["y", ""], ["", "y"]])
def test_results_of_a_body_may_be_left_out(operator: str, outputs: list[str]) -> None:
    """One that leaves out the first ended the process."""
    text = f"""<ir_version: 10, opset_import: ["" : 21]> g (float[N] x, int64 n, bool is) => (float[...] y)
    {{ zero = Constant <value_float = 0.0> () first, second = {operator} {_BODIES[operator]} }}"""
    proto = parser.parse_model(text.replace("float[...] y", "float y"))
    proto.graph.output[0].type.tensor_type.ClearField("shape")
    whole = onnx.ModelProto.FromString(proto.SerializeToString())
    whole.graph.output[0].name = "second" if outputs[0] == "" else "first"
    proto.graph.node[1].output[:] = outputs
    given = np.array([1.0, -2.0], np.float32), np.array(3), np.array(True)
    wanted = Model.from_proto(whole)(*given)
    for model in (Model.from_proto(proto), Model.from_proto(proto).for_runtime()):
        np.testing.assert_array_equal(model(*given), wanted)


def test_adapted_models_of_probes_are_right() -> None:
    assert wrong_probes(collecting) == []
