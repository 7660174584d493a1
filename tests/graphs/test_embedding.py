"""Existing models called from traces, scripts, functions, branches and loops."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import onnxsmith
from onnxsmith import BOOL, FLOAT, INT64, Model, errors, load, script, trace
from onnxsmith import opset18 as op

X = np.float32([-1, 2, 3])
WEIGHT = np.float32([10, 20, 30])


def of_nodes(
    nodes: list[onnx.NodeProto],
    initializers: list[onnx.TensorProto] | None = None,
    outputs: tuple[str, ...] = ("y",),
    opset: int = 18,
) -> Model:
    """A model on a vector of floats, as another tool writes it."""
    graph = helper.make_graph(
        nodes,
        "a layer",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N"])],
        [helper.make_tensor_value_info(each, TensorProto.FLOAT, None) for each in outputs],
        initializers or [],
    )
    return Model.from_proto(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
    )


def foreign_model() -> Model:
    """As another tool writes it: an initializer that is also an input."""
    graph = helper.make_graph(
        [helper.make_node("Mul", ["x", "w.0"], ["h"]), helper.make_node("Relu", ["h"], ["y"])],
        "a layer",
        [helper.make_tensor_value_info("x", 1, ["N"]), helper.make_tensor_value_info("w.0", 1, [3])],
        [helper.make_tensor_value_info("y", 1, ["N"])],
        [numpy_helper.from_array(WEIGHT, "w.0")],
    )
    return Model.from_proto(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
    )


EXPECTED = np.maximum(X * WEIGHT, 0)


def test_a_script_calls_a_model_as_a_function() -> None:
    layer = foreign_model()

    @script
    def twice(x: FLOAT["N"]):
        return layer(x) + layer(x=x * 2.0)

    model = twice.to_model()
    assert [each.name for each in model.proto.functions] == ["a_layer"]
    onnx.checker.check_model(model.proto)
    np.testing.assert_array_equal(twice(X), EXPECTED * 3)
    np.testing.assert_array_equal(model(X), EXPECTED * 3)


def test_a_trace_calls_two_models_of_one_name() -> None:
    first, second = foreign_model(), trace(lambda x: op.Neg(x), FLOAT["N"], name="a layer")
    model = trace(lambda x: second(first(x)), FLOAT["N"])
    assert len(model.proto.functions) == 2
    np.testing.assert_array_equal(model(X), -EXPECTED)


def test_wrong_calls_are_refused() -> None:
    layer = foreign_model()
    with pytest.raises(errors.ModelInputError, match="is float32"):
        trace(lambda x: layer(x), INT64["N"])
    with pytest.raises(errors.ModelInputError, match="missing"):
        trace(lambda x: layer(), FLOAT["N"])


# -- one law: a model gives the same wherever it is called ---------------------------------------------------

LARGE = np.linspace(-1, 1, 1200, dtype=np.float32).reshape(3, 400)


def plain() -> Model:
    return trace(lambda x: op.Relu(x * WEIGHT) + 1.0, FLOAT["N"])


def with_large_weights() -> Model:
    return trace(lambda x: op.ReduceSum(op.MatMul(x, LARGE), [0], keepdims=0) + x, FLOAT[3])


def of_functions() -> Model:
    @script
    def helper_function(x: FLOAT["N"]):
        return op.Relu(x) * 2.0

    @script
    def main(x: FLOAT["N"]):
        return helper_function(x) + helper_function(-x)

    return main.to_model()


def of_models() -> Model:
    inner = foreign_model()
    return trace(lambda x: inner(x) - inner(-x), FLOAT["N"])


def with_control_flow() -> Model:
    @script
    def main(x: FLOAT["N"]):
        y = x
        for _ in range(3):
            if op.ReduceSum(x, keepdims=0) > 0.0:
                y = y + x * WEIGHT
            else:
                y = y - WEIGHT * 0.5
        return y

    return main.to_model()


def of_constants() -> Model:
    return of_nodes(
        [
            helper.make_node("Constant", [], ["a"], value_float=2.0),
            helper.make_node("Constant", [], ["b"], value_floats=[1.0, 2.0, 3.0]),
            helper.make_node("Constant", [], ["c"], value=numpy_helper.from_array(WEIGHT)),
            helper.make_node("Constant", [], ["d"], value_ints=[0]),
            helper.make_node("Mul", ["x", "a"], ["e"]),
            helper.make_node("Add", ["e", "b"], ["f"]),
            helper.make_node("Sub", ["f", "c"], ["g"]),
            helper.make_node("Unsqueeze", ["g", "d"], ["h"]),
            helper.make_node("Squeeze", ["h", "d"], ["y"]),
        ]
    )


def with_weights_in_a_branch() -> Model:
    """The same name for a weight of each branch, and one that is an output."""

    def branch(factor: float) -> onnx.GraphProto:
        weight = numpy_helper.from_array(WEIGHT * np.float32(factor), "w")
        node = helper.make_node("Mul", ["x", "w"], [f"z{factor:.0f}"])
        declared = helper.make_tensor_value_info(f"z{factor:.0f}", TensorProto.FLOAT, None)
        return helper.make_graph([node], "branch", [], [declared], [weight])

    return of_nodes(
        [
            helper.make_node("ReduceSum", ["x"], ["s"], keepdims=0),
            helper.make_node("Greater", ["s", "zero"], ["c"]),
            helper.make_node("If", ["c"], ["y"], then_branch=branch(1), else_branch=branch(2)),
        ],
        [numpy_helper.from_array(np.float32(0), "zero")],
    )


def with_outputs_that_no_node_makes() -> Model:
    return of_nodes(
        [helper.make_node("Neg", ["x"], ["y"])],
        [numpy_helper.from_array(WEIGHT, "w")],
        outputs=("y", "x", "w"),
    )


MODELS = [
    plain,
    foreign_model,
    with_large_weights,
    of_functions,
    of_models,
    with_control_flow,
    of_constants,
    with_weights_in_a_branch,
    with_outputs_that_no_node_makes,
]


def in_a_trace(layer: Model) -> Model:
    return trace(lambda x: layer(x), FLOAT[3])


def in_a_script(layer: Model) -> Model:
    @script
    def main(x: FLOAT[3]):
        return layer(x)

    return main.to_model()


def in_a_function(layer: Model) -> Model:
    @script
    def called(x: FLOAT[3]):
        return layer(x)

    @script
    def main(x: FLOAT[3]):
        called(x)  # a second call of the function, and one of the model itself
        layer(x)
        return called(x)

    return main.to_model()


def in_a_function_of_a_function(layer: Model) -> Model:
    @script
    def inner(x: FLOAT[3]):
        return layer(x)

    @script
    def called(x: FLOAT[3]):
        return inner(x)

    @script
    def main(x: FLOAT[3]):
        return called(x)

    return main.to_model()


def in_a_branch(layer: Model) -> Model:
    @script
    def main(x: FLOAT[3]):
        if op.Size(x) > 2:
            y = layer(x)
        else:
            y = layer(x)
        return y

    return main.to_model()


def in_a_loop(layer: Model) -> Model:
    @script
    def main(x: FLOAT[3]):
        y = layer(x)
        for _ in range(op.Size(x)):
            y = layer(x)
        return y

    return main.to_model()


def in_a_loop_of_a_function(layer: Model) -> Model:
    @script
    def called(x: FLOAT[3]):
        y = layer(x)
        for _ in range(op.Size(x)):
            y = layer(x)
        return y

    @script
    def main(x: FLOAT[3]):
        return called(x)

    return main.to_model()


PLACES = [
    in_a_trace,
    in_a_script,
    in_a_function,
    in_a_function_of_a_function,
    in_a_branch,
    in_a_loop,
    in_a_loop_of_a_function,
]


@pytest.mark.parametrize("make", MODELS, ids=lambda each: each.__name__)
@pytest.mark.parametrize("place", PLACES, ids=lambda each: each.__name__)
def test_a_model_gives_the_same_wherever_it_is_called(
    make: Callable[[], Model], place: Callable[[Model], Model], tmp_path: Path
) -> None:
    layer = make()
    expected = layer(X)
    model = place(layer)
    onnx.checker.check_model(model.proto, full_check=True)
    model.save(tmp_path / "whole.onnx")
    model.save(tmp_path / "split.onnx", external_data=True)
    others = [model, load(tmp_path / "whole.onnx"), load(tmp_path / "split.onnx")]
    others.append(place(others[-1]))  # a model that holds a called model is called again
    for each in others:
        np.testing.assert_equal(each(X), expected)
    assert layer(X) is not None
    np.testing.assert_equal(layer(X), expected)  # and calling it in a graph does not change it


# -- weights -------------------------------------------------------------------------------------------------


def test_weights_are_shared_initializers_and_are_not_copied(tmp_path: Path) -> None:
    layer = with_large_weights()
    model = in_a_loop_of_a_function(layer)
    large = [each for each in model.ir.graph.initializers.values() if each.const_value.nbytes > 1024]
    assert len(large) == 1
    assert np.shares_memory(large[0].const_value.numpy(), LARGE)
    bodies = [each for each in model.proto.functions if each.domain == "this.models"]
    assert bodies
    assert not [node for each in bodies for node in each.node if node.op_type == "Constant"]
    model.save(tmp_path / "m.onnx", external_data=True)
    assert (tmp_path / "m.onnx.data").stat().st_size == LARGE.nbytes
    loaded = load(tmp_path / "m.onnx")
    again = trace(lambda x: loaded(x) + op.ReduceSum(LARGE), FLOAT[3])
    assert [each.const_value.nbytes for each in again.ir.graph.initializers.values()].count(LARGE.nbytes) == 2


def test_an_array_that_the_caller_uses_too_is_one_initializer() -> None:
    layer = with_large_weights()
    model = trace(lambda x: layer(x) + op.ReduceSum(LARGE), FLOAT[3])
    assert [each.const_value.nbytes for each in model.ir.graph.initializers.values()].count(LARGE.nbytes) == 1


def test_a_function_alone_has_its_weights_inside() -> None:
    layer = with_large_weights()

    @script
    def called(x: FLOAT[3]):
        return layer(x)

    proto = called.to_function_proto()
    assert list(proto.input) == ["x"]
    assert [node.op_type for node in proto.node].count("Constant") >= 1


# -- types ---------------------------------------------------------------------------------------------------


def test_results_have_types_in_the_callers_names() -> None:
    layer = trace(lambda x, w: op.Relu(x @ w), FLOAT["N", "K"], FLOAT["K", "M"])
    model = trace(lambda a: layer(a, LARGE), FLOAT["batch", 3])
    assert repr(model.outputs[0].type) == "FLOAT['batch', 400]"
    inside = trace(lambda a: layer(a, LARGE).shape[1] * 1.0, FLOAT["batch", 3])
    assert inside(np.ones((2, 3), np.float32)) == 400


def test_sizes_that_only_the_model_knows_are_others_at_each_call() -> None:
    proto = trace(lambda x: op.Compress(x, x > 0.0, axis=0), FLOAT["N"]).proto
    proto.graph.output[0].type.tensor_type.shape.dim[0].dim_param = "kept"
    layer = Model.from_proto(proto)
    model = trace(lambda x: (layer(x), layer(-x)), FLOAT["N"])
    assert [repr(each.type) for each in model.outputs] == ["FLOAT['kept']", "FLOAT['kept_1']"]
    np.testing.assert_equal(model(X), (np.float32([2, 3]), np.float32([1])))


@pytest.mark.parametrize("given", [FLOAT["B", "T", 3], FLOAT["B", 4], FLOAT[3], INT64["B", 3]])
def test_a_model_refuses_in_a_graph_what_it_refuses_as_an_array(given: onnxsmith.TensorType) -> None:
    layer = trace(lambda x: op.MatMul(x, LARGE), FLOAT["N", 3])
    dtype = np.int64 if given.dtype is INT64.dtype else np.float32
    shape = tuple(each if isinstance(each, int) else 2 for each in given.shape or ())
    with pytest.raises(errors.ModelInputError) as eager:
        layer(np.zeros(shape, dtype))
    with pytest.raises(errors.ModelInputError) as traced:
        trace(lambda x: layer(x), given)
    assert (traced.value.code, traced.value.help) == (eager.value.code, eager.value.help)
    sizes = {"B": "2", "T": "2"}
    words = traced.value.message
    for name, size in sizes.items():
        words = words.replace(f"({name},", f"({size},").replace(f" {name},", f" {size},")
    assert words == eager.value.message


def test_what_the_nodes_cannot_do_is_said_with_the_node() -> None:
    layer = trace(lambda x, y: op.Relu(x @ y), FLOAT["N", "K"], FLOAT["L", "M"])
    with pytest.raises(
        errors.ShapeError, match=r"node 'mat_mul' \(MatMul\) of the model: .*4 and 5"
    ) as caught:
        trace(lambda x, y: layer(x, y), FLOAT["B", 4], FLOAT[5, "C"])
    assert caught.value.span is not None
    assert caught.value.span.file == __file__


def test_a_branch_that_is_not_taken_may_be_wrong_for_the_inputs() -> None:
    @script
    def either(x: FLOAT["N"]):
        if op.Size(x) > 3:
            y = op.Reshape(x, [2, 2])
        else:
            y = op.Reshape(x, [1, -1])
        return y

    layer = either.to_model()
    np.testing.assert_array_equal(in_a_trace(layer)(X), X[None])


def test_numbers_take_the_type_of_the_input() -> None:
    layer = trace(lambda x, n: x * n, FLOAT["N"], FLOAT)
    model = trace(lambda x: layer(x, 2) + layer(x, x.shape[0]), FLOAT["N"])
    np.testing.assert_array_equal(model(X), X * 5)


# -- functions -----------------------------------------------------------------------------------------------


def test_functions_of_one_name_and_different_bodies_are_kept_apart() -> None:
    def make(factor: float) -> Model:
        @script(domain="mine")
        def scaled(x: FLOAT["N"]):
            return x * factor

        @script
        def main(x: FLOAT["N"]):
            return scaled(x)

        return main.to_model()

    twice, thrice = make(2.0), make(3.0)
    model = trace(lambda x: twice(x) + thrice(x), FLOAT["N"])
    np.testing.assert_array_equal(model(X), X * 5)


def test_a_condition_of_the_caller_reaches_the_model() -> None:
    layer = trace(lambda c, x: op.Where(c, x, -x), BOOL, FLOAT["N"])

    @script
    def main(x: FLOAT["N"]):
        return layer(op.ReduceSum(x, keepdims=0) > 0.0, x)

    np.testing.assert_array_equal(main.to_model()(X), X)
