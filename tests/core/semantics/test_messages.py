"""What a user reads when tensors are used in a way that cannot work: the whole message, and the help."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from onnxsmith import BOOL, FLOAT, INT64, STRING, tensor, trace
from onnxsmith.errors import (
    AttributeTypeError,
    AttributeValueError,
    DTypeNotAllowedError,
    LiteralError,
    MixedDTypesError,
    OnnxsmithError,
    OperatorNotInOpsetError,
    ShapeError,
    TensorIndexError,
    TracedValueError,
    UnknownRankError,
)

DICTS = "a parameter of a script is one tensor: take dicts apart in a plain function that calls it"
KINDS = "an index is made of ints, slices, `...`, None, and tensors or lists of integers or bool"
NO_PROMOTION = "ONNX does not promote element types; convert one of them with x.astype(…)"

Case = tuple[Callable[[Any], Any], type[OnnxsmithError], str, str | None]

#: On a float32 tensor of shape (3, 4), eagerly and traced alike.
ALIKE: dict[str, Case] = {
    "too many indices": (
        lambda x: x[0, 0, 0],
        TensorIndexError,
        "too many indices: the tensor has 2 dimensions, and 3 are indexed",
        None,
    ),
    "a scalar": (
        lambda x: x.sum()[0],
        TensorIndexError,
        "too many indices: a scalar has no dimensions, and 1 is indexed",
        None,
    ),
    "out of range": (
        lambda x: x[:, -5],
        TensorIndexError,
        "index -5 is out of range for dimension 1, whose size is 4",
        None,
    ),
    "out of range in a list": (
        lambda x: x[[0, 9]],
        TensorIndexError,
        "index 9 is out of range for dimension 0, whose size is 3",
        None,
    ),
    "larger than 64 bits": (
        lambda x: x[2**64],
        TensorIndexError,
        "index 18446744073709551616 is out of range for any dimension",
        None,
    ),
    "a float": (lambda x: x[1.5], TensorIndexError, "a tensor cannot be indexed with 1.5", KINDS),
    "a span of time": (
        lambda x: x[np.timedelta64(1, "s")],
        TensorIndexError,
        f"a tensor cannot be indexed with {np.timedelta64(1, 's')!r}",
        KINDS,
    ),
    "a string": (lambda x: x["a"], TensorIndexError, "a tensor cannot be indexed with 'a'", DICTS),
    "a list of floats": (
        lambda x: x[[0.5]],
        TensorIndexError,
        "a tensor cannot be indexed with [0.5]",
        KINDS,
    ),
    "a ragged list": (
        lambda x: x[[[0], [0, 1]]],
        TensorIndexError,
        "a list used as an index has rows of different lengths",
        None,
    ),
    "an array of floats": (
        lambda x: x[np.array([0.5])],
        TensorIndexError,
        "an index is of integers or bool, not an array of float64",
        None,
    ),
    "a tensor of floats": (
        lambda x: x[x[0]],
        TensorIndexError,
        "an index is of integers or bool, not {}float32",
        "i.astype(INT64)",
    ),
    "two ellipses": (lambda x: x[..., ...], TensorIndexError, "an index can have only one '...'", None),
    "a step of 0": (lambda x: x[::0], TensorIndexError, "the step of a slice cannot be 0", None),
    "a bound that is a float": (
        lambda x: x[: len(x) / 2],
        TensorIndexError,
        "the stop of a slice is an int, an integer scalar tensor or None, not 1.5",
        None,
    ),
    "a bound that is a vector": (
        lambda x: x[: x.argmax(axis=1)],
        TensorIndexError,
        "the stop of a slice is an integer scalar, not int64 of shape (3,)",
        None,
    ),
    "a mask that is too short": (
        lambda x: x[[True, False]],
        TensorIndexError,
        "the mask of shape (2,) does not fit: dimension 0 of the tensor has size 3, the mask's has 2",
        None,
    ),
    "arrays that do not broadcast": (
        lambda x: x[[0, 1], [0, 1, 2]],
        TensorIndexError,
        "index arrays of shapes (2,) and (3,) cannot be broadcast together",
        None,
    ),
    "reshape": (
        lambda x: x.reshape(5),
        ShapeError,
        "cannot reshape a tensor of 12 elements, (3, 4), to (5,)",
        None,
    ),
    "two open dimensions": (
        lambda x: x.reshape(-1, -1),
        ShapeError,
        "cannot reshape to (-1, -1): only one dimension can be left open with -1",
        None,
    ),
    "a negative dimension": (
        lambda x: x.reshape(-2, 6),
        ShapeError,
        "cannot reshape to (-2, 6): a dimension cannot be negative, except one -1",
        None,
    ),
    "a dimension that is a float": (
        lambda x: x.reshape(1.5),
        AttributeTypeError,
        "a dimension is an int or an integer scalar tensor, not 1.5",
        None,
    ),
    "transpose": (
        lambda x: x.transpose(0, 0),
        AttributeValueError,
        "transpose needs each axis once: (0, 0) does not order a tensor of 2 dimensions",
        None,
    ),
    "an axis out of range": (
        lambda x: x.sum(axis=2),
        AttributeValueError,
        "axis=2 is out of range for a tensor of 2 dimensions",
        "an axis is from -2 to 1",
    ),
    "an axis twice": (
        lambda x: x.sum(axis=(0, -2)),
        AttributeValueError,
        "axis=(0, -2) names an axis twice",
        None,
    ),
    "an axis that is no int": (
        lambda x: x.sum(axis="0"),
        AttributeTypeError,
        "axis is an int, not '0'",
        None,
    ),
    "no element type": (
        lambda x: x.astype("floaty"),
        AttributeTypeError,
        "astype needs an element type, and 'floaty' is none",
        "FLOAT, FLOAT.dtype, np.float32 or 'float32'",
    ),
    "squeeze": (
        lambda x: x.squeeze(0),
        ShapeError,
        "only dimensions of size 1 can be squeezed, and axis 0 of shape (3, 4) has size 3",
        None,
    ),
    "max of nothing": (
        lambda x: x[:0].max(),
        ShapeError,
        "max() of no elements has no value: float32 of shape (0, 4)",
        None,
    ),
    "argmin of nothing": (
        lambda x: x[:0].argmin(axis=0),
        ShapeError,
        "argmin() of no elements has no value: float32 of shape (0, 4)",
        None,
    ),
    "an array for keepdims of argmin": (
        lambda x: x.argmin(0, np.zeros((2, 3))),
        AttributeTypeError,
        "keepdims is True or False, not a ndarray",
        None,
    ),
    "a word for keepdims of a sum": (
        lambda x: x.sum(0, keepdims="no"),
        AttributeTypeError,
        "keepdims is True or False, not a str",
        None,
    ),
    "bits of floats": (
        lambda x: x & x,
        DTypeNotAllowedError,
        "'&' is for bool and integer tensors, not float32",
        "compare first, as in (x > 0) & (y > 0)",
    ),
    "shifts of floats": (
        lambda x: x << 1,
        DTypeNotAllowedError,
        "'<<' is for tensors of 8 to 64 bit integers, not float32",
        None,
    ),
    "a matrix times a scalar": (
        lambda x: x @ x.sum(),
        ShapeError,
        "'@' needs tensors of at least one dimension, not a scalar",
        "multiply with '*'",
    ),
    "integers to a negative power": (
        lambda x: x.astype(INT64) ** -1,
        LiteralError,
        "integers to a negative power are no integers: int64 ** -1",
        "convert the tensor first: x.astype(FLOAT) ** -1",
    ),
    "two element types": (
        lambda x: x // x.astype(INT64),
        MixedDTypesError,
        "'//' needs one element type, got float32 and int64",
        NO_PROMOTION,
    ),
    "an update out of range": (
        lambda x: x.at[9].set(0.0),
        TensorIndexError,
        "index 9 is out of range for dimension 0, whose size is 3",
        None,
    ),
    "an update that does not fit": (
        lambda x: x.at[0].set(x[:, 0]),
        ShapeError,
        "a value of shape (3,) cannot be broadcast to (4,), the shape of the place it goes to",
        None,
    ),
    "an update of another type": (
        lambda x: x.at[0].set("a"),
        LiteralError,
        "the literal 'a' does not fit float32 in ScatterND: it is text",
        None,
    ),
    "adding truth values": (
        lambda x: (x > 0).at[0].add(True),
        DTypeNotAllowedError,
        "add is for numbers, not bool",
        None,
    ),
    "len of a scalar": (lambda x: len(x.sum()), ShapeError, "a scalar tensor has no length", None),
    "iterating over a scalar": (
        lambda x: list(x.sum()),
        ShapeError,
        "a scalar tensor cannot be iterated over",
        None,
    ),
    "a float as an index into a list": (
        lambda x: [1, 2][x.sum()],
        DTypeNotAllowedError,
        "an index is an integer, not a tensor of float32",
        "x.astype(INT64)",
    ),
}


def caught(program: Callable[..., Any], *arguments: Any) -> OnnxsmithError:
    with pytest.raises(OnnxsmithError) as info:
        program(*arguments)
    return info.value


@pytest.mark.parametrize("case", ALIKE.values(), ids=ALIKE)
def test_eagerly_and_traced(case: Case) -> None:
    program, kind, message, help_text = case
    eager = caught(program, tensor(np.zeros((3, 4), np.float32)))
    traced = caught(trace, program, FLOAT[3, 4])
    assert (type(eager), eager.message, eager.help) == (kind, message.format("a tensor of "), help_text)
    assert (type(traced), traced.message, traced.help) == (kind, message.format(""), help_text)


#: Only eagerly: the values are there, and are not what is asked for.
EAGER: dict[str, Case] = {
    "bool": (
        lambda x: bool(x),
        ShapeError,
        "the truth value of a tensor with 12 elements is ambiguous",
        "x.any() or x.all()",
    ),
    "bool of nothing": (
        lambda x: bool(x[:0]),
        ShapeError,
        "the truth value of a tensor with no elements is ambiguous",
        "x.any() or x.all()",
    ),
    "int": (
        lambda x: int(x),
        ShapeError,
        "int() needs a tensor of one element, and this one has 12 elements",
        None,
    ),
    "item": (
        lambda x: x.item(),
        ShapeError,
        "item() needs a tensor of one element, and this one has 12 elements",
        None,
    ),
    "index": (
        lambda x: operator.index(x.astype(INT64)),
        ShapeError,
        "an index is a scalar, not a tensor of shape (3, 4)",
        "x.item(), or x[0]",
    ),
}


@pytest.mark.parametrize("case", EAGER.values(), ids=EAGER)
def test_eagerly(case: Case) -> None:
    program, kind, message, help_text = case
    error = caught(program, tensor(np.zeros((3, 4), np.float32)))
    assert (type(error), error.message, error.help) == (kind, message, help_text)


def test_one_element_is_a_python_value() -> None:
    x = tensor(np.array([[2.5]], np.float32))
    assert (bool(x), int(x), float(x), complex(x), x.item()) == (True, 2, 2.5, 2.5 + 0j, 2.5)
    assert [10, 20, 30][tensor(2)] == 30
    assert list(range(tensor(3))) == [0, 1, 2]
    assert len(tensor([1, 2])) == 2
    assert 2 in tensor([1, 2])
    assert 3 not in tensor([1, 2])
    assert min(tensor(3), tensor(1), tensor(2)).item() == 1
    assert max(tensor(3), tensor(1), tensor(2)).item() == 3


BRANCH = (
    "in place of a branch, op.Where(condition, a, b) or op.If, or write it in a @script function;\n"
    "in place of `and`, `or`, `not`: `&`, `|`, `~` on bool tensors"
)
INDEX = (
    "to index with it, index a tensor: op.Gather(table, i), or table[i] where table is a tensor;\n"
    "in place of range(n), op.Loop or a loop in a @script function"
)


def branch(x: Any) -> Any:
    return x if x.sum() > 0 else -x


#: Python asks a traced tensor for what it has only when the model runs.
TRACED: dict[str, Case] = {
    "if": (
        branch,
        TracedValueError,
        "Python asks whether this tensor is true, which is known only when the model runs: bool of shape ()",
        BRANCH,
    ),
    "and": (
        lambda x: x.any() and x.all(),
        TracedValueError,
        "Python asks whether this tensor is true, which is known only when the model runs: bool of shape ()",
        BRANCH,
    ),
    "min": (
        lambda x: min(x.sum(), x.mean()),
        TracedValueError,
        "min() compares tensors in Python, and which is less is known only when the model runs",
        "op.Min(x.sum(), x.mean())",
    ),
    "max": (
        lambda x: max(x.sum(), 0.5),
        TracedValueError,
        "max() compares tensors in Python, and which is less is known only when the model runs",
        "op.Max(x.sum(), 0.5)",
    ),
    "int": (
        lambda x: int(x.sum()),
        TracedValueError,
        "int() makes a Python int, and this tensor's value is known only when the model runs: float32 of shape ()",
        "x.astype(INT64)",
    ),
    "float": (
        lambda x: float(x.argmax()),
        TracedValueError,
        "float() makes a Python float, and this tensor's value is known only when the model runs: int64 of shape ()",
        "x.astype(FLOAT)",
    ),
    "complex": (
        lambda x: complex(x.sum()),
        TracedValueError,
        "complex() makes a Python number, and this tensor's value is known only when the model runs: "
        "float32 of shape ()",
        None,
    ),
    "item": (
        lambda x: x.sum().item(),
        TracedValueError,
        "item() makes a Python value, and this tensor's is known only when the model runs: float32 of shape ()",
        "x.reshape(()) is a scalar tensor",
    ),
    "range": (
        lambda x: range(x.argmax()),
        TracedValueError,
        "Python needs an int here, and this tensor's value is known only when the model runs: int64 of shape ()",
        INDEX,
    ),
    "len": (
        lambda x: len(x),
        TracedValueError,
        "len() is a Python int, and how long float32 of shape (N, 4) is, is known only when the model runs",
        "x.shape[0] is its length as a tensor",
    ),
    "for": (
        lambda x: [row for row in x],  # noqa: C416  # the loop is what is tested
        TracedValueError,
        "how often this repeats is known only when the model runs: it iterates over float32 of shape (N, 4)",
        "compute on the whole tensor, as in (x * x).sum(), or call op.Scan or op.Loop;\n"
        "a 'for' statement of a @script function runs over it in the model, a comprehension does not;\n"
        "a first dimension of known size is unrolled",
    ),
    "numpy's zeros": (
        lambda x: np.zeros(x.shape),
        ShapeError,
        "numpy's zeros makes an array now, and a number that it is given is known only when the model runs",
        "onnxsmith.numpy makes it in the model: import onnxsmith.numpy as xp, and xp.zeros(…)",
    ),
    "deciding by shapes": (
        lambda x: x if x.shape == (2, 4) else x + 1.0,
        TracedValueError,
        "Python asks whether this tensor is true, which is known only when the model runs: bool of shape ()",
        BRANCH,
    ),
    "looking for a size": (
        lambda x: 3 in x.shape,
        TracedValueError,
        "whether 3 is among the dimensions ('N', 4) is known only when the model runs",
        None,
    ),
}


@pytest.mark.parametrize("case", TRACED.values(), ids=TRACED)
def test_values_that_only_the_model_has(case: Case) -> None:
    program, kind, message, help_text = case
    error = caught(trace, program, FLOAT["N", 4])
    assert (type(error), error.message, error.help) == (kind, message, help_text)


def test_the_error_points_at_the_expression() -> None:
    error = caught(trace, branch, FLOAT["N", 4])
    line = next(line for line in str(error).splitlines() if "|" in line and "sum" in line)
    mark = str(error).splitlines()[str(error).splitlines().index(line) + 1]
    assert line.endswith("return x if x.sum() > 0 else -x")
    assert line[mark.index("^") : mark.rindex("^") + 1] == "x.sum() > 0"


def test_values_that_are_known_when_tracing() -> None:
    def program(x: Any) -> Any:
        n = x.shape[1]
        assert n == 4
        return x * (2.0 if x.size > 4 else 3.0) * x[:, : int(n) // 2].shape[1]

    assert trace(program, FLOAT[3, 4])(np.ones((3, 4), np.float32))[0, 0] == 4.0


# -- assignment ----------------------------------------------------------------------------------------


def assign(x: Any) -> None:
    x[0, 1:] = x[1, 1:] * 2


def augment(x: Any) -> None:
    x[x > 0] += 1.5


def subtract(x: Any) -> None:
    x[0] -= 1.0


@pytest.mark.parametrize(
    ("program", "instead"),
    [
        (assign, "x = x.at[0, 1:].set(x[1, 1:] * 2)"),
        (augment, "x = x.at[x > 0].add(1.5)"),
        (subtract, "x = x.at[0].set(x[0] - 1.0)"),
    ],
)
def test_assignment_is_refused_with_the_update_to_write(program: Callable[[Any], None], instead: str) -> None:
    for error in (
        caught(program, tensor(np.zeros((3, 4), np.float32))),
        caught(trace, program, FLOAT["N", 4]),
    ):
        assert isinstance(error, TypeError)
        assert error.message == "a tensor is never changed in place; an update makes a new one"
        assert error.help == instead


# -- what is not known enough --------------------------------------------------------------------------


UNKNOWN: dict[str, tuple[Callable[..., Any], list[Any], type[OnnxsmithError], str, str | None]] = {
    "ndim": (
        lambda x: x.ndim,
        [FLOAT[...]],
        UnknownRankError,
        "x.ndim needs the number of dimensions, and this tensor's is not known when the graph is made",
        'annotate the shape, as in FLOAT["N", "M"]',
    ),
    "several arrays": (
        lambda x: x[:, [0], [0]],
        [FLOAT[...]],
        UnknownRankError,
        "an index with several arrays needs the number of dimensions, and this tensor's is not known "
        "when the graph is made",
        'annotate the shape, as in FLOAT["N", "M"]',
    ),
    "a mask of unknown rank": (
        lambda x, m: x[m],
        [FLOAT[3, 4], BOOL[...]],
        UnknownRankError,
        "a mask says which dimensions it covers by how many it has, and that is not known of this one",
        'annotate its shape, as in BOOL["N"]',
    ),
    "where dimensions go": (
        lambda x, i: x[0, :, i],
        [FLOAT[2, 3, 4], INT64[...]],
        UnknownRankError,
        "where the dimensions of the result go depends on the rank of an index tensor, which is not known",
        'annotate its shape, as in INT64["K"]',
    ),
    "an index of strings": (
        lambda x, i: x[i],
        [FLOAT[3, 4], STRING["K"]],
        TensorIndexError,
        "an index is of integers or bool, not string",
        None,
    ),
    "an update twice in an old opset": (
        lambda x, i: x.at[i].add(1.0),
        [FLOAT[3, 4], INT64["K"]],
        OperatorNotInOpsetError,
        "an update that may name a place twice needs ScatterND with reduction='add', which opset 13 does not have",
        "use opset 18 or later",
    ),
    "a step in an old opset": (
        lambda x, i: x[::2],
        [FLOAT["N", 4], INT64["K"]],
        OperatorNotInOpsetError,
        "a slice with a step, or with bounds that are tensors, needs opset 10; this graph is of opset 9",
        "use opset 10 or later",
    ),
}
_VERSIONS = {"an update twice in an old opset": 13, "a step in an old opset": 9}


@pytest.mark.parametrize("name", UNKNOWN)
def test_what_a_graph_does_not_know_or_have(name: str) -> None:
    program, types, kind, message, help_text = UNKNOWN[name]
    with pytest.raises(kind) as info:
        trace(program, *types, opset_version=_VERSIONS.get(name))
    assert (info.value.message, info.value.help) == (message, help_text)
