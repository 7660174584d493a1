"""Decompiled modules that were edited by hand: what is left keeps its names, what was added has its own."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

import onnxsmith
from onnxsmith import FLOAT, INT64
from onnxsmith.errors import (
    FunctionError,
    ModelWarning,
    ModelWriteError,
    OpsetConflictError,
    ReturnTypeError,
    ShapeError,
)
from tests.decompile.fidelity import differences
from tests.decompile.round_trip import imported

ONES = np.ones(2, np.float32)


def model_of(
    nodes: list[onnx.NodeProto], shape: tuple[int, ...] = (2,), inputs: tuple[onnx.ValueInfoProto, ...] = ()
) -> onnx.ModelProto:
    x = helper.make_tensor_value_info("x", 1, [2])
    y = helper.make_tensor_value_info("y", 1, shape)
    graph = helper.make_graph(nodes, "g", [x, *inputs], [y])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def small() -> onnx.ModelProto:
    relu = helper.make_node("Relu", ["x"], ["/a"], name="/Relu")
    return model_of([relu, helper.make_node("Neg", ["/a"], ["y"], name="/Neg")])


def edited(model: onnx.ModelProto, folder: Path, *changes: tuple[str, str]) -> onnxsmith.Model:
    path = onnxsmith.decompile_to(model, folder, name="given")
    text = path.read_text()
    for before, after in changes:
        assert before in text, text
        text = text.replace(before, after)
    path.write_text(text)
    with imported(path) as module:
        return module.model


def outputs_of(model: onnxsmith.Model) -> list[str]:
    return [node.outputs[0].name or "" for node in model.ir.graph]


def test_a_variable_may_be_assigned_again(tmp_path: Path) -> None:
    model = edited(small(), tmp_path, ("    y = -a", "    a = op.Exp(a)\n    y = -a"))
    model.check()
    assert outputs_of(model) == ["a_1", "/a", "y"]
    np.testing.assert_allclose(model(ONES), -np.exp(ONES), rtol=1e-6)


def test_an_output_keeps_its_name_when_it_is_assigned_again(tmp_path: Path) -> None:
    model = edited(small(), tmp_path, ("    return y", "    y = op.Exp(y)\n    y = op.Abs(y)\n    return y"))
    model.check()
    assert [port.name for port in model.outputs] == ["y"]
    names = [node.name for node in model.ir.graph if node.name]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize(
    ("before", "after", "result"),
    [
        ("x + 1.0", "x + 1.0 + 5.0", 4 * ONES + 5),
        ("x + 1.0", "5.0 + x + 1.0 + 7.0", 4 * ONES + 12),
        ("x * 2.0", "(x + 8.0) * 2.0", 4 * ONES + 16),
    ],
)
def test_a_new_literal_is_none_of_the_constants_of_the_model(
    before: str, after: str, result: object, tmp_path: Path
) -> None:
    """The compiler calls literals as the constants of the models that it makes: `const`, `const_1`."""
    given = onnxsmith.trace(lambda x: (x + 1.0) + x * 2.0, FLOAT[2])
    model = edited(given.proto, tmp_path, (before, after))
    model.check()
    np.testing.assert_array_equal(model(ONES), result)
    names = [each.name for each in model.proto.graph.initializer]
    assert names[:2] == ["const", "const_1"]
    assert len(set(names)) == len(names)


def test_an_initializer_that_nothing_uses_may_be_called_like_a_literal() -> None:
    model = onnxsmith.trace(lambda x: x + 1.0, FLOAT[2]).proto
    model.graph.initializer[0].name = model.graph.node[0].input[1] = "const_1"
    model.graph.initializer.append(numpy_helper.from_array(ONES, "const"))
    again = onnxsmith.recompile(onnxsmith.decompile(model))
    assert isinstance(again, onnxsmith.Model)
    assert differences(model, again.proto) == []


def test_a_branch_may_go_on(tmp_path: Path) -> None:
    two = helper.make_tensor("", 1, [], [2.0])
    then = helper.make_graph(
        [
            helper.make_node("Constant", [], ["k"], value=two),
            helper.make_node("Mul", ["x", "k"], ["t"]),
        ],
        "then",
        [],
        [helper.make_tensor_value_info("t", 1, [2])],
    )
    other = helper.make_graph(
        [helper.make_node("Neg", ["x"], ["e"])], "else", [], [helper.make_tensor_value_info("e", 1, [2])]
    )
    node = helper.make_node("If", ["b"], ["y"], then_branch=then, else_branch=other)
    given = model_of([node], inputs=(helper.make_tensor_value_info("b", 9, []),))
    model = edited(given, tmp_path, ("        y = x * 2.0", "        y = x * 2.0\n        y = y + 1.0"))
    model.check()
    np.testing.assert_array_equal(model(ONES, np.bool_(True)), [3, 3])


def test_a_variable_that_is_called_like_a_constant_gets_another_name(tmp_path: Path) -> None:
    add = helper.make_node("Add", ["x", "c"], ["y"])
    given = model_of([add])
    given.graph.initializer.append(numpy_helper.from_array(np.float32(2), "c"))
    model = edited(given, tmp_path, ("    y = x + 2.0", "    c = x + 2.0"), ("return y", "return c"))
    model.check()
    np.testing.assert_array_equal(model(ONES), [3, 3])


def test_weights_that_nothing_uses_any_more_go(tmp_path: Path) -> None:
    given = model_of([helper.make_node("Add", ["x", "w"], ["t"]), helper.make_node("Neg", ["t"], ["y"])])
    given.graph.initializer.append(numpy_helper.from_array(np.arange(2, dtype=np.float32) * 1e30, "w"))
    model = edited(given, tmp_path, ("-t", "-x"), ("    t = x + [0.0, 1e30]\n", ""))
    assert list(model.ir.graph.initializers) == []


def test_the_model_follows_a_newer_opset(tmp_path: Path) -> None:
    model = edited(small(), tmp_path, ("opset17", "opset20"), ("op.Relu", "op.Gelu"))
    model.check()
    assert model.opset_imports[""] == 20


def test_an_older_opset_whose_operators_are_others_is_refused(tmp_path: Path) -> None:
    """Softmax of opset 12 takes its input for a matrix."""
    given = model_of([helper.make_node("Softmax", ["x"], ["y"], axis=0)])
    with pytest.raises(OpsetConflictError, match="in opset 17, which opset_imports names"):
        edited(given, tmp_path, ("opset17", "opset12"))


def test_opset_imports_that_name_a_newer_opset_are_refused(tmp_path: Path) -> None:
    given = model_of([helper.make_node("Softmax", ["x"], ["y"], axis=0)])
    given.opset_import[0].version = 12
    with pytest.raises(OpsetConflictError, match="Softmax of opset 12, which the code uses"):
        edited(given, tmp_path, ('{"": 12}', '{"": 20}'))


def test_returning_an_input_leaves_its_type(tmp_path: Path) -> None:
    given = model_of([helper.make_node("ReduceSum", ["x"], ["y"], keepdims=0)], shape=())
    model = edited(given, tmp_path, ("return y", "return x"))
    assert model.inputs[0].type == onnxsmith.FLOAT[2]


def with_function(*, is_called: bool = True) -> onnx.ModelProto:
    """A function whose attribute is a tensor."""
    function = helper.make_function(
        "local", "F", ["a"], ["b"], [], [helper.make_opsetid("", 17)], attributes=["w"]
    )
    constant = helper.make_node("Constant", [], ["c"])
    attribute = constant.attribute.add(name="value", ref_attr_name="w", type=onnx.AttributeProto.TENSOR)
    assert attribute.ref_attr_name == "w"
    function.node.extend([constant, helper.make_node("Add", ["a", "c"], ["b"])])
    call = helper.make_node("F", ["x"], ["y"], domain="local", w=numpy_helper.from_array(ONES, "q"))
    model = model_of([call if is_called else helper.make_node("Neg", ["x"], ["y"])])
    model.functions.append(function)
    model.opset_import.append(helper.make_opsetid("local", 1))
    return model


@pytest.mark.parametrize("is_called", [True, False])
def test_functions_may_have_tensors_as_attributes(is_called: bool, tmp_path: Path) -> None:
    given = with_function(is_called=is_called)
    assert differences(given, edited(given, tmp_path).proto) == []


def test_a_function_goes_with_its_last_call(tmp_path: Path) -> None:
    call = "F(x, w=np.array([1.0, 1.0], np.float32))"
    assert not edited(with_function(), tmp_path, (call, "-x")).ir.functions


def test_an_else_may_be_left_out_in_a_loop(tmp_path: Path) -> None:
    text = """
