"""`compare`: what it says of a difference, how it holds memory, what it writes, and what it refuses."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import parser

import onnxsmith
from onnxsmith import BOOL, FLOAT, Model, compare, script, trace
from onnxsmith import opset21 as op
from onnxsmith.errors import (
    AttributeValueError,
    CallError,
    ModelInputError,
    ModelWriteError,
    OnnxsmithError,
    UnreadableModelError,
)
from tests.comparing.zoo import ZOO, graph, inputs_of, parsed

X = np.linspace(-2, 2, 12, dtype=np.float32).reshape(3, 4)
W = np.linspace(-1, 1, 16, dtype=np.float32).reshape(4, 4)


def good() -> Model:
    return trace(lambda x: op.Exp(op.Tanh(x @ W) * 2.0), FLOAT["N", 4])


def test_magnitudes_and_places() -> None:
    bad = trace(lambda x: op.Exp(op.Tanh(x @ W) * 3.0), FLOAT["N", 4])
    found = compare(good(), bad, {"x": X})
    assert found.node is not None
    assert found.node.node.op_type == "Mul"
    assert found.node.source is not None
    assert found.node.source.file == __file__
    assert found.explains
    told = found.difference
    assert told is not None
    assert told.size == 12
    assert told.relative == pytest.approx(1 / 3, rel=1e-3)
    assert abs(float(told.left) - float(told.right)) == pytest.approx(told.absolute, rel=1e-5)  # type: ignore[arg-type]
    assert "they part at Mul" in str(found)
    assert list(found.outputs) == ["exp"]


def test_drift_is_not_a_fault() -> None:
    # Sixty products in float16 and in another order of operations: the results drift far apart.
    factors = [np.float16(1 + 0.01 * k) for k in range(60)]

    def forwards(x: Any) -> Any:
        for each in factors:
            x = op.Tanh(x * each)
        return x

    def backwards(x: Any) -> Any:
        for each in factors:
            x = op.Tanh(op.Cast(op.Cast(x, to=1) * np.float32(each), to=10))
        return x

    left, right = (trace(each, onnxsmith.FLOAT16[50]) for each in (forwards, backwards))
    assert compare(left, right, [np.linspace(-3, 3, 50).astype(np.float16)])


def test_nan_and_infinities_are_counted() -> None:
    bad = trace(lambda x: op.Exp(op.Log(x @ W) * 2.0), FLOAT["N", 4])
    found = compare(good(), bad, {"x": X})
    assert found.node is not None
    assert found.node.node.op_type == "Tanh"
    assert found.difference is not None
    assert found.difference.nan[1] > 0


def test_a_value_that_has_no_effect_in_the_end_is_seen() -> None:
    left = trace(lambda x: op.Relu(x - 10.0), FLOAT["N", 4])
    right = trace(lambda x: op.Relu(x - 20.0), FLOAT["N", 4])
    found = compare(left, right, {"x": X})
    assert found.node is not None
    assert found.node.node.op_type == "Sub"
    assert not found.outputs


def test_nodes_inside_loops_are_named_with_their_turn() -> None:
    text = """
    <ir_version: 9, opset_import: ["" : 21]> g (float[4] x, int64 n) => (float[4] y)
    {{
       t = Constant <value = bool {{1}}> ()
       y = Loop (n, t, x) <body = b (int64 i, bool c, float[4] v) => (bool d, float[4] w) {{
          d = Identity (c)
          u = Sin (v)
          e = Equal (i, two)
          f = Cast <to = 1> (e)
          w = {} (u, f)
       }}>
    }}
    """.replace("       t = ", "       two = Constant <value = int64 {{2}}> ()\n       t = ")
    inputs = {"x": np.float32([1, 2, 3, 4]), "n": np.int64(4)}
    found = compare(parsed(text.format("Add")), parsed(text.format("Sub")), inputs)
    assert found.node is not None
    assert (found.node.address, found.node.turns) == ("2.body.4", (2,))


LONG = """
<ir_version: 9, opset_import: ["" : 21]> g (float[4] x, int64 n) => (float[4] y, float[K, 4] s)
{{
   t = Constant <value = bool {{1}}> ()
   late = Constant <value = int64 {{300}}> ()
   y, s = Loop (n, t, x) <body = b (int64 i, bool c, float[4] v) => (bool d, float[4] w, float[4] q) {{
      d = Identity (c)
      a = {} (v)
      e = Greater (i, late)
      f = Cast <to = 1> (e)
      w = {} (a, f)
      q = Neg (w)
   }}>
}}
"""


def test_a_loop_with_many_turns_is_taken_apart_at_its_beginning() -> None:
    inputs = {"x": np.float32([1, 2, 3, 4]), "n": np.int64(1000)}
    one = parsed(LONG.format("Sin", "Add"))
    found = compare(one, parsed(LONG.format("Tanh", "Add")), inputs)
    assert found.node is not None
    assert (found.node.address, found.node.turns) == ("2.body.1", (0,))
    assert "node 2 (Loop) has 1000 turns: 20 were compared one by one" in str(found)
    assert compare(one, one, inputs)
    assert compare(one, "unoptimized", inputs)


@pytest.mark.parametrize("turns", [350, 1000, 5000])
def test_turns_that_part_late_are_looked_at_more_closely(turns: int) -> None:
    inputs = {"x": np.float32([1, 2, 3, 4]), "n": np.int64(turns)}
    found = compare(parsed(LONG.format("Sin", "Add")), parsed(LONG.format("Sin", "Sub")), inputs)
    assert found.node is not None
    assert (found.node.address, found.node.turns, found.node.until) == ("2.body.4", (301,), None)


SCAN = """
<ir_version: 9, opset_import: ["" : 21]>
g (float[4] x, float[{n}, 4] z) => (float[4] y, float[{n}, 4] s)
{{
   y, s = Scan <num_scan_inputs = 1{extra}, body = b (float[4] v, float[4] r) => (float[4] w, float[4] q) {{
      a = {operator} (v)
      w = Add (a, r)
      q = Neg (w)
   }}> (x, z)
}}
"""
BACKWARD = ", scan_input_directions = [1], scan_output_directions = [1]"


@pytest.mark.parametrize("extra", ["", BACKWARD])
@pytest.mark.parametrize("length", [5, 500])
def test_scans_are_taken_apart(extra: str, length: int) -> None:
    z = np.sin(np.arange(length * 4, dtype=np.float32)).reshape(length, 4)
    inputs = {"x": np.float32([1, 2, 3, 4]), "z": z}
    one, other = (parsed(SCAN.format(n=length, extra=extra, operator=each)) for each in ("Sin", "Tanh"))
    for way in (one, one.optimize(), "reference"):
        same = compare(one, way, inputs)  # type: ignore[arg-type]
        assert same, same
    found = compare(one, other, inputs)
    assert found.node is not None
    if extra and length > 200:
        assert found.node.address == "0"
        assert "500 turns, and goes backward" in str(found)
    else:
        assert (found.node.address, found.node.turns) == ("0.body.0", (0,))


def test_scans_along_other_axes() -> None:
    text = SCAN.replace("float[{n}, 4] z", "float[4, {n}] z").replace("float[{n}, 4] s", "float[4, {n}] s")
    extra = ", scan_input_axes = [1], scan_output_axes = [-1]"
    for length in (3, 300):
        z = np.cos(np.arange(length * 4, dtype=np.float32)).reshape(4, length)
        inputs = {"x": np.float32([1, 2, 3, 4]), "z": z}
        one, other = (parsed(text.format(n=length, extra=extra, operator=each)) for each in ("Sin", "Tanh"))
        assert compare(one, one, inputs)
        found = compare(one, other, inputs)
        assert found.node is not None
        assert (found.node.address, found.node.turns) == ("0.body.0", (0,))


def test_little_memory_gives_the_same_answer() -> None:
    model = ZOO["transformer"]()
    proto = model.proto
    position = next(k for k, node in enumerate(proto.graph.node) if node.op_type == "Erf")
    proto.graph.node[position].op_type = "Tanh"
    found = compare(model, Model.from_proto(proto), inputs_of(model), memory=4000)
    assert found.node is not None
    assert found.node.address == str(position)


def test_tolerances_can_be_given() -> None:
    bad = trace(lambda x: op.Exp(op.Tanh(x @ W) * 2.001), FLOAT["N", 4])
    assert not compare(good(), bad, {"x": X})
    assert compare(good(), bad, {"x": X}, rtol=1e-2)
    assert not compare(good(), bad, {"x": X}, rtol=1e-6)


@script
def doubled(x: FLOAT["N"]):
    if op.ReduceSum(x) > 0.0:
        y = op.Exp(x)
    else:
        y = op.Neg(x)
    return y * 2.0


def test_a_script_and_its_model() -> None:
    inputs = {"x": np.float32([1, 2])}
    assert compare(doubled, doubled.to_model(), inputs)
    other = trace(lambda x: op.Exp(x) * 3.0, FLOAT["N"])
    found = compare(doubled, other, inputs)
    assert found.node is not None
    assert found.node.node.op_type == "Mul"


def test_what_is_written_runs_by_itself(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bad = trace(lambda x: op.Exp(op.Tanh(x @ W) * 3.0), FLOAT["N", 4])
    folder = tmp_path / "found"
    written = compare(good(), bad, {"x": X}, reproduce=folder).written
    assert set(written) == set(folder.iterdir())
    node = onnxsmith.load(folder / "node.onnx")
    assert [each.op_type for each in node.nodes] == ["Mul"]
    given = dict(np.load(folder / "inputs.npz"))
    np.testing.assert_allclose(node.run(given) * 1.5, np.load(folder / "expected.npy"), rtol=1e-6)
    runpy.run_path(str(folder / "run.py"))
    assert "largest difference" in capsys.readouterr().out
    with pytest.raises(ModelWriteError, match="is not empty"):
        compare(good(), bad, {"x": X}, reproduce=folder)
    (folder / "mine.txt").write_text("mine")
    compare(good(), bad, {"x": X}, reproduce=folder, overwrite=True)
    assert {*written, folder / "mine.txt"} == set(folder.iterdir())
    with pytest.raises(ModelWriteError, match="is no folder"):
        compare(good(), bad, {"x": X}, reproduce=folder / "mine.txt", overwrite=True)


def test_inputs_are_made_up() -> None:
    assert compare(good(), good().optimize())
    found = compare(good(), trace(lambda x: op.Tanh(x @ W), FLOAT["N", 4]))
    assert not found


def test_inputs_that_are_not_given_are_made_up() -> None:
    """In the sizes that the given ones say."""
    two = trace(lambda a, b: op.Exp(a) * b, FLOAT["N", 2], FLOAT["N", "M"])
    found = compare(two, two, {"a": np.ones((5, 2), np.float32)})
    assert found
    assert found.inputs == "a [5, 2], b [5, 2]"
    assert compare(two, two, {})


def test_the_models_are_not_changed() -> None:
    model = ZOO["functions"]()
    before = model.proto.SerializeToString()
    compare(model, "reference", inputs_of(model))
    assert model.proto.SerializeToString() == before


def test_refusals() -> None:
    model = good()
    with pytest.raises(AttributeValueError, match="'unoptimized' or 'bodies', not 'refrence'"):
        compare(model, "refrence")
    with pytest.raises(UnreadableModelError, match=r"cannot read 'b\.onnx'"):
        compare(model, "b.onnx")
    with pytest.raises(CallError, match="compare takes a model, not an int"):
        compare(model, 3)  # type: ignore[arg-type]
    with pytest.raises(AttributeValueError, match="rtol is a number that is not negative"):
        compare(model, model, {"x": X}, rtol=-1)
    with pytest.raises(AttributeValueError, match="memory is a number of bytes or an amount"):
        compare(model, model, {"x": X}, memory="much")
    for option, value, kind in (
        ("rtol", np.ones(2), "rtol is a number"),
        ("atol", float("inf"), "atol is a number"),
        ("memory", -5, "memory is a number of bytes"),
        ("memory", True, "memory is a number of bytes"),
        ("memory", 1.5, "memory is a number of bytes"),
        ("providers", 5, "providers is a name or a list of names, not an int"),
        ("providers", [5], "a provider is a name"),
        ("reproduce", 5, "reproduce is the path of a folder"),
        ("reproduce", "a\0b", "there is a zero byte in it"),
        ("reproduce", "", "cannot be the path of a folder"),
        ("inputs", 5, "inputs are given by name or in order"),
        ("inputs", "x", "inputs are given by name or in order"),
    ):
        with pytest.raises(OnnxsmithError, match=kind):
            compare(model, model, **{"inputs": {"x": X}, option: value})  # type: ignore[arg-type]
    with pytest.raises(ModelInputError, match="the models take other inputs"):
        compare(model, trace(lambda a, b: a + b, FLOAT[2], FLOAT[2]))
    with pytest.raises(ModelInputError, match="the model has no input 'z'"):
        compare(model, model, {"z": X})
    with pytest.raises(ModelInputError, match="the model has no input 'None'"):
        compare(good(), good(), {None: X})  # type: ignore[dict-item]


X4 = np.float32([1, 2, 3, 4])
DIVIDED = "g (float[4] x) => (float[4] y) <float[4] z = {%s, 1, 1, 1}> { y = Div(x, z) }"
ADDED = "g (int64[1] x) => (int64[1] y) <int64[1] w = {%d}> { y = Add(x, w) }"


@pytest.mark.parametrize(
    ("left", "right", "inputs"),
    [
        pytest.param(DIVIDED % "0", DIVIDED % "5", X4, id="infinite and finite"),
        pytest.param(DIVIDED % "0", DIVIDED % "-0.0", X4, id="both infinities"),
        pytest.param(ADDED % 2**53, ADDED % (2**53 + 1), np.int64([0]), id="beyond float64"),
    ],
)
@pytest.mark.parametrize("rtol", [None, 1e-3])
def test_elements_that_look_alike(left: str, right: str, inputs: Any, rtol: float | None) -> None:
    for one, two in ((left, right), (right, left)):
        found = compare(graph(one), graph(two), [inputs], rtol=rtol)
        assert not found
        assert found.node is not None
        assert found.node.node.op_type in ("Div", "Add")
        assert found.explains
        assert found.difference is not None
        assert found.difference.count == 1
        assert found.outputs["y"].count == 1


@pytest.mark.parametrize("rtol", [None, 1e-3])
@pytest.mark.parametrize("way", [None, "reference", "unoptimized"])
def test_nan_equals_nan(way: Any, rtol: float | None) -> None:
    model = graph("g (float[4] x) => (float[4] y) { y = Log(x) }")
    assert compare(model, way or model, [np.float32([-1, 0, 3, np.inf])], rtol=rtol)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (
            np.ones((2, 2), np.float32),
            r"the first model does not take these inputs: input 'x' has shape \(4,\)",
        ),
        (np.ones(4), "input 'x' is float32, and was given float64"),
        (np.ones(3, np.float32), r"and was given \(3,\)"),
    ],
)
def test_inputs_are_those_that_the_model_takes(value: Any, said: str) -> None:
    model = graph(DIVIDED % "2")
    for inputs in ([value], {"x": value}):
        with pytest.raises(ModelInputError, match=said):
            compare(model, model, inputs)


def test_inputs_are_those_that_the_second_model_takes() -> None:
    second = graph("g (float[5] x) => (float[5] y) { y = Relu(x) }")
    with pytest.raises(ModelInputError, match="the second model does not take these inputs"):
        compare(graph(DIVIDED % "2"), second, [X4])


def test_an_input_that_only_one_model_takes_is_told_either_way() -> None:
    one = trace(lambda x: op.Neg(x), FLOAT["N"])
    two = trace(lambda x, c: op.If(c, then_branch=lambda: op.Neg(x), else_branch=lambda: x), FLOAT["N"], BOOL)
    for first, second in ((one, two), (two, one)):
        with pytest.raises(ModelInputError, match="take other inputs"):
            compare(first, second)


def test_inputs_agree_about_the_sizes_of_names() -> None:
    model = trace(lambda a, b: op.Concat(a, b, axis=0), FLOAT["N"], FLOAT["N"])
    with pytest.raises(ModelInputError, match="the same name is the same size"):
        compare(model, model, [X4, np.float32([1])])


@pytest.mark.parametrize("nodes", ["t = Transpose(w) y = MatMul(x, t)", "y = MatMul(x, w)"])
def test_a_weight_that_differs_is_named(nodes: str) -> None:
    text = "g (float[1, 2] x) => (float[1, 2] y) <float[2, 2] w = {1, 2, 3, %s}> { " + nodes + " }"
    found = compare(graph(text % "4"), graph(text % "5"), [np.ones((1, 2), np.float32)])
    assert list(found.weights) == ["w"]
    assert "weight 'w' differs: 1 of 4 elements differ: 4.0 and 5.0 at [1, 1]" in str(found)


def test_no_weight_is_named_where_the_operator_differs() -> None:
    other = graph(DIVIDED.replace("Div", "Mul") % "2")
    assert not compare(graph(DIVIDED % "2"), other, [X4]).weights
    assert not compare(graph(DIVIDED % "3"), other, [X4]).weights


FOLDED = """g (float[2, 3] x) => (float[2, 2] y) <float[2, 3] w = {1, 2, 3, 4, 5, 6}, float[1] s = {%s}> {
    t = Transpose <perm = [1, 0]> (w)
    u = Mul(t, s)
    v = Neg(u)
    y = MatMul(x, v)
}"""


def test_what_computes_a_weight_that_the_other_holds_is_named() -> None:
    """Which of them is wrong is not known where the other has only their result."""
    given, folded = graph(FOLDED % "2"), graph(FOLDED % "2.5").optimize()
    assert [each.op_type for each in folded.nodes] == ["MatMul"]
    inputs = [np.ones((2, 3), np.float32)]
    found = compare(given, folded, inputs)
    assert [each.node.op_type for each in found.region][-2:] == ["Mul", "Neg"]
    assert found.is_weight
    assert "the weight that Transpose" in str(found)
    (held,) = folded.weights
    assert f"in the other: weight '{held}', which the model holds" in str(found)
    back = compare(folded, given, inputs)
    assert f"they part at weight '{held}', which the model holds" in str(back)
    assert "in the other: the weight that Transpose" in str(back)
    assert (found.held, back.held) == (("", held), (held, ""))
    assert list(found.weights) == list(back.weights) == [held]
    assert compare(given, graph(FOLDED % "2").optimize(), inputs)


@pytest.mark.parametrize("is_first", [True, False])
def test_a_weight_that_only_one_model_holds_is_written(tmp_path: Path, is_first: bool) -> None:
    """Both models are in the folder, also the one that has no node for it."""
    given, folded = graph(FOLDED % "2"), graph(FOLDED % "2.5").optimize()
    first, second = (given, folded) if is_first else (folded, given)
    folder = tmp_path / "found"
    compare(first, second, [np.ones((2, 3), np.float32)], reproduce=folder)
    node, other = (onnxsmith.load(folder / name) for name in ("node.onnx", "other.onnx"))
    computing, holding = (node, other) if is_first else (other, node)
    taken = {port.name: np.load(folder / "inputs.npz")[port.name] for port in computing.inputs}
    np.testing.assert_allclose(np.asarray(computing.run(taken)) * 1.25, holding())


NEGATED = "v0 = Transpose(w)" + "".join(f" v{k + 1} = Neg(v{k})" for k in range(10)) + " y = MatMul(x, v10)"


def test_of_many_nodes_that_compute_a_weight_the_last_is_named() -> None:
    text = "g (float[1, 2] x) => (float[1, 2] y) <float[2, 2] w = {1, 2, 3, %s}> { " + NEGATED + " }"
    found = compare(graph(text % "4"), graph(text % "5").optimize(), [np.ones((1, 2), np.float32)])
    assert "the weight that 11 nodes compute, the last of them Neg" in str(found).splitlines()[0]


def test_a_weight_that_a_fold_has_changed_is_not_called_wrong() -> None:
    """The scale of the normalisation is in the weight of the other model: only the fault would be worth a line."""
    kernel = np.linspace(-1, 1, 4 * 2 * 3 * 3, dtype=np.float32).reshape(4, 2, 3, 3)
    scale, zeros, ones = np.arange(1, 5, dtype=np.float32), np.zeros(4, np.float32), np.ones(4, np.float32)
    given = trace(
        lambda x: op.BatchNormalization(op.Conv(x, kernel), scale, zeros, zeros, ones), FLOAT[1, 2, 6, 6]
    )
    folded = given.optimize()
    (name,) = (each for each, held in folded.weights.items() if held.shape == kernel.shape)
    wrong = np.array(folded.weights[name])
    wrong[2, 1, 0, 0] += 0.5
    bad = folded.replace_weights({name: wrong})
    for found in (compare(given, bad), compare(bad, given)):
        assert found.node is not None
        assert found.node.node.op_type == "Conv"
        assert not found.weights
    assert list(compare(folded, bad).weights) == [name]


def test_a_weight_that_is_cast_is_told_from_what_takes_it() -> None:
    text = """g (float[2, 4] x) => (float[2, 4] z) <double[4, 4] w = {%s}, float[4] b = {1, 2, 3, 4}> {
        v = Cast <to = 1> (w)
        y = Gemm(x, v, b)
        z = Tanh(y)
    }"""
    plain = """g (float[2, 4] x) => (float[2, 4] z) <float[4, 4] w = {%s}, float[4] b = {1, 2, 3, 4}> {
        m = MatMul(x, w)
        y = Add(m, b)
        z = Tanh(y)
    }"""
    numbers = [f"{0.1 * k:.1f}" for k in range(16)]
    other = [*numbers[:5], "9.0", *numbers[6:]]
    left, right = graph(plain % ", ".join(numbers)), graph(text % ", ".join(other))
    found = compare(left, right, [np.linspace(-1, 1, 8, dtype=np.float32).reshape(2, 4)])
    assert found.node is not None
    assert found.other is not None
    assert (found.node.node.op_type, found.other.node.op_type) == ("MatMul", "Cast")


def test_all_of_a_long_model_is_matched() -> None:
    def chain(first: Any) -> Model:
        def run(x: Any) -> Any:
            x = first(x)
            for k in range(100):
                x = op.Tanh(x * (1.0 + 0.01 * k)) + 0.1
            return x

        return trace(run, FLOAT[8])

    found = compare(chain(op.Sin), chain(op.Cos), [np.linspace(-1, 1, 8, dtype=np.float32)])
    assert found.matched == 301
    assert found.node is not None
    assert found.node.address == "0"


MASKED = """g (float[2, 4] x) => (float[2, 4] y)
<bool[4] m = {0, 0, 1, 1}, float low = {%s}, float[4] b = {1, 2, 3, %s}> {
    z = Where(m, x, low)
    y = Add(z, b)
}"""


@pytest.mark.parametrize("low", ["-3.4e38", "-1e9", "-65504"])
def test_elements_that_mask_others_are_no_scale_for_them(low: str) -> None:
    x = np.float32([[1, 2, 3, 4], [0.1, 0.2, 0.3, 0.4]])
    found = compare(graph(MASKED % (low, "4")), graph(MASKED % (low, "4.01")), [x])
    assert found.node is not None
    assert found.node.node.op_type == "Add"
    assert list(found.outputs) == ["y"]
    assert found.explains
    assert compare(graph(MASKED % (low, "4")), graph(MASKED % (low, "4.0000001")), [x])


@pytest.mark.parametrize("sizes", ["-1, 2", "6, -1"])
def test_sizes_that_mean_the_same_are_no_difference(sizes: str) -> None:
    text = """g (float[3, 4] x) => (float[6, 2] z) <int64[1] a = {%s}, int64[1] b = {%s}> {
        s = Concat <axis = 0> (a, b)
        y = Reshape(x, s)
        z = Tanh(y)
    }"""
    one, other = graph(text % ("6", "2")), graph(text % tuple(sizes.split(", ")))
    inputs = [np.linspace(-1, 1, 12, dtype=np.float32).reshape(3, 4)]
    for left, right in ((one, other), (other, one), (one, other.optimize()), (other.optimize(), one)):
        assert compare(left, right, inputs)


OPTIONAL = "g (float[4] x, float[4] k) => (float[4] y) <float[4] k = {1, 1, 1, 1}> { y = %s(x, k) }"


def test_optional_inputs_are_what_they_are_given() -> None:
    model, other = graph(OPTIONAL % "Mul"), graph(OPTIONAL % "Div")
    assert compare(model, other, {"x": X4})
    found = compare(model, other, {"x": X4, "k": np.float32([1, 2, 2, 2])})
    assert found.difference is not None
    assert found.difference.count == 3
    assert "k [4]" in found.inputs
    with pytest.raises(ModelInputError, match="the second model has no input 'k'"):
        compare(
            model,
            graph("g (float[4] x) => (float[4] y) { y = Relu(x) }"),
            {"x": X4, "k": np.float32([1, 2, 2, 2])},
        )


def test_a_bias_that_may_be_one_of_two_is_told_as_a_region() -> None:
    """The twin has the convolution and its normalisation in one: what shifts a channel may be wrong in either."""
    generator = np.random.default_rng(5)
    kernel = generator.standard_normal((4, 2, 3, 3)).astype(np.float32)
    scale, shift, mean = (generator.standard_normal(4).astype(np.float32) for _ in range(3))
    bias, variance = np.zeros(4, np.float32), np.ones(4, np.float32)

    def network(bias: Any, scale: Any, kernel: Any) -> Model:
        def run(x: Any) -> Any:
            return op.Tanh(op.BatchNormalization(op.Conv(x, kernel, bias), scale, shift, mean, variance))

        return trace(run, FLOAT[1, 2, 8, 8])

    inputs = [generator.standard_normal((1, 2, 8, 8)).astype(np.float32)]
    twin = network(bias, scale, kernel).optimize()
    assert len(twin.nodes) == 2
    assert compare(network(bias, scale, kernel), twin, inputs)
    found = compare(network(bias + 0.5, scale, kernel), twin, inputs)
    assert found.node is None
    assert [each.node.op_type for each in found.region] == ["Conv", "BatchNormalization"]
    assert found.other is not None
    scaled = compare(network(bias, scale * 1.5, kernel), twin, inputs)
    assert scaled.node is not None
    assert scaled.node.node.op_type == "BatchNormalization"
    turned = compare(network(bias, scale, kernel[:, :, ::-1].copy()), twin, inputs)
    assert turned.node is not None
    assert turned.node.node.op_type == "Conv"


def _parsed(text: str) -> Model:
    return Model.from_proto(parser.parse_model(f'<ir_version: 10, opset_import: ["": 21]> g {text}'))


def test_inputs_that_are_no_tensors_are_shown() -> None:
    model = _parsed("(seq(float[n]) s, int64 i) => (float[m] y) { y = SequenceAt(s, i) }")
    ragged = [np.float32([1, 2]), np.float32([3])]
    found = compare(model, model, {"s": ragged, "i": np.int64(1)})
    assert found
    assert "s of 2 elements, i []" in str(found)


def test_absent_optionals_are_run() -> None:
    model = _parsed("(optional(float[2]) o) => (bool y) { y = OptionalHasElement(o) }")
    assert compare(model, model, {"o": None})
    assert compare(model, model, {"o": np.ones(2, np.float32)})


def test_a_constant_of_the_model_keeps_its_name() -> None:
    text = "(float[2] x) => (float[2] y) { k = Constant <value = float[1] {2}> () y = Mul(x, k) }"
    model = _parsed(text)
    before = model.proto.SerializeToString()
    assert compare(model, model, {"x": np.ones(2, np.float32)})
    assert model.proto.SerializeToString() == before
