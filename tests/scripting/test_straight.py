"""Functions that are staged by calling them: which ones are, and that their models are those of the syntax tree."""

from __future__ import annotations

import copy
from collections.abc import Callable
from types import ModuleType
from typing import Any, cast

import numpy as np
import onnx
import pytest

from onnxsmith import FLOAT, INT64, opset18, script
from onnxsmith import opset18 as op
from onnxsmith.errors import OnnxsmithError
from onnxsmith.scripting.analysis.straight import read_straight
from onnxsmith.scripting.functions.function import ScriptFunction
from onnxsmith.scripting.staging.naming_targets import Misjudged, straight_call
from tests.scripting.test_snippets import RUN, SNIPPETS, make, model_options

WEIGHT = np.array([1.0, 2.0], np.float32)


@pytest.fixture
def with_tree(monkeypatch: pytest.MonkeyPatch) -> Callable[[ScriptFunction], onnx.ModelProto]:
    """Makes the model of a script from its syntax tree, whatever its code object says."""

    def model(made: ScriptFunction, **options: Any) -> onnx.ModelProto:
        with monkeypatch.context() as patch:
            patch.setattr(ScriptFunction, "straight_call", lambda _: None)
            return made.to_model_proto(**options)

    return model


# -- which functions are ----------------------------------------------------------------------------------------------


def names(x: FLOAT["N"], y: FLOAT["N"]):
    z = op.Mul(op.Mul(x, y), y)
    z += x * 2.0
    a, b = op.Split(op.Mul(z, z), num_outputs=2)
    c = d = op.Concat(a, b, axis=0)
    c, e = d, op.Add(op.Add(c, x), -x)
    pair = (op.Neg(e), z)
    first, second = pair
    same = x
    f, g = op.Abs(first), op.Exp(second)
    return op.Relu(c), f, g, op.Add(same, WEIGHT[0])


def in_order(x: FLOAT["N"]):
    a, b = op.Abs(x), op.Neg(x)
    b, a = op.Mul(a, b), op.Mul(b, a)
    y = op.Add(a, op.Add(b, 1.0))
    return y < op.Add(x, WEIGHT_OF_ONE)


def several_targets(x: FLOAT["N"]):
    a, b, c = op.Abs(x), op.Neg(x), op.Exp(x)
    c, a, b = a, b, c
    d = e = op.Mul(a, b)
    f, g = h = op.Mul(d, e), op.Mul(e, c)
    i, j = op.Split(op.Add(f, g), num_outputs=2); k = i; l = k  # fmt: skip # noqa: E702, E741
    m, (n, o) = op.Abs(l), op.Split(j, num_outputs=2)
    p, q, p = op.Abs(m), op.Neg(n), op.Exp(o)
    r, s = h
    return op.Sum(p, q, k, r, s)


def same_target_twice(x: FLOAT["N"]):
    _, _, y = op.Split(x, num_outputs=3)
    a, a = op.Abs(y), op.Neg(y)
    return op.Add(y, a)


WEIGHT_OF_ONE = np.array([1.0], np.float32)


@script(default_opset=opset18)
def doubled(x: FLOAT["N"], count: int = 2):
    halves = op.Add(x, x)
    return halves, op.Mul(halves, x)


def calls_a_script(x: FLOAT["N"]):
    a, b = doubled(x)
    both = doubled(op.Add(a, b))
    c, d = both
    return op.Add(c, d)


def attribute(x: FLOAT["N"], alpha: float = 0.5, axis: int = 0):
    beta = alpha
    y = op.Elu(x, alpha=alpha) * beta
    z = op.Concat(y, y, axis=axis)
    return z + alpha


def shares(x: FLOAT[2, "N"], axes: INT64[1]):
    y = op.ReduceSum(op.Mul(x, x), axes, keepdims=0)
    return op.Transpose(op.ReduceMax(x, axes=[0, 1], keepdims=1), perm=[1, 0]), y


STRAIGHT = (in_order, several_targets, calls_a_script, attribute, shares)