from onnxsmith import BOOL, FLOAT, INT64, opset17 as op, script

@script(default_opset=op, exact=True)
def flipped(b: BOOL, n: INT64, x: FLOAT[2]) -> FLOAT[2]:
    y = x
    for i in range(n):
        if b:
            y = -y
    return y

model = flipped.to_model()
"""
    path = tmp_path / "flipped.py"
    path.write_text(text)
    with imported(path) as module:
        np.testing.assert_array_equal(module.model(np.bool_(True), np.int64(3), ONES), -ONES)


JUMPS = {
    "a return in a loop": """
        if s > 2:
            return s
    return s
""",
    "an else after break": """
        if s > 2:
            break
    else:
        s = s * 10
    return s
""",
    "an outer value in a branch": """
    t = s + 1
    if s > 2:
        y = t
    else:
        y = s
    return y
""",
}


@pytest.mark.parametrize("count", [1, 5])
@pytest.mark.parametrize("jump", JUMPS)
def test_branches_that_give_values_from_outside_are_valid(jump: str, count: int, tmp_path: Path) -> None:
    text = """
from onnxsmith import INT64, opset21 as op, script

@script(default_opset=op, exact=True)
def f(x: INT64["N"]):
    s = op.Constant(value_int=0)
    for i in range(op.Size(x)):
        s = s + 1"""
    path = tmp_path / "jumping.py"
    path.write_text(text + JUMPS[jump])
    wanted = {
        "a return in a loop": min(count, 3),
        "an else after break": 3 if count > 2 else 10 * count,
        "an outer value in a branch": count + 1 if count > 2 else count,
    }
    with imported(path) as module:
        model = module.f.to_model()
        model.check()
        assert model(np.zeros(count, np.int64)) == wanted[jump]


@pytest.mark.parametrize("nodes", [[], [helper.make_node("Identity", ["w"], ["w2"])]])
def test_a_branch_may_give_its_own_initializer(nodes: list[onnx.NodeProto], tmp_path: Path) -> None:
    weight = numpy_helper.from_array(np.array([1, 2], np.float32), "w")
    given = helper.make_tensor_value_info("w2" if nodes else "w", 1, [2])
    then = helper.make_graph(nodes, "then", [], [given], initializer=[weight])
    other = helper.make_graph(
        [helper.make_node("Neg", ["x"], ["n"])], "else", [], [helper.make_tensor_value_info("n", 1, [2])]
    )
    choice = helper.make_node("If", ["c"], ["y"], then_branch=then, else_branch=other)
    model = model_of([choice], inputs=(helper.make_tensor_value_info("c", 9, []),))
    assert differences(model, edited(model, tmp_path).proto) == []


def test_a_body_that_returns_too_little_is_told(tmp_path: Path) -> None:
    body = helper.make_graph(
        [helper.make_node("Add", ["s", "e"], ["so"]), helper.make_node("Neg", ["so"], ["o"])],
        "body",
        [helper.make_tensor_value_info("s", 1, []), helper.make_tensor_value_info("e", 1, [])],
        [helper.make_tensor_value_info("so", 1, []), helper.make_tensor_value_info("o", 1, [])],
    )
    start = helper.make_tensor_value_info("start", 1, [])
    scan = helper.make_node("Scan", ["start", "x"], ["end", "y"], body=body, num_scan_inputs=1)
    with pytest.raises(FunctionError, match="annotation says 2"):
        edited(model_of([scan], inputs=(start,)), tmp_path, ("return so, o", "return so"))


def test_an_edited_module_is_not_overwritten(tmp_path: Path) -> None:
    path = onnxsmith.decompile_to(small(), tmp_path)
    onnxsmith.decompile_to(small(), tmp_path)  # says the same: nothing is lost
    path.write_text(path.read_text() + "# mine\n")
    with pytest.raises(ModelWriteError, match="is there already"):
        onnxsmith.decompile_to(small(), tmp_path)
    assert "# mine" in path.read_text()
    onnxsmith.decompile_to(small(), tmp_path, overwrite=True)
    assert "# mine" not in path.read_text()


def test_layers_keep_their_names_when_one_changes() -> None:
    def layers(operators: list[str]) -> str:
        names = ["x", *(f"/layers.{k}/act/{op}_output_0" for k, op in enumerate(operators))]
        nodes = [
            helper.make_node(op, [names[k]], [names[k + 1]], name=f"/layers.{k}/act/{op}")
            for k, op in enumerate(operators)
        ]
        nodes.append(helper.make_node("Neg", [names[-1]], ["y"], name="/Neg"))
        return onnxsmith.decompile(model_of(nodes))

    before, after = layers(["Relu"] * 20), layers(["Relu"] * 10 + ["Tanh"] + ["Relu"] * 9)
    changed = set(after.splitlines()) - set(before.splitlines())
    assert len(changed) == 3  # the line, the next one that uses it, and the name in the table


# ---- mistakes ----


def multiplied(weight: tuple[int, int] = (2, 3)) -> onnx.ModelProto:
    """A vector times a matrix of weights that is too large to stand in the code."""
    model = model_of([helper.make_node("MatMul", ["x", "w"], ["y"])], shape=(weight[1],))
    model.graph.initializer.append(numpy_helper.from_array(np.ones(weight, np.float32), "w"))
    return model


def test_a_weight_of_the_wrong_shape_is_refused_at_its_line(tmp_path: Path) -> None:
    with pytest.raises(ShapeError) as caught:
        edited(
            multiplied(),
            tmp_path,
            ("[[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]]", "[[1.0, 1.0, 1.0], [1.0, 1.0, 1.0], [1.0, 1.0, 1.0]]"),
        )
    assert "y = x @ [[1.0" in str(caught.value)
    assert "given.py:7" in str(caught.value)


def test_a_file_with_weights_of_the_wrong_shape_is_refused(tmp_path: Path) -> None:
    onnxsmith.decompile_to(multiplied((3, 300)), tmp_path, name="other")
    path = onnxsmith.decompile_to(multiplied((2, 300)), tmp_path, name="given")
    path.write_text(path.read_text().replace("given.safetensors", "other.safetensors"))
    with pytest.raises(ShapeError, match="inner dimensions are 2 and 3"), imported(path):
        pass


def test_a_weight_of_the_wrong_shape_for_a_function_is_refused_where_it_is_used(tmp_path: Path) -> None:
    given = multiplied()
    opset = [helper.make_opsetid("", 17)]
    function = helper.make_function(
        "local", "F", ["a", "b"], ["c"], [helper.make_node("MatMul", ["a", "b"], ["c"])], opset
    )
    given.functions.append(function)
    given.graph.node[0].op_type, given.graph.node[0].domain = "F", "local"
    given.opset_import.append(helper.make_opsetid("local", 1))
    with pytest.raises(ShapeError, match=r"c = a @ b"):
        edited(given, tmp_path, ("return c", "return c  # same"), ("(x, ", "(op.Concat(x, x, axis=0), "))


@pytest.mark.parametrize("code", ["op.Cast(-a, to=7)", "op.Concat(a, a, axis=0)", "op.Unsqueeze(-a, [0])"])
def test_an_annotation_that_the_edited_code_contradicts_is_refused(code: str, tmp_path: Path) -> None:
    with pytest.raises(ReturnTypeError, match="the code computes") as caught:
        edited(small(), tmp_path, ("y = -a", f"y = {code}"))
    assert "-> FLOAT[2]" in str(caught.value)


def test_a_model_that_cannot_work_is_taken_as_it_is() -> None:
    given = multiplied((3, 3))
    text = onnxsmith.decompile(given)
    assert 'exact="unchecked"' in text
    with pytest.warns(ModelWarning, match="inner dimensions are 2 and 3"):
        model = onnxsmith.recompile(text)
    assert isinstance(model, onnxsmith.Model)
    assert differences(given, model.proto) == []


def test_an_output_that_is_declared_wrongly_is_taken_as_it_is() -> None:
    given = model_of([helper.make_node("Relu", ["x"], ["y"])], shape=(7,))
    text = onnxsmith.decompile(given)
    with pytest.warns(ModelWarning, match="says that it returns"):
        model = onnxsmith.recompile(text)
    assert isinstance(model, onnxsmith.Model)
    assert differences(given, model.proto) == []


@onnxsmith.script()
def counted(x: FLOAT[2], n: INT64) -> FLOAT[2]:
    y = x
    for i in range(n):  # noqa: B007  # an edit reads it
        y = y + x
    return y * 2.0


@onnxsmith.script()
def repeated(x: FLOAT[2], n: INT64) -> FLOAT[2]:
    y = x
    i = n * 0
    while i < n:
        y = y * 2.0
        i = i + 1
    return y


@pytest.mark.parametrize("before", [True, False], ids=["before", "after"])
@pytest.mark.parametrize(
    "added",
    [
        ["break"],
        ["if n > 1:", "    break"],
        ["if n > 1:", "    return x"],
        ["if op.ReduceSum(x) > 2.0:", "    break"],
        ["if op.ReduceSum(x) > 2.0:", "    x = x * 3.0"],
        ["return x"],
        ["for _ in range(n):", "    break"],
    ],
    ids=lambda added: added[0] if len(added) == 1 else added[1].strip(),
)
@pytest.mark.parametrize("program", [counted, repeated], ids=["for", "while"])
def test_a_jump_may_be_added_to_a_loop(
    program: onnxsmith.ScriptFunction, added: list[str], before: bool, tmp_path: Path
) -> None:
    path = onnxsmith.decompile_to(program.to_model(), tmp_path, name="given")
    lines = path.read_text().splitlines()
    place = next(k for k, each in enumerate(lines) if each.startswith("        "))
    place = place if before else place + 1
    path.write_text("\n".join([*lines[:place], *(f"        {each}" for each in added), *lines[place:]]))
    with imported(path) as module:
        eager = getattr(module, program.__name__)
        for n in (0, 1, 3):
            given = ONES, np.int64(n)
            np.testing.assert_allclose(module.model(*given), eager(*given))


def test_continue_may_be_added_to_a_loop(tmp_path: Path) -> None:
    change = ("for i in range(n):\n", "for i in range(n):\n        if i == 1:\n            continue\n")
    model = edited(counted.to_model().proto, tmp_path, change)
    assert [float(np.asarray(model(ONES, np.int64(n)))[0]) for n in (0, 1, 3)] == [2, 4, 6]
