"""Algorithms are functions of the model by name: one for each form, in files and other models, inlined on request."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx.helper
import pytest

import onnxsmith
from onnxsmith import FLOAT, INT64, script
from onnxsmith import opset22 as op
from onnxsmith.algorithms import (
    angles,
    cumulative,
    distinct,
    extremes,
    integers,
    order_statistics,
    quantiles,
    reductions,
    searching,
    sorting,
)
from onnxsmith.algorithms import operators as portable
from onnxsmith.algorithms.complex_numbers.field import Field
from onnxsmith.algorithms.linalg import jacobi, lu, triangular
from onnxsmith.algorithms.named import DOMAIN, algorithm, algorithm_of, inline_algorithms
from onnxsmith.algorithms.special import float_parts
from onnxsmith.algorithms.values import flat, size_of
from onnxsmith.core.target import current_graph
from onnxsmith.core.value import TensorValue

X = np.random.default_rng(0).normal(size=(3, 4)).astype(np.float32)


def names(model: onnxsmith.Model) -> list[str]:
    """The functions of a model that are algorithms."""
    return [name for domain, name, _ in model.ir.functions if domain == DOMAIN]


def inlined(function: Callable[..., Any]) -> Callable[..., Any]:
    """The same function, recorded without functions."""

    def call(x: Any) -> Any:
        inline_algorithms(current_graph())
        return function(x)

    return call


def test_a_form_is_defined_once():
    def function(x, y):
        first, _ = sorting.sort(x, 1)
        second, _ = sorting.sort(y, 1)
        return first, second, sorting.sort(x, 0)[0], sorting.sort(x, 1, descending=True)[0]

    model = onnxsmith.trace(function, FLOAT["N", 4], FLOAT[3, 5])
    assert names(model) == [
        "sort__float_2d__axis_1",
        "sort__float_2d__axis_0",
        "sort__float_2d__axis_1_descending_true",
    ]
    assert [node.op_type for node in model.ir.graph] == [
        names(model)[0],
        names(model)[0],
        *names(model)[1:],
    ]


def test_element_types_and_ranks_are_forms():
    model = onnxsmith.trace(
        lambda x, y, z: (sorting.sort(x, 0)[0], sorting.sort(y, 0)[0], sorting.sort(z, 0)[0]),
        FLOAT["N"],
        INT64["N"],
        FLOAT["N", "M"],
    )
    assert names(model) == ["sort__float_1d__axis_0", "sort__int64_1d__axis_0", "sort__float_2d__axis_0"]
    assert {algorithm_of(DOMAIN, each) for each in names(model)} == {"sort"}
    assert algorithm_of("elsewhere", "sort__float_1d") is None


def test_the_same_program_gives_the_same_bytes():
    models = [onnxsmith.trace(lambda x: order_statistics.median(x, 1), FLOAT["N", 4]) for _ in range(2)]
    assert models[0].proto.SerializeToString() == models[1].proto.SerializeToString()


def test_algorithms_call_each_other():
    model = onnxsmith.trace(lambda x: order_statistics.median(x, 1)[0], FLOAT["N", 4])
    assert names(model) == ["sort__float_2d__axis_1", "median__float_2d__axis_1"]
    np.testing.assert_array_equal(model(X), np.sort(X, 1)[:, 1:2])


def test_names_survive_files(tmp_path: Path):
    model = onnxsmith.trace(lambda x: sorting.sort(x, 1)[0], FLOAT["N", 4])
    model.save(tmp_path / "model.onnx")
    loaded = onnxsmith.load(tmp_path / "model.onnx")
    assert names(loaded) == ["sort__float_2d__axis_1"]
    np.testing.assert_array_equal(loaded(X), np.sort(X, 1))


def test_optimising_inlines_unless_told_otherwise():
    model = onnxsmith.trace(lambda x: sorting.sort(x, 1)[0], FLOAT["N", 4])
    assert names(model.optimize()) == []
    assert names(model.optimize(inline=False)) == ["sort__float_2d__axis_1"]
    np.testing.assert_array_equal(model.optimize()(X), np.sort(X, 1))


def test_a_decompiled_model_has_them_as_scripts():
    model = onnxsmith.trace(lambda x: sorting.sort(x, 1)[0], FLOAT["N", 4])
    text = str(onnxsmith.decompile(model))
    assert f'domain="{DOMAIN}"' in text
    assert "def sort__float_2d__axis_1(x):" in text


def test_in_scripts_and_their_branches():
    @script()
    def ordered(x: FLOAT["N", 4]) -> FLOAT["N", 4]:
        if op.ReduceSum(x) > 0.0:
            y, _ = sorting.sort(x, 1)
        else:
            y = x
        return y

    model = ordered.to_model()
    assert names(model) == ["sort__float_2d__axis_1"]
    np.testing.assert_array_equal(model(np.abs(X)), np.sort(np.abs(X), 1))
    np.testing.assert_array_equal(model(-np.abs(X)), -np.abs(X))


def test_nodes_inside_belong_to_no_line():
    model = onnxsmith.trace(lambda x: sorting.sort(x, 1)[0], FLOAT["N", 4])
    (function,) = model.ir.functions.values()
    assert not any(node.metadata_props for node in function.graph.all_nodes())
    assert all(node.metadata_props for node in model.ir.graph)


# -- models that are called ----------------------------------------------------------------------------------


def _median() -> onnxsmith.Model:
    return onnxsmith.trace(lambda x: order_statistics.median(x, 1)[0], FLOAT["N", 4])


def test_a_model_that_is_called_keeps_the_names():
    inner = _median()
    model = onnxsmith.trace(lambda x: inner(x) + 1.0, FLOAT["N", 4])
    assert names(model) == names(inner)
    np.testing.assert_array_equal(model(X), np.sort(X, 1)[:, 1:2] + 1)


@pytest.mark.parametrize("is_first", [True, False])
def test_a_definition_that_both_have_is_one(is_first: bool):
    inner = _median()

    def function(x):
        if is_first:
            return inner(x), sorting.sort(x, 1)[0]
        return sorting.sort(x, 1)[0], inner(x)

    model = onnxsmith.trace(function, FLOAT["N", 4])
    assert sorted(names(model)) == sorted(names(inner))
    results = model(X)
    np.testing.assert_array_equal(results[not is_first], np.sort(X, 1)[:, 1:2])
    np.testing.assert_array_equal(results[is_first], np.sort(X, 1))


def test_two_models_and_one_of_a_file_have_one_definition(tmp_path: Path):
    inner, other = _median(), onnxsmith.trace(lambda x: sorting.sort(x, 1)[0], FLOAT["M", "K"])
    other.save(tmp_path / "other.onnx")
    loaded = onnxsmith.load(tmp_path / "other.onnx")
    model = onnxsmith.trace(lambda x: (inner(x), other(x), loaded(x)), FLOAT["N", 4])
    assert sorted(names(model)) == sorted(names(inner))
    for found, wanted in zip(model(X), (np.sort(X, 1)[:, 1:2], np.sort(X, 1), np.sort(X, 1)), strict=True):
        np.testing.assert_array_equal(found, wanted)


def test_models_of_models_keep_the_names():
    inner = _median()
    middle = onnxsmith.trace(lambda x: inner(x) * 2.0, FLOAT["N", 4])
    model = onnxsmith.trace(lambda x: (middle(x), inner(x)), FLOAT["N", 4])
    assert sorted(names(model)) == sorted(names(inner))
    np.testing.assert_array_equal(model(X)[0], 2 * model(X)[1])


def _of_another_release(model: onnxsmith.Model) -> onnxsmith.Model:
    """A model whose `sort` is defined in another way under the same name: it gives what is negative of all."""
    proto = onnx.ModelProto()
    proto.CopyFrom(model.proto)
    (function,) = [each for each in proto.functions if each.name.startswith("sort")]
    last = next(node for node in function.node if function.output[0] in node.output)
    last.output[0] = "turned"
    function.node.append(onnx.helper.make_node("Neg", ["turned"], [function.output[0]]))
    return onnxsmith.Model.from_proto(proto)


@pytest.mark.parametrize("is_first", [True, False])
def test_another_definition_of_a_name_stands_beside(is_first: bool):
    other = _of_another_release(_median())

    def function(x):
        if is_first:
            return other(x), order_statistics.median(x, 1)[0]
        return order_statistics.median(x, 1)[0], other(x)

    model = onnxsmith.trace(function, FLOAT["N", 4])
    found = model(X)
    np.testing.assert_array_equal(found[is_first], np.sort(X, 1)[:, 1:2])
    np.testing.assert_array_equal(found[not is_first], -found[is_first])


def test_a_model_of_another_opset_keeps_the_names():
    inner = onnxsmith.trace(lambda x: order_statistics.median(x, 1)[0], FLOAT["N", 4], opset_version=20)
    model = onnxsmith.trace(lambda x: (inner(x), sorting.sort(x, 1)[0]), FLOAT["N", 4], opset_version=23)
    assert {each.partition("__")[0] for each in names(model)} == {"sort", "median"}
    np.testing.assert_array_equal(model(X)[0], np.sort(X, 1)[:, 1:2])
    np.testing.assert_array_equal(model(X)[1], np.sort(X, 1))


ALGORITHMS: dict[str, Callable[[Any], Any]] = {
    "sort": lambda x: sorting.sort(x, 1),
    "kth": lambda x: sorting.kth_value(x, 2, 1),
    "search": lambda x: searching.search_sorted(x, x),
    "runs": lambda x: distinct.runs(x).values.re,
    "distinct": lambda x: distinct.distinct(Field(flat(x))).inverse,
    "membership": lambda x: searching.is_in(Field(x), Field(flat(x))),
    "quantile": lambda x: quantiles.quantile(x, flat(x)),
    "median": lambda x: order_statistics.median(x, 0),
    "mode": lambda x: order_statistics.mode(x, 1),
    "cummax": lambda x: cumulative.cummax(x, 1),
    "variance": lambda x: reductions.variance_and_mean(x, (0,), 1, True),
    "extreme": lambda x: extremes.extreme(Field(x), [1], False, is_max=True).re,
    "place": lambda x: extremes.extreme_place(Field(x), 1, is_max=True),
    "atan2": lambda x: angles.atan2(x, x),
    "frexp": float_parts.frexp,
}
MATRICES: dict[str, Callable[[Any], Any]] = {
    "svd": lambda x: jacobi.svd(Field(x), False)[1],
    "eigh": lambda x: jacobi.eigh(Field(x))[0],
    "inverse": lambda x: lu.inverted(Field(x))[0].re,
    "solve": lambda x: triangular.solved_triangular(Field(x), Field(x), False).re,
}


@pytest.mark.parametrize("name", ALGORITHMS)
@pytest.mark.parametrize("shape", [("N", 4), (3, 4), ("N", "M")], ids=str)
def test_as_much_is_known_of_the_results_as_inlined(name: str, shape: Any):
    function = ALGORITHMS[name]
    model = onnxsmith.trace(lambda x: function(x), FLOAT[shape])
    other = onnxsmith.trace(inlined(function), FLOAT[shape])
    assert names(model)
    assert not names(other)
    assert [each.type for each in model.outputs] == [each.type for each in other.outputs]
    for mine, theirs in zip(_tuple(model(X)), _tuple(other(X)), strict=True):
        np.testing.assert_array_equal(mine, theirs)


@pytest.mark.parametrize("name", MATRICES)
def test_matrices(name: str):
    function = MATRICES[name]
    x = np.eye(3) * 2 + np.ones((3, 3))
    model = onnxsmith.trace(lambda x: function(x), onnxsmith.DOUBLE["N", "N"])
    other = onnxsmith.trace(inlined(function), onnxsmith.DOUBLE[3, 3])
    assert names(model)
    np.testing.assert_allclose(model(x), other(x), 1e-12)


def _tuple(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)


def test_numbers_of_the_model_are_inputs():
    model = onnxsmith.trace(lambda x: sorting.kth_value(x, x.shape[0] - 1, 0)[0], FLOAT["N"])
    assert "kth_value__float_1d_int64_0d__k_number_axis_0" in names(model)
    np.testing.assert_array_equal(model(np.array([3, 1, 2], np.float32)), [2])
    np.testing.assert_array_equal(model(np.array([3, 1, 2, 5], np.float32)), [3])


def test_nothing_is_a_form_of_its_own():
    model = onnxsmith.trace(lambda x: integers.gcd(x, x), INT64[0, 3])
    assert names(model) == ["gcd__int64_0xn_int64_0xn"]
    assert model(np.zeros((0, 3), np.int64)).shape == (0, 3)


@algorithm(by_size=True)
def repeated(x: TensorValue) -> TensorValue:
    """A function whose nodes depend on a size."""
    size = size_of(x, 0)
    assert isinstance(size, int)
    for _ in range(size):
        x = portable.op.Add(x, x)
    return x


def test_sizes_that_nodes_depend_on_are_part_of_the_form():
    model = onnxsmith.trace(lambda x, y: (repeated(x), repeated(y)), FLOAT[2], FLOAT[3])
    assert names(model) == ["repeated__float_2", "repeated__float_3"]
    np.testing.assert_array_equal(model(np.ones(2, np.float32), np.ones(3, np.float32))[1], [8, 8, 8])


@algorithm
def both(x: TensorValue, y: TensorValue) -> tuple[TensorValue, TensorValue, TensorValue]:
    """A function that gives back what it is given."""
    return y, x, y


def test_what_is_given_back():
    model = onnxsmith.trace(lambda x, y: both(x, y), FLOAT[2], INT64[2])
    assert names(model) == ["both__float_1d_int64_1d"]
    first, second, third = model(np.ones(2, np.float32), np.zeros(2, np.int64))
    assert first.dtype == third.dtype == np.int64
    np.testing.assert_array_equal(second, [1, 1])


@algorithm
def applied(x: TensorValue, function: Callable[[TensorValue], TensorValue]) -> TensorValue:
    """A function that is given another."""
    return function(x)


def test_a_call_with_a_function_is_inlined():
    model = onnxsmith.trace(lambda x: applied(x, portable.op.Neg), FLOAT[2])
    assert [node.op_type for node in model.ir.graph] == ["Neg"]


def test_beside_a_model_that_has_the_same():
    inner = onnxsmith.trace(lambda x: sorting.sort(x, 1)[0], FLOAT["N", 4])
    model = onnxsmith.trace(lambda x: (inner(x), sorting.sort(x, 1)[0]), FLOAT["N", 4])
    for each in model(X):
        np.testing.assert_array_equal(each, np.sort(X, 1))