@pytest.mark.parametrize("function", STRAIGHT, ids=lambda each: each.__name__)
def test_is_staged_by_calling_it(function: Any, with_tree: Any) -> None:
    made: ScriptFunction = cast(Any, script())(function)
    assert made.straight_call() is not None
    assert made.to_model_proto().SerializeToString() == with_tree(made).SerializeToString()


def test_needs_its_tree_for_an_index(with_tree: Any) -> None:
    made: ScriptFunction = cast(Any, script())(names)
    assert made.straight_call() is None
    assert made.to_model_proto().SerializeToString() == with_tree(made).SerializeToString()


def test_names_of_variables_that_are_stored_to_twice_in_a_row(with_tree: Any) -> None:
    made: ScriptFunction = cast(Any, script())(same_target_twice)
    assert made.to_model_proto().SerializeToString() == with_tree(made).SerializeToString()


def test_values_are_called_as_their_variables() -> None:
    graph = script()(in_order).to_model_proto().graph
    outputs = [node.output[0] for node in graph.node]
    assert outputs == ["a", "b", "b_1", "a_1", "add", "y", "add_2", "less"]


@pytest.mark.parametrize(
    "function",
    [
        lambda x: op.Relu(x),
        lambda x: op.Relu(x) if x else x,
        lambda x: x.shape,
        lambda x: x[0],
    ],
)
def test_lambdas_and_more_need_their_tree(function: Any) -> None:
    assert read_straight(function) is None


def test_what_a_name_means_is_asked_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    made: ScriptFunction = cast(Any, script())(in_order)
    monkeypatch.setitem(in_order.__globals__, "op", _Helpers())
    assert made.straight_call() is None
    assert made.to_model_proto().graph.node[0].op_type == "Abs"


class _Helpers:
    """Calls operators, but is none of the modules that are known to do nothing else."""

    def __getattr__(self, name: str) -> Any:
        return getattr(opset18, name)


#: Type checkers would find the mistakes, too.
unchecked: Any = opset18


def several_mistakes(x: FLOAT["N"], k: INT64["N"]):
    a = unchecked.Add(x, k)
    b = op.Mul(a, x)
    c = unchecked.Concat(x, k, axis=0)
    return op.Add(b, c)


def test_all_mistakes_are_told() -> None:
    assert read_straight(several_mistakes) is not None
    with pytest.raises(OnnxsmithError) as caught:
        script()(several_mistakes)
    first = several_mistakes.__code__.co_firstlineno
    assert f":{first + 1}:" in str(caught.value)
    assert f":{first + 3}:" in str(caught.value)


# -- what is outside stays as it is -----------------------------------------------------------------------------------

OUTSIDE = ModuleType("outside")
LATE = ModuleType("late")


class _Appends:
    """Leaves a trace of each time that it is made."""

    def __init__(self, x: Any) -> None:
        OUTSIDE.trace.append(x)


class _Adds(list[float]):
    """A list that adding to changes."""

    def __add__(self, other: Any) -> Any:
        self.append(1.0)
        return other


@pytest.fixture(autouse=True)
def _as_new() -> None:
    _fill()


def _fill() -> None:
    vars(OUTSIDE).update(
        array=np.ones(3, np.float32),
        items=[1.0, 2.0, 3.0],
        trace=[],
        adds=_Adds(),
        iterator=iter([1.0, 2.0, 3.0]),
    )
    vars(OUTSIDE)["append"] = OUTSIDE.trace.append

    def late(name: str) -> float:
        OUTSIDE.trace.append(name)
        return 2.0

    vars(LATE)["__getattr__"] = late


_fill()


def _state() -> str:
    names = ("array", "items", "trace", "adds", "iterator")
    return repr([copy.copy(getattr(OUTSIDE, name)) for name in names[:-1]]) + str(
        OUTSIDE.iterator.__length_hint__()
    )


def adds_in_place(x: FLOAT[3]):
    w = OUTSIDE.array
    w += 1.0
    return x + w


def multiplies_in_place(x: FLOAT[3]):
    w, y = OUTSIDE.array, op.Abs(x)
    w *= 2.0
    return y + OUTSIDE.array


