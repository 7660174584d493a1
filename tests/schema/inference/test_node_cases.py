"""ONNX's own node cases as an oracle: what is inferred agrees with the data, and says no less than onnx does."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from onnxsmith.errors import OnnxsmithError
from onnxsmith.schema.definition import OperatorDef
from onnxsmith.schema.inference import Known
from onnxsmith.schema.inference.call import Call
from onnxsmith.schema.inference.infer import infer_by_onnx
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import AnyValueType, Dimension, OptionalType, SequenceType, TensorType
from tests.schema.inference import graphs
from tests.schema.inference.graphs import (
    disagreement,
    infer_graph,
    is_complete,
    node_cases,
    opset_versions,
    value_known,
)

#: How one input of a case is shown to inference; sizes of names are entered in the dictionary.
Show = Callable[[Known, dict[str, int]], Known]


def as_constant(known: Known, sizes: dict[str, int]) -> Known:
    return known


def without_content(known: Known, sizes: dict[str, int]) -> Known:
    return Known(known.type)


def name_per_size(known: Known, sizes: dict[str, int]) -> Known:
    """Equal sizes get one name, as a user's annotations would; sizes that a model's author fixes stay."""
    return _named(known, sizes, lambda size: f"d{size}")


def name_per_dimension(known: Known, sizes: dict[str, int]) -> Known:
    """No two dimensions have one name, not even those of size 1."""
    return _named(known, sizes, lambda _: f"u{len(sizes)}")


def _named(known: Known, sizes: dict[str, int], name: Callable[[int], str]) -> Known:
    if not isinstance(known.type, TensorType) or known.type.shape is None:
        return known
    if known.type.dtype in (DType.INT64, DType.INT32) and len(known.type.shape) <= 1:
        return known  # shapes and axes stay constants
    shape: list[Dimension] = []
    for size in known.type.shape:
        assert isinstance(size, int)
        if size == 0:
            shape.append(size)
        else:
            shape.append(name(size))
            sizes[str(shape[-1])] = size
    return Known(TensorType(known.type.dtype, tuple(shape)))


def with_sizes(value_type: AnyValueType, sizes: dict[str, int]) -> AnyValueType:
    """A type with every name replaced by its size."""
    if isinstance(value_type, SequenceType):
        return SequenceType(with_sizes(value_type.element, sizes))
    if isinstance(value_type, TensorType) and value_type.shape is not None:
        return TensorType(value_type.dtype, tuple(_size(each, sizes) for each in value_type.shape))
    return value_type


def _size(dimension: Dimension, sizes: dict[str, int]) -> Dimension:
    if not isinstance(dimension, str):
        return dimension
    try:
        return eval(dimension, {"min": min, "max": max}, sizes)
    except NameError:  # a name that the case's own model declares
        return None


SHOWS: tuple[Show, ...] = (as_constant, without_content, name_per_size, name_per_dimension)
#: The cases of which some output is not known completely, with the ways to show inputs in which it is not. All others
#: are known, and a line may only go. Open are among others the slices of CausalConvWithState's function by the size of
#: its kernel less 1: where that is -1, they count from the other end.
OPEN = {
    case: shows.split()
    for case, _, shows in (
        line.partition(":") for line in Path(__file__).with_name("open_cases.txt").read_text().splitlines()
    )
}


@pytest.mark.parametrize("show", SHOWS, ids=lambda show: show.__name__)
def test_inference_agrees_with_the_data(show: Show) -> None:
    wrong: list[str] = []
    for case in node_cases():
        for inputs, expected in case.data_sets:
            sizes: dict[str, int] = {}
            values = {
                formal.name: show(value_known(value, formal.type), sizes)
                for formal, value in zip(case.model.graph.input, inputs, strict=False)
            }
            try:
                inferred = infer_graph(case.model.graph, opset_versions(case.model), values)
            except OnnxsmithError as error:
                wrong.append(f"{case.name}: {error}")
                continue
            for known, value in zip(inferred, expected, strict=True):
                why = disagreement(with_sizes(known.type, sizes), value)
                if (
                    why is None
                    and not is_complete(known.type)
                    and show.__name__ not in OPEN.get(case.name, ())
                ):
                    why = "not known completely"
                if why is not None:
                    wrong.append(f"{case.name}: {known.type!r}: {why}")
    assert not wrong, "\n".join(wrong)


#: Operators whose inference in onnx 1.23 is wrong, so that ours differs. STFT forgets that `onesided` is 1 by default;
#: Einsum takes the first of two names under one letter, though that size may be a 1 that is broadcast.
ONNX_IS_WRONG = {"STFT", "Einsum"}


@pytest.mark.parametrize("show", SHOWS, ids=lambda show: show.__name__)
def test_inference_says_no_less_than_onnx(show: Show, monkeypatch: pytest.MonkeyPatch) -> None:
    less: set[str] = set()
    infer = graphs.infer

    def infer_both(
        op: OperatorDef,
        version: int,
        inputs: Sequence[Known | None],
        attributes: Any,
        count: int,
        bodies: Any,
    ) -> tuple[Known, ...]:
        ours = infer(op, version, inputs, attributes, count, bodies)
        if bodies or not op.is_known or op.name in ONNX_IS_WRONG:
            return ours
        try:
            theirs = infer_by_onnx(Call(op, version, inputs, attributes, count, bodies))
        except OnnxsmithError:  # the data agrees with ours, says the test above
            return ours
        for own, other in zip(ours, theirs, strict=True):
            if says_less(own.type, other.type):
                less.add(f"{op.name}-{op.since_version}: {own.type!r}, but onnx says {other.type!r}")
        return ours

    monkeypatch.setattr(graphs, "infer", infer_both)
    for case in node_cases():
        for inputs, _ in case.data_sets:
            sizes: dict[str, int] = {}
            values = {
                formal.name: show(value_known(value, formal.type), sizes)
                for formal, value in zip(case.model.graph.input, inputs, strict=False)
            }
            infer_graph(case.model.graph, opset_versions(case.model), values)
    assert not less, "\n".join(sorted(less))


def says_less(own: AnyValueType, other: AnyValueType) -> bool:
    """Whether something is known of `other` that is not known of `own`, or the two contradict each other."""
    if isinstance(own, SequenceType | OptionalType) and isinstance(other, SequenceType | OptionalType):
        return says_less(own.element, other.element)
    if not isinstance(own, TensorType) or not isinstance(other, TensorType):
        return False
    if own.dtype is None and other.dtype is not None:
        return True
    if other.shape is None:
        return False
    if own.shape is None or len(own.shape) != len(other.shape):
        return True
    return any(
        (left is None and right is not None)
        or (isinstance(left, int) and isinstance(right, int) and left != right)
        for left, right in zip(own.shape, other.shape, strict=True)
    )