def changes_what_numpy_gives_back(x: FLOAT[3]):
    w = np.float32(OUTSIDE.array)
    w += 1.0
    return x + w


@script(inline=True)
def given_back(x: FLOAT[3]):
    return OUTSIDE.array if OUTSIDE.array is not None else x


def changes_what_a_script_gives_back(x: FLOAT[3]):
    w = given_back(x)
    w += 1.0
    return x + w


def extends_a_list(x: FLOAT[3]):
    items = OUTSIDE.items
    items += [4.0]
    return x + 1.0


def maps_a_method(x: FLOAT[3]):
    _ = list(map(OUTSIDE.append, [1.0]))
    return x + 1.0


def eats_an_iterator(x: FLOAT[3]):
    _ = list(zip(OUTSIDE.iterator, [0, 0], strict=False))
    return x + 1.0


def lengthens_by_an_iterator(x: FLOAT[3]):
    items = [1.0]
    items += OUTSIDE.iterator
    return x + 1.0


def makes_an_object(x: FLOAT[3]):
    _ = _Appends(1.0)
    return x + 1.0


def adds_to_an_object(x: FLOAT[3]):
    y = OUTSIDE.adds + 1.0
    return x + y


def asks_a_module(x: FLOAT[3]):
    return x * LATE.factor


EFFECTS = (
    adds_in_place, multiplies_in_place, changes_what_numpy_gives_back, changes_what_a_script_gives_back,
    extends_a_list, maps_a_method, eats_an_iterator,
    lengthens_by_an_iterator, makes_an_object, adds_to_an_object, asks_a_module,
)  # fmt: skip


@pytest.mark.parametrize("function", EFFECTS, ids=lambda each: each.__name__)
def test_what_has_effects_needs_its_tree(function: Any) -> None:
    assert straight_call(read_straight(function), function) is None


@pytest.mark.parametrize(
    "function", [each for each in EFFECTS if each is not asks_a_module], ids=lambda each: each.__name__
)
def test_staging_leaves_what_is_outside_as_it_is(function: Any) -> None:
    before = _state()
    try:
        made = script()(function)
        _ = made.to_model()
    except OnnxsmithError:
        pass
    assert _state() == before


def test_a_default_that_is_changed_needs_the_tree() -> None:
    def extends(x: FLOAT["N"], axes: Any = OUTSIDE.items):
        axes += [4.0]
        return op.Abs(x)

    straight = read_straight(extends)
    assert straight is not None
    call = straight_call(straight, extends)
    assert call is not None
    with pytest.raises(Misjudged):
        call.run(cast(Any, None), {"x": None, "axes": OUTSIDE.items})
    assert OUTSIDE.items == [1.0, 2.0, 3.0]


def reads_only(x: FLOAT[3]):
    y = x
    y += OUTSIDE.array
    y *= np.float32(2.0)
    z = op.Relu(y)
    z -= 1.0
    return op.Concat(op.Pad(z, OUTSIDE.pads), y, axis=0)


def test_what_is_only_read_does_not_need_it(with_tree: Any) -> None:
    vars(OUTSIDE)["pads"] = [1, 2]
    made: ScriptFunction = cast(Any, script())(reads_only)
    assert made.straight_call() is not None
    assert made.to_model_proto().SerializeToString() == with_tree(made).SerializeToString()


def test_a_list_that_contains_itself_needs_the_tree() -> None:
    vars(OUTSIDE)["pads"] = pads = [cast(Any, 1)]
    pads.append(pads)
    assert straight_call(read_straight(cast(Any, reads_only)), cast(Any, reads_only)) is None


# -- the law ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", RUN)
def test_snippets_have_the_model_of_their_tree(name: str, with_tree: Any) -> None:
    function, snippet = SNIPPETS[name]
    made = make(function, snippet)
    if made.straight_call() is None:
        return  # staged from its tree anyway
    for inputs, attributes in snippet.runs:
        options = {**model_options(made, snippet, inputs), "attributes": attributes}
        assert (
            made.to_model_proto(**options).SerializeToString()
            == with_tree(made, **options).SerializeToString()
        )
